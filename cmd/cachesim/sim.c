/*
 * sim - the caches; executions through them
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
 *  - Accesses are not counted, executions are: report.c knows how many accesses
 *    an execution has. Only misses are counted here.
 *  - Recency is a time stamp, so that a hit is a compare and a store and no
 *    list is kept in order. Of code lines even the compare needs no set: each
 *    line in the program is an object with its stamp, which is 0 while it is
 *    not in I1.
 *  - A data line is found by a hint: a table by the line's low bits says where
 *    it was last. Where the hint is wrong the set is searched.
 *  - A hit changes nothing but its own cache, so data may go before or after
 *    code. Only if a code line is missing is the execution taken in its
 *    order, since misses meet in LL (sim_long()).
 *  - Misses go to LL through a queue: the order is kept, but its sets are on
 *    their way from memory when they are needed.
 *
 * Executions with repeated references, addresses that are far from their
 * group's, references wider than a line, and those where an address is 0 (it
 * did not happen) go through sim_long() too.
 */
#include "cachesim.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif
#include <stdlib.h>
#include <string.h>

#include "util.h"

static struct evr *events;
static int through;
static int tables;		/* kind cache: first levels are in table.c */

/* The number of look-ups so far: what stamps are taken from. */
struct times sim_time;

/* I1: lines by set and way; 0 is no line. Stamps are by line. */
uint64_t *sim_istamp;			/* 0: not in I1 */
static size_t capistamp;
static uint32_t *iway;
static uint64_t iassoc, isets;
static unsigned ishift;

/* D1 by set and way */
#define NOLINE	UINT64_MAX		/* no line begins there */
struct d1 sim_d1;
static uint64_t *dtag = sim_d1.tag;
static uint64_t *dstamp = sim_d1.stamp;
static uint64_t dassoc, dsets;
static unsigned dways;			/* dassoc to the next multiple of 4 */
static int has_avx2;
static unsigned dshift;
struct found *found;
unsigned nfound;
static size_t capfound;

static void
note(uint32_t insn, unsigned event)
{
	for (unsigned i = nfound; i > 0 && found[i - 1].insn == insn; i--)
		if (found[i - 1].event == event) {
			found[i - 1].n++;
			return;
		}
	found = xgrow(found, &capfound, nfound + 1, sizeof *found);
	found[nfound++] = (struct found){ 1, insn, (uint8_t)event };
}

/* An access has missed its first level: count that, look it up in LL. */
static void
first_missed(struct misses *m, uint64_t addr, uint64_t size, uint32_t insn,
    unsigned event)
{
	uint32_t before = m->ll;

	if (__builtin_expect(++m->l1 == 0, 0))
		misses_carry(&m->l1);
	ll_access(addr, size, &m->ll);
	if (!through)
		return;
	ll_drain();
	note(insn, event);
	if (m->ll != before)
		note(insn, event + 1);
}

/* ---- I1 ---- */

void
sim_code_line(uint32_t n)
{
	size_t old = capistamp;

	sim_istamp = xgrow(sim_istamp, &capistamp, (size_t)n + 1, sizeof *sim_istamp);
	memset(sim_istamp + old, 0, (capistamp - old) * sizeof *sim_istamp);
}

/* Look a code line up: 1 if it was missed. */
static int
touch(uint32_t n)
{
	uint32_t *way, *oldest;

	if (tables)
		return table_touch(I1, code_line[n]);
	if (sim_istamp[n] != 0) {
		sim_istamp[n] = ++sim_time.i;
		return 0;
	}
	way = oldest = iway + (code_line[n] & (isets - 1)) * iassoc;
	for (uint64_t w = 1; w < iassoc; w++)
		if (sim_istamp[way[w]] < sim_istamp[*oldest])
			oldest = &way[w];
	sim_istamp[*oldest] = 0;
	*oldest = n;
	sim_istamp[n] = ++sim_time.i;
	return 1;
}

