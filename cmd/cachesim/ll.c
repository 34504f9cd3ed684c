/*
 * ll - the last-level cache
 *
 * What misses a first-level cache is queued, and looked up when the queue is
 * full: in the same order, but with the sets on their way from memory.
 */
#include "cachesim.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif
#include <string.h>
#include <sys/mman.h>

#include "cpu.h"
#include "khash.h"
#include "mem.h"

/*
 * A set is its tags from the newest to the oldest, 0 where there is none. 16
 * tags of 32 bits are one line of our own cache, where each set begins one. A
 * tag that is larger, which takes a small LL and a large address, needs the
 * plain form: 64 bits.
 */
struct llc llc;
#define USED_WHOLE ((uint64_t)16 << 20)	/* so large a cache, even a short run */
static uint64_t *plain_set;
static uint64_t lassoc, lsets;
#ifdef __x86_64__
static bool has_avx512, has_avx2;
#endif

KHASH_MAP_INIT_INT64(carry, uint64_t)

static khash_t(carry) *carries;		/* by count: what it lacks */

void *
ll_reserve(size_t n)
{
	return xreserve(n, 1, "memory for a cache");
}

/* The bytes of all tags, not in plain form. */
static size_t
tag_bytes(void)
{
	return lsets * llc.sets.stride * sizeof *llc.sets.tag;
}

static void
to_plain(void)
{
	plain_set = ll_reserve(lsets * lassoc * sizeof *plain_set);
	if (llc.sets.tag != NULL) {
		for (uint64_t s = 0; s < lsets; s++)
			for (uint64_t w = 0; w < lassoc; w++)
				if (ll_set(&llc.sets, s)[w] != 0)
					plain_set[s * lassoc + w] =
					    ll_set(&llc.sets, s)[w];
		munmap(llc.sets.tag, tag_bytes());
	}
	llc.sets.tag = NULL;
}

static int
ll_plain(uint64_t line)
{
	uint64_t *t = plain_set + (line & (lsets - 1)) * lassoc;
	uint64_t tag = (line >> llc.bits) + 1, w = 0;

	if (t[0] == tag)
		return 0;
	while (w < lassoc - 1 && t[w] != tag)
		w++;
	tag ^= t[w];
	memmove(t + 1, t, w * sizeof *t);
	t[0] = (line >> llc.bits) + 1;
	return tag != 0;
}

/* ---- counts of misses ---- */

/*
 * A count that overflows 8 bits goes on from HALF; what it lacks from then on
 * is in a table, which is only looked at for counts that are so large.
 */
#define HALF MISSES_HALF

static uint64_t *
lacks(const uint8_t *miss)
{
	int new;
	khint_t k;

	if (carries == NULL)
		carries = kh_init(carry);
	k = kh_put(carry, carries, (uintptr_t)miss, &new);
	if (new != 0)
		kh_val(carries, k) = 0;
	return &kh_val(carries, k);
}

void
misses_carry(uint8_t *miss)
{
	*miss = HALF;
	*lacks(miss) += HALF;
}

void
misses_add(uint8_t *miss, uint64_t n)
{
	uint64_t all = misses_all(miss) + n;

	if (all < HALF) {
		*miss = (uint8_t)all;
		return;
	}
	*miss = (uint8_t)(HALF | all);
	*lacks(miss) = all - *miss;
}

uint64_t
misses_all(const uint8_t *miss)
{
	khint_t k;

	if (*miss < HALF || carries == NULL)
		return *miss;
	k = kh_get(carry, carries, (uintptr_t)miss);
	return *miss + (k == kh_end(carries) ? 0 : kh_val(carries, k));
}

/* ---- look-ups ---- */

#ifdef __x86_64__

/*
 * One step of a look-up: search a tag among n tags at t, up to 16. The tags
 * before it, or all if it is not there, move one place on, and `first' becomes
 * the first. Returns where the tag was, as a bit; 0: it was not there.
 */
typedef unsigned step_fn(uint32_t *t, uint32_t tag, uint32_t first, unsigned n);

