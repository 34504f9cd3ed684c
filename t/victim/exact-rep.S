/*
 * exact-rep - repeated string instructions count once, whatever their count,
 * zero included; early ends, both directions
 */
#include "asm/exact.h"
_start:
	mov	ebx, 20
1:	.irp	count, 0, 1, 2, 100, 1000
	lea	rsi, area[rip]
	lea	rdi, area[rip+4096]
	mov	ecx, \count
	rep	movsb
	mov	ecx, \count / 8
	rep	stosq
	lea	rsi, area[rip+2048]
	lea	rdi, area[rip+6144]
	mov	ecx, \count / 4
	std
	rep	movsd
	cld
	lea	rsi, area[rip]
	lea	rdi, area[rip+4096]
	mov	ecx, \count
	repe	cmpsb
	mov	ecx, \count
	mov	al, 77
	repne	scasb
	mov	ecx, \count
	rep	lodsb
	.endr
	movsb
	stosw
	dec	ebx
	jnz	1b
	finish
	.bss
	.balign	64
area:	.space	16384
