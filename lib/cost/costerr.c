/*
 * costerr - what is said of malformed costs
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "costread.h"
#include "in.h"
#include "prog.h"

void
costr_die(struct costr *r, const char *fmt, ...)
{
	char msg[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof msg, fmt, ap);
	va_end(ap);
	die("%s:%" PRIu64 ": %s", r->name, (uint64_t)in_lineno(r->d->in), msg);
}

const char *
cost_shown(const char *s)
{
	static char buf[48];

	snprintf(buf, sizeof buf, strlen(s) > 40 ? "%.40s..." : "%s", s);
	return buf;
}
