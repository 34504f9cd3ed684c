/*
 * evctx.h - the lines of calling contexts: S, A, F, V, N, X, and D with a
 * state; inside lib only
 */
#ifndef EVCTX_H
#define EVCTX_H

#include "ev.h"
#include "evwhy.h"

/* Ids of states or arcs: numbers from 1 in the order of their lines. */
struct evctx_ids {
	uint32_t *near;		/* by the stream's id, see evctx.c */
	size_t nnear;
	struct kh_far_s *far;	/* the others; NULL: none yet */
	uint32_t n;		/* numbers so far */
};

struct evctx {
	bool told;		/* there was an `H contexts' line */
	struct evctx_ids states, arcs;
	struct evctx_frames {
		uint64_t n;	/* how many are entered */
		uint64_t place;	/* the last one told that is not 0 */
	} *frames;		/* by thread */
	size_t nframes;
};

/* Free what it holds; it begins as zeros. */
void evctx_close(struct evctx *);
/* Does a D line name a state? */
bool evctx_in_state(const struct ev *);
/*
 * Check a line whose fields are parsed, and replace ids of states and arcs in
 * num by their numbers; F's block is the caller's to check. Returns -1 and says
 * what is wrong in why.
 */
int evctx_line(struct evctx *, struct ev *, unsigned kind, unsigned thread,
    char why[EV_WHY]);
/*
 * The same of an N or X line in kind cache with contexts.  differs: the place
 * is a difference, which becomes a place.
 */
int evctx_frame(struct evctx *, struct ev *, unsigned thread, bool differs,
    char why[EV_WHY]);

#endif
