/*
 * evsimd - turn execution lines into words, a whole buffer at a time
 *
 * A parser that walks from token to token must know each token's length before
 * it can start on the next: 13 cycles a token. Two passes avoid that wait:
 *
 *  1. Find the separators. All of them (newline * + - .) sort below '0', so one
 *     compare finds those of 16 or 64 bytes; a table, or one instruction, turns
 *     the mask into positions. The same pass checks that every byte is one that
 *     executions may have, that no digits follow a `.`, and that some digits
 *     follow every other separator.
 *  2. Convert the tokens, two, four or eight at a time. Load the 8 bytes that
 *     end at the separator, mask those of the token before, and make a number
 *     by multiply-and-add steps; the byte before the digits gives the sign.
 *     This handles up to 6 or 7 digits; longer tokens are rare, and converted
 *     one by one.
 *
 * This file does not check that a line has as many fields as its id demands;
 * the caller compares the pieces.
 */
#include "cpu.h"
#include "evscan.h"

#ifdef __x86_64__

#include <immintrin.h>
#include <pthread.h>
#include <string.h>

/* By byte: the positions of its bits, one in each byte; how many it has. */
static uint64_t bits_at[256];
static uint8_t bits_in[256];
/* By ASCII character: not 0 for those that executions may have. */
static _Alignas(64) uint8_t allowed[128];
/*
 * From the first pass to the second: where separators are, the one before the
 * text at -1; with AVX-512 what they are, from [1] on.
 */
struct ends {
	uint16_t pos[EVSCAN_TEXT + 64];
	char what[EVSCAN_TEXT + 64];
};

/* Masks, by n, for a token of n digits at the end of 8 bytes: digits; sign. */
static uint64_t digits_of[8];
static uint64_t sign_of[8];

/*
 * By the mask of 4 words that end a piece: the shuffle that moves those words
 * to the front; and by the mask of words before a `*`: EVSCAN_STAR for each.
 */
static _Alignas(16) uint8_t to_front[16][16];
static _Alignas(16) uint32_t starred[16][4];

static void
make_tables4(void)
{
	for (unsigned m = 0; m < 16; m++) {
		unsigned n = 0;

		for (unsigned i = 0; i < 4; i++) {
			starred[m][i] = m >> i & 1 ? EVSCAN_STAR : 0;
			if (m >> i & 1)
				for (unsigned b = 0; b < 4; b++)
					to_front[m][n++] =
					    (uint8_t)(4 * i + b);
		}
	}
}

static void
make_tables(void)
{
	memset(bits_at, 0, sizeof bits_at);
	for (unsigned b = 0; b < 256; b++) {
		unsigned n = 0;

		for (unsigned i = 0; i < 8; i++)
			if (b >> i & 1)
				bits_at[b] |= (uint64_t)i << 8 * n++;
		bits_in[b] = (uint8_t)n;
	}
	for (unsigned n = 0; n < 8; n++) {
		digits_of[n] = n == 0 ? 0 : ~(uint64_t)0 << (64 - 8 * n);
		sign_of[n] = (uint64_t)1 << (56 - 8 * n);
	}
	make_tables4();
	for (const char *c = "\n+-.*0123456789abcdef"; *c != '\0'; c++)
		allowed[(unsigned char)*c] = 1;
}

struct masks {
	uint64_t separator;
	uint64_t dot;
	uint64_t foreign;	/* bytes that no execution has */
};

/*
 * Classify 64 bytes. Two tables, one by a byte's low nibble, one by its high
 * nibble, have a bit in common for an allowed byte: 1 newline, 2 + - . *,
 * 4 0-9, 8 a-f.
 */
