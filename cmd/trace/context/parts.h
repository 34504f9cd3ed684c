/*
 * parts.h - what the files of the contexts share; not for other folders
 */
#ifndef CONTEXT_PARTS_H
#define CONTEXT_PARTS_H

#include "callwalk.h"
#include "context/context.h"
#include "func.h"

/* Before all others, while there is one thread. */
void context_lock_start(void);
/* Held by whoever uses contexts, arcs or threads of lib/walk. */
void context_lock(void);
void context_unlock(void);

/* ----------------------------------------------------------------- owners.c */

void owners_start(void);
/*
 * The owner of a context's function and level, and of a stub's call, or 0.
 * LIMBO: it may be another level.
 */
#define LIMBO 1u
uint32_t owner_get(const struct walk_ctx *, uint64_t site);
/* The place of pc, for good. */
const struct func_place *owner_place(uint64_t pc);

/* ------------------------------------------------------------------- arcs.c */

void arcs_forget(void);
/* The set with one more activation of fn, by which it has so many. */
uint64_t arcs_set_with(uint64_t set, const struct func *fn, uint32_t depth);
/* The state of a context and a set; slow: each move from it is trace's. */
uint32_t arcs_state(const struct walk_ctx *, uint64_t set, uint32_t owner,
    bool slow);
uint64_t arcs_set(uint32_t state);

/* A call, as the guest will see it again. */
struct call {
	uint64_t target, ret;	/* ret 0: a jump */
	struct walk_arc *walk;	/* NULL: a root, or a stub's */
	uint32_t site;		/* context_key */
	bool indirect;		/* the key has to be made with the target */
	bool slow;		/* trace has to see each */
};
/* The arc of a call from a state to a state. */
uint32_t arcs_get(uint32_t from, const struct call *, uint32_t to);
bool arcs_is(uint64_t arc);
uint32_t arcs_end(void);	/* 1 + the last one */
struct walk_arc *arcs_walk(uint32_t arc);
uint32_t arcs_from(uint32_t arc);
/* The context of the state that it leads to, or NULL. */
const struct walk_ctx *arcs_ctx(uint32_t arc);

/* ----------------------------------------------------------------- frames.c */

/* A slot's frames: the guest's to lib/walk's thread, and back. */
void frames_take(unsigned slot, struct walk_thread *, int64_t p);
void frames_give(unsigned slot, struct walk_thread *, int64_t p,
    const struct context_step *);
/* There are none any more. */
void frames_end(unsigned slot);
/* Tell what arcs have counted in the guest, which becomes zero. */
void frames_charge(unsigned slot, const struct walk_thread *);

/* ------------------------------------------------------------------ roots.c */

/* The context that a thread runs in, if that is sure. */
const struct walk_ctx *roots_now(const struct walk_thread *);
/* How many frames lie below its handler k, from 0. */
size_t roots_bottom(const struct walk_thread *, size_t k);
/* The root of its handler k, from 0; of the thread itself, if k is nsig. */
const struct walk_ctx *roots_root(const struct walk_thread *, size_t k);
/* Its first root. */
const struct walk_ctx *roots_outermost(const struct walk_thread *);
/* ------------------------------------------------------------------- told.c */

/* Add what a thread has just charged to an arc, which becomes zero. */
void told_charge(const struct walk_thread *, struct walk_arc *);
/* A root of the thread ran for so many instructions. */
void told_root(const struct walk_thread *, const struct walk_ctx *,
    uint64_t calls, int64_t ir);
/* A step of a slot's thread ended so many instructions. */
void told_done(unsigned slot, uint64_t n);
/* Instructions that were counted, but not in a step, since this was called. */
uint64_t told_rest(unsigned slot);
/* Write what a slot's thread has charged, and what that names. */
void told_write(struct evw *, unsigned slot);

#endif
