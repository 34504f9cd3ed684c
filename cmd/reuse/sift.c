/*
 * sift - find the uses of a sample's lines, eight at a time
 *
 * Of a small sample nearly no use is of a sampled line. So the uses of a block
 * are packed by eight; a pack's addresses and their hashes are computed at
 * once, and only uses that may be sampled go on, one by one: those whose line
 * has a small hash, those on two lines, and those that did not happen.
 *
 * This needs AVX-512; without it, and for what is rare - many rounds, repeated
 * references, blocks of many groups -, refs.c looks at each use.
 */
#include "reuse.h"

#include <stdlib.h>
#include <string.h>

#include "util.h"

#if defined __x86_64__
#include <immintrin.h>

#define PACK	8
#define NONE	(SIFT_VALUES - 1)	/* that value is 0 */
#define MOST_GROUPS (NONE - 1)	/* for there is also one that is 1 */
#define ROUNDS	32		/* of a record, that are run one by one */
#define TARGET512 __attribute__((target("avx512f,avx512dq,bmi2")))

struct pack {
	uint64_t at[PACK];	/* added to the value; without one, all */
	/*
	 * In the high bits, the last place in a line at which a reference
	 * is on that line alone; in the low ones the index of its value,
	 * or of a 0.
	 */
	uint64_t edge[PACK];
} __attribute__((aligned(64)));

static struct pack *packs;
static size_t cappack, npack;
static uint32_t threshold;
static void (*use_one)(const struct unit *, uint32_t k);

void
sift_init(uint32_t below, void (*use)(const struct unit *, uint32_t k))
{
	threshold = below;
	use_one = use;
}

static bool
can(void)
{
	return __builtin_cpu_supports("avx512f") &&
	    __builtin_cpu_supports("avx512dq") &&
	    __builtin_cpu_supports("bmi2");
}

/* An address that is not of the sample, nearly always. */
static uint64_t
nowhere(void)
{
	static uint64_t line;

	if (line == 0)
		do
			line++;
		while (line < 1000 && refs_hash(line) < threshold);
	return line << opt.shift;
}

uint64_t *
sift_room(size_t bytes)
{
	void *p;

	if (posix_memalign(&p, 64, bytes) != 0)
		die("memory:");
	return memset(p, 0, bytes);
}

static struct pack *
new_pack(void)
{
	struct pack *p, *old = packs;

	if (npack == cappack) {
		cappack = cappack == 0 ? 64 : 2 * cappack;
		packs = (struct pack *)sift_room(cappack * sizeof *packs);
		if (npack != 0)
			memcpy(packs, old, npack * sizeof *packs);
		free(old);
	}
	p = &packs[npack++];
	for (unsigned k = 0; k < PACK; k++) {
		p->at[k] = nowhere();
		p->edge[k] = ~(uint64_t)0 - NONE + PACK;
	}
	return p;
}

void
sift_pack(struct unit *t, const struct use *use, unsigned ngroups)
{
	uint64_t last = ((uint64_t)1 << opt.shift) - 1;
	struct pack *p = NULL;

	t->sifted = false;
	if (!can() || ngroups > MOST_GROUPS)
		return;
	for (uint32_t k = 0; k < t->nuse; k++)
		if (use[k].count != 0 || use[k].size > last)
			return;
	t->sifted = true;
	t->given = (uint16_t)~(~0U << ngroups);
	t->pack = (uint32_t)npack;
	for (uint32_t k = 0; k < t->nuse; k++) {
		bool fixed = use[k].group == ngroups;

		if (k % PACK == 0)
			p = new_pack();
		p->at[k % PACK] = use[k].at + fixed;
		p->edge[k % PACK] = (last - use[k].size) << (64 - opt.shift) |
		    (fixed ? ngroups <= PACK ? PACK : NONE : use[k].group);
	}
}

