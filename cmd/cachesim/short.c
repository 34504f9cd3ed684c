/*
 * short - the short way: executions whose code lines are all in I1
 *
 * Nearly all executions run here, each in some tens of cycles: the values of
 * its groups, the stamps of its code lines, its references. ordered.c explains
 * what is simulated, and has the long way for unusual executions.
 *
 * A data reference takes a look into the table of hints and one comparison.
 * The tag of a way is the address of its line. An address minus the tag is at
 * most the size of the line minus that of the reference only if the reference
 * hits and stays within the line. Before its first use, a hint points at a tag
 * that fits no address of that hint (batch_init).
 *
 * Units that run often have machine code of their own: hot.c.
 */
#include "cachesim.h"
#include "cpu.h"
#include "ways.h"

#define LANES	8

/*
 * What a batch needs, in registers: local to the loops, or the compiler would
 * believe that each store to a stamp changes it.
 */
struct run {
	uint64_t *stamp;	/* of code lines */
	const struct fastref *ref;
	struct times now;
};

static bool one_by_one;		/* each miss is told, or has several lines */
static bool hints_tell;		/* see may_search */
/* What looks for the oldest way, with lines of 64 bytes in D1. */
static enum wide { PLAIN, FOUR, EIGHT } wide;	/* C, AVX2, AVX-512 */

#define INLINE static inline __attribute__((always_inline))

/*
 * The hint does not lead to a hit: search, or touch several lines. Where misses
 * are frequent the processor guesses few of them, so as a rule nothing depends
 * on whether this is one, or only another line with the same hint.
 */
__attribute__((noinline))
static uint64_t
data_unusual(const struct cache_unit *u, const struct fastref *r, uint64_t addr,
    uint64_t now)
{
	uint32_t ref = (uint32_t)(r - record_ref) - u->ref;
	uint64_t off = addr & (((uint64_t)1 << l1.dshift) - 1);

	l1_time.d = now;
	if (__builtin_expect(one_by_one || off > r->most, 0))
		ordered_reference(u->cold, ref, addr, ordered_size(r));
	else
		ll_data(addr, &cold_data(&cold_block[u->cold])[ref],
		    (unsigned)l1_search(addr >> l1.dshift));
	return l1_time.d;
}

/* The same for units that have code: hot_missed_fn. */
__attribute__((noinline))
static uint64_t
missed_plain(uint64_t ref, uint64_t now, const uint64_t *diff, uint64_t addr,
    const uint8_t *from __attribute__((unused)))
{
	const struct cache_unit *u = &unit[ev_id(diff[-1])];
	struct misses *first = cold_data(&cold_block[u->cold]);

	return data_unusual(u, &record_ref[u->ref + (hot_misses(ref) - first)],
	    addr, now);
}

static uint64_t
told_plain(uint64_t ref, uint64_t now, const uint64_t *diff, uint64_t addr,
    const uint8_t *from)
{
	found_record = diff - 1;
	return missed_plain(ref, now, diff, addr, from);
}

#ifdef __x86_64__

#define TARGET512 \
	__attribute__((target("avx512f,avx512dq,avx512vl,bmi,bmi2")))

/*
 * The place of a set, of 8 or 16, that was used longest ago. (Half of what a
 * miss took was to compare stamps one by one.)
 */
TARGET512
INLINE unsigned
oldest_eight(const uint64_t *s)
{
	__m512i a = _mm512_loadu_si512(s), b = a, x;
	unsigned first;

	if (l1.dways > LANES)
		b = _mm512_loadu_si512(s + LANES);
	x = _mm512_min_epu64(a, b);
	x = _mm512_min_epu64(x, _mm512_shuffle_i64x2(x, x, 0x4e));
	x = _mm512_min_epu64(x, _mm512_shuffle_i64x2(x, x, 0xb1));
	x = _mm512_min_epu64(x, _mm512_permutex_epi64(x, 0xb1));
	first = _mm512_cmpeq_epi64_mask(a, x);
	return (unsigned)__builtin_ctz(first |
	    (unsigned)_mm512_cmpeq_epi64_mask(b, x) << LANES);
}

#define TARGET256 __attribute__((target("avx2,bmi")))

/*
 * For lines of 64 bytes. Hardly ever is it anything else than one line that is
 * missing; so where that is sure nothing has to be searched for.
 */
INLINE bool
may_search(uint64_t addr, unsigned most)
{
	return !hints_tell || (addr & 63) > most || !l1_is_missing(addr, 6);
}