__attribute__((target("ssse3")))
static inline void
classify(const char *p, struct masks *m)
{
	const __m128i low = _mm_setr_epi8(4, 12, 12, 12, 12, 12, 12, 4, 4, 4,
	    3, 2, 0, 2, 2, 0);
	const __m128i high = _mm_setr_epi8(1, 0, 2, 4, 0, 0, 8, 0, 0, 0, 0, 0,
	    0, 0, 0, 0);
	const __m128i zero = _mm_setzero_si128();

	m->separator = m->dot = m->foreign = 0;
	for (unsigned i = 0; i < 64; i += 16) {
		__m128i x = _mm_loadu_si128((const __m128i *)(p + i));
		__m128i h = _mm_and_si128(_mm_srli_epi16(x, 4),
		    _mm_set1_epi8(15));
		__m128i good = _mm_and_si128(_mm_shuffle_epi8(low, x),
		    _mm_shuffle_epi8(high, h));

		m->separator |= (uint64_t)(unsigned)_mm_movemask_epi8(
		    _mm_cmplt_epi8(x, _mm_set1_epi8('0'))) << i;
		m->dot |= (uint64_t)(unsigned)_mm_movemask_epi8(
		    _mm_cmpeq_epi8(x, _mm_set1_epi8('.'))) << i;
		m->foreign |= (uint64_t)(unsigned)_mm_movemask_epi8(
		    _mm_cmpeq_epi8(good, zero)) << i;
	}
}

/* What the bytes before these 64 say, and what is wrong up to here. */
struct carry {
	uint64_t behind_sep;
	uint64_t behind_dot;
	uint64_t wrong;
};

/*
 * Check the classes m of the bytes from `at` on, of n; at a byte that no
 * execution has, taken becomes less than n. Returns the separators up to there.
 */
static inline __attribute__((always_inline)) uint64_t
separators(struct carry *c, const struct masks *m, size_t at, size_t n,
    size_t *taken)
{
	uint64_t keep = ~(uint64_t)0, after;

	if (n - at < 64)
		keep >>= 64 - (n - at);
	if (__builtin_expect((m->foreign & keep) != 0, 0)) {
		*taken = at + (size_t)__builtin_ctzll(m->foreign);
		keep = ((uint64_t)1 << (*taken - at)) - 1;
	}
	after = m->separator << 1 | c->behind_sep;
	c->wrong |= after & (m->separator ^ (m->dot << 1 | c->behind_dot)) &
	    keep;
	c->behind_sep = m->separator >> 63;
	c->behind_dot = m->dot >> 63;
	return m->separator & keep;
}

/* Pass 1. Returns the bytes scanned; sets nword to the number of separators. */
__attribute__((target("ssse3")))
static size_t
positions(struct evscan *s, struct ends *e, const char *text, size_t n)
{
	struct carry c = { .behind_sep = 1 };
	uint16_t *pos = e->pos;
	size_t at, taken = n;

	*pos++ = 0xffff;
	for (at = 0; at < n && taken == n; at += 64) {
		__m128i base = _mm_set1_epi16((short)at);
		struct masks m;
		uint64_t sep;

		classify(text + at, &m);
		for (sep = separators(&c, &m, at, n, &taken); sep != 0;
		    sep >>= 8) {
			__m128i x = _mm_loadl_epi64(
			    (const __m128i *)&bits_at[sep & 255]);

			x = _mm_unpacklo_epi8(x, _mm_setzero_si128());
			_mm_storeu_si128((__m128i *)pos,
			    _mm_add_epi16(x, base));
			pos += bits_in[sep & 255];
			base = _mm_add_epi16(base, _mm_set1_epi16(8));
		}
	}
	s->nword = (unsigned)(pos - e->pos) - 1;
	s->malformed = c.wrong != 0 ||
	    (taken != 0 && text[taken - 1] != '\n');
	return taken;
}

/* The number whose at most 8 digits end at p. */
static uint64_t
eight(const char *p, unsigned len)
{
	uint64_t x;

	if (len == 0)
		return 0;
	memcpy(&x, p - 8, 8);
	x = (x & 0x0f0f0f0f0f0f0f0f) + 9 * (x >> 6 & 0x0101010101010101);
	x >>= 64 - 8 * len;
	x = __builtin_bswap64(x) >> (64 - 8 * len);
	x = (x | x >> 4) & 0x00ff00ff00ff00ff;
	x = (x | x >> 8) & 0x0000ffff0000ffff;
	return (x | x >> 16) & 0xffffffff;
}

