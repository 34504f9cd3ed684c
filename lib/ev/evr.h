/*
 * evr.h - a reader of event text; inside lib only
 *
 *	evr.c		options, errors, properties
 *	evexec.c	batches of executions
 *	evread.c	all lines, in their order
 */
#ifndef EVR_H
#define EVR_H

#include "evbuf.h"
#include "evctx.h"
#include "evdef.h"
#include "evnames.h"
#include "evout.h"
#include "evscan.h"
#include "evstand.h"
#include "khash.h"

KHASH_MAP_INIT_INT64(tid, uint32_t)

enum { READING, ENDED, FAILED };

struct evr {
	struct evbuf b;
	uint64_t lineno;	/* of the line at p, from 1 */
	uint64_t nexec;		/* executions so far */
	int state;
	bool began;		/* a line that is not H has been read */
	unsigned version;	/* of the grammar, 1 or 2 */
	unsigned kind, accept;
	const char *why;	/* what only the kinds in accept tell */
	uint64_t fsets, fsize, fways;	/* kind cache: trace's table */
	char *text;		/* the line's text, unescaped */
	khash_t(tid) *tid;	/* thread id -> thread number */
	uint64_t now;		/* tid of the running thread */
	unsigned thread, nthread;	/* its number; numbers so far */
	bool named;		/* there was a T line */
	uint32_t nlabel;	/* labels that O lines gave */
	uint32_t *last;		/* by thread: its last execution's id, or 0 */
	size_t caplast;
	uint32_t before;	/* the running one's before the last batch */
	struct evdef def;
	struct evctx ctx;
	struct evnames names;
	struct evstand stand;
	struct evscan *scan;	/* what is read: own, or one of b's */
	struct evscan own;
	struct evout_lists *lists;	/* own's, then b's; or NULL */
	char *error;
	bool cut;	/* compressed data ends early, which was told */
};

/* Report an error at the line at p; returns -1. */
int evr_bad(struct evr *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/*
 * Read the executions at p: EV_EXECS. 0: another kind of line is there; -1: an
 * error.
 */
int evexec_next(struct evr *, struct ev *);

#endif
