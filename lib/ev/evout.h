/*
 * evout.h - scan executions with outcomes among them; inside lib only
 */
#ifndef EVOUT_H
#define EVOUT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "evscan.h"

/* Lists of events, by number: few come again and again. */
#define EVOUT_BITS	10
#define EVOUT_TEXT	60	/* a list is shorter */

struct evout_lists {
	unsigned first;		/* the number of list[0] */
	struct evout_list {
		uint32_t len;	/* 0: there is none */
		char text[EVOUT_TEXT];	/* ends in a NUL */
	} list[1 << EVOUT_BITS];
};

/* Of a list's text, by its ends. */
static inline uint32_t
evout_hash(const char *text, size_t len, unsigned bits)
{
	uint32_t first = 0, last = 0;

	if (len < sizeof first) {
		memcpy(&first, text, len);
	} else {
		memcpy(&first, text, sizeof first);
		memcpy(&last, text + len - sizeof last, sizeof last);
	}
	return ((first ^ last >> 3) + (uint32_t)len) * 0x9e3779b9U >>
	    (32 - bits);
}

/*
 * As evscan_text, but go on through plain O lines, which s->out then has, in
 * the order of their records. Returns the number of bytes scanned; 0: there is
 * no execution, or something is malformed. Lists are only added.
 */
size_t evout_scan(struct evscan *s, struct evout_lists *, const char *text,
    size_t n);

#endif
