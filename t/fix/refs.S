/*
 * refs - what each instruction touches: behind #: stand its references, in the
 * order in which the stream tells them: L, S or M, the address as D+ (data) or
 * K+ (stack) and hexadecimal digits, the size.  0114-addresses.t compares.
 */
	.intel_syntax noprefix
	.globl	_start
	.text
_start:	mov	rsp, offset stack+256
	mov	rbx, offset data
	/* what is not vectors */
	mov	rax, [rbx+8]		#: L D+8 8
	mov	al, [rbx+3]		#: L D+3 1
	mov	[rbx+6], cx		#: S D+6 2
	inc	dword ptr [rbx+12]	#: M D+c 4
	mov	ecx, 3
	add	[rbx+rcx*8+8], rax	#: M D+20 8
	mov	rcx, -2
	mov	[rbx+rcx*4+16], eax	#: S D+8 4
	cmp	qword ptr data[rip+64], 5 #: L D+40 8
	mov	rcx, 1000
	bts	[rbx+512], rcx		#: M D+278 8
	mov	rcx, -65
	bts	[rbx+512], rcx		#: M D+1f0 8
	mov	rcx, -9
	bt	dword ptr [rbx+512], ecx #: L D+1fc 4
	mov	ecx, 0x80000021
	and	ecx, 0x7fff
	btc	dword ptr [rbx+512], ecx #: M D+204 4
	mov	rcx, 0x10ffff
	bts	word ptr [rbx+512], cx	#: M D+1fe 2
	mov	rcx, 8
	lea	r8, [rbx+512]
	mov	r11, 130
	btr	[r8], r11		#: M D+210 8
	mov	rcx, 0x400000000	/* 2 GB, and as much before it */
	mov	rax, rbx
	sub	rax, 0x40000000
	sub	rax, 0x40000000
	btr	[rax], rcx		#: M D+0 8
	neg	rcx
	add	rax, 0x40000000
	add	rax, 0x40000000
	add	rax, 0x40000000
	add	rax, 0x40000000
	bt	[rax], rcx		#: L D+0 8
	btr	dword ptr [rbx+512], 35	#: M D+200 4
	mov	eax, 5
	xlatb				#: L D+5 1
	lock cmpxchg16b [rbx+64]	#: M D+40 16
	cmpxchg8b [rbx+64]		#: M D+40 8
	cmpxchg	[rbx+8], rcx		#: M D+8 8
	lock xadd [rbx+16], rcx		#: M D+10 8
	xchg	[rbx+24], rcx		#: M D+18 8
	movbe	[rbx+32], ecx		#: S D+20 4
	lea	rax, [rbx+5]
	prefetcht0 [rbx]
	nop	dword ptr [rbx]
	clflush	[rbx]
	setc	[rbx+1]			#: S D+1 1
	cmovc	eax, [rbx+4]		#: L D+4 4
	/* the stack */
	push	rax			#: S K+f8 8
	push	[rbx]			#: L D+0 8 S K+f0 8
	pop	[rbx+8]			#: L K+f0 8 S D+8 8
	pop	rcx			#: L K+f8 8
	push	rsp			#: S K+f8 8
	pop	rsp			#: L K+f8 8
	pushw	5			#: S K+fe 2
	pop	word ptr [rsp-6]		#: L K+fe 2 S K+fa 2
	pushfq				#: S K+f8 8
	popfq				#: L K+f8 8
	enter	16, 0			#: S K+f8 8
	leave				#: L K+f8 8
	lea	rbp, [rsp-64]
	mov	rcx, rsp
	enter	16, 1			#: S K+f0 16
	lea	rbp, [rcx-64]
	mov	rsp, rcx
	enter	8, 4			#: L K+a8 24 S K+d8 40
	mov	rsp, rcx
	call	1f			#: S K+f8 8
	jmp	2f
1:	ret				#: L K+f8 8
2:	mov	rax, offset 3f
	mov	[rbx+40], rax		#: S D+28 8
	call	[rbx+40]		#: L D+28 8 S K+f8 8
	mov	rax, offset 4f
	mov	[rbx+40], rax		#: S D+28 8
	jmp	[rbx+40]		#: L D+28 8
3:	ret	0			#: L K+f8 8
	/* strings */
