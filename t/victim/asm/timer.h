/*
 * timer.h - a run under a timer of 200 us, whose handler adds four instructions
 * each time and counts in ticks; with an argument the timer is off
 */
	.macro	start_timer
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
	.endm

	/* Print the ticks, eight digits, and end. */
	.macro	end_by_ticks
	mov	qword ptr timer[rip+8], 0
	mov	qword ptr timer[rip+24], 0
	xor	edi, edi
	lea	rsi, timer[rip]
	xor	edx, edx
	syscall_ 38
	mov	eax, ticks[rip]
	mov	ecx, 8
9:	rol	eax, 4
	mov	edx, eax
	and	edx, 15
	lea	rsi, digits[rip]
	mov	dl, [rsi+rdx]
	lea	rsi, text[rip+8]
	sub	rsi, rcx
	mov	[rsi], dl
	loop	9b
	mov	edi, 1
	lea	rsi, text[rip]
	mov	edx, 9
	syscall_ 1
	xor	edi, edi
	syscall_ 231
	.endm

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
