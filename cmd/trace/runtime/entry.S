/*
 * entry - the ways between the runtime's C and the code cache, and whatever
 * else cannot be written in C
 */
#include <asm/unistd.h>

#include "asm.inc"

#define HOME(r) (8 * (r) - T_BIAS)(T)

	.section .head, "ax"
	.quad rt_start - blob
	.quad rt_text_end - blob
	.quad rt_data_end - blob
	.quad rt - blob
	.quad rt_miss - blob
	.quad rt_called - blob
	.quad rt_return - blob
	.quad rt_join - blob
	.globl blob
	.hidden blob
	.set blob, . - 64

	.text
	.hidden rt_text_end, rt_data_end, rt

	.macro FUNC name
	.globl \name
	.hidden \name
	.type \name, @function
	.balign 16
\name:
	.endm

	/* The first instruction of the runtime in a process: no state yet. */
	FUNC rt_start
	lea boot_stack_top(%rip), %rsp
	xor %ebp, %ebp
	call boot_process
	ud2

	/* The first of another thread: its state in rdi, a stack in rsp. */
	FUNC rt_join
	xor %ebp, %ebp
	call boot_thread
	ud2

	/* Out of the cache at an exit whose number is in the area. */
	FUNC rt_exit
	mov %rax, HOME(0)
	mov %rcx, HOME(1)
	lea dispatch_exit(%rip), %rax
	jmp save
	/* A call whose target has no code: its frame is there; rsp in rdx. */
	FUNC rt_called
	mov %rdx, %rsp
	mov TO_CALL_FLAGS(T), %rax	/* if they are dead, of another call */
	add $0x7f, %al
	sahf
	mov HOME(2), %rdx
	lea dispatch_called(%rip), %rax
	jmp save
	/* A return whose frame has no landing: rsp in rax, or as rt_miss. */
	FUNC rt_return
	mov %rax, %rsp
	/* Out of the cache, indirectly: pc in rcx; rax, rcx at home. */
	FUNC rt_miss
	mov %rcx, TO_PC(T)
	lea dispatch_miss(%rip), %rax
save:
	mov %rdx, HOME(2)
	mov %rbx, HOME(3)
	mov %rsp, HOME(4)
	mov %rbp, HOME(5)
	mov %rsi, HOME(6)
	mov %rdi, HOME(7)
	mov %r9, HOME(9)
	mov %r10, HOME(10)
	mov %r12, HOME(12)
	mov %r13, HOME(13)
	mov %r14, HOME(14)
	mov %r15, HOME(15)
	mov TO_P_AT(T), %rcx
	mov P, (T, %rcx)
	mov TO_STACK(T), %rsp
	pushfq
	popq TO_FLAGS(T)
	cld
	testl $0x40000, TO_FLAGS(T)	/* alignment checks are not for us */
	jz 1f
	pushq $0x202
	popfq
1:
	lea -T_BIAS(T), %rbx
	mov %rbx, %rdi
	call *%rax
	mov %rbx, %rdi
	jmp rt_enter

	/*
	 * A lookup word led elsewhere.  pc in rcx; rax, rcx at home: as
	 * rt_miss.  Flags are kept.  A thread that is interrupted here goes on
	 * at rt_miss, or from rt_again_saved on at rt_again_miss.
	 */
	FUNC rt_again
	mov %rdx, HOME(2)
	lahf
	seto %al
	mov %eax, SAVED(0)
	MARK rt_again_saved
	mov %rcx, %rax
	shr $AGAIN_BITS, %rax
	mov %eax, %edx
	xor %ecx, %edx
	and $((1 << AGAIN_BITS) - 1), %edx
	inc %rax
	mov T_AGAIN(T,%rdx,8), %rdx
	mov %rdx, SAVED(1)
	shr $32, %rdx
	cmp %rax, %rdx
	jne rt_again_miss
	movslq SAVED(1), %rax
	mov %rax, %rdx
	shr $63, %rdx
	add TO_PLACE(T,%rdx,8), %rax
	mov %rax, SAVED(1)
	mov SAVED(0), %eax
	add $0x7f, %al
	sahf
	mov HOME(2), %rdx
	jmp *SAVED(1)
	MARK rt_again_end
	MARK rt_again_miss
	mov SAVED(0), %eax
	add $0x7f, %al
	sahf
	mov HOME(2), %rdx
	jmp rt_miss

	/*
	 * In the cache: C is to look at kind cache's table, or at what --allocs
	 * tells, and all registers and flags come back.  A signal that comes
	 * meanwhile is kept; then the guest goes on behind rt_look_trap, where
	 * its handler finds the state as at TO_LOOK_RET.  One between check and
	 * end turns it back.
	 */
	FUNC rt_look
	mov %rax, SAVED(0)
	mov %rcx, SAVED(1)
	mov %rdx, SAVED(2)
	mov %rbx, SAVED(3)
	mov %rsp, SAVED(4)
	mov %rsi, SAVED(6)
	mov %rdi, SAVED(7)
	mov %r9, SAVED(9)
	mov %r10, SAVED(10)
	mov TO_P_AT(T), %rcx
	mov P, (T, %rcx)
	mov TO_STACK(T), %rsp
	pushfq
	popq TO_FLAGS(T)
	testl $0x40500, TO_FLAGS(T)	/* alignment checks, df, steps */
	jz 1f
	pushq $0x202
	popfq
