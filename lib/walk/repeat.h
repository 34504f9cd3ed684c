/*
 * repeat.h - many rounds of an execution, most of them not one by one
 *
 * Inside lib/walk only. While rounds are watched, whoever changes something
 * says so first.
 */
#ifndef REPEAT_H
#define REPEAT_H

#include "callwalk.h"

#define REPEAT_FIRST	64	/* rounds, before it is of use */

/* A round has ended: how many more of `more' are done with it. */
uint64_t repeat_round(struct walk_thread *, struct walk_plan *,
    const uint64_t *rec, uint64_t more);
/* No more rounds. */
void repeat_end(void);

/* ---- what is said to it ---- */

extern bool repeat_watches;

void repeat_note_counts(void *, unsigned n);
void repeat_note_growth(struct walk_arc *);
void repeat_note_depth(const struct walk_thread *, uint32_t fn);
void repeat_note_frames(const struct walk_thread *, size_t n);
void repeat_note_else(void);

/* n numbers of 64 bits are about to be added to. */
static inline void
repeat_counts(void *at, unsigned n)
{
	if (__builtin_expect(repeat_watches, 0))
		repeat_note_counts(at, n);
}

/* A call that all costs so far are about to be added to. */
static inline void
repeat_growth(struct walk_arc *a)
{
	if (__builtin_expect(repeat_watches, 0))
		repeat_note_growth(a);
}

/* The number of a function's activations may change. */
static inline void
repeat_depth(const struct walk_thread *t, uint32_t fn)
{
	if (__builtin_expect(repeat_watches, 0))
		repeat_note_depth(t, fn);
}

/* Frames from n on are about to go. */
static inline void
repeat_frames(const struct walk_thread *t, size_t n)
{
	if (__builtin_expect(repeat_watches, 0))
		repeat_note_frames(t, n);
}

/* Something that cannot be multiplied. */
static inline void
repeat_else(void)
{
	if (__builtin_expect(repeat_watches, 0))
		repeat_note_else();
}

#endif
