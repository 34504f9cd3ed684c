/*
 * exact-timer - a loop under a timer of 200 us, which prints how often the
 * timer's handler ran: each run of it adds four instructions, wherever it cut
 * in.  With an argument the timer is off, all else the same.
 */
#include "asm/exact.h"
#include "asm/timer.h"
	.text
_start:
	start_timer
	mov	ebx, 40000
	mov	r12, 0x123456789
1:	mov	rax, 6364136223846793005
	imul	r12, rax
	bt	r12, 60
	jc	2f
	inc	r15
	push	r12
	call	leaf
	pop	r11
2:	bt	r12, 55
	jnc	3f
	lea	r8, leaf[rip]
	call	r8
	add	r14, r8
3:	mov	r11, r12
	shr	r11, 40
	and	r11d, 7
	lea	r8, table[rip]
	add	[r8+r11*8], r12
	jmp	4f
	ud2
4:	dec	ebx
	jnz	1b
	end_by_ticks
leaf:	add	r14, 1
	ret
	.bss
	.balign	64
table:	.space	64
