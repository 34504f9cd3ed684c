/*
 * runtime.h - the part of trace that runs inside the guest
 *
 * It is freestanding: no libc, general registers only, no relocations.  Each
 * thread's data is in its `struct tarea`; data that the process shares is in
 * `rt` and in the control segment.  While the guest's own code runs, in the
 * cache, only the signal handlers of the runtime are active.
 *
 * A thread is in the cache, in the runtime (on the area's runtime stack), or
 * in a handler (on the area's alternate stack, asynchronous signals blocked).
 *
 * This is what nearly all files need, and what has no other header:
 *
 *	queue.h		requests to trace, records, the queue
 *	signals.h	the guest's signals
 *	state.h		a thread's state where it was interrupted
 *	contexts.h	--contexts; ctx.h: for the files of that
 *	kinds.h		what some kinds and options need
 *	threads.h	threads, their areas and locks
 *	kernel.h	system calls, and the kernel's numbers and structures
 */
#ifndef RUNTIME_H
#define RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../shared.h"
#include "kernel.h"

/* Else the compiler would load addresses from a table of absolute ones. */
#pragma GCC visibility push(hidden)

/*
 * The signal that our traps raise, and that brings threads out of the cache.
 * Of all synchronous signals a division error is the cheapest, and the rarest
 * in programs: a hypervisor may intercept undefined instructions, breakpoints
 * and single steps first.
 */
#define SIG_OURS SIG_FPE

/*
 * Why a thread records nothing.  Its p then counts instructions down, or is
 * unused.
 */
enum skips { SKIP_NONE, SKIP_AFTER, SKIP_OUT };

enum trap { TRAP_NONE, TRAP_DELIVER, TRAP_RAISE, TRAP_LETGO, TRAP_NATIVE,
	TRAP_BEGIN };

/* Kind cache: a thread's lines, see table.c. */
struct line_table {
	struct line {
		uint64_t tag;		/* its address, or NO_LINE */
		uint64_t stamp;		/* 0: free */
	} data[TABLE_LINES];
	uint64_t itag[TABLE_LINES];
	uint32_t icell[TABLE_LINES];	/* 0: free */
	uint32_t n;			/* lines in it */
};
#define LOOK_ROOM 64u	/* bytes: more than a leaving line and a reference */

/* --contexts: how a thread gets to its pc. */
struct moving {
	uint64_t site, sp, landing;
	uint32_t key;
	uint8_t move, sitelen;
	bool indirect;
};

/* What a process has done with signals: the guest's, not the kernel's. */
struct actions {
	struct ksigaction of[NSIG + 1];
	uint32_t lock;		/* lock.c */
	uint32_t users;		/* threads */
	uint32_t unmasked;	/* our handlers begin with none blocked */
};

