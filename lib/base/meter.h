/*
 * meter.h - progress on a terminal, a line a second on standard error
 *
 *	if (meter_due())
 *		meter_line("%d %%", share);
 *	...
 *	meter_end();
 */
#ifndef METER_H
#define METER_H

#include <stdint.h>

/* At most once a second, and never where standard error is no terminal. */
int meter_due(void);
/* Seconds since meter_due was asked first; at least 1. */
uint64_t meter_seconds(void);
void meter_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Wipe it out: before a message, and at the end. */
void meter_end(void);

#endif
