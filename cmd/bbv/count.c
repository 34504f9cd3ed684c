/*
 * count - executions to vectors
 *
 * Far from an interval's end an execution is one addition to its unit; only
 * near it, and at a thread's turn, units are settled into blocks. Rules of
 * where an interval ends:
 *
 *	plain, pinpoints	behind the basic block that fills it; what was
 *				too much is taken off the next one
 *	exp-bbv			behind the instruction that goes beyond it, which
 *				the row still has; the next one has that one less
 */
#include "bbv.h"

#include <stdlib.h>
#include <string.h>

#include <htslib/khash.h>

#include "util.h"

KHASH_MAP_INIT_INT64(place, uint32_t)

static uint64_t *runs;		/* by unit, not settled yet */
static size_t runcap;
static uint32_t *touched;	/* units with runs */
static size_t touchcap, ntouched;
static khash_t(place) *places;	/* memory: address >> shift -> number */
static uint32_t nplace;

static void
room(struct thread *t)
{
	size_t old = t->cap;

	if (t->cap >= nbb)
		return;
	t->n = xgrow(t->n, &t->cap, nbb, sizeof *t->n);
	memset(t->n + old, 0, (t->cap - old) * sizeof *t->n);
}

static void
run(uint32_t id, uint64_t n)
{
	size_t old = runcap;

	if (id >= runcap) {
		runs = xgrow(runs, &runcap, (size_t)id + 1, sizeof *runs);
		memset(runs + old, 0, (runcap - old) * sizeof *runs);
	}
	if (runs[id] == 0) {
		touched = xgrow(touched, &touchcap, ntouched + 1,
		    sizeof *touched);
		touched[ntouched++] = id;
	}
	runs[id] += n;
}

void
count_settle(struct thread *t)
{
	const struct unit *u;
	const struct piece *p;
	size_t i;
	uint32_t k;

	room(t);
	for (i = 0; i < ntouched; i++) {
		u = &units[touched[i]];
		for (k = 0; k < u->npiece; k++) {
			p = &pieces[u->piece + k];
			t->n[p->bb] += p->ninsn * runs[touched[i]];
			bbs[p->bb].runs += runs[touched[i]];
		}
		runs[touched[i]] = 0;
	}
	ntouched = 0;
}

void
count_row(struct thread *t, uint64_t rest)
{
	rows_write(t);
	t->marked = 0;
	t->nrow++;
	t->ninsn = rest;
	if (t->cap != 0)
		memset(t->n, 0, t->cap * sizeof *t->n);
	if (t->linecap != 0)
		memset(t->lines, 0, t->linecap * sizeof *t->lines);
}

/* One basic block of an execution, near an interval's end. */
static void
step(struct thread *t, const struct piece *p)
{
	uint64_t n = p->ninsn, part;

	room(t);
	if (!t->marked)
		rows_mark(t, p->bb);
	t->marked = 1;
	bbs[p->bb].runs++;
	t->total += n;
	while (opt.format == FORMAT_EXP && t->ninsn + n > opt.interval) {
		part = opt.interval + 1 - t->ninsn;
		t->n[p->bb] += part;
		n -= part;
		count_row(t, 1);
	}
	t->n[p->bb] += n;
	t->ninsn += n;
	if (opt.format != FORMAT_EXP && t->ninsn >= opt.interval)
		count_row(t, t->ninsn - opt.interval);
}

static void
slowly(struct thread *t, const struct unit *u)
{
	uint32_t k;

	for (k = 0; k < u->npiece; k++)
		step(t, &pieces[u->piece + k]);
}

/* The places in memory that an execution touches. */
static void
touch(struct thread *t, const struct ev_def *d)
{
	struct ev_walk w;
	khiter_t k;
	size_t old = t->linecap;
	int new;

	if (places == NULL)
		places = kh_init(place);
	ev_walk(&w, d);
	while (ev_step(&w)) {
		if (w.kind == 'i')
			continue;
		k = kh_put(place, places, w.addr >> opt.mav_shift, &new);
		if (new < 0)
			die("memory:");
		if (new)
			kh_value(places, k) = nplace++;
		if (kh_value(places, k) >= t->linecap) {
			t->lines = xgrow(t->lines, &t->linecap, nplace,
			    sizeof *t->lines);
			memset(t->lines + old, 0, (t->linecap - old) *
			    sizeof *t->lines);
			old = t->linecap;
		}
		t->lines[kh_value(places, k)]++;
	}
}

/* n rounds that end well before the interval does: 1, they are counted. */
static int
quickly(struct thread *t, const struct unit *u, uint32_t id, uint64_t n)
{
	uint64_t all = n * u->ninsn;

	if (!t->marked || all / u->ninsn != n ||
	    all >= opt.interval || t->ninsn >= opt.interval - all)
		return 0;
	run(id, n);
	t->ninsn += all;
	t->total += all;
	return 1;
}

void
count_execs(const struct evr *r, const struct ev *e, struct thread *t)
{
	const uint64_t *p;
	struct unit *u;
	uint64_t n;
	uint32_t id;

	for (p = e->rec; p < e->end; p = ev_skip(p)) {
		id = ev_id(*p);
		u = &units[id];
		n = 1 + ev_more(p);
		if (!u->known)
			blocks_first(u);
		if (opt.mav_out != NULL)
			for (uint64_t k = 0; k < n; k++) {
				ev_apply(ev_def(r, id), p + 1);
				touch(t, ev_def(r, id));
			}
		if (opt.mav_out == NULL && quickly(t, u, id, n))
			continue;
		for (count_settle(t); n > 0; n--)
			slowly(t, u);
	}
}

void
count_counts(const struct ev *e, struct thread *t)
{
	const uint64_t *p;
	uint64_t n;
	uint32_t id;

	for (p = e->rec; p < e->end; p = ev_skip(p)) {
		id = ev_id(*p);
		n = 1 + ev_more(p);
		if (!units[id].known)
			blocks_first(&units[id]);
		run(id, n);
		t->ninsn += n * units[id].ninsn;
		t->total += n * units[id].ninsn;
	}
}

void
count_tail(struct thread *t)
{
	count_settle(t);
	if (t->ninsn != 0 && (opt.keep_tail ||
	    (t->nrow == 0 && opt.format != FORMAT_EXP)))
		count_row(t, 0);
}

void
count_end(struct thread *t)
{
	count_tail(t);
	free(t->n);
	free(t->lines);
	t->n = t->lines = NULL;
	t->cap = t->linecap = 0;
	t->ninsn = 0;
}
