/*
 * exact-fault - faults that a handler mends or steps over, int3 and ud2: what
 * faults is not counted, what is run again is
 */
#include "asm/exact.h"
_start:
	handler	11, on_segv
	handler	4, on_ill
	handler	5, on_trap
	lea	r15, page[rip]
	mov	ebx, 40
1:	mov	rdi, r15
	mov	esi, 4096
	xor	edx, edx
	syscall_ 10			/* mprotect: none */
	test	eax, eax
	must	z
	add	eax, 1
	inc	dword ptr [r15+8]	/* mended */
	mov	rcx, [r15+16]
	lea	rax, 2f[rip]
	mov	rcx, [0x10]		/* stepped over, to rax */
	ud2
2:	lea	rax, 3f[rip]
	ud2				/* likewise */
	nop
3:	int3
	add	r14, 1
	push	r14
	pop	r14
	dec	ebx
	jnz	1b
	cmp	dword ptr [r15+8], 40
	must	e
	cmp	r12, 40
	must	e
	finish
on_segv:
	mov	rax, [rsi+16]		/* si_addr */
	cmp	rax, 0x10
	je	skip
	mov	rdi, r15
	mov	esi, 4096
	mov	edx, 3
	syscall_ 10
	ret
on_ill:
skip:	mov	rax, [rdx+UC_RAX]
	mov	[rdx+UC_RIP], rax
	ret
on_trap:
	inc	qword ptr [rdx+72]	/* r12 */
	ret
	restorer_
	.bss
	.balign	4096
page:	.space	4096
