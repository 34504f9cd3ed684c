/*
 * count - add up executions into vectors
 *
 * Far from an interval's end, an execution is one addition to the runs of its
 * unit (an id of the stream).  Only near the end, and when another thread takes
 * its turn, units are settled: their runs are added to basic blocks.  An
 * interval ends
 *
 *	plain, pinpoints	behind the basic block that fills it; the
 *				excess counts for the next interval, which is
 *				shorter by it
 *	exp-bbv			behind the first instruction beyond it, which
 *				still counts in its row; the next interval is
 *				shorter by one (see exact.c)
 */
#include "bbv.h"

#include <stdlib.h>

#include <htslib/khash.h>

#include "mem.h"
#include "prog.h"

KHASH_MAP_INIT_INT64(region, uint32_t)

static uint64_t *runs;		/* by unit, not settled yet */
static size_t caprun;
static uint32_t *pending;	/* units with runs */
static size_t cappending, npending;
static khash_t(region) *regions;	/* address >> mav_shift -> number */
static uint32_t nregion;

static void
add_runs(uint32_t id, uint64_t n)
{
	if (id >= caprun)
		runs = xgrow0(runs, &caprun, (size_t)id + 1, sizeof *runs);
	if (runs[id] == 0) {
		pending = xgrow(pending, &cappending, npending + 1,
		    sizeof *pending);
		pending[npending++] = id;
	}
	runs[id] += n;
}

void
count_settle(struct bbv_thread *t)
{
	const struct block_parts *u;
	const struct bb_part *p;
	size_t i;
	uint32_t k;

	vector_room(t);
	for (i = 0; i < npending; i++) {
		u = &units[pending[i]];
		for (k = 0; k < u->npart; k++) {
			p = &parts[u->part + k];
			t->n[p->bb] += p->ninsn * runs[pending[i]];
			bbs[p->bb].runs += runs[pending[i]];
		}
		runs[pending[i]] = 0;
	}
	npending = 0;
}

/* Count one basic block of an execution near an interval's end. */
static void
count_part(struct bbv_thread *t, const struct bb_part *p)
{
	uint64_t n = p->ninsn, part;

	vector_room(t);
	if (!t->marked)
		rows_mark(t, p->bb);
	t->marked = true;
	bbs[p->bb].runs++;
	t->total += n;
	while (opt.format == FORMAT_EXP && t->ninsn + n > opt.interval) {
		part = opt.interval + 1 - t->ninsn;
		t->n[p->bb] += part;
		n -= part;
		vector_row(t, 1);
	}
	t->n[p->bb] += n;
	t->ninsn += n;
	if (opt.format != FORMAT_EXP && t->ninsn >= opt.interval)
		vector_row(t, t->ninsn - opt.interval);
}

static void
count_parts(struct bbv_thread *t, const struct block_parts *u)
{
	uint32_t k;

	for (k = 0; k < u->npart; k++)
		count_part(t, &parts[u->part + k]);
}

/* ---- memory regions (--mav) ---- */

/* More regions hardly fit into memory, and a vector of them is of no use. */
#define MOSTREGIONS ((uint32_t)1 << 24)

static bool crowded;		/* there are more */

/* Count n touches of the region of an address. */
static void
touch(struct bbv_thread *t, uint64_t addr, uint64_t n)
{
	khiter_t k;
	int new;

	k = kh_put(region, regions, addr >> opt.mav_shift, &new);
	if (new < 0)
		die("memory:");
	if (new) {
		if (nregion == MOSTREGIONS) {
			kh_del(region, regions, k);
			crowded = true;
			return;
		}
		kh_value(regions, k) = nregion++;
	}
	if (kh_value(regions, k) >= t->captouches)
		t->touches = xgrow0(t->touches, &t->captouches, nregion,
		    sizeof *t->touches);
	t->touches[kh_value(regions, k)] += n;
}

/* How many steps of `by' bytes leave an address in its region? */
static uint64_t
steps_inside(uint64_t addr, uint64_t by)
{
	uint64_t mask = ((uint64_t)1 << opt.mav_shift) - 1;

	if (by == 0)
		return UINT64_MAX;
	return (int64_t)by < 0 ? (addr & mask) / -by :
	    (~addr & mask) / by;
}

