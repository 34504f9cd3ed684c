/*
 * callctx.h - calling contexts (--contexts), shared by trace and the runtime
 *
 * A part of shared.h.  All threads go along one graph, of states and arcs
 * between them, which trace makes; each thread has a stack of frames, and
 * counts how often it went along each arc.
 */
#ifndef CALLCTX_H
#define CALLCTX_H

#include <stdbool.h>
#include <stdint.h>

#include "record.h"
#include "tarea.h"

/*
 * With --contexts: how a thread goes on behind an exit, or how it began, as
 * trace has to know; MOVE_NONE: in the same context.
 */
enum move {
	MOVE_NONE,
	MOVE_CALL,
	MOVE_RETURN,
	MOVE_IJUMP,		/* an indirect jump: perhaps elsewhere */
	MOVE_ON,		/* to where a function or a section begins */
	MOVE_START,		/* a thread's first instruction */
	MOVE_SIGNAL,		/* to a handler */
	MOVE_SIGRETURN,
	MOVE_END		/* the thread ends */
};

/*
 * An owner's code has lookup words, and entries for indirect jumps, of its own:
 * they go by the pc plus this.
 */
static inline uint64_t
owner_key(uint32_t owner)
{
	return (uint64_t)owner << 47 | (owner * 40503u & 0xffff);
}
#define OWNERS_MOST (1u << 17)

/*
 * With --contexts: a thread's stack of FRAMES, calls that have not returned,
 * and all ARCS, from a state by a call to another state.  A STATE is a context
 * and which functions are active.  They are numbered; a thread's is that to
 * which its top frame's arc leads.  Offsets are from REG_T.  Arcs and states
 * are shared.  The first arc of a call to a target, and of a jump from a site
 * in a function, is trace's to make, and serves as a MODEL: the runtime makes
 * others like it, see runtime/arcs.c.
 */
struct ctx_frame {
	uint64_t landing;	/* where in the cache it returns to */
	uint64_t arc;		/* 16 times its number */
	uint64_t p;		/* REG_P at the call */
	uint64_t place;		/* of the return address */
};

/*
 * Map entries, in `homed': rsp, which is an address among the frames, has the
 * guest's value in rdx, or in rax.
 */
#define RSP_IN_RDX (1u << REG_P)
#define RSP_IN_RAX (1u << REG_T)

struct ctx_arc {
	uint64_t nkey;		/* -(state + site [+ target]) */
	uint64_t state;		/* the key of the state that it leads to */
	uint64_t code;		/* of the target */
	uint64_t target, ret;	/* guest pcs; ret 0: a jump; see below */
	uint32_t site;		/* that key */
	uint32_t next;		/* another arc in its bucket, or 0 */
	uint32_t to;		/* number of the state it leads to */
	uint32_t slow : 1;	/* trace has to see each such call */
	uint32_t lands : 1;	/* the runtime has to: it is of setjmp */
	uint32_t within : 1;	/* so has it of an indirect jump into the midst
				 * of a function: setjmp may have returned
				 * there */
	/* number of the state that the call is made in, of which frames were
	 * left first, up to one with the state `from'; or 0: none was */
	uint32_t left : 29;
	uint32_t from;		/* number of the state that it leads from */
	/* made by the runtime: its model; by trace: another model, or 0 */
	uint32_t like;
};
_Static_assert(sizeof(struct ctx_arc) == 64, "scaled by 4, times 16");

struct ctx_state {
	uint64_t key;		/* random, but never twice */
	uint32_t owner;
	uint32_t next;		/* another state in its bucket, or 0 */
	uint8_t slow;		/* 1: trace has to see each move from it */
	uint8_t apart;		/* it is no plain callee of `up': */
#define STATE_FOLDED 1u		/* the same are active as in `up' */
#define STATE_BESIDE 2u		/* its caller is one that `up' had called, and
				 * whose frame was left before */
	uint16_t level;		/* of recursion, from 1, of its function */
	uint32_t fn;		/* which has this number, from 1 */
	uint32_t up;		/* the state that it was first called from */
	uint32_t made;		/* the runtime's arc that it was made with */
	/* further out; and a Bloom filter of the functions of this state and of
	 * those up to there, `nactive' of them, but of none that is folded */
	uint32_t skip;
	uint32_t nactive;
	uint64_t active[3];
};
_Static_assert(sizeof(struct ctx_state) == 64, "");

