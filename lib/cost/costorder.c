/*
 * costorder - the canonical order of costs
 *
 * Functions by the names of object, file and function; in a function by file
 * (its own first), line, address; at one place its own cost, its calls by
 * callee, its jumps.  It depends on nothing but the data.
 */
#include "cost.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "costsum.h"
#include "mem.h"

/* 0: the same string or function */
static int
cmp_name(const struct costnames *nm, uint32_t a, uint32_t b)
{
	return a == b ? 0 : strcmp(costnames_get(nm, a), costnames_get(nm, b));
}

static int
cmp_fn(const struct costnames *nm, uint32_t a, uint32_t b)
{
	struct costfn f, g;
	int c;

	if (a == b)
		return 0;
	f = costfn_get(nm, a);
	g = costfn_get(nm, b);
	c = cmp_name(nm, f.ob, g.ob);
	if (!c)
		c = cmp_name(nm, f.fl, g.fl);
	if (!c)
		c = cmp_name(nm, f.fn, g.fn);
	return c ? c : f.ctx < g.ctx ? -1 : f.ctx > g.ctx;
}

static int
cmp_pos(const struct cost_pos *p, const struct cost_pos *q)
{
	if (p->line != q->line)
		return p->line < q->line ? -1 : 1;
	if (p->addr != q->addr)
		return p->addr < q->addr ? -1 : 1;
	return p->bb == q->bb ? 0 : p->bb < q->bb ? -1 : 1;
}

static int
cmp_file(const struct costnames *nm, uint32_t own, uint32_t a, uint32_t b)
{
	if (a != b && (a == own || b == own))
		return a == own ? -1 : 1;
	return cmp_name(nm, a, b);
}

static int
cmp_where(const struct costnames *nm, const struct cost *a,
    const struct cost *b)
{
	int c = cmp_file(nm, costfn_get(nm, a->fn).fl, a->file, b->file);

	return c ? c : cmp_pos(&a->pos, &b->pos);
}

/* Of one function, at one place. */
static int
cmp_here(const struct costnames *nm, const struct cost *a, const struct cost *b)
{
	int c = (int)a->kind - (int)b->kind;

	if (c || a->kind == COST_SELF)
		return c;
	if (a->kind == COST_CALL) {
		c = cmp_fn(nm, a->callee, b->callee);
		return c ? c : cmp_pos(&a->to, &b->to);
	}
	c = cmp_file(nm, costfn_get(nm, a->fn).fl, a->tofile, b->tofile);
	if (!c)
		c = cmp_pos(&a->to, &b->to);
	if (!c)
		c = cmp_fn(nm, a->callee, b->callee);
	return c ? c : (int)a->cond - (int)b->cond;
}

int
cost_cmp(const struct costnames *nm, const struct cost *a, const struct cost *b)
{
	int c = cmp_fn(nm, a->fn, b->fn);

	if (!c)
		c = cmp_where(nm, a, b);
	return c ? c : cmp_here(nm, a, b);
}

/*
 * Functions are sorted by what is at hand of their names: the rank of object
 * and file, and eight bytes; most are told apart by that.
 */
struct sortkey {
	uint32_t ob, fl;
	uint64_t prefix;
	const char *name;
	uint32_t ctx;
};

static int
by_name(const struct cost_by *by, uint32_t a, uint32_t b)
{
	return strcmp(costnames_get(by->t->nm, a), costnames_get(by->t->nm, b));
}

static int
by_fn(const struct cost_by *by, uint32_t a, uint32_t b)
{
	const struct sortkey *x = (const struct sortkey *)by->arg + a;
	const struct sortkey *y = (const struct sortkey *)by->arg + b;
	int c;

	if (x->ob != y->ob)
		return x->ob < y->ob ? -1 : 1;
	if (x->fl != y->fl)
		return x->fl < y->fl ? -1 : 1;
	if (x->prefix != y->prefix)
		return x->prefix < y->prefix ? -1 : 1;
	c = strcmp(x->name, y->name);
	return c ? c : x->ctx < y->ctx ? -1 : x->ctx > y->ctx;
}

/* name -> rank, for the objects and files of functions */
static uint32_t *
rank_names(const struct costsum *t)
{
	size_t n = costnames_count(t->nm), i, k = 0;
	uint32_t *rank = xcalloc(n, sizeof *rank), *v = xmalloc(n * sizeof *v);
	struct cost_by by = { .cmp = by_name, .t = t };
	struct costfn f;

	for (i = 0; i < t->nf; i++) {
		f = costfn_get(t->nm, t->f[i].fn);
		rank[f.ob] = rank[f.fl] = 1;
	}
	for (i = 0; i < n; i++)
		if (rank[i])
			v[k++] = i;
	costsort(v, k, &by);
	for (i = 0; i < k; i++)
		rank[v[i]] = i;
	free(v);
	return rank;
}

