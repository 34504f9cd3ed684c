/*
 * exact.h - what the programs without a libc share: exit, an "ok" line, and
 * signal handlers
 *
 * They are for counting: deterministic to the last instruction, whether they
 * are linked to a fixed place or not.
 */
	.intel_syntax noprefix
	.section .note.GNU-stack, "", @progbits
	.section .rodata
exact_text:
	.ascii	"ok\n"
	.text
	.globl	_start

	.macro	syscall_ nr
	mov	eax, \nr
	syscall
	.endm

	/* "ok", status 0 */
	.macro	finish
	mov	edi, 1
	lea	rsi, exact_text[rip]
	mov	edx, 3
	syscall_ 1
	xor	edi, edi
	syscall_ 231
	.endm

	/* Status 1 unless the condition holds. */
	.macro	must cond
	j\cond	.Lmust\@
	mov	edi, 1
	syscall_ 231
.Lmust\@:
	.endm

	/* f(int, siginfo_t *, ucontext_t *) for a signal */
	.macro	handler signal, f, flags=0
	lea	rax, \f[rip]
	lea	rdx, restorer[rip]
	sub	rsp, 32
	mov	[rsp], rax
	mov	qword ptr [rsp+8], 0x04000004 | \flags
	mov	[rsp+16], rdx
	mov	qword ptr [rsp+24], 0
	mov	edi, \signal
	mov	rsi, rsp
	xor	edx, edx
	mov	r10d, 8
	syscall_ 13
	add	rsp, 32
	test	eax, eax
	must	z
	.endm

	.macro	restorer_
restorer:
	syscall_ 15
	.endm

	/* registers in a ucontext_t */
	.set	UC_RIP, 168
	.set	UC_RSP, 160
	.set	UC_RCX, 152
	.set	UC_RAX, 144
