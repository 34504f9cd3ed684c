/*
 * recurse - calls of all sorts: recursion, mutual recursion, tail calls,
 * callbacks, setjmp and longjmp out of recursion, signals
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define FN __attribute__((noinline, noclone))

static jmp_buf out;
static volatile int caught;

FN static int
fact(int n)
{
	return n < 2 ? 1 : n * fact(n - 1);
}

FN static int
fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

FN static int is_odd(int n);

FN static int
is_even(int n)
{
	return n == 0 ? 1 : is_odd(n - 1) ^ (n > 1000);
}

FN static int
is_odd(int n)
{
	return n == 0 ? 0 : is_even(n - 1) ^ (n > 1000);
}

FN static int
add(int a, int b)
{
	return a + b;
}

FN static int
twice(int a)
{
	return add(a, a);
}

FN static void
deep(int n)
{
	if (n == 0)
		longjmp(out, 1);
	deep(n - 1);
	caught++;
}

/* Out of the midst of a recursion into an outer level of itself. */
FN static int
again(int n)
{
	static jmp_buf here;

	if (n == 3 && setjmp(here) != 0)
		return add(n, 1);
	if (n == 0)
		longjmp(here, 1);
	return again(n - 1) + 1;
}

static int
compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void
handler(int sig)
{
	caught += twice(sig);
}

int
main(void)
{
	int v[50], s = 0, i;

	for (i = 0; i < 3; i++)
		s += fact(5);
	s += fib(14) + is_even(10) + twice(4) + again(5);
	for (i = 0; i < 4; i++)
		if (setjmp(out) == 0)
			deep(i);
	for (i = 0; i < 50; i++)
		v[i] = i * 7919 % 101;
	qsort(v, 50, sizeof *v, compare);
	signal(SIGUSR1, handler);
	for (i = 0; i < 3; i++)
		raise(SIGUSR1);
	printf("%d %d %d\n", s, v[25], caught);
	return 0;
}
