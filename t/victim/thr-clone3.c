/*
 * thr-clone3 - threads and processes by the bare clone3: stack by its low end
 * and size, set TLS, pidfd, an argument structure larger than the kernel's
 */
#include <linux/futex.h>
#include <linux/sched.h>

#include "victim.h"

enum { STACK = 32768 };

static volatile int tid_word;
static volatile uint64_t from_child;
static uint64_t child_tls[16] __attribute__((aligned(64)));

__asm__(
"	.text\n"
"raw_clone3:\n"			/* args, size */
"	mov	$435, %eax\n"
"	syscall\n"
"	test	%rax, %rax\n"
"	jz	1f\n"
"	ret\n"
"1:	mov	%fs:8, %rax\n"		/* the new thread's own storage */
"	lea	from_child(%rip), %rcx\n"
"	mov	%rax, (%rcx)\n"
"	xor	%edi, %edi\n"
"	mov	$60, %eax\n"
"	syscall\n"
"	hlt\n");
long raw_clone3(void *, size_t);

static void
thread_by_clone3(char *stack, int round)
{
	struct {
		struct clone_args a;
		uint64_t more[4];
	} args = { .a = {
		.flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
		    CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |
		    CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID,
		.stack = (uintptr_t)stack,
		.stack_size = STACK,
		.tls = (uintptr_t)child_tls,
		.parent_tid = (uintptr_t)&tid_word,
		.child_tid = (uintptr_t)&tid_word,
	} };
	int seen;

	child_tls[1] = 1000 + (uint64_t)round;
	CHECK(raw_clone3(&args, round % 2 ? sizeof args : sizeof args.a) > 0);
	while ((seen = tid_word) != 0)
		syscall(SYS_futex, &tid_word, FUTEX_WAIT, seen, NULL, NULL,
		    0);
	SAME(from_child, 1000 + round);
}

static void
process_by_clone3(int round)
{
	int pidfd = -1;
	struct clone_args args = {
		.flags = CLONE_PIDFD,
		.pidfd = (uintptr_t)&pidfd,
		.exit_signal = SIGCHLD,
	};
	long pid = syscall(SYS_clone3, &args, sizeof args);

	CHECK(pid >= 0);
	if (pid == 0)
		_exit(round);
	CHECK(pidfd >= 0);
	reap((pid_t)pid, round);
	close(pidfd);
}

int
main(void)
{
	char *stack = map_pages(STACK / PAGE, PROT_READ | PROT_WRITE);

	for (int i = 0; i < 40; i++)
		thread_by_clone3(stack, i);
	for (int i = 0; i < 10; i++)
		process_by_clone3(i);
	return victim_ok();
}
