/*
 * evwavx2 - make execution lines of records: four fields at once
 *
 * No branch depends on a field's length or sign.  Each field has a lane of 8
 * bytes, with its digits at the upper end and the sign before the first of
 * them; a shift removes the bytes before the sign, and the lanes are stored one
 * after the other.  A record with a difference of more than 7 digits gets its
 * fields one by one, by evwrec_field.
 */
#include "evwlanes.h"

#ifdef __x86_64__
#include <immintrin.h>

#define AVX2_CODE __attribute__((target("avx2,bmi,bmi2,popcnt")))

/* Constants. KEEP holds them: gcc would make them again for each record. */
struct four {
	__m256i twice, hex, low, high, last, eight, minus, dot, plus, large;
};

#define KEEP(x) __asm__("" : "+x"(x))

AVX2_CODE
static inline __attribute__((always_inline)) struct four
four_init(void)
{
	struct four c;

	c.twice = _mm256_broadcastsi128_si256(_mm_setr_epi8(3, 3, 2, 2, 1, 1,
	    0, 0, 11, 11, 10, 10, 9, 9, 8, 8));
	c.hex = _mm256_broadcastsi128_si256(_mm_loadu_si128(
	    (const __m128i *)"0123456789abcdef"));
	c.low = _mm256_set1_epi16(15);
	c.high = _mm256_set1_epi16(15 << 8);
	c.last = _mm256_set1_epi64x((int64_t)0xff00000000000000);
	c.eight = _mm256_set1_epi8(8);
	c.minus = _mm256_set1_epi8('-' - '+');
	c.dot = _mm256_set1_epi8('.' - '+');
	c.plus = _mm256_set1_epi8('+');
	c.large = _mm256_set1_epi64x(~0xfffffffll);
	KEEP(c.twice);
	KEEP(c.hex);
	KEEP(c.low);
	KEEP(c.high);
	KEEP(c.last);
	KEEP(c.eight);
	KEEP(c.minus);
	KEEP(c.dot);
	KEEP(c.plus);
	KEEP(c.large);
	return c;
}

/* All ones in the first n of four lanes. */
AVX2_CODE
static inline __attribute__((always_inline)) __m256i
first_lanes(unsigned n)
{
	static const int64_t ones[8] = { -1, -1, -1, -1 };

	return _mm256_loadu_si256((const __m256i *)(ones + 4 - n));
}

/* Store two lanes, the second one n bytes behind the first. */
AVX2_CODE
static inline __attribute__((always_inline)) void
put_two(char *p, int n, __m128i x)
{
	uint64_t lane[2] = { (uint64_t)_mm_cvtsi128_si64(x),
	    (uint64_t)_mm_extract_epi64(x, 1) };

	memcpy(p, &lane[0], 8);
	memcpy(p + n, &lane[1], 8);
}

/*
 * The text of four fields, of differences diff, each less than 2^28; a has
 * their absolute values.  A lane's nibbles, the upper one first, become seven
 * digits behind a byte that is 0; the sign replaces the byte before the first
 * digit, and a shift removes those before the sign.  A lane's length is the
 * number of bits that its byte of *bytes has.
 */
AVX2_CODE
static inline __attribute__((always_inline)) __m256i
four_text(const struct four *c, __m256i diff, __m256i a, unsigned *bytes)
{
	const __m256i zero = _mm256_setzero_si256();
	__m256i x, digits, kept, sign;

	x = _mm256_shuffle_epi8(a, c->twice);
	x = _mm256_or_si256(_mm256_and_si256(_mm256_srli_epi16(x, 4), c->low),
	    _mm256_and_si256(x, c->high));
	/* from the first one that is not 0 on, the top bits are set */
	digits = _mm256_cmpgt_epi8(zero, _mm256_or_si256(x,
	    _mm256_sub_epi64(zero, x)));
	kept = _mm256_or_si256(_mm256_srli_epi64(digits, 8), c->last);
	sign = _mm256_or_si256(
	    _mm256_and_si256(_mm256_cmpgt_epi64(zero, diff), c->minus),
	    _mm256_and_si256(_mm256_cmpeq_epi64(a, zero), c->dot));
	sign = _mm256_add_epi8(sign, c->plus);
	x = _mm256_blendv_epi8(sign, _mm256_shuffle_epi8(c->hex, x), digits);
	*bytes = (unsigned)_mm256_movemask_epi8(kept);
	return _mm256_srlv_epi64(x, _mm256_sad_epu8(zero,
	    _mm256_andnot_si256(kept, c->eight)));
}

/*
 * Write the first n fields.  All lanes are stored, the later ones over what the
 * earlier ones wrote beyond their ends.
 */
AVX2_CODE
static inline __attribute__((always_inline)) char *
put_four(char *p, const struct four *c, __m256i diff, __m256i a, unsigned n)
{
	unsigned bytes;
	__m256i x = four_text(c, diff, a, &bytes);

	bytes = _bzhi_u32(bytes, 8 * n);
	put_two(p, __builtin_popcount(bytes & 0xff),
	    _mm256_castsi256_si128(x));
	p += __builtin_popcount(bytes & 0xffff);
	put_two(p, __builtin_popcount(bytes & 0xff0000),
	    _mm256_extracti128_si256(x, 1));
	return p + __builtin_popcount(bytes >> 16);
}

