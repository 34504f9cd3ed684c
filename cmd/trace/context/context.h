/*
 * context.h - calling contexts, with --contexts: who is active, and who called
 *
 * moves.c	a thread's calls, returns and jumps, by the rules of lib/walk
 * frames.c	its frames, in the guest and in lib/walk
 * theirs.c	where the guest has them, and its counts
 * landings.c	where setjmp has returned, in the guest and in lib/walk
 * roots.c	contexts that no call led to
 * arcs.c	states and arcs, as the guest has them
 * spare.c	numbers for those that the guest makes
 * sites.c	where calls are made, numbered for keys
 * owners.c	numbers for a function at a level, and how code is entered
 * told.c	contexts and arcs as lines of the stream, and their costs
 * shown.c	kind cache: which frames the stream shows
 * lock.c	keeps two threads apart
 *
 * A thread is always in a context: a function, its level of recursion, and its
 * callers.  What it executes is the own cost of the context's function and
 * level, its OWNER, so each fragment is made for one owner, and all executions
 * of its blocks are told as that owner's.
 *
 * The serving thread moves threads between contexts, the formatting thread
 * tells costs; a lock keeps them apart.
 */
#ifndef CONTEXT_H
#define CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "callctx.h"
#include "code/code.h"

struct evw;

/* Begin: there are no contexts yet, nothing is mapped. */
void context_start(void);
/* Take in U lines, then M lines, as maps_changed has them. */
void context_maps(const char *lines);

/* ----------------------------------------------------------------- owners.c */

/*
 * How a thread gets from an instruction to the next one: how it is told by
 * callctx.h's enum move; target 0: it goes where a word of memory says.
 */
enum move context_way(const struct insn *, app_pc target);
/* Is this an owner in limbo? */
bool context_in_limbo(uint32_t owner);
/* The key of a call's site, for struct ctx_arc; target 0: any. */
uint32_t context_key(app_pc site, app_pc target);
/* Note that a site's indirect jump is often a call; is it? */
void context_jump_called(app_pc site);
bool context_jump_calls(app_pc site);
/* May an indirect jump of the owner's code to pc be made without a look? */
bool context_plain(uint32_t owner, app_pc from, app_pc pc);
/* Write the F line of a block. */
void context_write_owner(struct evw *, uint32_t id, uint32_t owner);

/* ------------------------------------------------------------------ moves.c */

/* What a thread has done, and where it goes on. */
struct context_step {
	enum move step;		/* as below, or what else begins or ends */
	enum move move;		/* how the thread went on */
	app_pc site;		/* the instruction that it did last */
	uint8_t len;		/* of that, in bytes */
	app_pc to;
	uint64_t sp;		/* behind that instruction */
	int64_t p;		/* REG_P, which counts instructions down */
	bool indirect;		/* the instruction names no target */
};
/*
 * The step's site is NOT_BEGUN and an arc: then the site is where that arc's
 * call is made, which the thread is about to make.
 */
void context_not_begun(struct context_step *);
/*
 * Make a step of a slot's thread.  true: it returned to a caller of its
 * outermost function that was not known before.
 */
bool context_step(unsigned slot, const struct context_step *);
/* After a step: what is to be added to the thread's REG_P, see moves.c. */
int64_t context_back(void);
/*
 * After a step: the owner in limbo whose code the thread has run up to it, and
 * the one whose code that was; false: there was none.
 */
bool context_landed(unsigned slot, uint32_t *limbo, uint32_t *owner);
/*
 * Are almost all numbers of states or arcs used up?  Then begin with the first
 * ones again: the slot's thread waits for us with this REG_P, and its next step
 * gives it its frames.  Other threads rest, and no code is left.
 */
bool context_is_full(void);
void context_renew(unsigned slot, int64_t p);
/* The arc that it was called by; 0: none. */
uint32_t context_called(unsigned slot);
/* The owner of what it runs; 0: none. */
uint32_t context_owner(unsigned slot);
/* A new image: all threads but those to come are gone. */
void context_image(void);

/* ------------------------------------------------------------------ spare.c */

/* Numbers for what a slot's thread makes by itself, if it has no more. */
void context_spare(unsigned slot);
/*
 * The next arc that it has made, and the pc and the owner of the code that this
 * leads to; 0: it has made no more.
 */
uint32_t context_made(unsigned slot, app_pc *target, uint32_t *owner);

/* ------------------------------------------------------------------- arcs.c */

/*
 * The code of an arc's target is at `code`, in a fragment for its owner.  next:
 * another arc of that fragment, or 0.  false: the code is not what it leads to.
 */
bool context_link(uint64_t arc, app_pc target, uint32_t owner, uint64_t code,
    uint32_t next);
/* The fragment is gone: the arc, and those behind it, have no code. */
void context_cut(uint32_t arc);
/* No arc has code. */
void context_cut_all(void);
/* No frame has a landing, but those of jumps: threads are outside. */
void context_forget_landings(void);

/* ------------------------------------------------------------------- told.c */

/*
 * A slot's thread has executed n[0] instructions more, by its counters; kind
 * cache: they read n[1] times and wrote n[2] times.
 */
void context_counted(unsigned slot, const uint64_t n[3]);
/*
 * Settle the open frames of a slot's thread, which does nothing meanwhile;
 * write its costs, and new contexts.  Its REG_P begins anew at p, unless that
 * is 0.
 */
void context_tell(struct evw *, unsigned slot, int64_t p);
/* The same slot's thread was killed: its calls end there. */
void context_end(unsigned slot);
/* Write what lines to come may name: new contexts and arcs. */
void context_tell_new(struct evw *);
/*
 * The context that one of the guest's arcs leads to, as S lines name it, which
 * are written first; 0: none.
 */
uint32_t context_told(struct evw *, uint64_t arc);

/* ------------------------------------------------------------------ shown.c */

/*
 * Kind cache: write a record about a thread's frames, v: an arc that the
 * thread's next frame was entered by, and the place of its return address; or
 * 0, and how many frames were left.
 */
void context_frame(struct evw *, unsigned slot, unsigned thread,
    const uint64_t v[2]);
/* How many of a thread's frames the stream shows; from here on, none. */
uint32_t context_left(unsigned thread);

#endif
