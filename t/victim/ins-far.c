/*
 * ins-far - far transfers that stay in 64-bit code: far call and jump through
 * memory, far return with and without a count, iretq with flags, and one to a
 * stack segment that cannot be, which faults
 */
#include <setjmp.h>

#include "victim.h"

struct far {
	void *off;
	uint16_t sel;
} __attribute__((packed));

static volatile struct far target;

static uint64_t
returns(void)
{
	uint64_t moved;

	__asm__ volatile(
	    "	mov	%%rsp, %0\n"
	    "	pushq	$0x33\n"
	    "	lea	1f(%%rip), %%r8\n"
	    "	push	%%r8\n"
	    "	lretq\n"
	    "	ud2\n"
	    "1:	sub	$32, %%rsp\n"
	    "	pushq	$0x33\n"
	    "	lea	2f(%%rip), %%r11\n"
	    "	push	%%r11\n"
	    "	lretq	$32\n"
	    "	ud2\n"
	    "2:	sub	%%rsp, %0\n"
	    : "=&r"(moved) : : "r8", "r11", "memory", "cc");
	return moved;
}

static uint64_t
iret(uint64_t flags)
{
	uint64_t got;

	__asm__ volatile(
	    "	mov	%%rsp, %%rdx\n"
	    "	mov	%%ss, %%eax\n"
	    "	push	%%rax\n"
	    "	push	%%rdx\n"
	    "	push	%1\n"
	    "	pushq	$0x33\n"
	    "	lea	1f(%%rip), %%r11\n"
	    "	push	%%r11\n"
	    "	iretq\n"
	    "	ud2\n"
	    "1:	pushf\n"
	    "	pop	%0\n"
	    : "=r"(got) : "r"(flags) : "rax", "rdx", "r11", "memory", "cc");
	return got;
}

static sigjmp_buf out;

static void
on_segv(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si;
	SAME(*(uint16_t *)REG(uc, RIP), 0xcf48);
	siglongjmp(out, 1);
}

static void
iret_without_stack(void)
{
	if (sigsetjmp(out, 1) != 0)
		return;
	__asm__ volatile(
	    "	mov	%%rsp, %%rdx\n"
	    "	pushq	$0\n"
	    "	push	%%rdx\n"
	    "	pushf\n"
	    "	pushq	$0x33\n"
	    "	lea	1f(%%rip), %%r11\n"
	    "	push	%%r11\n"
	    "	iretq\n"
	    "1:\n"
	    : : : "rdx", "r11", "memory", "cc");
	CHECK(!"an iretq to no stack segment");
}

static void
calls(void)
{
	uint64_t pushed;

	target.sel = 0x33;
	__asm__ volatile(
	    "	lea	1f(%%rip), %%r8\n"
	    "	mov	%%r8, %1\n"
	    "	xor	%0, %0\n"
	    "	rex64 lcall *%1\n"
	    "	lea	2f(%%rip), %%r8\n"
	    "	mov	%%r8, %1\n"
	    "	rex64 ljmp *%1\n"
	    "	ud2\n"
	    "1:	mov	8(%%rsp), %0\n"
	    "	lretq\n"
	    "2:	nop\n"
	    : "=&r"(pushed), "+m"(target) : : "r8", "memory", "cc");
	SAME(pushed & 0xffff, 0x33);
}

int
main(void)
{
	handle(SIGSEGV, on_segv, 0);
	for (int i = 0; i < 100; i++) {
		SAME(returns(), 0);
		SAME(iret(0x202 | 1 | 0x80) & 0xcd5, 0x81);
		SAME(iret(0x202 | 0x840) & 0xcd5, 0x840);
		iret_without_stack();
		/* Others take no 64-bit offset there. */
		if (__builtin_cpu_is("intel"))
			calls();
	}
	return victim_ok();
}