void
costsum_sort(struct costsum *t)
{
	struct sortkey *key = xmalloc(t->nf * sizeof *key);
	struct cost_by by = { .cmp = by_fn, .t = t, .arg = key };
	uint32_t *rank;
	struct costfn f;
	char prefix[9] = "";
	size_t i;

	costsum_commit(t);
	rank = rank_names(t);
	t->order = xmalloc(t->nf * sizeof *t->order);
	for (i = 0; i < t->nf; i++) {
		f = costfn_get(t->nm, t->f[i].fn);
		key[i].ob = rank[f.ob];
		key[i].fl = rank[f.fl];
		key[i].ctx = f.ctx;
		key[i].name = costnames_get(t->nm, f.fn);
		stpncpy(prefix, key[i].name, 8);
		memcpy(&key[i].prefix, prefix, 8);
		key[i].prefix = be64toh(key[i].prefix);
		t->order[i] = i;
	}
	costsort(t->order, t->nf, &by);
	free(rank);
	free(key);
}

static void
get(const struct costsum *t, const struct cost_rows *r, int kind, size_t i,
    struct cost *c)
{
	c->kind = COST_SELF + kind;
	c->fn = t->cur->fn;
	costkey_get(t, r->key + i * t->lay[kind].nkey, c);
}

static int
by_canon(const struct cost_by *by, uint32_t a, uint32_t b)
{
	struct cost x = { .kind = COST_END }, y = { .kind = COST_END };
	int c;

	get(by->t, by->rows, by->kind, a, &x);
	get(by->t, by->rows, by->kind, b, &y);
	c = cmp_where(by->t->nm, &x, &y);
	return c ? c : cmp_here(by->t->nm, &x, &y);
}

/* One list of the current function into rows, with its canonical order. */
static void
load_list(struct costsum *t, int kind)
{
	const struct cost_layout *lay = &t->lay[kind];
	struct cost_rows *r = &t->rows[kind];
	struct cost_by by = { .cmp = by_canon, .t = t, .rows = r,
	    .kind = kind };
	struct cost_run *run = t->cur->run[kind], *next, *both;
	size_t i;

	t->next[kind] = r->n = 0;
	free(t->perm[kind]);
	t->perm[kind] = NULL;
	if (!run)
		return;
	run_unpack(r, run, lay);
	for (; (next = run->next); run = both) {
		both = run_merge(t, next, r, lay);
		both->next = next->next;
		free(run);
		free(next);
		t->cur->run[kind] = both;
		run_unpack(r, both, lay);
	}
	if (t->last) {
		free(run);
		t->cur->run[kind] = NULL;
	}
	/* as they are, if they are all in one file and go nowhere */
	if (kind == SELF &&
	    r->key[0] >> 32 == r->key[(r->n - 1) * lay->nkey] >> 32)
		return;
	t->perm[kind] = xmalloc(r->n * sizeof *t->perm[kind]);
	for (i = 0; i < r->n; i++)
		t->perm[kind][i] = i;
	costsort(t->perm[kind], r->n, &by);
}

static size_t
entry(const struct costsum *t, int kind)
{
	return t->perm[kind] ? t->perm[kind][t->next[kind]] : t->next[kind];
}

/* Of the three lists the one whose next entry comes first, or -1. */
static int
first(const struct costsum *t)
{
	struct cost x = { .kind = COST_END }, y;
	int kind, which = -1;

	if (!t->rows[CALL].n && !t->rows[JUMP].n)
		return t->next[SELF] < t->rows[SELF].n ? SELF : -1;
	for (kind = SELF; kind < NLIST; kind++) {
		if (t->next[kind] == t->rows[kind].n)
			continue;
		get(t, &t->rows[kind], kind, entry(t, kind), &y);
		if (which < 0 || cmp_where(t->nm, &y, &x) < 0) {
			which = kind;
			x = y;
		}
	}
	return which;
}

void
costsum_last(struct costsum *t)
{
	t->last = true;
}

bool
costsum_next(struct costsum *t, struct cost *c)
{
	int kind = -1;
	size_t i;

	for (; t->at < t->nf; t->at++, t->loaded = false) {
		if (!t->loaded) {
			t->cur = &t->f[t->order[t->at]];
			t->own = costfn_get(t->nm, t->cur->fn).fl;
			for (i = 0; i < NLIST; i++)
				load_list(t, i);
			t->loaded = true;
		}
		kind = first(t);
		if (kind >= 0)
			break;
	}
	if (kind < 0) {
		t->at = 0;
		return false;
	}
	i = entry(t, kind);
	t->next[kind]++;
	memset(&c->pos, 0, sizeof c->pos);
	memset(&c->to, 0, sizeof c->to);
	get(t, &t->rows[kind], kind, i, c);
	c->n = t->rows[kind].cnt + i * t->lay[kind].ncnt;
	c->count[0] = c->count[1] = 0;
	if (kind == CALL)
		c->count[0] = *c->n++;
	if (kind == JUMP)
		memcpy(c->count, c->n, sizeof c->count);
	return true;
}
