/*
 * perfmap - read /tmp/perf-PID.map
 *
 *	7f96ffeb6000 b py::f:/home/u/a.py
 *	0x00007fd55d4001a0 0x0000000000000110 void java.lang.Object.<init>()
 *
 * The last line may not be whole yet: it is read again, later.
 */
#include "jit/parts.h"

#include <string.h>
#include <unistd.h>

#define MOST	((uint64_t)1 << 28)	/* bytes of a map that are read */

/* Read hexadecimal digits, with 0x or without, and move *s behind them. */
static bool
number(const char **s, const char *end, uint64_t *n)
{
	const char *p = *s, *from;

	if (end - p > 2 && p[0] == '0' && (p[1] | 32) == 'x')
		p += 2;
	*n = 0;
	for (from = p; p < end; p++) {
		unsigned d = (unsigned)*p - '0';

		if (d > 9)
			d = ((unsigned)*p | 32) - 'a' + 10;
		if (d > 15 || ((unsigned)*p - '0' > 9 && d < 10))
			break;
		if (*n >> 60 != 0)
			return false;
		*n = *n << 4 | d;
	}
	*s = p;
	return p > from;
}

static bool
blanks(const char **s, const char *end)
{
	const char *p = *s;

	while (*s < end && (**s == ' ' || **s == '\t'))
		++*s;
	return *s > p;
}

/* A line without its newline. */
static void
line(struct jit *j, const char *s, const char *end)
{
	struct jit_code c = { 0 };

	if (end > s && end[-1] == '\r')
		end--;
	if (!number(&s, end, &c.start) || !blanks(&s, end) ||
	    !number(&s, end, &c.size) || !blanks(&s, end) ||
	    memchr(s, '\0', (size_t)(end - s)) != NULL)
		return;
	jit_add(j, c, s, (size_t)(end - s));
}

void
perfmap_poll(struct jit *j)
{
	static char buf[65536];
	struct jit_file *f = &j->map;
	ssize_t n;

	while (f->at < MOST &&
	    (n = pread(f->fd, buf, sizeof buf, (off_t)f->at)) > 0) {
		const char *p = buf, *end = buf + n, *nl;

		while ((nl = memchr(p, '\n', (size_t)(end - p))) != NULL) {
			line(j, p, nl);
			p = nl + 1;
		}
		if (p == buf && n < (ssize_t)sizeof buf)
			return;
		/* without any newline it is no line */
		f->at += (uint64_t)(p == buf ? n : p - buf);
	}
}
