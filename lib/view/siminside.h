/*
 * siminside.h - what simrun.c, simcosts.c and simpass.c share of a run
 */
#ifndef SIMINSIDE_H
#define SIMINSIDE_H

#include "simhead.h"
#include "simrun.h"

/* A run with the members that no simulator needs to see. */
struct inside {
	struct simrun s;	/* first, so that inside() can cast */
	struct simhead head;
	const char *desc[64];
	unsigned ndesc;
	struct costw *costs;	/* NULL until something is written */
	struct cost_head cost_head;
	unsigned part;		/* of the costs, from 1 */
	char number[12], trigger[40];	/* of it, for its header */
	bool ended;		/* that part */
	const char *late;	/* what the end says of the run, or NULL */
	bool ready;		/* all H lines have been read */
	uint64_t warm;		/* --warm; 0 once it is over */
	uint64_t left;		/* instructions of it that are to come */
	struct warm *kept;	/* what is not counted; NULL: all is */
	int sign;		/* of what is being kept */
	bool idle;		/* a mark says so: costs do not count now */
	bool dumped;		/* a mark asked for a part */
	uint64_t *labelled;	/* by label of O lines: the instruction */
	size_t caplabelled;
	struct codenames *names;	/* of code made at run time */
};

/* The whole of a run that simrun has given to a simulator. */
static inline struct inside *
inside(struct simrun *s)
{
	return (struct inside *)s;
}

/* ---- simcosts.c: the costs, part by part ---- */

/* Begin the costs, or their next part if the last one has ended. */
void simcosts_begin(struct inside *);
/* The warm-up is over: costs so far do not count. */
void simcosts_warm_over(struct inside *);
/* A J line. */
void simcosts_mark(struct inside *, const struct ev *);
/* Behind the last execution: leave out what has not counted since a mark. */
void simcosts_settle(struct inside *);
/* Write what the parts so far do not have, if there is anything. */
void simcosts_rest(struct inside *);
/* End the costs, with the end mark if the stream was whole. */
void simcosts_end(struct inside *);

#endif
