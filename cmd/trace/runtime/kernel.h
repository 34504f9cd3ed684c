/*
 * kernel.h - system calls, and the kernel's numbers and structures
 *
 * The runtime has no C library: it needs the kernel's own numbers, from linux/
 * and asm/ where these have them, and makes system calls by itself.
 */
#ifndef KERNEL_H
#define KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include <asm/errno.h>
#include <asm/prctl.h>
#include <asm/processor-flags.h>
#include <asm/unistd_64.h>
#include <linux/futex.h>
#include <linux/mman.h>
#include <linux/prctl.h>
#include <linux/sched.h>

#ifndef MADV_POPULATE_WRITE	/* since Linux 5.14 */
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_DONTNEED_LOCKED	/* 5.18 */
#define MADV_DONTNEED_LOCKED 24
#endif
#ifndef MADV_GUARD_INSTALL	/* 6.13 */
#define MADV_GUARD_INSTALL 102
#endif
#ifndef __NR_epoll_pwait2	/* 5.11 */
#define __NR_epoll_pwait2 441
#endif

#define NSIG 64
#define SIGBIT(s) (1ull << ((s) - 1))
enum {
	SIG_ILL = 4, SIG_TRAP = 5, SIG_BUS = 7, SIG_FPE = 8, SIG_KILL = 9,
	SIG_SEGV = 11, SIG_ALRM = 14, SIG_CHLD = 17, SIG_STOP = 19,
	SIG_VTALRM = 26, SIG_PROF = 27, SIG_SYS = 31
};
/* Signals that the processor raises: we always handle, never block them. */
#define SYNC_SIGS (SIGBIT(SIG_ILL) | SIGBIT(SIG_TRAP) | SIGBIT(SIG_BUS) | \
    SIGBIT(SIG_FPE) | SIGBIT(SIG_SEGV))
#define NSYNC 5u

#define ALL_ASYNC (~(SYNC_SIGS | SIGBIT(SIG_KILL) | SIGBIT(SIG_STOP)))
#define TRAP_FLAG X86_EFLAGS_TF	/* SIGTRAP after each instruction */
#define FLAGS_SET (X86_EFLAGS_IF | X86_EFLAGS_FIXED)	/* in all programs */
#define TRAP_BRKPT 1
#define TRAP_TRACE 2		/* si_code of that */
#define CS64 0x33		/* the code segment of 64-bit programs */
#define SS64 0x2b
#define SI_TKILL (-6)		/* sent to one thread */
#define CLD_FIRST 1		/* codes of a child that has ended */
#define CLD_LAST 3
#define SI_USER 0		/* by kill(2), or of which no more is known */
#define SI_QUEUE (-1)		/* with a value */
#define SI_KERNEL 0x80		/* si_code: no address is to blame */
#define AC_FLAG X86_EFLAGS_AC	/* misaligned accesses are SIGBUS */
#define BUS_ADRALN 1

/* The kernel's structures. */
struct ksigaction {
	uint64_t handler;
	uint64_t flags;
	uint64_t restorer;
	uint64_t mask;
};
struct kstack {
	uint64_t sp;
	int32_t flags, pad;
	uint64_t size;
};
struct ksiginfo {
	int32_t signo, err, code, pad;
	uint64_t addr;
	uint64_t rest[13];
};
struct kucontext {
	uint64_t flags, link;
	struct kstack stack;
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
	uint64_t rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, eflags;
	uint16_t cs, gs, fs, ss;
	uint64_t err, trapno, oldmask, cr2;
	uint64_t fpstate;
	uint64_t reserved[8];
	uint64_t sigmask;
};
struct kframe {			/* as the kernel pushes it */
	uint64_t restorer;
	struct kucontext uc;
	struct ksiginfo info;
};

#define SA_NOCLDSTOP 1ull
#define SA_NOCLDWAIT 2ull
#define SA_SIGINFO 4ull
#define SA_RESTORER 0x04000000ull
#define SA_ONSTACK 0x08000000ull
#define SA_RESTART 0x10000000ull
#define SA_NODEFER 0x40000000ull
#define SA_RESETHAND 0x80000000ull
#define SA_TAGBITS 0x800ull
/* The kernel forgets all others. */
#define SA_KNOWN (SA_NOCLDSTOP | SA_NOCLDWAIT | SA_SIGINFO | SA_TAGBITS | \
    SA_RESTORER | SA_ONSTACK | SA_RESTART | SA_NODEFER | SA_RESETHAND)
#define SS_ONSTACK 1
#define SS_DISABLE 2
#define SS_AUTODISARM (1 << 31)
enum { SIG_BLOCK, SIG_UNBLOCK, SIG_SETMASK };	/* for rt_sigprocmask */

/* The mask that this makes of one. */
static inline uint64_t
mask_with(uint64_t how, uint64_t was, uint64_t set)
{
	return how == SIG_BLOCK ? was | set :
	    how == SIG_UNBLOCK ? was & ~set : set;
}

/* Make a system call: the kernel's result, -errno for an error. */
static inline long
sys6(long nr, long a, long b, long c, long d, long e, long f)
{
	long r;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ volatile("syscall" : "=a"(r) : "a"(nr), "D"(a), "S"(b),
	    "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
	return r;
}
#define sys0(n) sys6(n, 0, 0, 0, 0, 0, 0)
#define sys1(n, a) sys6(n, (long)(a), 0, 0, 0, 0, 0)
#define sys2(n, a, b) sys6(n, (long)(a), (long)(b), 0, 0, 0, 0)
#define sys3(n, a, b, c) sys6(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define sys4(n, a, b, c, d) \
	sys6(n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

/* The call that general registers ask for, but for its number. */
static inline long
sys_guest(uint64_t nr, const uint64_t gpr[16])
{
	return sys6((long)nr, (long)gpr[7], (long)gpr[6], (long)gpr[2],
	    (long)gpr[10], (long)gpr[8], (long)gpr[9]);
}

/* Is it an error that the kernel answered with? */
static inline bool
is_error(long r)
{
	return r < 0 && r > -4096;
}

#endif
