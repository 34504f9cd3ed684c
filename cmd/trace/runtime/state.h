/*
 * state.h - a thread's state where it was interrupted, and what is told of it
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

/* ---- state.c ---- */

/* Is it an address of the code cache? */
bool state_in_cache(uint64_t pc);
/* The thread was interrupted in the cache: its state into its area. */
void state_take(struct tarea *, struct kucontext *);
/* Is the interrupted instruction ours, and not a copy of the guest's? */
bool state_is_ours(const struct kucontext *);
/*
 * Under the trap flag, at a trap: was an instruction of the guest's done, or a
 * round of one that is repeated, since the last trap?
 */
bool state_advanced(struct tarea *, const struct kucontext *);
/* The exit was told, but not its last instruction: tell what is before that. */
void state_untell(struct tarea *, const struct exitmeta *);
/* Does the runtime, and not the cache, do what exit x is there for? */
bool state_is_outside(const struct exitmeta *x);
/* The exit's last instruction was executed in the cache: note what it did. */
void state_noted(struct tarea *, const struct exitmeta *);
/* The thread was interrupted where the guest itself put the pc. */
void state_native(struct tarea *, struct kucontext *);
/* The guest's state into a frame. */
void state_put(struct tarea *, struct kucontext *);

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

/* The guest's pc for an address that the x87 unit remembers. */
uint64_t state_fp_pc(const struct tarea *, uint64_t ip);
/* Before the maps may go: the x87 unit remembers the guest's pc instead. */
void state_fp_settle(struct tarea *);
/* What the instruction of exit x wrote at t->operand is put right. */
void state_fp_saved(struct tarea *, const struct exitmeta *x);

#pragma GCC visibility pop
#endif
