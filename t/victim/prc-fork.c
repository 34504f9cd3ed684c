/*
 * prc-fork - fork: registers, memory, descriptors and handlers of the child;
 * children of children; a hundred of them; the parent's go on unchanged
 */
#include "victim.h"

static volatile int got;
static int value = 1;

static void
on_usr1(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si, (void)uc;
	got++;
}

/* fork with all preserved registers live; the sum of them, or 0. */
__asm__(
"	.text\n"
"fork_live:\n"
"	push	%rbx\n"
"	push	%rbp\n"
"	push	%r12\n"
"	push	%r15\n"
"	mov	$1, %ebx\n"
"	mov	$2, %ebp\n"
"	mov	$4, %r8d\n"
"	mov	$8, %r9d\n"
"	mov	$16, %r12d\n"
"	mov	$32, %r15d\n"
"	mov	$64, %edi\n"
"	movq	%rdi, %xmm8\n"
"	mov	$57, %eax\n"
"	syscall\n"
"	movq	%xmm8, %rdx\n"
"	add	%rbx, %rdx\n"
"	add	%rbp, %rdx\n"
"	add	%r8, %rdx\n"
"	add	%r9, %rdx\n"
"	add	%r12, %rdx\n"
"	add	%r15, %rdx\n"
"	cmp	$127, %rdx\n"
"	mov	$-1, %edx\n"
"	cmovne	%rdx, %rax\n"
"	pop	%r15\n"
"	pop	%r12\n"
"	pop	%rbp\n"
"	pop	%rbx\n"
"	ret\n");
long fork_live(void);

static _Noreturn void
child(int i)
{
	pid_t pid;

	CHECK(getppid() > 0);
	value += i;
	raise(SIGUSR1);
	SAME(got, 1);
	pid = fork();
	if (pid == 0)
		_exit(value % 100);
	reap(pid, value % 100);
	_exit(i % 50);
}

int
main(void)
{
	long pid;
	int fd[2];
	char c;

	handle(SIGUSR1, on_usr1, 0);
	CHECK(pipe(fd) == 0);
	for (int i = 0; i < 60; i++) {
		pid = i % 2 ? fork_live() : fork();
		CHECK(pid >= 0);
		if (pid == 0) {
			if (i == 10)
				CHECK(write(fd[1], "z", 1) == 1);
			child(i);
		}
		reap((pid_t)pid, i % 50);
		SAME(value, 1);
		SAME(got, 0);
	}
	CHECK(read(fd[0], &c, 1) == 1 && c == 'z');
	return victim_ok();
}
