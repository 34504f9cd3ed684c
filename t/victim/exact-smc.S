/*
 * exact-smc - code that is rewritten, by itself and by others, on pages that
 * are writable all the time and on pages that are not
 * build: -Wl,--no-warn-rwx-segments
 */
#include "asm/exact.h"
_start:
	lea	rdi, patched[rip]
	and	rdi, -4096
	mov	esi, 8192
	mov	edx, 7
	syscall_ 10
	test	eax, eax
	must	z
	mov	ebx, 60
1:	mov	patched[rip+1], ebx
	call	patched
	cmp	eax, ebx
	must	e
	/* a loop of one byte more each time, made of nops */
	lea	rdi, nops[rip]
	mov	ecx, ebx
	mov	al, 0x90
	rep	stosb
	mov	byte ptr [rdi], 0xc3
	call	nops
	lea	rdi, nops[rip]
	mov	byte ptr [rdi], 0xc3
	call	nops
	dec	ebx
	jnz	1b
	finish
	.balign	64
patched:
	mov	eax, 0
	ret
	.balign	64
nops:	.space	128, 0xc3
