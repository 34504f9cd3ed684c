/*
 * costtext - the cost text: names and other words of programs, in one line
 *
 * Control characters are written \ooo, octal, as in events; so is a blank that
 * a text begins with, and a backslash that would be taken for the beginning of
 * such a one.  Any other backslash stays, so that readers that know nothing of
 * this find nearly all names as they are.
 */
#include "cost.h"

#include <emmintrin.h>
#include <string.h>

#include "out.h"

/* The byte that is written \ooo here, or 0. */
static unsigned char
escaped(const char *s)
{
	unsigned v = 0, i;

	for (i = 1; i <= 3; i++) {
		if (s[i] < '0' || s[i] > '7')
			return 0;
		v = 8 * v + (unsigned)(s[i] - '0');
	}
	return v <= 0x20 || v == 0x7f || v == '\\' ? v : 0;
}

static bool
needs_escape(const char *s)
{
	unsigned char c = *s;

	return c < 0x20 || c == 0x7f || (c == '\\' && escaped(s));
}

/* Is any of these bytes a control character or a backslash? */
static inline bool
any_odd(__m128i v)
{
	__m128i low = _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(0x1f)), v);
	__m128i del = _mm_cmpeq_epi8(v, _mm_set1_epi8(0x7f));
	__m128i back = _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'));

	return _mm_movemask_epi8(_mm_or_si128(low, _mm_or_si128(del, back)));
}

static inline __m128i
at(const char *s)
{
	return _mm_loadu_si128((const __m128i *)s);
}

/* The same, of 8 to 15 bytes. */
static inline bool
any_odd_short(const char *s, size_t len)
{
	int64_t first, last;

	memcpy(&first, s, 8);
	memcpy(&last, s + len - 8, 8);
	return any_odd(_mm_set_epi64x(last, first));
}

/* How long s is without control characters and backslashes. */
static size_t
usual(const char *s, size_t len)
{
	size_t i = 0;

	while (i + 16 <= len && !any_odd(at(s + i)))
		i += 16;
	if (len >= 16 ? i + 16 > len && !any_odd(at(s + len - 16)) :
	    len >= 8 && !any_odd_short(s, len))
		return len;
	while (i < len && (unsigned char)s[i] >= 0x20 && s[i] != 0x7f &&
	    s[i] != '\\')
		i++;
	return i;
}

void
cost_put_text(struct out *o, const char *s)
{
	size_t len = strlen(s), n;
	bool blank = *s == ' ';

	while (len) {
		n = blank ? 0 : usual(s, len);
		if (n)
			out_write(o, s, n);
		s += n;
		len -= n;
		if (!len)
			break;
		if (blank || needs_escape(s))
			out_printf(o, "\\%03o", (unsigned char)*s);
		else
			out_ch(o, *s);
		blank = false;
		s++;
		len--;
	}
}

size_t
cost_undo_text(char *s, size_t len)
{
	char *p = memchr(s, '\\', len), *to = p, *end = s + len;
	unsigned char c;

	if (!p)
		return len;
	for (; p < end; to++) {
		c = *p == '\\' && end - p >= 4 ? escaped(p) : 0;
		*to = c ? (char)c : *p;
		p += c ? 4 : 1;
	}
	*to = '\0';
	return to - s;
}
