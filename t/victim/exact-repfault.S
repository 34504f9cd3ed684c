/*
 * exact-repfault - a repeated instruction runs into a closed page after some
 * rounds: counted with those, and once more with the rest; at its first round:
 * not counted
 */
#include "asm/exact.h"
_start:
	handler	11, on_segv
	mov	ebx, 20
1:	call	shut
	lea	rsi, area[rip]
	lea	rdi, area[rip+8192-100]
	mov	ecx, 300
	rep	movsb
	call	shut
	lea	rdi, area[rip+8192]
	mov	ecx, 30
	rep	stosd
	call	shut
	lea	rsi, area[rip+8192-8]
	mov	ecx, 9
	rep	lodsb
	dec	ebx
	jnz	1b
	cmp	r12d, 60
	must	e
	finish
shut:	lea	rdi, area[rip+8192]
	mov	esi, 4096
	xor	edx, edx
	syscall_ 10
	ret
on_segv:
	lea	rdi, area[rip+8192]
	mov	esi, 4096
	mov	r13, rdx
	mov	edx, 3
	syscall_ 10
	inc	qword ptr [r13+72]
	ret
	restorer_
	.bss
	.balign	4096
area:	.space	16384