/*
 * Is a function active in states from s on, up to s->skip?  false: certainly
 * not.  Of 32 functions in 192 bits one of 12 others is taken for one of them.
 */
#define ACTIVE_TOGETHER 32u
/* The function's bit 0 or 1 of the 192. */
static inline uint32_t
active_bit(uint32_t fn, unsigned which)
{
	return (fn * 0x9e3779b1u >> (24 - 8 * which) & 255) * 3 / 4;
}

static inline bool
state_may_have(const struct ctx_state *s, uint32_t fn)
{
	uint32_t a = active_bit(fn, 0), b = active_bit(fn, 1);

	return (s->active[a / 64] >> a % 64 & s->active[b / 64] >> b % 64 &
	    1) != 0;
}

/* The state's own function is active, and what is in its `up', number n. */
static inline void
state_note_active(struct ctx_state *s, const struct ctx_state *up, uint32_t n)
{
	uint32_t a = active_bit(s->fn, 0), b = active_bit(s->fn, 1);
	unsigned i;
	bool more = n != 0 && up->nactive < ACTIVE_TOGETHER;

	s->skip = more ? up->skip : n;
	s->nactive = more ? up->nactive + 1 : 1;
	for (i = 0; i < 3; i++)
		s->active[i] = more ? up->active[i] : 0;
	if (s->apart & STATE_FOLDED)
		return;
	s->active[a / 64] |= 1ull << a % 64;
	s->active[b / 64] |= 1ull << b % 64;
}

/*
 * Targets that are none: of a root or a stub's call; of a frame of many calls.
 * To leave these frames is trace's.
 */
#define ARC_NONE 0u
#define ARC_MANY 1u

#define ARCS_MOST (1u << 21)
#define STATES_MOST (1u << 21)
_Static_assert(STATES_MOST <= 1u << 29, "ctx_arc.left");
/*
 * Behind the states: the first model, the first arc in each bucket; the first
 * state, of those that are not apart.
 */
#define CTX_BITS 18
#define CTX_BUCKETS (1u << CTX_BITS)
struct ctx_heads {
	uint32_t model[CTX_BUCKETS];
	uint32_t arc[CTX_BUCKETS];
	uint32_t state[CTX_BUCKETS];
};

/* The bucket of a hash, or of any other number. */
static inline uint32_t
ctx_bucket(uint64_t x)
{
	return x * 0x9e3779b97f4a7c15ull >> (64 - CTX_BITS);
}

/* Of models: of calls to a target, and of jumps from a site to it. */
#define MODELS_MOST 64u		/* so many in a bucket are looked at */
static inline uint32_t
model_bucket(bool call, uint32_t site, uint64_t target)
{
	return ctx_bucket(call ? target : target + site);
}

/* Of a call from the state with this key; left: as in struct ctx_arc. */
static inline uint32_t
arc_bucket(uint64_t key, uint32_t site, uint64_t target, uint32_t left)
{
	return ctx_bucket(key + site + target + ((uint64_t)left << 32));
}

/* Of a state that belongs to this owner, and is called from that one. */
static inline uint32_t
state_bucket(uint64_t key, uint32_t owner)
{
	return ctx_bucket(key + owner);
}

