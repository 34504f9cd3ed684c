/*
 * rows - functions, lines and calls whose counts changed
 */
#include "diff.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"

/*
 * The sums of a profile.  fns: one record without a line for each function, and
 * one for each of its callees.  lines: records by line, all in one function a
 * file, which has the file's name.
 */
struct sums {
	struct costsum *fns, *lines;
};
static struct sums old, new;
static unsigned summed;		/* enum diff_by */

const int64_t *
row_new(const struct change_row *r)
{
	return r->old + diff.nev + 1;
}

static void
put(struct sums *s, const struct cost *c, const int64_t *n, int64_t count)
{
	struct cost to = { .kind = c->kind, .fn = c->fn,
	    .n = (int64_t *)costderived_counts(&diff.events, n) };
	struct costfn f = { .fl = c->file, .fn = c->file };

	to.file = costfn_get(diff.nm, c->fn).fl;
	if (c->kind == COST_CALL) {
		to.callee = c->callee;
		to.count[0] = count;
	}
	if (summed & (c->kind == COST_CALL ? BY_CALL : BY_FUNCTION))
		costsum_put(s->fns, &to);
	if (c->kind == COST_CALL || !(summed & BY_LINE))
		return;
	to.fn = costfn_add(diff.nm, f);
	to.file = c->file;
	to.pos.line = c->pos.line;
	costsum_put(s->lines, &to);
}

/* Sum both tables up.  If that is their last use, they free their memory. */
static void
gather(void)
{
	struct join j = { .old = diff.old.t, .new = diff.new.t };
	struct record_pair p;

	old.fns = costsum_new(diff.nm, COST_LINE, diff.nev);
	old.lines = costsum_new(diff.nm, COST_LINE, diff.nev);
	new.fns = costsum_new(diff.nm, COST_LINE, diff.nev);
	new.lines = costsum_new(diff.nm, COST_LINE, diff.nev);
	if (!diff.keep) {
		costsum_last(diff.old.t);
		costsum_last(diff.new.t);
	}
	while (join_next(&j, &p)) {
		if (p.c.kind == COST_JUMP)
			continue;
		if (p.has_old)
			put(&old, &p.c, p.old, p.count_old[0]);
		if (p.has_new)
			put(&new, &p.c, p.new, p.count_new[0]);
	}
	costsum_sort(old.fns);
	costsum_sort(old.lines);
	costsum_sort(new.fns);
	costsum_sort(new.lines);
}

struct join
join_functions(void)
{
	summed = diff.by | BY_FUNCTION;
	gather();
	return (struct join){ .old = old.fns, .new = new.fns };
}

static int64_t
change(const struct change_row *r, size_t ev)
{
	return minus(row_new(r)[ev], r->old[ev]);
}

static int
cmp_fn(uint32_t a, uint32_t b)
{
	struct costfn f = costfn_get(diff.nm, a), g = costfn_get(diff.nm, b);
	int c = strcmp(str(f.fl), str(g.fl));

	if (!c)
		c = strcmp(str(f.fn), str(g.fn));
	return c ? c : strcmp(str(f.ob), str(g.ob));
}

/* The largest change first, in the order of --sort; then by name. */
static int
by_change(const void *a, const void *b)
{
	const struct change_row *x = *(struct change_row *const *)a;
	const struct change_row *y = *(struct change_row *const *)b;
	uint64_t p, q;
	size_t i;
	int c;

	for (i = 0; i < diff.nsort; i++) {
		int64_t v = change(x, diff.sort[i]);
		int64_t w = change(y, diff.sort[i]);

		p = v < 0 ? -(uint64_t)v : (uint64_t)v;
		q = w < 0 ? -(uint64_t)w : (uint64_t)w;
		if (p != q)
			return p > q ? -1 : 1;
	}
	c = x->file == y->file ? 0 : strcmp(str(x->file), str(y->file));
	if (!c && x->line != y->line)
		c = x->line < y->line ? -1 : 1;
	if (!c && x->fn != y->fn)
		c = cmp_fn(x->fn, y->fn);
	return c || x->callee == y->callee ? c : cmp_fn(x->callee, y->callee);
}

static bool
in_list(enum diff_by by, const struct record_pair *p)
{
	return p->c.kind == (by == BY_CALL ? COST_CALL : COST_SELF) &&
	    pair_differs(p);
}

/* Where in the sort order the first event is that changed in the list. */
static size_t
first_changed(enum diff_by by, struct join j)
{
	struct record_pair p;
	size_t first = diff.nsort, i;

	while (join_next(&j, &p)) {	/* to its end, which rewinds */
		if (!in_list(by, &p))
			continue;
		for (i = 0; i < first; i++)
			if (p.new[diff.sort[i]] != p.old[diff.sort[i]])
				first = i;
	}
	return first == diff.nsort ? 0 : first;
}

static bool
passes_threshold(const struct record_pair *p, size_t ev)
{
	double v = (double)minus(p->new[ev], p->old[ev]);
	double all = (double)diff.old.total[ev];

	return (v < 0 ? -v : v) >=
	    diff.threshold * (all < 0 ? -all : all) / 100;
}

static struct change_row *
make(enum diff_by by, const struct record_pair *p)
{
	size_t n = diff.nev + 1;
	struct change_row *r = xcalloc(1, sizeof *r + 2 * n * sizeof *r->old);

	memcpy(r->old, p->old, diff.nev * sizeof *r->old);
	memcpy(r->old + n, p->new, diff.nev * sizeof *r->old);
	r->old[diff.nev] = p->count_old[0];
	r->old[n + diff.nev] = p->count_new[0];
	if (by == BY_LINE) {
		r->file = p->c.file;
		r->line = p->c.pos.line;
		return r;
	}
	r->fn = p->c.fn;
	if (by == BY_CALL)
		r->callee = p->c.callee;
	return r;
}

struct change_row **
rows(enum diff_by by, size_t *nrow, size_t *nchanged, size_t *ev)
{
	struct join j;
	struct record_pair p;
	struct change_row **v = NULL;
	size_t cap = 0;

	if (!old.fns) {
		summed = diff.by;
		gather();
	}
	j = (struct join){ .old = by == BY_LINE ? old.lines : old.fns,
	    .new = by == BY_LINE ? new.lines : new.fns };
	*ev = diff.sort[first_changed(by, j)];
	*nrow = *nchanged = 0;
	while (join_next(&j, &p)) {
		if (!in_list(by, &p))
			continue;
		++*nchanged;
		if (!passes_threshold(&p, *ev))
			continue;
		v = xgrow(v, &cap, *nrow + 1, sizeof *v);
		v[(*nrow)++] = make(by, &p);
	}
	if (*nrow)
		qsort(v, *nrow, sizeof *v, by_change);
	return v;
}