/* A token of any length that ends at p. */
static uint64_t
long_token(struct evscan *s, const char *p, unsigned len)
{
	uint64_t x;

	if (len > 16) {
		s->malformed = true;
		return 0;
	}
	x = eight(p, len < 8 ? len : 8);
	if (len > 8)
		x |= eight(p - 8, len - 8) << 32;
	return p[-1 - (int)len] == '-' ? -x : x;
}

/* Note that word k ends at c: if that is a newline or `*`, a piece begins. */
#define PIECE(c, k)							\
	do {								\
		piece[npiece] = ((k) + 1) | (uint32_t)((c) & 0x20) << 26; \
		npiece += ((c) & 15) == 10;				\
	} while (0)

/* Pass 2. */
__attribute__((target("ssse3")))
static void
numbers(struct evscan *s, const struct ends *e, const char *text)
{
	const __m128i order = _mm_setr_epi8(3, 2, 1, 0, -1, -1, -1, -1, 7, 6,
	    5, 4, -1, -1, -1, -1);
	const __m128i weight = _mm_set1_epi16(0x0110);
	const __m128i zero = _mm_setzero_si128();
	const uint16_t *pos = e->pos + 1;
	uint32_t *piece = s->piece;
	unsigned n = s->nword, npiece = 1, k, from = 0;

	piece[0] = 0;
	for (k = 0; k + 2 <= n; k += 2) {
		const char *a = text + pos[k], *b = text + pos[k + 1];
		unsigned la = pos[k] - from, lb = (unsigned)(b - a) - 1;
		__m128i x, letter, minus, sign;

		from = pos[k + 1] + 1;
		PIECE(*a, k);
		PIECE(*b, k + 1);
		if (__builtin_expect((la | lb) > 7, 0)) {
			s->word[k] = long_token(s, a, la);
			s->word[k + 1] = long_token(s, b, lb);
			continue;
		}
		x = _mm_unpacklo_epi64(
		    _mm_loadl_epi64((const __m128i *)(a - 8)),
		    _mm_loadl_epi64((const __m128i *)(b - 8)));
		minus = _mm_and_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8('-')),
		    _mm_unpacklo_epi64(
		    _mm_loadl_epi64((const __m128i *)&sign_of[la]),
		    _mm_loadl_epi64((const __m128i *)&sign_of[lb])));
		sign = _mm_sub_epi64(zero, _mm_sad_epu8(minus, zero));
		letter = _mm_and_si128(_mm_cmpgt_epi8(x, _mm_set1_epi8('9')),
		    _mm_set1_epi8(9));
		x = _mm_add_epi8(_mm_and_si128(x, _mm_set1_epi8(15)), letter);
		x = _mm_and_si128(x, _mm_unpacklo_epi64(
		    _mm_loadl_epi64((const __m128i *)&digits_of[la]),
		    _mm_loadl_epi64((const __m128i *)&digits_of[lb])));
		x = _mm_maddubs_epi16(x, weight);
		x = _mm_packus_epi16(x, x);
		x = _mm_shuffle_epi8(x, order);
		x = _mm_sub_epi64(_mm_xor_si128(x, sign), sign);
		_mm_storeu_si128((__m128i *)&s->word[k], x);
	}
	if (k < n) {
		s->word[k] = long_token(s, text + pos[k], pos[k] - from);
		PIECE(text[pos[k]], k);
	}
	s->npiece = npiece - 1;
}

/* ---- AVX2 ---- */

