/*
 * callwalk.h - follow executions from call to call and add up their costs
 *
 *	plan.c	cut definitions into segments, which hold no call or return
 *	ctx.c	calling contexts: a function, its recursion level, its callers
 *	walk.c	count the segments of each execution; notice calls and returns
 *	frames.c	the frames of a thread's shadow stack
 *	stack.c	the rules by which calls and returns make and leave them
 *	repeat.c	multiply the rounds of a repeated execution
 *
 * A program fills in `walk', passes definitions to plan_define and executions
 * to walk_batch, and then reads the counts from `contexts'. Functions are those
 * of func.h.
 *
 * A run-time address is one of the event stream; a link-time address is one
 * of the object's own. Columns are those of the costs: Ir is the first.
 */
#ifndef CALLWALK_H
#define CALLWALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ev.h"
#include "func.h"
#include "outcome.h"

struct walk_arc;
struct walk_ctx;
struct walk_seg;
struct objmap;
struct outcomes;
struct walk_slot;
struct walk_thread;

#define CALLERS_MAX 100

/* What --dump-before, --dump-after and --zero-before request. */
enum walk_trigger { WALK_DUMP_BEFORE, WALK_DUMP_AFTER, WALK_ZERO };

struct callwalk {
	struct evr *events;
	struct objmap *map;
	struct outcomes *told;		/* events that earlier stages found */
	unsigned ncol;			/* columns */
	unsigned firsttold;		/* their first column */
	bool data_refs;			/* columns 1 and 2 are Dr, Dw */
	bool sites;			/* contexts by call site, too */
	bool rep;			/* count each round of rep */
	bool bus;			/* a column Ge: locked references */
	bool jumps;			/* count jumps inside of functions */
	bool threads;			/* contexts of each thread apart */
	bool collect;			/* threads count from their start */
	bool off;			/* nothing is followed: stack_follow */
	bool direct;			/* direct recursion has no levels */
	bool contexts;			/* each chain of callers apart */
	bool each;			/* each call gets a frame of its own */
	uint64_t maxcontexts;
	/*
	 * A thread's frames. Who jumps between stacks may leave some for ever:
	 * of so many, the outer half is dropped.
	 */
	size_t maxframes;
	uint32_t callers;		/* the most that any rule separates */
	/*
	 * Called with each segment that walk_batch does not merely count, when
	 * its thread has its frames and before it has its costs; may be NULL.
	 */
	void (*segment)(const struct walk_seg *);
	/* Called at each such event; may be NULL. */
	void (*entered)(const struct walk_thread *, const struct func *,
	    uint64_t slide);
	void (*left)(const struct walk_thread *, const struct func *);
	/* A signal handler ended that had begun at these totals. */
	void (*handled)(const struct walk_thread *, const int64_t *since);
	void (*trigger)(enum walk_trigger, const struct func *);
	/*
	 * Its thread has added calls or costs to this arc.  They are part of
	 * what that context cost: the arc's caller, or, where the stack pointer
	 * was beyond the caller's frame already, who called that.
	 */
	void (*charged)(const struct walk_thread *, struct walk_arc *,
	    const struct walk_ctx *within);
};
extern struct callwalk walk;

/* ---- plan.c ---- */

/*
 * Keys. A segment whose key equals the thread's may follow without a call, a
 * return or a change of section.
 */
enum { KEY_LOOK = -1, KEY_ENTRY = -2, KEY_NEVER = -3 };

/*
 * A segment. An id that has only one segment has it as its entry in `plan', and
 * an execution needs nothing else; so a segment is small, and its members are
 * in the order in which an execution looks at them. An id of several segments
 * has an entry without a slot, for what is true of all, see plan_seg.
 */
