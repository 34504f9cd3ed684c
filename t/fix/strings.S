/*
 * strings - each string instruction with each prefix, and counts of 0, 1 and 5
 *
 * What is compared or scanned for is equal throughout, differs in its third
 * element, or in its fifth. The instruction is at NAME_PREFIX_COUNT_DATA, for
 * instance scasw_repne_5_third. What Valgrind 3.19 cannot do is left out.
 */
	.macro	one name, letter, size, prefix, byte, count, data
	mov	$\count, %ecx
	xor	%eax, %eax
	lea	\data\size(%rip), %rsi
	lea	there(%rip), %rdi
	.ifc	\name, cmps
	lea	equal\size(%rip), %rdi
	.endif
	.ifc	\name, scas
	mov	%rsi, %rdi
	.endif
	.globl	\name\letter\()_\prefix\()_\count\()_\data
\name\letter\()_\prefix\()_\count\()_\data\():
	.ifnc	\prefix, no
	.byte	\byte
	.endif
	\name\letter
	nop
	.endm

	.macro	counts name, letter, size, prefix, byte, data
	one	\name, \letter, \size, \prefix, \byte, 0, \data
	one	\name, \letter, \size, \prefix, \byte, 1, \data
	one	\name, \letter, \size, \prefix, \byte, 5, \data
	.endm

	.macro	sizes name, prefix, byte, data
	counts	\name, b, 1, \prefix, \byte, \data
	counts	\name, w, 2, \prefix, \byte, \data
	counts	\name, l, 4, \prefix, \byte, \data
	counts	\name, q, 8, \prefix, \byte, \data
	.endm

	.macro	compares name, prefix, byte
	sizes	\name, \prefix, \byte, equal
	sizes	\name, \prefix, \byte, third
	sizes	\name, \prefix, \byte, fifth
	.endm

	.text
	.globl	_start
_start:	cld
	sizes	movs, no, 0, equal
	sizes	movs, rep, 0xf3, equal
	sizes	stos, no, 0, equal
	sizes	stos, rep, 0xf3, equal
	sizes	lods, no, 0, equal
	sizes	lods, rep, 0xf3, equal
	sizes	lods, repne, 0xf2, equal
	compares cmps, rep, 0xf3
	compares scas, no, 0
	compares scas, rep, 0xf3
	compares scas, repne, 0xf2
	mov	$60, %eax
	xor	%edi, %edi
	syscall

	.macro	data size
equal\size:
	.fill	8, \size, 0
third\size:
	.fill	2, \size, 0
	.fill	6, \size, -1
fifth\size:
	.fill	4, \size, 0
	.fill	4, \size, -1
	.endm

	.data
	.balign	64
there:	.skip	64
	data	1
	data	2
	data	4
	data	8