/* The same classes of 64 bytes, 32 at a time. */
__attribute__((target("avx2")))
static inline __attribute__((always_inline)) void
classify32(const char *p, struct masks *m)
{
	const __m256i low = _mm256_broadcastsi128_si256(_mm_setr_epi8(4, 12,
	    12, 12, 12, 12, 12, 4, 4, 4, 3, 2, 0, 2, 2, 0));
	const __m256i high = _mm256_broadcastsi128_si256(_mm_setr_epi8(1, 0, 2,
	    4, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0));

	m->separator = m->dot = m->foreign = 0;
	for (unsigned i = 0; i < 64; i += 32) {
		__m256i x = _mm256_loadu_si256((const __m256i *)(p + i));
		__m256i h = _mm256_and_si256(_mm256_srli_epi16(x, 4),
		    _mm256_set1_epi8(15));
		__m256i good = _mm256_and_si256(_mm256_shuffle_epi8(low, x),
		    _mm256_shuffle_epi8(high, h));

		m->separator |= (uint64_t)(unsigned)_mm256_movemask_epi8(
		    _mm256_cmpgt_epi8(_mm256_set1_epi8('0'), x)) << i;
		m->dot |= (uint64_t)(unsigned)_mm256_movemask_epi8(
		    _mm256_cmpeq_epi8(x, _mm256_set1_epi8('.'))) << i;
		m->foreign |= (uint64_t)(unsigned)_mm256_movemask_epi8(
		    _mm256_cmpeq_epi8(good, _mm256_setzero_si256())) << i;
	}
}

/* Pass 1. */
__attribute__((target("avx2")))
static size_t
positions32(struct evscan *s, struct ends *e, const char *text, size_t n)
{
	struct carry c = { .behind_sep = 1 };
	uint16_t *pos = e->pos;
	size_t at, taken = n;

	*pos++ = 0xffff;
	for (at = 0; at < n && taken == n; at += 64) {
		__m128i base = _mm_set1_epi16((short)at);
		struct masks m;
		uint64_t sep;

		classify32(text + at, &m);
		sep = separators(&c, &m, at, n, &taken);
#pragma GCC unroll 8
		for (unsigned i = 0; i < 64; i += 8) {
			uint8_t byte = (uint8_t)(sep >> i);

			_mm_storeu_si128((__m128i *)pos, _mm_add_epi16(base,
			    _mm_cvtepu8_epi16(_mm_loadl_epi64(
			    (const __m128i *)&bits_at[byte]))));
			pos += bits_in[byte];
			base = _mm_add_epi16(base, _mm_set1_epi16(8));
		}
	}
	s->nword = (unsigned)(pos - e->pos) - 1;
	s->malformed = c.wrong != 0 ||
	    (taken != 0 && text[taken - 1] != '\n');
	return taken;
}

/* Load 8 bytes for each of four separators, from `before` bytes before it. */
__attribute__((target("avx2")))
static inline __m256i
load4(const char *text, const uint16_t *pos, unsigned before)
{
	__m128i a = _mm_loadl_epi64((const __m128i *)(text + pos[0] - before));
	__m128i b = _mm_loadl_epi64((const __m128i *)(text + pos[1] - before));
	__m128i c = _mm_loadl_epi64((const __m128i *)(text + pos[2] - before));
	__m128i d = _mm_loadl_epi64((const __m128i *)(text + pos[3] - before));

	return _mm256_inserti128_si256(
	    _mm256_castsi128_si256(_mm_unpacklo_epi64(a, b)),
	    _mm_unpacklo_epi64(c, d), 1);
}

/* Constants. KEEP holds them: gcc would make them again for each four. */
struct four {
	__m256i all, minus, star, newline, nine, digit, letter, pairs, fours;
	__m128i most, one, order;
};

#define KEEP(x) __asm__("" : "+x"(x))

__attribute__((target("avx2")))
static inline __attribute__((always_inline)) struct four
four_init(void)
{
	struct four c;

	c.all = _mm256_set1_epi8(-1);
	c.minus = _mm256_set1_epi8('-');
	c.star = _mm256_set1_epi8('*');
	c.newline = _mm256_set1_epi8('\n');
	c.nine = _mm256_set1_epi8('9');
	c.digit = _mm256_set1_epi8(15);
	c.letter = _mm256_set1_epi8(9);
	c.pairs = _mm256_set1_epi16(0x0110);
	c.fours = _mm256_set1_epi32(0x00010100);
	c.most = _mm_set1_epi16(6);
	c.one = _mm_set1_epi16(1);
	c.order = _mm_setr_epi32(1, 2, 3, 4);
	KEEP(c.all);
	KEEP(c.minus);
	KEEP(c.star);
	KEEP(c.newline);
	KEEP(c.nine);
	KEEP(c.digit);
	KEEP(c.letter);
	KEEP(c.pairs);
	KEEP(c.fours);
	KEEP(c.most);
	KEEP(c.one);
	KEEP(c.order);
	return c;
}