/* A thread's area; REG_T points 2 bytes before fsbase. */
struct tarea {
	TAREA_HEAD		/* of tarea.h */
	uint32_t pending;	/* number of the kept signal, or 0 */
	uint32_t trap;		/* enum trap: why rt_trap was called */
	struct slot *slot;
	uint32_t slotno;
	uint32_t tid;
	uint32_t pid;		/* rt.pid, or a process's that shares memory */
	uint32_t cleared;	/* 1: its handlers, and ours, are gone */
	struct actions *act;	/* rt.act, or that of such a process's first */
	struct actions ownact;
	uint64_t keptmask;	/* the guest's mask when it came */
	struct ksiginfo kept;
	struct kstack altstack;	/* the guest's */
	uint64_t syncblocked;	/* synchronous signals that the guest blocks */
	uint64_t bufend;	/* its buffer's guard page; 0: no buffer */
	uint64_t from;		/* records are published up to this address */
	uint64_t start_mask;	/* a new thread's, + 1 */
	uint64_t skips;		/* enum skips: why nothing is recorded */
	uint64_t past;		/* MODE_PAST applies at this pc, or 0 */
	struct {		/* bufend, from, p while outside of windows */
		uint64_t bufend, from, p;
	} aside;
	uint64_t stepping;	/* it does one instruction natively */
	uint64_t stepmask;	/* the guest's mask; all are blocked then */
	uint64_t unknown;	/* its pc, if trace cannot decode it */
	struct exitmeta told;	/* its exit; n is 0 if it was not recorded */
	uint64_t waitmask;	/* mask of the call while it waits, + 1 */
	uint64_t handlermask;	/* kept signal: the mask its handler adds to */
	uint64_t syncpending;	/* those of SYNC_SIGS sent while blocked;
				 * another thread may clear a bit */
	uint64_t syncignored;	/* those ignored since its last call began */
	uint32_t synclate;	/* 1: one came in a handler of ours, and has
				 * not been looked at */
	struct ksiginfo syncinfo[NSYNC];	/* of each of them */
	uint32_t gen;		/* of the cache when it was entered last */
	uint32_t tf;		/* the guest's trap flag, in the cache */
	uint64_t trapped;	/* pc of the last trap under it, or 0 */
	uint64_t over;		/* flags to restore after our own instruction */
	uint32_t raise;		/* signal for dispatch_go to raise, or 0 */
	struct ksiginfo raised;
	uint64_t child;		/* 1: a process of its own, let go at once */
	uint64_t rseq;		/* the guest's struct rseq, or 0 */
	uint64_t rseqsig;
	uint64_t shares;	/* 1: such a process in its parent's memory */
	uint32_t held;		/* hold.c: number of the held signal, or 0 */
	uint32_t owed;		/* blocks to execute before the next signal */
	uint32_t handled;	/* 1: since then a handler was entered */
	uint32_t turns;		/* handlers that returned to one pc in a row */
	uint64_t backpc, backsp;	/* that pc and stack pointer */
	uint64_t timerpc, timersp;	/* behind the last call for a timer */
	uint32_t timerturns;	/* how many more handlers may return there */
	uint32_t alarm;		/* signal_held_call's timer, + 1; 0: none */
	struct moving moving;
	struct {		/* where it began, and whose code that is */
		uint64_t pc;
		uint32_t owner;
	} root;
	uint64_t narc, nframe;	/* arcs' counts, frames that are accessible */
	uint32_t unlinked;	/* calls by arcs without code */
	uint32_t jumps;		/* that are calls, and look no arcs up */
	uint64_t ncount;	/* counters that can be accessed */
	uint32_t renewed;	/* ctl->renewed when it entered the cache */
	struct {		/* what t->open stands for, see allocs.c */
		uint64_t fn, ret, ptr;
		uint64_t taken;	/* bytes of the old memory; 0: all */
		uint64_t tp;	/* the thread pointer told last */
		uint32_t args;
	} opened;
};

struct rt {
	struct boot boot;
	struct control *ctl;
	const uint32_t *tab;
	const uint32_t *tabowner;	/* of its entries; NULL: all are 0 */
	uint64_t *ibl;
	struct fragmeta *frags[2];
	const uint8_t *maps;
	const struct exitkept *exits;
	const struct exitcall *calls;	/* of exits; NULL: no --contexts */
	struct cpuidrow *cpuids;
	uint64_t bufs;		/* address of the first buffer */
	struct ctx_arc *arcs;
	struct ctx_state *states;
	struct ctx_heads *heads;
	uint32_t guarded[NBUF / 32];	/* bit n: buffer n has its guard page */
	uint64_t zone[2], zonesize[2];
	/* the address of a place of a look-up, less what t->entry has, by the
	 * sign of that */
	uint64_t place[2];
	struct actions act;
	uint32_t nthread;
	uint32_t bringing;	/* 1: a thread brings all out of the cache */
	uint32_t pid;
	uint32_t ready;		/* other threads may join */
	uint32_t nawake;	/* requests that polled since a long answer */
	uint32_t next_crowded;	/* ctl->crowded the next time */
};
extern struct rt rt;

/* True: REG_P is not stolen.  The assembler keeps it in t->p nevertheless. */
static inline bool
p_is_guests(void)
{
	return (rt.boot.flags & BOOT_FREE_P) != 0;
}

/* Has the thread something of its own in REG_P while it is told? */
static inline bool
p_is_kept(void)
{
	return (rt.boot.flags & (BOOT_CACHE | BOOT_BRANCHES)) != 0;
}

/* ---- entry.S, look.S ---- */

