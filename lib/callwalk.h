/*
 * callwalk.h - executions followed from call to call, and what they cost
 *
 *	func.c	address -> function; what the options say of it
 *	plan.c	definitions -> segments: what runs without a call or return
 *	ctx.c	contexts: a function, how deep in itself, called from where
 *	walk.c	executions: segments counted, calls and returns followed
 *	stack.c	the threads' shadow stacks
 *
 * The program that uses it fills in `walk', takes in definitions (plan_define)
 * and executions (walk_batch), and reads what was counted from `contexts'.
 *
 * Terms: a run-time address is the event stream's; link-time ones are an
 * object's own. Columns are those of the costs: Ir first.
 */
#ifndef CALLWALK_H
#define CALLWALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ev.h"

struct arc;
struct ctx;
struct func;
struct objmap;
struct outcomes;
struct slot;
struct thread;

#define CALLERS_MAX 100

/* What a function of --dump-before, --dump-after, --zero-before asks for. */
enum walk_trigger { WALK_DUMP_BEFORE, WALK_DUMP_AFTER, WALK_ZERO };

struct callwalk {
	struct evr *events;
	struct objmap *map;
	struct outcomes *told;		/* by stages before */
	unsigned ncol;			/* columns */
	unsigned firsttold;		/* the first column of outcomes */
	bool data_refs;			/* columns Dr and Dw: 1 and 2 */
	bool sites;			/* contexts by where they were called, too */
	bool rep;			/* count each round of a repeated instruction */
	bool jumps;			/* inside of functions */
	bool threads;			/* contexts of each thread apart */
	bool toggle;			/* count only while some function is active */
	bool contexts;			/* each chain of callers apart */
	bool demangle;
	bool join;			/* a cold part is its function */
	uint64_t maxcontexts;
	uint32_t callers;		/* most that any function wants to tell apart */
	/* Called as it happens; NULL: nobody wants to know. */
	void (*entered)(const struct thread *, const struct func *,
	    uint64_t slide);
	void (*left)(const struct thread *, const struct func *);
	/* A handler ended after so many instructions. */
	void (*handled)(const struct thread *, uint64_t instructions);
	void (*trigger)(enum walk_trigger, const struct func *);
};
extern struct callwalk walk;

/* ---- func.c ---- */

struct func {
	const char *name;
	uint32_t stem;		/* bytes of it without `.cold' */
	uint64_t start;		/* link-time */
	uint32_t ob;		/* 1 + its object's number; 0: none */
	uint32_t num;
	uint32_t recs;		/* levels of recursion that are told apart */
	uint32_t callers;	/* and callers */
	bool skip;		/* its cost is its caller's */
	bool pop;		/* when it jumps, it returns first */
	bool setjmp;		/* where it returns to may be jumped to */
	bool resume;		/* who calls it is left: _Unwind_Resume */
	bool toggle, before, after, zero;	/* done when it is entered, left */
	const struct place *places;	/* func_same_place's */
};

struct place {
	struct func *fn;
	uint64_t slide;		/* run-time - link-time address */
	int32_t section;	/* object, and whether it is its PLT */
	bool entry;		/* the first address of a function with a symbol */
	const struct place *next;	/* of its function */
};

enum func_rule { RULE_SKIP, RULE_POP, RULE_TOGGLE, RULE_BEFORE, RULE_AFTER,
    RULE_ZERO, RULE_RECS, RULE_CALLERS };

/* * and ? are wild; NULL: all functions. Before the first func_place. */
void func_rule(enum func_rule, const char *pattern, uint32_t n);
void func_skip_plt(bool);
/* Returns up to where it is the same function's, run-time. */
uint64_t func_place(uint64_t addr, struct place *);
/* One like it that stays. */
const struct place *func_same_place(const struct place *);
struct func *func_new(uint32_t ob, uint64_t start, const char *name);
uint32_t func_count(void);
const char *func_object(uint32_t ob);	/* its path */

