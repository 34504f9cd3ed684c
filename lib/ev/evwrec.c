/*
 * evwrec - make execution lines of records
 *
 * A record costs a few ns. All it needs is a table entry of 16 bytes: the id's
 * digits, its number of groups, where its block's values are.
 *
 * The plain implementation makes a field from two lookups in a table of three
 * digits each and one 8-byte store, without a branch on its length or sign. But
 * it needs a loop over the fields, and processors predict badly how often such
 * a loop goes round.
 *
 * With AVX2 four fields are made at once, without a branch.  Each has a lane of
 * 8 bytes, with its digits at the upper end and the sign before the first of
 * them; a shift removes the bytes before the sign, and the lanes are stored one
 * after the other.  Differences of more than 7 digits are left to the plain
 * function.
 *
 * With AVX-512 it is eight fields, which is all that most records have, and
 * compress removes the bytes before the signs of all of them.
 *
 * Records of one value, as in kind cache, share the lanes of either: four lines
 * are made at once.
 */
#include "cpu.h"
#include "evwrec.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "out.h"

/* Another core wrote the records: prefetch them so many bytes ahead. */
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

/* Write a field. Arithmetic, not a branch, chooses `+`, `-` or `.`. */
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

/* End the unfinished line, and write the same line again. */
static __attribute__((noinline, cold)) char *
once_more(struct evw *w, char *p)
{
	*p++ = '\n';
	if (p > w->buf + EVW_BUFSIZE - EVW_MAXEXEC)
		p = evwrec_spill(w, p);
	p = evw_puthex(p, ev_id(w->prev));
	for (unsigned i = 0; i < ev_ngroups(w->prev); i++)
		p = evwrec_field(p, w->last[i]);
	return p;
}

/*
 * Write the repeats of the unfinished line. A line holds EV_MOST of them; more
 * take further lines like it. Those need last[], which a running evwrec_fn may
 * have in registers; but then its line has fewer repeats.
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

/* Does this record repeat the unfinished line? If so, update its values. */
static inline bool
repeats(const struct evw *w, const uint32_t *r, uint64_t *value, unsigned n)
{
	uint64_t now;

	for (unsigned i = 0; i < n; i++) {
		memcpy(&now, r + 1 + 2 * i, 8);
		if (now - value[i] != w->last[i])
			return false;
	}
	for (unsigned i = 0; i < n; i++)
		value[i] += w->last[i];
	return true;
}

