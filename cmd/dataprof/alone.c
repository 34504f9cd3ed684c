/*
 * alone - references alone, in kind cache
 *
 * What a reference alone found is not added to a row each time, but when its
 * row or its standing outcomes change.
 */
#include <stdlib.h>

#include "dataprof.h"
#include "mem.h"

struct alone {
	uint64_t value;		/* of one that stays, see ev.h */
	uint64_t lo, hi, epoch;	/* where row is that of its addresses */
	uint64_t found;		/* this often since it was added */
	size_t row;
	const struct event_list *standing;	/* or NULL */
	struct event_list *own;	/* that, if it is not kept; or NULL */
	enum side side;		/* of its standing events */
	bool ready;
	bool frames;		/* its addresses show where the stack is */
};
static struct alone *alones;	/* by id */
static size_t nalone;

void
alone_define(uint32_t id)
{
	alones = xgrow0(alones, &nalone, id + (size_t)1, sizeof *alones);
}

/* Add what was found since the last time to its row. */
static void
settle(struct alone *a)
{
	const struct event_list *l = a->standing;
	int64_t cost[COLUMNS];

	if (a->found == 0)
		return;
	for (unsigned i = 0; i < dp.ncol; i++)
		cost[i] = sum_times(l->cost[a->side][i], (int64_t)a->found);
	tally_add(a->row, cost, l->most[a->side] * a->found);
	a->found = 0;
}

const struct ev_ref *
alone_ref(const struct ev_def *d)
{
	const struct ev_block *b = d->block;

	return &b->ref[b->insn[d->n - 1].ref + d->k - 1];
}

/* Where it was. */
static uint64_t
addr_of(const struct alone *a, const struct ev_def *d)
{
	struct ev_walk w;

	if (d->stays)
		return ev_told_addr(a->value);
	ev_walk(&w, d);
	return ev_step(&w) ? w.addr : 0;
}

/* A reference alone whose row is not known, or that cannot have one. */
__attribute__((noinline))
static void
look_up(struct alone *a, const struct ev_def *d)
{
	unsigned thread = ev_thread(dp.events);
	struct insn_cache *c = insn_cache(d->block, d->n - 1);
	const struct event_list *l = a->standing;
	uint64_t addr = addr_of(a, d);

	if (a->frames)
		stack_saw(thread, addr);
	if (l == NULL)
		return;
	settle(a);
	for (unsigned s = 0; s < NSIDE; s++) {
		if (!l->any[s])
			continue;
		if (d->k == 0)
			tally_add(insn_code_row(c), l->cost[s], 1);
		else
			refer(c, alone_ref(d), addr, l->cost[s], l->most[s]);
		a->side = (enum side)s;
	}
	/* one side's events at one row: those that follow are counted */
	if (!d->stays || l->nside != 1 || a->frames ||
	    (d->k != 0 && c->row == TALLY_HOLD))
		return;
	a->lo = d->k == 0 ? 0 : c->lo;
	a->hi = d->k == 0 ? UINT64_MAX : c->hi;
	a->epoch = d->k == 0 ? epoch.now : c->epoch;
	a->row = d->k == 0 ? insn_code_row(c) : c->row;
}

/* The first execution: do its addresses show where the stack is? */
static void
make_ready(struct alone *a, const struct ev_def *d)
{
	char flow = (char)d->block->insn[d->n - 1].flow;

	a->ready = true;
	a->frames = !dp.frames && d->k != 0 &&
	    (flow == 'L' || flow == 'X' || flow == 'R');
}

static void
run_rounds(struct alone *a, const struct ev_def *d, const uint64_t *rec)
{
	uint64_t rounds;

	if (!a->ready)
		make_ready(a, d);
	for (rounds = 1 + ev_more(rec); rounds > 0; rounds--) {
		if (d->stays)
			a->value += rec[1];
		else
			ev_apply(d, rec + 1);
		if (a->standing != NULL || a->frames)
			look_up(a, d);
	}
}

void
alone_batch(const struct ev *e)
{
	const struct ev_def *d;
	const uint64_t *rec;
	struct alone *a;
	uint64_t addr;

	for (rec = e->rec; rec < e->end; rec = ev_skip(rec)) {
		a = &alones[ev_id(*rec)];
		addr = ev_told_addr(a->value + rec[1]);
		/* a reference that has lo and hi stays: it has one field */
		if (addr >= a->lo && addr < a->hi && !(*rec & EV_MORE) &&
		    epoch_holds(a->epoch, addr)) {
			a->value += rec[1];
			a->found++;
			continue;
		}
		d = ev_def(dp.events, ev_id(*rec));
		if (d->letter == 'Q')
			run_rounds(a, d, rec);
	}
}

void
alone_standing(uint32_t id, const struct event_list *l)
{
	struct alone *a = &alones[id];

	settle(a);
	a->lo = a->hi = 0;
	free(a->own);
	a->own = NULL;
	if (!l->kept) {
		a->own = xmalloc(sizeof *a->own);
		*a->own = *l;
		l = a->own;
	}
	a->standing = l->nside == 0 ? NULL : l;
}

uint64_t
alone_last(const struct ev_def *d)
{
	return addr_of(&alones[ev_last_id(dp.events)], d);
}

void
alone_end(void)
{
	for (size_t i = 0; i < nalone; i++)
		settle(&alones[i]);
}