__attribute__((target("avx512f")))
static inline unsigned
step512(uint32_t *t, uint32_t tag, uint32_t first, unsigned n)
{
	const __m512i before = _mm512_setr_epi32(0, 0, 1, 2, 3, 4, 5, 6, 7, 8,
	    9, 10, 11, 12, 13, 14);
	__mmask16 move = (__mmask16)((1U << n) - 1);
	__m512i x = _mm512_loadu_si512(t);
	unsigned where = _mm512_mask_cmpeq_epi32_mask(move, x,
	    _mm512_set1_epi32((int)tag));

	if (where != 0)
		move = (__mmask16)(where ^ (where - 1));
	x = _mm512_mask_permutexvar_epi32(x, move, before, x);
	x = _mm512_mask_set1_epi32(x, 1, (int)first);
	_mm512_storeu_si512(t, x);
	return where;
}

/* Which of 8 tags are equal to this one, as bits. */
__attribute__((target("avx2"), always_inline))
static inline unsigned
equal_tags(__m256i tags, __m256i tag)
{
	return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(
	    _mm256_cmpeq_epi32(tags, tag)));
}

/* The same by two vectors of 8 tags. */
__attribute__((target("avx2")))
static inline unsigned
step256(uint32_t *t, uint32_t tag, uint32_t first, unsigned n)
{
	const __m256i from0 = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
	const __m256i from8 = _mm256_setr_epi32(8, 9, 10, 11, 12, 13, 14, 15);
	const __m256i tags = _mm256_set1_epi32((int)tag);
	__m256i low = _mm256_loadu_si256((const __m256i *)t), end, before;
	__m256i high = _mm256_loadu_si256((const __m256i *)(t + 8));
	unsigned where = (equal_tags(low, tags) | equal_tags(high, tags) << 8) &
	    ((1U << n) - 1);

	end = _mm256_set1_epi32(where != 0 ? __builtin_ctz(where) : (int)n - 1);
	before = _mm256_alignr_epi8(low,
	    _mm256_permute2x128_si256(low, low, 0x08), 12);
	before = _mm256_blend_epi32(before,
	    _mm256_castsi128_si256(_mm_cvtsi32_si128((int)first)), 1);
	_mm256_storeu_si256((__m256i *)t, _mm256_blendv_epi8(before, low,
	    _mm256_cmpgt_epi32(from0, end)));
	before = _mm256_alignr_epi8(high,
	    _mm256_permute2x128_si256(low, high, 0x21), 12);
	_mm256_storeu_si256((__m256i *)(t + 8), _mm256_blendv_epi8(before,
	    high, _mm256_cmpgt_epi32(from8, end)));
	return where;
}

/* One line's look-up, 16 tags a step: 1 if it was missed. */
__attribute__((always_inline))
static inline int
ll_line_by(step_fn *step, uint64_t line)
{
	uint32_t *t = ll_set(&llc.sets, line);
	uint32_t tag = (uint32_t)((line >> llc.bits) + 1), first = tag, last;
	unsigned where;

	if (t[0] == tag)
		return 0;
	for (uint64_t n = lassoc; ; n -= 16, t += 16, first = last) {
		last = t[15];
		where = step(t, tag, first, n < 16 ? (unsigned)n : 16);
		if (n <= 16 || where != 0)
			return where == 0;
	}
}

#endif

/* One line's look-up: 1 if it was missed. */
static int
ll_line(uint64_t line)
{
	uint64_t tag = (line >> llc.bits) + 1;
	uint32_t *t, last;
	unsigned w, at;

	if (llc.sets.tag != NULL && tag > UINT32_MAX)
		to_plain();
	if (llc.sets.tag == NULL)
		return ll_plain(line);
	t = ll_set(&llc.sets, line);
	if (t[0] == tag)
		return 0;
	at = (unsigned)lassoc - 1;
	for (w = 1; w < at; w++)
		if (t[w] == tag)
			at = w;
	last = t[at];
	for (w = at; w > 0; w--)
		t[w] = t[w - 1];
	t[0] = (uint32_t)tag;
	return last != tag;
}