const uint32_t *
evwrec_plain(struct evw *w, const uint32_t *r, const uint32_t *to)
{
	char *p = w->p;
	uint64_t *value, *last = w->last, nexec = 0, now, diff;
	uint32_t head;

	while (r < to && (head = evwrec_head(r)) != 0) {
		unsigned n = ev_ngroups(head);
		const struct evw_hot *h = w->hot + ev_id(head);

		if (__builtin_expect(h->len == 0 || h->check != 255 - n ||
		    to - r < 1 + 2 * (ptrdiff_t)n, 0))
			break;
		nexec++;
		value = evw_values(w, h);
		if (head == w->prev && repeats(w, r, value, n)) {
			w->more++;
			r += 1 + 2 * n;
			continue;
		}
		p = evwrec_finish(w, p);
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
	w->nexec += nexec;
	w->p = p;
	return r;
}

/* For kind cache, in which nearly all records have one value. */
const uint32_t *
evwrec_single(struct evw *w, const uint32_t *r, const uint32_t *to)
{
	char *p = w->p;
	uint64_t nexec = 0, last = w->last[0], now, diff, s, a, x, *value;
	uint32_t head, prev = w->prev;
	unsigned n;

	for (; to - r >= 3; r += 3) {
		const struct evw_hot *h;

		head = evwrec_head(r);
		h = w->hot + ev_id(head);
		if (__builtin_expect(ev_ngroups(head) != 1 || h->len == 0 ||
		    h->check != 254, 0))
			break;
		__builtin_prefetch((const char *)r + AHEAD);
		memcpy(&now, r + 1, 8);
		value = evw_values(w, h);
		diff = now - *value;
		*value = now;
		nexec++;
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
	w->nexec += nexec;
	w->p = p;
	return r;
}

#ifdef __x86_64__

/* End the unfinished line, if it has repeats or the buffer is full. */
static char *
unusual_end(struct evw *w, char *p, uint32_t prev, uint64_t more)
{
	w->prev = prev;
	w->more = more;
	return evwrec_finish(w, p);
}

/* Where no line may begin: the buffer is full. */
static inline const char *
buffer_limit(const struct evw *w)
{
	return w->buf + EVW_BUFSIZE - EVW_MAXEXEC;
}

/* Begin a record's line, behind the unfinished one, of prev. */
static inline __attribute__((always_inline)) char *
begin_line(struct evw *w, char *p, const char *limit, const struct evw_hot *h,
    uint32_t prev, uint64_t *more)
{
	*p = '\n';
	if (__builtin_expect(*more != 0 || p >= limit, 0)) {
		p = unusual_end(w, p, prev, *more);
		*more = 0;
	} else {
		p += prev != 0;
	}
	memcpy(p, h->digit, 8);
	return p + h->len;
}

/*
 * Records of one value: their differences are taken one by one, since they are
 * to each other's values; then four lines at once are made.
 */
#define STAGED	64	/* records a step, whose lines have less than 1 KB */
#define SLOWLY	4	/* so many the plain way, when one is not as usual */

struct staged {
	uint64_t entry;		/* the first word of struct evw_hot */
	uint64_t diff;
};

/*
 * Take the differences, but stop at a record that repeats the last, differs by
 * more than 7 digits, has other than one value, or an id without digits.
 */
static inline unsigned
stage(struct evw *w, const uint32_t *r, size_t most, struct staged *s)
{
	uint64_t last = w->last[0], now, diff, *value;
	uint32_t prev = w->prev, head;
	unsigned n;

	for (n = 0; n < most && n < STAGED; n++, r += 3) {
		const struct evw_hot *h;

		head = evwrec_head(r);
		h = w->hot + ev_id(head);
		if (__builtin_expect(((ev_ngroups(head) ^ 1U) |
		    (h->check ^ 254U)) != 0 || h->len == 0, 0))
			break;
		__builtin_prefetch((const char *)r + AHEAD);
		memcpy(&now, r + 1, 8);
		value = evw_values(w, h);
		diff = now - *value;
		if (__builtin_expect(diff + 0xfffffff > 0x1ffffffe ||
		    (head == prev && diff == last), 0))
			break;
		*value = now;
		memcpy(&s[n].entry, h, sizeof s[n].entry);
		s[n].diff = diff;
		prev = head;
		last = diff;
	}
	w->last[0] = last;
	w->prev = prev;
	w->nexec += n;
	return n;
}

typedef char *lines_fn(char *, const struct staged *, unsigned);

/* Records of one value, of which put makes lines, each behind another. */
static const uint32_t *
single_staged(struct evw *w, const uint32_t *r, const uint32_t *to,
    lines_fn *put)
{
	const char *limit = buffer_limit(w);
	struct staged s[STAGED] = { 0 };
	const uint32_t *next;
	unsigned n;

	for (;;) {
		/* there is a line to go on behind, and room */
		n = w->prev == 0 || w->more != 0 || w->p >= limit ? 0 :
		    stage(w, r, (size_t)(to - r) / 3, s);
		w->p = put(w->p, s, n);
		r += 3 * n;
		if (n == STAGED)
			continue;
		next = evwrec_single(w, r, to - r < 3 * SLOWLY ? to :
		    r + 3 * SLOWLY);
		if (next == r)
			return r;
		r = next;
	}
}

/* ---- AVX2: four fields at once ---- */

#define TARGET256 __attribute__((target("avx2,bmi,bmi2,popcnt")))

/* Constants. KEEP holds them: gcc would make them again for each record. */
struct four {
	__m256i twice, hex, low, high, last, eight, minus, dot, plus, large;
};

#define KEEP(x) __asm__("" : "+x"(x))

TARGET256
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
TARGET256
static inline __attribute__((always_inline)) __m256i
first_lanes(unsigned n)
{
	static const int64_t ones[8] = { -1, -1, -1, -1 };

	return _mm256_loadu_si256((const __m256i *)(ones + 4 - n));
}

/* Store two lanes, the second one n bytes behind the first. */
TARGET256
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
TARGET256
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
TARGET256
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

TARGET256
static inline __attribute__((always_inline)) __m256i
magnitude(__m256i diff)
{
	__m256i s = _mm256_cmpgt_epi64(_mm256_setzero_si256(), diff);

	return _mm256_sub_epi64(_mm256_xor_si256(diff, s), s);
}

TARGET256
static inline __attribute__((always_inline)) bool
is_large(const struct four *c, __m256i a)
{
	return !_mm256_testz_si256(a, c->large);
}

/* Write all n fields of a record; last[] gets their differences. */
TARGET256
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

TARGET256
static const uint32_t *
lanes4(struct evw *w, const uint32_t *r, const uint32_t *to)
{
	const char *limit = buffer_limit(w);
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
		__builtin_prefetch((const char *)r + AHEAD);
		mask = first_lanes(n < 4 ? n : 4);
		now = _mm256_maskload_epi64((const long long *)(r + 1), mask);
		value = evw_values(w, h);
		old = _mm256_loadu_si256((const __m256i *)value);
		diff = _mm256_and_si256(_mm256_sub_epi64(now, old), mask);
		other = _mm256_and_si256(_mm256_xor_si256(diff, last), mask);
		nexec++;
		if (head == prev && _mm256_testz_si256(other, other) &&
		    (n <= 4 || repeats(w, r, value, n))) {
			if (n <= 4)
				_mm256_storeu_si256((__m256i *)value,
				    _mm256_add_epi64(old, diff));
			more++;
			continue;
		}
		p = begin_line(w, p, limit, h, prev, &more);
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
TARGET256
static char *
put_lines4(char *p, const struct staged *s, unsigned n)
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

static const uint32_t *
single4(struct evw *w, const uint32_t *r, const uint32_t *to)
{
	return single_staged(w, r, to, put_lines4);
}

/* ---- AVX-512 ---- */

#define TARGET512 __attribute__((target("avx512f,avx512bw,avx512dq," \
    "avx512vl,avx512cd,avx512vbmi,avx512vbmi2,bmi2,popcnt")))

