/*
 * exact-signal - signals that the program sends itself: handlers, nested ones,
 * one blocked and delivered when unblocked, sigreturn by the restorer
 */
#include "asm/exact.h"
	.macro	raise_ signal
	syscall_ 39			/* getpid */
	mov	edi, eax
	mov	esi, \signal
	syscall_ 62			/* kill */
	.endm
_start:
	handler	10, on_usr1
	handler	12, on_usr2
	mov	ebx, 50
1:	raise_	10
	cmp	r12d, r13d
	must	e
	mov	edi, 0			/* block SIGUSR2 */
	call	mask
	raise_	12
	add	r14d, 1
	mov	edi, 1			/* unblock: delivered here */
	call	mask
	sub	r14d, 1
	dec	ebx
	jnz	1b
	cmp	dword ptr seen[rip], 150
	must	e
	finish
mask:	lea	rsi, usr2[rip]
	xor	edx, edx
	mov	r10d, 8
	syscall_ 14
	ret
on_usr1:
	inc	dword ptr seen[rip]
	raise_	12
	ret
on_usr2:
	inc	dword ptr seen[rip]
	ret
	restorer_
	.data
usr2:	.quad	1 << 11
seen:	.quad	0
