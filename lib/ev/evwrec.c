/*
 * evwrec - records to execution lines
 *
 * A record costs a few ns: its entry in a table is 16 bytes (the id's digits,
 * its number of groups, where its block's values are).
 *
 * The plain way makes a field of two looks into a table of three digits each
 * and one 8-byte store, without a branch on its length or sign. But a record
 * has as many fields as its id says, and how often a loop goes round is what a
 * processor guesses badly.
 *
 * With AVX-512 all fields of a record, up to 8, are made at once, without any
 * branch: each has a lane of 8 bytes, with its digits at the upper end, the
 * sign before the first of them, and what is before the sign squeezed out
 * (compress). Differences of more than 7 digits, and blocks of more groups,
 * are left to the plain way.
 */
#include "evwrec.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "out.h"
#include "util.h"

/* Records come from another core: fetched so many bytes ahead. */
#define AHEAD	1024

/* The three digits of each number below 4096, the first in the low byte. */
static uint32_t three[4096];

void
evwrec_init(void)
{
	for (uint64_t i = 0; i < 4096; i++)
		three[i] = (uint32_t)evw_digits(i, 3);
}

char *
evwrec_spill(struct evw *w, char *p)
{
	out_write(w->out, w->buf, (size_t)(p - w->buf));
	return w->buf;
}

/* One field: the sign, or `.`, is chosen by arithmetic, not by branches. */
char *
evwrec_field(char *p, uint64_t diff)
{
	uint64_t s = (uint64_t)((int64_t)diff >> 63);
	uint64_t a = (diff ^ s) - s, x;
	unsigned n;

	if (__builtin_expect(a >> 24 != 0, 0)) {
		*p = s ? '-' : '+';
		return evw_puthex(p + 1, a);
	}
	n = (66 - (unsigned)__builtin_clzll(a << 1 | 1)) >> 2;
	x = (three[a >> 12] | (uint64_t)three[a & 4095] << 24) >>
	    (48 - 8 * n);
	*p = (char)('+' + (s & 2) + (a == 0) * 3);
	memcpy(p + 1, &x, 8);
	return p + 1 + n;
}

/* The unfinished line, which had its end, once more. */
static char *
once_more(struct evw *w, char *p)
{
	*p++ = '\n';
	if (p > w->buf + EVW_BUFSIZE - EVW_MAXEXEC)
		p = evwrec_spill(w, p);
	p = evw_puthex(p, w->prev & EVW_MAXID);
	for (unsigned i = 0; i < w->prev >> 24; i++)
		p = evwrec_field(p, w->last[i]);
	return p;
}

/*
 * A line tells EV_MOST repeats at most: what is more takes others like it. A
 * way that is running may have last[] in registers, but its line has fewer.
 */
char *
evwrec_more(struct evw *w, char *p)
{
	for (; w->more > EV_MOST; w->more -= EV_MOST + 1) {
		*p++ = '*';
		p = once_more(w, evw_puthex(p, EV_MOST));
	}
	if (w->more != 0) {
		*p++ = '*';
		p = evw_puthex(p, w->more);
	}
	w->more = 0;
	return p;
}

/* Is this record the unfinished line again? Then its values are taken. */
static inline int
same_again(const struct evw *w, const uint32_t *r, uint64_t *value, unsigned n)
{
	uint64_t now;

	for (unsigned i = 0; i < n; i++) {
		memcpy(&now, r + 1 + 2 * i, 8);
		if (now - value[i] != w->last[i])
			return 0;
	}
	for (unsigned i = 0; i < n; i++)
		value[i] += w->last[i];
	return 1;
}


