/*
 * smc-samepage - code that stores into its own page: data between functions,
 * and functions that rewrite one another
 * build: -Wl,--no-warn-rwx-segments
 */
#include "victim.h"

/* All in one page that is both: a counter, and a patched neighbour. */
__asm__(
"	.pushsection .both, \"awx\", @progbits\n"
"	.balign 4096\n"
"count_up:\n"
"	addq	$1, both_counter(%rip)\n"
"	mov	both_counter(%rip), %rax\n"
"	ret\n"
"	.balign 8\n"
"both_counter:\n"
"	.quad	0\n"
"patch_and_call:\n"		/* value: into the neighbour's operand */
"	mov	%edi, neighbour+1(%rip)\n"
"	call	neighbour\n"
"	ret\n"
"	nop\n"
"neighbour:\n"
"	mov	$0, %eax\n"
"	ret\n"
"	.balign 4096\n"
"	.popsection\n");
uint64_t count_up(void);
int patch_and_call(int);

int
main(void)
{
	for (uint64_t i = 1; i <= 2000; i++) {
		SAME(count_up(), i);
		SAME(patch_and_call((int)i * 7), i * 7);
	}
	return victim_ok();
}
