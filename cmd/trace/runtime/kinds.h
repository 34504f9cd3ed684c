/*
 * kinds.h - what some kinds and options need of the runtime
 *
 *	table.c		kind cache: the table of recently used lines
 *	branches.c	kind branches: what a fragment has not learnt
 *	allocs.c	--allocs
 *	window.c	windows, entered and left
 */
#ifndef KINDS_H
#define KINDS_H

#include "runtime.h"

#pragma GCC visibility push(hidden)

/* ---- table.c ---- */

/* A new thread's table is empty. */
void table_clear(struct tarea *);
/* Set what fragments call for look-ups. */
void table_look_by(struct tarea *);
/* Empty the table, with a record of each line that leaves. */
void table_empty(struct tarea *);
/* Do the look-up that rt_look was called for. */
void table_look(struct tarea *);

/* The guest's registers, by their numbers, as rt_look has saved them. */
static inline const uint64_t *
look_saved(const struct tarea *t)
{
	return (const uint64_t *)((uint64_t)t + T_BIAS + TO_LOOK_SAVE);
}

/* ---- branches.c ---- */

/*
 * Interrupted at the map entry: do what is left of the branch at pc; x is the
 * entry's exit, if it is of one.  The entry is then that behind the branch.
 * True: it was mispredicted, and that has not been counted.
 */
bool branches_settle(struct tarea *, struct kucontext *, struct mapent *,
    const struct exitmeta *x, uint64_t pc);
/* Before an exec: leave the predictor to the new image. */
void branches_leave(struct tarea *);
/* The first thread of an image: take the predictor that was left. */
void branches_begin(struct tarea *);
/* Count so many, for instruction n of a block; 0: take one back. */
void branches_missed(struct tarea *, uint32_t block, unsigned n,
    unsigned missed);
/*
 * The repeated instruction at pc has done n rounds: learn them.  It compares
 * and goes on.  How often was it mispredicted?
 */
unsigned branches_rounds(struct tarea *, uint64_t pc, uint64_t n,
    bool goes_on);
/* LOOK_ROUNDS: behind the instruction at t->pc; rcx is the guest's. */
void branches_look(struct tarea *, const uint32_t asked[2], uint64_t rcx);
/* The indirect branch of exit x did not happen: it has faulted. */
void branches_undo(struct tarea *, const struct exitmeta *x);

/* ---- allocs.c ---- */

/* At the first instruction of a function that allocates or frees. */
void allocs_open(struct tarea *, uint32_t args);
/* Behind the return to pc of what is open. */
void allocs_close(struct tarea *, uint64_t pc);
/* A signal found the thread, whose state is known: perhaps it returned. */
void allocs_settle(struct tarea *);
/* Before the thread goes on: tell where it has its own data, if that is new. */
void allocs_thread(struct tarea *);

/* ---- window.c ---- */

/*
 * How many instructions the thread is from the beginning or the end of a window
 * of --every; it may be a few behind it.
 */
int64_t window_left(const struct tarea *);
/* A thread begins: so many instructions are left to it. */
void window_first(struct tarea *);
/*
 * --every: if it has counted them, begin or end a window; true: so it did.  The
 * thread is outside of the cache, and what it executed is not taken back now.
 */
bool window_counted(struct tarea *);
/* At the first instruction of a function of --from or --to. */
void window_exit(struct tarea *);
/* Behind a return or an indirect jump: does that end the window? */
void window_returned(struct tarea *);
/* What the program has switched by a request: does the thread do that? */
bool window_is_right(const struct tarea *);
/* If it does not: enter or leave a window. */
void window_switch(struct tarea *);

/* The enum mode of the code that the thread is to run at t->pc. */
static inline unsigned
window_mode(const struct tarea *t)
{
	return (t->skips == SKIP_OUT ? MODE_OUT : MODE_IN) |
	    (t->past != 0 && t->past == t->pc ? MODE_PAST : 0);
}

/* Does it count instructions down in REG_P; not in t->left? */
static inline bool
window_in_p(const struct tarea *t)
{
	return t->skips || (rt.boot.countbytes != 0 && !p_is_kept());
}

#pragma GCC visibility pop
#endif
