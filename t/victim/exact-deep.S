/*
 * exact-deep - code on a stack that may be executed, on the pages that it grows
 * by; and where whatever can be read may be executed (READ_IMPLIES_EXEC)
 * build: -Wl,-z,execstack
 */
#include "asm/exact.h"
_start:
	mov	ebx, 300
1:	sub	rsp, 4096
	mov	dword ptr [rsp], 0xc3c0ff	/* inc eax; ret */
	mov	eax, ebx
	mov	ecx, 3
2:	call	rsp
	dec	ecx
	jnz	2b
	dec	ebx
	jnz	1b
	cmp	eax, 4
	must	e
	mov	edi, 0x400000
	syscall_ 135			/* personality */
	xor	edi, edi		/* mmap */
	mov	esi, 8192
	mov	edx, 3
	mov	r10d, 0x22
	mov	r8, -1
	xor	r9d, r9d
	syscall_ 9
	mov	rbp, rax
	mov	ebx, 50
3:	mov	byte ptr [rbp], 0xb8	/* mov eax, ebx; ret */
	mov	[rbp + 1], ebx
	mov	byte ptr [rbp + 5], 0xc3
	call	rbp
	cmp	eax, ebx
	must	e
	dec	ebx
	jnz	3b
	finish
