/*
 * phases - a program whose behaviour changes, for scripts/phases
 *
 * Four kinds of work, each with its own way through memory, come up again and
 * again for different times, none of them in step with any interval.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	SIDE = 384,			/* of the square: 1.2 MB, beyond D1 */
	SMALL = 24,			/* of small ones: within D1 */
	NODES = 1 << 15,
};

struct node {
	struct node *next;
	uint64_t value, pad[6];		/* a line each */
};

static double square[SIDE][SIDE], a[SMALL][SMALL], b[SMALL][SMALL],
    c[SMALL][SMALL];
static struct node nodes[NODES];
static uint64_t seed = 1;

static uint64_t
rnd(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return seed >> 33;
}

/* Along the rows: a miss for every eighth element. */
static uint64_t
rows(int n)
{
	double sum = 0;
	int i, j;

	while (n-- > 0)
		for (i = 0; i < SIDE; i++)
			for (j = 0; j < SIDE; j++)
				sum += square[i][j] += 0.5;
	return (uint64_t)sum;
}

/* Along the columns: every element misses. */
static uint64_t
columns(int n)
{
	double sum = 0;
	int i, j;

	while (n-- > 0)
		for (j = 0; j < SIDE; j++)
			for (i = 0; i < SIDE; i++)
				sum += square[i][j];
	return (uint64_t)sum;
}

/* Within the cache: no misses. */
static uint64_t
product(int n)
{
	int i, j, k;

	while (n-- > 0)
		for (i = 0; i < SMALL; i++)
			for (j = 0; j < SMALL; j++)
				for (k = 0; k < SMALL; k++)
					c[i][j] += a[i][k] * b[k][j];
	return (uint64_t)c[3][4];
}

/* A list in random order, with some work at each node. */
static uint64_t
chase(int n)
{
	struct node *p = nodes;
	uint64_t sum = 0;
	int i;

	while (n-- > 0)
		for (i = 0; i < 10000; i++, p = p->next)
			sum = (sum ^ p->value) * 0x9e3779b97f4a7c15u;
	return sum;
}

static void
set_up(void)
{
	static int order[NODES];
	int i, j, t;

	for (i = 0; i < NODES; i++) {
		order[i] = i;
		nodes[i].value = rnd();
	}
	for (i = NODES - 1; i > 0; i--) {
		j = (int)(rnd() % (uint64_t)(i + 1));
		t = order[i];
		order[i] = order[j];
		order[j] = t;
	}
	for (i = 0; i < NODES; i++)
		nodes[order[i]].next = &nodes[order[(i + 1) % NODES]];
	for (i = 0; i < SMALL; i++)
		for (j = 0; j < SMALL; j++)
			a[i][j] = b[i][j] = (i * j) % 7;
}

int
main(int argc, char **argv)
{
	static uint64_t (*const work[])(int) = { rows, columns, product, chase };
	/* so many rounds are some 700000 instructions */
	static const int rounds[] = { 1, 1, 7, 9 };
	uint64_t sum = 0;
	int i, k, times = argc > 1 ? atoi(argv[1]) : 40;

	set_up();
	for (i = 0; i < times; i++) {
		k = (int)(rnd() % 4);
		sum += work[k](rounds[k] * (1 + (int)(rnd() % 8)));
	}
	printf("%llx\n", (unsigned long long)sum);
	return 0;
}
