/*
 * exact-loop - nested loops with every kind of closing branch
 */
#include "asm/exact.h"
_start:
	mov	ebx, 37
1:	mov	ecx, 11
2:	add	rax, rcx
	dec	ecx
	jnz	2b
	mov	ecx, 5
3:	inc	rax
	loop	3b
	jrcxz	4f
	ud2
4:	mov	ecx, 9
5:	cmp	ecx, 4
	loopne	5b
	sub	rax, 3
	jmp	6f
	ud2
6:	dec	ebx
	jg	1b
	xor	ebx, ebx
7:	inc	ebx
	cmp	ebx, 1000
	jb	7b
	finish