/* Where the places of an address's set begin. */
INLINE uint64_t
set_of(uint64_t addr)
{
	return (addr >> 6 & (l1.dsets - 1)) * l1.dways;
}

/* A line that is missing for sure enters D1, in a place of its set. */
INLINE void
enter_line(uint64_t addr, uint64_t now, unsigned way)
{
	uint64_t at = set_of(addr) + way;

	l1_d.hint[(addr >> 6) % L1_NHINT] = (uint16_t)at;
	l1_d.tag[at] = addr & ~(uint64_t)63;
	l1_d.stamp[at] = now;
}

/* The misses of reference r of unit u. */
INLINE struct misses *
misses_of(const struct cache_unit *u, const struct fastref *r)
{
	return &cold_data(&cold_block[u->cold])[(uint32_t)(r - record_ref) -
	    u->ref];
}

#define TARGET TARGET512
#define WIDE(name) name##_eight
#include "missed.inc"

#define TARGET TARGET256
#define WIDE(name) name##_four
#define oldest_four ways_oldest
#include "missed.inc"

#else
#define data_eight	data_unusual
#define data_four	data_unusual
#define missed_eight	missed_plain
#define missed_four	missed_plain
#define told_eight	told_plain
#define told_four	told_plain
#endif

/* The references r..end of one round. */
INLINE void
references(struct run *x, const struct cache_unit *u, const uint64_t *rec,
    unsigned shift, enum wide by, const struct fastref *r,
    const struct fastref *end)
{
	uint64_t now = x->now.d;

	for (; r < end; r++) {
		uint64_t addr = rec[r->val] + (uint64_t)(int64_t)r->dist;
		uint16_t at = l1_d.hint[(addr >> shift) % L1_NHINT];

		if (__builtin_expect(addr - l1_d.tag[at] > r->most, 0))
			now = (by == EIGHT ? data_eight : by == FOUR ?
			    data_four : data_unusual)(u, r, addr, now);
		else
			l1_d.stamp[at] = ++now;
	}
	x->now.d = now;
}

/* The code lines; false: one is missing, and the rest is not done. */
INLINE bool
code_lines(struct run *x, const struct cache_unit *u)
{
	uint64_t *a = &x->stamp[u->touch[0]], *b = &x->stamp[u->touch[1]];
	uint64_t now = x->now.i;

	if (__builtin_expect(*a == 0 || *b == 0, 0))
		return false;
	*a = now + 1;
	*b = now + 2;
	now += 2;
	if (u->ntouch > 2) {
		const uint32_t *t = (const uint32_t *)(x->ref + u->ref);
		const uint32_t *end = t - (u->ntouch - 2);

		while (t > end) {
			if (__builtin_expect(x->stamp[*--t] == 0, 0))
				return false;
			x->stamp[*t] = ++now;
		}
	}
	x->now.i = now;
	return true;
}

/* The code lines of one fetch. */
static inline void
visit(struct run *x, const struct visit *v, struct misses *m)
{
	uint64_t *a = &x->stamp[v->a], *b = &x->stamp[v->b];

	if (__builtin_expect(*a == 0 || (v->b != 0 && *b == 0), 0)) {
		l1_time.i = x->now.i;
		ordered_fetch(v, m);
		x->now.i = l1_time.i;
		return;
	}
	*a = ++x->now.i;
	if (v->b != 0)
		*b = ++x->now.i;
}

/* One round in the order of its events: a code line may be missing. */
__attribute__((noinline))
static void
in_order(struct run *x, const struct cache_unit *u, const uint64_t *rec,
    uint32_t id)
{
	const struct cold_block *c = &cold_block[u->cold];
	const struct fastref *first = x->ref + u->ref, *r = first;
	uint32_t ninsn = ordered_ninsn(id);

	for (uint32_t k = 0; k < c->nvisit && c->visit[k].insn < ninsn; k++) {
		const struct visit *v = &c->visit[k];

		references(x, u, rec, l1.dshift, PLAIN, r, first + v->ref);
		r = first + v->ref;
		visit(x, v, &cold_fetch(c)[k]);
	}
	references(x, u, rec, l1.dshift, PLAIN, r, first + u->nref);
}

