/*
 * evbuf.h - the text of a stream, by whole lines
 *
 * Inside lib only. Where a processor is left for it, a thread reads ahead and
 * scans executions (evahead.c) once the stream turns out to be long.
 *
 * Invariants:
 *  (1) p is at the start of a line; before it is a newline, or the NUL that
 *	replaced one.
 *  (2) lines is behind the last newline that was read: only whole lines are
 *	between p and lines.
 */
#ifndef EVBUF_H
#define EVBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evout.h"
#include "evscan.h"
#include "in.h"

#define EVBUF_MAXLINE	65536

struct evahead;

struct evbuf {
	struct in *in;
	char *p, *lines, *end;
	char *buf;		/* with room before and behind */
	uint64_t given;		/* bytes, before a thread read */
	struct evahead *ahead;	/* NULL: no thread reads */
	const uint32_t *heads;	/* by id, for evcheck() */
	struct evout_lists *lists;	/* for evout_scan() in the thread */
};

/* heads, and lists, which may be set later: until evbuf_done. */
void evbuf_open(struct evbuf *, struct in *, const uint32_t *heads);
void evbuf_close(struct evbuf *);
/*
 * Read until there is a whole line at p: 1. 0: the end, with the part of a
 * line between p and end; -1: a line that is too long.
 */
int evbuf_fill(struct evbuf *);
/* p is behind the end mark: does any text follow? */
bool evbuf_follows(struct evbuf *);
/* No more text is wanted: end the thread, and give back what it had. */
void evbuf_done(struct evbuf *);
/*
 * What the first *taken bytes at p were scanned to, and checked as far as their
 * ids were defined; NULL: nothing yet.
 */
struct evscan *evbuf_scanned(const struct evbuf *, size_t *taken);

/* ---- evahead.c ---- */

/* Go on from n bytes of a line that have been read; NULL: no thread. */
struct evahead *evahead_begin(struct in *, const uint32_t *heads,
    struct evout_lists *, const char *line, size_t n);
void evahead_end(struct evahead *);
/* As above, for the buffer that has this thread. */
int evahead_fill(struct evbuf *);
struct evscan *evahead_scanned(const struct evbuf *, size_t *taken);

#endif
