/*
 * costsum.c - a table of costs
 *
 * Each function has up to three lists: own costs, calls, jumps.  A list is
 * an array of keys (some 64-bit words: where, and where to) and an array of
 * counts.  The first `sorted` entries are in order and distinct; behind them
 * is a tail of newcomers.  Files tell a function's lines mostly in the same
 * order, so the entry wanted next is nearly always the one behind the last,
 * or it belongs behind all.  What is neither is looked up in the sorted part
 * and else joins the tail; a list that is full sorts its tail in before it
 * grows.  So memory follows the number of distinct records, not of files.
 *
 * Words of a key, compared as numbers from the first on:
 *
 *	file<<32 | line   [addr]  [bb]				own cost
 *	  ... callee<<32 | to.line  [to.addr]  [to.bb]		call
 *	  ... tofile<<32 | to.line  [to.addr]  [to.bb]  callee<<1 | cond	jump
 *
 * Files and functions stand there with their numbers until costsum_sort puts
 * in their ranks by name, 0 being the function's own file.
 */
#include "cost.h"

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "util.h"

enum { SELF, CALL, JUMP, NLIST, KEYMAX = 8 };

struct list {
	uint32_t n, cap, sorted;
	uint32_t next;		/* the entry that is likely wanted next */
	uint64_t *key;		/* n * nkey[kind] */
	int64_t *cnt;		/* n * ncnt[kind] */
};

struct fnsum {
	uint32_t fn;
	struct list self;
	struct list *more[2];	/* calls, jumps; or NULL */
};

struct costsum {
	struct costnames *nm;
	unsigned positions;
	size_t nev;
	size_t nkey[NLIST], ncnt[NLIST];
	uint32_t *where;	/* by function: 1 + its place in f, or 0 */
	size_t wherecap;
	struct fnsum *f;
	size_t nf, fcap;
	struct fnsum *cur;
	size_t bytes;
	int64_t total[COST_EVMAX];

	/* after costsum_sort */
	bool is_sorted;
	uint32_t *order;	/* places in f */
	uint32_t *rank, *name;	/* name -> rank, and back */
	uint32_t *fnrank, *fnof;	/* function -> rank, and back */
	size_t at;		/* where costsum_next is: function, entries */
	uint32_t atl[NLIST];
};

static size_t
npos(unsigned positions)
{
	return 1 + !!(positions & COST_INSTR) + !!(positions & COST_BB);
}

static void
lay_out(struct costsum *t, unsigned positions)
{
	size_t n = npos(positions);

	t->positions = positions;
	t->nkey[SELF] = n;
	t->nkey[CALL] = 2 * n;
	t->nkey[JUMP] = 2 * n + 1;
	t->ncnt[SELF] = t->nev;
	t->ncnt[CALL] = t->nev + 1;
	t->ncnt[JUMP] = 2;
}

struct costsum *
costsum_new(struct costnames *nm, unsigned positions, size_t nev)
{
	struct costsum *t = xcalloc(1, sizeof *t);

	t->nm = nm;
	t->nev = nev;
	lay_out(t, positions);
	return t;
}

static uint64_t *
put_where(const struct costsum *t, uint64_t *k, uint32_t id,
    const struct cost_pos *pos)
{
	*k++ = (uint64_t)id << 32 | pos->line;
	if (t->positions & COST_INSTR)
		*k++ = pos->addr;
	if (t->positions & COST_BB)
		*k++ = pos->bb;
	return k;
}

static const uint64_t *
get_where(const struct costsum *t, const uint64_t *k, uint32_t *id,
    struct cost_pos *pos)
{
	memset(pos, 0, sizeof *pos);
	*id = *k >> 32;
	pos->line = *k++;
	if (t->positions & COST_INSTR)
		pos->addr = *k++;
	if (t->positions & COST_BB)
		pos->bb = *k++;
	return k;
}

static void
encode(const struct costsum *t, const struct cost *c, uint64_t *k)
{
	k = put_where(t, k, c->file, &c->pos);
	if (c->kind == COST_CALL) {
		put_where(t, k, c->callee, &c->to);
	} else if (c->kind == COST_JUMP) {
		k = put_where(t, k, c->tofile, &c->to);
		*k = (uint64_t)c->callee << 1 | c->cond;
	}
}

