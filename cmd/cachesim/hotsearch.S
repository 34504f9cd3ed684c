/*
 * hotsearch - a reference that misses often
 *
 * Where a reference often hits, and often misses, the processor mispredicts
 * its branch on that again and again, at 20 cycles and more. Here nothing
 * depends on which it is: all ways of the set are compared, the way that has
 * the line is taken or else the oldest one, 0 or 1 is added to the misses, and
 * the line is put behind the queue of LL, which grows by 0 or 1.
 *
 * hot_search8 and hot_search16 are for sets of so many places, with AVX-512;
 * hot_four8 and hot_four16 the same with AVX2, by four places.  They take the
 * address in rax and in rsi what hot_miss is told, and leave in rax its offset
 * in the line.  Of AVX-512 they use zmm16 and up, and C code need not know of
 * these; after AVX2 the upper halves are cleared.
 *
 * The oldest way is the one with the least stamp: no two of a set are equal,
 * not even of places that no line has used (l1.c).  The set is stored as a
 * whole: a store to a place that is known late would have the processor repeat
 * loads that it began before.
 */

	/* zmm19 = its least element, in all places, of those of \x */
	.macro LEAST x
	vshufi64x2 $0x4e, \x, \x, %zmm18
	vpminuq %zmm18, \x, %zmm18
	vshufi64x2 $0xb1, %zmm18, %zmm18, %zmm19
	vpminuq %zmm18, %zmm19, %zmm18
	vpermq $0xb1, %zmm18, %zmm19
	vpminuq %zmm18, %zmm19, %zmm19
	.endm

	/* The line's tag, rdx, into all places of zmm16. */
	.macro TAG_8
	vpbroadcastq %rdx, %zmm16
	.endm

	.macro TAG_16
	TAG_8
	.endm

	/* edx = the way of the set at rcx with the line's tag; or, with ZF, the
	   oldest one */
	.macro WAYS_8
	vmovdqu64 (%r9, %rcx), %zmm20
	vmovdqu64 (%r10, %rcx), %zmm17
	vpcmpeqq %zmm20, %zmm16, %k1
	LEAST %zmm17
	vpcmpeqq %zmm17, %zmm19, %k2
	kmovb %k1, %edi
	kmovb %k2, %edx
	test %edi, %edi
	cmovnz %edi, %edx
	.endm

	.macro WAYS_16
	add %ecx, %ecx
	vmovdqu64 (%r9, %rcx), %zmm20
	vmovdqu64 64(%r9, %rcx), %zmm22
	vmovdqu64 (%r10, %rcx), %zmm17
	vmovdqu64 64(%r10, %rcx), %zmm21
	vpcmpeqq %zmm20, %zmm16, %k1
	vpcmpeqq %zmm22, %zmm16, %k2
	vpminuq %zmm17, %zmm21, %zmm23
	LEAST %zmm23
	kunpckbw %k1, %k2, %k1
	vpcmpeqq %zmm17, %zmm19, %k2
	vpcmpeqq %zmm21, %zmm19, %k3
	kunpckbw %k2, %k3, %k2
	kmovw %k1, %edi
	kmovw %k2, %edx
	test %edi, %edi
	cmovnz %edi, %edx
	.endm

	/* The way of edx, one bit, has the line, and its stamp is r12. */
	.macro ENTER_8
	kmovb %edx, %k1
	vmovdqa64 %zmm16, %zmm20{%k1}
	vpbroadcastq %r12, %zmm17{%k1}
	vmovdqu64 %zmm20, (%r9, %rcx)
	vmovdqu64 %zmm17, (%r10, %rcx)
	.endm

	.macro ENTER_16
	ENTER_8
	kmovw %edx, %k1
	kshiftrw $8, %k1, %k1
	vmovdqa64 %zmm16, %zmm22{%k1}
	vpbroadcastq %r12, %zmm21{%k1}
	vmovdqu64 %zmm22, 64(%r9, %rcx)
	vmovdqu64 %zmm21, 64(%r10, %rcx)
	.endm

	/* ---- AVX2: the tag in ymm0, all ones in the mask of a way ---- */

	.macro TAG_four8
	vmovq %rdx, %xmm0
	vpbroadcastq %xmm0, %ymm0
	.endm

	.macro TAG_four16
	TAG_four8
	.endm

	/* ymm1 = its lesser elements and those of \x */
	.macro LESSER x
	vpcmpgtq \x, %ymm1, %ymm2
	vblendvpd %ymm2, \x, %ymm1, %ymm1
	.endm

	.macro LESSER_AT place
	vmovdqu 8 * \place(%r10, %rcx), %ymm3
	LESSER %ymm3
	.endm

	/* ymm1 = its least element, in all places */
	.macro LEAST_FOUR
	vpermq $0x4e, %ymm1, %ymm3
	LESSER %ymm3
	vpshufd $0x4e, %ymm1, %ymm3
	LESSER %ymm3
	.endm

	/* ymm3 = all ones, if any of it is */
	.macro ANY
	vpermq $0x4e, %ymm3, %ymm2
	vpor %ymm2, %ymm3, %ymm3
	vpshufd $0x4e, %ymm3, %ymm2
	vpor %ymm2, %ymm3, %ymm3
	.endm

	/* Masks of four places: of the tag, and of the oldest way. */
	.macro MASKS place, same, old
	vpcmpeqq 8 * \place(%r9, %rcx), %ymm0, \same
	vpcmpeqq 8 * \place(%r10, %rcx), %ymm1, \old
	.endm

	/* \old = the mask of the way to take; its bits into edx */
	.macro TAKE place, same, old
	vblendvpd %ymm3, \same, \old, \old
	vmovmskpd \old, %edi
	shl $\place, %edi
	or %edi, %edx
	.endm

	.macro WAYS_four8
	vmovdqu (%r10, %rcx), %ymm1
	LESSER_AT 4
	LEAST_FOUR
	MASKS 0, %ymm4, %ymm5
	MASKS 4, %ymm6, %ymm7
	vpor %ymm4, %ymm6, %ymm3
	ANY
	xor %edx, %edx
	TAKE 0, %ymm4, %ymm5
	TAKE 4, %ymm6, %ymm7
	vmovmskpd %ymm3, %edi
	test %edi, %edi
	.endm

	.macro WAYS_four16
	add %ecx, %ecx
	vmovdqu (%r10, %rcx), %ymm1
	LESSER_AT 4
	LESSER_AT 8
	LESSER_AT 12
	LEAST_FOUR
	MASKS 0, %ymm4, %ymm5
	MASKS 4, %ymm6, %ymm7
	MASKS 8, %ymm8, %ymm9
	MASKS 12, %ymm10, %ymm11
	vpor %ymm4, %ymm6, %ymm3
	vpor %ymm8, %ymm3, %ymm3
	vpor %ymm10, %ymm3, %ymm3
	ANY
	xor %edx, %edx
	TAKE 0, %ymm4, %ymm5
	TAKE 4, %ymm6, %ymm7
	TAKE 8, %ymm8, %ymm9
	TAKE 12, %ymm10, %ymm11
	vmovmskpd %ymm3, %edi
	test %edi, %edi
	.endm

	.macro ENTER_FOUR place, way
	vmovdqu 8 * \place(%r9, %rcx), %ymm3
	vblendvpd \way, %ymm0, %ymm3, %ymm3
	vmovdqu %ymm3, 8 * \place(%r9, %rcx)
	vmovdqu 8 * \place(%r10, %rcx), %ymm3
	vblendvpd \way, %ymm2, %ymm3, %ymm3
	vmovdqu %ymm3, 8 * \place(%r10, %rcx)
	.endm

	.macro ENTER_four8
	vmovq %r12, %xmm2
	vpbroadcastq %xmm2, %ymm2
	ENTER_FOUR 0, %ymm5
	ENTER_FOUR 4, %ymm7
	vzeroupper
	.endm

	.macro ENTER_four16
	vmovq %r12, %xmm2
	vpbroadcastq %xmm2, %ymm2
	ENTER_FOUR 0, %ymm5
	ENTER_FOUR 4, %ymm7
	ENTER_FOUR 8, %ymm9
	ENTER_FOUR 12, %ymm11
	vzeroupper
	.endm

	/* Call C; rax, rdi and rsi stay. */
	.macro KEPT function
	push %rax
	push %rsi
	push %rdi
	sub $8, %rsp
	mov %rsi, %rdi
	call *\function
	add $8, %rsp
	pop %rdi
	pop %rsi
	pop %rax
	mov HOT + 24(%rsp), %rdx
	CONSTANTS %rdx
	.endm

	.macro SEARCH ways
	push %rdx
	push %rdi
	mov HOT + 24(%rsp), %rdi
	mov %rsi, %rdx
	shr $56, %rdx
	mov %eax, %ecx
	and $63, %ecx
	cmp %edx, %ecx
	ja .Lacross\ways
	mov HOT_SETS(%rdi), %rcx
	and %rax, %rcx
	mov %rax, %rdx
	and $-64, %rdx
	TAG_\ways
	WAYS_\ways
	sete %dil
	movzbl %dil, %edi
	inc %r12
	ENTER_\ways
	tzcnt %edx, %edx
	shr $3, %ecx
	add %edx, %ecx
	mov %eax, %edx
	and %r11d, %edx
	shr $6, %edx
	mov %cx, (%r8, %rdx, 2)

	shl $8, %rsi		/* its struct misses */
	shr $8, %rsi
	add %dil, (%rsi)
	mov HOT + 24(%rsp), %rdx
	jc .Lcarry\ways