struct walk_seg {
	int16_t key, endkey;	/* a section, or one of the above */
	uint8_t spgroup;	/* an id's: 1 + the group of stack pointers */
	uint8_t group;		/* the same of its last instruction; 0: none */
	uint8_t flow;		/* of its last instruction, or 0, */
	uint8_t len:4;		/* and its length */
	bool counted:1;		/* costs depend on how often it repeats */
	bool zeros:1;		/* and on values that are 0 */
	bool apply:1;		/* keep the values of all groups */
	bool far:1;		/* spat is the number of a distance */
	bool several:1;		/* it has, or had, slots besides slot */
	union {
		struct walk_slot *slot;	/* the last one that slot_get found */
		struct walk_seg *parts;	/* a block's entry: its segments */
	};
	uint32_t block;		/* its block's id; 0: none */
	int32_t spat;		/* seg_sp: what is added to the group's value */
	uint64_t addr;		/* run-time, of the first instruction */
	const struct func_place *at;	/* perhaps of a gap: see seg_fn */
	int32_t span;		/* from there to the last instruction */
	uint16_t first, end;	/* its instructions in the block */
	uint32_t cost;		/* where its costs are in plan_costs */
	uint16_t nseg;		/* an id's segments; 0: not defined */
	uint64_t *value;	/* with apply: its block's, by group */
};

extern struct walk_seg *plan;	/* by id */
extern uint64_t *plan_values;	/* by block: its group of stack pointers */
/*
 * What an execution adds to columns besides Ir: which ones these are, and of
 * each segment, from its `cost' on, how much.
 */
#define PLAN_ADDS	5
extern unsigned plan_adds[PLAN_ADDS], plan_nadds;
extern int64_t *plan_costs;

/* The address of its last instruction. */
static inline uint64_t
seg_last(const struct walk_seg *s)
{
	return s->addr + (uint64_t)(int64_t)s->span;
}

/* The address behind that. */
static inline uint64_t
seg_next(const struct walk_seg *s)
{
	return seg_last(s) + s->len;
}

/* Does it end in what shows the stack pointer? */
static inline bool
seg_moves_stack(const struct walk_seg *s)
{
	return s->flow == 'L' || s->flow == 'X' || s->flow == 'R';
}

/* The function of its first instruction. */
static inline struct func *
seg_fn(const struct walk_seg *s)
{
	if (__builtin_expect(s->at->fn->gap, 0))
		((struct walk_seg *)s)->at = func_in_gap(s->at, s->addr);
	return s->at->fn;
}

/* Its block; it must have one. */
static inline struct ev_block *
seg_block(const struct walk_seg *s)
{
	return ev_def(walk.events, s->block)->block;
}

/* The number of its references. Needs the block, which is not always kept. */
static inline uint32_t
seg_nref(const struct walk_seg *s)
{
	const struct ev_insn *i = seg_block(s)->insn;

	return (uint32_t)i[s->end - 1].ref + i[s->end - 1].nref -
	    i[s->first].ref;
}

/*
 * The segments of an id, from 0. A part of a block that ends in one of them
 * has those before it, and is the last one itself.
 */
static inline struct walk_seg *
plan_seg(const struct walk_seg *id, uint32_t i)
{
	const struct walk_seg *block = &plan[id->block];

	if (i + 1 == id->nseg && (id->nseg == 1 || id != block))
		return (struct walk_seg *)id;
	return &block->parts[i];
}

/*
 * For seg_sp, where the values of all groups are kept, where the distance is
 * large, or where there is no group.
 */
uint64_t seg_sp_rare(const struct walk_seg *);
/* The stack pointer after the call or return at its end; 0: there is none. */
static inline uint64_t
seg_sp(const struct walk_seg *s)
{
	return s->group == 0 || s->apply || s->far ? seg_sp_rare(s) :
	    plan_values[s->block] + (uint64_t)(int64_t)s->spat;
}
/* Has each execution of this instruction this event: Bc, Bi, Ge? */
bool walk_implies(const struct ev_insn *, const struct ev_ref *its,
    const char *event);
/* Behind the H lines: the columns are known. */
void plan_begin(void);
/* Take in a definition. Return NULL, or what is wrong with it. */
const char *plan_define(uint32_t id);

/* ---- ctx.c ---- */