1:
	lea -T_BIAS(T), %rbx
	mov %rbx, %rdi
	call table_look
	lea T_BIAS(%rbx), T
	mov TO_P_AT(T), %rcx
	mov (T, %rcx), P
	MARK rt_look_check
	RELOAD
	mov SAVED(9), %r9
	mov SAVED(10), %r10
	mov TO_STACK(T), %rsp
	cmpl $0, TA_PENDING - T_BIAS(T)
	jne rt_look_kept
	testl $0x40500, TO_FLAGS(T)
	jnz 2f
	cmpb $LOOK_IS_REP, TO_LOOK_KIND(T)	/* from it on flags count */
	jb 4f
2:	pushq TO_FLAGS(T)
	popfq
4:	mov SAVED(4), %rsp
	jmp *TO_LOOK_RET(T)
	MARK rt_look_end
	MARK rt_look_kept
	pushq TO_FLAGS(T)
	popfq
	mov SAVED(4), %rsp
	MARK rt_look_trap
	divb zero(%rip)

	/* Into the cache, all state from the area in rdi. */
	FUNC rt_enter
	cmpl $0, TA_PENDING(%rdi)
	MARK rt_enter_go
	jne 1f
	lea T_BIAS(%rdi), T
	mov TO_STACK(T), %rsp
	pushq TO_FLAGS(T)
	mov TO_P_AT(T), %rcx
	mov (T, %rcx), P
	mov HOME(0), %rax
	mov HOME(1), %rcx
	mov HOME(2), %rdx
	mov HOME(3), %rbx
	mov HOME(5), %rbp
	mov HOME(6), %rsi
	mov HOME(7), %rdi
	mov HOME(9), %r9
	mov HOME(10), %r10
	mov HOME(12), %r12
	mov HOME(13), %r13
	mov HOME(14), %r14
	mov HOME(15), %r15
	popfq
	mov HOME(4), %rsp
	jmp *TO_ENTRY(T)
	MARK rt_enter_end
1:	lea T_BIAS(%rdi), T
	jmp rt_resume

	/* Behind our handler's rt_sigreturn: T is set, the rest at home. */
	FUNC rt_resume
	mov TO_STACK(T), %rsp
	cld
	lea -T_BIAS(T), %rbx
	mov %rbx, %rdi
	call dispatch_resume
	mov %rbx, %rdi
	jmp rt_enter

	/* Our handler, without the guest's alignment checks. */
	FUNC rt_handler
	pushfq
	testl $0x40000, (%rsp)
	jz 1f
	andl $~0x40000, (%rsp)
	popfq
	jmp signal_handler
