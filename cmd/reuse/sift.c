/*
 * sift - find the uses of a sample's lines, eight at a time
 *
 * Of a small sample nearly no use is of a sampled line. So uses are not looked
 * at one by one: those of a group that are less than a line apart are on the
 * line of their first byte or on that of their last one. Such bytes are a
 * block's lanes, packed by eight. A pack's addresses and their hashes are
 * computed at once; only where one may be sampled refs.c looks at the uses.
 *
 *	4r8.0 4w8.0+8 4r4.0+10 4r8.1	a lane at 0, one at 13 of group 0,
 *					one of 8 bytes of group 1
 *
 * A few bytes have one lane, which is also looked at if they are on two lines.
 * Fixed references have none: whether they are sampled is known at once.
 */
#include "cpu.h"
#include "reuse.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "prog.h"

#if defined __x86_64__
#include <immintrin.h>
#define TARGET512 __attribute__((target("avx512f,avx512dq,bmi2")))
#endif

#define PACK	8
#define FEW	16		/* bytes that one lane is for */
#define MOST	56		/* lanes of a block */
#define FIXED	((uint64_t)1 << 63)	/* a sampled one, instead of lanes */
#define MOST_USES 1024		/* of a block */
#define LATER	256		/* executions that are put down */
#define ROUNDS	16		/* of a record, that are run one by one */

struct pack {
	int32_t at[PACK];	/* added to the value */
	uint8_t group[PACK];	/* whose */
	uint8_t more[PACK];	/* bytes behind it */
	uint8_t lanes;		/* bits: those that there are */
} __attribute__((aligned(64)));

/* Uses that share their lanes. */
struct cluster {
	uint64_t from, to;	/* distances of the first byte, the last one */
	uint8_t group;
	uint64_t lanes;		/* bits */
};

/* What an id executes, in short: half a line of memory. */
struct part {
	uint64_t *value;
	uint64_t times;
	uint64_t size;		/* instructions, and references << 32 */
	uint32_t pack;
	uint8_t npack;		/* at least 1 */
	uint8_t given;		/* bits: groups that are used, of the first 8 */
	bool wide;		/* has more than 8 groups */
	bool always;		/* a fixed reference is of a sampled line */
};

static struct pack *packs;
static uint64_t *lanes;		/* bits: those of each use, or FIXED, or 0 */
static size_t cappack, npack, caplane;
static uint32_t threshold;
static use_fn *use_one;
static struct part *parts;	/* by id */
static size_t cappart;

/* An execution with lanes that may be of sampled lines. */
static struct {
	uint64_t value[PACK];	/* by group; behind them */
	uint64_t one[PACK - 2];	/* that of fixed uses */
	const struct unit *unit;
	uint64_t which;
} __attribute__((aligned(64))) later[LATER + 1];
static unsigned nlater;

void
sift_init(uint32_t below, use_fn *use)
{
	threshold = below;
	use_one = use;
	for (unsigned i = 0; i < LATER; i++)
		later[i].one[0] = 1;
}

static void *
aligned(size_t bytes)
{
	void *p;

	if (posix_memalign(&p, 64, bytes) != 0)
		die("memory:");
	return memset(p, 0, bytes);
}

uint64_t *
sift_values(unsigned ngroups)
{
	return aligned((ngroups / PACK + (size_t)1) * PACK * sizeof(uint64_t));
}

/* ---- definitions ---- */

static bool
is_sampled(uint64_t addr)
{
	return refs_hash(addr >> opt.shift) < threshold;
}

/* Put a use into a cluster: its number, or n for a new one. */
static unsigned
join(struct cluster *c, unsigned n, const struct use *u)
{
	uint64_t line = (uint64_t)1 << opt.shift;
	uint64_t from = u->at, to = u->at + u->size;

	for (unsigned i = 0; i < n; i++) {
		uint64_t a = (int64_t)(from - c[i].from) < 0 ? from : c[i].from;
		uint64_t z = (int64_t)(to - c[i].to) > 0 ? to : c[i].to;

		if (c[i].group != u->group || z - a >= line ||
		    from - a > z - a || to - a > z - a)
			continue;
		c[i].from = a;
		c[i].to = z;
		return i;
	}
	c[n] = (struct cluster){ from, to, u->group, 0 };
	return n;
}

static void
set_lane(uint32_t first, unsigned lane, const struct cluster *c, uint64_t at,
    uint64_t more)
{
	struct pack *p = &packs[first + lane / PACK];

	p->at[lane % PACK] = (int32_t)at;
	p->group[lane % PACK] = c->group;
	p->more[lane % PACK] = (uint8_t)more;
	p->lanes |= (uint8_t)(1U << lane % PACK);
}

