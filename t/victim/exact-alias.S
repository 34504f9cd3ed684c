/*
 * exact-alias - indirect calls, jumps and returns whose targets have the same
 * low 16 bits, from the same places in turn
 */
#include "asm/exact.h"
_start:
	mov	ebx, 60
1:	xor	r12d, r12d
2:	lea	r13, far_begin[rip]
	mov	eax, r12d
	shl	eax, 16
	add	r13, rax
	call	r13
	lea	r14, 3f[rip]
	push	r14
	jmp	r13
	ud2
3:	inc	r12d
	cmp	r12d, 6
	jb	2b
	dec	ebx
	jnz	1b
	finish
	.balign	65536
far_begin:
	.irp	n, 1, 2, 3, 4, 5, 6
	.balign	65536
	.rept	\n
	add	eax, 1
	.endr
	ret
	.endr