/*
 * The numbers of four tokens of up to 6 digits, whose lengths are in len16: x
 * has the 8 bytes up to the separator behind each.
 */
__attribute__((target("avx2")))
static inline __attribute__((always_inline)) __m256i
four_numbers(const struct four *c, __m256i x, __m128i len16)
{
	__m256i bits, minus;

	x = _mm256_slli_epi64(x, 8);
	bits = _mm256_slli_epi64(_mm256_cvtepu16_epi64(len16), 3);
	/* all ones, if the byte before the digits is a minus */
	minus = _mm256_cmpgt_epi64(_mm256_setzero_si256(), _mm256_sllv_epi64(
	    _mm256_cmpeq_epi8(x, c->minus), bits));
	x = _mm256_add_epi8(_mm256_and_si256(x, c->digit), _mm256_and_si256(
	    _mm256_cmpgt_epi8(x, c->nine), c->letter));
	x = _mm256_andnot_si256(_mm256_srlv_epi64(c->all, bits), x);
	x = _mm256_madd_epi16(_mm256_maddubs_epi16(x, c->pairs), c->fours);
	x = _mm256_srli_epi64(_mm256_or_si256(x, _mm256_slli_epi64(x, 48)),
	    32);
	return _mm256_sub_epi64(_mm256_xor_si256(x, minus), minus);
}

/*
 * Pass 2, four at a time. The 8 bytes hold the separator before the token, up
 * to 6 digits and the separator behind them.
 */
__attribute__((target("avx2")))
static void
numbers4(struct evscan *s, const struct ends *e, const char *text)
{
	const struct four c = four_init();
	const uint16_t *pos = e->pos + 1;
	uint32_t *piece = s->piece;
	unsigned n = s->nword, npiece = 1, k, ends, stars;
	__m256i x;

	piece[0] = 0;
	for (k = 0; k < n; k += 4) {
		__m128i len16 = _mm_sub_epi16(_mm_sub_epi16(
		    _mm_loadl_epi64((const __m128i *)&pos[k]),
		    _mm_loadl_epi64((const __m128i *)&e->pos[k])), c.one);

		if (__builtin_expect(n - k < 4 || (_mm_movemask_epi8(
		    _mm_cmpgt_epi16(len16, c.most)) & 255) != 0, 0)) {
			for (unsigned i = k; i < n && i < k + 4; i++) {
				s->word[i] = long_token(s, text + pos[i],
				    (uint16_t)(pos[i] - e->pos[i] - 1));
				PIECE(text[pos[i]], i);
			}
			continue;
		}
		x = load4(text, pos + k, 7);
		_mm256_storeu_si256((__m256i *)&s->word[k],
		    four_numbers(&c, x, len16));
		stars = (unsigned)_mm256_movemask_pd((__m256d)
		    _mm256_cmpeq_epi8(x, c.star));
		ends = stars | (unsigned)_mm256_movemask_pd((__m256d)
		    _mm256_cmpeq_epi8(x, c.newline));
		_mm_storeu_si128((__m128i *)&piece[npiece], _mm_shuffle_epi8(
		    _mm_or_si128(_mm_add_epi32(_mm_set1_epi32((int)k),
		    c.order), _mm_load_si128((const __m128i *)starred[stars])),
		    _mm_load_si128((const __m128i *)to_front[ends])));
		npiece += bits_in[ends];
	}
	s->npiece = npiece - 1;
}

/* ---- AVX-512 ---- */

#define TARGET512 __attribute__((target("avx512f,avx512bw,avx512dq," \
    "avx512vl,avx512vbmi,avx512vbmi2")))

