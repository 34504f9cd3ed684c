/*
 * lone - kind cache: single references, and lines that leave trace's table
 *
 * Nearly all are references that bring lines into the table; these run here,
 * with no more data than they need. The rest (repeated or gathered ones, and
 * those that did not happen) take the long way in ordered.c.
 */
#include "table.h"

#include <string.h>

#include "cpu.h"
#include "mem.h"

/* What is missed: nothing, the first level, the last one as well. */
enum told { NONE, FIRST, LAST };

static unsigned shift[NCACHE];	/* log2 of the line sizes of I1 and D1 */
static bool through;
#ifdef __x86_64__
static bool has_avx512;
#endif

void
lone_init(unsigned ishift, unsigned dshift, bool pass)
{
#ifdef __x86_64__
	has_avx512 = cpu_has(AVX512F, "avx512f");
#endif
	through = pass;
	shift[I1] = ishift;
	shift[D1] = dshift;
}

/* The visit of an instruction, or the end of all. */
static uint32_t
visit_of(const struct cold_block *c, uint32_t insn)
{
	uint32_t lo = 0, hi = c->nvisit, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (c->visit[mid].insn < insn)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < c->nvisit && c->visit[lo].insn == insn ? lo : c->nvisit;
}

/* Mostly the fetch is one that brings a line, which its block has as well. */
static void
define_fetch(const struct ev_def *d, struct cache_unit *u)
{
	struct cold_block *c = &cold_block[d->block->number - 1];
	struct misses *misses;
	const struct visit *v;
	uint32_t k = visit_of(c, d->n - 1);
	struct lone *l;

	if (k < c->nvisit) {
		v = &c->visit[k];
		misses = &cold_fetch(c)[k];
	} else {
		l = xkeep(sizeof *l);
		l->next = cold_extras(c)->lone;
		cold_has(c)->lone = l;
		blocks_visit(&l->visit, d->block, d->n - 1);
		v = &l->visit;
		misses = &l->fetch;
	}
	u->lone.misses = misses;
	if (!d->stays) {
		u->what = LONE_FETCH;
		u->lone.visit = v;
		return;
	}
	u->what = LONE_ENTER;
	u->lone.cache = I1;
	u->lone.event = I1MR;
	u->lone.size = v->len;
}

static void
define_data(const struct ev_def *d, struct cache_unit *u)
{
	const struct ev_block *b = d->block;
	uint32_t k = b->insn[d->n - 1].ref + d->k - 1U;

	if (!d->stays) {
		u->lone.ref = k;
		return;
	}
	u->what = LONE_ENTER;
	u->lone.cache = D1;
	u->lone.event = b->ref[k].kind == 'w' ? D1MW : D1MR;
	u->lone.size = b->ref[k].size;
	u->lone.misses = &cold_data(&cold_block[b->number - 1])[k];
}

void
lone_define(const struct ev_def *d, uint32_t id)
{
	struct cache_unit *u = &unit[id];

	if (d->letter == 'Z') {
		u->what = LONE_LEAVE;
		u->lone.cache = d->k == 'i' ? I1 : D1;
	} else if (d->k == 0) {
		define_fetch(d, u);
	} else {
		define_data(d, u);
	}
}

/* An event that does not change the table. */
static void
other(struct evr *events, const struct cache_unit *u, const uint64_t *p)
{
	uint32_t id = ev_id(*p);
	const struct ev_def *d = ev_def(events, id);

	if (d->letter != 'Q') {
		ev_apply(d, p + 1);
		ordered_slow(id);
	} else if (u->what == LONE_FETCH) {
		ordered_fetch(u->lone.visit, u->lone.misses);
	} else {
		ev_apply(d, p + 1);
		ordered_alone(d, u->lone.ref);
	}
}

/* A reference that brings lines into the table: 1 if it was missed. */
__attribute__((noinline))
static int
enters(const struct cache_unit *u)
{
	unsigned place = ev_told_place(u->lone.value);
	int cache = u->lone.cache, missed;
	uint64_t line = ev_told_addr(u->lone.value) >> shift[cache];

	if (place < EV_SECOND)
		return table_enter(cache, line, place);
	missed = table_enter(cache, line, EV_PLACES);
	line = (line + 1) & ~(uint64_t)0 >> shift[cache];
	return missed | table_enter(cache, line, place - EV_SECOND);
}