/* Set the address of a reference; false: the reference does not happen. */
static bool
address_of(const struct ev_block *b, const struct ev_ref *r, uint64_t *addr)
{
	*addr = r->at;
	if (r->where != EV_GROUP)
		return true;
	*addr += b->value[r->group];
	return b->value[r->group] != 0;
}

/*
 * Touch the references from r on that share a count: they take turns, round by
 * round, as a repeated string instruction does.  Rounds in which all stay in
 * their regions are counted at once.  Returns the reference behind them.
 */
static const struct ev_ref *
touch_repeated(struct bbv_thread *t, const struct ev_block *b,
    const struct ev_ref *r, const struct ev_ref *end, uint64_t times)
{
	int64_t count = (int64_t)b->value[r->count - 1];
	uint64_t n = count < 0 ? -(uint64_t)count : (uint64_t)count;
	const struct ev_ref *last = r + 1;
	uint64_t addr, by, stay;

	while (last < end && last->count == r->count)
		last++;
	for (uint64_t round = 0; round < n && !crowded; round += stay) {
		stay = n - round;
		for (const struct ev_ref *k = r; k < last; k++) {
			by = count < 0 ? -(uint64_t)k->size : k->size;
			if (address_of(b, k, &addr) &&
			    steps_inside(addr + round * by, by) < stay)
				stay = steps_inside(addr + round * by, by) + 1;
		}
		if (stay > n - round)
			stay = n - round;
		for (const struct ev_ref *k = r; k < last; k++) {
			by = count < 0 ? -(uint64_t)k->size : k->size;
			if (address_of(b, k, &addr))
				touch(t, addr + round * by, stay * times);
		}
	}
	return last;
}

/* Touch the regions of n instructions from the first, each so many times. */
static void
touch_insns(struct bbv_thread *t, const struct ev_def *d, uint32_t first,
    uint32_t n, uint64_t times)
{
	const struct ev_block *b = d->block;
	const struct ev_ref *r, *end;
	uint64_t addr;

	if (regions == NULL)
		regions = kh_init(region);
	for (uint32_t i = first; i < first + n; i++) {
		r = &b->ref[b->insn[i].ref];
		for (end = r + b->insn[i].nref; r < end; ) {
			if (r->count != 0) {
				r = touch_repeated(t, b, r, end, times);
				continue;
			}
			if (address_of(b, r, &addr))
				touch(t, addr, times);
			r++;
		}
	}
}

/* A value is not 0 after fewer steps of `by' bytes than this. */
static uint64_t
steps_to_0(uint64_t value, uint64_t by)
{
	return (int64_t)by < 0 ? value / -by : -value / by;
}

/* How many of n further rounds leave all addresses in their regions? */
static uint64_t
same_regions(const struct ev_def *d, const uint64_t *diff, uint64_t n)
{
	const struct ev_block *b = d->block;
	const struct ev_ref *end;
	uint64_t addr, by;

	end = &b->ref[b->insn[d->n - 1].ref] + b->insn[d->n - 1].nref;
	for (const struct ev_ref *r = b->ref; r < end && n > 0; r++) {
		by = r->where == EV_GROUP ? diff[r->group] : 0;
		if (r->count != 0 && (by != 0 || diff[r->count - 1] != 0))
			return 0;
		/* a reference that does not happen now, or not later */
		if (by != 0 && (!address_of(b, r, &addr) ||
		    steps_to_0(b->value[r->group], by) <= n))
			return 0;
		address_of(b, r, &addr);
		if (steps_inside(addr, by) < n)
			n = steps_inside(addr, by);
	}
	return n;
}

/* Touch the regions of 1 to n rounds that touch the same; how many rounds. */
static uint64_t
touch_rounds(struct bbv_thread *t, const struct ev_def *d, const uint64_t *diff,
    uint64_t n)
{
	ev_apply(d, diff);
	n = 1 + same_regions(d, diff, n - 1);
	touch_insns(t, d, 0, d->n, n);
	for (unsigned i = 0; i < d->ngroups; i++)
		d->block->value[i] += diff[i] * (n - 1);
	return n;
}