/* Pass 1, 64 bytes at a time. */
TARGET512
static size_t
positions64(struct evscan *s, struct ends *e, const char *text, size_t n)
{
	const __m512i low = _mm512_load_si512(allowed);
	const __m512i high = _mm512_load_si512(allowed + 64);
	__m512i number = _mm512_setzero_si512();
	uint64_t behind_sep = 1, behind_dot = 0, wrong = 0;
	uint16_t *pos = e->pos;
	char *separator = e->what;
	size_t at, taken = n;

	for (unsigned i = 0; i < 64; i++)
		((uint8_t *)&number)[i] = (uint8_t)i;
	*pos++ = 0xffff;
	for (at = 0; at < n && taken == n; at += 64) {
		__m512i x = _mm512_loadu_si512(text + at);
		uint64_t sep = _mm512_cmplt_epi8_mask(x,
		    _mm512_set1_epi8('0'));
		uint64_t dot = _mm512_cmpeq_epi8_mask(x,
		    _mm512_set1_epi8('.'));
		uint64_t foreign = _mm512_movepi8_mask(x) |
		    _mm512_testn_epi8_mask(_mm512_set1_epi8(-1),
		    _mm512_permutex2var_epi8(low, x, high));
		uint64_t keep = ~(uint64_t)0, after;
		__m512i base = _mm512_set1_epi16((short)at), found;

		if (n - at < 64)
			keep >>= 64 - (n - at);
		if (__builtin_expect((foreign & keep) != 0, 0)) {
			taken = at + (size_t)__builtin_ctzll(foreign);
			keep = ((uint64_t)1 << (taken - at)) - 1;
		}
		after = sep << 1 | behind_sep;
		wrong |= after & (sep ^ (dot << 1 | behind_dot)) & keep;
		behind_sep = sep >> 63;
		behind_dot = dot >> 63;
		found = _mm512_maskz_compress_epi8(sep & keep, number);
		_mm512_storeu_si512(pos, _mm512_add_epi16(base,
		    _mm512_cvtepu8_epi16(_mm512_castsi512_si256(found))));
		_mm512_storeu_si512(pos + 32, _mm512_add_epi16(base,
		    _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(found,
		    1))));
		_mm512_storeu_si512(separator,
		    _mm512_maskz_compress_epi8(sep & keep, x));
		pos += __builtin_popcountll(sep & keep);
		separator += __builtin_popcountll(sep & keep);
	}
	s->nword = (unsigned)(pos - e->pos) - 1;
	s->malformed = wrong != 0 || (taken != 0 && text[taken - 1] != '\n');
	return taken;
}

