/*
 * parts.h - what the files of the contexts share; not for other folders
 */
#ifndef CONTEXT_PARTS_H
#define CONTEXT_PARTS_H

#include "callwalk.h"
#include "callctx.h"

_Static_assert(STACKS_APART == WALK_APART && RUNS_LOOKED_AT == WALK_RUNS &&
    FRAMES_LOOKED_AT == WALK_FRAMES, "runtime/ctxmove.c");
#include "context/context.h"
#include "func.h"

/* Held by whoever uses contexts, arcs or threads of lib/walk. */
void context_lock(void);
void context_unlock(void);

/* ------------------------------------------------------------------ sites.c */

/* The place of pc, for good. */
const struct func_place *sites_place(uint64_t pc);
/* Something was mapped: addresses may have other places. */
void sites_mapped(void);
/* The segment that ends in an instruction of this length, which moves so. */
struct walk_seg *sites_seg(app_pc pc, uint8_t len, enum move);
struct site {
	app_pc pc, target;	/* target 0: its targets differ */
	bool calls;		/* an indirect jump, see context_jump_calls */
};
/* The site of a context_key that the guest has, or NULL. */
const struct site *sites_of(uint32_t key);

/* ----------------------------------------------------------------- owners.c */

/* Before the first context: have lib/walk make contexts. */
void owners_start(void);
/*
 * The owner of a context's function and level, and of a stub's call, or 0.
 * LIMBO: it may be another level.
 */
#define LIMBO 1u
uint32_t owner_get(const struct walk_ctx *, uint64_t site);

/* ------------------------------------------------------------------- arcs.c */

/* A new image, or all numbers are used up: forget all arcs and states. */
void arcs_forget(void);
/* The set with one more activation of fn, by which it has so many. */
uint64_t arcs_set_with(uint64_t set, const struct func *fn, uint32_t depth);
/*
 * The state of a context and a set, called from state `up', which may be 0;
 * slow: each move from it is trace's.
 */
uint32_t arcs_state(const struct walk_ctx *, uint64_t set, uint32_t up,
    uint32_t owner, bool slow);
/* What arcs_state made a state of: its set, its owner. */
uint64_t arcs_set(uint32_t state);
uint32_t arcs_owner(uint32_t state);

/* Where the calls of an arc are made, by its number; NULL: it has none. */
const struct walk_seg *arcs_seg(uint64_t);

/* A call, as the guest will see it again. */
struct call {
	uint64_t target, ret;	/* ret 0: a jump */
	struct walk_arc *walk;	/* NULL: a root, or a stub's */
	const struct walk_ctx *root;	/* or NULL */
	const struct walk_arc *unseen;	/* a root: see arcs_unseen */
	uint32_t site;		/* context_key */
	uint32_t left;		/* as in struct ctx_arc */
	bool indirect;		/* the key has to be made with the target */
	bool slow;		/* trace has to see each, */
	bool lands;		/* it is of setjmp */
	bool within;		/* a jump to no function's beginning */
};
/* The arc of a call from a state to a state. */
uint32_t arcs_get(uint32_t from, const struct call *, uint32_t to);
bool arcs_is(uint64_t arc);	/* learns it, if it is the guest's */
/* So many numbers in a row that the guest may use; 0: there are none. */
uint32_t arcs_spare(uint32_t n, bool of_states);
/* Code may have been replaced: calls to come are like none before. */
void arcs_forget_models(void);
/*
 * An object is no longer at these addresses: calls to them do not find the arcs
 * of earlier ones, whose functions are others than those that come there.
 */
void arcs_unmapped(uint64_t start, uint64_t end);
uint32_t arcs_end(void);	/* 1 + the last one */
/* The call that lib/walk has for an arc, or NULL: see struct call. */
struct walk_arc *arcs_walk(uint32_t arc);
uint32_t arcs_from(uint32_t arc), arcs_to(uint32_t arc);	/* its states */
/* The call that the return to this root has shown, or NULL. */
const struct walk_arc *arcs_unseen(uint32_t arc);
/* Where its number in the stream may be kept: 0 at first. */
uint32_t *arcs_told(uint32_t arc);
/* The context of the state that it leads to, or NULL. */
const struct walk_ctx *arcs_ctx(uint32_t arc), *arcs_within(uint32_t arc);
/* The root that it leads to, or NULL. */
const struct walk_ctx *arcs_root(uint32_t arc);

/* ------------------------------------------------------------------ spare.c */

/* No thread has numbers. */
void spare_forget(void);
/* Learn what a slot's thread has made. */
void spare_learn(unsigned slot);

/* ----------------------------------------------------------------- theirs.c */

/*
 * What a thread has executed is counted down: instructions by its REG_P, or, in
 * kind cache, with reads and writes by words of its own.
 */
#define COSTS 3
/* These words of a slot's thread, in shared memory. */
struct ctx_words *theirs_words(unsigned slot);
/* Is there room for what the slot's thread has? */
bool theirs_are(unsigned slot);
/* The guest's frame i, from the outermost, and what kind cache has more. */
struct ctx_frame *theirs_frame(unsigned slot, size_t i);
struct ctx_frame_more *theirs_frame_more(unsigned slot, size_t i);
/* A slot's counts, p being its REG_P; and set them, in kind cache. */
void theirs_counts(unsigned slot, int64_t p, int64_t count[COSTS]);
void theirs_set_counts(unsigned slot, const int64_t count[COSTS]);
/* Reads (0) or writes (1) by gathers since this was called last. */
int64_t theirs_gathered(unsigned slot, unsigned which);
/* The thread finds no arc any more. */
void theirs_forget_keys(unsigned slot);
/* Tell what arcs have counted in the guest, which becomes zero. */
void theirs_charge(unsigned slot, const struct walk_thread *);

/* ----------------------------------------------------------------- frames.c */

/* A slot's frames: the guest's to lib/walk's thread, and back. */
void frames_take(unsigned slot, struct walk_thread *,
    const int64_t count[COSTS]);
void frames_give(unsigned slot, struct walk_thread *,
    const int64_t count[COSTS], const struct context_step *);
/* Has it had any since arcs were forgotten? */
bool frames_used(unsigned slot);
/* There are none any more. */
void frames_end(unsigned slot);
/* Arcs have other numbers: no slot has frames or keys that are known. */
void frames_forget(void);

/* --------------------------------------------------------------- landings.c */

/* lib/walk's thread gets the landings that the guest has noted in its words. */
void landings_take(const struct ctx_words *, struct walk_thread *);
/* The words get its innermost ones, and the bits of the others. */
void landings_give(struct ctx_words *, const struct walk_thread *);
/* They have none any more. */
void landings_end(struct ctx_words *);

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

/* Add what a thread has charged to an arc within a context; it becomes zero. */
void told_charge(const struct walk_thread *, struct walk_arc *,
    const struct walk_ctx *within);
/* A root of the thread ran from one total to another. */
void told_root(const struct walk_thread *, const struct walk_ctx *,
    const int64_t *from, const int64_t *to);
/* A step of a slot's thread ended so many instructions, and so on. */
void told_done(unsigned slot, const int64_t n[COSTS]);
/* What was counted, but not in a step, since this was called. */
void told_rest(unsigned slot, int64_t n[COSTS]);
/* Write what a slot's thread has charged, and what that names. */
void told_write(struct evw *, unsigned slot);
/* The number of an arc, or of a root, whose line has been written. */
uint32_t told_number(struct evw *, const struct walk_arc *,
    const struct walk_ctx *);
/* Write the lines of contexts up to this one. */
void told_context(struct evw *, const struct walk_ctx *);

#endif
