/*
 * roles - for each pair of registers a function that uses them in every role
 * an operand can have: all pairs must come to the same checksum
 *
 * A register is known by the letters of its four names.  Memory that no
 * register points to is reached through the pc.
 */
	.intel_syntax noprefix
	.text

	.macro	mix reg			/* checksum += reg; flags kept */
	pushf
	add	roles_sum[rip], \reg
	rol	qword ptr roles_sum[rip], 7
	popf
	.endm

	.macro	mixflags reg
	push	\reg
	pushf
	pop	\reg
	and	\reg, 0x8d5
	add	roles_sum[rip], \reg
	rol	qword ptr roles_sum[rip], 5
	pop	\reg
	.endm

/* R and S in 64, 32, 16 and 8 bits */
	.macro	role R, Rd, Rw, Rb, S, Sd, Sw, Sb
	push	rbx
	push	rbp
	push	r12
	push	r13
	push	r14
	push	r15
	/* data movement and arithmetic, all sizes */
	mov	\R, 0x1122334455667788
	mov	\S, 0x0102030405060708
	add	\R, \S
	mix	\R
	mixflags \S
	sub	\Sd, \Rd
	mix	\S
	adc	\Rw, \Sw
	mixflags \R
	sbb	\Rb, \Sb
	mix	\R
	mixflags \S
	imul	\R, \S, 77
	imul	\S, \R
	mix	\S
	lea	\R, [\R+\S*4+5]
	lea	\Sd, [\Rd+\Rd*2]
	lea	\S, [\S+\R]
	mix	\R
	mix	\S
	bswap	\R
	bswap	\Sd
	mix	\R
	xchg	\R, \S
	xchg	\Rd, \Sd
	xadd	\R, \S
	mix	\R
	mix	\S
	movzx	\Rd, \Sb
	mix	\R
	movsx	\R, \Sw
	mix	\R
	movsxd	\S, \Rd
	mix	\S
	shl	\R, 3
	mixflags \R
	shld	\R, \S, 11
	mix	\R
	rcr	\Sd, 1
	mix	\S
	mixflags \R
	/* conditions */
	cmp	\R, \S
	setg	\Rb
	setbe	\Sb
	mix	\R
	cmp	\Rd, \Sd
	cmovl	\R, \S
	mix	\R
	cmovns	\Sd, \Rd
	mix	\S
	bt	\R, \S
	mixflags \R
	bts	\R, 5
	test	\Rb, 0x42
	mixflags \S
	inc	\R
	dec	\Sb
	neg	\Rw
	not	\S
	mix	\R
	mix	\S
	/* the stack */
	push	\R
	push	\S
	pop	\R
	pop	\S
	mix	\R
	push	\Sw
	push	\Rw
	pop	\Sw
	pop	\Rw
	mix	\S
	/* as bases and indices */
	lea	\R, roles_mem[rip]
	mov	\S, 3
	mov	qword ptr [\R], 0x41424344
	mov	[\R+\S*8], \S
	add	[\R+\S*8], \S
	mov	\Sd, [\R+\S*8]
	mix	\S			/* 6 */
	inc	byte ptr [\R+\S]
	xchg	[\R+\S*2+4], \S
	mov	\S, 2
	lock xadd [\R+\S*8], \S
	mov	\S, [\R]
	mix	\S
	push	qword ptr [\R]
	pop	qword ptr [\R+40]
	mov	\S, 5
	push	qword ptr [\R+\S*8]
	pop	\S
	mix	\S
	mov	\S, \R
	cmp	[\S+8], \S
	mixflags \R
	movzx	\R, byte ptr [\R+1]
	mix	\R
	mov	\S, [\S]
	mix	\S
	/* base and index the same */
	lea	\R, roles_mem[rip]
	shr	\R, 1
	lea	\S, [\R+\R+64]
	mov	word ptr [\S], 0x1234
	mov	\Rw, [\S]
	movzx	\Rd, \Rw
	mix	\R
	/* vectors and general registers */
	mov	\R, 0x5152535455565758
	movq	xmm9, \R
	pinsrw	xmm9, \Rd, 5
	movq	\S, xmm9
	mix	\S
	pextrw	\Sd, xmm9, 5
	mix	\S
	cvtsi2sd xmm10, \Rd
	cvttsd2si \S, xmm10
	mix	\S
	lea	\R, roles_mem[rip]
	movdqu	[\R+16], xmm9
	mov	\S, 1
	movups	xmm11, [\R+\S*8+8]
	movq	\S, xmm11
	mix	\S
	/* control */
	lea	\R, 1f[rip]
	call	\R
	lea	\S, 2f[rip]
	jmp	\S
	ud2