/* ---- plan.c ---- */

/* Keys: what may follow what without a call, return or new section. */
enum { KEY_LOOK = -1, KEY_ENTRY = -2, KEY_NEVER = -3 };

struct seg {
	const struct ev_def *def;
	const struct place *at;
	uint64_t addr;		/* run-time, of the first instruction */
	uint64_t last;		/* of the last one */
	uint64_t *sp;		/* + spat is the stack pointer behind a call or */
	uint64_t spat;		/* return */
	const int64_t *cost;	/* columns: of one execution, as far as that is known */
	struct slot *slot;	/* the last one asked for */
	uint16_t first, end;	/* its instructions, in the block's */
	int32_t key, endkey;	/* a section's, or one of the above */
	uint32_t num;
	uint8_t len;		/* of the last instruction, */
	uint8_t flow;		/* and its flow or 0 */
	bool counted;		/* costs depend on values */
};

/* By id: what a short execution needs. A cache line. */
struct plan {
	int32_t key, endkey;
	struct ctx *ctx;	/* slot is of this context */
	struct slot *slot;
	uint64_t *sp;
	uint64_t spat;
	struct seg *seg;
	uint32_t ir;
	uint32_t nseg;		/* 0: not defined */
	uint8_t spgroup;	/* 1 + the group of sp; 0: none */
	bool apply;		/* all groups have to be kept */
} __attribute__((aligned(64)));

/* Behind its last instruction. */
static inline uint64_t
seg_next(const struct seg *s)
{
	return s->last + s->len;
}

/* Its references; where costs depend on values, or blocks are kept anyway. */
static inline uint32_t
seg_nref(const struct seg *s)
{
	const struct ev_insn *i = s->def->block->insn;

	return (uint32_t)i[s->end - 1].ref + i[s->end - 1].nref -
	    i[s->first].ref;
}

extern struct plan *plan;
/* Take in a definition. NULL, or what is wrong with it. */
const char *plan_define(uint32_t id);

/* ---- ctx.c ---- */

struct ctx {
	struct func *fn;
	uint32_t level;		/* of recursion, from 1 */
	uint32_t thread;	/* from 0; only if they are separate */
	uint32_t num;		/* from 1 */
	const struct ctx *up;	/* contexts: its caller. Else its callers: a chain */
	struct slot *slots;
	struct arc *arcs;
	struct jump *jumps;
	int64_t own;		/* kind calls: ticks, told at its start */
	struct ctx *next;	/* all, in order */
};

extern struct ctx *contexts;
/* The context of fn called from `from`, which may be NULL, at an address. */
struct ctx *ctx_get(const struct ctx *from, uint64_t site, struct func *fn,
    uint32_t depth, uint32_t thread);
/* f'2'caller */
const char *ctx_name(const struct ctx *);
uint32_t ctx_threads(void);	/* 1 + the highest thread of a context */
uint64_t ctx_folded(void);	/* calls for which there were too many contexts */

/* A segment in a context. */
struct slot {
	uint64_t n;		/* executions */
	struct ctx *ctx;
	const struct seg *seg;
	struct slot *next;	/* of its context */
	struct arc *arcs;	/* of its last instruction, latest first */
	struct more *more;	/* or NULL */
};

/* What few slots have. */
struct more {
	struct jump *jumps;	/* of its last instruction, latest first */
	int64_t *skipped;	/* columns: spent in skipped functions */
	int64_t **told;		/* by instruction: outcome columns, or NULL */
	int64_t *extra;		/* by reference, then by instruction: beyond n */
};

struct slot *slot_get(struct ctx *, struct seg *);
struct more *slot_more(struct slot *);	/* its more, made */
int64_t *slot_skipped(struct slot *);	/* its skipped, made */

