/*
 * note - write the log to standard output, unless a result goes there
 */
#include <stdarg.h>
#include <stdio.h>

#include "out.h"
#include "simpoint.h"

static struct out *out;
static bool quiet;

void
note_quiet(void)
{
	quiet = true;
}

void
note(const char *fmt, ...)
{
	char text[4096];
	va_list ap;

	if (quiet)
		return;
	if (!out)
		out = out_open("-");
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	out_str(out, text);
}

void
log_close(void)
{
	if (out)
		out_close(out);
	out = NULL;
}
