/*
 * ordered - executions in the order of their events: the long way
 *
 * What is simulated, which is what Cachegrind simulates:
 *  - I1 and D1 are looked up first; LL only after a miss there.
 *  - Reads and writes behave alike: a line that is missed is brought in.
 *  - A line belongs to the set that its low bits select; the line of the set
 *    that was used longest ago makes room.
 *  - An access that touches several lines looks all of them up, in order. It
 *    is one access, and one miss if any of them missed; then all of it, by
 *    LL's line size, is looked up in LL, and is at most one miss there.
 *  - A modification is one read. Nothing is written back, no level invalidates
 *    another, all threads share the caches.
 *
 * How it is fast, and still exact:
 *  - Only executions and misses are counted. report.c knows how many accesses
 *    an execution has.
 *  - Recency is a time stamp, and a data line is found by a hint: l1.c.
 *  - A hit changes nothing but its own cache, so data may go before or after
 *    code. Only if a code line is missing does the execution run in its own
 *    order, since both kinds of misses go to LL (ordered_long()).
 *  - Misses go to LL through a queue: the order is kept, but its sets are on
 *    their way from memory when they are needed.
 *
 * Executions with repeated references, addresses that are far from their
 * group's, references wider than a line, and those where an address is 0 (it
 * did not happen) go through ordered_long() too.
 */
#include "cachesim.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "sum.h"

static struct evr *events;
static bool through;

void
ordered_init(struct evr *r, bool pass)
{
	events = r;
	through = pass;
}

/* An access has missed its first level: count that, look it up in LL. */
static void
first_missed(struct misses *m, uint64_t addr, uint64_t size, uint32_t insn,
    unsigned event)
{
	uint8_t before = m->ll;

	if (__builtin_expect(++m->l1 == 0, 0))
		misses_carry(&m->l1);
	ll_access(addr, size, &m->ll);
	if (!through)
		return;
	ll_drain();
	found_add(insn, event);
	if (m->ll != before)
		found_add(insn, event + 1);
}

static void
fetch(const struct visit *v, struct misses *m)
{
	int missed = l1_fetch(v->a);

	if (v->b != 0)
		missed |= l1_fetch(v->b);
	if (missed)
		first_missed(m, (l1_code_line[v->a] << l1.ishift) + v->off,
		    v->len, v->insn, I1MR);
}

/* The instruction that has a reference. */
static uint32_t
insn_of(const struct ev_block *b, uint32_t ref)
{
	const struct cache_unit *u = &unit[b->id];
	uint32_t i = u->ntouch != 0 ? record_ref[u->ref + ref].insn : 0;

	while (ref >= (uint32_t)b->insn[i].ref + b->insn[i].nref)
		i++;
	return i;
}

__attribute__((noinline))
void
ordered_missed(uint32_t cold, uint32_t ref, uint64_t addr, uint64_t size)
{
	const struct cold_block *c = &cold_block[cold];
	const struct ev_block *b = c->block;
	struct misses *m = &cold_data(c)[ref];

	if (through)
		first_missed(m, addr, size, insn_of(b, ref),
		    b->ref[ref].kind == 'w' ? D1MW : D1MR);
	else
		first_missed(m, addr, size, 0, 0);
}

/* A reference of any size. */
__attribute__((noinline))
static void
wide(uint32_t cold, uint32_t ref, uint64_t addr, uint64_t size)
{
	uint64_t line = addr >> l1.dshift, most = ~(uint64_t)0 >> l1.dshift;
	uint64_t n = ((addr & (((uint64_t)1 << l1.dshift) - 1)) + size - 1) >>
	    l1.dshift;
	int missed = l1_data(line);

	for (; n > 0; n--) {
		line = (line + 1) & most;
		missed |= l1_data(line);
	}
	if (missed)
		ordered_missed(cold, ref, addr, size);
}

/* ---- the long way ---- */

static void
differs(struct cold_block *c, uint32_t ref, int64_t by)
{
	struct block_extras *o = cold_extras(c);

	if (o->extra == NULL)
		o->extra = xcalloc(c->block->nref, sizeof *o->extra);
	sum_add(&o->extra[ref], by);
}

