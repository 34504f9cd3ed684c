/*
 * look - kind cache: the usual misses
 *
 * Look up data, and code lines that are not in the table, as table.c does,
 * which says what is to be done.  Few registers are used, and no stack.  The
 * flags are not saved, since they are dead or in rax (xlate/filtercheck.c);
 * what the program may have set among them does no harm: nothing here is
 * misaligned or repeated.  Whatever is not as usual goes to rt_look.
 *
 * The table has lines of 64 bytes, 8 ways and at least two sets.  Where calling
 * contexts are told, rt_told_data and rt_told_fetch do the same.
 */
#include "asm.inc"

	.text
	.hidden rt, rt_look, rt_look_kept

	/* rdx = the set of the line at rsi, times 1 << bits; rbx is lost */
	.macro SET bits
	mov rt + RT_SETS(%rip), %rdx
	mov %rsi, %rbx
	dec %rdx
	shr $6, %rbx
	and %rbx, %rdx
	shl $\bits, %rdx
	.endm

	/* a = the lesser; cmova, which asks two flags, is slower on Intel */
	.macro LESSER a, b
	cmp \a, \b
	cmovb \b, \a
	.endm

	/* The times of a set's places, with the place below it. */
	.macro DATA_KEY i, r, r32
	mov (T_DTAG + LINE_STAMP + 16 * \i)(T, %rdx), \r
	lea \i(, \r, 8), \r
	.endm
	.macro CODE_KEY i, r, r32
	mov (T_ICELL + 4 * \i)(T, %rdx), \r32
	mov T_CELL(T, \r, 8), \r
	lea \i(, \r, 8), \r
	.endm

	/* eax = the least recently used place; rbx, rcx, rdi are lost */
	.macro OLDEST key
	\key 0, %rax, %eax
	\key 1, %rbx, %ebx
	LESSER %rax, %rbx
	\key 2, %rcx, %ecx
	\key 3, %rdi, %edi
	LESSER %rcx, %rdi
	LESSER %rax, %rcx
	\key 4, %rbx, %ebx
	\key 5, %rcx, %ecx
	LESSER %rbx, %rcx
	\key 6, %rcx, %ecx
	\key 7, %rdi, %edi
	LESSER %rcx, %rdi
	LESSER %rbx, %rcx
	LESSER %rax, %rbx
	and $7, %eax
	.endm

	/* The line at rsi, at rdx in the table, is used: rbx, rcx lost. */
	.macro USE_DATA
	mov P, (T_DTAG + LINE_STAMP)(T, %rdx)
	mov %rsi, %rbx
	lea (T_DTAG - HINT_TAG)(%rdx), %rcx
	shr $5, %rbx
	sar $3, %rcx
	and $(2 * TABLE_HINTS - 2), %ebx
	mov %cx, TO_HINT(T, %rbx)
	.endm

	/* to = where the line is, if it is in the table; rbx is lost */
	.macro HINT line, to
	mov \line, %rbx
	shr $5, %rbx
	and $(2 * TABLE_HINTS - 2), %ebx
	movswq TO_HINT(T, %rbx), \to
	.endm

	/*
	 * The code line at rsi enters at place eax; edi is the cell of the one
	 * that makes room, and that line is at rbx.
	 */
	.macro ENTER_CODE cell
	SET 5
	OLDEST CODE_KEY
	lea (%rdx, %rax, 4), %rdx
	mov TO_LOOK_RET(T), %rcx
	mov T_ICELL(T, %rdx), %edi
	mov \cell(%rcx), %ecx
	mov T_ITAG(T, %rdx, 2), %rbx
	mov %ecx, T_ICELL(T, %rdx)
	mov %rsi, T_ITAG(T, %rdx, 2)
	movq $0, T_CELL(T, %rdi, 8)	/* cell 0 is no line's */
	mov P, T_CELL(T, %rcx, 8)
	cmp $1, %edi
	adcl $0, T_LINES(T)
	.endm

	/* A record with the value in rcx and the head edx; rdi is lost. */
	.macro RECORD
	mov TO_P(T), %rdi
	mov %ecx, 4(%rdi)
	shr $32, %rcx
	mov %ecx, 8(%rdi)
	mov %edx, (%rdi)
	add $12, %rdi
	mov %rdi, TO_P(T)
	.endm

	.macro SAVE
	mov %rax, SAVED(0)
	mov %rcx, SAVED(1)
	mov %rdx, SAVED(2)
	mov %rbx, SAVED(3)
	mov %rsi, SAVED(6)
	mov %rdi, SAVED(7)
	.endm

	/* The trap flag, or little room in the buffer: rdi is lost. */
	.macro IF_UNUSUAL
	mov TO_P(T), %rdi
	cmpl $0, (TA_TF - T_BIAS)(T)
	jne unusual
	add $LOOK_ROOM, %rdi
	cmp %rdi, (TA_BUFEND - T_BIAS)(T)
	jb unusual
	.endm

	/* Of a place in the cache, as t->entry has it, the address. */
	.macro ADDRESS place, base, sign
	lea rt + RT_PLACE(%rip), \base
	mov \place, \sign
	shr $63, \sign
	add (\base, \sign, 8), \place
	.endm

	.macro BEGIN name
	.balign 64
	.globl \name
	.hidden \name
	.type \name, @function
