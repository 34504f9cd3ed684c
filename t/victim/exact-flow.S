/*
 * exact-flow - branches that go either way as a generator's bits say: blocks
 * are left at each of their exits
 */
#include "asm/exact.h"
_start:
	mov	r12, 0x123456789abcdef
	mov	ebx, 500
	xor	r15d, r15d
1:	mov	rax, 6364136223846793005
	imul	r12, rax
	mov	rax, 1442695040888963407
	add	r12, rax
	mov	rax, r12
	.irp	bit, 60, 55, 50, 45, 40, 35, 30, 25
	bt	rax, \bit
	jc	2f
	inc	r15
	.endr
	add	r15, 5
	jmp	4f
2:	bt	rax, 20
	jnc	3f
	bt	rax, 21
	jc	4f
	sub	r15, 1
3:	xor	r15, rax
	js	4f
	rol	r15, 3
4:	dec	ebx
	jnz	1b
	finish
