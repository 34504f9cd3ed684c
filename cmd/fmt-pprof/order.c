/*
 * order - samples with callers in common are neighbours
 *
 * Some views take a profile's samples for points in time, and draw a caller
 * anew whenever another one stood between.  So samples are written in the order
 * of a walk through the tree of callers:
 *
 *	main			not	main
 *	main work			main work
 *	main work put			main idle
 *	main idle			main work put
 *
 * A point of this tree is a function, or one inlined there, on top of its
 * callers.  Visits whose stacks have the same functions have the same point.
 */
#include "pprof.h"

#include "khash.h"
#include "mem.h"
#include "stacks.h"

#define NONE	UINT32_MAX

KHASH_MAP_INIT_INT64(point, uint32_t)

struct point {
	uint32_t up;		/* its caller, or NONE */
	uint32_t first, last;	/* what it calls; NONE: nothing */
	uint32_t next;		/* what its caller calls next, or NONE */
	uint32_t head, tail;	/* visits that have samples here, or NONE */
};

static struct point *point;
static struct { uint32_t visit, next; } *item;
static uint32_t *base;		/* by visit: its callers' point */
static size_t npoint, cappoint, nitem, capitem, capbase;
static khash_t(point) *known;	/* caller's point and function -> point */

static uint32_t
new_point(uint32_t up)
{
	uint32_t p = (uint32_t)npoint, last;

	point = xgrow(point, &cappoint, npoint + 1, sizeof *point);
	point[npoint++] = (struct point){ up, NONE, NONE, NONE, NONE, NONE };
	if (up == NONE)
		return p;
	last = point[up].last;
	if (last == NONE)
		point[up].first = p;
	else
		point[last].next = p;
	point[up].last = p;
	return p;
}

/* The point of a location's functions on top of a point. */
static uint32_t
on_top(uint32_t up, uint64_t location)
{
	uint32_t function, i;
	khint_t k;
	int new;

	for (i = 0; (function = where_function(location, i)) != 0; i++) {
		k = kh_put(point, known, (uint64_t)up << 32 | function, &new);
		if (new != 0)
			kh_val(known, k) = new_point(up);
		up = kh_val(known, k);
	}
	return up;
}

void
order_visit(uint32_t visit, uint32_t up, uint64_t site)
{
	if (known == NULL) {
		known = kh_init(point);
		new_point(NONE);
	}
	base = xgrow(base, &capbase, (size_t)visit + 1, sizeof *base);
	base[visit] = up == STACKS_NONE ? 0 : on_top(base[up], site);
}

uint32_t
order_at(uint32_t visit, uint64_t location)
{
	return on_top(base[visit], location);
}

void
order_add(uint32_t visit, uint64_t location)
{
	uint32_t at = order_at(visit, location);
	struct point *p = &point[at];

	if (p->tail != NONE && item[p->tail].visit == visit)
		return;
	item = xgrow(item, &capitem, nitem + 1, sizeof *item);
	item[nitem].visit = visit;
	item[nitem].next = NONE;
	if (p->tail == NONE)
		p->head = (uint32_t)nitem;
	else
		item[p->tail].next = (uint32_t)nitem;
	p->tail = (uint32_t)nitem++;
}

void
order_each(void (*tell)(uint32_t point, uint32_t visit))
{
	uint32_t p = 0, i;

	while (npoint > 0 && p != NONE) {
		for (i = point[p].head; i != NONE; i = item[i].next)
			tell(p, item[i].visit);
		if (point[p].first != NONE) {
			p = point[p].first;
			continue;
		}
		while (p != NONE && point[p].next == NONE)
			p = point[p].up;
		if (p != NONE)
			p = point[p].next;
	}
}
