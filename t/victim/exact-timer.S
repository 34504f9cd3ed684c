/*
 * exact-timer - a loop under a timer of 200 us, which prints how often the
 * timer's handler ran: each run of it adds four instructions, wherever it cut
 * in.  With an argument the timer is off, all else the same.
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
	mov	ebx, 40000
	mov	r12, 0x123456789
1:	mov	rax, 6364136223846793005
	imul	r12, rax
	bt	r12, 60
	jc	2f
	inc	r15
	push	r12
	call	leaf
	pop	r11
2:	bt	r12, 55
	jnc	3f
	lea	r8, leaf[rip]
	call	r8
	add	r14, r8
3:	mov	r11, r12
	shr	r11, 40
	and	r11d, 7
	lea	r8, table[rip]
	add	[r8+r11*8], r12
	jmp	4f
	ud2
4:	dec	ebx
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
leaf:	add	r14, 1
	ret
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
table:	.space	64
timer:	.space	32
ticks:	.quad	0