const uint32_t *
evwrec_plain(struct evw *w, const uint32_t *r, const uint32_t *to)
{
	char *p = w->p;
	uint64_t *value, *last = w->last, told = 0, now, diff;

	uint32_t head;

	while (r < to && (head = evwrec_head(r)) != 0) {
		unsigned n = head >> 24;
		const struct evw_hot *h = w->hot + (head & EVW_MAXID);

		if (__builtin_expect(h->len == 0 || h->odd != 255 - n ||
		    to - r < 1 + 2 * (ptrdiff_t)n, 0))
			break;
		told++;
		if (head == w->prev && same_again(w, r, h->value, n)) {
			w->more++;
			r += 1 + 2 * n;
			continue;
		}
		p = evwrec_finish(w, p);
		value = h->value;
		memcpy(p, h->digit, 8);
		p += h->len;
		for (unsigned i = 0; i < n; i++) {
			memcpy(&now, r + 1 + 2 * i, 8);
			diff = now - value[i];
			value[i] = now;
			last[i] = diff;
			p = evwrec_field(p, diff);
		}
		w->prev = head;
		r += 1 + 2 * n;
	}
	w->told += told;
	w->p = p;
	return r;
}

/* Kind cache: nearly all have one value. */
const uint32_t *
evwrec_single(struct evw *w, const uint32_t *r, const uint32_t *to)
{
	char *p = w->p;
	uint64_t told = 0, last = w->last[0], now, diff, s, a, x;
	uint32_t head, prev = w->prev;
	unsigned n;

	for (; to - r >= 3; r += 3) {
		const struct evw_hot *h;

		head = evwrec_head(r);
		h = w->hot + (head & EVW_MAXID);
		if (__builtin_expect(head >> 24 != 1 || h->len == 0 ||
		    h->odd != 254, 0))
			break;
		__builtin_prefetch((const char *)r + AHEAD);
		memcpy(&now, r + 1, 8);
		diff = now - *h->value;
		*h->value = now;
		told++;
		if (head == prev && diff == last) {
			w->more++;
			continue;
		}
		w->prev = prev;
		p = evwrec_finish(w, p);
		prev = head;
		last = diff;
		memcpy(p, h->digit, 8);
		p += h->len;
		s = (uint64_t)((int64_t)diff >> 63);
		a = (diff ^ s) - s;
		if (__builtin_expect(a >> 32 != 0, 0)) {
			p = evwrec_field(p, diff);
			continue;
		}
		n = evw_ndigits(a);
		x = evw_digits(a, n);
		*p = (char)('+' + (s & 2) + (a == 0) * 3);
		memcpy(p + 1, &x, 8);
		p += 1 + n;
	}
	w->last[0] = last;
	w->prev = prev;
	w->told += told;
	w->p = p;
	return r;
}

#ifdef __x86_64__

#define TARGET512 __attribute__((target("avx512f,avx512bw,avx512dq," \
    "avx512vl,avx512cd,avx512vbmi,avx512vbmi2,bmi2,popcnt")))

/* Held in registers: gcc would make each anew for each record. */
struct lanes {
	__m512i nibbles, hex, low, plus, minus, dot, digits, wide, shift,
	    eights;
};

#define KEEP(x) __asm__("" : "+v"(x))

TARGET512
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
 * Write up to 8 fields, fewer than 2^28 all of them. A lane's nibbles, the
 * upper one first, become digits; shift is where its sign belongs, in bits;
 * below that all bytes are 0, and go.
 */
TARGET512
static inline __attribute__((always_inline)) char *
put_lanes(char *p, const struct lanes *c, __m512i diff, __m512i a, unsigned n)
{
	__m512i sign, x, shift;
	uint64_t keep;

	sign = _mm512_mask_mov_epi64(c->plus, _mm512_movepi64_mask(diff),
	    c->minus);
	sign = _mm512_mask_mov_epi64(sign, _mm512_testn_epi64_mask(a, a),
	    c->dot);
	/* (leading zeros - 36) / 4 digits are not there */
	shift = _mm512_sub_epi64(_mm512_lzcnt_epi64(a), c->shift);
	shift = _mm512_and_si512(_mm512_add_epi64(shift, shift), c->eights);
	x = _mm512_multishift_epi64_epi8(c->nibbles, a);
	x = _mm512_shuffle_epi8(c->hex, _mm512_and_si512(x, c->low));
	x = _mm512_ternarylogic_epi64(_mm512_sllv_epi64(sign, shift), x,
	    _mm512_sllv_epi64(c->digits, shift), 0xf8);
	keep = _bzhi_u64(_mm512_test_epi8_mask(x, x), 8 * n);
	_mm512_storeu_si512(p, _mm512_maskz_compress_epi8(keep, x));
	return p + __builtin_popcountll(keep);
}

