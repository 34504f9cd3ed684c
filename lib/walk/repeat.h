/*
 * repeat.h - multiply the rounds of a repeated execution
 *
 * Only for lib/walk. While rounds are watched, every change of a count, a
 * frame or a depth is announced by one of the functions below.
 */
#ifndef REPEAT_H
#define REPEAT_H

#include "callwalk.h"

#define REPEAT_FIRST	64	/* rounds before the first watch */

/* A round has ended. Return how many of the `more' others are done too. */
uint64_t repeat_round(struct walk_thread *, struct walk_seg *,
    const uint64_t *rec, uint64_t more);
/* No more rounds. */
void repeat_end(void);

/* ---- changes while it watches ---- */

extern bool repeat_watches;

/* The functions below call these while it watches; they take the same. */
void repeat_note_counts(void *, unsigned n);
void repeat_note_growth(struct walk_arc *);
void repeat_note_depth(const struct walk_thread *, uint32_t fn);
void repeat_note_frames(const struct walk_thread *, size_t n);
void repeat_note_again(const struct walk_thread *, size_t i);
void repeat_note_else(void);

/* n numbers of 64 bits are about to grow. */
static inline void
repeat_counts(void *at, unsigned n)
{
	if (__builtin_expect(repeat_watches, 0))
		repeat_note_counts(at, n);
}

/* The thread's total is about to be added to an arc. */
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

/* The frames from n on are about to be left. */
static inline void
repeat_frames(const struct walk_thread *t, size_t n)
{
	if (__builtin_expect(repeat_watches, 0))
		repeat_note_frames(t, n);
}

/* Frame i is about to become one of more calls. */
static inline void
repeat_again(const struct walk_thread *t, size_t i)
{
	if (__builtin_expect(repeat_watches, 0))
		repeat_note_again(t, i);
}

/* Something that cannot be multiplied. */
static inline void
repeat_else(void)
{
	if (__builtin_expect(repeat_watches, 0))
		repeat_note_else();
}

#endif
