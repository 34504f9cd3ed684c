/*
 * range - nested address ranges, asked for the innermost
 */
#include "range.h"

#include <stdlib.h>

#include "util.h"

void
range_add(struct ranges *r, uint64_t start, uint64_t end, uint32_t what)
{
	if (start >= end)
		return;
	r->v = xgrow(r->v, &r->cap, r->n + 1, sizeof *r->v);
	r->v[r->n++] = (struct range){ start, end, what };
}

/* Outer before inner. */
static int
order(const void *x, const void *y)
{
	const struct range *a = x, *b = y;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return a->what < b->what ? -1 : a->what > b->what;
}

static int
is_sorted(const struct ranges *r)
{
	size_t i;

	for (i = 1; i < r->n; i++)
		if (order(&r->v[i - 1], &r->v[i]) > 0)
			return 0;
	return 1;
}

/* From *pos up to `to`, what the stack of open ranges says. */
static void
close_until(struct ranges *out, struct ranges *open, uint64_t *pos,
    uint64_t to)
{
	const struct range *top;
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
 * Walk the starts in order with a stack of the ranges that are open, the
 * innermost on top. One that ends before the one below it was opened is
 * popped when it is met.
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

const struct range *
range_find(struct ranges *r, uint64_t addr)
{
	size_t lo = 0, hi = r->n, mid;

	if (r->last < r->n && r->v[r->last].start <= addr &&
	    addr < r->v[r->last].end)
		return &r->v[r->last];
	/* the first that ends behind addr */
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (r->v[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == r->n || addr < r->v[lo].start)
		return NULL;
	r->last = lo;
	return &r->v[lo];
}
