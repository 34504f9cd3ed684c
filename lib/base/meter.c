/*
 * meter - progress on a terminal: a line on standard error, once a second
 */
#include "meter.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "prog.h"

static int terminal = -1;	/* -1: not known yet */
static bool always;
static bool visible;		/* a line is on the terminal */
static time_t first, last;	/* when: the first call, the last line */

bool
meter_due(void)
{
	struct timespec t;

	if (terminal < 0)
		terminal = isatty(STDERR_FILENO);
	if (!terminal && !always)
		return false;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	if (first == 0)
		first = last = t.tv_sec;
	if (t.tv_sec == last)
		return false;
	last = t.tv_sec;
	return true;
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
	put(line, snprintf(line, sizeof line, terminal ? "\r%.40s: %s\033[K" :
	    "%.40s: %s\n", progname, text));
	visible = terminal;
	before_message = meter_end;
}

void
meter_always(void)
{
	always = true;
}

void
meter_end(void)
{
	if (visible)
		put("\r\033[K", 4);
	visible = false;
}
