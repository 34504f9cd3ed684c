/*
 * ins-roles - each pair of general registers in every role an operand can
 * have; whatever the registers, the checksum is the same
 * build: t/victim/asm/roles.S
 */
#include "victim.h"

extern void (*const roles_begin[])(void), (*const roles_end[])(void);
extern uint64_t roles_sum;

static uint64_t
sum_of(void (*f)(void))
{
	roles_sum = 0;
	/* All general registers are the function's own. */
	__asm__ volatile("call *%0" : "+a"(f) : : "rbx", "rcx", "rdx", "rsi",
	    "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
	    "xmm9", "xmm10", "xmm11", "memory", "cc");
	return roles_sum;
}

int
main(void)
{
	size_t n = (size_t)(roles_end - roles_begin);
	uint64_t want = sum_of(roles_begin[0]);

	SAME(n, 15 * 14);
	for (int round = 0; round < 3; round++)
		for (size_t i = 0; i < n; i++)
			SAME(sum_of(roles_begin[i]), want);
	return victim_ok();
}
