/*
 * hold - references to memory that is not known yet
 *
 * While a thread's call for memory is open, its references to what is not known
 * are held: calloc() clears and realloc() fills what nobody has heard of.
 * Neighbours that one place in the code refers to are held as one.
 */
#include <string.h>

#include "dataprof.h"
#include "mem.h"
#include "sum.h"

#define HOLDS	(1u << 20)	/* of a thread */
#define NEAR	64		/* bytes between neighbours */

struct hold {
	uint64_t lo, hi, refs;
	uint32_t code;
	unsigned size;		/* of the first reference */
};

struct holds {
	struct hold *v;
	int64_t *cost;		/* by hold: columns */
	size_t n, cap, capcost;
};

static struct holds *holds;	/* by thread */
static size_t nholds;

static struct holds *
holds_of(unsigned thread)
{
	holds = xgrow0(holds, &nholds, thread + (size_t)1, sizeof *holds);
	return &holds[thread];
}

bool
hold_room(unsigned thread)
{
	return holds_of(thread)->n < HOLDS;
}

void
hold_put(unsigned thread, uint64_t addr, unsigned size, uint32_t code,
    const int64_t *cost, uint64_t refs)
{
	struct holds *o = holds_of(thread);
	struct hold *h = o->n == 0 ? NULL : &o->v[o->n - 1];

	if (h == NULL || h->code != code || addr + NEAR < h->lo ||
	    addr > h->hi + NEAR) {
		o->v = xgrow(o->v, &o->cap, o->n + 1, sizeof *h);
		o->cost = xgrow(o->cost, &o->capcost, (o->n + 1) * dp.ncol,
		    sizeof *o->cost);
		h = &o->v[o->n];
		*h = (struct hold){ addr, addr, 0, code, size };
		memset(o->cost + o->n++ * dp.ncol, 0,
		    dp.ncol * sizeof *o->cost);
	}
	if (addr < h->lo)
		h->lo = addr;
	if (addr > h->hi)
		h->hi = addr;
	h->refs += refs;
	for (unsigned i = 0; i < dp.ncol; i++)
		sum_add(&o->cost[(o->n - 1) * dp.ncol + i], cost[i]);
}

void
hold_settle(unsigned thread, const struct heap_made *m)
{
	struct holds *o = holds_of(thread);
	struct data_place p;
	const struct hold *h;
	size_t i, row;

	for (i = 0; i < o->n; i++) {
		h = &o->v[i];
		if (m->start != 0 && h->lo >= m->start &&
		    h->hi - m->start < m->size && dp.by != BY_PAGE)
			row = tally_row(h->code, m->object);
		else
			row = tally_find(thread, h->lo, h->size, h->code,
			    false, &p);
		tally_add(row, o->cost + i * dp.ncol, h->refs);
	}
	o->n = 0;
}

void
hold_end(void)
{
	struct heap_made none = { 0, 0, 0 };

	for (unsigned i = 0; i < nholds; i++)
		hold_settle(i, &none);
}
