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

/* ---- places in memory ---- */

/* More of them hardly fit into memory, nor is a vector of them of use. */
#define MOSTPLACES ((uint32_t)1 << 26)

/* A place is touched n times. */
static void
touch(struct thread *t, uint64_t addr, uint64_t n)
{
	khiter_t k;
	size_t old = t->linecap;
	int new;

	k = kh_put(place, places, addr >> opt.mav_shift, &new);
	if (new < 0)
		die("memory:");
	if (new) {
		if (nplace == MOSTPLACES)
			die("--mav: more than %u places; a larger --mav-size "
			    "makes fewer", MOSTPLACES);
		kh_value(places, k) = nplace++;
	}
	if (kh_value(places, k) >= old) {
		t->lines = xgrow(t->lines, &t->linecap, nplace,
		    sizeof *t->lines);
		memset(t->lines + old, 0, (t->linecap - old) *
		    sizeof *t->lines);
	}
	t->lines[kh_value(places, k)] += n;
}

/* For how many steps, of so many bytes, does an address stay in its place? */
static uint64_t
stays(uint64_t addr, uint64_t by)
{
	uint64_t mask = ((uint64_t)1 << opt.mav_shift) - 1;

	if (by == 0)
		return UINT64_MAX;
	return (int64_t)by < 0 ? (addr & mask) / -by :
	    (~addr & mask) / by;
}

/* Where a reference is, if it happens. */
static int
place_of(const struct ev_block *b, const struct ev_ref *r, uint64_t *addr)
{
	*addr = r->at;
	if (r->where != EV_GROUP)
		return 1;
	*addr += b->value[r->group];
	return b->value[r->group] != 0;
}

/*
 * Neighbours from r on, before end, which take turns because they share a
 * count: rounds in which all stay in their places are taken at once. Returns
 * the next one.
 */
static const struct ev_ref *
in_turns(struct thread *t, const struct ev_block *b, const struct ev_ref *r,
    const struct ev_ref *end, uint64_t times)
{
	int64_t count = (int64_t)b->value[r->count - 1];
	uint64_t n = count < 0 ? -(uint64_t)count : (uint64_t)count;
	const struct ev_ref *last = r + 1;
	uint64_t addr, by, stay;

	while (last < end && last->count == r->count)
		last++;
	for (uint64_t round = 0; round < n; round += stay) {
		stay = n - round;
		for (const struct ev_ref *k = r; k < last; k++) {
			by = count < 0 ? -(uint64_t)k->size : k->size;
			if (place_of(b, k, &addr) &&
			    stays(addr + round * by, by) < stay)
				stay = stays(addr + round * by, by) + 1;
		}
		if (stay > n - round)
			stay = n - round;
		for (const struct ev_ref *k = r; k < last; k++) {
			by = count < 0 ? -(uint64_t)k->size : k->size;
			if (place_of(b, k, &addr))
				touch(t, addr + round * by, stay * times);
		}
	}
	return last;
}

/* The places that an execution touches, each so many times. */
static void
touches(struct thread *t, const struct ev_def *d, uint64_t times)
{
	const struct ev_block *b = d->block;
	const struct ev_ref *r, *end;
	uint64_t addr;

	if (places == NULL)
		places = kh_init(place);
	for (uint32_t i = 0; i < d->n; i++) {
		r = &b->ref[b->insn[i].ref];
		for (end = r + b->insn[i].nref; r < end; ) {
			if (r->count != 0) {
				r = in_turns(t, b, r, end, times);
				continue;
			}
			if (place_of(b, r, &addr))
				touch(t, addr, times);
			r++;
		}
	}
}

/* After fewer steps, of so many bytes, a value is not 0. */
static uint64_t
steps_to_0(uint64_t value, uint64_t by)
{
	return (int64_t)by < 0 ? value / -by : -value / by;
}

/* Of n rounds behind this one: those with all addresses in their places. */
static uint64_t
same_places(const struct ev_def *d, const uint64_t *diff, uint64_t n)
{
	const struct ev_block *b = d->block;
	const struct ev_ref *end;
	uint64_t addr, by;

	end = &b->ref[b->insn[d->n - 1].ref] + b->insn[d->n - 1].nref;
	for (const struct ev_ref *r = b->ref; r < end && n > 0; r++) {
		by = r->where == EV_GROUP ? diff[r->group] : 0;
		if (r->count != 0 && (by != 0 || diff[r->count - 1] != 0))
			return 0;
		/* one that does not happen, or might not */
		if (by != 0 && (!place_of(b, r, &addr) ||
		    steps_to_0(b->value[r->group], by) <= n))
			return 0;
		place_of(b, r, &addr);
		if (stays(addr, by) < n)
			n = stays(addr, by);
	}
	return n;
}

/* Rounds that touch the same places: 1 to n. They are touched so often. */
static uint64_t
touch_rounds(struct thread *t, const struct ev_def *d, const uint64_t *diff,
    uint64_t n)
{
	ev_apply(d, diff);
	n = 1 + same_places(d, diff, n - 1);
	touches(t, d, n);
	for (unsigned i = 0; i < d->ngroups; i++)
		d->block->value[i] += diff[i] * (n - 1);
	return n;
}

/* ---- executions ---- */

/* Of n rounds, those that end well before the interval does. */
static uint64_t
before_end(const struct thread *t, const struct unit *u, uint64_t n)
{
	uint64_t fit;

	if (!rows_wanted(t))
		return n;
	if (!t->marked || t->ninsn >= opt.interval)
		return 0;
	if (n * u->ninsn < opt.interval - t->ninsn)
		return n;
	fit = (opt.interval - t->ninsn - 1) / u->ninsn;
	return fit < n ? fit : n;
}

static void
rounds(const struct evr *r, const uint64_t *p, struct thread *t)
{
	uint32_t id = ev_id(*p);
	struct unit *u = &units[id];
	uint64_t n = 1 + ev_more(p), k, fit;

	for (; n > 0; n -= k) {
		fit = before_end(t, u, n);
		k = fit == 0 ? 1 : fit;
		if (opt.mav_out != NULL && rows_wanted(t))
			k = touch_rounds(t, ev_def(r, id), p + 1, k);
		if (fit == 0) {
			count_settle(t);
			slowly(t, u);
			continue;
		}
		run(id, k);
		t->ninsn += k * u->ninsn;
		t->total += k * u->ninsn;
	}
}

void
count_execs(const struct evr *r, const struct ev *e, struct thread *t)
{
	const uint64_t *p;
	struct unit *u;

	for (p = e->rec; p < e->end; p = ev_skip(p)) {
		u = &units[ev_id(*p)];
		if (!u->known)
			blocks_first(u);
		rounds(r, p, t);
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