static void
fetch(const struct visit *v, struct misses *m)
{
	int missed = touch(v->a);

	if (v->b != 0)
		missed |= touch(v->b);
	if (missed)
		first_missed(m, (code_line[v->a] << ishift) + v->off, v->len,
		    v->insn, I1MR);
}

/* ---- D1 ---- */

/*
 * The way of a set that has a line or, if none has, the one used longest ago:
 * 1 then. Sets are filled up to a multiple of 4 ways with some that have the
 * latest stamp for ever.
 */
static int
find_way(const uint64_t *tag, const uint64_t *stamp, uint64_t line,
    unsigned *way)
{
	unsigned oldest = 0;

	for (unsigned w = 0; w < dways; w++) {
		if (tag[w] == line) {
			*way = w;
			return 0;
		}
		if (stamp[w] < stamp[oldest])
			oldest = w;
	}
	*way = oldest;
	return 1;
}

#ifdef __x86_64__

/* The first of these ways that is equal to x; -1: none. */
__attribute__((target("avx2")))
static inline int
find_equal(const uint64_t *v, __m256i x)
{
	for (unsigned w = 0; w < dways; w += 4) {
		int m = _mm256_movemask_pd((__m256d)_mm256_cmpeq_epi64(x,
		    _mm256_loadu_si256((const __m256i *)&v[w])));

		if (m != 0)
			return (int)w + __builtin_ctz((unsigned)m);
	}
	return -1;
}

__attribute__((target("avx2")))
static inline __m256i
least(__m256i x, __m256i y)
{
	return _mm256_blendv_epi8(x, y, _mm256_cmpgt_epi64(x, y));
}

/* The same, four ways at a time. */
__attribute__((target("avx2")))
static int
find_way4(const uint64_t *tag, const uint64_t *stamp, uint64_t line,
    unsigned *way)
{
	int w = find_equal(tag, _mm256_set1_epi64x((long long)line));
	__m256i x;

	if (w >= 0) {
		*way = (unsigned)w;
		return 0;
	}
	x = _mm256_loadu_si256((const __m256i *)stamp);
	for (unsigned k = 4; k < dways; k += 4)
		x = least(x, _mm256_loadu_si256((const __m256i *)&stamp[k]));
	x = least(x, _mm256_permute4x64_epi64(x, 0x4e));
	x = least(x, _mm256_shuffle_epi32(x, 0x4e));
	*way = (unsigned)find_equal(stamp, x);
	return 1;
}

#else
#define find_way4 find_way
#endif

/* Look a data line up where its hint does not help: 1 if it was missed. */
static int
dline_search(uint64_t line)
{
	uint64_t set = (line & (dsets - 1)) * dways;
	unsigned way;
	int missed = (has_avx2 ? find_way4 : find_way)(&dtag[set],
	    &dstamp[set], line << dshift, &way);

	sim_d1.hint[line % SIM_NHINT] = (uint16_t)(set + way);
	dtag[set + way] = line << dshift;
	dstamp[set + way] = ++sim_time.d;
	return missed;
}

static inline int
dline(uint64_t line)
{
	uint16_t at = sim_d1.hint[line % SIM_NHINT];

	if (tables)
		return table_touch(D1, line);
	if (__builtin_expect(dtag[at] != line << dshift, 0))
		return dline_search(line);
	dstamp[at] = ++sim_time.d;
	return 0;
}

/* The instruction that has a reference. */
static uint32_t
insn_of(const struct ev_block *b, uint32_t ref)
{
	uint32_t i = 0;

	while (ref >= (uint32_t)b->insn[i].ref + b->insn[i].nref)
		i++;
	return i;
}

/* A reference has missed D1. */
__attribute__((noinline))
static void
data_missed(uint32_t cold, uint32_t ref, uint64_t addr, uint64_t size)
{
	const struct cold *c = &cold_block[cold];
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
	uint64_t line = addr >> dshift, most = ~(uint64_t)0 >> dshift;
	uint64_t n = ((addr & (((uint64_t)1 << dshift) - 1)) + size - 1) >>
	    dshift;
	int missed = dline(line);

	for (; n > 0; n--) {
		line = (line + 1) & most;
		missed |= dline(line);
	}
	if (missed)
		data_missed(cold, ref, addr, size);
}

