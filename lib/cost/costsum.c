/*
 * costsum - a table of costs
 *
 * Each function has three lists: own costs, calls, jumps.  An entry is a key
 * (some 64-bit words: where, and where to; see costkey.c) and counts.  Entries
 * of the current function are collected unpacked.  When another function
 * begins, they are sorted, equal ones are added up, and they are packed as a
 * run of the function's list (costrun.c).  A run that is not much shorter than
 * the one before is merged with it, so that each entry is moved a logarithmic
 * number of times, in whatever order entries come.  A file that has a function
 * in one piece, as all do, makes one run of it.  So memory grows with the
 * number of different entries, not of files, by some bytes for each.
 */
#include "cost.h"

#include <stdlib.h>
#include <string.h>

#include "costsum.h"
#include "mem.h"

enum { ROWS = 1 << 16 };	/* entries to gather before they are packed */

static void
lay_out(struct costsum *t, unsigned positions)
{
	size_t n = 1 + !!(positions & COST_INSTR) + !!(positions & COST_BB);

	t->positions = positions;
	t->lay[SELF] = (struct cost_layout){ n, t->nev };
	t->lay[CALL] = (struct cost_layout){ 2 * n, t->nev + 1 };
	t->lay[JUMP] = (struct cost_layout){ 2 * n + 1, 2 };
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

static int
by_key(const struct cost_by *by, uint32_t a, uint32_t b)
{
	size_t n = by->t->lay[by->kind].nkey;

	return costkey_cmp(by->rows->key + a * n, by->rows->key + b * n, n);
}

/* Sort the rows and add up equal ones. */
static void
settle(struct costsum *t, struct cost_rows *r, int kind)
{
	const struct cost_layout *lay = &t->lay[kind];
	struct cost_by by = { by_key, t, r, kind, NULL };
	struct cost_rows to = { .n = 0 };
	uint32_t *v = xmalloc(r->n * sizeof *v);
	const uint64_t *k;
	const int64_t *n;
	size_t i;

	for (i = 0; i < r->n; i++)
		v[i] = i;
	costsort(v, r->n, &by);
	rows_room(&to, r->n, lay);
	for (i = 0; i < r->n; i++) {
		k = r->key + v[i] * lay->nkey;
		n = r->cnt + v[i] * lay->ncnt;
		if (to.n && !costkey_cmp(to.key + (to.n - 1) * lay->nkey, k,
		    lay->nkey)) {
			costsum_add(t, to.cnt + (to.n - 1) * lay->ncnt, n,
			    lay->ncnt);
			continue;
		}
		memcpy(to.key + to.n * lay->nkey, k, lay->nkey * sizeof *k);
		memcpy(to.cnt + to.n++ * lay->ncnt, n, lay->ncnt * sizeof *n);
	}
	free(v);
	free(r->key);
	free(r->cnt);
	*r = to;
}

/*
 * Pack the collected rows into the function's list: merge them with the newest
 * run, if that is not much longer, and so on with the runs before.
 */
static void
commit(struct costsum *t, struct cost_rows *r, int kind)
{
	const struct cost_layout *lay = &t->lay[kind];
	struct cost_run **head = &t->cur->run[kind], *old = *head, *run = NULL;

	if (!r->sorted)
		settle(t, r, kind);
	while (old && r->n >= old->n / 2) {
		if (run)
			run_unpack(r, run, lay);
		free(run);
		run = run_merge(t, old, r, lay);
		*head = old->next;
		free(old);
		r->n = run->n;
		old = *head;
	}
	if (!run)
		run = run_pack(r, lay);
	run->next = *head;
	*head = run;
	r->n = 0;
}

void
costsum_commit(struct costsum *t)
{
	int kind;

	for (kind = SELF; kind < NLIST; kind++)
		if (t->rows[kind].n)
			commit(t, &t->rows[kind], kind);
}

static struct fnsum *
find_fn(struct costsum *t, uint32_t fn)
{
	t->where = xgrow0(t->where, &t->capwhere, fn + (size_t)1,
	    sizeof *t->where);
	if (!t->where[fn]) {
		t->f = xgrow(t->f, &t->capf, t->nf + 1, sizeof *t->f);
		memset(&t->f[t->nf], 0, sizeof *t->f);
		t->f[t->nf].fn = fn;
		t->where[fn] = ++t->nf;
	}
	return &t->f[t->where[fn] - 1];
}

void
costsum_put(struct costsum *t, const struct cost *c)
{
	int kind = c->kind - COST_SELF;
	const struct cost_layout *lay = &t->lay[kind];
	struct cost_rows *r = &t->rows[kind];
	size_t head = kind == CALL;	/* counts that are not of events */
	uint64_t *k;
	int64_t *n;
	int order = 1;

	if (!t->cur || t->cur->fn != c->fn || r->n == ROWS) {
		costsum_commit(t);
		t->cur = find_fn(t, c->fn);
		t->own = costfn_get(t->nm, c->fn).fl;
		t->summed = false;
	}
	rows_room(r, r->n + 1, lay);
	k = r->key + r->n * lay->nkey;
	costkey_put(t, c, k);
	if (r->n)
		order = costkey_cmp(k, k - lay->nkey, lay->nkey);
	r->sorted = (r->sorted || !r->n) && order >= 0;
	n = r->cnt + (r->n - !order) * lay->ncnt;
	if (order) {
		memcpy(n, kind == SELF ? c->n : c->count,
		    (head ? 1 : lay->ncnt) * sizeof *n);
		if (head)
			memcpy(n + 1, c->n, t->nev * sizeof *n);
		r->n++;
	} else {
		costsum_add(t, n, kind == SELF ? c->n : c->count,
		    head ? 1 : lay->ncnt);
		if (head)
			costsum_add(t, n + 1, c->n, t->nev);
	}
}

/* A table before its keys became wider; rows of a run before and after that. */
struct widening {
	struct costsum old;
	struct cost_rows from, to;
};

/* Pack a run anew, with the keys that the table has now; frees the old one. */
static struct cost_run *
widen_run(struct costsum *t, struct widening *w, struct cost_run *run,
    struct cost *c)
{
	unsigned kind = c->kind - COST_SELF;
	const struct cost_layout *was = &w->old.lay[kind], *lay = &t->lay[kind];
	struct cost_run *new;

	run_unpack(&w->from, run, was);
	rows_room(&w->to, w->from.n, lay);
	memcpy(w->to.cnt, w->from.cnt,
	    w->from.n * lay->ncnt * sizeof *w->to.cnt);
	for (size_t i = 0; i < w->from.n; i++) {
		costkey_get(&w->old, w->from.key + i * was->nkey, c);
		costkey_put(t, c, w->to.key + i * lay->nkey);
	}
	w->to.n = w->from.n;
	new = run_pack(&w->to, lay);
	new->next = run->next;
	free(run);
	return new;
}

void
costsum_positions(struct costsum *t, unsigned more)
{
	struct widening w = { .from = { .n = 0 } };
	struct cost c = { .kind = COST_SELF };
	struct cost_run **run;

	if ((t->positions | more) == t->positions)
		return;
	costsum_commit(t);
	t->cur = NULL;
	w.old = *t;
	lay_out(t, t->positions | more);
	for (size_t i = 0; i < t->nf * NLIST; i++) {
		c.fn = t->f[i / NLIST].fn;
		t->own = w.old.own = costfn_get(t->nm, c.fn).fl;
		c.kind = COST_SELF + i % NLIST;
		for (run = &t->f[i / NLIST].run[i % NLIST]; *run;
		     run = &(*run)->next)
			*run = widen_run(t, &w, *run, &c);
	}
	free(w.from.key);
	free(w.from.cnt);
	free(w.to.key);
	free(w.to.cnt);
}

const int64_t *
costsum_total(struct costsum *t)
{
	struct cost_rows r = { .n = 0 };
	struct cost_run *run;
	size_t i, j;

	if (!t->order)
		costsum_commit(t);
	for (i = 0; !t->summed && i < t->nf; i++)
		for (run = t->f[i].run[SELF]; run; run = run->next) {
			run_unpack(&r, run, &t->lay[SELF]);
			for (j = 0; j < r.n; j++)
				costsum_add(t, t->total, r.cnt + j * t->nev,
				    t->nev);
		}
	t->summed = true;
	free(r.key);
	free(r.cnt);
	return t->total;
}

void
costsum_free(struct costsum *t)
{
	struct cost_run *run, *next;
	size_t i;

	for (i = 0; i < t->nf * NLIST; i++)
		for (run = t->f[i / NLIST].run[i % NLIST]; run; run = next) {
			next = run->next;
			free(run);
		}
	for (i = 0; i < NLIST; i++) {
		free(t->rows[i].key);
		free(t->rows[i].cnt);
		free(t->perm[i]);
	}
	for (i = 0; i < 2; i++) {
		free(t->spare[i].key);
		free(t->spare[i].cnt);
	}
	free(t->where);
	free(t->f);
	free(t->order);
	free(t);
}