4:	mov	rsi, rbx
	lea	rdi, [rbx+256]
	movsb				#: L D+0 1 S D+100 1
	stosd				#: S D+101 4
	mov	ecx, 3
	rep	movsw			#: L D+1 2 S D+105 2 L D+3 2 S D+107 2 L D+5 2 S D+109 2
	xor	ecx, ecx
	rep	movsq
	mov	ecx, 2
	std
	rep	stosb			#: S D+10b 1 S D+10a 1
	cld
	mov	byte ptr [rbx+7], 1	#: S D+7 1
	mov	[rdi+1], rbx		#: S D+10a 8
	mov	[rdi], al		#: S D+109 1
	mov	ecx, 9
	repe	scasb			#: L D+109 1 L D+10a 1
	mov	ecx, 1
	repe	cmpsb			#: L D+10b 1 L D+7 1
	mov	[rdi], al		#: S D+10c 1
	mov	[rsi], al		#: S D+8 1
	scasw				#: L D+10c 2
	lodsd				#: L D+8 4
	mov	[rdi], al		#: S D+10e 1
	mov	[rsi], al		#: S D+c 1
	/* x87 and state */
	fld	tbyte ptr [rbx]		#: L D+0 10
	fstp	tbyte ptr [rbx+16]	#: S D+10 10
	fild	word ptr [rbx]		#: L D+0 2
	fistp	qword ptr [rbx+16]	#: S D+10 8
	fnstcw	[rbx+60]		#: S D+3c 2
	fldcw	[rbx+60]		#: L D+3c 2
	fnstenv	[rbx+32]		#: S D+20 28
	fnsave	[rbx+128]		#: S D+80 108
	fxsave	[rbx+512]		#: S D+200 512
	mov	eax, 7
	xor	edx, edx
	lea	rcx, [rbx+1024]
	#: xsave below
	xsave	[rcx]			#: S D+400 832
	xrstor	[rcx]			#: L D+400 832
	#: xsave above
	#: clzero below
	lea	rax, [rbx+1024+77]
	clzero				#: S D+440 64
	lea	rax, [rbx+128]
	clzero				#: S D+80 64
	#: clzero above
	stmxcsr	[rbx+60]		#: S D+3c 4
	/* vectors */
	movdqu	[rbx+65], xmm1		#: S D+41 16
	addsd	xmm1, [rbx]		#: L D+0 8
	pinsrw	xmm1, [rbx+2], 3	#: L D+2 2
	movlps	[rbx+8], xmm1		#: S D+8 8
	lea	rdi, [rbx+1024]
	maskmovdqu xmm1, xmm2		#: S D+400 16
	#: AVX-512 below
	vpcmpeqd ymm2, ymm2, ymm2
	vmovdqu	ymm1, idx[rip]		#: L R 32
	vpgatherdd ymm0, [rbx+ymm1*4], ymm2 #: L D+0 4 L D+14 4 L D+4 4 L D+24 4 L D+8 4 L D+c 4 L D+10 4 L D+190 4
	vmovdqu	ymm2, msk[rip]		#: L R 32
	vpgatherdd ymm0, [rbx+ymm1*4+16], ymm2 #: L D+10 4 L D+34 4 L D+1a0 4
	vmovdqu	xmm1, idx64[rip]	#: L R 16
	vpcmpeqd xmm2, xmm2, xmm2
	vpgatherqq xmm0, [rbx+xmm1*8], xmm2 #: L D+18 8 L D+38 8
	vpcmpeqd xmm2, xmm2, xmm2
	vpgatherqd xmm0, [rbx+xmm1*8], xmm2 #: L D+18 4 L D+38 4
	mov	eax, 0x8005
	kmovw	k1, eax
	vmovdqu32 zmm17, idx[rip]	#: L R 64
	vpscatterdd [rbx+zmm17*4]{k1}, zmm17 #: S D+0 4 S D+4 4 S D+44 4
	kmovw	k1, eax
	vpgatherdd zmm18{k1}, [rbx+zmm17*4] #: L D+0 4 L D+4 4 L D+44 4
	kmovw	k1, eax
	vpgatherdq zmm18{k1}, [rbx+ymm17*8+8] #: L D+8 8 L D+10 8
	kmovw	k1, eax
	vpaddd	zmm1, zmm17, [rbx]{1to16} #: L D+0 4
	vmovdqu32 [rbx+128]{k1}, zmm17	#: S D+80 64
	vpcompressd [rbx+192]{k1}, zmm17 #: S D+c0 64
	vmaskmovps [rbx+64], ymm2, ymm1	#: S D+40 32
	vmaskmovps ymm3, ymm2, [rbx+96]	#: L D+60 32
	vpmovzxbd zmm1, [rbx]		#: L D+0 16
	vbroadcastss zmm1, [rbx+4]	#: L D+4 4
	vextracti32x4 [rbx+16], zmm1, 2	#: S D+10 16
	kmovw	[rbx+2], k1		#: S D+2 2
	#: AVX-512 above
	xor	edi, edi
	mov	eax, 231
	syscall
	.bss
	.balign	4096
	.globl	data, stack
data:	.space	4096
stack:	.space	4096
	.section .rodata
	.balign	64
idx:	.long	0, 5, 1, 9, 2, 3, 4, 100, 10, 11, 12, 13, 14, 15, 16, 17
msk:	.long	-1, 0, 0, -1, 0, 0, 0, -1
idx64:	.quad	3, 7
	.section .note.GNU-stack, "", @progbits