/* One round; values have been set. */
INLINE void
one_round(struct run *x, const struct cache_unit *u, const uint64_t *rec,
    uint32_t id, unsigned shift, enum wide by, bool none)
{
	const struct fastref *r = x->ref + u->ref;

	if (__builtin_expect(none, 0)) {
		l1_time = x->now;
		ordered_long(id);
		x->now = l1_time;
	} else if (__builtin_expect(code_lines(x, u), 1)) {
		references(x, u, rec, shift, by, r, r + u->nref);
	} else {
		in_order(x, u, rec, id);
	}
}

/* ---- units that have code ---- */

static uint64_t
fetched(uint64_t k, uint64_t now, const uint64_t *diff)
{
	const struct cold_block *c = &cold_block[unit[ev_id(diff[-1])].cold];

	found_record = diff - 1;
	l1_time.i = now;
	ordered_fetch(&c->visit[k], &cold_fetch(c)[k]);
	return l1_time.i;
}

static inline const uint64_t *
run_hot(struct run *x, const uint64_t *p, const uint64_t *end, uint64_t most)
{
	const uint64_t *to;

	l1_time = x->now;
	to = hot_run(p, end, most);
	x->now = l1_time;
	sites_ran((size_t)(to - p));
	return to;
}

/* ---- records ---- */

INLINE bool
add_values(uint64_t *val, const uint64_t *diff, const uint64_t *end)
{
	bool none = false;

	for (; diff < end; diff++, val++) {
		uint64_t v = *val + *diff;

		*val = v;
		if (__builtin_expect(v == 0, 0))
			none = true;
	}
	return none;
}

/*
 * Records up to one that is not for the short way, or has more rounds than
 * most: where that is.
 */
INLINE const uint64_t *
some(const uint64_t *p, const uint64_t *last, unsigned shift, enum wide by,
    uint64_t most)
{
	struct run x = { l1_istamp, record_ref, l1_time };
	struct cache_unit *const units = unit;
	uint64_t *const records = record;

	while (p < last) {
		uint64_t head = *p, rounds = 1;
		struct cache_unit *u = &units[ev_id(head)];
		uint64_t *rec = &records[u->rec];
		const uint64_t *diff = p + 1, *end = diff + ev_ngroups(head);

		if (shift == 6 && u->ntouch == HOT_UNIT) {
			p = run_hot(&x, p, last, most);
			if (p == diff - 1)
				break;
			continue;
		}
		if (__builtin_expect(u->ntouch == 0, 0))
			break;
		found_record = p;
		p = end;
		if (__builtin_expect((head & EV_MORE) != 0, 0)) {
			if (*p >= most) {
				p = diff - 1;
				break;
			}
			rounds += *p++;
		}
		u->count += rounds;
		do
			one_round(&x, u, rec, ev_id(head), shift, by,
			    add_values(rec, diff, end));
		while (__builtin_expect(--rounds != 0, 0));
		if (__builtin_expect(u->count >= hot_after, 0))
			hot_make(ev_id(head), ev_ngroups(head));
	}
	l1_time = x.now;
	return p;
}

static enum wide
widest(void)
{
#ifdef __x86_64__
	if (cpu_has(AVX512F, "avx512f") && cpu_has(AVX512DQ, "avx512dq") &&
	    cpu_has(AVX512VL, "avx512vl") && cpu_has(BMI2, "bmi2"))
		return EIGHT;
	if (cpu_has(AVX2, "avx2") && cpu_has(BMI1, "bmi") &&
	    cpu_has(BMI2, "bmi2"))	/* which hotsearch.S has, too */
		return FOUR;
#endif
	return PLAIN;
}

void
short_init(const struct geometry g[NCACHE], bool through)
{
	hot_missed_fn *const told[] = { told_plain, told_four, told_eight };
	hot_missed_fn *const missed[] = { missed_plain, missed_four,
	    missed_eight };

	one_by_one = through || g[LL].line < g[D1].line;
	hints_tell = l1.hints_tell &&
	    (l1.dways == LANES || l1.dways == 2 * LANES);
	wide = l1.dshift == 6 ? widest() : PLAIN;
	if (l1.tables || l1.dshift != 6 || g[LL].line < g[D1].line)
		return;
	hot_init(through ? told[wide] : missed[wide], fetched, wide == EIGHT);
}

const uint64_t *
short_batch(const uint64_t *p, const uint64_t *end, uint64_t most)
{
	if (l1.dshift != 6)
		return some(p, end, l1.dshift, PLAIN, most);
	if (one_by_one || wide == PLAIN)
		return some(p, end, 6, PLAIN, most);
	return wide == FOUR ? some(p, end, 6, FOUR, most) :
	    some(p, end, 6, EIGHT, most);
}
