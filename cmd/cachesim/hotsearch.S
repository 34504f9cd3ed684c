/*
 * hotsearch - a reference that misses often
 *
 * Where a reference often hits, and often misses, the processor mispredicts
 * its branch on that again and again, at 20 cycles and more. Here nothing
 * depends on which it is: all ways of the set are compared, the way that has
 * the line is taken or else the oldest one, 0 or 1 is added to the misses, and
 * the line is put behind the queue of LL, which grows by 0 or 1.
 *
 * hot_search8 and hot_search16 are for sets of so many places. Both take the
 * address in rax and in rsi what hot_miss is told, and leave in rax its offset
 * in the line. They use zmm16 and up: C code need not know of these.
 *
 * The oldest way is the one with the least stamp: no two of a set are equal, not
 * even of places that no line has used (l1.c).  The set is stored as a whole: a
 * store to a place that is known late would have the processor repeat loads that
 * it began before.
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

	/* edi = ways of the set at rcx with the line's tag, edx = the oldest */
	.macro WAYS_8
	vmovdqu64 (%r9, %rcx), %zmm20
	vmovdqu64 (%r10, %rcx), %zmm17
	vpcmpeqq %zmm20, %zmm16, %k1
	LEAST %zmm17
	vpcmpeqq %zmm17, %zmm19, %k2
	kmovb %k1, %edi
	kmovb %k2, %edx
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
	vpbroadcastq %rdx, %zmm16
	WAYS_\ways
	test %edi, %edi
	cmovnz %edi, %edx
	sete %dil
	movzbl %dil, %edi
	inc %r12
	ENTER_\ways
	tzcnt %edx, %edx
	shr $3, %ecx
	add %edx, %ecx
	pext %r11, %rax, %rdx
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