/* Out of the cache: at an exit; where lookup words did not lead on; */
void rt_exit(void);
void rt_miss(void);
/* where a first lookup word led elsewhere: the second may lead on; */
void rt_again(void);
/* at a call whose target has no code; at a return without a landing. */
void rt_called(void);
void rt_return(void);
/* What fragments call for a look-up: any; the usual ones of kind cache; */
void rt_look(void);
void rt_look_data(void);
void rt_look_fetch(void);
/* and these where calling contexts are told. */
void rt_told_data(void);
void rt_told_fetch(void);
/* Into the cache at t->entry, with the guest's state in the area. */
void rt_enter(struct tarea *) __attribute__((noreturn));
/* Where a handler of ours returns to instead of what it interrupted. */
void rt_resume(void);
/* How our handlers return to the kernel: sigaction's restorer. */
void rt_restorer(void);
/* Raise SIG_OURS: its handler does what t->trap says. */
void rt_trap(struct tarea *) __attribute__((noreturn));
/*
 * Make a system call of the guest's, with its registers: what the kernel has
 * answered, or SYS_ABORTED, because a signal came before it was made.
 */
long rt_guest_syscall(struct tarea *, const uint64_t gpr[16]);
/* The same, and meanwhile the thread rests: see contexts_rest. */
long guest_syscall(struct tarea *, const uint64_t gpr[16]);
/*
 * Call a function of the guest's natively, on its stack: its result.  xsave:
 * the processor and the kernel have that.
 */
uint64_t rt_call(struct tarea *, uint64_t function, const uint64_t arg[4],
    bool xsave);
/* clone and clone3 for a thread, which begins on the child's area's stack. */
long rt_clone_thread(struct tarea *, struct tarea *child, uint64_t arg1);
/* The same for a process that shares our memory, on the stack of `on'. */
long rt_clone_vfork(struct tarea *, struct tarea *on);
int rt_copy(void *to, const void *from, size_t n);	/* -1: a fault */
int rt_cpuid(uint32_t leaf, uint32_t sub, uint32_t to[4]);	/* the same */
/* Return from the signal frame at sp; comes back only if that cannot be. */
long rt_sigreturn(struct tarea *, uint64_t sp);
/* Unmap the thread's own area, and end by system call nr with this status. */
void rt_thread_exit(uint64_t area, uint64_t size, long status, long nr)
    __attribute__((noreturn));
/* The same, but die of a signal that is blocked until `mask' is set. */
void rt_thread_die(uint64_t area, uint64_t size, uint32_t pid, uint32_t tid,
    int sig, const uint64_t *mask) __attribute__((noreturn));
/* Places in the code of these, where handlers treat a thread by itself. */
extern char blob[], rt_text_end[], rt_enter_go[], rt_enter_end[];
extern char rt_trap_insn[];
extern char rt_again_saved[], rt_again_end[], rt_again_miss[];
extern char rt_look_check[], rt_look_end[], rt_look_trap[];
extern char rt_line_check[], rt_line_end[];
extern char rt_sys_check[], rt_sys_insn[], rt_sys_abort[];
extern char rt_copy_insn[], rt_cpuid_insn[], rt_copy_fault[];
extern char rt_ret_check[], rt_ret_insn[], rt_ret_bad[], rt_ret_abort[];
extern char rt_returned[];
extern char rt_die_ill[], rt_die_trap[], rt_die_fpe[], rt_die_bus[];
extern char rt_die_segv[];
#define SYS_ABORTED (-10000l)

/* ---- boot.c: a process, or a thread that is there, begins ---- */

/*
 * The first thread of a process: the guest's state is in rt.boot.  Every
 * asynchronous signal is blocked until the first look at them.
 */
void boot_process(void) __attribute__((noreturn));
/* Another thread of a process that ran before, with this state. */
void boot_thread(const struct guest_state *) __attribute__((noreturn));

/* ---- dispatch.c: from a fragment to the next; what exits are for ---- */

/* The thread has left the cache, by rt_exit, rt_miss or rt_called: go on. */
void dispatch_exit(struct tarea *);
void dispatch_miss(struct tarea *);
void dispatch_called(struct tarea *);
/* Behind a handler of ours, or a signal kept on the way in. */
void dispatch_resume(struct tarea *);
/*
 * Find where to go on for t->pc and leave it in t->entry.  exitno: the exit
 * that led here and wants to be linked; BY_LOOKUP: a lookup word is to lead
 * there; or ~0.  May not return: signals.
 */
#define BY_LOOKUP (~0ull - 1)
void dispatch_go(struct tarea *, uint64_t exitno);
/* Before there is a second thread: what --for leaves will be shared. */
void dispatch_share(struct tarea *);

