/*
 * mkbbv intervals blocks pairs phases seed [exp-bbv|plain] - vectors of a
 * program that has phases
 *
 * Each phase has a set of blocks, some of them shared, with a size and a rate.
 * An interval has about so many pairs: the blocks of its phase, rates shaken by
 * some percent, and a few strays.  Phases last for a while and come back.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "mem.h"
#include "out.h"
#include "prog.h"

static uint64_t state;

/* xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift
 * generators, scrambled", 2016 */
static uint64_t
rnd(uint64_t n)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (state * 2685821657736338717u >> 11) % n;
}

struct use {
	uint64_t block, rate;
};

static int
by_block(const void *a, const void *b)
{
	const struct use *x = a, *y = b;

	return (x->block > y->block) - (x->block < y->block);
}

/* So many different blocks, in order; every fourth from the first tenth. */
static void
make_phase(struct use *u, uint64_t n, uint64_t blocks)
{
	uint64_t i, j;

	for (i = 0; i < n; i++) {
		u[i].block = 1 + rnd(i % 4 ? blocks : blocks / 10 + 1);
		u[i].rate = 1 + rnd(1 + 1000 / (1 + rnd(50)));
	}
	qsort(u, n, sizeof *u, by_block);
	for (i = 1, j = 1; i < n; i++)
		if (u[i].block != u[j - 1].block)
			u[j++] = u[i];
	for (; j < n; j++)
		u[j].rate = 0;
}

static void
interval(struct out *o, const struct use *u, uint64_t n, const char *gap)
{
	uint64_t i, v;
	const char *colon = ":";

	out_ch(o, 'T');
	for (i = 0; i < n; i++) {
		v = u[i].rate * (9000 + rnd(2100)) / 100;
		if (v == 0 || rnd(50) == 0)
			continue;
		out_str(o, colon);
		out_u64(o, u[i].block);
		out_ch(o, ':');
		out_u64(o, v);
		out_str(o, gap);
	}
	out_ch(o, '\n');
}

int
main(int argc, char **argv)
{
	uint64_t a[5], i, left = 0, phase = 0;
	struct use *u;
	struct out *o;
	const char *gap;

	prog_init(argv[0]);
	if (argc < 6 || argc > 7)
		prog_usage("intervals blocks pairs phases seed [exp-bbv]");
	for (i = 0; i < 5; i++)
		a[i] = num_arg("argument", argv[i + 1], 1, 1000000000);
	gap = argc > 6 && strcmp(argv[6], "exp-bbv") == 0 ? "   " : " ";
	state = a[4] * 0x9e3779b97f4a7c15;
	u = xcalloc(a[2] * a[3], sizeof *u);
	for (i = 0; i < a[3]; i++)
		make_phase(u + i * a[2], a[2], a[1]);
	/* the highest block is there once */
	u[a[2] - 1] = (struct use){ a[1], 50 };
	o = out_open("-");
	for (i = 0; i < a[0]; i++) {
		if (left-- == 0) {
			phase = rnd(a[3]);
			left = rnd(a[0] / (4 * a[3]) + 2);
		}
		interval(o, u + phase * a[2], a[2], gap);
	}
	out_close(o);
	return 0;
}