/* Constants. KEEP holds them in registers: gcc would reload each per record. */
struct lanes {
	__m512i nibbles, hex, low, plus, minus, dot, digits, wide, shift,
	    eights;
};

#undef KEEP
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
 * The text of 8 fields, each less than 2^28. The nibbles of a lane, the upper
 * one first, become digits; shift is the position of its sign, in bits; all
 * bytes below that are 0.
 */
TARGET512
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
TARGET512
static inline __attribute__((always_inline)) char *
put_bytes(char *p, __m512i x, unsigned size)
{
	uint64_t keep = _bzhi_u64(_mm512_test_epi8_mask(x, x), size);

	_mm512_storeu_si512(p, _mm512_maskz_compress_epi8(keep, x));
	return p + __builtin_popcountll(keep);
}

/* Write up to 8 such fields. */
TARGET512
static inline __attribute__((always_inline)) char *
put_lanes(char *p, const struct lanes *c, __m512i diff, __m512i a, unsigned n)
{
	return put_bytes(p, lane_text(c, diff, a), 8 * n);
}

/* Write the `all` fields of any record, with many or with large fields. */
TARGET512
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

TARGET512
static const uint32_t *
lanes8(struct evw *w, const uint32_t *r, const uint32_t *to)
{
	const char *limit = buffer_limit(w);
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
		__builtin_prefetch((const char *)r + AHEAD);
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
		    repeats(w, r, value, n))) {
			_mm512_storeu_si512(value,
			    _mm512_mask_mov_epi64(old, mask, now));
			more++;
			continue;
		}
		p = begin_line(w, p, limit, h, prev, &more);
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
TARGET512
static char *
put_lines8(char *p, const struct staged *s, unsigned n)
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

TARGET512
static const uint32_t *
single8(struct evw *w, const uint32_t *r, const uint32_t *to)
{
	return single_staged(w, r, to, put_lines8);
}

static bool
has_lanes(void)
{
	return cpu_has(AVX512_VBMI2, "avx512vbmi2") &&
	    cpu_has(AVX512_VBMI, "avx512vbmi") &&
	    cpu_has(AVX512CD, "avx512cd") &&
	    cpu_has(AVX512BW, "avx512bw") &&
	    cpu_has(AVX512DQ, "avx512dq") &&
	    cpu_has(AVX512VL, "avx512vl") &&
	    cpu_has(BMI2, "bmi2");
}

static bool
has_four_lanes(void)
{
	return cpu_has(AVX2, "avx2") && cpu_has(BMI2, "bmi2") &&
	    cpu_has(POPCNT, "popcnt");
}

evwrec_fn *
evwrec_way(unsigned way)
{
	switch (way) {
	case 0:
		return evwrec_plain;
	case 1:
		return has_four_lanes() ? lanes4 : NULL;
	default:
		return has_lanes() ? lanes8 : NULL;
	}
}

evwrec_fn *
evwrec_single_way(unsigned way)
{
	switch (way) {
	case 0:
		return evwrec_single;
	case 1:
		return has_four_lanes() ? single4 : NULL;
	default:
		return has_lanes() ? single8 : NULL;
	}
}

#else

evwrec_fn *
evwrec_way(unsigned way)
{
	return way == 0 ? evwrec_plain : NULL;
}

evwrec_fn *
evwrec_single_way(unsigned way)
{
	return way == 0 ? evwrec_single : NULL;
}

#endif
