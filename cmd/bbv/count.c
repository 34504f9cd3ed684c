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

#include "mem.h"

static uint64_t *runs;		/* by unit, not settled yet */
static size_t caprun;
static uint32_t *pending;	/* units with runs */
static size_t cappending, npending;

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

/*
 * Count one basic block of an execution near an interval's end; with d, its
 * instructions from insn on touch memory.
 */
static void
count_part(struct bbv_thread *t, const struct bb_part *p,
    const struct ev_def *d, uint32_t insn)
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
		if (d != NULL)
			touch_insns(t, d, insn, (uint32_t)part, 1);
		insn += (uint32_t)part;
		t->n[p->bb] += part;
		n -= part;
		vector_row(t, 1);
	}
	if (d != NULL)
		touch_insns(t, d, insn, (uint32_t)n, 1);
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
		count_part(t, &parts[u->part + k], NULL, 0);
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

		count_part(t, p, d, insn);
		insn += p->ninsn;
	}
}

static void
rounds(struct evr *r, const uint64_t *p, struct bbv_thread *t,
    struct objmap *map)
{
	uint32_t id = ev_id(*p);
	uint64_t n = 1 + ev_more(p), k, fit;
	bool touches = touch_wanted(t);

	for (; n > 0 && !touch_crowded; n -= k) {
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
		if (touches && fit == 0) {
			round_by_parts(t, ev_def(r, id), p + 1, &units[id]);
			if (opt.exact)
				exact_counted(t, id, 1);
			continue;
		}
		if (touches)
			k = touch_rounds(t, ev_def(r, id), p + 1, k);
		if (touch_crowded)
			break;
		count_rounds(t, id, fit, k);
	}
	if (touch_crowded)
		ev_bad(r, "--mav: more than %u places; a larger "
		    "--mav-size makes fewer", TOUCH_MOST);
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
	if (t->ninsn != t->excess && (opt.tail == TAIL_KEEP ||
	    (opt.tail == TAIL_ONLY && t->nrow == 0 &&
	    opt.format != FORMAT_EXP)))
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