\name:
	SAVE
	.endm

	/*
	 * A record comes behind those that tell in which frames it is.  If the
	 * innermost frame has been told, so have all others.
	 */
	.macro IF_NOT_TOLD
	mov WORD_TOP(T), %rcx
	mov FRAME_ARC(%rcx), %rdx
	cmp %rcx, WORD_TOLD(T)
	jne unusual
	cmp %rdx, MORE_ARC(%rcx)
	jne unusual
	mov FRAME_P(%rcx), %rdx
	cmp %rdx, MORE_P(%rcx)
	jne unusual
	.endm

	BEGIN rt_told_data
	IF_NOT_TOLD
	jmp data

	BEGIN rt_look_data
data:
	mov (TO_ENTRY + 4)(T), %ecx
	mov TO_PC(T), %rsi
	IF_UNUSUAL
	prefetcht0 (%rsi)		/* what follows here will use it */
	mov %esi, %edx
	shr $ID_BITS, %ecx
	and $63, %edx
	and $-64, %rsi
	add %edx, %ecx
	cmp $64, %ecx
	ja across
	HINT %rsi, %rdi
	mov HINT_TAG(T, %rdi, 8), %edi
	SET 7
	xor %esi, %edi
	test $(TABLE_HINTS - 1) << 6, %edi
	jz search
enter:
	OLDEST DATA_KEY
	mov %eax, %ecx
	shl $4, %ecx
	add %rcx, %rdx
	cmpq $0, (T_DTAG + LINE_STAMP)(T, %rdx)
	je more
entered:
	mov %rsi, T_DTAG(T, %rdx)
	USE_DATA
	mov TO_PC(T), %rcx
	mov (TO_ENTRY + 4)(T), %edx
	shl $PLACE_BITS, %rcx
	and $((1 << ID_BITS) - 1), %edx
	or %rax, %rcx
	or $(1 << ID_BITS), %edx
	RECORD
looked:
	movslq TO_ENTRY(T), %rbx
	ADDRESS %rbx, %rcx, %rax
return:
	mov %rbx, TO_LOOK_RET(T)
	MARK rt_line_check
	RELOAD
	cmpl $0, (TA_PENDING - T_BIAS)(T)
	jne kept
	jmp *TO_LOOK_RET(T)
	MARK rt_line_end

	/* A place that was free. */
more:
	incl T_LINES(T)
	jmp entered

	/*
	 * A hint's line is, of all that have this hint, the one used last.  As
	 * they are all in one set, it leaves after the others.  So if it has
	 * left, none is there, and otherwise one may be.
	 */
search:
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7
	cmp %rsi, (T_DTAG + 16 * \i)(T, %rdx)
	je found_\i
	.endr
	jmp enter

	.irp i, 7, 6, 5, 4, 3, 2, 1
found_\i:
	add $16, %edx
	.endr
found_0:
	USE_DATA
	jmp looked

	/* Across the line's end: both are mostly where their hints say. */
across:
	HINT %rsi, %rdx
	cmp %rsi, HINT_TAG(T, %rdx, 8)
	jne unusual
	lea 64(%rsi), %rcx
	HINT %rcx, %rdi
	cmp %rcx, HINT_TAG(T, %rdi, 8)
	jne unusual
	mov P, (HINT_TAG + LINE_STAMP)(T, %rdx, 8)
	inc P
	mov P, (HINT_TAG + LINE_STAMP)(T, %rdi, 8)
	jmp looked

	/* One line of code or two, by their cells. */
	BEGIN rt_told_fetch
	IF_NOT_TOLD
	jmp fetch

	BEGIN rt_look_fetch
fetch:
	mov TO_ENTRY(T), %rax
	ADDRESS %rax, %rdx, %rcx
	mov %rax, TO_LOOK_RET(T)	/* the arguments, meanwhile */
	IF_UNUSUAL
	movzwl 4(%rax), %ecx
	mov 12(%rax), %esi
	mov 8(%rax), %edx
	shl $32, %rsi
	or %rdx, %rsi
	mov %rsi, TO_PC(T)
	cmp $LOOK_ONE_LINE, %ecx
	jne two
	mov 16(%rax), %edx
	test %edx, %edx
	jz unusual
	cmpq $0, T_CELL(T, %rdx, 8)
	jne unusual
	and $-64, %rsi
	ENTER_CODE 16
fetched:
	mov TO_LOOK_RET(T), %rbx
	mov TO_PC(T), %rcx
	mov (%rbx), %edx
	shl $PLACE_BITS, %rcx
	or %rax, %rcx
	RECORD
	movswq 6(%rbx), %rcx
	add %rcx, %rbx
	jmp return
two:
	cmp $LOOK_TWO_LINES, %ecx
	jne unusual
	mov 16(%rax), %edx
	mov 20(%rax), %edi
	mov T_CELL(T, %rdx, 8), %rbx
	test %edx, %edx
	jz unusual
	and $-64, %rsi
	cmpq $0, T_CELL(T, %rdi, 8)
	jne first
	test %rbx, %rbx
	jz both
	mov P, T_CELL(T, %rdx, 8)
second:
	add $64, %rsi
	ENTER_CODE 20
	or $PLACE_SECOND, %eax
	jmp fetched
first:
	test %rbx, %rbx
	jnz unusual
	mov P, T_CELL(T, %rdi, 8)
	ENTER_CODE 16
	jmp fetched
both:
	ENTER_CODE 16
	test %edi, %edi
	jz second
	mov rt + RT_LEAVE_CODE(%rip), %edx
	mov %rbx, %rcx
	RECORD
	jmp second

unusual:
	RELOAD
	jmp rt_look

	/* A signal came meanwhile. */
kept:
	mov %rsp, SAVED(4)
	mov TO_STACK(T), %rsp
	pushfq
	popq TO_FLAGS(T)
	jmp rt_look_kept

	.section .note.GNU-stack, "", @progbits
