/*
 * exact-fork - children by fork and vfork: theirs is not counted; waiting for
 * them is
 */
#include "asm/exact.h"
_start:
	mov	ebx, 20
1:	.irp	nr, 57, 58
	syscall_ \nr
	test	eax, eax
	jz	child
	mov	edi, eax
	lea	rsi, status[rip]
	xor	edx, edx
	xor	r10d, r10d
	syscall_ 61			/* wait4 */
	cmp	dword ptr status[rip], 0x700
	must	e
	.endr
	dec	ebx
	jnz	1b
	finish
child:	mov	ecx, 1000
2:	dec	ecx
	jnz	2b
	mov	edi, 7
	syscall_ 231
	.bss
status:	.quad	0
