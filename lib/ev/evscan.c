/*
 * evscan - turn execution lines into words, without SIMD
 *
 * evsimd.c is the fast implementation. This one serves processors that lack
 * its instructions, and finds the position of an error.
 */
#include "evscan.h"

#include <string.h>

static unsigned
digit(char c)
{
	unsigned d = (unsigned char)c;

	if (d - '0' < 10)
		return d - '0';
	return d - 'a' < 6 ? d - 'a' + 10 : 16;
}

static bool
is_separator(char c)
{
	return c == '+' || c == '-' || c == '.' || c == '*' || c == '\n';
}

/* Read the number at p; returns its end, or NULL if it is too long. */
static const char *
token(const char *p, uint64_t *n)
{
	const char *from = p;
	uint64_t x = 0;
	unsigned d;

	for (; (d = digit(*p)) < 16; p++)
		x = x << 4 | d;
	*n = x;
	return p - from > 16 ? NULL : p;
}

int
evscan_line(struct evscan *s, const char *line, size_t n, const char **at)
{
	const char *p = line, *end = line + n;
	char sep = '\n';
	uint64_t x;

	s->nword = 0;
	s->npiece = 0;
	s->nout = 0;
	do {
		const char *behind;

		*at = p;
		if (sep == '\n' || sep == '*')
			s->piece[s->npiece++] = s->nword |
			    (sep == '*' ? EVSCAN_STAR : 0);
		behind = token(p, &x);
		if (behind == NULL)
			return -1;
		if ((behind == p) != (sep == '.'))
			return -1;
		s->word[s->nword++] = sep == '-' ? -x : x;
		*at = behind;
		sep = *behind;
		if (!is_separator(sep))
			return -1;
		p = behind + 1;
	} while (p < end);
	s->piece[s->npiece] = s->nword;
	return 0;
}

size_t
evscan_plain(struct evscan *s, const char *text, size_t n)
{
	const char *p = text, *end = text + n, *at;
	unsigned nword = 0, npiece = 0;
	char sep = '\n';
	uint64_t x;

	s->malformed = false;
	while (p < end) {
		if (sep == '\n' && digit(*p) > 15 && !is_separator(*p))
			break;
		if (sep == '\n' || sep == '*')
			s->piece[npiece++] = nword |
			    (sep == '*' ? EVSCAN_STAR : 0);
		at = token(p, &x);
		if (at == NULL || !is_separator(*at) ||
		    (at == p) != (sep == '.')) {
			s->malformed = true;
			break;
		}
		s->word[nword++] = sep == '-' ? -x : x;
		sep = *at;
		p = at + 1;
	}
	s->nword = nword;
	s->npiece = npiece;
	s->piece[npiece] = nword;
	return (size_t)(p - text);
}