/* ---- letgo.c: threads go on natively ---- */

/* The thread is about to go on natively: publish its last records, and such. */
void before_letting_go(struct tarea *);
/* The thread goes on natively, for good. */
void let_go(struct tarea *) __attribute__((noreturn));

/* ---- filter.c: of a system call that installs a seccomp filter ---- */

/* Does the filter look at the instruction pointer, which would be ours? */
bool filter_reads_pc(const struct tarea *, uint64_t nr);
/* Does it permit futex, to wait and to wake, whatever the word? */
bool filter_permits_futex(const struct tarea *, uint64_t nr);
/* Does it permit sched_yield? */
bool filter_permits_yield(const struct tarea *, uint64_t nr);

/* ---- cpuid.c ---- */

/* Do the guest's cpuid, by the registers in the area; -1: it faults. */
int cpuid_do(struct tarea *);
/* The guest has had cpuid fault: its answers are kept no longer. */
void cpuid_faults(void);

/* ---- client.c ---- */

/* Do a client request: its words are at the guest's rax. */
void client_request(struct tarea *);

/* ---- syscall.c: the guest's system calls ---- */

/* Make a call of the guest's that may wait for signals, take or show them. */
long guest_call(struct tarea *);
/* Is it a call that no signal interrupts? */
bool syscall_never_waits(uint64_t nr);
/* The system call at the end of the block; the thread goes on at its target. */
void syscall_do(struct tarea *, const struct exitmeta *);

/*
 * ---- memory.c: calls of the guest's that change what its memory holds ----
 *
 * Each makes the thread's call nr and tells trace where code may have changed;
 * what it returns goes to the guest.
 */

/* mmap, munmap, mremap, mprotect, pkey_mprotect */
long memory_map(struct tarea *, uint64_t nr);
/* brk */
long memory_break(struct tarea *);
/* madvise, process_madvise */
long memory_advise(struct tarea *, uint64_t nr);
/* shmat */
long memory_attach(struct tarea *);
/* open, creat, openat, openat2: perhaps of the guest's memory as a file */
long memory_open(struct tarea *, uint64_t nr);
/* write and its kin, which may write into such a file */
long memory_write(struct tarea *, uint64_t nr);
/* userfaultfd, ioctl, io_uring_register: perhaps nobody notices writes then */
long memory_expose(struct tarea *, uint64_t nr);

/* ---- procmem.c: writes into the guest's own memory by /proc ---- */

/* A call of the guest's opened fd with these flags. */
void procmem_opened(int64_t fd, uint64_t flags);
/* Will the guest's call nr write to its own memory, or may it? */
bool procmem_writes(const struct tarea *, uint64_t nr);
/* Did the guest's call nr write n or more bytes to its own memory? Where? */
bool procmem_written(const struct tarea *, uint64_t nr, uint64_t n,
    uint64_t range[2]);

/* ---- mini.c: what a C library would have ---- */

/* As in C; compilers call these, too. */
void *memcpy(void *, const void *, size_t);
void *memset(void *, int, size_t);
size_t strlen(const char *);
/* The engine cannot go on: say why on the guest's standard error, and exit. */
void panic(const char *) __attribute__((noreturn));
/* The same of a fault at ip, in our own code; addr: what it accessed. */
void panic_fault(uint64_t ip, uint64_t addr, uint64_t sp)
    __attribute__((noreturn));

/* An exit by its number. */
static inline struct exitmeta
exit_at(uint64_t number)
{
	struct exitmeta x = exit_unpack(&rt.exits[number]);

	if (rt.calls != NULL)
		memcpy(x.refs, rt.calls[number].refs, sizeof x.refs);
	return x;
}

/* The processor that we are on: the kernel puts it into a segment's limit. */
static inline uint32_t
this_cpu(void)
{
	uint32_t limit = ~0u;

	__asm__ volatile("lsl %1, %0" : "+r"(limit) : "r"(0x7bu) : "cc");
	return limit == ~0u ? limit : limit & 0xfff;
}

/* The area of the thread whose stack this address is on. */
static inline struct tarea *
self(const void *on_stack)
{
	uint64_t base = (uint64_t)on_stack & ~(uint64_t)(T_SIZE - 1);

	return (struct tarea *)(base + T_OFF);
}

#pragma GCC visibility pop
#endif
