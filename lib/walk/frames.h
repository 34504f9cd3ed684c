/*
 * frames.h - the frames of a thread's shadow stack
 *
 * Only for lib/walk/stack.c, whose head comment has the rules.
 */
#ifndef FRAMES_H
#define FRAMES_H

#include "callwalk.h"

/* The place of a frame at a stack's beginning that a jump has made. */
#define ANYWHERE UINT64_MAX

/* How many calls of the function are active. */
uint32_t *stack_depth(struct walk_thread *, const struct func *);
/*
 * Add what the thread's total has grown by since `enter' to an arc's costs;
 * since that many calls: `enter' is the sum of theirs.
 */
void stack_charge(const struct walk_thread *, struct walk_arc *,
    const struct walk_ctx *within, const int64_t *total, const int64_t *enter,
    uint64_t times);
/* The same for the call of frame i, which goes on from that total. */
void stack_settle_frame(struct walk_thread *, size_t i, const int64_t *total);
/* Tell a call, or returns, inside of an execution, see walk_told. */
void stack_turn(struct walk_thread *, struct walk_arc *, bool left,
    uint64_t times);

/* A call from a slot, with the stack pointer behind it. */
void stack_push(struct walk_thread *, struct walk_slot *from,
    struct walk_arc *, uint64_t sp);
void stack_pop(struct walk_thread *);
/*
 * Leave frames that sp is beyond, and up to `least' exactly at it; those of
 * another stack stay.
 */
void stack_unwind(struct walk_thread *, uint64_t sp, size_t least);
/* How many frames a return to addr leaves at least; 0: it is a jump. */
size_t stack_returned(const struct walk_thread *, uint64_t addr);

/* Is the place sp on another stack than the frame? */
bool stack_apart(const struct walk_frame *, uint64_t sp);
/*
 * Where a call at a place, or a return to addr, is made on another stack than
 * the last frame's: leave what has been left by that.
 */
void stack_switch(struct walk_thread *, uint64_t place);
void stack_return(struct walk_thread *, uint64_t addr);

#endif
