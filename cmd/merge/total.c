/*
 * total - the sum of all files' totals; records whose counts are all 0
 */
#include "merge.h"

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

void
total_add(const int64_t *n)
{
	size_t i;

	for (i = 0; i < first.nev; i++)
		if (__builtin_add_overflow(total[i], n[i], &total[i]))
			die("the sum of %s is beyond 64 bits",
			    first.ev[i].name);
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