/* The `all` fields of any record. */
TARGET512
static inline __attribute__((always_inline)) char *
many(struct evw *w, char *p, const uint32_t *r, unsigned all, uint64_t *value,
    const struct lanes *c)
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

/* The end of the unfinished line, its repeats, and the buffer's, perhaps. */
static char *
unusual_end(struct evw *w, char *p, uint32_t prev, uint64_t more)
{
	w->prev = prev;
	w->more = more;
	return evwrec_finish(w, p);
}

TARGET512
static const uint32_t *
lanes8(struct evw *w, const uint32_t *r, const uint32_t *to)
{
	const char *limit = w->buf + EVW_BUFSIZE - EVW_MAXEXEC;
	const struct evw_hot *hot = w->hot;
	const struct lanes c = lanes_init();
	__m512i now, old, diff, a, last = _mm512_loadu_si512(w->last);
	uint32_t head, prev = w->prev;
	uint64_t told = 0, more = w->more;
	char *p = w->p;

	for (; r < to && (head = evwrec_head(r)) != 0;
	    r += 1 + 2 * (head >> 24)) {
		unsigned n = head >> 24;
		const struct evw_hot *h = hot + (head & EVW_MAXID);
		__mmask8 mask = (__mmask8)_bzhi_u32(255, n);
		int large;

		/* an entry without digits says 0 */
		if (__builtin_expect(h->odd != 255 - n || h->len == 0 ||
		    to - r < 1 + 2 * (ptrdiff_t)n, 0))
			break;
		__builtin_prefetch((const char *)r + AHEAD);
		now = _mm512_maskz_loadu_epi64(mask, r + 1);
		old = _mm512_loadu_si512(h->value);
		diff = _mm512_sub_epi64(now, old);
		a = _mm512_maskz_abs_epi64(mask, diff);
		large = n > EVW_LANES ||
		    _mm512_cmpgt_epu64_mask(a, c.wide) != 0;
		told++;
		if (head == prev && _mm512_mask_cmpneq_epi64_mask(mask, diff,
		    last) == 0 && (n <= EVW_LANES ||
		    same_again(w, r, h->value, n))) {
			_mm512_storeu_si512(h->value,
			    _mm512_mask_mov_epi64(old, mask, now));
			more++;
			continue;
		}
		*p = '\n';
		if (__builtin_expect(more != 0 || p >= limit, 0)) {
			p = unusual_end(w, p, prev, more);
			more = 0;
		} else {
			p += prev != 0;
		}
		memcpy(p, h->digit, 8);
		p += h->len;
		prev = head;
		if (__builtin_expect(large, 0)) {
			p = many(w, p, r, n, h->value, &c);
			last = _mm512_loadu_si512(w->last);
			continue;
		}
		last = diff;
		_mm512_storeu_si512(h->value,
		    _mm512_mask_mov_epi64(old, mask, now));
		p = put_lanes(p, &c, diff, a, n);
	}
	_mm512_storeu_si512(w->last, last);
	w->prev = prev;
	w->more = more;
	w->told += told;
	w->p = p;
	return r;
}

evwrec_fn *
evwrec_way(unsigned way)
{
	if (way == 0)
		return evwrec_plain;
	if (__builtin_cpu_supports("avx512vbmi2") &&
	    __builtin_cpu_supports("avx512vbmi") &&
	    __builtin_cpu_supports("avx512cd") &&
	    __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512dq") &&
	    __builtin_cpu_supports("avx512vl") &&
	    __builtin_cpu_supports("bmi2"))
		return lanes8;
	return NULL;
}

#else

evwrec_fn *
evwrec_way(unsigned way)
{
	return way == 0 ? evwrec_plain : NULL;
}

#endif