/*
 * Count a reference that missed the first level, 1, or did not, 0, and look it
 * up in LL if it did. No branch depends on which.
 */
static inline void
count(const struct lone_ref *r, uint64_t addr, unsigned missed, uint8_t *ll)
{
	count_l1(&r->misses->l1, missed);
	if (__builtin_expect(ll_has_all(addr, r->size), 1))
		ll_enqueue(addr >> llc.shift, ll, missed);
	else if (missed)
		ll_access(addr, r->size, ll);
}

/*
 * A reference that brings lines into the table. true: it missed the first
 * level; misses of LL are counted at *ll.
 *
 * Nearly always one line replaces another one, in a cache that has the table's
 * sets and ways: then it was missed. If no place of the cache is free, the code
 * need not wait for what the place holds.
 */
__attribute__((always_inline))
static inline bool
enter(struct cache_unit *u, uint64_t diff, uint8_t *ll)
{
	uint64_t told = u->lone.value += diff, addr = ev_told_addr(told);
	struct lone_ref *r = &u->lone;
	uint64_t line = addr >> shift[r->cache];
	uint64_t *at = table_place(r->cache, line, ev_told_place(told) & 7);
	const struct l1_table *t = &l1_table[r->cache];
	unsigned missed;

	if (__builtin_expect(ev_told_place(told) < EV_SECOND && t->same &&
	    (t->free == 0 || *at != TABLE_FREE), 1)) {
		*at = line;
		count(r, addr, 1, ll);
		return true;
	}
	missed = (unsigned)enters(u);
	count(r, addr, missed, ll);
	return missed;
}

static void
unusual(struct evr *events, struct cache_unit *u, const uint64_t *p)
{
	switch (u->what) {
	case LONE_ENTER:
		enter(u, p[1], &u->lone.misses->ll);
		break;
	case LONE_LEAVE:
		u->lone.value += p[1];
		table_leave(u->lone.cache, u->lone.value >>
		    shift[u->lone.cache]);
		break;
	default:
		other(events, u, p);
		break;
	}
}

/* Run one round of a record for -t: found[] gets its misses. */
static void
told(struct evr *events, struct cache_unit *u, const uint64_t *p)
{
	const struct ev_def *d = ev_def(events, ev_id(*p));
	uint8_t before;

	if (u->what != LONE_ENTER) {
		unusual(events, u, p);
		return;
	}
	before = u->lone.misses->ll;
	if (!enter(u, p[1], &u->lone.misses->ll))
		return;
	ll_drain();
	found_add(d->n - 1, u->lone.event);
	if (u->lone.misses->ll != before)
		found_add(d->n - 1, u->lone.event + 1U);
}

/* ---- many rounds ---- */

struct many {
	struct evr *events;
	struct cache_unit *u;
	const uint64_t *rec;
};

static void
many_rounds(struct cache_repeat *r, uint64_t n)
{
	const struct many *m = r->what;

	for (; n > 0; n--)
		if (through)
			told(m->events, m->u, m->rec);
		else
			unusual(m->events, m->u, m->rec);
}

static void
many_left_out(struct cache_repeat *r, uint64_t n)
{
	const struct many *m = r->what;

	if (m->u->what == LONE_OTHER &&
	    ev_def(m->events, ev_id(*m->rec))->letter != 'Q')
		unit[ev_id(*m->rec)].count += n;
}

/*
 * Run n rounds of a record. Only the first can miss, if its lines are the same
 * in all: a line that enters again is there already.
 */
