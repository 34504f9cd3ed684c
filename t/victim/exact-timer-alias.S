/*
 * exact-timer-alias - as exact-timer, of indirect calls and jumps in turn to
 * targets with the same low 16 bits, which find all registers and flags as they
 * were
 */
#include "asm/exact.h"
_start:
	xor	r13d, r13d
	cmp	qword ptr [rsp], 1
	sete	r13b
	imul	r13d, r13d, 200
	handler	14, on_alrm, 0x10000000
	mov	timer[rip+8], r13
	mov	timer[rip+24], r13
	xor	edi, edi
	lea	rsi, timer[rip]
	xor	edx, edx
	syscall_ 38			/* setitimer */
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
	mov	qword ptr timer[rip+8], 0
	mov	qword ptr timer[rip+24], 0
	xor	edi, edi
	lea	rsi, timer[rip]
	xor	edx, edx
	syscall_ 38
	/* eight digits */
	mov	eax, ticks[rip]
	mov	ecx, 8
5:	rol	eax, 4
	mov	edx, eax
	and	edx, 15
	lea	rsi, digits[rip]
	mov	dl, [rsi+rdx]
	lea	rsi, text[rip+8]
	sub	rsi, rcx
	mov	[rsi], dl
	loop	5b
	mov	edi, 1
	lea	rsi, text[rip]
	mov	edx, 9
	syscall_ 1
	xor	edi, edi
	syscall_ 231
wrong:	mov	edi, 1
	syscall_ 231
on_alrm:
	inc	dword ptr ticks[rip]
	ret
	restorer_
	.section .rodata
digits:	.ascii	"0123456789abcdef"
	.data
text:	.ascii	"........\n"
	.bss
	.balign	64
timer:	.space	32
ticks:	.quad	0
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
