/*
 * first - functions whose first instruction faults, until a handler mends that
 *
 *	first HOW N	each Nth call; HOW 0: by a call, 1: by a jump, 2: by a
 *			jump through a pointer, 3: by a call through one
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

typedef long fn(const long *, void *);

fn one, two, by_jump, by_pointer;

__asm__(".text\n"
    ".type one,@function\n"
    "one: mov (%rdi),%rax; ret\n"
    ".size one,.-one\n"
    ".type two,@function\n"
    "two: mov (%rdi),%rax; inc %rax; ret\n"
    ".size two,.-two\n"
    ".type by_jump,@function\n"
    "by_jump: mov %rsi,%rax; jmp one\n"
    ".size by_jump,.-by_jump\n"
    ".type by_pointer,@function\n"
    "by_pointer: mov %rsi,%rax; jmp *%rax\n"
    ".size by_pointer,.-by_pointer\n");

static long word = 5;

static void
mend(int sig, siginfo_t *si, void *context)
{
	ucontext_t *u = context;

	(void)sig;
	(void)si;
	u->uc_mcontext.gregs[REG_RDI] = (greg_t)&word;
}

int
main(int argc, char **argv)
{
	struct sigaction a = { .sa_sigaction = mend, .sa_flags = SA_SIGINFO };
	int how = argc > 1 ? atoi(argv[1]) : 0, every = argc > 2 ?
	    atoi(argv[2]) : 2;
	fn *volatile to;
	const long *at;
	long sum = 0;

	sigaction(SIGSEGV, &a, NULL);
	for (int i = 0; i < 1000; i++) {
		at = i % every == 0 ? (const long *)8 : &word;
		to = i & 1 ? one : two;
		sum += how == 0 ? one(at, NULL) : how == 1 ?
		    by_jump(at, NULL) : how == 2 ?
		    by_pointer(at, (void *)to) : to(at, NULL);
	}
	printf("%ld\n", sum);
	return 0;
}
