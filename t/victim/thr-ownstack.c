/*
 * thr-ownstack - a thread that unmaps its own stack and exits: nothing may
 * touch the stack after that, and its memory may be another's at once
 */
#include <linux/futex.h>
#include <sched.h>

#include "victim.h"

enum { STACK = 32768 };

static volatile int left;

__asm__(
"	.text\n"
"spawn_leaver:\n"		/* flags, stack top, stack base, &left */
"	mov	%rdx, %r12\n"
"	mov	%rcx, %r13\n"
"	xor	%edx, %edx\n"
"	xor	%r10d, %r10d\n"
"	xor	%r8d, %r8d\n"
"	mov	$56, %eax\n"
"	syscall\n"
"	test	%rax, %rax\n"
"	jz	1f\n"
"	ret\n"
"1:	push	%r12\n"
"	pop	%rdi\n"
"	mov	$32768, %esi\n"
"	mov	$11, %eax\n"		/* munmap */
"	syscall\n"
"	mov	$1, %ecx\n"
"	lock xadd %ecx, (%r13)\n"
"	mov	$60, %eax\n"
"	xor	%edi, %edi\n"
"	syscall\n"
"	hlt\n");
/* Clobbers r12 and r13. */
long spawn_leaver(unsigned long, void *, void *, volatile int *);

static long
spawn(char *stack)
{
	register unsigned long flags __asm__("rdi") = CLONE_VM | CLONE_FS |
	    CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
	register void *top __asm__("rsi") = stack + STACK;
	register void *base __asm__("rdx") = stack;
	register volatile int *word __asm__("rcx") = &left;
	long ret;

	__asm__ volatile("call spawn_leaver" : "=a"(ret), "+r"(flags),
	    "+r"(top), "+r"(base), "+r"(word) : : "r8", "r9", "r10", "r11",
	    "r12", "r13", "memory", "cc");
	return ret;
}

int
main(void)
{
	for (int i = 1; i <= 100; i++) {
		CHECK(spawn(map_pages(STACK / PAGE,
		    PROT_READ | PROT_WRITE)) > 0);
		while (left < i)
			sched_yield();
	}
	return victim_ok();
}
