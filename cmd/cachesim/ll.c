/*
 * ll - the last-level cache
 *
 * What misses a first-level cache is queued, and looked up when the queue is
 * full: in the same order, but with the sets on their way from memory.
 */
#include "cachesim.h"

#include <htslib/khash.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif
#include <string.h>
#include <sys/mman.h>

#include "cpu.h"
#include "util.h"

#define NQUEUE	32

/*
 * A set is its tags from the newest to the oldest, 0 where there is none. 16
 * tags of 32 bits are one line of our own cache, where each set begins one. A
 * tag that is larger, which takes a small LL and a large address, needs the
 * plain form: 64 bits.
 */
static uint32_t *small_set;		/* NULL: plain form */
static uint64_t stride;			/* from set to set */
static uint64_t *plain_set;
static uint64_t lassoc, lsets;
static unsigned lshift, lbits;		/* log2 of line size, of sets */
#ifdef __x86_64__
static int has_avx512;
#endif

static struct {
	uint64_t line;
	uint8_t *miss;		/* what to count at; NULL: more of this
				   access follows */
} queue[NQUEUE];
static unsigned nqueue;

KHASH_MAP_INIT_INT64(carry, uint64_t)

static khash_t(carry) *carries;		/* by count: what it lacks */

void *
ll_reserve(size_t n)
{
	return xreserve(n, 1, "memory for a cache");
}

static void
to_plain(void)
{
	plain_set = ll_reserve(lsets * lassoc * sizeof *plain_set);
	if (small_set != NULL) {
		for (uint64_t s = 0; s < lsets; s++)
			for (uint64_t w = 0; w < lassoc; w++)
				if (small_set[s * stride + w] != 0)
					plain_set[s * lassoc + w] =
					    small_set[s * stride + w];
		munmap(small_set, lsets * stride * sizeof *small_set);
	}
	small_set = NULL;
}

static int
ll_plain(uint64_t line)
{
	uint64_t *t = plain_set + (line & (lsets - 1)) * lassoc;
	uint64_t tag = (line >> lbits) + 1, w = 0;

	if (t[0] == tag)
		return 0;
	while (w < lassoc - 1 && t[w] != tag)
		w++;
	tag ^= t[w];
	memmove(t + 1, t, w * sizeof *t);
	t[0] = (line >> lbits) + 1;
	return tag != 0;
}

/* ---- counts of misses ---- */

/*
 * A count that overflows 8 bits goes on from HALF; what it lacks from then on
 * is in a table, which is only looked at for counts that are so large.
 */
#define HALF ((uint8_t)0x80)

static uint64_t *
lacks(const uint8_t *miss)
{
	int new;
	khint_t k;

	if (carries == NULL)
		carries = kh_init(carry);
	k = kh_put(carry, carries, (uintptr_t)miss, &new);
	if (new < 0)
		die("misses:");
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
 * The same 16 tags a step: those before the line's, or all, move one place
 * on, and it is the first.
 */
__attribute__((target("avx512f"), always_inline))
static inline int
ll_line512(uint64_t line)
{
	const __m512i before = _mm512_setr_epi32(0, 0, 1, 2, 3, 4, 5, 6, 7, 8,
	    9, 10, 11, 12, 13, 14);
	uint32_t *t = small_set + (line & (lsets - 1)) * stride;
	uint32_t first = (uint32_t)((line >> lbits) + 1), last;
	const __m512i tag = _mm512_set1_epi32((int)first);

	for (uint64_t n = lassoc; ; n -= 16, t += 16, first = last) {
		__mmask16 move = n < 16 ? (__mmask16)((1U << n) - 1) : 0xffff;
		__m512i x = _mm512_loadu_si512(t);
		unsigned where = _mm512_mask_cmpeq_epi32_mask(move, x, tag);

		last = t[15];
		if (where != 0)
			move = (__mmask16)(where ^ (where - 1));
		x = _mm512_mask_permutexvar_epi32(x, move, before, x);
		x = _mm512_mask_set1_epi32(x, 1, (int)first);
		_mm512_storeu_si512(t, x);
		if (n <= 16 || where != 0)
			return where == 0;
	}
}

#endif

/* One line's look-up: 1 if it was missed. */
static int
ll_line(uint64_t line)
{
	uint64_t tag = (line >> lbits) + 1;
	uint32_t *t, last;
	unsigned w, at;

	if (small_set != NULL && tag > UINT32_MAX)
		to_plain();
	if (small_set == NULL)
		return ll_plain(line);
	t = small_set + (line & (lsets - 1)) * stride;
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
	if (queue[i].miss == NULL)
		return;
	n = (uint8_t)(*queue[i].miss + missed);
	*queue[i].miss = n;
	if (__builtin_expect(n < missed, 0))
		misses_carry(queue[i].miss);
	missed = 0;
}

#ifdef __x86_64__

/* Are the sets small, also with all lines of the queue? */
static inline bool
stay_small(void)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < nqueue; i++)
		all |= queue[i].line;
	return small_set != NULL && (all >> lbits) < UINT32_MAX;
}