/* ---- executions ---- */

/* How many of n rounds end before the interval does? */
static uint64_t
before_end(const struct bbv_thread *t, const struct block_parts *u, uint64_t n)
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

/* One round by its steps, for exp-bbv. */
static void
round_by_steps(struct evr *r, const uint64_t *p, struct bbv_thread *t,
    struct objmap *map)
{
	const struct ev_def *d = ev_def(r, ev_id(*p));

	if (opt.mav_out != NULL && rows_wanted(t))
		touch_rounds(t, d, p + 1, 1);
	else
		ev_apply(d, p + 1);
	count_settle(t);
	exact_walk(t, d, ev_id(*p), map);
}

/* k rounds, or one that ends the interval. */
static void
count_rounds(struct bbv_thread *t, uint32_t id, uint64_t fit, uint64_t k)
{
	if (fit == 0) {
		count_settle(t);
		count_parts(t, &units[id]);
	} else {
		add_runs(id, k);
		t->ninsn += k * units[id].ninsn;
		t->total += k * units[id].ninsn;
	}
	if (opt.exact)
		exact_counted(t, id, k);
}

/* A round that may end the interval, with its memory block by block. */
static void
round_by_parts(struct bbv_thread *t, const struct ev_def *d,
    const uint64_t *diff, const struct block_parts *u)
{
	uint32_t insn = 0;

	ev_apply(d, diff);
	count_settle(t);
	for (uint32_t k = 0; k < u->npart; k++) {
		const struct bb_part *p = &parts[u->part + k];

		touch_insns(t, d, insn, p->ninsn, 1);
		insn += p->ninsn;
		count_part(t, p);
	}
}

static void
rounds(struct evr *r, const uint64_t *p, struct bbv_thread *t,
    struct objmap *map)
{
	uint32_t id = ev_id(*p);
	uint64_t n = 1 + ev_more(p), k, fit;
	bool touches = opt.mav_out != NULL && rows_wanted(t);

	for (; n > 0 && !crowded; n -= k) {
		k = 1;
		if (opt.exact && !exact_is_plain(t, ev_def(r, id), id)) {
			round_by_steps(r, p, t, map);
			continue;
		}
		if (!units[id].known)
			blocks_first(&units[id]);
		fit = before_end(t, &units[id], n);
		if (fit != 0 && !(opt.exact && exact_goes_on(id)))
			k = fit;
		if (touches && fit == 0 && !opt.exact) {
			round_by_parts(t, ev_def(r, id), p + 1, &units[id]);
			continue;
		}
		if (touches)
			k = touch_rounds(t, ev_def(r, id), p + 1, k);
		if (crowded)
			break;
		count_rounds(t, id, fit, k);
	}
	if (crowded)
		ev_bad(r, "--mav: more than %u places; a larger "
		    "--mav-size makes fewer", MOSTREGIONS);
}

void
count_execs(struct evr *r, const struct ev *e, struct bbv_thread *t,
    struct objmap *map)
{
	for (const uint64_t *p = e->rec; p < e->end; p = ev_skip(p))
		rounds(r, p, t, map);
}

void
count_counts(const struct ev *e, struct bbv_thread *t)
{
	const uint64_t *p;
	uint64_t n;
	uint32_t id;

	for (p = e->rec; p < e->end; p = ev_skip(p)) {
		id = ev_id(*p);
		n = 1 + ev_more(p);
		if (!units[id].known)
			blocks_first(&units[id]);
		add_runs(id, n);
		t->ninsn += n * units[id].ninsn;
		t->total += n * units[id].ninsn;
	}
}

/* Settle, and keep or drop the last interval, which is not full. */
static void
count_tail(struct bbv_thread *t)
{
	count_settle(t);
	if (t->ninsn != 0 && (opt.keep_tail ||
	    (t->nrow == 0 && opt.format != FORMAT_EXP)))
		vector_row(t, 0);
}

void
count_end(struct bbv_thread *t)
{
	count_tail(t);
	free(t->n);
	free(t->touches);
	t->n = t->touches = NULL;
	t->cap = t->captouches = 0;
	t->ninsn = 0;
}
