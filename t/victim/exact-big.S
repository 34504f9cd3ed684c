/*
 * exact-big - seventy thousand functions, each called once and then once more
 * through its address
 * count: 840017
 */
#include "asm/exact.h"
	.set	N, 70000
_start:
	mov	r12d, 2
1:	lea	rbx, functions[rip]
	mov	r13d, N
2:	call	rbx
	add	rbx, 8
	dec	r13d
	jnz	2b
	dec	r12d
	jnz	1b
	finish
	.balign	64
functions:
	.rept	N
	lea	eax, [rax+1]
	ret
	.balign	8
	.endr
