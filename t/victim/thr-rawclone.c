/*
 * thr-rawclone - threads by the bare system call: no libc in the child, its
 * registers are the parent's but for rax and rsp; ends by exit with
 * CLONE_CHILD_CLEARTID, seen through a futex
 */
#include <linux/futex.h>
#include <sched.h>

#include "victim.h"

enum { NTHREAD = 100, STACK = 16384 };

static volatile int child_tid, parent_tid;
static volatile uint64_t result;

/* The child checks r12 to r15, rbx, rbp and xmm7, adds, and leaves. */
__asm__(
"	.text\n"
"raw_clone:\n"			/* flags, stack, ptid, ctid, result */
"	push	%rbx\n"
"	push	%rbp\n"
"	push	%r12\n"
"	push	%r13\n"
"	push	%r14\n"
"	push	%r15\n"
"	mov	%r8, %r15\n"
"	mov	%rcx, %r10\n"
"	mov	$0x1111, %ebx\n"
"	mov	$0x2222, %ebp\n"
"	mov	$0x3333, %r12d\n"
"	mov	$0x4444, %r13d\n"
"	mov	$0x5555, %r14d\n"
"	movq	%r14, %xmm7\n"
"	xor	%r8d, %r8d\n"
"	mov	$0x7777, %r9d\n"
"	mov	$56, %eax\n"
"	stc\n"
"	syscall\n"
"	test	%rax, %rax\n"
"	jz	1f\n"
"	pop	%r15\n"
"	pop	%r14\n"
"	pop	%r13\n"
"	pop	%r12\n"
"	pop	%rbp\n"
"	pop	%rbx\n"
"	ret\n"
"1:	mov	$2, %eax\n"
"	bt	$0, %r11\n"		/* the flags before the call: CF */
"	adc	%rbx, %rax\n"
"	add	%rbp, %rax\n"
"	add	%r12, %rax\n"
"	add	%r13, %rax\n"
"	add	%r14, %rax\n"
"	movq	%xmm7, %rbx\n"
"	add	%rbx, %rax\n"
"	add	%r9, %rax\n"
"	push	%rax\n"
"	pop	%rbx\n"
"	lock add %rbx, (%r15)\n"
"	xor	%edi, %edi\n"
"	mov	$60, %eax\n"
"	syscall\n"
"	hlt\n");
long raw_clone(unsigned long, void *, volatile int *, volatile int *,
    volatile uint64_t *);

int
main(void)
{
	unsigned long flags = CLONE_VM | CLONE_FS | CLONE_FILES |
	    CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
	    CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID;
	char *stack = map_pages(STACK / PAGE, PROT_READ | PROT_WRITE);

	for (int i = 0; i < NTHREAD; i++) {
		long tid;
		int seen;

		child_tid = -1;
		tid = raw_clone(flags, stack + STACK, &parent_tid, &child_tid,
		    &result);
		CHECK(tid > 0);
		SAME(parent_tid, tid);
		while ((seen = child_tid) != 0)
			syscall(SYS_futex, &child_tid, FUTEX_WAIT, seen, NULL,
			    NULL, 0);
	}
	SAME(result, NTHREAD * (2 + 1 + 0x1111ul + 0x2222 + 0x3333 + 0x4444 +
	    2 * 0x5555 + 0x7777));
	return victim_ok();
}