static void
many(struct evr *events, struct cache_unit *u, const uint64_t *p, uint64_t n)
{
	struct many m = { events, u, p };
	struct cache_repeat r = { .what = &m, .rounds = many_rounds,
	    .left_out = many_left_out };

	if (n < REPEAT_FIRST || !rounds_alike(p) || (u->what == LONE_ENTER &&
	    ev_told_place(u->lone.value) >= EV_SECOND)) {
		many_rounds(&r, n);
		return;
	}
	switch (u->what) {
	case LONE_ENTER:
	case LONE_FETCH:
		r.misses = u->lone.misses;
		r.nmisses = 1;
		break;
	case LONE_OTHER:
		r.cold = &cold_block[ev_def(events,
		    ev_id(*p))->block->number - 1];
		r.misses = cold_fetch(r.cold);
		r.nmisses = r.cold->nvisit + (size_t)r.cold->block->nref;
		break;
	}
	repeat_alike(&r, n);
}

static struct cache_unit *
ref_of(uint64_t head)
{
	return &unit[ev_id(head)];
}

/* Run a record that is not one reference that brings a line, once. */
static const uint64_t *
rare(struct evr *events, const uint64_t *p)
{
	many(events, ref_of(*p), p, ev_more(p) + 1);
	return ev_skip(p);
}

static inline bool
brings_line(const uint64_t *p)
{
	return __builtin_expect(ref_of(*p)->what == LONE_ENTER &&
	    !(*p & EV_MORE), 1);
}

/* Have both first levels trace's sets and ways, all of them taken? */
static bool
all_are_full(void)
{
	return l1_table[I1].same && l1_table[I1].free == 0 &&
	    l1_table[D1].same && l1_table[D1].free == 0;
}

/*
 * Run records as enter does, where all_are_full and all lines have 1 << bits
 * bytes; what is the same for each record is kept in registers. Returns the
 * first record that is of another kind, or the end.
 */
__attribute__((always_inline))
static inline const uint64_t *
run_full_by(const uint64_t *p, const uint64_t *end, unsigned bits)
{
	uint64_t *const line[] = { l1_table[I1].line, l1_table[D1].line };
	const uint64_t mask[] = { l1_table[I1].mask, l1_table[D1].mask };
	const struct ll_sets sets = llc.sets;
	uint64_t last = ((uint64_t)1 << bits) - 1;
	unsigned n = llc.n;

	for (; p < end && brings_line(p); p += 2) {
		struct lone_ref *r = &ref_of(*p)->lone;
		uint64_t told = r->value + p[1], addr = ev_told_addr(told);
		uint64_t l = addr >> bits;

		if (__builtin_expect((told & EV_SECOND) != 0 ||
		    (addr & last) + r->size > last + 1, 0))
			break;
		r->value = told;
		line[r->cache][(l & mask[r->cache]) * EV_PLACES +
		    ev_told_place(told)] = l;
		count_l1(&r->misses->l1, 1);
		n = ll_queue(&sets, n, l, &r->misses->ll, 1);
	}
	llc.n = n;
	return p;
}

static const uint64_t *
run_full(const uint64_t *p, const uint64_t *end)
{
	if (shift[I1] != llc.shift || shift[D1] != llc.shift)
		return p;
	return llc.shift == 6 ? run_full_by(p, end, 6) :
	    run_full_by(p, end, llc.shift);
}

static void
run(struct evr *events, const uint64_t *p, const uint64_t *end)
{
	while (p < end) {
		struct cache_unit *u;

		if (all_are_full() && (p = run_full(p, end)) == end)
			return;
		u = ref_of(*p);
		if (brings_line(p)) {
			enter(u, p[1], &u->lone.misses->ll);
			p += 2;
		} else {
			p = rare(events, p);
		}
	}
}

#ifdef __x86_64__

/*
 * Do what enter does, in a cache that has more ways than trace's table, for a
 * full set of which the table lacks up to 8 lines. false: it is another set,
 * and nothing is done.
 */