/* Queued line i was missed, or not; the access may go on in the next one. */
static inline void
count_miss(unsigned i, int miss)
{
	static int missed;
	uint8_t n;

	missed |= miss;
	if (!missed || llc.queue[i].miss == NULL)
		return;
	n = (uint8_t)(*llc.queue[i].miss + missed);
	*llc.queue[i].miss = n;
	if (__builtin_expect(n < missed, 0))
		misses_carry(llc.queue[i].miss);
	missed = 0;
}

#ifdef __x86_64__

/* Are the sets small, also with all lines of the queue? */
static inline bool
stay_small(void)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < llc.n; i++)
		all |= llc.queue[i].line;
	return llc.sets.tag != NULL && (all >> llc.bits) < UINT32_MAX;
}

__attribute__((always_inline))
static inline void
drain_by(step_fn *step)
{
	for (unsigned i = 0; i < llc.n; i++)
		count_miss(i, ll_line_by(step, llc.queue[i].line));
	llc.n = 0;
}

__attribute__((target("avx512f")))
static void
drain512(void)
{
	drain_by(step512);
}

__attribute__((target("avx2")))
static void
drain256(void)
{
	drain_by(step256);
}

/* The same by 16 tags a step: false if that cannot be done. */
static bool
drain_lanes(void)
{
	if ((!has_avx512 && !has_avx2) || !stay_small())
		return false;
	if (has_avx512)
		drain512();
	else
		drain256();
	return true;
}

#else

static bool
drain_lanes(void)
{
	return false;
}

#endif

void
ll_drain(void)
{
	if (drain_lanes())
		return;
	for (unsigned i = 0; i < llc.n; i++)
		count_miss(i, ll_line(llc.queue[i].line));
	llc.n = 0;
}

/* An access that goes across n ends of lines. */
__attribute__((noinline))
static void
across(uint64_t line, uint64_t n, uint8_t *miss)
{
	uint64_t most = ~(uint64_t)0 >> llc.shift;

	for (; n > 0; n--, line = (line + 1) & most)
		ll_enqueue(line, NULL, 1);
	ll_enqueue(line, miss, 1);
}

void
ll_access(uint64_t addr, uint64_t size, uint8_t *miss)
{
	uint64_t line = addr >> llc.shift;
	uint64_t n = ((addr & (((uint64_t)1 << llc.shift) - 1)) + size - 1) >>
	    llc.shift;

	if (__builtin_expect(n != 0, 0))
		across(line, n, miss);
	else
		ll_enqueue(line, miss, 1);
}

void
ll_init(const struct geometry *g)
{
	lassoc = g->assoc;
	lsets = g->size / g->line / lassoc;
	llc.sets.mask = lsets - 1;
	llc.shift = (unsigned)__builtin_ctzll(g->line);
	llc.bits = (unsigned)__builtin_ctzll(lsets);
	llc.sets.stride = (lassoc + 15) / 16 * 16;
	llc.sets.tag = ll_reserve(tag_bytes());
	if (g->size <= USED_WHOLE)
		xtouch_all(llc.sets.tag, tag_bytes());
#ifdef __x86_64__
	has_avx512 = cpu_has(AVX512F, "avx512f");
	has_avx2 = cpu_has(AVX2, "avx2");
#endif
}

void
ll_clear(void)
{
	if (llc.sets.tag != NULL)
		memset(llc.sets.tag, 0, tag_bytes());
	else
		memset(plain_set, 0, lsets * lassoc * sizeof *plain_set);
}

/* ---- sets ---- */

uint64_t
ll_set_line(uint64_t set, uint64_t way)
{
	uint64_t tag = llc.sets.tag != NULL ? ll_set(&llc.sets, set)[way] :
	    plain_set[set * lassoc + way];

	return tag == 0 ? 0 : ((tag - 1) << llc.bits | set) + 1;
}

void
ll_set_move(uint64_t set, uint64_t way, uint64_t line)
{
	uint64_t tag = line == 0 ? 0 : ((line - 1) >> llc.bits) + 1;

	if (llc.sets.tag != NULL && tag > UINT32_MAX)
		to_plain();
	if (llc.sets.tag != NULL)
		ll_set(&llc.sets, set)[way] = (uint32_t)tag;
	else
		plain_set[set * lassoc + way] = tag;
}
