/*
 * smc-overlap - jumps into the middle of instructions: the same bytes are run
 * as different ones, again and again
 */
#include "victim.h"

/* At 0: mov $0xc3c8ff, %eax; ret.  At 1: dec %eax; ret. */
__asm__(
"	.text\n"
"overlap:\n"
"	.byte	0xb8, 0xff, 0xc8, 0xc3, 0x00\n"
"	ret\n"
/* A jump over half of a long nop; both halves meet again. */
"overlap_nop:\n"
"	test	%edi, %edi\n"
"	jz	1f + 3\n"
"1:	.byte	0x0f, 0x1f, 0x80\n"
"	inc	%eax\n"			/* the nop's displacement */
"	nop\n"
"	nop\n"
"	ret\n");
extern char overlap[], overlap_nop[];

static int
call(char *at, int eax, int edi)
{
	__asm__ volatile("call *%2" : "+a"(eax), "+D"(edi) : "r"(at)
	    : "memory", "cc");
	return eax;
}

int
main(void)
{
	for (int i = 0; i < 1000; i++) {
		SAME(call(overlap, 0, 0), 0xc3c8ff);
		SAME(call(overlap + 1, i, 0), i - 1);
		SAME(call(overlap_nop, i, 0), i + 1);
		SAME(call(overlap_nop, i, 1), i);
	}
	return victim_ok();
}
