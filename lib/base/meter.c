/*
 * meter - progress on a terminal, a line a second on standard error
 */
#include "meter.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "util.h"

static int terminal = -1;	/* -1: not known yet */
static int shown;		/* a line stands there */
static time_t first, last;

int
meter_due(void)
{
	struct timespec t;

	if (terminal < 0)
		terminal = isatty(STDERR_FILENO);
	if (!terminal)
		return 0;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	if (first == 0)
		first = last = t.tv_sec;
	if (t.tv_sec == last)
		return 0;
	last = t.tv_sec;
	return 1;
}

uint64_t
meter_seconds(void)
{
	return last > first ? (uint64_t)(last - first) : 1;
}

static void
put(const char *s, int n)
{
	if (n > 0 && write(STDERR_FILENO, s, (size_t)n) < 0)
		terminal = 0;
}

void
meter_line(const char *fmt, ...)
{
	char text[100], line[160];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	put(line, snprintf(line, sizeof line, "\r%.40s: %s\033[K", progname,
	    text));
	shown = 1;
}

void
meter_end(void)
{
	if (shown)
		put("\r\033[K", 4);
	shown = 0;
}