#define FRAMES_MOST ((1u << 24) + 1)	/* the first is no call's */
#define PLACE_NONE (1ull << 62)		/* of a frame that is no call's */
#define STACKS_APART (8u << 20)	/* lib/walk's WALK_APART, */
#define RUNS_LOOKED_AT 1024u	/* WALK_RUNS, */
#define FRAMES_LOOKED_AT 65536u	/* and WALK_FRAMES */
/*
 * Where a call of setjmp returns, and the stack pointer there.  The thread has
 * those that a jump may still lead to, from the outermost on: the first are
 * trace's, behind them are what the runtime has noted since.  trace takes these
 * in with the thread's next step.  Others are outside of all these; of their
 * addresses the thread has a bit each.
 */
struct ctx_landing {
	uint64_t addr, sp;
};
#define LANDINGS_MOST 64u	/* those that the thread has */
#define LANDINGS_GIVEN 32u	/* so many are trace's at most */
static inline uint64_t
landing_bit(uint64_t addr)
{
	return 1ull << (addr * 0x9e3779b97f4a7c15ull >> 58);
}

/* A thread's part: its words, arcs by their keys' low bits, arcs' counts. */
struct ctx_words {
	uint64_t top;		/* address of the innermost frame */
	uint64_t base;		/* of the outermost */
	/* kind cache: see below */
	uint64_t ir;		/* instructions, counted down */
	uint64_t refs[2];	/* data reads and writes */
	uint64_t gathered[2];	/* those of gathers and scatters among them */
	uint64_t told;		/* address of the innermost frame told */
	/* numbers for what the runtime makes: the next ones, and their ends */
	uint32_t arc, arc_end, state, state_end;
	/* so many arcs have counts that it, or one before it, could access */
	uint64_t narc;
	uint64_t others;	/* the bits of their addresses, or more */
	uint64_t nlanding, given;	/* all; those of trace's */
	struct ctx_landing landing[LANDINGS_MOST];
};
struct ctx_count {
	uint64_t ir, calls;
};
/*
 * A thread's table of arcs by their keys, negated nkeys, has two places for
 * each: by the low bits, and by those above.  A program may use many more arcs
 * than fit into one page of words.
 */
#define CTX_KEY_BITS 18
#define CTX_KEYS (1u << CTX_KEY_BITS)
#define CTX_KEY_SECOND (32 - CTX_KEY_BITS)	/* shift */
/*
 * The words' place in their page is none of a home's: processors take a store
 * for one to the place of a later load if the low 12 bits agree, and wait.
 */
#define CTX_WORDS 0x700u
_Static_assert(CTX_WORDS + sizeof(struct ctx_words) <= PAGE, "a page");
#define CTX_TABLE PAGE
#define CTX_COUNTS (CTX_TABLE + 8u * CTX_KEYS)
#define CTX_GUARD (CTX_COUNTS + 16u * ARCS_MOST)
#define CTX_FRAMES (CTX_GUARD + PAGE)
#define CTX_BYTES ((CTX_FRAMES + 32u * FRAMES_MOST + PAGE - 1) & -PAGE)
#define T_CTX (T_COUNT + 8 * (int32_t)NIDS)
#define T_ARCS (T_CTX + (int32_t)CTX_BYTES)
/*
 * Kind cache: REG_P is no count, so `ir' is in its place.  Each arc's count and
 * each frame has more to it, CTX_MORE bytes behind it: what the arc's calls
 * read and wrote; how much had been read and written at the call, and which
 * frame was there when a reference was told last.
 */
struct ctx_count_more {
	uint64_t refs[2];
};
struct ctx_frame_more {
	uint64_t refs[2];
	uint64_t told_arc, told_p;
};
/*
 * The second value of a record about frames, if the first is 0: how many were
 * left, and the arc of the one that is in the place of the outermost of them,
 * or 0.
 */
static inline uint64_t
frames_left(uint64_t n, uint64_t next)
{
	return n | next << 32;
}
_Static_assert(sizeof(struct ctx_count_more) == sizeof(struct ctx_count) &&
    sizeof(struct ctx_frame_more) == sizeof(struct ctx_frame), "CTX_MORE");
#define CTX_MORE (CTX_BYTES - CTX_COUNTS)

#endif
