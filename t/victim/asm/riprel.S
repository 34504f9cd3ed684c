/*
 * riprel - operands by the pc in every form, on data in the page behind the
 * code; the checksum holds no addresses, so it is the same wherever this runs
 */
	.intel_syntax noprefix
	.section .riprel, "awx", @progbits
	.balign	4096
	.globl	riprel_begin, riprel_end, riprel_code, riprel_sum
riprel_begin:
	.macro	mix reg
	pushf
	add	riprel_sum[rip], \reg
	rol	qword ptr riprel_sum[rip], 9
	popf
	.endm
	.macro	mixflags
	pushf
	and	qword ptr [rsp], 0x8d5
	xchg	rax, [rsp]
	add	riprel_sum[rip], rax
	pop	rax
	.endm
	/* one register, all sizes */
	.macro	forms R, Rd, Rw, Rb
	mov	\R, d0[rip]
	mix	\R
	mov	\Rd, d1[rip]
	mix	\R
	mov	\Rw, d2[rip]
	mix	\R
	mov	\Rb, d3[rip+1]
	mix	\R
	movzx	\Rd, byte ptr d4[rip]
	mix	\R
	movzx	\R, word ptr d4[rip]
	mix	\R
	movsx	\R, byte ptr d5[rip]
	mix	\R
	movsx	\Rd, word ptr d5[rip]
	mix	\R
	movsxd	\R, dword ptr d5[rip]
	mix	\R
	add	\R, d0[rip]
	mixflags
	adc	d1[rip], \R
	mixflags
	sub	d2[rip], \Rd
	mixflags
	sbb	\Rw, d3[rip]
	mixflags
	xor	d4[rip], \Rb
	mixflags
	cmp	\R, d5[rip]
	mixflags
	test	d0[rip], \Rd
	mixflags
	imul	\R, d1[rip]
	mix	\R
	imul	\Rd, dword ptr d2[rip], 0x1234567
	mix	\R
	imul	\R, qword ptr d3[rip], -3
	mix	\R
	imul	\Rw, word ptr d3[rip], 0x777
	mix	\R
	xchg	d4[rip], \R
	mix	\R
	xadd	d5[rip], \Rd
	mix	\R
	lock xadd d0[rip], \R
	mix	\R
	and	\R, 0x3ff
	bt	qword ptr d1[rip], \R
	cmovc	\R, d1[rip]
	mix	\R
	crc32	\R, qword ptr d2[rip]
	mix	\R
	popcnt	\R, d2[rip]
	mix	\R
	bsf	\R, d3[rip]
	mix	\R
	movq	xmm1, \R
	push	qword ptr d4[rip]
	pop	\R
	mix	\R
	push	\R
	pop	qword ptr d5[rip]
	mov	\R, 0x1ff
	and	\R, d0[rip]
	mov	d1[rip], \Rb
	mov	d1[rip+2], \Rw
	mov	d1[rip+4], \Rd
	mov	d2[rip], \R
	setc	d3[rip]
	setz	d3[rip+3]
	.endm

