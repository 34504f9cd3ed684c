/*
 * rows.c - what changed: old and new counts of functions, lines, calls
 */
#include "diff.h"

#include <htslib/khash.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

struct key {
	uint32_t a, b;
};
#define key_hash(k) ((uint32_t)(((k).a * 0x9e3779b97f4a7c15 ^ (k).b) \
    * 0x9e3779b97f4a7c15 >> 32))
#define key_eq(x, y) ((x).a == (y).a && (x).b == (y).b)
KHASH_INIT(row, struct key, struct row *, 1, key_hash, key_eq)

static khash_t(row) *table[3];

static int
index_of(int by)
{
	return by == BY_FUNCTION ? 0 : by == BY_LINE ? 1 : 2;
}

static struct row *
make(int by, struct key key)
{
	khash_t(row) *h = table[index_of(by)];
	size_t n = d.nev + 1;
	struct row *r;
	khiter_t it;
	int made;

	it = kh_put(row, h, key, &made);
	if (made < 0)
		die("out of memory");
	if (!made)
		return kh_val(h, it);
	r = kh_val(h, it) = xcalloc(1, sizeof *r + 2 * n * sizeof *r->old);
	r->old = (int64_t *)(r + 1);
	r->new = r->old + n;
	return r;
}

static void
add(int64_t *to, const int64_t *n, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (__builtin_add_overflow(to[i], n[i], &to[i]))
			die("a sum is beyond 64 bits");
}

static struct key
key_of(int by, const struct cost *c)
{
	if (by == BY_FUNCTION)
		return (struct key){ c->fn, 0 };
	if (by == BY_LINE)
		return (struct key){ c->file, c->pos.line };
	return (struct key){ c->fn, c->callee };
}

/* Is there a row that the pair counts for? */
static struct row *
get(int by, const struct pair *p)
{
	khash_t(row) *h = table[index_of(by)];
	khiter_t it;

	if (!(d.by & by) || p->c.kind != (by == BY_CALL ? COST_CALL : COST_SELF))
		return NULL;
	it = kh_get(row, h, key_of(by, &p->c));
	return it == kh_end(h) ? NULL : kh_val(h, it);
}

static void
new_row(int by, const struct pair *p)
{
	struct row *r;

	if (!(d.by & by) || p->c.kind != (by == BY_CALL ? COST_CALL : COST_SELF))
		return;
	r = make(by, key_of(by, &p->c));
	if (by != BY_LINE)
		r->fn = p->c.fn;
	if (by == BY_LINE) {
		r->file = p->c.file;
		r->line = p->c.pos.line;
	}
	if (by == BY_CALL)
		r->callee = p->c.callee;
}

/* First a row for each place where something changed; then all its costs. */
static void
gather(void)
{
	struct pair p;
	struct row *r;
	int i;

	for (i = 0; i < 3; i++) {
		table[i] = kh_init(row);
		if (!table[i])
			die("out of memory");
	}
	while (join_next(&p))
		for (i = 0; i < 3; i++)
			if (pair_differs(&p))
				new_row(1 << i, &p);
	while (join_next(&p))
		for (i = 0; i < 3; i++) {
			r = get(1 << i, &p);
			if (!r)
				continue;
			add(r->old, p.old, d.nev);
			add(r->new, p.new, d.nev);
			if (i == 2) {
				add(r->old + d.nev, p.count_old, 1);
				add(r->new + d.nev, p.count_new, 1);
			}
		}
}

static int
cmp_fn(uint32_t a, uint32_t b)
{
	struct costfn f = costfn_get(d.nm, a), g = costfn_get(d.nm, b);
	int c = strcmp(str(f.fl), str(g.fl));

	if (!c)
		c = strcmp(str(f.fn), str(g.fn));
	return c ? c : strcmp(str(f.ob), str(g.ob));
}

/* The largest change first, in the order of --sort; then by name. */
static int
by_change(const void *a, const void *b)
{
	const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;
	uint64_t p, q;
	size_t i;
	int c;

	for (i = 0; i < d.nsort; i++) {
		int64_t v = x->change[d.sort[i]], w = y->change[d.sort[i]];

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
above(const struct row *r)
{
	size_t ev = d.sort[0];
	double v = (double)r->change[ev], all = (double)d.old.total[ev];

	return (v < 0 ? -v : v) >= d.threshold * (all < 0 ? -all : all) / 100;
}

struct row **
rows(int by, size_t *nrow, size_t *nchanged)
{
	khash_t(row) *h;
	struct row **v = NULL, *r;
	size_t cap = 0, i;
	khiter_t it;
	bool any;

	if (!table[0])
		gather();
	h = table[index_of(by)];
	*nrow = *nchanged = 0;
	for (it = kh_begin(h); it != kh_end(h); it++) {
		if (!kh_exist(h, it))
			continue;
		r = kh_val(h, it);
		any = r->old[d.nev] != r->new[d.nev];
		for (i = 0; i < d.nev; i++) {
			r->change[i] = minus(r->new[i], r->old[i]);
			any |= r->change[i] != 0;
		}
		if (!any)
			continue;
		++*nchanged;
		if (!above(r))
			continue;
		v = xgrow(v, &cap, *nrow + 1, sizeof *v);
		v[(*nrow)++] = r;
	}
	if (*nrow)
		qsort(v, *nrow, sizeof *v, by_change);
	return v;
}
