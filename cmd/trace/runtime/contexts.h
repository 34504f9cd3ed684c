/*
 * contexts.h - --contexts: what is done where fragments cannot
 *
 *	contexts.c, ctx*.c	a thread's frames, and their costs
 *	arcs.c			arcs like others
 */
#ifndef CONTEXTS_H
#define CONTEXTS_H

#include "runtime.h"

#pragma GCC visibility push(hidden)

/* ---- contexts.c, ctx*.c ---- */

/* Make the frames of a new thread; -1: no memory. */
int contexts_begin(struct tarea *);
/* All memory that it may need can be accessed from here on. */
void contexts_all(struct tarea *);
/* An address that could not be accessed: now it can, or frames are full. */
enum contexts_fault { CONTEXTS_NOT, CONTEXTS_ROOM, CONTEXTS_FULL };
enum contexts_fault contexts_fault(struct tarea *, uint64_t addr);
/* The innermost frame, and the arc that it was entered by. */
struct ctx_frame *contexts_top(const struct tarea *);
const struct ctx_arc *contexts_arc(const struct tarea *);
/* The owner of the fragments that the thread runs; 0: none. */
uint32_t contexts_owner(const struct tarea *);
/* A call was interrupted: take back that it has been counted. */
void contexts_uncall(struct tarea *, uint64_t arc);
/* The same of a landing at this map entry. */
void contexts_unland(struct tarea *, const struct mapent *);
/*
 * Kind cache: n instructions more, and their reads and writes; or less, by the
 * sign.  Of the three, the first `from' have been counted.
 */
void contexts_cost(struct tarea *, uint64_t n, const uint8_t refs[2],
    unsigned from, int64_t sign);
/* A window of the thread ends at t->pc, or begins there. */
void contexts_end_window(struct tarea *);
void contexts_begin_window(struct tarea *);
/* A repeated instruction was interrupted: take off what is left of it. */
void contexts_rounds(struct tarea *, const struct mapent *, uint64_t left);
/* Before a reference is told: have the thread's frames been told? */
bool contexts_are_told(const struct tarea *);
/* Tell those that have changed, and leave `room' bytes behind these records. */
void contexts_tell(struct tarea *, uint64_t room);
/* The thread left by exit x, and goes on at t->pc. */
void contexts_left(struct tarea *, const struct exitmeta *,
    const struct exitcall *);
/*
 * The thread waits, or makes a call of the guest's: from here on trace may
 * change what it has of calls.
 */
void contexts_rest(struct tarea *);
/* The thread goes on, once trace is done with that. */
void contexts_resume(struct tarea *);
/* How an exit of the table leaves its context. */
const struct exitcall *contexts_exit(uint32_t number);
/* Do what it left for, before it goes on at t->pc. */
void contexts_arrive(struct tarea *);
/* What led to t->pc has failed there: it was no call. */
void contexts_not_called(struct tarea *);
/* CALLED and its arc, if one led to t->pc and has no code; else ~0. */
uint64_t contexts_called(const struct tarea *);
/* Make a step of another kind, behind the instruction at pc. */
void contexts_step(struct tarea *, enum move, uint64_t pc);

/* ---- arcs.c ---- */

/* A move from a state, like a call that trace has made: its arc, or 0. */
uint32_t arcs_make(struct ctx_words *, uint32_t from, const struct moving *,
    uint64_t target);

#pragma GCC visibility pop
#endif
