/*
 * share - own costs by line, shared among the contexts of a function
 *
 * Kinds counts and cache tell the own costs of a function, at a level of
 * recursion, by line; and of each of its contexts what it took in all.  A
 * context gets a part of each line, in proportion.  The parts are whole numbers
 * that add up both ways: contexts take theirs one after the other, each of what
 * the ones before have left:
 *
 *	lines			60  30  10
 *	a context of 50		30  15   5	which leaves 30 15 5
 *	one of 33		19  10   4	33 * 30 / 50 is 19.8
 *	one of 17		11   5   1
 */
#include <string.h>

#include "callgraph.h"
#include "mem.h"

#define NREFS 3			/* columns, at most: Ir, Dr, Dw */

struct line {
	uint64_t addr;
	int64_t left[NREFS];
};

static struct line *line;
static size_t nline, capline;
static int64_t left[NREFS];		/* in all lines */

void
share_begin(void)
{
	nline = 0;
	memset(left, 0, sizeof left);
}

void
share_line(uint64_t addr, const int64_t *n)
{
	struct line l = { .addr = addr };

	for (unsigned i = 0; i < walk.firsttold; i++) {
		if (n[i] > 0 && !__builtin_add_overflow(left[i], n[i],
		    &left[i]))
			l.left[i] = n[i];
	}
	line = xgrow(line, &capline, nline + 1, sizeof *line);
	line[nline++] = l;
}

/* n * part / whole, part being at most whole. */
static int64_t
portion(int64_t n, int64_t part, int64_t whole)
{
	int64_t product;

	if (!__builtin_mul_overflow(n, part, &product))
		return product / whole;
	return (int64_t)((unsigned __int128)n * (unsigned __int128)part /
	    (unsigned __int128)whole);
}

bool
share_take(const int64_t *own, int64_t *(*row)(uint64_t addr))
{
	int64_t upto[NREFS] = { 0 }, given[NREFS] = { 0 }, n[NREFS] = { 0 };
	unsigned ncol = walk.firsttold;
	bool any;

	for (unsigned i = 0; i < ncol; i++)
		if (own[i] < 0 || own[i] > left[i])
			return false;
	for (size_t k = 0; k < nline; k++) {
		any = false;
		for (unsigned i = 0; i < ncol; i++) {
			if (own[i] == 0)
				continue;
			upto[i] += line[k].left[i];
			n[i] = portion(own[i], upto[i], left[i]) - given[i];
			given[i] += n[i];
			line[k].left[i] -= n[i];
			any |= n[i] != 0;
		}
		if (any)
			memcpy(row(line[k].addr), n, ncol * sizeof *n);
	}
	for (unsigned i = 0; i < ncol; i++)
		left[i] -= own[i];
	return true;
}