static void
decode(const struct costsum *t, const uint64_t *k, struct cost *c)
{
	k = get_where(t, k, &c->file, &c->pos);
	if (c->kind == COST_CALL) {
		get_where(t, k, &c->callee, &c->to);
	} else if (c->kind == COST_JUMP) {
		k = get_where(t, k, &c->tofile, &c->to);
		c->callee = *k >> 1;
		c->cond = *k & 1;
	}
}

static inline int
key_cmp(const uint64_t *a, const uint64_t *b, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

/*
 * Sort n numbers, stable; what is in order already stays so cheaply: natural
 * runs are found and merged in pairs.
 */
struct by {
	int (*cmp)(const struct by *, uint32_t, uint32_t);
	const struct costsum *t;
	const uint64_t *key;
	size_t nkey;
};

static void
merge_runs(uint32_t *to, const uint32_t *a, const uint32_t *aend,
    const uint32_t *bend, const struct by *by)
{
	const uint32_t *b = aend;

	while (a < aend && b < bend)
		*to++ = by->cmp(by, *a, *b) <= 0 ? *a++ : *b++;
	memcpy(to, a, (aend - a) * sizeof *a);
	memcpy(to + (aend - a), b, (bend - b) * sizeof *b);
}

static void
sort(uint32_t *v, size_t n, const struct by *by)
{
	size_t *run = NULL, cap = 0, nrun = 0, i, k;
	uint32_t *from = v, *to, *spare, *swap;

	for (i = 0; i < n; i++)
		if (i == 0 || by->cmp(by, v[i - 1], v[i]) > 0) {
			run = xgrow(run, &cap, nrun + 2, sizeof *run);
			run[nrun++] = i;
		}
	if (nrun < 2) {
		free(run);
		return;
	}
	run[nrun] = n;
	to = spare = xmalloc(n * sizeof *v);
	while (nrun > 1) {
		for (i = k = 0; i < nrun; i += 2, k++) {
			if (i + 1 < nrun)
				merge_runs(to + run[i], from + run[i],
				    from + run[i + 1], from + run[i + 2], by);
			else
				memcpy(to + run[i], from + run[i],
				    (n - run[i]) * sizeof *v);
			run[k] = run[i];
		}
		run[k] = n;
		nrun = k;
		swap = from, from = to, to = swap;
	}
	if (from != v)
		memcpy(v, from, n * sizeof *v);
	free(spare);
	free(run);
}

static int
by_key(const struct by *by, uint32_t a, uint32_t b)
{
	return key_cmp(by->key + a * by->nkey, by->key + b * by->nkey, by->nkey);
}

static void
add(const struct costsum *t, int64_t *to, const int64_t *n, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (__builtin_add_overflow(to[i], n[i], &to[i]))
			die("a sum is beyond 64 bits, in function %s",
			    costnames_get(t->nm, costfn_get(t->nm, t->cur->fn).fn));
}

static void
resize(struct costsum *t, struct list *l, int kind, uint32_t cap)
{
	size_t entry = t->nkey[kind] * sizeof *l->key + t->ncnt[kind] * sizeof *l->cnt;

	l->key = xrealloc(l->key, cap * t->nkey[kind] * sizeof *l->key);
	l->cnt = xrealloc(l->cnt, cap * t->ncnt[kind] * sizeof *l->cnt);
	t->bytes += ((size_t)cap - l->cap) * entry;
	l->cap = cap;
}

/* Sort the tail in; equal entries become one. */
static void
settle(struct costsum *t, struct list *l, int kind)
{
	size_t nkey = t->nkey[kind], ncnt = t->ncnt[kind], i, n = 0;
	struct by by = { by_key, t, l->key, nkey };
	uint32_t *v;
	struct list to = { .cap = 0 };

	if (l->sorted == l->n)
		return;
	v = xmalloc(l->n * sizeof *v);
	for (i = 0; i < l->n; i++)
		v[i] = i;
	sort(v, l->n, &by);
	to.key = xmalloc(l->cap * nkey * sizeof *to.key);
	to.cnt = xmalloc(l->cap * ncnt * sizeof *to.cnt);
	for (i = 0; i < l->n; i++) {
		const uint64_t *k = l->key + v[i] * nkey;
		const int64_t *c = l->cnt + v[i] * ncnt;

		if (n && !key_cmp(to.key + (n - 1) * nkey, k, nkey)) {
			add(t, to.cnt + (n - 1) * ncnt, c, ncnt);
			continue;
		}
		memcpy(to.key + n * nkey, k, nkey * sizeof *k);
		memcpy(to.cnt + n * ncnt, c, ncnt * sizeof *c);
		n++;
	}
	free(l->key);
	free(l->cnt);
	free(v);
	l->key = to.key;
	l->cnt = to.cnt;
	l->n = l->sorted = n;
	l->next = 0;
}

/* The place of the key in the sorted part, or -1. */
static ssize_t
lookup(const struct list *l, const uint64_t *k, size_t nkey)
{
	size_t lo = 0, hi = l->sorted, mid;
	int c;

	while (lo < hi) {
		mid = (lo + hi) / 2;
		c = key_cmp(l->key + mid * nkey, k, nkey);
		if (c == 0)
			return mid;
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return -1;
}

static void
list_add(struct costsum *t, struct list *l, int kind, const struct cost *c)
{
	size_t nkey = t->nkey[kind], ncnt = t->ncnt[kind];
	const int64_t *n = kind == SELF ? c->n : c->count;
	size_t head = kind == CALL;	/* counts that are not of events */
	uint64_t k[KEYMAX];
	ssize_t i = l->next;
	int64_t *to;

	encode(t, c, k);
	if (i >= l->n || key_cmp(l->key + i * nkey, k, nkey)) {
		bool last = !l->sorted || key_cmp(l->key + (l->sorted - 1) * nkey,
		    k, nkey) < 0;

		i = last ? -1 : lookup(l, k, nkey);
		if (i < 0 && l->n == l->cap) {
			settle(t, l, kind);
			if (l->n >= l->cap / 2)
				resize(t, l, kind, l->cap ? 2 * l->cap : 4);
			list_add(t, l, kind, c);
			return;
		}
		if (i < 0) {
			i = l->n++;
			l->sorted += last && l->sorted == (uint32_t)i;
			memcpy(l->key + i * nkey, k, nkey * sizeof *k);
			memset(l->cnt + i * ncnt, 0, ncnt * sizeof *l->cnt);
		}
	}
	l->next = i + 1;
	to = l->cnt + i * ncnt;
	add(t, to, n, head ? 1 : ncnt);
	if (head)
		add(t, to + 1, c->n, ncnt - 1);
}

static struct fnsum *
find_fn(struct costsum *t, uint32_t fn)
{
	size_t old = t->wherecap;
	struct fnsum *f;

	t->where = xgrow(t->where, &t->wherecap, fn + (size_t)1, sizeof *t->where);
	memset(t->where + old, 0, (t->wherecap - old) * sizeof *t->where);
	if (!t->where[fn]) {
		t->f = xgrow(t->f, &t->fcap, t->nf + 1, sizeof *t->f);
		memset(&t->f[t->nf], 0, sizeof *t->f);
		t->f[t->nf].fn = fn;
		t->where[fn] = ++t->nf;
		t->bytes += sizeof *t->f + 64;	/* with its names, about */
	}
	f = &t->f[t->where[fn] - 1];
	f->self.next = 0;
	if (f->more[0])
		f->more[0]->next = 0;
	if (f->more[1])
		f->more[1]->next = 0;
	return f;
}

void
costsum_put(struct costsum *t, const struct cost *c)
{
	int kind = c->kind - COST_SELF;
	struct fnsum *f = t->cur;

	if (!f || f->fn != c->fn)
		f = t->cur = find_fn(t, c->fn);
	if (kind == SELF) {
		list_add(t, &f->self, SELF, c);
		add(t, t->total, c->n, t->nev);
		return;
	}
	if (!f->more[kind - 1]) {
		f->more[kind - 1] = xcalloc(1, sizeof *f->more[0]);
		t->bytes += sizeof *f->more[0];
	}
	list_add(t, f->more[kind - 1], kind, c);
}

static struct list *
list_of(struct fnsum *f, int kind)
{
	return kind == SELF ? &f->self : f->more[kind - 1];
}

/* Wider keys: more positions than the table had. */
void
costsum_positions(struct costsum *t, unsigned more)
{
	struct costsum old = *t;
	struct cost c = { .kind = COST_SELF };
	struct list *l;
	uint64_t *key;
	size_t i, j;
	int kind;

	if ((t->positions | more) == t->positions)
		return;
	lay_out(t, t->positions | more);
	for (i = 0; i < t->nf * NLIST; i++) {
		kind = i % NLIST;
		l = list_of(&t->f[i / NLIST], kind);
		if (!l || !l->cap)
			continue;
		c.kind = COST_SELF + kind;
		key = xmalloc(l->cap * t->nkey[kind] * sizeof *key);
		for (j = 0; j < l->n; j++) {
			decode(&old, l->key + j * old.nkey[kind], &c);
			encode(t, &c, key + j * t->nkey[kind]);
		}
		free(l->key);
		l->key = key;
		t->bytes += l->cap * (t->nkey[kind] - old.nkey[kind]) * sizeof *key;
	}
}

const int64_t *
costsum_total(const struct costsum *t)
{
	return t->total;
}

size_t
costsum_bytes(const struct costsum *t)
{
	return t->bytes;
}

void
costsum_free(struct costsum *t)
{
	size_t i;
	struct list *l;

	for (i = 0; i < t->nf * NLIST; i++) {
		l = list_of(&t->f[i / NLIST], i % NLIST);
		if (!l)
			continue;
		free(l->key);
		free(l->cnt);
		if (i % NLIST)
			free(l);
	}
	free(t->where);
	free(t->f);
	free(t->order);
	free(t->rank);
	free(t->name);
	free(t->fnrank);
	free(t->fnof);
	free(t);
}

/* The canonical order. */

static int
by_name(const struct by *by, uint32_t a, uint32_t b)
{
	return strcmp(costnames_get(by->t->nm, a), costnames_get(by->t->nm, b));
}

static int
by_fn(const struct by *by, uint32_t a, uint32_t b)
{
	struct costnames *nm = by->t->nm;
	const uint32_t *rank = by->t->rank;
	struct costfn f = costfn_get(nm, a), g = costfn_get(nm, b);

	if (f.ob != g.ob)
		return rank[f.ob] < rank[g.ob] ? -1 : 1;
	if (f.fl != g.fl)
		return rank[f.fl] < rank[g.fl] ? -1 : 1;
	return strcmp(costnames_get(nm, f.fn), costnames_get(nm, g.fn));
}

/* Mark the names of objects and files, and the functions, that occur. */
static void
mark(struct costsum *t)
{
	struct cost c;
	struct list *l;
	size_t i, j;

	for (i = 0; i < t->nf * NLIST; i++) {
		t->fnrank[t->f[i / NLIST].fn] = 1;
		l = list_of(&t->f[i / NLIST], i % NLIST);
		c.kind = COST_SELF + i % NLIST;
		for (j = 0; l && j < l->n; j++) {
			decode(t, l->key + j * t->nkey[i % NLIST], &c);
			t->rank[c.file] = 1;
			if (c.kind != COST_SELF)
				t->fnrank[c.callee] = 1;
			if (c.kind == COST_JUMP)
				t->rank[c.tofile] = 1;
		}
	}
	for (i = 0; i < costfn_count(t->nm); i++)
		if (t->fnrank[i]) {
			t->rank[costfn_get(t->nm, i).ob] = 1;
			t->rank[costfn_get(t->nm, i).fl] = 1;
		}
}

/* Of the marked, from the first rank on: what has which rank, and back. */
static uint32_t *
rank(struct costsum *t, uint32_t *rank, size_t n, uint32_t first,
    int (*cmp)(const struct by *, uint32_t, uint32_t))
{
	struct by by = { .cmp = cmp, .t = t };
	uint32_t *v = xmalloc((n + first) * sizeof *v);
	size_t i, k = 0;

	memset(v, 0, first * sizeof *v);
	for (i = 0; i < n; i++)
		if (rank[i])
			v[first + k++] = i;
	sort(v + first, k, &by);
	for (i = first; i < first + k; i++)
		rank[v[i]] = i;
	return v;
}

static void
rank_keys(struct costsum *t, const struct fnsum *f, struct list *l, int kind)
{
	uint32_t own = costfn_get(t->nm, f->fn).fl;
	size_t nkey = t->nkey[kind], j;
	struct cost c = { .kind = COST_SELF + kind };
	uint64_t *k;

	settle(t, l, kind);
	for (j = 0; j < l->n; j++) {
		k = l->key + j * nkey;
		decode(t, k, &c);
		c.file = c.file == own ? 0 : t->rank[c.file];
		if (kind != SELF)
			c.callee = t->fnrank[c.callee];
		if (kind == JUMP)
			c.tofile = c.tofile == own ? 0 : t->rank[c.tofile];
		encode(t, &c, k);
	}
	for (j = 1; j < l->n; j++)
		if (key_cmp(l->key + (j - 1) * nkey, l->key + j * nkey, nkey) > 0)
			break;
	l->sorted = j < l->n ? j : l->n;
	settle(t, l, kind);
}

void
costsum_sort(struct costsum *t)
{
	size_t nname = costnames_count(t->nm), nfn = costfn_count(t->nm), i, k = 0;
	struct list *l;

	t->rank = xcalloc(nname, sizeof *t->rank);
	t->fnrank = xcalloc(nfn, sizeof *t->fnrank);
	mark(t);
	t->name = rank(t, t->rank, nname, 1, by_name);
	t->fnof = rank(t, t->fnrank, nfn, 0, by_fn);
	for (i = 0; i < t->nf * NLIST; i++) {
		t->cur = &t->f[i / NLIST];
		l = list_of(t->cur, i % NLIST);
		if (l)
			rank_keys(t, t->cur, l, i % NLIST);
	}
	t->order = xmalloc(t->nf * sizeof *t->order);
	for (i = 0; k < t->nf; i++)
		if (t->fnof[i] < t->wherecap && t->where[t->fnof[i]])
			t->order[k++] = t->where[t->fnof[i]] - 1;
	t->is_sorted = true;
}

/* Of the three lists the one whose next entry comes first, or -1. */
static int
first(const struct costsum *t, struct fnsum *f)
{
	size_t n = npos(t->positions);
	const uint64_t *k, *best = NULL;
	struct list *l;
	int kind, which = -1;

	for (kind = SELF; kind < NLIST; kind++) {
		l = list_of(f, kind);
		if (!l || t->atl[kind] == l->n)
			continue;
		k = l->key + t->atl[kind] * t->nkey[kind];
		if (!best || key_cmp(k, best, n) < 0) {
			best = k;
			which = kind;
		}
	}
	return which;
}

bool
costsum_next(struct costsum *t, struct cost *c)
{
	struct fnsum *f;
	struct list *l;
	uint32_t own, i;
	int kind = -1;

	for (; t->at < t->nf; t->at++) {
		f = &t->f[t->order[t->at]];
		kind = first(t, f);
		if (kind >= 0)
			break;
		memset(t->atl, 0, sizeof t->atl);
	}
	if (kind < 0) {
		t->at = 0;
		return false;
	}
	l = list_of(f, kind);
	i = t->atl[kind]++;
	own = costfn_get(t->nm, f->fn).fl;
	memset(c, 0, sizeof *c);
	c->kind = COST_SELF + kind;
	c->fn = f->fn;
	decode(t, l->key + i * t->nkey[kind], c);
	c->file = c->file ? t->name[c->file] : own;
	c->n = l->cnt + i * t->ncnt[kind];
	if (kind == CALL)
		c->count[0] = *c->n++;
	if (kind == JUMP) {
		c->tofile = c->tofile ? t->name[c->tofile] : own;
		c->count[0] = c->n[0];
		c->count[1] = c->n[1];
	}
	if (kind != SELF)
		c->callee = t->fnof[c->callee];
	return true;
}

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
	return c ? c : cmp_name(nm, f.fn, g.fn);
}

static int
cmp_where(const struct costnames *nm, uint32_t own, const struct cost_pos *p,
    uint32_t f, const struct cost_pos *q, uint32_t g)
{
	if (f != g) {
		if (f == own || g == own)
			return f == own ? -1 : 1;
		return cmp_name(nm, f, g);
	}
	if (p->line != q->line)
		return p->line < q->line ? -1 : 1;
	if (p->addr != q->addr)
		return p->addr < q->addr ? -1 : 1;
	return p->bb == q->bb ? 0 : p->bb < q->bb ? -1 : 1;
}

int
cost_cmp(const struct costnames *nm, const struct cost *a, const struct cost *b)
{
	uint32_t own = costfn_get(nm, a->fn).fl;
	int c = cmp_fn(nm, a->fn, b->fn);

	if (!c)
		c = cmp_where(nm, own, &a->pos, a->file, &b->pos, b->file);
	if (!c)
		c = (int)a->kind - (int)b->kind;
	if (c || a->kind == COST_SELF)
		return c;
	if (a->kind == COST_CALL) {
		c = cmp_fn(nm, a->callee, b->callee);
		return c ? c : cmp_where(nm, own, &a->to, own, &b->to, own);
	}
	c = cmp_where(nm, own, &a->to, a->tofile, &b->to, b->tofile);
	if (!c)
		c = cmp_fn(nm, a->callee, b->callee);
	return c ? c : (int)a->cond - (int)b->cond;
}
