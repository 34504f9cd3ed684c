/*
 * ins-flagsreturn - flags live across returns: to where no call came from, as
 * a thread goes on that a handler had made call something, and behind a call
 */
#include "victim.h"

#define FLAGS (1u | 4u | 0x10u | 0x40u | 0x80u | 0x800u)

__attribute__((noinline)) static uint64_t
elsewhere(uint64_t flags)
{
	uint64_t r;

	__asm__ volatile("sub $128, %%rsp; lea 1f(%%rip), %%rax; push %%rax;"
	    "push %1; popfq; ret; 1: pushfq; pop %0; add $128, %%rsp"
	    : "=r"(r) : "r"(flags) : "rax", "memory", "cc");
	return r;
}

__attribute__((noinline)) static uint64_t
behind(uint64_t flags)
{
	uint64_t r;

	__asm__ volatile("sub $128, %%rsp; jmp 2f; 1: push %1; popfq; ret;"
	    "2: call 1b; pushfq; pop %0; add $128, %%rsp"
	    : "=r"(r) : "r"(flags) : "memory", "cc");
	return r;
}

static uint64_t
some_of(unsigned bits)
{
	uint64_t flags = 0x202, rest = FLAGS;

	for (; rest != 0; rest &= rest - 1, bits >>= 1)
		flags |= bits & 1 ? rest & -rest : 0;
	return flags;
}

int
main(void)
{
	for (int i = 0; i < 100; i++)
		for (unsigned bits = 0; bits < 64; bits++) {
			uint64_t flags = some_of(bits);

			SAME(elsewhere(flags) & FLAGS, flags & FLAGS);
			SAME(behind(flags) & FLAGS, flags & FLAGS);
		}
	return victim_ok();
}
