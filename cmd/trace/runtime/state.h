/*
 * state.h - what the files share that find and tell a thread's state
 *
 *	places.c	what an address of the code cache stands for
 *	state.c		the state of a thread that was interrupted there
 *	told.c		what is told of a block that was not finished
 *	x87.c		addresses that the x87 unit remembers
 */
#ifndef STATE_H
#define STATE_H

#include "runtime.h"

#pragma GCC visibility push(hidden)

/* ---- places.c ---- */

/* A fragment, and the map entry that an address in it has. */
struct cache_place {
	const struct fragmeta *f;
	struct mapent m;
};

/* Of an address of the code cache: it must be one. */
struct cache_place place_find(uint64_t ip);

/* The map entries of a fragment, one by one: see place_each. */
struct entries {
	const struct fragmeta *f;
	const uint8_t *p;
	unsigned i, n;		/* of so many */
	struct mapent m;	/* this one */
};

/* Before the first of them. */
struct entries place_entries(const struct fragmeta *);
/* Go to the next one, or the first: it is in e->m.  false: there is none. */
bool place_each(struct entries *);
/* The guest pc of the fragment's instruction n, from 0. */
uint64_t place_pc(const struct fragmeta *, unsigned n);

/* ---- told.c ---- */

/* So many instructions more, or less, for an interval's end, or --for. */
void told_count_down(struct tarea *, uint64_t n);
/*
 * Tell the first m->n instructions of a block, and these rounds of the next one
 * where that is repeated.  The thread counts as outside of the cache while it
 * asks: whoever answers may be waiting for that.
 */
void told_prefix(struct tarea *, uint32_t block, const struct mapent *m,
    uint64_t rounds);
/* The thread was about to tell exit x: tell it. */
void told_exit(struct tarea *, const struct exitmeta *x);
/*
 * Exit x was told whole, but n of its instructions are done: take that back
 * and tell those.  Nothing was recorded or published since.
 */
void told_back(struct tarea *, const struct exitmeta *x, unsigned n);

/* What is left of a repeated instruction's count: rcx, or its low half. */
uint64_t rounds_left(const struct tarea *);
/* How many rounds of it are done; 0 where the map entry is not of one. */
uint64_t rounds_done(struct tarea *, const struct mapent *);
/*
 * The whole count of the repeated instruction has been added to its counter;
 * take off what it has not done, and the execution with none if it has not
 * begun.
 */
void rounds_uncount(struct tarea *, const struct mapent *);
/*
 * Interrupted while the rounds are being counted: now they are not, and the map
 * entry is that of the instruction itself.
 */
void rounds_settle(struct tarea *, struct mapent *);

/* ---- x87.c ---- */

/* What the instruction of exit x wrote at t->operand is put right. */
void state_fp_saved(struct tarea *, const struct exitmeta *x);

#pragma GCC visibility pop
#endif