1:	pop %rax
	jmp signal_handler

	FUNC rt_restorer
	mov $__NR_rt_sigreturn, %eax
	syscall
	ud2

	/*
	 * rt_sigreturn on a frame of ours.  rdi: area, rsi: sp.  A signal that
	 * comes before it is done, between check and insn, turns it back.
	 */
	FUNC rt_sigreturn
	mov %rsp, %rdx
	mov %rsi, %rsp
	mov $__NR_rt_sigreturn, %eax
	MARK rt_ret_check
	cmpl $0, TA_PENDING(%rdi)
	jne rt_ret_abort
	MARK rt_ret_insn
	syscall
	MARK rt_ret_bad
	ud2
	MARK rt_ret_abort
	mov %rdx, %rsp
	mov $SYS_ABORTED, %rax
	ret

	/* Where the guest's rt_sigreturn leads: T is set, the rest copied. */
	FUNC rt_returned
	mov TO_STACK(T), %rsp
	cld
	lea -T_BIAS(T), %rbx
	mov %rbx, %rdi
	call signal_returned
	mov %rbx, %rdi
	jmp rt_enter

	/* An end by a signal that is blocked; rt_die_bus checks alignment. */
	FUNC rt_die_ill
	ud2
	FUNC rt_die_trap
	int3
	FUNC rt_die_fpe
	xor %edx, %edx
	xor %ecx, %ecx
	div %ecx
	FUNC rt_die_bus
	mov -4(%rsp), %eax
	mov -5(%rsp), %eax
	FUNC rt_die_segv
	mov 0, %eax
	hlt

	/* A trap of our own: its handler has a kernel's frame to work with. */
	FUNC rt_trap
	MARK rt_trap_insn
	divb zero(%rip)
zero:	.byte 0

	/*
	 * A system call of the guest, from homes.  A signal that comes before
	 * the instruction has done its work finds us between check and insn and
	 * turns us back: SYS_ABORTED.
	 */
	FUNC rt_guest_syscall
	push %rbx
	mov %rdi, %rbx
	mov %rsi, %rcx
	mov 0x00(%rcx), %rax
	mov 0x30(%rcx), %rsi
	mov 0x10(%rcx), %rdx
	mov 0x50(%rcx), %r10
	mov 0x40(%rcx), %r8
	mov 0x48(%rcx), %r9
	mov 0x38(%rcx), %rdi
	MARK rt_sys_check
	cmpl $0, TA_PENDING(%rbx)
	jne rt_sys_abort
	MARK rt_sys_insn
	syscall
	pop %rbx
	ret
	MARK rt_sys_abort
	mov $SYS_ABORTED, %rax
	pop %rbx
	ret

	/*
	 * Call a function of the guest's, natively, on the guest's stack; its
	 * vector state is what it was before, afterwards.
	 * rdi: area, rsi: the function, rdx: its four arguments, ecx: is there
	 * xsave? Old processors have fxsave alone.
	 */
	FUNC rt_call
	push %rbx
	push %rbp
	push %r12
	push %r13
	push %r14
	push %r15
	mov %rsp, %r12
	mov %rsi, %r13
	mov %rdx, %r14
	mov %ecx, %r15d
	mov 0x20(%rdi), %rbx
	sub $16384, %rsp
	and $-64, %rsp
	mov %rsp, %rbp
	lea 512(%rbp), %rdi
	xor %eax, %eax
	mov $8, %ecx
	rep stosq
	mov $-1, %eax
	mov $-1, %edx
	test %r15d, %r15d
	jz 1f
	xsave64 (%rbp)
	jmp 2f
1:	fxsave64 (%rbp)
2:	lea -256(%rbx), %rsp
	and $-64, %rsp
	mov 0(%r14), %rdi
	mov 8(%r14), %rsi
	mov 16(%r14), %rdx
	mov 24(%r14), %rcx
	xor %eax, %eax
	call *%r13
	mov %rax, %r13
	mov $-1, %eax
	mov $-1, %edx
	test %r15d, %r15d
	jz 1f
	xrstor64 (%rbp)
	jmp 2f