AVX2_CODE
static inline __attribute__((always_inline)) __m256i
magnitude(__m256i diff)
{
	__m256i s = _mm256_cmpgt_epi64(_mm256_setzero_si256(), diff);

	return _mm256_sub_epi64(_mm256_xor_si256(diff, s), s);
}

AVX2_CODE
static inline __attribute__((always_inline)) bool
is_large(const struct four *c, __m256i a)
{
	return !_mm256_testz_si256(a, c->large);
}

/* Write all n fields of a record; last[] gets their differences. */
AVX2_CODE
static inline __attribute__((always_inline)) char *
fields_by_four(struct evw *w, char *p, const struct four *c, const uint32_t *r,
    unsigned n, uint64_t *value)
{
	for (unsigned i = 0; i < n; i += 4) {
		unsigned k = n - i < 4 ? n - i : 4;
		__m256i mask = first_lanes(k), now, old, diff, a;

		now = _mm256_maskload_epi64((const long long *)(r + 1 + 2 * i),
		    mask);
		old = _mm256_loadu_si256((const __m256i *)(value + i));
		diff = _mm256_and_si256(_mm256_sub_epi64(now, old), mask);
		_mm256_storeu_si256((__m256i *)(value + i),
		    _mm256_add_epi64(old, diff));
		_mm256_storeu_si256((__m256i *)(w->last + i), diff);
		a = magnitude(diff);
		if (__builtin_expect(!is_large(c, a), 1))
			p = put_four(p, c, diff, a, k);
		else
			for (unsigned j = i; j < i + k; j++)
				p = evwrec_field(p, w->last[j]);
	}
	return p;
}

AVX2_CODE
const uint32_t *
evwavx2_lanes(struct evw *w, const uint32_t *r, const uint32_t *to)
{
	const char *limit = evwlanes_limit(w);
	const struct evw_hot *hot = w->hot;
	const struct four c = four_init();
	__m256i now, old, diff, a;
	__m256i last = _mm256_loadu_si256((const __m256i *)w->last);
	uint32_t head, prev = w->prev;
	uint64_t nexec = 0, more = w->more, *value;
	char *p = w->p;
	unsigned n;

	for (; r < to && (head = evwrec_head(r)) != 0; r += 1 + 2 * n) {
		const struct evw_hot *h = hot + ev_id(head);
		__m256i mask, other;

		n = ev_ngroups(head);
		/* in an entry without digits, check is 0 */
		if (__builtin_expect(h->check != 255 - n || h->len == 0 ||
		    to - r < 1 + 2 * (ptrdiff_t)n, 0))
			break;
		__builtin_prefetch((const char *)r + EVWREC_AHEAD);
		mask = first_lanes(n < 4 ? n : 4);
		now = _mm256_maskload_epi64((const long long *)(r + 1), mask);
		value = evw_values(w, h);
		old = _mm256_loadu_si256((const __m256i *)value);
		diff = _mm256_and_si256(_mm256_sub_epi64(now, old), mask);
		other = _mm256_and_si256(_mm256_xor_si256(diff, last), mask);
		nexec++;
		if (head == prev && _mm256_testz_si256(other, other) &&
		    (n <= 4 || evwrec_repeats(w, r, value, n))) {
			if (n <= 4)
				_mm256_storeu_si256((__m256i *)value,
				    _mm256_add_epi64(old, diff));
			more++;
			continue;
		}
		p = evwlanes_begin(w, p, limit, h, prev, &more);
		prev = head;
		last = diff;
		a = magnitude(diff);
		if (n > 4 || __builtin_expect(is_large(&c, a), 0)) {
			p = fields_by_four(w, p, &c, r, n, value);
			continue;
		}
		_mm256_storeu_si256((__m256i *)value,
		    _mm256_add_epi64(old, diff));
		p = put_four(p, &c, diff, a, n);
	}
	_mm256_storeu_si256((__m256i *)w->last, last);
	w->prev = prev;
	w->more = more;
	w->nexec += nexec;
	w->p = p;
	return r;
}

/* Write a line: its id's digits, and a field of so many bytes. */
static inline char *
put_line(char *p, uint64_t entry, uint64_t field, unsigned bytes)
{
	uint64_t id = entry << 8 | '\n';

	memcpy(p, &id, 8);
	p += 1 + (entry >> 48 & 0xff);
	memcpy(p, &field, 8);
	return p + bytes;
}

/* Write the lines, the fields of four of them at once. */
AVX2_CODE
static char *
put_lines4(char *p, const struct evw_staged *s, unsigned n)
{
	const struct four c = four_init();
	__m256i diff;
	uint64_t field[4];
	unsigned i, k, bytes;

	for (i = 0; i < n; i += 4) {
		diff = _mm256_permute4x64_epi64(_mm256_unpackhi_epi64(
		    _mm256_loadu_si256((const __m256i *)(s + i)),
		    _mm256_loadu_si256((const __m256i *)(s + i + 2))), 0xd8);
		_mm256_storeu_si256((__m256i *)field,
		    four_text(&c, diff, magnitude(diff), &bytes));
		for (k = 0; k < 4 && i + k < n; k++)
			p = put_line(p, s[i + k].entry, field[k],
			    (unsigned)__builtin_popcount(bytes >> 8 * k &
			    0xff));
	}
	return p;
}

const uint32_t *
evwavx2_single(struct evw *w, const uint32_t *r, const uint32_t *to)
{
	return evwone_staged(w, r, to, put_lines4);
}

#endif