static bool
is_near(uint64_t at)
{
	return at + INT32_MAX + 1 <= UINT32_MAX;
}

/* Make lanes of clusters; false: they are too many, or too far. */
static bool
make_lanes(uint32_t first, struct cluster *c, unsigned n)
{
	unsigned lane = 0;

	for (; n > 0; n--, c++) {
		uint64_t more = c->to - c->from;
		bool two = more >= FEW;

		if (lane + two >= MOST || !is_near(c->from) || !is_near(c->to))
			return false;
		c->lanes = (two ? UINT64_C(3) : UINT64_C(1)) << lane;
		set_lane(first, lane++, c, c->from, two ? 0 : more);
		if (two)
			set_lane(first, lane++, c, c->to, 0);
	}
	return true;
}

/* The lanes of uses, and packs of them; false: see make_lanes. */
static bool
pack(const struct unit *t, const struct use *use, unsigned ngroups)
{
	struct cluster cluster[MOST];
	uint8_t of[MOST_USES];
	unsigned n = 0;

	if (t->nuse > MOST_USES)
		return false;
	for (uint32_t k = 0; k < t->nuse; k++) {
		if (use[k].group == ngroups)
			continue;
		of[k] = (uint8_t)join(cluster, n, &use[k]);
		if (of[k] == n && ++n == MOST)
			return false;
	}
	if (!make_lanes((uint32_t)npack, cluster, n))
		return false;
	lanes = xgrow(lanes, &caplane, t->use + (size_t)t->nuse,
	    sizeof *lanes);
	for (uint32_t k = 0; k < t->nuse; k++)
		lanes[t->use + k] = use[k].group != ngroups ?
		    cluster[of[k]].lanes : is_sampled(use[k].at + 1) ||
		    is_sampled(use[k].at + 1 + use[k].size) ? FIXED : 0;
	return true;
}

static void
room_for_packs(void)
{
	struct pack *old = packs;

	if (npack + MOST / PACK > cappack) {
		cappack = 2 * cappack + MOST / PACK;
		packs = aligned(cappack * sizeof *packs);
		if (npack != 0)
			memcpy(packs, old, npack * sizeof *packs);
		free(old);
	}
	memset(&packs[npack], 0, MOST / PACK * sizeof *packs);
}

static bool
can_sift(const struct unit *t, const struct use *use, unsigned ngroups)
{
	uint64_t last = ((uint64_t)1 << opt.shift) - 1;

	for (uint32_t k = 0; k < t->nuse; k++)
		if (use[k].count != 0 || use[k].size > last)
			return false;
	room_for_packs();
	return pack(t, use, ngroups);
}

/* A block's part, or one of fewer uses. */
static void
set_part(struct part *p, const struct unit *t, unsigned ngroups)
{
	uint64_t all = 0;

	p->value = t->value;
	p->size = (uint64_t)t->nref << 32 | t->ninsn;
	for (uint32_t k = 0; k < t->nuse; k++)
		all |= lanes[t->use + k];
	p->wide = ngroups > PACK;
	p->always = (all & FIXED) != 0;
	all &= ~FIXED;
	p->npack = (uint8_t)(all == 0 ? 1 : (71 - __builtin_clzll(all)) / 8);
	p->given = all == 0 ? 0 : (uint8_t)~(~0U << (ngroups > PACK ? PACK :
	    ngroups));
}

void
sift_define(uint32_t id, const struct unit *t, const struct use *use,
    unsigned ngroups)
{
	parts = xgrow0(parts, &cappart, id + (size_t)1, sizeof *parts);
	if (!can_sift(t, use, ngroups))
		return;
	parts[id].pack = (uint32_t)npack;
	set_part(&parts[id], t, ngroups);
	npack += parts[id].npack;
}

void
sift_part(uint32_t id, const struct unit *t, uint32_t block, unsigned ngroups)
{
	parts = xgrow0(parts, &cappart, id + (size_t)1, sizeof *parts);
	if (parts[block].value == NULL)
		return;
	parts[id].pack = parts[block].pack;
	set_part(&parts[id], t, ngroups);
	/* values put down for later lack that of fixed uses */
	parts[id].wide |= parts[block].wide && parts[id].always;
}

uint64_t
sift_times(uint32_t id)
{
	return id < cappart ? parts[id].times : 0;
}

/* ---- executions ---- */