1:	fxrstor64 (%rbp)
2:	mov %r13, %rax
	mov %r12, %rsp
	pop %r15
	pop %r14
	pop %r13
	pop %r12
	pop %rbp
	pop %rbx
	ret

	/*
	 * clone for a thread: as the guest asks, but on the new area's stack.
	 * rdi: area, rsi: the child's area, rdx: first argument.
	 */
	FUNC rt_clone_thread
	push %rbx
	push %r12
	push %r13
	mov %rdi, %rbx
	mov %rsi, %r12
	mov 0x00(%rbx), %rax
	mov %rdx, %rdi
	mov (T_BIAS + TO_STACK)(%r12), %rsi
	cmp $__NR_clone3, %eax
	jne 1f
	mov 0x30(%rbx), %rsi	/* clone3: the stack is in the structure */
1:	mov 0x10(%rbx), %rdx
	mov 0x50(%rbx), %r10
	mov 0x40(%rbx), %r8
	mov 0x48(%rbx), %r9
	syscall
	test %rax, %rax
	jz 2f
	pop %r13
	pop %r12
	pop %rbx
	ret
2:	mov (T_BIAS + TO_STACK)(%r12), %rsp
	xor %ebp, %ebp
	mov %r12, %rdi
	call thread_start
	ud2

	/*
	 * A child that shares this memory while its parent waits: it must not
	 * touch this stack above where its parent will go on.
	 * rdi: area, rsi: area whose stack the child uses.
	 */
	FUNC rt_clone_vfork
	push %rbx
	push %r12
	push %r13
	mov %rdi, %rbx
	mov %rsi, %r12
	mov 0x00(%rbx), %rax
	mov 0x30(%rbx), %rsi
	mov 0x10(%rbx), %rdx
	mov 0x50(%rbx), %r10
	mov 0x40(%rbx), %r8
	mov 0x48(%rbx), %r9
	mov 0x38(%rbx), %rdi
	syscall
	test %rax, %rax
	jz 2f
	pop %r13
	pop %r12
	pop %rbx
	ret
2:	mov (T_BIAS + TO_STACK)(%r12), %rsp
	xor %ebp, %ebp
	mov %r12, %rdi
	call thread_child
	ud2

	/* rdi: to, rsi: from, rdx: bytes; a fault ends it with -1. */
	FUNC rt_copy
	mov %rdx, %rcx
	MARK rt_copy_insn
	rep movsb
	xor %eax, %eax
	ret
	MARK rt_copy_fault
	mov $-1, %eax
	ret

	/* edi: leaf, esi: subleaf, rdx: what becomes of four registers */
	FUNC rt_cpuid
	mov %rbx, %r9
	mov %rdx, %r8
	mov %edi, %eax
	mov %esi, %ecx
	MARK rt_cpuid_insn
	cpuid
	mov %eax, (%r8)
	mov %ebx, 4(%r8)
	mov %ecx, 8(%r8)
	mov %edx, 12(%r8)
	mov %r9, %rbx
	xor %eax, %eax
	ret

	/*
	 * Unmap this thread's own area and end: rdi, rsi: area; rdx: status;
	 * rcx: the call that ends it.
	 */
	FUNC rt_thread_exit
	mov %rdx, %r12
	mov %rcx, %r13
	mov $__NR_munmap, %eax
	syscall
	mov %r12, %rdi
	mov %r13, %rax
	syscall
	ud2

	/*
	 * The same, and die.  rdi, rsi: area, of 0 bytes if it stays; rdx: pid;
	 * rcx: tid; r8: signal, which is blocked; r9: the mask that lets it
	 * come.  Until it does, or another thread ends the process, we sleep.
	 */
	FUNC rt_thread_die
	mov %rdx, %r12
	mov %rcx, %r13
	test %rsi, %rsi
	jz 1f
	mov $__NR_munmap, %eax
	syscall
1:	mov %r12, %rdi
	mov %r13, %rsi
	mov %r8, %rdx
	mov $__NR_tgkill, %eax
	syscall
	mov $2, %edi		/* SIG_SETMASK */
	mov %r9, %rsi
	xor %edx, %edx
	mov $8, %r10d
	mov $__NR_rt_sigprocmask, %eax
	syscall
1:	mov $__NR_pause, %eax
	syscall
	jmp 1b

	.section .bss
	.balign 16
	.skip 16384
boot_stack_top:
	.section .note.GNU-stack, "", @progbits
