/*
 * evwhy - why a line of an event stream is malformed
 */
#include "evwhy.h"

#include <stdarg.h>
#include <stdio.h>

int
evwhy(char why[EV_WHY], const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, EV_WHY, fmt, ap);
	va_end(ap);
	return -1;
}