/* Count the additional fetches of a repeated instruction in Valgrind. */
static void
count_rounds(struct cold_block *c, uint32_t insn, uint32_t ref, uint64_t n)
{
	const struct ev_insn *i = &c->block->insn[insn];
	struct block_extras *o = cold_extras(c);
	bool writes = false;

	/* once for an instruction: with its first repeated reference */
	for (uint32_t k = i->ref; k < ref; k++)
		if (c->block->ref[k].count != 0)
			return;
	for (uint32_t k = 0; k < i->nref; k++)
		writes |= c->block->ref[i->ref + k].kind != 'r';
	if (o->rounds == NULL)
		o->rounds = xcalloc(c->block->ninsn, sizeof *o->rounds);
	/* movs, stos: a last test of the count; cmps, scas: ended by it */
	sum_add(&o->rounds[insn], (int64_t)(writes || n == 0 ? n : n - 1));
}

static inline uint64_t
base_of(const struct cold_block *c, const struct ev_ref *r)
{
	return r->where == EV_GROUP ? r->at + c->block->value[r->group] : r->at;
}

/* Rounds, from this one on, in which a reference stays in its line. */
static uint64_t
rounds_in_line(uint64_t addr, uint32_t size, bool down)
{
	uint64_t mask = ((uint64_t)1 << l1.dshift) - 1, off = addr & mask;

	if (off + size > mask + 1)
		return 0;
	return down ? off / size + 1 : (mask + 1 - off) / size;
}

/* The neighbouring references from..to, which share a count, in turns. */
struct turns {
	uint32_t cold, from, to;
	uint64_t round;		/* the next one */
	bool down;
};

static bool
happens(const struct cold_block *c, const struct ev_ref *r)
{
	return r->where != EV_GROUP || c->block->value[r->group] != 0;
}

static uint64_t
round_addr(const struct turns *t, const struct cold_block *c,
    const struct ev_ref *r)
{
	uint64_t far = t->round * r->size;

	return base_of(c, r) + (t->down ? -far : far);
}

/*
 * The next n rounds. As long as all references stay in their lines, one round
 * is as good as many, provided that the lines fit into a set together.
 */
static void
turns_rounds(struct turns *t, uint64_t n)
{
	const struct cold_block *c = &cold_block[t->cold];
	const struct ev_ref *r = c->block->ref;
	uint64_t end = t->round + n;

	while (t->round < end) {
		uint64_t stay = t->to - t->from <= l1.dassoc ?
		    end - t->round : 0;

		for (uint32_t k = t->from; k < t->to; k++) {
			uint64_t addr = round_addr(t, c, &r[k]), in;

			if (!happens(c, &r[k]))
				continue;
			wide(t->cold, k, addr, r[k].size);
			in = rounds_in_line(addr, r[k].size, t->down);
			if (in < stay)
				stay = in;
		}
		t->round += stay > 1 ? stay : 1;
	}
}

static void
turns_go(struct cache_repeat *r, uint64_t n)
{
	turns_rounds(r->what, n);
}

static void
turns_left_out(struct cache_repeat *r, uint64_t n)
{
	((struct turns *)r->what)->round += n;
}

/* So many that most can be left out. */
static void
turns_many(struct turns *t, uint64_t n)
{
	static struct repeat_ref *ref;
	static size_t cap;
	struct cold_block *c = &cold_block[t->cold];
	struct cache_repeat r = { .nested = 1, .misses = cold_data(c) + t->from,
	    .nmisses = t->to - t->from, .what = t, .rounds = turns_go,
	    .left_out = turns_left_out };

	ref = xgrow(ref, &cap, t->to - t->from, sizeof *ref);
	for (uint32_t k = t->from; k < t->to; k++) {
		const struct ev_ref *e = &c->block->ref[k];

		if (happens(c, e))
			ref[r.nref++] = (struct repeat_ref){ base_of(c, e),
			    e->size, t->down ? -(uint64_t)e->size : e->size,
			    0, 0 };
	}
	r.ref = ref;
	repeat(&r, n);
}

/* Returns the rounds. */
static uint64_t
repeated(struct cold_block *c, uint32_t from, uint32_t to)
{
	const struct ev_ref *r = c->block->ref;
	int64_t count = (int64_t)c->block->value[r[from].count - 1];
	uint64_t n = count < 0 ? -(uint64_t)count : (uint64_t)count;
	struct turns t = { (uint32_t)(c - cold_block), from, to, 0,
	    count < 0 };

	if (n > INT64_MAX)
		sum_beyond();
	if (n < repeat_least())
		turns_rounds(&t, n);
	else
		turns_many(&t, n);
	for (uint32_t k = from; k < to; k++)
		differs(c, k, happens(c, &r[k]) ? (int64_t)(n - 1) : -1);
	return n;
}

