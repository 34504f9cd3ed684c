/*
 * total - the sum of all files' totals; weights; records whose counts are all 0
 */
#include "merge.h"

#include <math.h>

#include "prog.h"

int64_t total[COST_EVMAX];

void
add_total(const struct costr *r)
{
	int64_t n[COST_EVMAX];
	size_t i;

	costr_sums(r, &first, r->total, n);
	for (i = 0; i < first.nev; i++)
		if (__builtin_add_overflow(total[i], n[i], &total[i]))
			die("%s: the sum of %s is beyond 64 bits", r->name,
			    first.ev[i].name);
}

static int64_t
scale(int64_t n, long double weight)
{
	long double v = roundl((long double)n * weight);

	if (!(fabsl(v) < 0x1p63L))
		die("--weights: a product is beyond 64 bits");
	return (int64_t)v;
}

void
weigh(struct cost *c, int64_t *n, long double weight)
{
	size_t i;

	if (c->kind != COST_SELF) {
		c->count[0] = scale(c->count[0], weight);
		c->count[1] = scale(c->count[1], weight);
	}
	if (c->kind == COST_JUMP)
		return;
	for (i = 0; i < first.nev; i++) {
		n[i] = scale(c->n[i], weight);
		if (c->kind == COST_SELF &&
		    __builtin_add_overflow(total[i], n[i], &total[i]))
			die("the sum of %s is beyond 64 bits",
			    first.ev[i].name);
	}
	c->n = n;
}

bool
is_nothing(const struct cost *c)
{
	int64_t any = 0;
	size_t i;

	if (c->kind != COST_SELF && (c->count[0] || c->count[1]))
		return false;
	for (i = 0; c->kind != COST_JUMP && i < first.nev; i++)
		any |= c->n[i];
	return !any;
}
