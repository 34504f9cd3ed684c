/*
 * ctx.h - what the files about calling contexts share
 *
 *	contexts.c	a thread's frames, where fragments cannot make them
 *	ctxmove.c	calls and returns that need not be asked for
 *	ctxmem.c	their memory, and that of counts
 *	ctxcost.c	costs, where a fragment was left halfway
 *	ctxland.c	where calls of setjmp have returned
 *	ctxtold.c	kind cache: frames in the stream
 */
#ifndef CTX_H
#define CTX_H

#include "runtime.h"

#pragma GCC visibility push(hidden)

/* ---- where things lie in an area ---- */

/* At this offset (CTX_*) of what the thread has of calls. */
static inline void *
ctx_at(const struct tarea *t, uint64_t off)
{
	return (void *)((uint64_t)t + T_BIAS + T_CTX + off);
}

/* The words that fragments know: the frames' ends, and sums of costs. */
static inline struct ctx_words *
ctx_words(const struct tarea *t)
{
	return ctx_at(t, CTX_WORDS);
}

/* As contexts_top, in line. */
static inline struct ctx_frame *
ctx_top(const struct tarea *t)
{
	return (struct ctx_frame *)ctx_words(t)->top;
}

/* The state that a frame's arc leads to. */
static inline const struct ctx_state *
ctx_state_of(const struct ctx_frame *f)
{
	return &rt.states[rt.arcs[f->arc / 16].to];
}

/* Kind cache: counts and frames have more to them. */
static inline bool
ctx_has_more(void)
{
	return rt.boot.sets != 0;
}

/* The counts of an arc: 16 times its number. */
static inline struct ctx_count *
ctx_count(const struct tarea *t, uint64_t arc)
{
	return ctx_at(t, CTX_COUNTS + arc);
}

/* Kind cache: what a frame has beside the rest. */
static inline struct ctx_frame_more *
ctx_frame_more(const struct ctx_frame *f)
{
	return (struct ctx_frame_more *)((uint64_t)f + CTX_MORE);
}

/* So many of a bucket's states or arcs are looked at. */
#define BUCKET_MOST 10000u

/* ---- ctxmem.c ---- */

/* For ctx_room_for_arc: arc is t->narc or more. */
void ctx_more_arcs(struct tarea *, uint64_t arc);

/* Have the count of the arc accessible; no memory: panic. */
static inline void
ctx_room_for_arc(struct tarea *t, uint64_t arc)
{
	if (arc >= t->narc)
		ctx_more_arcs(t, arc);
}

/* Make room for a frame before it is pushed; false: trace has to push it. */
bool ctx_room_for_frame(struct tarea *, uint64_t addr);
/* The same for frames that trace has pushed, and more in a deep stack. */
void ctx_room_behind_step(struct tarea *);

/* ---- ctxmove.c ---- */

/* Make the move that the thread's last exit was; false: trace has to. */
bool ctx_move(struct tarea *);
/*
 * trace has made the call: its next ones, and this one's return, are ours.
 * owner: that of the code that it was made by.
 */
void ctx_set_landing(struct tarea *, uint32_t owner);

/* ---- ctxland.c ---- */

/*
 * Note where a call of setjmp returns that is being made, by an arc inside of a
 * frame; false: trace has to make it.
 */
bool ctx_note_landing(struct tarea *, const struct ctx_frame *below,
    const struct ctx_arc *);
/* May a jump to the thread's pc lead to where setjmp has returned? */
bool ctx_may_land(const struct tarea *);
/* If it does: the stack pointer there; 0: trace knows. */
uint64_t ctx_landing(const struct tarea *);

/* ---- ctxtold.c ---- */

/* Kind cache: the stream shows no frames of the thread any more. */
void ctx_hide_frames(struct tarea *);

/* ---- costs, of frames and arcs ---- */

/* The thread's instructions so far, counted down. */
static inline uint64_t
ctx_instructions(const struct tarea *t)
{
	return ctx_has_more() ? ctx_words(t)->ir : t->p;
}

/* The costs so far go into a new frame. */
static inline void
ctx_note_costs(const struct tarea *t, struct ctx_frame *f)
{
	f->p = ctx_instructions(t);
	if (ctx_has_more())
		memcpy(ctx_frame_more(f)->refs, ctx_words(t)->refs, 16);
}

/*
 * Since its call the frame has cost so much: add that to its arc.  Kind cache:
 * of reads and writes only the first n; else take off those, again.
 */
static inline void
ctx_add_costs(const struct tarea *t, const struct ctx_frame *f, bool ir, int n,
    int64_t sign)
{
	struct ctx_count *c = ctx_count(t, f->arc);
	uint64_t *refs = (uint64_t *)((uint64_t)c + CTX_MORE);
	int i;

	if (ir)
		c->ir += (f->p - ctx_instructions(t)) * (uint64_t)sign;
	for (i = 0; ctx_has_more() && i < n; i++)
		refs[i] += (ctx_words(t)->refs[i] -
		    ctx_frame_more(f)->refs[i]) * (uint64_t)sign;
}

#pragma GCC visibility pop
#endif