/* The references from..to of an instruction of a block that is kept. */
static void
references(struct cold_block *c, uint32_t insn, uint32_t from, uint32_t to)
{
	const struct ev_ref *r = c->block->ref;
	uint32_t next;

	for (uint32_t k = from; k < to; k = next) {
		next = k + 1;
		if (r[k].count != 0) {
			while (next < to && r[next].count == r[k].count)
				next++;
			count_rounds(c, insn, k, repeated(c, k, next));
		} else if (!happens(c, &r[k])) {
			differs(c, k, -1);
		} else {
			wide((uint32_t)(c - cold_block), k,
			    base_of(c, &r[k]), r[k].size);
		}
	}
}

/* The references from..to of a block that has a record. */
static void
recorded(struct cold_block *c, uint32_t from, uint32_t to)
{
	const struct cache_unit *u = &unit[c->block->id];
	const uint64_t *rec = &record[u->rec];
	const struct fastref *r = &record_ref[u->ref];

	for (uint32_t k = from; k < to; k++) {
		uint64_t base = rec[r[k].val];

		if (base == 0 && r[k].val < c->block->ngroups)
			differs(c, k, -1);
		else
			wide((uint32_t)(c - cold_block), k, base +
			    (uint64_t)(int64_t)r[k].dist, ordered_size(&r[k]));
	}
}

static void
long_recorded(struct cold_block *c, uint32_t ninsn, uint32_t nref)
{
	uint32_t done = 0;

	for (uint32_t k = 0; k < c->nvisit && c->visit[k].insn < ninsn; k++) {
		recorded(c, done, c->visit[k].ref);
		done = c->visit[k].ref;
		fetch(&c->visit[k], &cold_fetch(c)[k]);
	}
	recorded(c, done, nref);
}

void
ordered_long(uint32_t id)
{
	const struct ev_def *d = ev_def(events, id);
	struct cold_block *c = &cold_block[d->block->number - 1];
	const struct visit *v = c->visit, *end = v + c->nvisit;
	const struct ev_insn *i = c->block->insn;

	if (unit[id].ntouch != 0) {
		long_recorded(c, d->n, unit[id].nref);
		return;
	}
	for (uint32_t k = 0; k < d->n; k++) {
		if (v < end && v->insn == k) {
			fetch(v, &cold_fetch(c)[v - c->visit]);
			v++;
		}
		references(c, k, i[k].ref, (uint32_t)i[k].ref + i[k].nref);
	}
}

void
ordered_alone(const struct ev_def *d, uint32_t ref)
{
	struct cold_block *c = &cold_block[d->block->number - 1];
	const struct ev_ref *r = c->block->ref;
	const struct ev_insn *i;
	uint32_t to = ref + 1;

	if (unit[c->block->id].ntouch != 0) {
		recorded(c, ref, to);
		return;
	}
	/* all that take turns with it */
	i = &c->block->insn[d->n - 1];
	while (r[ref].count != 0 && to < (uint32_t)i->ref + i->nref &&
	    r[to].count == r[ref].count)
		to++;
	references(c, d->n - 1, ref, to);
}

void
ordered_fetch(const struct visit *v, struct misses *m)
{
	fetch(v, m);
}

uint32_t
ordered_ninsn(uint32_t id)
{
	return ev_def(events, id)->n;
}

void
ordered_slow(uint32_t id)
{
	unit[id].count++;
	ordered_long(id);
}

/* ---- records ---- */

void
ordered_reference(uint32_t cold, uint32_t ref, uint64_t addr, uint64_t size)
{
	uint64_t off = addr & (((uint64_t)1 << l1.dshift) - 1);

	if (off + size > (uint64_t)1 << l1.dshift)
		wide(cold, ref, addr, size);
	else if (l1_data(addr >> l1.dshift))
		ordered_missed(cold, ref, addr, size);
}

uint64_t
ordered_size(const struct fastref *r)
{
	return ((uint64_t)1 << l1.dshift) - r->most;
}