struct walk_ctx {
	struct func *fn;
	uint32_t level;		/* of recursion, from 1 */
	uint32_t thread;	/* from 0; with walk.threads only */
	uint32_t num;		/* from 1 */
	/* its caller, with walk.contexts; else the chain of its callers */
	const struct walk_ctx *up;
	uint64_t site;		/* with walk.sites: of its call */
	struct walk_slot *slots;
	struct walk_arc *arcs;	/* those without a slot */
	struct walk_jump *jumps;
	int64_t own;		/* kind calls: its own ticks */
	/* columns: own costs that belong to no instruction, or NULL */
	int64_t *costs;
	struct walk_ctx *lines;	/* whose lines they are a part of, or NULL */
	struct walk_ctx *next;	/* all, in order */
};

extern struct walk_ctx *contexts;
/* The context of fn, called from `from` (may be NULL) at address site. */
struct walk_ctx *ctx_get(const struct walk_ctx *from, uint64_t site,
    struct func *fn, uint32_t depth, uint32_t thread);
/* Such as f'2'caller. */
const char *ctx_name(const struct walk_ctx *);
uint32_t ctx_threads(void);	/* 1 + the highest thread of a context */
uint64_t ctx_folded(void);	/* calls beyond walk.maxcontexts */

/* A segment in a context. slot_arcs and slot_rare give what is in `rare`. */
struct walk_slot {
	uint64_t n;		/* executions */
	struct walk_ctx *ctx;
	const struct walk_seg *seg;
	struct walk_slot *next;	/* of its context */
	union {
		struct walk_arc *arcs;
		uintptr_t rare;	/* odd: 1 + the address of slot_rare's */
	};
};

/* What only few slots need. */
struct slot_rare {
	struct walk_arc *arcs;	/* moved to here */
	struct walk_jump *jumps;	/* of its last instruction */
	int64_t *skipped;	/* columns: cost of skipped functions */
	int64_t **told;		/* by instruction: outcomes, or NULL */
	/* counts beyond n: by reference, then by instruction */
	int64_t *extra;
};

/* What few slots have; NULL: this one has nothing of it. */
static inline struct slot_rare *
slot_rare(const struct walk_slot *sl)
{
	return sl->rare & 1 ? (struct slot_rare *)(sl->rare - 1) : NULL;
}

/* Calls from its last instruction, the latest first. */
static inline struct walk_arc **
slot_arcs(struct walk_slot *sl)
{
	return sl->rare & 1 ? &slot_rare(sl)->arcs : &sl->arcs;
}

/* The slot of a segment in a context, which may be new. */
struct walk_slot *slot_get(struct walk_ctx *, struct walk_seg *);
/* Its rare members, and its skipped columns; made if they are not there yet. */
struct slot_rare *slot_more(struct walk_slot *);
int64_t *slot_skipped(struct walk_slot *);

/* A call, from the end of a segment or from an address. */
struct walk_arc {
	struct walk_arc *next;	/* of its slot, or of its context */
	union {
		struct walk_slot *slot;
		struct walk_place *place;	/* if level is 0 */
	};
	struct walk_ctx *ctx;
	uint64_t to;		/* run-time; 0 without a slot */
	uint64_t tolink;
	uint32_t level;		/* 0: it has no slot */
	uint32_t at;		/* of a jump: where its last frame was pushed */
	uint64_t calls;
	int64_t cost[];		/* columns: inclusive */
};

/* Where a call without a slot comes from. */
struct walk_place {
	struct walk_ctx *caller;
	uint64_t site;		/* link-time, in the caller's object */
};

/* Its slot, or NULL. */
static inline struct walk_slot *
arc_from(const struct walk_arc *a)
{
	return a->level == 0 ? NULL : a->slot;
}

/* The context that calls, with or without a slot. */
static inline struct walk_ctx *
arc_caller(const struct walk_arc *a)
{
	return a->level == 0 ? a->place->caller : a->slot->ctx;
}

/* The call's link-time address. */
static inline uint64_t
arc_site(const struct walk_arc *a)
{
	return a->level == 0 ? a->place->site :
	    seg_last(a->slot->seg) - a->slot->seg->at->slide;
}