/* Pass 2, eight at a time: up to 7 digits; longer tokens are then redone. */
TARGET512
static void
numbers8(struct evscan *s, const struct ends *e, const char *text)
{
	const __m256i order = _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 8);
	const uint16_t *pos = e->pos + 1;
	uint32_t *piece = s->piece;
	unsigned n = s->nword, npiece = 1, k;

	piece[0] = 0;
	for (k = 0; k + 8 <= n; k += 8) {
		__m128i len16 = _mm_sub_epi16(_mm_sub_epi16(
		    _mm_loadu_si128((const __m128i *)&pos[k]),
		    _mm_loadu_si128((const __m128i *)&e->pos[k])),
		    _mm_set1_epi16(1));
		__m128i end = _mm_loadl_epi64(
		    (const __m128i *)&e->what[k]);
		__m512i x, bits, sign;
		__mmask8 minus;
		__mmask16 stars, ends;
		__m256i at = _mm256_add_epi32(_mm256_set1_epi32((int)k), order);
		unsigned large = _mm_cmpgt_epi16_mask(len16, _mm_set1_epi16(7));

		x = _mm512_inserti64x4(_mm512_castsi256_si512(
		    load4(text, pos + k, 8)), load4(text, pos + k + 4, 8), 1);
		bits = _mm512_slli_epi64(_mm512_cvtepu16_epi64(len16), 3);
		/* the byte before the digits */
		sign = _mm512_srlv_epi64(x, _mm512_sub_epi64(
		    _mm512_set1_epi64(56), bits));
		minus = _mm512_cmpeq_epi64_mask(_mm512_set1_epi64('-'),
		    _mm512_and_si512(sign, _mm512_set1_epi64(255)));
		x = _mm512_mask_add_epi8(x, _mm512_cmpgt_epi8_mask(x,
		    _mm512_set1_epi8('9')), x, _mm512_set1_epi8(9));
		x = _mm512_and_si512(x, _mm512_set1_epi8(15));
		x = _mm512_and_si512(x, _mm512_sllv_epi64(
		    _mm512_set1_epi8(-1), _mm512_sub_epi64(
		    _mm512_set1_epi64(64), bits)));
		x = _mm512_maddubs_epi16(x, _mm512_set1_epi16(0x0110));
		x = _mm512_madd_epi16(x, _mm512_set1_epi32(0x00010100));
		x = _mm512_or_si512(_mm512_srli_epi64(x, 32),
		    _mm512_srli_epi64(_mm512_slli_epi64(x, 48), 32));
		x = _mm512_mask_sub_epi64(x, minus, _mm512_setzero_si512(),
		    x);
		_mm512_storeu_si512(&s->word[k], x);
		for (; __builtin_expect(large != 0, 0); large &= large - 1) {
			unsigned i = k + (unsigned)__builtin_ctz(large);

			s->word[i] = long_token(s, text + pos[i],
			    (uint16_t)(pos[i] - e->pos[i] - 1));
		}
		stars = _mm_cmpeq_epi8_mask(end, _mm_set1_epi8('*'));
		ends = stars | _mm_cmpeq_epi8_mask(end, _mm_set1_epi8('\n'));
		_mm256_storeu_si256((__m256i *)&piece[npiece],
		    _mm256_maskz_compress_epi32((__mmask8)ends,
		    _mm256_mask_or_epi32(at, (__mmask8)stars, at,
		    _mm256_set1_epi32((int)EVSCAN_STAR))));
		npiece += (unsigned)__builtin_popcount(ends);
	}
	for (; k < n; k++) {
		s->word[k] = long_token(s, text + pos[k],
		    (uint16_t)(pos[k] - e->pos[k] - 1));
		PIECE(text[pos[k]], k);
	}
	s->npiece = npiece - 1;
}

/* ---- choosing one ---- */

static size_t
scan_ssse3(struct evscan *s, const char *text, size_t n)
{
	struct ends e;
	size_t taken = positions(s, &e, text, n);

	numbers(s, &e, text);
	return taken;
}

static size_t
scan_avx2(struct evscan *s, const char *text, size_t n)
{
	struct ends e;
	size_t taken = positions32(s, &e, text, n);

	numbers4(s, &e, text);
	return taken;
}

static size_t
scan_avx512(struct evscan *s, const char *text, size_t n)
{
	struct ends e;
	size_t taken = positions64(s, &e, text, n);

	numbers8(s, &e, text);
	return taken;
}

evscan_fn *
evscan_way(unsigned way)
{
	make_tables();
	switch (way) {
	case 0:
		return evscan_plain;
	case 1:
		if (cpu_has(SSSE3, "ssse3"))
			return scan_ssse3;
		break;
	case 2:
		if (cpu_has(AVX2, "avx2"))
			return scan_avx2;
		break;
	case 3:
		if (cpu_has(AVX512_VBMI2, "avx512vbmi2") &&
		    cpu_has(AVX512_VBMI, "avx512vbmi") &&
		    cpu_has(AVX512BW, "avx512bw") &&
		    cpu_has(AVX512DQ, "avx512dq") &&
		    cpu_has(AVX512VL, "avx512vl"))
			return scan_avx512;
		break;
	}
	return NULL;
}

#else

evscan_fn *
evscan_way(unsigned way)
{
	return way == 0 ? evscan_plain : NULL;
}

#endif

static evscan_fn *best;

static void
choose(void)
{
	unsigned way = EVSCAN_WAYS - 1;

	while (evscan_way(way) == NULL)
		way--;
	best = evscan_way(way);
}

size_t
evscan_text(struct evscan *s, const char *text, size_t n)
{
	static pthread_once_t chosen = PTHREAD_ONCE_INIT;

	pthread_once(&chosen, choose);	/* threads share the tables */
	s->nout = 0;
	return best(s, text, n);
}
