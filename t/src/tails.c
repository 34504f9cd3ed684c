/*
 * tails - tail calls, mutual recursion, deep recursion, calls by pointers
 *
 * Build with -O2 -fno-inline, so that calls at the end become jumps.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int sum;

static int odd(int n);
static int even(int n) { sum++; return n == 0 ? 1 : odd(n - 1); }
static int odd(int n) { sum += 2; return n == 0 ? 0 : even(n - 1); }

/* not at the end: the stack grows */
static int right(int n);
static int left(int n) { return n == 0 ? 1 : 1 + right(n - 1); }
static int right(int n) { return n == 0 ? 2 : 2 + left(n / 2) + left(n - 1); }

static int leaf(int n) { sum ^= n; return n + 1; }
static int hop(int n) { return leaf(n ^ 5); }
static int jump(int n) { sum -= n; return hop(n * 3); }

static int (*const table[])(int) = { leaf, hop, jump, even };
static int by_pointer(int n) { return table[n & 3](n); }

static int
deep(int n)
{
	char room[32];

	memset(room, n, sizeof room);
	return n == 0 ? room[3] : deep(n - 1) + room[n & 31];
}

static int
compare(const void *a, const void *b)
{
	return leaf(*(const int *)a) - leaf(*(const int *)b);
}

int
main(void)
{
	int v[100];

	for (int i = 0; i < 100; i++)
		v[i] = i * 7919 % 101;
	qsort(v, 100, sizeof *v, compare);
	for (int i = 0; i < 40; i++)
		sum += even(i) + by_pointer(i) + jump(i);
	sum += left(14) + deep(5000);
	printf("%d\n", sum + v[50]);
	return 0;
}
