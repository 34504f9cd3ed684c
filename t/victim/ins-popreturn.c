/*
 * ins-popreturn - functions that take their return address off the stack, as
 * the code of some JIT compilers does: they call others, and go back by a jump
 */
#include "victim.h"

uint64_t run_one(uint64_t n), run_two(uint64_t n), run_deep(uint64_t n);

__asm__(
"	.text\n"
/* counts its rounds in r13 */
"	.globl	run_one\n"
"	.type	run_one, @function\n"
"run_one:\n"
"	push	%rbx\n"
"	push	%r12\n"
"	push	%r13\n"
"	mov	%rdi, %rbx\n"
"	xor	%r13d, %r13d\n"
"1:	call	one\n"
"	dec	%rbx\n"
"	jnz	1b\n"
"	mov	%r13, %rax\n"
"	pop	%r13\n"
"	pop	%r12\n"
"	pop	%rbx\n"
"	ret\n"
"	.size	run_one, . - run_one\n"
"	.type	one, @function\n"
"one:	pop	%r12\n"
"	call	leaf\n"
"	jmp	*%r12\n"
"	.size	one, . - one\n"
"	.type	leaf, @function\n"
"leaf:	inc	%r13\n"
"	ret\n"
"	.size	leaf, . - leaf\n"
/* two such functions within each other, a jump within the inner one */
"	.globl	run_two\n"
"	.type	run_two, @function\n"
"run_two:\n"
"	push	%rbx\n"
"	push	%r12\n"
"	push	%r13\n"
"	push	%r14\n"
"	mov	%rdi, %rbx\n"
"	xor	%r13d, %r13d\n"
"1:	call	outer\n"
"	call	leaf\n"
"	dec	%rbx\n"
"	jnz	1b\n"
"	mov	%r13, %rax\n"
"	pop	%r14\n"
"	pop	%r13\n"
"	pop	%r12\n"
"	pop	%rbx\n"
"	ret\n"
"	.size	run_two, . - run_two\n"
"	.type	outer, @function\n"
"outer:	pop	%r12\n"
"	call	leaf\n"
"	call	inner\n"
"	call	leaf\n"
"	jmp	*%r12\n"
"	.size	outer, . - outer\n"
"	.type	inner, @function\n"
"inner:	pop	%r14\n"
"	call	leaf\n"
"	lea	2f(%rip), %rax\n"
"	test	$1, %bl\n"
"	jz	1f\n"
"	lea	3f(%rip), %rax\n"
"1:	jmp	*%rax\n"
"2:	call	leaf\n"
"3:	call	leaf\n"
"	jmp	*%r14\n"
"	.size	inner, . - inner\n"
/* and one that calls itself, with its return addresses on a stack of its own */
"	.globl	run_deep\n"
"	.type	run_deep, @function\n"
"run_deep:\n"
"	push	%rbx\n"
"	push	%r13\n"
"	push	%rbp\n"
"	mov	%rdi, %rbx\n"
"	xor	%r13d, %r13d\n"
"	lea	own(%rip), %rbp\n"
"	call	deep\n"
"	mov	%r13, %rax\n"
"	pop	%rbp\n"
"	pop	%r13\n"
"	pop	%rbx\n"
"	ret\n"
"	.size	run_deep, . - run_deep\n"
"	.type	deep, @function\n"
"deep:	pop	(%rbp)\n"
"	add	$8, %rbp\n"
"	call	leaf\n"
"	dec	%rbx\n"
"	jz	1f\n"
"	call	deep\n"
"	call	leaf\n"
"1:	sub	$8, %rbp\n"
"	jmp	*(%rbp)\n"
"	.size	deep, . - deep\n"
"	.local	own\n"
"	.comm	own, 65536, 8\n");

/* several contexts of each */
__attribute__((noinline)) static void
first(uint64_t n)
{
	SAME(run_one(n), n);
	SAME(run_two(n), 5 * n + n / 2);
}

__attribute__((noinline)) static void
second(uint64_t n)
{
	SAME(run_two(n + 1), 5 * (n + 1) + (n + 1) / 2);
	SAME(run_one(n + 1), n + 1);
	SAME(run_deep(100 * n), 200 * n - 1);
}

int
main(void)
{
	for (uint64_t n = 1; n < 40; n++) {
		first(n);
		second(n);
	}
	return victim_ok();
}
