/*
 * costtext.c - the cost text: names and other words of programs, in one line
 *
 * Control characters are written \ooo, octal, as in events; so is a blank that
 * a text begins with, and a backslash that would be taken for the beginning of
 * such a one.  Any other backslash stays, so that readers that know nothing of
 * this find nearly all names as they are.
 */
#include "cost.h"

#include <string.h>

#include "out.h"

#define ALL	UINT64_C(0x0101010101010101)	/* a 1 in each byte */

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

/* How long s is without control characters and backslashes. */
static size_t
usual(const char *s, size_t len)
{
	uint64_t w, del, back;
	size_t i;

	for (i = 0; i + 8 <= len; i += 8) {
		memcpy(&w, s + i, 8);
		del = w ^ 0x7f * ALL;
		back = w ^ '\\' * ALL;
		if (((w - 0x20 * ALL) & ~w) >> 7 & ALL ||
		    ((del - ALL) & ~del) >> 7 & ALL ||
		    ((back - ALL) & ~back) >> 7 & ALL)
			break;
	}
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