__attribute__((target("avx512f")))
static void
drain512(void)
{
	for (unsigned i = 0; i < nqueue; i++)
		count_miss(i, ll_line512(queue[i].line));
	nqueue = 0;
}

#endif

void
ll_drain(void)
{
#ifdef __x86_64__
	if (has_avx512 && stay_small()) {
		drain512();
		return;
	}
#endif
	for (unsigned i = 0; i < nqueue; i++)
		count_miss(i, ll_line(queue[i].line));
	nqueue = 0;
}

/* Queue a line, or 0 lines. */
static inline void
enqueue(uint64_t line, uint8_t *miss, unsigned n)
{
	queue[nqueue].line = line;
	queue[nqueue].miss = miss;
	if (small_set != NULL)
		__builtin_prefetch(small_set + (line & (lsets - 1)) * stride);
	nqueue += n;
	if (nqueue == NQUEUE)
		ll_drain();
}

void
ll_data(uint64_t addr, struct misses *m, unsigned missed)
{
	uint8_t n = (uint8_t)(m->l1 + missed);

	m->l1 = n;
	if (__builtin_expect(n < missed, 0))
		misses_carry(&m->l1);
	enqueue(addr >> lshift, &m->ll, missed);
}

/* An access that goes across n ends of lines. */
__attribute__((noinline))
static void
across(uint64_t line, uint64_t n, uint8_t *miss)
{
	uint64_t most = ~(uint64_t)0 >> lshift;

	for (; n > 0; n--, line = (line + 1) & most)
		enqueue(line, NULL, 1);
	enqueue(line, miss, 1);
}

void
ll_access(uint64_t addr, uint64_t size, uint8_t *miss)
{
	uint64_t line = addr >> lshift;
	uint64_t n = ((addr & (((uint64_t)1 << lshift) - 1)) + size - 1) >>
	    lshift;

	if (__builtin_expect(n != 0, 0))
		across(line, n, miss);
	else
		enqueue(line, miss, 1);
}

void
ll_init(const struct geometry *g)
{
	lassoc = g->assoc;
	lsets = g->size / g->line / lassoc;
	lshift = (unsigned)__builtin_ctzll(g->line);
	lbits = (unsigned)__builtin_ctzll(lsets);
	stride = (lassoc + 15) / 16 * 16;
	small_set = ll_reserve(lsets * stride * sizeof *small_set);
#ifdef __x86_64__
	has_avx512 = cpu_has(AVX512F, "avx512f");
#endif
}

void
ll_clear(void)
{
	if (small_set != NULL)
		memset(small_set, 0, lsets * stride * sizeof *small_set);
	else
		memset(plain_set, 0, lsets * lassoc * sizeof *plain_set);
}

/* ---- sets ---- */

uint64_t
ll_set_line(uint64_t set, uint64_t way)
{
	uint64_t tag = small_set != NULL ? small_set[set * stride + way] :
	    plain_set[set * lassoc + way];

	return tag == 0 ? 0 : ((tag - 1) << lbits | set) + 1;
}

void
ll_set_move(uint64_t set, uint64_t way, uint64_t line)
{
	uint64_t tag = line == 0 ? 0 : ((line - 1) >> lbits) + 1;

	if (small_set != NULL && tag > UINT32_MAX)
		to_plain();
	if (small_set != NULL)
		small_set[set * stride + way] = (uint32_t)tag;
	else
		plain_set[set * lassoc + way] = tag;
}
