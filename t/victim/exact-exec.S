/*
 * exact-exec - execs that fail, then of the program itself, three times, each
 * with one argument more; the count goes through all of them
 */
#include "asm/exact.h"
_start:
	mov	r12, [rsp]		/* argc */
	lea	r13, [rsp+8]		/* argv */
	lea	rdi, nowhere[rip]
	mov	rsi, r13
	lea	rdx, [r13+r12*8+8]
	syscall_ 59
	cmp	rax, -2			/* ENOENT */
	must	e
	cmp	r12, 4
	jae	3f
	/* argv and one more, all the first's name */
	mov	rax, [r13]
	lea	rdi, args[rip]
	lea	rcx, [r12+1]
	rep	stosq
	mov	qword ptr [rdi], 0
	mov	rdi, rax
	lea	rsi, args[rip]
	lea	rdx, [r13+r12*8+8]
	syscall_ 59
	ud2
3:	finish
	.section .rodata
nowhere:
	.asciz	"/nowhere/at/all"
	.bss
	.balign	8
args:	.space	128
