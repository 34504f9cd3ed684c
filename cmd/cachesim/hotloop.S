/*
 * hotloop - what runs the code of hot units, and calls C for it
 *
 * hot.c copies this to the beginning of its code, so nothing here depends on
 * where it lies.  Registers, all the time:
 *
 *	rbx	the record's first difference, behind its head
 *	rbp	the same of the record that is not to be run any more
 *	r12 r13	the times of data, and of code lines
 *	r14	stamps of code lines
 *	r15	record[]
 *	r8 r9 r10	of l1_d: hints, tags, stamps
 *	r11	the bits of an address that select its hint
 *	LEFT(%rsp)	rounds of this record that are not done, with the one
 *			that runs; 0: it has only one
 *
 * and in a unit's code:
 *
 *	rdi	its record
 *	rdx	the value that the last reference was relative to
 *	rcx	the place of its line
 *	rax	its offset in that line; more than 63 if it is not there
 *	rsi	what a part below is told; free
 */
#include "hot.h"

	.text
	.globl hot_loop, hot_next, hot_zero, hot_miss, hot_fetch
	.globl hot_search8, hot_search16, hot_four8, hot_four16, hot_loop_end

	/* the stack */
	.set LEFT, 0
	.set MOST, 8		/* a record with so many rounds more is C's */
	.set BEGIN, 16		/* with rounds: rbx and rbp as they were, ... */
	.set END, 24
	.set UNIT, 32		/* ... and the unit */
	.set UNITS, 40		/* unit[] */
	.set HOT, 56
	.set SIZE, HOT

	.macro CONSTANTS hot
	mov HOT_HINT(\hot), %r8
	mov HOT_TAG(\hot), %r9
	mov HOT_STAMP(\hot), %r10
	mov HOT_MASK(\hot), %r11
	.endm

	/* const uint64_t *hot_loop(struct hot *, from, to, most) */
hot_loop:
	push %rbx
	push %rbp
	push %r12
	push %r13
	push %r14
	push %r15
	push %rdi
	sub $SIZE, %rsp
	movq $0, LEFT(%rsp)
	mov %rcx, MOST(%rsp)
	mov HOT_UNITS(%rdi), %rax
	mov %rax, UNITS(%rsp)
	lea 8(%rsi), %rbx
	lea 8(%rdx), %rbp
	mov HOT_NOW_D(%rdi), %r12
	mov HOT_NOW_I(%rdi), %r13
	mov HOT_ISTAMP(%rdi), %r14
	mov HOT_RECORD(%rdi), %r15
	CONSTANTS %rdi

	/* The next record. */
hot_next:
	cmp %rbp, %rbx
	jae .Lend
	mov -8(%rbx), %rax
	mov %eax, %ecx
	shl $8, %ecx		/* the id, times the size of a unit */
	shr $(8 - UNIT_SHIFT), %ecx
	add UNITS(%rsp), %rcx
	cmpw $-1, UNIT_NTOUCH(%rcx)
	jne .Lother
	bt $32, %rax		/* EV_MORE */
	jc .Lrounds
	incq UNIT_COUNT(%rcx)
	jmp *UNIT_CODE(%rcx)

	/* Of several rounds each ends as if nothing came behind them. */
.Lrounds:
	shr $24, %eax		/* groups */
	mov (%rbx, %rax, 8), %rax
	cmp MOST(%rsp), %rax
	jae .Lother
	inc %rax
	add %rax, UNIT_COUNT(%rcx)
	mov %rax, LEFT(%rsp)
	mov %rbx, BEGIN(%rsp)
	mov %rbp, END(%rsp)
	mov %rcx, UNIT(%rsp)
	mov %rbx, %rbp
	jmp *UNIT_CODE(%rcx)

.Lend:
	decq LEFT(%rsp)
	js .Lother
	jz 1f
	mov BEGIN(%rsp), %rbx
	mov UNIT(%rsp), %rcx
	jmp *UNIT_CODE(%rcx)
1:	add $8, %rbx		/* behind their number */
	mov END(%rsp), %rbp
	jmp hot_next

	/* A value is 0: rsi are set, and nothing else is done. */
hot_zero:
	pop %rax		/* no return */
	mov %rsi, %rax
	jmp 1f
.Lother:
	xor %eax, %eax
1:	mov HOT(%rsp), %rdi
	mov LEFT(%rsp), %rcx
	mov %rax, HOT_SET(%rdi)
	mov %rcx, HOT_LEFT(%rdi)
	mov %r12, HOT_NOW_D(%rdi)
	mov %r13, HOT_NOW_I(%rdi)
	lea -8(%rbx), %rax
	add $(SIZE + 8), %rsp
	pop %r15
	pop %r14
	pop %r13
	pop %r12
	pop %rbp
	pop %rbx
	ret

	/* now = function(rsi, now, rbx, rax, the caller) */
	.macro ASK function, now
	push %rdx
	push %rdi
	mov %rsi, %rdi
	mov \now, %rsi
	mov %rbx, %rdx
	mov %rax, %rcx
	mov 16(%rsp), %r8
	mov HOT + 24(%rsp), %rax
	call *\function(%rax)
	mov %rax, \now
	mov HOT + 24(%rsp), %rax
	CONSTANTS %rax
	mov $0x40000000, %eax
	pop %rdi
	pop %rdx
	ret
	.endm

	/* A reference is not where its hint says. */
hot_miss:
	add (%r9, %rcx, 8), %rax
.Lmiss:	ASK HOT_MISSED, %r12

	/* A line of a fetch is missing. */
hot_fetch:
	ASK HOT_FETCHED, %r13

#include "hotsearch.S"

hot_loop_end:
	.section .note.GNU-stack, "", @progbits