/* What is the same for all packs. */
struct filter {
	__m512i below;		/* hashes of sampled lines */
	__m128i shift, rest;	/* log2 of a line's bytes; 64 less that */
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

/* Which uses of a pack are to be looked at? */
TARGET512
static inline unsigned
look_at(const struct filter *f, const struct pack *p, __m512i values,
    __m512i edge)
{
	__m512i addr = _mm512_add_epi64(values, _mm512_load_si512(p->at));
	__m512i h = _mm512_mullo_epi64(_mm512_srl_epi64(addr, f->shift),
	    _mm512_set1_epi64((long long)HASH_FIRST));

	h = _mm512_mullo_epi64(_mm512_xor_si512(h, _mm512_srli_epi64(h, 32)),
	    _mm512_set1_epi64((long long)HASH_SECOND));
	return (unsigned)_mm512_cmplt_epu64_mask(h, f->below) |
	    _mm512_cmpgt_epu64_mask(_mm512_sll_epi64(addr, f->rest), edge);
}

TARGET512
static inline void
look(const struct unit *t, uint32_t k, unsigned which)
{
	if (t->nuse - k < PACK)
		which &= ~(~0U << (t->nuse - k));
	for (; which != 0; which &= which - 1)
		use_one(t, k + (unsigned)__builtin_ctz(which));
}

/* Run a block of up to 8 groups. */
TARGET512
static inline void
run_narrow(const struct filter *f, const struct unit *t, const uint64_t *rec)
{
	__m512i v = add(t->value, rec + 1, ev_ngroups(*rec)), edge;
	const struct pack *p = packs + t->pack;
	__m512i none = _mm512_setzero_si512();
	unsigned which, all = 0;

	if (_mm512_mask_testn_epi64_mask((__mmask8)t->given, v, v))
		all = 0xff;
	for (uint32_t k = 0; k < t->nuse; k += PACK, p++) {
		edge = _mm512_load_si512(p->edge);
		which = all | look_at(f, p,
		    _mm512_permutex2var_epi64(v, edge, none), edge);
		if (__builtin_expect(which != 0, 0))
			look(t, k, which);
	}
}

/* Run a block of more groups. */
TARGET512
static inline void
run_wide(const struct filter *f, const struct unit *t, const uint64_t *rec)
{
	unsigned n = ev_ngroups(*rec), which, all = 0;
	__m512i v = add(t->value, rec + 1, n < PACK ? n : PACK), edge;
	__m512i w = add(t->value + PACK, rec + 1 + PACK,
	    n < PACK ? 0 : n - PACK);
	const struct pack *p = packs + t->pack;

	if (_mm512_testn_epi64_mask(v, v) |
	    _mm512_mask_testn_epi64_mask((__mmask8)(t->given >> PACK), w, w))
		all = 0xff;
	for (uint32_t k = 0; k < t->nuse; k += PACK, p++) {
		edge = _mm512_load_si512(p->edge);
		which = all | look_at(f, p,
		    _mm512_permutex2var_epi64(v, edge, w), edge);
		if (__builtin_expect(which != 0, 0))
			look(t, k, which);
	}
}

TARGET512
static inline void
run(const struct filter *f, const struct unit *t, const uint64_t *rec)
{
	if (t->given < 1U << PACK)
		run_narrow(f, t, rec);
	else
		run_wide(f, t, rec);
}

/* Run the rounds of a record; returns how many, 0 if they are many. */
TARGET512
__attribute__((noinline))
static uint64_t
rounds(const struct filter *f, const struct unit *t, const uint64_t *rec,
    uint64_t left)
{
	uint64_t n = 1 + ev_more(rec);

	if (n > ROUNDS || n * t->ninsn > left)
		return 0;
	for (uint64_t k = 0; k < n; k++)
		run(f, t, rec);
	return n;
}

TARGET512
static const uint64_t *
sift512(struct unit *units, const uint64_t *rec, const uint64_t *end)
{
	const struct filter f = {
		_mm512_set1_epi64((long long)((uint64_t)threshold << 32)),
		_mm_cvtsi32_si128((int)opt.shift),
		_mm_cvtsi32_si128(64 - (int)opt.shift) };
	struct history *h = history;
	uint64_t left = work_left(&h->work), insns = 0, refs = 0;
	uint64_t before = h->refs, n;

	for (; rec < end && insns < left; rec = ev_skip(rec)) {
		struct unit *t = &units[ev_id(*rec)];

		if (__builtin_expect(!t->sifted, 0))
			break;
		n = 1;
		if (__builtin_expect((*rec & EV_MORE) != 0, 0)) {
			n = rounds(&f, t, rec, left - insns);
			if (n == 0)
				break;
		} else {
			run(&f, t, rec);
		}
		t->times += n;
		insns += n * t->ninsn;
		refs += n * t->nref;
	}
	h->refs += refs;
	h->insns += insns;
	work_done(h, insns, h->refs - before);
	return rec;
}

const uint64_t *
sift(struct unit *units, const uint64_t *rec, const uint64_t *end)
{
	return can() ? sift512(units, rec, end) : rec;
}

#else

void
sift_init(uint32_t below, void (*use)(const struct unit *, uint32_t k))
{
	(void)below;
	(void)use;
}

uint64_t *
sift_room(size_t bytes)
{
	return xcalloc(1, bytes);
}

void
sift_pack(struct unit *t, const struct use *use, unsigned ngroups)
{
	(void)use;
	(void)ngroups;
	t->sifted = false;
}

const uint64_t *
sift(struct unit *units, const uint64_t *rec, const uint64_t *end)
{
	(void)units;
	(void)end;
	return rec;
}

#endif
