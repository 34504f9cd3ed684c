/*
 * evwlanes.h - what the ways to make lines by vectors share; inside lib only
 *
 *	evwone.c	records of one value
 *	evwavx2.c	four fields at once
 *	evwavx512.c	eight fields at once
 *	evwway.c	which of them this processor can run
 */
#ifndef EVWLANES_H
#define EVWLANES_H

#include "evwrec.h"

/* The ways of evwrec_way and evwrec_single_way; not on every processor. */
evwrec_fn evwavx2_lanes, evwavx2_single;
evwrec_fn evwavx512_lanes, evwavx512_single;

/* ---- records of one value ---- */

#define STAGED	64	/* records a step, whose lines have less than 1 KB */

/* A record whose difference is taken, and whose line is to be made. */
struct evw_staged {
	uint64_t entry;		/* the first word of struct evw_hot */
	uint64_t diff;		/* of less than 8 digits, and its sign */
};

/* Write the lines of n <= STAGED records at p; give where they end. */
typedef char *evw_lines_fn(char *p, const struct evw_staged *, unsigned n);

/* As evwrec_single; put makes the lines, each behind another's newline. */
const uint32_t *evwone_staged(struct evw *, const uint32_t *r,
    const uint32_t *to, evw_lines_fn *put);

/* ---- lines ---- */

/*
 * End the unfinished line, of header prev and with so many repeats, where it
 * has repeats or the buffer is full, and return where the text ends then.
 */
char *evwrec_end(struct evw *, char *p, uint32_t prev, uint64_t more);

/* Where no line may begin: the buffer is full. */
static inline const char *
evwlanes_limit(const struct evw *w)
{
	return w->buf + EVW_BUFSIZE - EVW_MAXEXEC;
}

/*
 * Begin the line of a record whose entry is h, behind the unfinished one, of
 * header prev and with *more repeats, which becomes 0. It returns where the
 * fields go.
 */
static inline __attribute__((always_inline)) char *
evwlanes_begin(struct evw *w, char *p, const char *limit,
    const struct evw_hot *h, uint32_t prev, uint64_t *more)
{
	*p = '\n';
	if (__builtin_expect(*more != 0 || p >= limit, 0)) {
		p = evwrec_end(w, p, prev, *more);
		*more = 0;
	} else {
		p += prev != 0;
	}
	memcpy(p, h->digit, 8);
	return p + h->len;
}

#endif
