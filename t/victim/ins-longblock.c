/*
 * ins-longblock - straight code without end: thousands of instructions without
 * a branch, hundreds of memory references by bases that all change between,
 * and hundreds of branches that are never taken
 */
#include "victim.h"

static uint64_t mem[64];

__asm__(
"	.text\n"
"long_plain:\n"
"	xor	%eax, %eax\n"
"	.rept	5000\n"
"	add	$3, %rax\n"
"	xor	$1, %rax\n"
"	.endr\n"
"	ret\n"
"long_refs:\n"			/* memory: each reference by a new base */
"	mov	%rdi, %r8\n"
"	xor	%r11d, %r11d\n"
"	.rept	600\n"
"	mov	(%r8), %rax\n"		/* the next place's offset */
"	lea	(%rdi,%rax,8), %r8\n"
"	add	%rax, %r11\n"
"	addq	$0, (%rdi,%rax,8)\n"
"	.endr\n"
"	mov	%r11, %rax\n"
"	ret\n"
"long_exits:\n"			/* never taken, but for the one that counts */
"	mov	$1000, %eax\n"
"	.rept	800\n"
"	dec	%rdi\n"
"	jz	1f\n"
"	dec	%eax\n"
"	.endr\n"
"	mov	$-1, %eax\n"
"1:	ret\n"
"long_stack:\n"			/* stack slots by rsp as it moves */
"	mov	$200, %eax\n"
"	.rept	300\n"
"	push	%rax\n"
"	.endr\n"
"	.rept	300\n"
"	pop	%rdx\n"
"	add	%rdx, %rax\n"
"	.endr\n"
"	ret\n");
uint64_t long_plain(void);
uint64_t long_refs(uint64_t *);
uint64_t long_exits(uint64_t);
uint64_t long_stack(void);

int
main(void)
{
	uint64_t plain = 0, refs = 0, at = 0;

	for (int i = 0; i < 5000; i++)
		plain = (plain + 3) ^ 1;
	for (int i = 0; i < 64; i++)
		mem[i] = (uint64_t)(i * 29 + 11) % 64;
	for (int i = 0; i < 600; i++) {
		at = mem[at];
		refs += at;
	}
	for (int round = 0; round < 20; round++) {
		SAME(long_plain(), plain);
		SAME(long_refs(mem), refs);
		SAME(long_stack(), 200 * 301);
		for (uint64_t i = 1; i <= 800; i += 13)
			SAME(long_exits(i), 1000 - (i - 1));
		SAME((uint32_t)long_exits(801), 0xffffffff);
	}
	return victim_ok();
}
