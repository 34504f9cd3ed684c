/*
 * meter.h - progress on a terminal: a line on standard error, once a second
 *
 *	if (meter_due())
 *		meter_line("%d %%", share);
 *	...
 *	meter_end();
 */
#ifndef METER_H
#define METER_H

#include <stdbool.h>
#include <stdint.h>

/* True at most once a second, and only if standard error is a terminal. */
bool meter_due(void);
/* Even if it is none; then each line stays. */
void meter_always(void);
/* Seconds since the first call of meter_due; at least 1. */
uint64_t meter_seconds(void);
/* Show a line in place of the last one. */
void meter_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Erase the line: before a message, and at the end. */
void meter_end(void);

#endif