/* The call from there to a segment's function, at a level; it may be new. */
struct walk_arc *arc_get(struct walk_slot *from, const struct walk_seg *to,
    uint32_t level, uint32_t thread);
/* A call from there to where `like' leads, at a level. */
struct walk_arc *arc_like(struct walk_slot *from, const struct walk_arc *like,
    uint32_t level);
/* A new call without a slot, from a link-time address to another. */
struct walk_arc *arc_new(struct walk_ctx *caller, uint64_t site,
    struct walk_ctx *callee, uint64_t tolink);

/* A jump inside a function, from the end of a segment. */
struct walk_jump {
	struct walk_jump *next, *more;	/* of its slot, of its context */
	struct walk_slot *slot;
	uint64_t to;		/* run-time */
	struct walk_ctx *ctx;	/* of the target */
	const struct walk_seg *seg;	/* the target */
	uint64_t n;		/* times that it was followed */
};

/* A jump was followed n times; the context is that of its target. */
void jump_count(struct walk_slot *from, const struct walk_seg *to,
    struct walk_ctx *, uint64_t n);
/* A provisional context. */
struct walk_ctx *ctx_limbo(void);
/* The real one is known: move the counts there. */
void ctx_move(struct walk_ctx *limbo, struct walk_ctx *to);

/* ---- stack.c ---- */

/* Bytes; places that lie farther apart are on different stacks. */
#define WALK_APART (8u << 20)
/* Where stacks are switched, so many runs, and frames of these, matter. */
#define WALK_RUNS 1024u
#define WALK_FRAMES 65536u

struct walk_frame {
	uint64_t high;		/* the highest place of its stack */
	uint64_t sp;		/* after the call: it points to ... */
	uint64_t ret;		/* ... the return address; 0: a jump */
	struct walk_arc *arc;	/* NULL: the callee is skipped */
	union {
		struct walk_ctx *ctx;		/* arc: the caller's */
		const struct func *skipped;	/* arc is NULL */
	};
	struct walk_slot *skipper;	/* the thread's before the call */
	uint64_t times;		/* it is of so many calls, see stack.c */
	/* so many frames right below are of jumps, left by the same return */
	uint32_t run;
};

/* Where a setjmp returns, and the stack pointer there. */
struct walk_landing {
	uint64_t addr, sp;
	size_t nsig;		/* handlers that were active */
};

/* What a signal interrupted. */
struct walk_interrupt {
	size_t bottom;
	struct walk_ctx *ctx;
	const struct walk_seg *seg;
	struct walk_slot *slot, *skipper;
	uint64_t sp;
	int64_t *total;
	bool called;		/* the handler has called or returned ... */
	bool above;		/* ... on a stack above this one */
};

/* A segment of the last execution. */
struct walk_ran {
	struct walk_slot *slot;
	struct walk_slot *skipper;	/* the thread's then */
};

/* A call or return before one of them. */
struct walk_turn {
	uint32_t seg;
	bool left;
	struct walk_arc *arc;	/* NULL: the callee is skipped */
	uint64_t times;		/* frames left by it */
};