__attribute__((target("avx512f"), always_inline))
static inline bool
enter8(struct cache_unit *u, uint64_t diff)
{
	uint64_t told = u->lone.value + diff, addr = ev_told_addr(told);
	struct lone_ref *r = &u->lone;
	uint64_t line = addr >> shift[r->cache];
	uint64_t *at = table_place(r->cache, line, ev_told_place(told) & 7);
	const struct l1_table *t = &l1_table[r->cache];
	uint64_t set = line & (t->nsets - 1), was = *at;

	if (ev_told_place(told) >= EV_SECOND || t->same ||
	    !table_is_full(t, line, was) || t->set[set].n > TABLE_EIGHT)
		return false;
	r->value = told;
	*at = line;
	count(r, addr, table_swap8(t->other + set * t->stride, t->set[set].n,
	    was, line), &r->misses->ll);
	return true;
}

/* Run records where D1 has more ways than trace's table. */
__attribute__((target("avx512f")))
static void
run512(struct evr *events, const uint64_t *p, const uint64_t *end)
{
	while (p < end) {
		struct cache_unit *u = ref_of(*p);

		if (brings_line(p)) {
			if (!enter8(u, p[1]))
				enter(u, p[1], &u->lone.misses->ll);
			p += 2;
		} else {
			p = rare(events, p);
		}
	}
}

#endif

void
lone_batch(struct evr *events, const uint64_t *p, const uint64_t *end)
{
	for (; through && p < end; )
		p = rare(events, p);
#ifdef __x86_64__
	if (has_avx512 && !l1_table[D1].same) {
		run512(events, p, end);
		return;
	}
#endif
	run(events, p, end);
}

/* ---- -t: the stream's own text, with standing outcomes ---- */

#define ROOM	1024		/* rounds that wait for the last level */
#define ROUNDS	64		/* of one record */

/* Was the first level missed, and then the last one? By round. */
static bool missed[ROOM];
static uint8_t ll[ROOM];

static void
stands(struct simrun *s, struct cache_unit *u, uint32_t id, enum told what)
{
	if (u->lone.told == what)
		return;
	u->lone.told = (uint8_t)what;
	simrun_standing(s, id, found_name + u->lone.event, what);
}

void
lone_clear_standing(struct simrun *s, const uint64_t *rec)
{
	struct cache_unit *u = ref_of(*rec);

	if (u->what == LONE_ENTER)
		stands(s, u, ev_id(*rec), NONE);
}

static enum told
found_round(unsigned i)
{
	return !missed[i] ? NONE : ll[i] == 0 ? FIRST : LAST;
}

/* Pass on a record's n rounds, from i on: by its line, if all are alike. */
static void
found_rounds(struct simpass *t, const uint64_t *rec, unsigned i, unsigned n)
{
	struct cache_unit *u = ref_of(*rec);
	unsigned k, same;

	for (k = same = 0; u->what == LONE_ENTER && k < n; k++) {
		if (ll[i + k] != 0)
			misses_add(&u->lone.misses->ll, 1);
		same += found_round(i + k) == u->lone.told;
	}
	if (u->what == LONE_LEAVE || same == n) {
		t->lines++;
		t->executions += n;
		return;
	}
	simpass_lines(t);
	for (k = 0; k < n; k++) {
		stands(t->s, u, ev_id(*rec), found_round(i + k));
		simrun_pass(t->s, rec, 0);
	}
	simpass_skip(t, rec);
}

const uint64_t *
lone_pass(struct simpass *t, const uint64_t *rec, const uint64_t *end)
{
	const uint64_t *p, *stop;
	struct cache_unit *u;
	uint64_t more, n = 0, i;

	for (p = rec; p < end; p = ev_skip(p)) {
		u = ref_of(*p);
		more = ev_more(p);
		if ((u->what != LONE_ENTER && u->what != LONE_LEAVE) ||
		    more >= ROUNDS || n + more >= ROOM)
			break;
		for (i = n; n <= i + more; n++) {
			missed[n] = false;
			ll[n] = 0;
			if (u->what == LONE_ENTER)
				missed[n] = enter(u, p[1], &ll[n]);
			else
				unusual(NULL, u, p);
		}
	}
	ll_drain();
	stop = p;
	for (p = rec, n = 0; p < stop; p = ev_skip(p), n += more) {
		more = ev_more(p) + 1;
		found_rounds(t, p, (unsigned)n, (unsigned)more);
	}
	return stop;
}