/* Some lanes may be of sampled lines. */
__attribute__((noinline))
static void
look(const struct unit *t, const uint64_t *value, uint64_t which)
{
	const uint64_t *lane = &lanes[t->use];

	for (uint32_t k = 0; k < t->nuse; k++)
		if (lane[k] & which)
			use_one(t, k, value);
}

/* Which lanes of a pack may be? */
static unsigned
look_at(const struct pack *p, const uint64_t *value)
{
	uint64_t last = ((uint64_t)1 << opt.shift) - 1, addr;
	unsigned which = 0;

	for (unsigned k = 0; k < PACK; k++) {
		addr = value[p->group[k]] + (uint64_t)(int64_t)p->at[k];
		which |= (unsigned)((addr & last) + p->more[k] > last ||
		    is_sampled(addr)) << k;
	}
	return which & p->lanes;
}

static inline void
run(const struct part *p, const struct unit *t, const uint64_t *rec)
{
	uint64_t which = p->always ? FIXED : 0;

	for (unsigned i = 0; i < ev_ngroups(*rec); i++)
		if (__builtin_expect((p->value[i] += rec[1 + i]) == 0, 0))
			which = ~(uint64_t)0;
	for (unsigned k = 0; k < p->npack; k++)
		which |= (uint64_t)look_at(&packs[p->pack + k], p->value) <<
		    k * PACK;
	if (__builtin_expect(which != 0, 0))
		look(t, p->value, which);
}

#if defined __x86_64__

/* What is the same for all packs. */
struct filter {
	const struct pack *packs;
	__m512i below;		/* hashes of sampled lines */
	__m512i last;		/* byte of a line */
	__m128i shift;		/* log2 of a line's bytes */
};

/*
 * Add a record's n differences to the values at v. All are stored, for the next
 * load waits for a store with a mask.
 */
TARGET512
static inline __m512i
add(uint64_t *v, const uint64_t *diff, unsigned n)
{
	__m512i sum = _mm512_add_epi64(_mm512_load_si512(v),
	    _mm512_maskz_loadu_epi64((__mmask8)_bzhi_u32(0xff, n), diff));

	_mm512_store_si512(v, sum);
	return sum;
}

TARGET512
static inline unsigned
look_at512(const struct filter *f, const struct pack *p, __m512i values)
{
	__m512i addr = _mm512_add_epi64(values, _mm512_cvtepi32_epi64(
	    _mm256_load_si256((const __m256i *)p->at)));
	__m512i more = _mm512_cvtepu8_epi64(_mm_loadl_epi64(
	    (const __m128i *)p->more));
	__m512i h = _mm512_mullo_epi64(_mm512_srl_epi64(addr, f->shift),
	    _mm512_set1_epi64((long long)HASH_FIRST));

	h = _mm512_mullo_epi64(_mm512_xor_si512(h, _mm512_srli_epi64(h, 32)),
	    _mm512_set1_epi64((long long)HASH_SECOND));
	more = _mm512_add_epi64(more, _mm512_and_si512(addr, f->last));
	return (unsigned)(_mm512_cmplt_epu64_mask(h, f->below) |
	    _mm512_cmpgt_epu64_mask(more, f->last)) & p->lanes;
}

TARGET512
static inline __m512i
groups_of(const struct pack *p)
{
	return _mm512_cvtepu8_epi64(_mm_loadl_epi64(
	    (const __m128i *)p->group));
}

/*
 * Run a block of up to 8 groups. A jump for those few executions that are to be
 * looked at would be predicted wrongly: they are put down for later.
 */
TARGET512
static inline void
run_narrow(const struct filter *f, const struct part *part,
    const struct unit *t, const uint64_t *rec)
{
	__m512i v = add(part->value, rec + 1, ev_ngroups(*rec));
	const struct pack *p = f->packs + part->pack;
	uint64_t which = (uint64_t)part->always << 63;
	unsigned k = 0;

	which |= -(uint64_t)(_mm512_mask_testn_epi64_mask(part->given, v, v) !=
	    0);
	do {
		which |= (uint64_t)look_at512(f, p, _mm512_permutexvar_epi64(
		    groups_of(p), v)) << k * PACK;
		p++;
	} while (__builtin_expect(++k < part->npack, 0));
	_mm512_store_si512(later[nlater].value, v);
	later[nlater].unit = t;
	later[nlater].which = which;
	nlater += which != 0;
}

/* Look at what was put down. */
static void
catch_up(void)
{
	for (unsigned i = 0; i < nlater; i++)
		look(later[i].unit, later[i].value, later[i].which);
	nlater = 0;
}

