/*
 * exact-die - death by a fault in the middle of a block: what came before it
 * in the block is counted
 * expect: signal 11
 */
#include "asm/exact.h"
_start:
	mov	ecx, 10
1:	add	rax, rcx
	dec	ecx
	jnz	1b
	add	rax, 1
	add	rax, 2
	mov	rdx, [rcx+8]
	add	rax, 3
	finish
