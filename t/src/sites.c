/*
 * sites - functions that call each other from many places
 *
 * There are some hundred ways to a function, and its callees are called at the
 * end of each: at both levels, and folded.
 */
#include <stdio.h>

static unsigned long sum;

static __attribute__((noipa)) void
leaf(unsigned n)
{
	sum = sum * 31 + n;
}

static __attribute__((noipa)) void
down(unsigned n)
{
	leaf(n);
	if (n > 0)
		down(n - 1);
	leaf(n + 1);
}

static __attribute__((noipa)) void
both(unsigned n, void (*call)(unsigned))
{
	down(n % 5);
	call(n);
}

#define ONE(name, to)							\
static __attribute__((noipa)) void					\
name(unsigned n)							\
{									\
	both(n, leaf);							\
	to;								\
}
ONE(f0, down(1))
ONE(f1, f0(n))
ONE(f2, f1(n); f0(n + 1))
ONE(f3, f2(n); f1(n + 1))
ONE(f4, f3(n); f2(n + 1))
ONE(f5, f4(n); f3(n + 1))
ONE(f6, f5(n); f4(n + 1))
ONE(f7, f6(n); f5(n + 1))
ONE(f8, f7(n); f6(n + 1))

int
main(void)
{
	f8(1);
	f8(2);
	printf("%lu\n", sum);
	return 0;
}