/* The values of a pack's groups, of which there are more than 8. */
TARGET512
static inline __m512i
gather(const struct pack *p, const uint64_t *value, unsigned n)
{
	__m512i group = groups_of(p);

	return n > 2 * PACK ? _mm512_i64gather_epi64(group, value, 8) :
	    _mm512_permutex2var_epi64(_mm512_load_si512(value), group,
	    _mm512_load_si512(value + PACK));
}

/* Run a block of more groups. */
TARGET512
__attribute__((noinline))
static void
run_wide(const struct filter *f, const struct part *part,
    const struct unit *t, const uint64_t *rec)
{
	unsigned n = ev_ngroups(*rec), left;
	const struct pack *p = packs + part->pack;
	uint64_t which = (uint64_t)part->always << 63;

	catch_up();
	for (unsigned i = 0; i < n; i += PACK) {
		__m512i v;

		left = n - i < PACK ? n - i : PACK;
		v = add(part->value + i, rec + 1 + i, left);
		if (_mm512_mask_testn_epi64_mask((__mmask8)_bzhi_u32(0xff,
		    left), v, v) != 0)
			which = ~(uint64_t)0;
	}
	for (unsigned k = 0; k < part->npack; k++, p++)
		which |= (uint64_t)look_at512(f, p, gather(p, part->value,
		    n)) << k * PACK;
	if (__builtin_expect(which != 0, 0))
		look(t, part->value, which);
}

TARGET512
static inline void
run512(const struct filter *f, const struct part *p, const struct unit *t,
    const uint64_t *rec)
{
	if (__builtin_expect(p->wide, 0))
		run_wide(f, p, t, rec);
	else
		run_narrow(f, p, t, rec);
	if (__builtin_expect(nlater == LATER, 0))
		catch_up();
}
#endif

struct run {
	const struct unit *units;
	const uint64_t *rec, *end;
	uint64_t left, size;
};

/* The part that a record runs, or NULL; and how often. */
static inline struct part *
next(const struct run *r, uint64_t *n)
{
	struct part *p = &parts[ev_id(*r->rec)];

	if (__builtin_expect(p->value == NULL, 0))
		return NULL;
	*n = 1;
	if (__builtin_expect((*r->rec & EV_MORE) != 0, 0)) {
		*n += ev_more(r->rec);
		if (*n > ROUNDS || *n * (uint32_t)p->size >
		    r->left - (uint32_t)r->size)
			return NULL;
	}
	return p;
}

static inline void
ran(struct run *r, struct part *p, uint64_t n)
{
	p->times += n;
	r->size += n * p->size;
	r->rec = ev_skip(r->rec);
}

static void
sift_plain(struct run *r)
{
	struct part *p;
	uint64_t n;

	while (r->rec < r->end && (uint32_t)r->size < r->left &&
	    (p = next(r, &n)) != NULL) {
		for (uint64_t k = 0; k < n; k++)
			run(p, &r->units[ev_id(*r->rec)], r->rec);
		ran(r, p, n);
	}
}

#if defined __x86_64__
TARGET512
static void
sift512(struct run *out)
{
	const struct filter f = { packs,
		_mm512_set1_epi64((long long)((uint64_t)threshold << 32)),
		_mm512_set1_epi64((1LL << opt.shift) - 1),
		_mm_cvtsi32_si128((int)opt.shift) };
	struct run r = *out;
	struct part *p;
	uint64_t n;

	while (r.rec < r.end && (uint32_t)r.size < r.left &&
	    (p = next(&r, &n)) != NULL) {
		const struct unit *t = &r.units[ev_id(*r.rec)];

		for (uint64_t k = 1; __builtin_expect(k < n, 0); k++)
			run512(&f, p, t, r.rec);
		run512(&f, p, t, r.rec);
		ran(&r, p, n);
	}
	catch_up();
	*out = r;
}
#endif

const uint64_t *
sift(const struct unit *units, const uint64_t *rec, const uint64_t *end)
{
	struct history *h = history;
	struct run r = { units, rec, end, work_left(&h->work), 0 };
	uint64_t before = h->refs;

#if defined __x86_64__
	if (cpu_has(AVX512F, "avx512f") &&
	    cpu_has(AVX512DQ, "avx512dq") &&
	    cpu_has(BMI2, "bmi2"))
		sift512(&r);
	else
#endif
		sift_plain(&r);
	h->refs += r.size >> 32;
	h->insns += (uint32_t)r.size;
	work_done(h, (uint32_t)r.size, h->refs - before);
	return r.rec;
}
