/*
 * exact-mix - every kind of instruction that an engine treats apart, in a loop:
 * pc-relative, stolen registers, stack, segments, vectors, gathers, enter
 */
#include "asm/exact.h"
_start:
	mov	ebx, 200
	mov	ebx, 200
1:	mov	r8, rbx
	lea	r11, table[rip]
	mov	rax, [r11+r8*8]
	push	r8
	pop	r11
	xchg	r8, r11
	push	qword ptr [rip+table]
	pop	qword ptr [rip+table+8]
	push	rsp
	pop	rsp
	enter	32, 0
	leave
	mov	rbp, rsp
	enter	16, 2
	leave
	mov	rbp, rsp
	call	2f
2:	pop	rax
	mul	r8
	cmovc	r8, r11
	setz	r8b
	movdqu	xmm8, [rip+table]
	paddd	xmm8, [rip+table+16]
	movdqu	[rip+table+32], xmm8
	fld1
	fstp	qword ptr [rip+table]
	lock inc qword ptr [rip+table+64]
	mov	ecx, 3
	lea	rsi, table[rip]
	lea	rdi, table[rip+64]
	rep	movsq
	lea	rbx, table[rip]
	xlatb
	pushf
	popf
	cpuid
	mov	ebx, ebx
	nop	dword ptr [rax]
	rdtsc
	mov	ebx, r12d
	add	r12d, 1
	mov	ebx, r12d
	neg	ebx
	add	ebx, 200
	jnz	1b
	finish
	.bss
	.balign	64
table:	.space	8192
