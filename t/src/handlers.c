/*
 * handlers - signal handlers that call deeply, make tail calls, are interrupted
 * themselves, run on another stack, and leave by siglongjmp; in the same order
 * in each run
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define FN __attribute__((noinline, noclone))

static sigjmp_buf out;
static volatile int active;
static volatile unsigned long sum;

FN static unsigned long
fib(unsigned n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

FN static void
leave_from(int depth)
{
	if (depth == 0)
		siglongjmp(out, 1);
	leave_from(depth - 1);
	sum++;
}

FN static void
add(int n)
{
	sum += (unsigned)n;
}

FN static void
add_more(int n)
{
	sum += fib(3);
	add(n);
}

static void
nesting(int sig)
{
	sum += fib(6);
	if (active++ < 3)
		raise(SIGUSR2);
	active--;
	add_more(sig);
}

static void
nested(int sig)
{
	sum += fib(4);
	add_more(sig);
	if (active == 2)
		raise(SIGURG);
}

static void
leaf(int sig)
{
	sum += fib(3) + (unsigned)sig;
}

static void
leaving(int sig)
{
	sum += fib(5) + (unsigned)sig;
	leave_from(4);
}

static void
tail(int sig)
{
	add(sig);
}

static void
handle(int sig, void (*handler)(int), int flags)
{
	struct sigaction a = { .sa_handler = handler, .sa_flags = flags };

	sigaction(sig, &a, NULL);
}

FN static void
work(unsigned i)
{
	for (int k = 0; k < 3; k++) {
		raise(SIGUSR1);
		sum += fib(4);
	}
	if (sigsetjmp(out, 1) == 0)
		raise(SIGHUP);
	sum += fib(7) + i;
	raise(SIGCONT);
}

FN static void
recurse(unsigned n)
{
	if (n == 0)
		return;
	recurse(n - 1);
	work(n);
}

int
main(void)
{
	stack_t other = { .ss_sp = malloc(65536), .ss_size = 65536 };

	sigaltstack(&other, NULL);
	handle(SIGUSR1, nesting, 0);
	handle(SIGUSR2, nested, SA_ONSTACK);
	handle(SIGURG, leaf, SA_NODEFER);
	handle(SIGCONT, tail, 0);
	for (int flags = 0; flags <= SA_ONSTACK; flags += SA_ONSTACK) {
		handle(SIGHUP, leaving, flags);
		for (unsigned i = 0; i < 10; i++) {
			work(i);
			recurse(3);
		}
	}
	printf("%lu\n", sum);
	return 0;
}