/* ---- the long way ---- */

static void
differs(struct cold *c, uint32_t ref, int64_t by)
{
	struct odd *o = cold_odd(c);

	if (o->extra == NULL)
		o->extra = xcalloc(c->block->nref, sizeof *o->extra);
	o->extra[ref] += by;
}

/* How often Valgrind would fetch a repeated instruction beyond once. */
static void
count_rounds(struct cold *c, uint32_t insn, uint32_t ref, uint64_t n)
{
	const struct ev_insn *i = &c->block->insn[insn];
	struct odd *o = cold_odd(c);
	int writes = 0;

	/* once for an instruction: with its first repeated reference */
	for (uint32_t k = i->ref; k < ref; k++)
		if (c->block->ref[k].count != 0)
			return;
	for (uint32_t k = 0; k < i->nref; k++)
		writes |= c->block->ref[i->ref + k].kind != 'r';
	if (o->rounds == NULL)
		o->rounds = xcalloc(c->block->ninsn, sizeof *o->rounds);
	/* movs, stos: a last test of the count; cmps, scas: ended by it */
	o->rounds[insn] += writes ? (int64_t)n : (int64_t)(n > 0 ? n - 1 : 0);
}

static inline uint64_t
base_of(const struct cold *c, const struct ev_ref *r)
{
	return r->where == EV_GROUP ? r->at + c->block->value[r->group] : r->at;
}

/* Rounds, from this one on, in which a reference stays in its line. */
static uint64_t
rounds_in_line(uint64_t addr, uint32_t size, int down)
{
	uint64_t mask = ((uint64_t)1 << dshift) - 1, off = addr & mask;

	if (off + size > mask + 1)
		return 0;
	return down ? off / size + 1 : (mask + 1 - off) / size;
}

/* The neighbouring references from..to, which share a count, in turns. */
struct turns {
	uint32_t cold, from, to;
	uint64_t round;		/* the next one */
	int down;
};

static int
happens(const struct cold *c, const struct ev_ref *r)
{
	return r->where != EV_GROUP || c->block->value[r->group] != 0;
}

static uint64_t
round_addr(const struct turns *t, const struct cold *c, const struct ev_ref *r)
{
	uint64_t far = t->round * r->size;

	return base_of(c, r) + (t->down ? -far : far);
}

/*
 * The next n rounds. As long as all of them stay in their lines, one is as
 * good as many: provided that the lines fit into a set together.
 */
