/*
 * lone - kind cache: references alone, and lines that leave trace's table
 *
 * Nearly all are references of one line; those are done here, by what is
 * needed of them and no more. The rest (repeated, over a line's end, those
 * that did not happen) takes the ways of all others in sim.c.
 */
#include "cachesim.h"

#include <string.h>

#include "util.h"

struct ref {
	enum { UNUSUAL, DATA, FETCH, LEAVE_CODE, LEAVE_DATA } what;
	uint8_t stays;
	uint16_t size;
	uint64_t *value;	/* of its group */
	uint64_t dist;		/* of the address from that */
	struct misses *misses;
	struct lone *fetch;
};

static struct ref *ref;		/* by id */
static size_t capref;
static unsigned dshift;

void
lone_init(unsigned shift)
{
	dshift = shift;
}

static void
define_fetch(const struct ev_def *d, struct ref *u, unsigned ishift)
{
	const struct ev_insn *i = &d->block->insn[d->n - 1];
	struct cold *c = &cold_block[(uintptr_t)d->block->user - 1];
	uint64_t a = i->addr >> ishift, z = (i->addr + i->len - 1) >> ishift;
	struct lone *l = xcalloc(1, sizeof *l);

	l->next = c->lone;
	c->lone = l;
	l->visit.insn = d->n - 1;
	l->visit.a = blocks_line(a);
	l->visit.b = z == a ? 0 : blocks_line(z);
	u->what = FETCH;
	u->fetch = l;
}

static void
define_data(const struct ev_def *d, struct ref *u)
{
	const struct ev_block *b = d->block;
	uint32_t k = b->insn[d->n - 1].ref + d->k - 1U;
	const struct ev_ref *r = &b->ref[k];

	if (r->where != EV_GROUP || r->count != 0 ||
	    r->size > (uint64_t)1 << dshift)
		return;
	u->what = DATA;
	u->size = (uint16_t)r->size;
	u->value = &b->value[r->group];
	u->dist = r->at;
	u->misses = &cold_block[(uintptr_t)b->user - 1].data[k];
}

void
lone_define(const struct ev_def *d, uint32_t id, unsigned ishift)
{
	struct ref *u;
	size_t old = capref;

	ref = xgrow(ref, &capref, (size_t)id + 1, sizeof *ref);
	memset(ref + old, 0, (capref - old) * sizeof *ref);
	u = &ref[id];
	u->stays = d->stays;
	if (d->letter == 'Z') {
		u->what = d->k == 'i' ? LEAVE_CODE : LEAVE_DATA;
		u->value = d->block->value;
		u->dist = d->k == 'i' ? ishift : dshift;
	} else if (d->k == 0) {
		define_fetch(d, u, ishift);
	} else {
		define_data(d, u);
	}
}

static void
unusual(struct evr *events, const uint64_t *p)
{
	uint32_t id = ev_id(*p);
	const struct ev_def *d = ev_def(events, id);

	ev_apply(d, p + 1);
	if (d->letter == 'Q')
		sim_alone(d, NULL, NULL);
	else
		sim_slow(id);
}

static void
data(struct evr *events, const struct ref *u, const uint64_t *p)
{
	uint64_t base = *u->value + p[1], addr = base + u->dist;
	uint64_t size = (uint64_t)1 << dshift;

	if (base == 0 || (addr & (size - 1)) + u->size > size) {
		unusual(events, p);
		return;
	}
	*u->value = base;
	if (table_touch(D1, addr >> dshift, u->stays))
		sim_missed(u->misses, addr, u->size);
}

static void
one(struct evr *events, const struct ref *u, const uint64_t *p)
{
	switch (u->what) {
	case DATA:
		data(events, u, p);
		break;
	case FETCH:
		sim_alone(ev_def(events, ev_id(*p)), &u->fetch->visit,
		    &u->fetch->fetch);
		break;
	case LEAVE_CODE:
	case LEAVE_DATA:
		*u->value += p[1];
		table_leave(u->what == LEAVE_CODE ? I1 : D1,
		    *u->value >> u->dist);
		break;
	default:
		unusual(events, p);
		break;
	}
}

void
lone_batch(struct evr *events, const uint64_t *p, const uint64_t *end)
{
	static const struct ref none;

	for (; p < end; p = ev_skip(p)) {
		const struct ref *u = ev_id(*p) < capref ? &ref[ev_id(*p)] :
		    &none;

		for (uint64_t n = ev_more(p) + 1; n > 0; n--)
			one(events, u, p);
	}
}
