/* pointers - tail calls through pointers, from sites that jump as well */
#include <stdio.h>
#include <stdlib.h>

typedef long fn(long, long);

static long one(long n, long x) { return x + n; }
static long two(long n, long x) { return x ^ n << 1; }
static long three(long n, long x) { return x * 3 + n; }

/* Its own cases are jumps within it; the function at the end is called. */
__attribute__((noinline)) static long
step(long n, long x)
{
	static fn *volatile const table[] = { one, two, three };
	static const void *const to[] = { &&a, &&b, &&c, &&d };

	goto *to[n & 3];
a:
	x++;
	goto *to[1 + (x & 1)];
b:
	x ^= n;
	goto d;
c:
	x += 7;
d:
	return table[n % 3](n, x);
}

int
main(int argc, char **argv)
{
	long n, x = 0, most = argc > 1 ? atol(argv[1]) : 1000;

	for (n = 0; n < most; n++)
		x = step(n, x);
	printf("%ld\n", x);
	return 0;
}
