/*
 * evwavx512 - make execution lines of records: eight fields at once
 *
 * As in evwavx2.c, but eight fields are all that most records have, and
 * compress removes the bytes before the signs of all of them.
 */
#include "evwlanes.h"

#ifdef __x86_64__
#include <immintrin.h>

#define AVX512_CODE __attribute__((target("avx512f,avx512bw,avx512dq," \
    "avx512vl,avx512cd,avx512vbmi,avx512vbmi2,bmi2,popcnt")))

/* Constants. KEEP holds them in registers: gcc would reload each per record. */
struct lanes {
	__m512i nibbles, hex, low, plus, minus, dot, digits, wide, shift,
	    eights;
};

#define KEEP(x) __asm__("" : "+v"(x))

AVX512_CODE
static inline __attribute__((always_inline)) struct lanes
lanes_init(void)
{
	struct lanes c;

	c.nibbles = _mm512_set1_epi64(0x0004080c1014181c);
	c.hex = _mm512_broadcast_i32x4(_mm_loadu_si128(
	    (const __m128i *)"0123456789abcdef"));
	c.low = _mm512_set1_epi8(15);
	c.plus = _mm512_set1_epi64('+');
	c.minus = _mm512_set1_epi64('-');
	c.dot = _mm512_set1_epi64('.');
	c.digits = _mm512_set1_epi64(-256);
	c.wide = _mm512_set1_epi64(0xfffffff);
	c.shift = _mm512_set1_epi64(36);
	c.eights = _mm512_set1_epi64(-8);
	KEEP(c.nibbles);
	KEEP(c.hex);
	KEEP(c.low);
	KEEP(c.plus);
	KEEP(c.minus);
	KEEP(c.dot);
	KEEP(c.digits);
	KEEP(c.wide);
	KEEP(c.shift);
	KEEP(c.eights);
	return c;
}

/*
 * The text of 8 fields, each less than 2^28. The nibbles of a lane, the upper
 * one first, become digits; shift is the position of its sign, in bits; all
 * bytes below that are 0.
 */
AVX512_CODE
static inline __attribute__((always_inline)) __m512i
lane_text(const struct lanes *c, __m512i diff, __m512i a)
{
	__m512i sign, x, shift;

	sign = _mm512_mask_mov_epi64(c->plus, _mm512_movepi64_mask(diff),
	    c->minus);
	sign = _mm512_mask_mov_epi64(sign, _mm512_testn_epi64_mask(a, a),
	    c->dot);
	/* of 7 digits, the first (leading zeros - 36) / 4 are not written */
	shift = _mm512_sub_epi64(_mm512_lzcnt_epi64(a), c->shift);
	shift = _mm512_and_si512(_mm512_add_epi64(shift, shift), c->eights);
	x = _mm512_multishift_epi64_epi8(c->nibbles, a);
	x = _mm512_shuffle_epi8(c->hex, _mm512_and_si512(x, c->low));
	return _mm512_ternarylogic_epi64(_mm512_sllv_epi64(sign, shift), x,
	    _mm512_sllv_epi64(c->digits, shift), 0xf8);
}

/* Write those of the first `size` bytes that are not 0. */
AVX512_CODE
static inline __attribute__((always_inline)) char *
put_bytes(char *p, __m512i x, unsigned size)
{
	uint64_t keep = _bzhi_u64(_mm512_test_epi8_mask(x, x), size);

	_mm512_storeu_si512(p, _mm512_maskz_compress_epi8(keep, x));
	return p + __builtin_popcountll(keep);
}

/* Write up to 8 such fields. */
AVX512_CODE
static inline __attribute__((always_inline)) char *
put_lanes(char *p, const struct lanes *c, __m512i diff, __m512i a, unsigned n)
{
	return put_bytes(p, lane_text(c, diff, a), 8 * n);
}