static void
turns_rounds(struct turns *t, uint64_t n)
{
	const struct cold *c = &cold_block[t->cold];
	const struct ev_ref *r = c->block->ref;
	uint64_t end = t->round + n;

	while (t->round < end) {
		uint64_t stay = t->to - t->from <= dassoc ?
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
turns_go(struct repeat *r, uint64_t n)
{
	turns_rounds(r->what, n);
}

static void
turns_left_out(struct repeat *r, uint64_t n)
{
	((struct turns *)r->what)->round += n;
}

/* So many that most can be left out. */
static void
turns_many(struct turns *t, uint64_t n)
{
	static struct repeat_ref *ref;
	static size_t cap;
	struct cold *c = &cold_block[t->cold];
	struct repeat r = { .nested = 1, .misses = cold_data(c) + t->from,
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
repeated(struct cold *c, uint32_t from, uint32_t to)
{
	const struct ev_ref *r = c->block->ref;
	int64_t count = (int64_t)c->block->value[r[from].count - 1];
	uint64_t n = count < 0 ? -(uint64_t)count : (uint64_t)count;
	struct turns t = { (uint32_t)(c - cold_block), from, to, 0,
	    count < 0 };

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
references(struct cold *c, uint32_t insn, uint32_t from, uint32_t to)
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
recorded(struct cold *c, uint32_t from, uint32_t to)
{
	const struct unit *u = &unit[c->block->id];
	const uint64_t *rec = &record[u->rec];
	const struct fastref *r = (const struct fastref *)(rec + u->ref_at);

	for (uint32_t k = from; k < to; k++) {
		uint64_t base = rec[r[k].val];

		if (base == 0 && r[k].val < c->block->ngroups)
			differs(c, k, -1);
		else
			wide((uint32_t)(c - cold_block), k, base +
			    (uint64_t)(int64_t)r[k].dist, sim_size(&r[k]));
	}
}

static void
long_recorded(struct cold *c, uint32_t ninsn, uint32_t nref)
{
	uint32_t done = 0;

	for (uint32_t k = 0; k < c->nvisit && c->visit[k].insn < ninsn; k++) {
		recorded(c, done, c->visit[k].ref);
		done = c->visit[k].ref;
		fetch(&c->visit[k], &c->fetch[k]);
	}
	recorded(c, done, nref);
}

void
sim_long(uint32_t id)
{
	const struct ev_def *d = ev_def(events, id);
	struct cold *c = &cold_block[(uintptr_t)d->block->user - 1];
	const struct visit *v = c->visit, *end = v + c->nvisit;
	const struct ev_insn *i = c->block->insn;

	if (unit[id].ntouch != 0) {
		long_recorded(c, d->n, unit[id].nref);
		return;
	}
	for (uint32_t k = 0; k < d->n; k++) {
		if (v < end && v->insn == k) {
			fetch(v, &c->fetch[v - c->visit]);
			v++;
		}
		references(c, k, i[k].ref, (uint32_t)i[k].ref + i[k].nref);
	}
}

void
sim_alone(const struct ev_def *d, uint32_t ref)
{
	struct cold *c = &cold_block[(uintptr_t)d->block->user - 1];
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
sim_fetch(const struct visit *v, struct misses *m)
{
	fetch(v, m);
}

void
sim_slow(uint32_t id)
{
	unit[id].count++;
	sim_long(id);
}

/* ---- records ---- */

void
sim_reference(uint32_t cold, uint32_t ref, uint64_t addr, uint64_t size)
{
	uint64_t off = addr & (((uint64_t)1 << dshift) - 1);

	if (off + size > (uint64_t)1 << dshift)
		wide(cold, ref, addr, size);
	else if (dline(addr >> dshift))
		data_missed(cold, ref, addr, size);
}

uint64_t
sim_size(const struct fastref *r)
{
	return ((uint64_t)1 << dshift) - r->most;
}

/* So many rounds of a record of an id that has no short way. */
__attribute__((noinline))
static void
other(const uint64_t *p, uint64_t n)
{
	uint32_t id = ev_id(*p);

	for (; n > 0; n--) {
		ev_apply(ev_def(events, id), p + 1);
		unit[id].count++;
		sim_long(id);
	}
}

/* The same record, with n rounds; returns its end. */
static uint64_t *
with_rounds(uint64_t *to, const uint64_t *p, uint64_t n)
{
	unsigned words = 1 + ev_ngroups(*p);

	memcpy(to, p, words * sizeof *p);
	to[0] &= ~EV_MORE;
	if (n == 1)
		return to + words;
	to[0] |= EV_MORE;
	to[words] = n - 1;
	return to + words + 1;
}

void
sim_rounds(const uint64_t *p, uint64_t n)
{
	uint64_t some[2 + 256];

	if (unit[ev_id(*p)].ntouch == 0)
		other(p, n);
	else
		short_batch(some, with_rounds(some, p, n), dshift, UINT64_MAX);
}

void
sim_batch(const uint64_t *p, const uint64_t *end)
{
	if (tables) {
		lone_batch(events, p, end);
		return;
	}
	for (;;) {
		p = short_batch(p, end, dshift, REPEAT_FIRST);
		if (p >= end)
			break;
		if (ev_more(p) >= REPEAT_FIRST)
			rounds_record(events, p, ishift);
		else
			other(p, ev_more(p) + 1);
		p = ev_skip(p);
	}
}

void
sim_some(const uint64_t *p, uint64_t n)
{
	uint64_t some[2 + 256];

	nfound = 0;
	sim_batch(some, with_rounds(some, p, n));
}

void
sim_end(void)
{
	ll_drain();
}

/* ---- sets ---- */

static uint32_t *by_age;		/* the ways of a set, the newest first */
static const uint64_t *of_set;

static int
newer(const void *a, const void *b)
{
	uint64_t x = of_set[*(const uint32_t *)a];
	uint64_t y = of_set[*(const uint32_t *)b];

	return x > y ? -1 : x < y;
}

uint64_t
sim_d1_line(uint64_t set, uint64_t way)
{
	uint64_t tag;

	if (by_age == NULL)
		by_age = xmalloc(dassoc * sizeof *by_age);
	if (way == 0) {
		of_set = &dstamp[set * dways];
		for (uint32_t w = 0; w < dassoc; w++)
			by_age[w] = w;
		qsort(by_age, dassoc, sizeof *by_age, newer);
	}
	tag = dtag[set * dways + by_age[way]];
	return tag == NOLINE ? 0 : (tag >> dshift) + 1;
}

void
sim_d1_move(uint64_t set, uint64_t way, uint64_t line)
{
	if (line != 0)
		dtag[set * dways + by_age[way]] = (line - 1) << dshift;
}

uint64_t
sim_dways(const struct geometry *g)
{
	return g->size / g->line / g->assoc * ((g->assoc + 3) / 4 * 4);
}

/* Hints that nothing has set point at a tag that is not of their line. */
static void
no_hints(void)
{
	for (unsigned i = 0; i < SIM_NHINT; i++)
		sim_d1.hint[i] = i == 0 ? SIM_DLINES : SIM_DLINES + 1;
	sim_d1.tag[SIM_DLINES] = (uint64_t)1 << dshift;
	sim_d1.tag[SIM_DLINES + 1] = 0;
}

void
sim_init(const struct geometry g[NCACHE], struct evr *r, int pass)
{
	uint64_t sets, size, ways;

	events = r;
	through = pass;
	iassoc = g[I1].assoc;
	ishift = (unsigned)__builtin_ctzll(g[I1].line);
	isets = g[I1].size / g[I1].line / iassoc;
	iway = ll_reserve(isets * iassoc * sizeof *iway);
	sim_code_line(0);
	dassoc = g[D1].assoc;
	dsets = g[D1].size / g[D1].line / dassoc;
	dshift = (unsigned)__builtin_ctzll(g[D1].line);
	tables = ev_kind(r) == EV_CACHE;
	if (tables) {
		ev_filter(r, &sets, &size, &ways);
		table_init(I1, &g[I1], sets, ways);
		table_init(D1, &g[D1], sets, ways);
		lone_init((unsigned)__builtin_ctzll(g[I1].line), dshift);
	}
	dways = (unsigned)(dassoc + 3) / 4 * 4;
	if (sim_dways(&g[D1]) > SIM_DLINES) {
		dtag = ll_reserve((dsets * dways + UINT16_MAX) * sizeof *dtag);
		dstamp = ll_reserve(dsets * dways * sizeof *dstamp);
	}
	memset(dtag, 0xff, dsets * dways * sizeof *dtag);
	if (dtag == sim_d1.tag)
		no_hints();
	for (uint64_t s = 0; s < dsets; s++)
		for (uint64_t w = dassoc; w < dways; w++)
			dstamp[s * dways + w] = INT64_MAX;
#ifdef __x86_64__
	has_avx2 = __builtin_cpu_supports("avx2");
#endif
	ll_init(&g[LL]);
	repeat_init(g);
}
