/*
 * ins-syscall - what a system call leaves: rcx is the address behind it, r11
 * the flags, rax the result, and nothing else is touched; six arguments
 */
#include "victim.h"

extern char sysc_behind[];

static uint64_t regs[16], flags_after;
static unsigned char vec_in[64] __attribute__((aligned(64)));
static unsigned char vec_out[64] __attribute__((aligned(64)));

static void
all_registers(uint64_t carry)
{
	__asm__ volatile(
	    "	push	%%rbp\n"
	    "	push	%1\n"
	    "	movdqa	%3, %%xmm5\n"
	    "	mov	$0x101, %%ebx\n"
	    "	mov	$0x102, %%edx\n"
	    "	mov	$0x103, %%esi\n"
	    "	mov	$0x104, %%edi\n"
	    "	mov	$0x105, %%ebp\n"
	    "	mov	$0x108, %%r8d\n"
	    "	mov	$0x109, %%r9d\n"
	    "	mov	$0x10a, %%r10d\n"
	    "	mov	$0x10b, %%r11d\n"
	    "	mov	$0x10c, %%r12d\n"
	    "	mov	$0x10d, %%r13d\n"
	    "	mov	$0x10e, %%r14d\n"
	    "	mov	$0x10f, %%r15d\n"
	    "	popf\n"
	    "	mov	$102, %%eax\n"		/* getuid */
	    "	syscall\n"
	    "	.globl	sysc_behind\n"
	    "sysc_behind:\n"
	    "	mov	%%rax, 0+%0\n"
	    "	mov	%%rbx, 8+%0\n"
	    "	mov	%%rcx, 16+%0\n"
	    "	mov	%%rdx, 24+%0\n"
	    "	mov	%%rsi, 32+%0\n"
	    "	mov	%%rdi, 40+%0\n"
	    "	mov	%%rbp, 48+%0\n"
	    "	mov	%%r8, 64+%0\n"
	    "	mov	%%r9, 72+%0\n"
	    "	mov	%%r10, 80+%0\n"
	    "	mov	%%r11, 88+%0\n"
	    "	mov	%%r12, 96+%0\n"
	    "	mov	%%r13, 104+%0\n"
	    "	mov	%%r14, 112+%0\n"
	    "	mov	%%r15, 120+%0\n"
	    "	pushf\n"
	    "	pop	%2\n"
	    "	movdqa	%%xmm5, %4\n"
	    "	pop	%%rbp\n"
	    : "=m"(regs), "+a"(carry), "=m"(flags_after)
	    : "m"(vec_in), "m"(vec_out)
	    : "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11",
	    "r12", "r13", "r14", "r15", "xmm5", "memory", "cc");
}

static void
check(uint64_t flags)
{
	SAME(regs[0], getuid());
	SAME(regs[2], (uintptr_t)sysc_behind);
	SAME(regs[11] & 0xcd5, flags & 0xcd5);
	SAME(regs[11] & 0x300, 0x200);
	SAME(flags_after & 0x8d5, flags & 0x8d5);
	for (unsigned i = 1; i < 16; i++)
		if (i != 2 && i != 7 && i != 11)
			SAME(regs[i], 0x100 + (i == 1 ? 1 : i == 3 ? 2 :
			    i == 4 ? 3 : i == 5 ? 4 : i == 6 ? 5 : i));
	CHECK(memcmp(vec_in, vec_out, 16) == 0);
}

static void
six_arguments(void)
{
	register long r10 __asm__("r10") = MAP_PRIVATE | MAP_ANONYMOUS;
	register long r8 __asm__("r8") = -1;
	register long r9 __asm__("r9") = 0;
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "a"(SYS_mmap), "D"(0),
	    "S"(PAGE), "d"(PROT_READ | PROT_WRITE), "r"(r10), "r"(r8), "r"(r9)
	    : "rcx", "r11", "memory");
	CHECK(ret > 0);
	*(volatile int *)ret = 1;
	munmap((void *)ret, PAGE);
	/* An error is a small negative number. */
	__asm__ volatile("syscall" : "=a"(ret) : "a"(SYS_close), "D"(-1)
	    : "rcx", "r11", "memory");
	SAME(ret, -EBADF);
	__asm__ volatile("syscall" : "=a"(ret) : "a"(999) : "rcx", "r11");
	SAME(ret, -ENOSYS);
	/* Only eax counts as the number. */
	__asm__ volatile("syscall" : "=a"(ret) : "a"(0xabc00000027ul)
	    : "rcx", "r11");
	SAME(ret, getpid());
}

int
main(void)
{
	memset(vec_in, 0x3c, sizeof vec_in);
	for (int i = 0; i < 300; i++) {
		uint64_t flags = 0x202 | (i & 1 ? 1 : 0) | (i & 2 ? 0x40 : 0) |
		    (i & 4 ? 0x880 : 0);

		all_registers(flags);
		check(flags);
		six_arguments();
	}
	return victim_ok();
}