struct walk_thread {
	int32_t key;		/* a segment with this key may follow */
	bool collect;
	struct walk_ctx *ctx;	/* NULL: unknown so far */
	const struct walk_seg *seg;	/* the last one run; NULL: none */
	struct walk_slot *slot;	/* its slot */
	struct walk_ran *ran;	/* of the last execution, if nran > 1 */
	struct walk_turn *turn;	/* and what was between these */
	size_t nran, capran, nturn, capturn;
	uint32_t turning;	/* the segment to come; 0: nobody wants turns */
	uint64_t sp;		/* after seg, if a call or return ended it */
	bool zero;		/* a value of this execution is 0 */
	int64_t *total;		/* columns */
	struct walk_slot *skipper;	/* the call of a skipped function */
	struct walk_frame *frame;
	/* by frame: total (columns) at the call; the sum of its `times' */
	int64_t *enter;
	size_t n, cap, capenter;
	/*
	 * By a hash of their places, how many frames there are; NULL until a
	 * return on another stack is looked for.
	 */
	uint32_t *places;
	size_t bottom;		/* a signal interrupted the frames below */
	size_t first_again;	/* the first of those that got more calls */
	struct walk_interrupt *sig;
	size_t nsig, capsig;
	uint32_t *depth;	/* by function: its active calls */
	size_t capdepth;
	int64_t *since;		/* total at its beginning, or the last dump */
	struct walk_landing *landing;	/* innermost last */
	size_t nlanding, caplanding;
	/* after a jump back into one of several active calls of a function: */
	struct walk_ctx *limbo;	/* ctx until it is known which */
	struct walk_ctx *guess;	/* the innermost one; NULL: none in doubt */
	struct walk_ctx *landed;	/* which one it was */
	struct walk_arc *unseen;	/* the call that a return showed */
	int64_t *landing_total;	/* total at the jump */
	uint32_t num;
};

/* A thread by its number, which ev_thread gives; it may be new. */
struct walk_thread *thread_get(unsigned num);
/* 1 + the highest number of a thread so far. */
unsigned thread_count(void);
/* A signal handler begins; without it the thread went on at pc; 0: unknown. */
void stack_signal(struct walk_thread *, uint64_t pc);
/* It ends, by rt_sigreturn; if there is none, nothing happens. */
void stack_sigreturn(struct walk_thread *);
/* Leave all frames of a thread; of all threads. */
void stack_close(struct walk_thread *);
void stack_close_all(void);
/*
 * From here on follow executions, or do not: then they neither count nor call.
 * Where that changes, all calls end.
 */
void stack_follow(bool);
/* Let a thread count from here on, or not. */
void stack_collect(struct walk_thread *, bool);
/* A call of setjmp, made elsewhere, returns to addr, with stack pointer sp. */
void stack_landing(struct walk_thread *, uint64_t addr, uint64_t sp);
/*
 * Push the frame of a call that was made elsewhere, when the thread's totals
 * were `enter'; sp: its place, ret: its return address or 0. It is not counted.
 * False: a frame of the same jump is of this call, too: any, or the last one.
 */
enum walk_join { WALK_JOIN_NONE, WALK_JOIN_LAST, WALK_JOIN_ANY };
bool stack_put(struct walk_thread *, struct walk_arc *, uint64_t sp,
    uint64_t ret, const int64_t *enter, enum walk_join);
/*
 * The innermost frame is of a jump, and another of its run is of the same one,
 * any or the next one: have that stand for both.  The thread stays where it is.
 */
bool stack_join(struct walk_thread *, bool any);
/* Pop the innermost frame. The return is not counted. */
void stack_drop(struct walk_thread *);
/* Add the costs so far to the arcs of active calls: of a thread, of all. */
void stack_settle_thread(struct walk_thread *);
void stack_settle(void);
/* Follow the call or return before `to` runs; set the thread's ctx. */
void stack_move(struct walk_thread *, const struct walk_seg *to);

/* ---- walk.c ---- */

/* How often a reference happens, by the values of its block's groups. */
int64_t walk_times(const struct ev_block *, const struct ev_ref *);
/* Follow the executions e->rec to e->end of the thread that runs. */
void walk_batch(const struct ev *e);
/*
 * Take the basic block that the thread executed last back from its costs
 * (sign -1), or add it to them again (1): instructions and references. Only
 * where blocks are kept: not with ev_lean.
 */
void walk_last_block(struct walk_thread *, int sign);
/*
 * An O line: outcomes of an instruction of the last execution; it may get a
 * label, or outcomes by its label.
 */
void walk_told(struct walk_thread *, const struct ev *);
/* Add to a column of walk.told, for the last instruction that was executed. */
void walk_add(struct walk_thread *, unsigned column, uint64_t n);
/* The list of an O line; an empty one if it is wrong, which is said. */
const struct outcome_list *walk_list(const struct ev *);

#endif