/* A call: from the end of a segment, or from an address. */
struct arc {
	struct arc *next;	/* of its slot */
	struct arc *more;	/* of its context */
	struct slot *from;
	struct ctx *caller, *ctx;
	uint64_t site;		/* link-time, in the caller's object */
	uint64_t to;		/* run-time */
	uint64_t tolink;
	struct func *fn;	/* at to */
	uint32_t level;
	uint64_t calls;
	int64_t cost[];		/* columns: inclusive */
};

struct arc *arc_get(struct slot *from, const struct seg *to, uint32_t level,
    uint32_t thread);
struct arc *arc_new(struct ctx *caller, uint64_t site, struct ctx *callee,
    uint64_t tolink);

struct jump {
	struct jump *next, *more;	/* of its slot, of its context */
	struct slot *slot;
	uint64_t to;		/* run-time */
	struct ctx *ctx;	/* of the target */
	const struct seg *seg;	/* the target */
	uint64_t n;		/* times that it was followed */
};

void jump_count(struct slot *from, const struct seg *to, struct ctx *,
    uint64_t n);
/* One that is no context yet: what is counted there goes to another. */
struct ctx *ctx_limbo(void);
void ctx_move(struct ctx *limbo, struct ctx *to);

/* ---- stack.c ---- */

struct frame {
	uint64_t sp;		/* behind the call: where the return address is */
	uint64_t ret;		/* that address; 0 for a jump */
	struct arc *arc;	/* NULL: the callee is skipped */
	union {
		struct ctx *ctx;	/* the caller's, where arc is not NULL */
		const struct func *skipped;	/* where it is */
	};
	struct slot *skipper;	/* thread's, before */
};

/* Where a setjmp returns to, and the stack pointer there. */
struct landing {
	uint64_t addr, sp;
	size_t nsig;		/* in how many handlers */
};

/* What a signal interrupted. */
struct interrupt {
	size_t bottom;
	struct ctx *ctx;
	const struct seg *seg;
	struct slot *slot, *skipper;
	uint64_t sp;
	int64_t *total;
	bool called;		/* the handler has called, or returned, */
	bool above;		/* on a stack above this one */
};

struct thread {
	int32_t key;		/* what may follow without a look */
	bool collect;
	struct ctx *ctx;	/* NULL: not known yet */
	const struct seg *seg;	/* the last one; NULL: none */
	struct slot *slot;	/* its slot */
	struct slot **ran;	/* those of the last execution, if nran > 1 */
	size_t nran, capran;
	uint64_t sp;		/* behind it, if it ended in a call or return */
	int64_t *total;		/* columns */
	struct slot *skipper;	/* in a skipped function: where it was called */
	struct frame *frame;
	int64_t *enter;		/* by frame, columns: total at the call */
	size_t n, cap, capenter;
	size_t bottom;		/* frames below are of what a signal interrupted */
	struct interrupt *sig;
	size_t nsig, capsig;
	uint32_t *depth;	/* by function: its activations */
	size_t capdepth;
	int64_t *since;		/* total at the last dump */
	struct landing *landing;	/* innermost last */
	size_t nlanding, caplanding;
	/* back in one of several activations, it is not known which: */
	struct ctx *limbo;	/* is ctx meanwhile */
	struct ctx *guess;	/* the innermost one; NULL: it is known, */
	struct ctx *landed;	/* and was this */
	int64_t *landing_total;	/* total when it came there */
	uint32_t num;
};

struct thread *thread_get(unsigned num);
/* 1 + the highest number of a thread so far. */
unsigned thread_count(void);
void stack_signal(struct thread *);
void stack_sigreturn(struct thread *);
void stack_close(struct thread *);	/* leave all frames */
void stack_close_all(void);
/* Costs so far to the arcs of active calls. */
void stack_settle(void);
/* Before `to` runs: calls, returns; sets ctx. */
void stack_move(struct thread *, const struct seg *to);

/* ---- walk.c ---- */

void walk_begin(void);
void walk_batch(const struct ev *);
void walk_told(struct thread *, uint32_t insn, const char *list);

#endif