.Lqueue\ways:
	mov HOT_LLC(%rdx), %rdx
	mov LLC_N(%rdx), %ecx
	inc %rsi
	add %ecx, %edi
	shl $4, %ecx
	mov %rsi, LLC_QUEUE + 8(%rdx, %rcx)
	mov LLC_SHIFT(%rdx), %esi
	shrx %rsi, %rax, %rsi
	mov %rsi, LLC_QUEUE(%rdx, %rcx)
	mov %edi, LLC_N(%rdx)
	and LLC_MASK(%rdx), %rsi
	imul LLC_STRIDE(%rdx), %rsi
	mov LLC_SET(%rdx), %rcx
	prefetcht0 (%rcx, %rsi, 4)
	and $63, %eax
	cmp $LLC_NQUEUE, %edi
	je .Ldrain\ways
.Lfound\ways:
	pop %rdi
	pop %rdx
	ret

.Lcarry\ways:
	KEPT HOT_CARRY(%rdx)
	jmp .Lqueue\ways
.Ldrain\ways:
	mov HOT + 24(%rsp), %rdx
	KEPT HOT_DRAIN(%rdx)
	jmp .Lfound\ways
.Lacross\ways:
	pop %rdi
	pop %rdx
	jmp .Lmiss
	.endm

hot_search8:
	SEARCH 8
hot_search16:
	SEARCH 16
hot_four8:
	SEARCH four8
hot_four16:
	SEARCH four16