/* Write the `all` fields of any record, with many or with large fields. */
AVX512_CODE
static inline __attribute__((always_inline)) char *
any_fields(struct evw *w, char *p, const uint32_t *r, unsigned all,
    uint64_t *value, const struct lanes *c)
{
	unsigned n;

	for (unsigned i = 0; i < all; i += n) {
		__m512i now, old, diff, a;
		__mmask8 mask;

		n = all - i < EVW_LANES ? all - i : EVW_LANES;
		mask = (__mmask8)_bzhi_u32(255, n);
		now = _mm512_maskz_loadu_epi64(mask, r + 1 + 2 * i);
		old = _mm512_loadu_si512(value + i);
		diff = _mm512_sub_epi64(now, old);
		a = _mm512_maskz_abs_epi64(mask, diff);
		_mm512_storeu_si512(value + i,
		    _mm512_mask_mov_epi64(old, mask, now));
		_mm512_storeu_si512(w->last + i, diff);
		if (_mm512_cmpgt_epu64_mask(a, c->wide) == 0)
			p = put_lanes(p, c, diff, a, n);
		else
			for (unsigned k = i; k < i + n; k++)
				p = evwrec_field(p, w->last[k]);
	}
	return p;
}

AVX512_CODE
const uint32_t *
evwavx512_lanes(struct evw *w, const uint32_t *r, const uint32_t *to)
{
	const char *limit = evwlanes_limit(w);
	const struct evw_hot *hot = w->hot;
	const struct lanes c = lanes_init();
	__m512i now, old, diff, a, last = _mm512_loadu_si512(w->last);
	uint32_t head, prev = w->prev;
	uint64_t nexec = 0, more = w->more, *const values = w->values, *value;
	char *p = w->p;

	for (; r < to && (head = evwrec_head(r)) != 0;
	    r += 1 + 2 * ev_ngroups(head)) {
		unsigned n = ev_ngroups(head);
		const struct evw_hot *h = hot + ev_id(head);
		__mmask8 mask = (__mmask8)_bzhi_u32(255, n);
		bool large;

		/* in an entry without digits, check is 0 */
		if (__builtin_expect(h->check != 255 - n || h->len == 0 ||
		    to - r < 1 + 2 * (ptrdiff_t)n, 0))
			break;
		__builtin_prefetch((const char *)r + EVWREC_AHEAD);
		now = _mm512_maskz_loadu_epi64(mask, r + 1);
		value = values + h->value;
		old = _mm512_loadu_si512(value);
		diff = _mm512_sub_epi64(now, old);
		a = _mm512_maskz_abs_epi64(mask, diff);
		large = n > EVW_LANES ||
		    _mm512_cmpgt_epu64_mask(a, c.wide) != 0;
		nexec++;
		if (head == prev && _mm512_mask_cmpneq_epi64_mask(mask, diff,
		    last) == 0 && (n <= EVW_LANES ||
		    evwrec_repeats(w, r, value, n))) {
			_mm512_storeu_si512(value,
			    _mm512_mask_mov_epi64(old, mask, now));
			more++;
			continue;
		}
		p = evwlanes_begin(w, p, limit, h, prev, &more);
		prev = head;
		if (__builtin_expect(large, 0)) {
			p = any_fields(w, p, r, n, value, &c);
			last = _mm512_loadu_si512(w->last);
			continue;
		}
		last = diff;
		_mm512_storeu_si512(value,
		    _mm512_mask_mov_epi64(old, mask, now));
		p = put_lanes(p, &c, diff, a, n);
	}
	_mm512_storeu_si512(w->last, last);
	w->prev = prev;
	w->more = more;
	w->nexec += nexec;
	w->p = p;
	return r;
}

/* Write the lines, each in two lanes. */
AVX512_CODE
static char *
put_lines8(char *p, const struct evw_staged *s, unsigned n)
{
	const __m512i newline = _mm512_set1_epi64('\n');
	const __m512i digits = _mm512_set1_epi64(0xffffffffffff00);
	const struct lanes c = lanes_init();
	unsigned i;

	for (i = 0; i < n; i += 4) {
		__m512i x = _mm512_loadu_si512(s + i);
		__m512i text = lane_text(&c, x, _mm512_abs_epi64(x));
		__m512i id = _mm512_and_si512(_mm512_slli_epi64(x, 8), digits);

		id = _mm512_or_si512(id, newline);
		text = _mm512_mask_mov_epi64(id, 0xaa, text);
		p = put_bytes(p, text, n - i < 4 ? 16 * (n - i) : 64);
	}
	return p;
}

AVX512_CODE
const uint32_t *
evwavx512_single(struct evw *w, const uint32_t *r, const uint32_t *to)
{
	return evwone_staged(w, r, to, put_lines8);
}

#endif
