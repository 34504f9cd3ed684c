/*
 * thr-clonenostack - clone(CLONE_VM | CLONE_VFORK) without a stack, as Go's
 * runtime does: the child runs on the parent's, which waits
 */
#include <sched.h>

#include "victim.h"

static volatile int shared;

__asm__(
"	.text\n"
"clone_nostack:\n"
"	mov	$0x4111, %edi\n"	/* VM | VFORK | SIGCHLD */
"	xor	%esi, %esi\n"
"	xor	%edx, %edx\n"
"	xor	%r10d, %r10d\n"
"	xor	%r8d, %r8d\n"
"	mov	$56, %eax\n"
"	syscall\n"
"	test	%rax, %rax\n"
"	jz	1f\n"
"	ret\n"
"1:	lea	shared(%rip), %rdx\n"
"	addl	$1, (%rdx)\n"
"	mov	(%rdx), %edi\n"
"	mov	$231, %eax\n"
"	syscall\n"
"	hlt\n");
long clone_nostack(void);

int
main(void)
{
	for (int i = 1; i <= 40; i++) {
		long pid = clone_nostack();

		reap((pid_t)pid, i);
		SAME(shared, i);
	}
	return victim_ok();
}
