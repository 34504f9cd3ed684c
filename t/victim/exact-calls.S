/*
 * exact-calls - calls of all kinds, recursion, tail jumps, returns with counts
 * and returns used as jumps
 */
#include "asm/exact.h"
_start:
	mov	ebx, 8
1:	mov	edi, 9
	call	fib
	cmp	eax, 34
	must	e
	lea	r12, leaf[rip]
	call	r12
	lea	r12, pointer[rip]
	lea	r13, counted[rip]
	mov	[r12], r13
	push	1
	push	2
	call	[r12]
	call	tail
	lea	r13, 2f[rip]
	push	r13
	ret
	ud2
2:	mov	r13d, 0
	call	[r12+r13*8]
	add	rsp, -16
	dec	ebx
	jnz	1b
	finish
fib:	cmp	edi, 2
	jae	1f
	mov	eax, edi
	ret
1:	push	rdi
	dec	edi
	call	fib
	pop	rdi
	push	rax
	sub	edi, 2
	call	fib
	pop	rdx
	add	eax, edx
	ret
leaf:	mov	eax, 5
	ret
counted:
	mov	eax, [rsp+8]
	ret	16
tail:	dec	eax
	jmp	leaf
	.bss
pointer:
	.quad	0
