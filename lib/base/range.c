/*
 * range - nested address ranges; finds the innermost one at an address
 */
#include "range.h"

#include <stdbool.h>
#include <stdlib.h>

#include "mem.h"

void
range_add(struct ranges *r, uint64_t start, uint64_t end, uint32_t what)
{
	if (start >= end)
		return;
	r->v = xgrow(r->v, &r->cap, r->n + 1, sizeof *r->v);
	r->v[r->n++] = (struct addr_range){ start, end, what };
}

/* Outer before inner. */
static int
order(const void *x, const void *y)
{
	const struct addr_range *a = x, *b = y;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return a->what < b->what ? -1 : a->what > b->what;
}

static bool
is_sorted(const struct ranges *r)
{
	size_t i;

	for (i = 1; i < r->n; i++)
		if (order(&r->v[i - 1], &r->v[i]) > 0)
			return false;
	return true;
}

/* Cover *pos up to `to` by the ranges on the stack `open`, the top first. */
static void
close_until(struct ranges *out, struct ranges *open, uint64_t *pos,
    uint64_t to)
{
	const struct addr_range *top;
	uint64_t end;

	while (open->n > 0 && *pos < to) {
		top = &open->v[open->n - 1];
		end = top->end < to ? top->end : to;
		range_add(out, *pos, end, top->what);
		if (end > *pos)
			*pos = end;
		if (top->end <= *pos)
			open->n--;
	}
	*pos = to;
}

/*
 * Walk the ranges in order of their starts, with a stack of those that are
 * open, the innermost on top. A range may end before one above it on the stack
 * does: it is popped only when it becomes the top.
 */
void
range_done(struct ranges *r)
{
	struct ranges out = { 0 }, open = { 0 };
	uint64_t pos = 0;
	size_t i;

	if (!is_sorted(r))
		qsort(r->v, r->n, sizeof *r->v, order);
	for (i = 0; i < r->n; i++) {
		close_until(&out, &open, &pos, r->v[i].start);
		range_add(&open, r->v[i].start, r->v[i].end, r->v[i].what);
	}
	close_until(&out, &open, &pos, UINT64_MAX);
	free(open.v);
	free(r->v);
	*r = out;
}

/* Is that the index of the first that ends behind addr? */
static inline bool
is_first(const struct ranges *r, size_t i, uint64_t addr)
{
	return i <= r->n && (i == r->n || addr < r->v[i].end) &&
	    (i == 0 || r->v[i - 1].end <= addr);
}

/* That index; r->n: none does. */
static size_t
search(const struct ranges *r, uint64_t addr)
{
	size_t lo = 0, hi = r->n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (r->v[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct addr_range *
range_find(struct ranges *r, uint64_t addr)
{
	size_t lo;

	if (!is_first(r, r->last, addr))
		r->last = search(r, addr);
	lo = r->last;
	return lo < r->n && r->v[lo].start <= addr ? &r->v[lo] : NULL;
}

uint64_t
range_next(const struct ranges *r, uint64_t addr)
{
	size_t i = search(r, addr);

	if (i < r->n && r->v[i].start <= addr)
		i++;
	return i < r->n ? r->v[i].start : UINT64_MAX;
}