1:	mov	\R, 99
	ret
2:	mix	\R
	lea	\R, roles_mem[rip]
	lea	\S, 3f[rip]
	mov	[\R+24], \S
	mov	\S, 2
	call	[\R+24]
	call	[\R+\S*8+8]
	mix	\S
	lea	\S, 4f[rip]
	mov	[\R+32], \S
	mov	\S, 4
	jmp	[\R+\S*8]
3:	add	\S, 0
	ret
	ud2
4:	lea	\S, 5f[rip]
	push	\S
	ret
	ud2
5:	lea	\R, 6f[rip]
	xchg	[rsp], \R
	xchg	[rsp], \R
	push	\R
	mov	\S, 7
	ret	0
6:	mix	\S
	/* rsp with each of them */
	mov	\R, rsp
	sub	rsp, 64
	mov	\S, 4
	mov	[rsp+\S*8], \S
	mov	\S, [rsp+32]
	mix	\S
	mov	rsp, \R
	lea	\S, [rsp+\S]
	sub	\S, \R
	mix	\S
	pop	r15
	pop	r14
	pop	r13
	pop	r12
	pop	rbp
	pop	rbx
	ret
	.endm

/* The table of functions, R over S. */
	.macro	pair R, Rd, Rw, Rb, S, Sd, Sw, Sb
	.ifnc	\R, \S
	.pushsection .data.rel.ro, "aw"
	.quad	role_\R\()_\S
	.popsection
role_\R\()_\S:
	role	\R, \Rd, \Rw, \Rb, \S, \Sd, \Sw, \Sb
	.endif
	.endm

	.macro	row R, Rd, Rw, Rb
	pair	\R, \Rd, \Rw, \Rb, rax, eax, ax, al
	pair	\R, \Rd, \Rw, \Rb, rbx, ebx, bx, bl
	pair	\R, \Rd, \Rw, \Rb, rcx, ecx, cx, cl
	pair	\R, \Rd, \Rw, \Rb, rdx, edx, dx, dl
	pair	\R, \Rd, \Rw, \Rb, rsi, esi, si, sil
	pair	\R, \Rd, \Rw, \Rb, rdi, edi, di, dil
	pair	\R, \Rd, \Rw, \Rb, rbp, ebp, bp, bpl
	pair	\R, \Rd, \Rw, \Rb, r8, r8d, r8w, r8b
	pair	\R, \Rd, \Rw, \Rb, r9, r9d, r9w, r9b
	pair	\R, \Rd, \Rw, \Rb, r10, r10d, r10w, r10b
	pair	\R, \Rd, \Rw, \Rb, r11, r11d, r11w, r11b
	pair	\R, \Rd, \Rw, \Rb, r12, r12d, r12w, r12b
	pair	\R, \Rd, \Rw, \Rb, r13, r13d, r13w, r13b
	pair	\R, \Rd, \Rw, \Rb, r14, r14d, r14w, r14b
	pair	\R, \Rd, \Rw, \Rb, r15, r15d, r15w, r15b
	.endm

	.pushsection .data.rel.ro, "aw"
	.globl	roles_begin, roles_end, roles_sum
	.balign	8
roles_begin:
	.popsection

	row	rax, eax, ax, al
	row	rbx, ebx, bx, bl
	row	rcx, ecx, cx, cl
	row	rdx, edx, dx, dl
	row	rsi, esi, si, sil
	row	rdi, edi, di, dil
	row	rbp, ebp, bp, bpl
	row	r8, r8d, r8w, r8b
	row	r9, r9d, r9w, r9b
	row	r10, r10d, r10w, r10b
	row	r11, r11d, r11w, r11b
	row	r12, r12d, r12w, r12b
	row	r13, r13d, r13w, r13b
	row	r14, r14d, r14w, r14b
	row	r15, r15d, r15w, r15b

	.pushsection .data.rel.ro, "aw"
roles_end:
	.popsection

	.bss
	.balign	64
roles_sum:
	.space	64
roles_mem:
	.space	256
	.section .note.GNU-stack, "", @progbits
