/*
 * exact-timer-alias - as exact-timer, of indirect calls and jumps in turn to
 * targets with the same low 16 bits, which find all registers and flags as they
 * were
 */
#include "asm/exact.h"
#include "asm/timer.h"
	.text
_start:
	start_timer
	mov	ebx, 60000
	xor	r12d, r12d
1:	inc	r12d
	mov	eax, r12d
	and	eax, 3
	shl	eax, 16
	lea	r13, far_targets[rip]
	add	r13, rax
	mov	edx, r12d
	mov	ecx, r12d
	mov	eax, r12d
	cmp	r12d, 0x7fff		/* sets carry below, else not */
	call	r13
	sbb	r14, 0			/* and they come back, too */
	lea	r13, far_targets[rip]
	test	r12b, 4
	jz	2f
	add	r13, 0x10000
2:	lea	r8, 3f[rip]
	push	r8
	cmp	r12d, 0x7fff
	jmp	r13
	ud2
3:	dec	ebx
	jnz	1b
	end_by_ticks
wrong:	mov	edi, 1
	syscall_ 231
	.text
	.balign	65536
far_targets:
	.irp	n, 1, 2, 3, 4
	.balign	65536
	setc	r9b
	cmp	edx, r12d
	jne	wrong
	cmp	ecx, r12d
	jne	wrong
	cmp	r12d, 0x7fff
	setc	r10b
	cmp	r9b, r10b
	jne	wrong
	mov	edx, r12d
	mov	ecx, r12d
	.rept	\n
	add	r14, 1
	.endr
	cmp	r12d, 0x7fff
	ret
	.endr