riprel_code:
	push	rbp
	forms	rax, eax, ax, al
	forms	rbx, ebx, bx, bl
	forms	rsi, esi, si, sil
	forms	rbp, ebp, bp, bpl
	forms	r8, r8d, r8w, r8b
	forms	r11, r11d, r11w, r11b
	forms	r12, r12d, r12w, r12b
	forms	r15, r15d, r15w, r15b
	/* immediates behind the displacement */
	cmp	byte ptr d0[rip], 0x55
	mixflags
	cmp	word ptr d0[rip], 0x1234
	mixflags
	cmp	word ptr d0[rip], 0x12
	mixflags
	cmp	dword ptr d1[rip], 0x12345678
	mixflags
	cmp	qword ptr d1[rip], 0x12345678
	mixflags
	cmp	qword ptr d1[rip], -2
	mixflags
	add	byte ptr d2[rip], 3
	sub	word ptr d2[rip], 0x1003
	or	dword ptr d2[rip], 0x10000001
	and	qword ptr d2[rip], -0x101
	mov	byte ptr d3[rip], 0x44
	mov	word ptr d3[rip+2], 0x5544
	mov	dword ptr d4[rip], 0x66554433
	mov	qword ptr d5[rip], -0x12345678
	test	byte ptr d3[rip], 4
	mixflags
	test	dword ptr d4[rip], 0x4000
	mixflags
	rol	qword ptr d5[rip], 13
	shr	dword ptr d4[rip], 1
	mov	ecx, 5
	sar	word ptr d3[rip], cl
	shld	d2[rip], rdx, 7
	xor	edx, edx
	shrd	d2[rip], rdx, cl
	inc	byte ptr d1[rip]
	dec	qword ptr d1[rip]
	neg	dword ptr d0[rip]
	not	word ptr d0[rip]
	lock inc dword ptr d0[rip]
	lock bts qword ptr d1[rip], 44
	btc	dword ptr d1[rip], 3
	bt	dword ptr d1[rip], 9
	mixflags
	mov	eax, 0x10203
	mul	dword ptr d2[rip]
	mix	rax
	mix	rdx
	mov	eax, 7
	imul	qword ptr d3[rip]
	mix	rax
	mov	eax, 77777
	xor	edx, edx
	or	qword ptr d4[rip], 0x100
	div	qword ptr d4[rip]
	mix	rax
	mix	rdx
	mov	rax, d5[rip]
	mov	r8d, 9
	lock cmpxchg d5[rip], r8
	mixflags
	xor	eax, eax
	xor	edx, edx
	mov	ebx, 11
	mov	ecx, 12
	cmpxchg8b d4[rip]
	mix	rax
	lock cmpxchg16b dx0[rip]
	mix	rdx
	movbe	rax, d0[rip]
	mix	rax
	/* vectors */
	movdqu	xmm0, dx0[rip]
	paddd	xmm0, dx0[rip]
	pshufd	xmm1, dx0[rip], 0x1b
	pxor	xmm0, xmm1
	movdqa	dx0[rip], xmm0
	cvtsi2sd xmm0, qword ptr d1[rip]
	addsd	xmm0, df[rip]
	movsd	df[rip], xmm0
	pinsrw	xmm0, word ptr d2[rip], 3
	pextrb	d3[rip], xmm0, 2
	cmpps	xmm1, dx0[rip], 4
	movmskps eax, xmm1
	mix	rax
	ldmxcsr	mx[rip]
	stmxcsr	d4[rip]
	fild	qword ptr d3[rip]
	fiadd	dword ptr small[rip]
	fistp	qword ptr d3[rip]
	mov	rax, d3[rip]
	mix	rax
	mov	rax, df[rip]
	mix	rax
	/* control */
	lea	rax, 1f[rip]
	mov	ptr[rip], rax
	call	ptr[rip]
	lea	rax, 2f[rip]
	mov	ptr[rip], rax
	jmp	ptr[rip]
	ud2
1:	add	qword ptr d0[rip], 5
	ret
2:	mov	qword ptr ptr[rip], 0
	lea	rax, d5[rip]
	lea	rcx, d0[rip+8]
	sub	rax, rcx
	mix	rax
	lea	eax, d5[rip]
	lea	ecx, d0[rip+8]
	sub	eax, ecx
	mix	rax
	prefetcht0 d0[rip]
	clflush	d0[rip]
	nop	dword ptr d0[rip]
	mov	rax, d0[rip]
	mix	rax
	mov	rax, d1[rip]
	mix	rax
	mov	rax, d2[rip]
	mix	rax
	mov	rax, d4[rip]
	mix	rax
	pop	rbp
	ret

	.balign	4096
riprel_sum:
	.quad	0
d0:	.quad	0x0123456789abcdef
d1:	.quad	0xfedcba9876543210
d2:	.quad	0x1122334455667788
d3:	.quad	0x99aabbccddeeff00
d4:	.quad	0x0f1e2d3c4b5a6978
d5:	.quad	0x8796a5b4c3d2e1f0
df:	.double	1.5
ptr:	.quad	0
	.balign 16
dx0:	.quad	0x1111222233334444, 0x5555666677778888
	.space	4096		/* bit strings reach this far */
mx:	.long	0x1f80
small:	.long	42
	.balign	4096
riprel_end:
	.section .note.GNU-stack, "", @progbits
