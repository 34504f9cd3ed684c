/*
 * exact-fall - code falls into functions, which are jumped to and called, too
 *
 * The symbols have sizes, so each part is a function. Where blocks end says
 * nothing about that: some are entered at a function's first instruction, some
 * in front of it, some run to it because 48 instructions make a block.
 */
#include "asm/exact.h"
	.macro	fun name
	.type	\name, @function
\name:
	.endm
	.macro	endfun name
	.size	\name, .-\name
	.endm

	fun	_start
	mov	ebx, 300
1:	xor	eax, eax
	call	outer
	cmp	eax, 3
	must	e
	call	inner
	cmp	eax, 5
	must	e
	call	jumps
	cmp	eax, 8
	must	e
	mov	edi, ebx
	call	branches
	call	longer
	cmp	eax, 60
	must	e
	xor	eax, eax
	call	gap
	cmp	eax, 2
	must	e
	dec	ebx
	jnz	1b
	finish
	endfun	_start

	/* into inner, which falls into innermost */
	fun	outer
	inc	eax
	endfun	outer
	fun	inner
	inc	eax
	endfun	inner
	fun	innermost
	inc	eax
	ret
	endfun	innermost

	fun	jumps
	inc	eax
	jmp	inner
	endfun	jumps

	/* sometimes with a branch in front of the end */
	fun	branches
	test	edi, 7
	jz	2f
	inc	eax
2:	inc	eax
	endfun	branches
	/* a loop that begins a function: each round is a call */
	fun	rounds
	dec	edi
	test	edi, 3
	jnz	rounds
	ret
	endfun	rounds

	fun	longer
	xor	eax, eax
	.rept	47
	inc	eax
	.endr
	endfun	longer
	fun	behind
	.rept	13
	inc	eax
	.endr
	ret
	endfun	behind

	/* no symbol of its own */
gap:	inc	eax
	fun	after
	inc	eax
	ret
	endfun	after
