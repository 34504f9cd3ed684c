/*
 * shared.h - what trace and the runtime inside the guest agree on
 *
 * Both sides include this, and what it includes, only.  Two processes work on a
 * run: `trace` translates, and the guest executes the translation out of a
 * code cache, which `trace` writes and the guest can only read and execute.
 * Between them lies one memory file, mapped by both, cut into SEGMENTS:
 *
 *	control   struct control: queue, slots, request bits, code ranges
 *	table     pc -> fragment entry, open addressing; read by the guest
 *	lookup    IBL_WORDS cache addresses by the low 16 bits of a guest pc,
 *	          and as many for outside of windows; then those for rt_again;
 *	          written by both
 *	meta      fragments, exits and maps (meta.h), for handlers
 *	buffers   NBUF record buffers, each with a guard page behind it in use;
 *	          the lowest free one is taken, so few are used and stay warm
 *	zones     code, two of them: one near the libraries, one near a
 *	          position-independent program (or low, for a fixed one)
 *	counters  kinds counts and cache: one range per thread
 *
 * Invariants:
 * (1) Once the runtime's entry has been left, no guest instruction runs outside
 *     the code cache until the guest is let go, which is final.
 * (2) A guest pc is never a cache address; a cache address never reaches
 *     guest memory or a register that the guest could see.
 * (3) Each guest instruction takes effect in ONE instruction of its fragment,
 *     so each cache address has an exact guest state: its map entry says which.
 * (4) A register that the fragment uses for itself has its guest value in its
 *     home, t->gpr[r]; the map entry's `homed` bits say so.
 * (5) A record is whole as soon as its head is not 0: buffers are zero at
 *     first, and a record's head is written last.
 * (6) Code is reused only after every thread was seen outside of it.
 * (7) The guest can write all of this, if it wants to.  `trace` believes none
 *     of it: it keeps no pointer here, has its own copy of what only it writes
 *     (struct area), and reads all else once and checks it.  Where a check
 *     fails the run is over, see base/trust.c.
 *
 * Life of a fragment: translated [frag_new] -> entered by the guest through
 * the table -> linked from exits [link_exit] -> cut [link_cut] when its code
 * changes -> memory reused when the whole cache is flushed.
 */
#ifndef SHARED_H
#define SHARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "callctx.h"
#include "meta.h"
#include "predictor.h"

#define PAGE 4096u

#define NBUF 1024u	/* record buffers; each running thread holds one */
#define NFULL 12u	/* full ones that may wait for the formatter */
#define NFULL_GO 4u	/* no more: threads that wait for a free one go on */
#define NFULL_WAKE 8u	/* so many wake it, if it sleeps */
#define BUF_SIZE (256u << 10)
#define BUF_STRIDE (BUF_SIZE + PAGE)
#define REC_MAX (4u + 8u * 200u) /* bytes of the largest record, < PAGE */

#define NSLOT 4096u		/* threads at one time */
#define NQUEUE 8192u		/* a power of two */
#define NRANGE 1024u	/* executable ranges that the guest must notice */

/*
 * A thread that waits for the other side of a request polls SPINS times, with a
 * pause between polls, and only then sleeps: being woken costs more than a
 * translation, many times more where a virtual processor is woken as well.
 * After SPINS_ALONE polls it yields now and then: others may want to run.
 */
#define SPINS 5000u
#define SPINS_ALONE 100u
#define SPINS_YIELD 20u		/* polls from one yield to the next */

#define IBL_WORDS 65536u
#define IBL_SIZE (IBL_WORDS * 8u)
/*
 * A word serves all targets with the same low 16 bits, one at a time.  Where it
 * leads elsewhere rt_again looks at another word, whose upper half says for
 * which target it is, pc >> AGAIN_BITS plus 1, and whose lower half is the
 * place (see look_in_zone1) of the entry for lookup words.
 */
#define AGAIN_BITS 15
#define AGAIN_WORDS (1u << AGAIN_BITS)
#define IBL_ALL (2 * IBL_SIZE + AGAIN_WORDS * 8u)

/* The number of pc's word, from the first of all lookup words on. */
static inline uint32_t
again_at(uint64_t pc)
{
	return 2 * IBL_WORDS + (uint32_t)((pc ^ pc >> AGAIN_BITS) %
	    AGAIN_WORDS);
}

/* The word that leads from pc to a place; 0: there is none. */
static inline uint64_t
again_word(uint64_t pc, uint32_t place)
{
	uint64_t tag = (pc >> AGAIN_BITS) + 1;

	return tag >> 32 != 0 ? 0 : tag << 32 | place;
}

/*
 * A record's first word, its HEAD: an id, and how many values of 8 bytes
 * follow.  0 means that there is no record: no id is 0.
 */
#define ID_BITS 24
#define NIDS (1u << ID_BITS)

/* Make the head of a record with so many values. */
static inline uint32_t
record_head(uint32_t id, unsigned nvalues)
{
	return id | (uint32_t)nvalues << ID_BITS;
}

/* The id that a head has. */
static inline uint32_t
record_id(uint32_t head)
{
	return head & (NIDS - 1);
}

/* How many values follow it. */
static inline unsigned
record_nvalues(uint32_t head)
{
	return head >> ID_BITS;
}

/* Bytes of a record of so many values. */
static inline unsigned
record_size(unsigned nvalues)
{
	return 4 + 8 * nvalues;
}

#define MAX_INSN 96u		/* instructions of a fragment */
#define COLD_INSN 48u		/* of one that follows no path */

/*
 * A thread's area has T_SIZE bytes and is aligned to as many, so that masking
 * any address in it gives its start.  From there: the alternate signal stack,
 * the runtime's stack, the sigreturn copy, at T_OFF `struct tarea`, and at
 * T_TABLE what a kind needs beside it.  REG_T points between the homes and the
 * hot words of struct tarea, so that these have short offsets.  Behind the
 * area: the lookup words (shared), then cells and counters (shared), of which
 * only the part used so far is accessible.  The T_SIZE bytes are a private
 * mapping of the memory file, so that they do not look like the program's own:
 * redis, when it crashes, writes to all writable memory that has no file.
 */
#define T_SIZE (256u << 10)
#define T_ALTSTACK 98304u	/* room for two signal frames with AMX state */
#define T_STACK_TOP 163840u
#define T_FRAME 163840u		/* where a frame for rt_sigreturn is built */
#define T_FRAME_SIZE 32768u
/*
 * REG_T minus the area's start.  Its low 16 bits tell `bextr' where in an
 * address the number of a hint is, and how many bits it has: see filterdata.c.
 */
#define HINT_SHIFT 6u
#define HINT_BITS 12u
#define TABLE_HINTS (1u << HINT_BITS)
#define T_PTR (3u << 16 | HINT_BITS << 8 | HINT_SHIFT)
#define T_BIAS 126		/* REG_T minus the address of struct tarea */
#define T_OFF (T_PTR - T_BIAS)
#define T_TABLE 0x34000u	/* kind cache's table, or a predictor */
#define T_IBL ((int32_t)(T_SIZE - T_PTR))	/* lookup words, from REG_T */
#define T_AGAIN (T_IBL + 2 * (int32_t)IBL_SIZE)
/*
 * Kind cache: a code line's cell holds the time of the line's last use, or 0
 * while the line is not in the table.  Behind the cells are the counters: one
 * for each id where address space allows, else as many as boot.countbytes says.
 */
#define CELLS (1u << 18)
#define FOLLOW_CELLS 4096u	/* kinds without a table: the first of them hold
				 * targets of indirect exits, cache/recent.c */
#define T_CELL (T_IBL + (int32_t)IBL_ALL)	/* cells, from REG_T */
#define T_COUNT (T_CELL + 8 * (int32_t)CELLS)	/* counters, from REG_T */
#define FIRST_COUNTS 4096u	/* accessible at first; each fault doubles it */

/*
 * The head of struct tarea, which fragments and the runtime's assembler use as
 * well.  This is its one definition; TO(member) is the member's offset from
 * REG_T, and runtime/offsets.c makes the assembler's offsets of it.
 */
#define TAREA_HEAD							\
	uint64_t gpr[16];	/* homes */				\
	uint64_t fsbase;	/* REG_T points 2 bytes before it */	\
	uint64_t df;		/* 1: the direction flag is set */	\
	uint64_t tmp0, tmp1;						\
	uint64_t exitno;						\
	uint64_t rt_exit, rt_miss;					\
	uint64_t rt_again;						\
	uint64_t rt_data, rt_fetch; /* kind cache: see rt_look */	\
	uint64_t p;		/* record pointer, or instructions to go */ \
	uint64_t pc;		/* guest pc to go on at */		\
	uint64_t entry;		/* cache address to go on at */		\
	uint64_t rflags;						\
	uint64_t hint_mask;	/* kind cache: bits that select a hint */ \
	int16_t hint[TABLE_HINTS]; /* kind cache: see table.c */	\
	uint64_t clock;		/* kind cache: filtercheck.c ticks */	\
	uint64_t left;		/* kind cache, --for: instructions */	\
	uint64_t tmp2, gsbase;						\
	uint64_t operand;	/* address that EMU_FPSAVE wrote to */	\
	uint64_t look_ret;	/* rt_look: goes on there, in the cache */ \
	uint64_t look_kind;	/* enum lookup and arguments */		\
	uint64_t rt_called;	/* see entry.S */			\
	uint64_t more;		/* landing of what jumped elsewhere */	\
	uint64_t open;		/* --allocs: minus rsp behind the return of \
				 * what is open, or 0 */		\
	uint64_t flags;		/* at a call: lahf, seto */		\
	uint64_t p_at;		/* where REG_P is while in the runtime:	\
				 * TO(p), or TO(clock) */		\
	uint64_t rt_look;						\
	uint64_t stack;		/* top of the runtime's stack */	\
	uint64_t place[2];	/* rt.place */				\
	uint64_t window;	/* stack pointer where its window began */ \
	uint32_t samples[2];	/* entries of compared code until	\
				 * the next sample, see code/watch.c */	\
	uint8_t vec[128];	/* of a gather: index, then mask; kind	\
				 * cache: values of a repeated one */

struct tarea_head {
	TAREA_HEAD
};
#define TO(member) ((int32_t)offsetof(struct tarea_head, member) - T_BIAS)
#define TO_GPR(r) (8 * (r) - T_BIAS)
_Static_assert(offsetof(struct tarea_head, fsbase) == T_BIAS + 2, "REG_T");
/*
 * Kind cache: a look-up by the runtime, see rt_look.  `pc` is the reference's
 * address, `entry` tells where in the cache the arguments lie.  They are two
 * words: the head of the record, and enum lookup with its arguments.  LOOK_REP
 * has two more, the heads of records of each reference; LOOK_FETCH its address,
 * of two words, instead of `pc`, and the cell of each line.  The fragment goes
 * on behind the arguments; those of LOOK_FETCH and LOOK_DATA lie before the
 * call, and say where.
 *
 * Nearly all of LOOK_DATA have none, since a miss of the real cache for them
 * would cost as much as the look-up: the low half of `entry` is where the
 * fragment goes on, and the high half look_data_word, which is never 0 or -1.
 *
 * A place is a number of bytes from the start of zone 0; or from that of zone
 * 1, less 2^31.
 */
static inline uint32_t
look_in_zone1(uint64_t off)
{
	return (uint32_t)off | 1u << 31;
}

#define LOOK_DATA_MOST 128u	/* bytes */
/* What rt_data is called with: a reference's id and its size in bytes. */
static inline uint32_t
look_data_word(uint32_t id, uint32_t size)
{
	return id | size << ID_BITS;
}
#define TO_LOOK_SAVE 12802	/* where registers are saved meanwhile */
/*
 * The table of kind cache, see runtime/table.c: all lines, by set and way.
 * Each has the address of its line and, beside it, the time of its last use.
 * They lie side by side because a processor takes a load for that of an earlier
 * store if the low 12 bits of their addresses agree.  A hint is the offset of a
 * line's way from REG_T plus HINT_TAG, in words of 8 bytes.
 */
#define MAX_SETS 128u
#define PLACES 8u
#define TABLE_LINES (MAX_SETS * PLACES)
#define T_DTAG ((int32_t)T_TABLE - (int32_t)T_PTR)
#define LINE_STAMP 8		/* a line's time, from its tag */
#define HINT_TAG 2		/* the tag, from REG_T plus 8 times its hint */
/*
 * The value of a record of a reference alone: its address, and in the lowest
 * PLACE_BITS the way where its line, or the first of two, enters.  PLACE_SECOND
 * added: the way where the second one enters.
 */
#define PLACE_BITS 4
#define PLACE_SECOND 8u
#define NO_LINE 0x8b3f52e6d41c97a5ull	/* no address; no line begins there */
/* Arguments of enum lookup: bytes. */
#define LOOK_SIZE(n) ((unsigned)(n) << 8)

enum lookup {
	LOOK_FETCH,		/* code lines; bits 4..15: one or two */
	LOOK_DATA,		/* a line at most; bits 4..15: size */
	LOOK_WIDE,		/* a larger one; bits 8..20: its size */
	LOOK_REP,		/* repeated ones, done: values lie in vec */
	LOOK_ALL,		/* unknown lines come in: empty the table */
	/* --allocs, in all kinds; struct alloc_look in place of arguments */
	LOOK_OPEN,		/* a function of allocations is entered */
	LOOK_CLOSE		/* what is open has returned */
};
#define LOOK_KIND 15u		/* mask: the kind in arguments */
/* Bits 4..15 of LOOK_FETCH and LOOK_DATA. */
#define LOOK_LINE_SIZE(n) ((unsigned)(n) << 4)
/* And how many bytes behind the arguments it goes on; may be less than 0. */
static inline uint32_t
look_back(int bytes)
{
	return (uint32_t)bytes << 16;
}

/* Bytes of LOOK_FETCH, with its code, from the second word of arguments. */
static inline unsigned
look_fetch_bytes(uint32_t kind)
{
	return 16 + 4 * (kind >> 4 & 0xfff) + 12;
}
/* And of LOOK_DATA without arguments; where the code has its `entry'. */
#define LOOK_DATA_BYTES 29u
#define LOOK_DATA_ENTRY 13u

/*
 * LOOK_REP, from bit 8 on: references; then, 4 bits each, which values are
 * the count, the first address, the second; then bytes of one round.
 */
#define LOOK_REP_BITS(nref, count, a, b, size) ((unsigned)(nref) << 8 | \
    (unsigned)(count) << 12 | (unsigned)(a) << 16 | (unsigned)(b) << 20 | \
    (unsigned)(size) << 24)

/*
 * With --allocs: what a function does with memory, and where its arguments are:
 * in the argument register of that number, from 0.
 */
enum alloc_op {
	ALLOC_NEW,		/* returns size bytes, or 0 */
	ALLOC_STORE,		/* the same, stored where ptr says; returns 0 */
	ALLOC_MAP,		/* returns size bytes, or -1 */
	ALLOC_BREAK,		/* the same; less than 0: frees the last ones */
	ALLOC_AGAIN,		/* the bytes at ptr become size bytes */
	ALLOC_REMAP,		/* the same; returns -1 if it fails */
	ALLOC_FREE		/* the bytes at ptr are free; size of them, or
				 * all if that is ALLOC_NONE */
};
#define ALLOC_NONE 7u
struct alloc_args {
	uint32_t op : 4;
	uint32_t size : 3;	/* the argument with the size, or ALLOC_NONE */
	uint32_t times : 3;	/* with a factor of it, or ALLOC_NONE; of
				 * ALLOC_REMAP: with the old size */
	uint32_t ptr : 3;
};
/* Pack them into the low 13 bits of a word. */
static inline uint32_t
alloc_bits(struct alloc_args a)
{
	return a.op | (uint32_t)a.size << 4 | (uint32_t)a.times << 7 |
	    (uint32_t)a.ptr << 10;
}
/* Unpack the low 13 bits of a word. */
static inline struct alloc_args
alloc_of_bits(uint32_t v)
{
	return (struct alloc_args){ v & 15, v >> 4 & 7, v >> 7 & 7,
	    v >> 10 & 7 };
}
#define LOOK_ARGS(v) ((v) << 8)

/*
 * What is told of them: a record of ALLOC_VALUES values, or, in kind counts,
 * as many words of the queue.  The first value has the number of the event and,
 * in its low byte, the letter of the D line.
 */
#define ALLOC_VALUES 6u
/* Make that first value. */
static inline uint64_t
alloc_word(uint64_t n, char letter)
{
	return n << 8 | (uint8_t)letter;
}

_Static_assert(CTX_COUNTS % PAGE == 0, "CTX_MORE");
_Static_assert((uint64_t)T_ARCS + CTX_MORE + ARCS_MOST *
    sizeof(struct ctx_arc) < INT32_MAX, "arcs' displacements");

/*
 * An entry of the table: 0 if it is free; else the number of a fragment in its
 * zone, and the zone; whether the fragment is gone; and some bits of its key,
 * so that few others are looked at.  With --contexts the owners of all entries
 * follow the table.  PLAIN_JUMP
 * added: indirect jumps of the owner's own code to the pc need no look.
 */
#define PLAIN_JUMP (1u << 31)

/*
 * Windows begun by --from: code is translated once for inside and once, on
 * demand, for outside, each with lookup words of its own.  A thread changes
 * sides at an EXIT_WINDOW, which stands for the first instruction of a
 * function.  MODE_PAST translates that instruction itself, where a function
 * both begins and ends windows.
 */
enum mode { MODE_IN = 0, MODE_OUT = 1, MODE_PAST = 2 };
enum {			/* control.windows */
	WINDOWS_FROM = 1, WINDOWS_TO = 2,
	WINDOWS_REQUESTS = 4	/* the program switches by client requests */
};

/*
 * Added to a mode: the fragment leads to no other but returns to the runtime,
 * which can hold a signal until the guest has got on, see runtime/hold.c.
 */
#define MODE_ONCE 4u
#define MODE_ALL 7u		/* tab_key has room for no more bits */
/*
 * Added to a mode where a fragment is asked for, and no part of its key: with
 * an entry for lookup words, before that for others.  Most fragments are only
 * reached by direct exits, and have none.
 */
#define MODE_LOOKUP 8u

#define TAB_NUMBER (1u << 20)	/* numbers, plus 1, are below it */
#define TAB_ZONE (1u << 20)
#define TAB_GONE (1u << 21)
#define TAB_TAG_BITS 10

/* The tag of a key and owner, in the high bits of a word. */
static inline uint32_t
tab_tag(uint64_t key, uint32_t owner)
{
	return (uint32_t)((key + owner) * 0x9e3779b97f4a7c15ull >>
	    (64 - TAB_TAG_BITS)) << (32 - TAB_TAG_BITS);
}

/* Does an entry have this tag? */
static inline bool
tab_has_tag(uint32_t entry, uint32_t tag)
{
	return (entry ^ tag) >> (32 - TAB_TAG_BITS) == 0;
}

/* No user address has these bits, so both can be read off the key. */
static inline uint64_t
tab_key(uint64_t pc, unsigned mode)
{
	return pc ^ (uint64_t)mode << 61;
}

/*
 * A key is looked for in eight entries first, in one line of the cache's: they
 * are near for near addresses, so few pages are touched.  Where code is dense
 * they are full; then it is in the first free one of eight from another place
 * on, which is another one for each owner.  Where code begins at every byte, as
 * in tables of short jumps, these are full as well, and so are those behind
 * them; then it is in the first free one of a sequence all over the table.
 */
#define TAB_NEAR 8u

/* The entry at which a search for a key begins; mask: entries, less 1. */
static inline uint32_t
tab_first(uint64_t key, uint32_t mask)
{
	return (uint32_t)(key >> 5) & mask;
}

/* The entry behind entry i; n: how many have been looked at. */
static inline uint32_t
tab_next(uint64_t key, uint32_t owner, uint32_t i, uint32_t n, uint32_t mask)
{
	if (n < TAB_NEAR)
		return (i & ~(TAB_NEAR - 1)) | ((i + 1) & (TAB_NEAR - 1));
	if (n == TAB_NEAR)
		i = (uint32_t)(key >> 3) + owner * 0x9e3779b1u;
	else if (n == 2 * TAB_NEAR)
		i = (uint32_t)((key + owner) * 0x9e3779b97f4a7c15ull >> 32);
	else
		i += n < 2 * TAB_NEAR ? 1 : 0x9e3779b1u;
	return i & mask;
}

/*
 * A window that ends by a return holds the stack pointer of its beginning.  A
 * stack pointer above that means that the function has returned, or was jumped
 * out of; one far above is on another stack.  WINDOW_OPEN: no return ends it.
 */
#define WINDOW_OPEN 0x7fffffffffffffull
#define WINDOW_FAR (64ull << 20)

/* In place of an exit's number: the number of an arc that led there. */
#define CALLED (1ull << 40)

/* So many entries of compared code are one sample of its page. */
#define SAMPLE_ENTRIES(slow) ((slow) ? 32768u : 1024u)

/* Requests from a thread to trace; arguments in slot->arg. */
enum request {
	REQ_NONE,
	REQ_TRANSLATE,		/* pc, exit or ~0, its gen, mode -> entry;
				 * 0: no code there */
	REQ_PARTIAL,		/* definition, n, in a repeat -> id, bytes */
	REQ_MISSED,		/* definition, n, how often; 0: once less */
	REQ_STALE,		/* pc, mode of a fragment whose code changed */
	REQ_SAMPLE,		/* pc of compared code that is entered often */
	REQ_COMPARE,		/* from now on code changes without a write
				 * that we notice */
	REQ_MAPPED,		/* start, end: code there came, went, changed */
	REQ_EXEC,		/* path, tid -> 0: go on, 1: it runs natively */
	REQ_EXEC_FAILED,	/* tid */
	REQ_WINDOW,		/* instructions before the window are done */
	REQ_SAY,		/* enum say, two values: message to the user */
	REQ_CHILD,		/* pid, 1: it shares its parent's memory ->
				 * 0, or 1: not followed */
	REQ_PTRACE,		/* a process to be traced -> 1: it is trace's */
	REQ_MOVE,		/* site, where to, sp, and move_arg -> 1: it
				 * has returned to a caller not known before;
				 * what is to be added to REG_P */
	REQ_MARK,		/* enum mark, address of its text or 0 */
	REQ_BURY,		/* processes that were killed: free slots */
	REQ_PRINT		/* addresses of a format and its va_list, pc or
				 * 0, address of the registers -> bytes printed
				 */
};

/* A mark in the stream, by a client request. */
enum mark { MARK_ON, MARK_COLD, MARK_OFF, MARK_TOGGLE, MARK_DUMP, MARK_ZERO,
	NMARK };

/*
 * The fourth argument of REQ_MOVE: the step; the move that was made up to it,
 * by an instruction of so many bytes, 8 added if it is an indirect one; the low
 * bits of REG_P, signed.
 */
static inline uint64_t
move_arg(unsigned step, unsigned move, unsigned len, uint64_t p)
{
	return step | move << 4 | len << 8 | p << 12;
}

enum say {
	SAY_REFUSED, SAY_LETGO, SAY_PANIC, SAY_SECCOMP, SAY_32BIT, SAY_TRACED,
	SAY_FILTER, SAY_UNKNOWN
};

/* How a refused instruction goes on: the answer to SAY_REFUSED. */
enum refused {
	REFUSED_NATIVE,		/* the processor executes it, or faults */
	REFUSED_LETGO,		/* the program goes on natively */
	REFUSED_AGAIN		/* its bytes have changed: look it up again */
};

/* Of a slot: its request, and whether a thread has it. */
enum slot_state { SLOT_IDLE, SLOT_ASKED, SLOT_ANSWERED };
enum slot_use {
	SLOT_FREE, SLOT_TAKEN,
	SLOT_LET_GO,		/* attached */
	SLOT_DEAD		/* killed: trace is done with it, and the
				 * runtime may free its area */
};
/* slot->putting: it takes places in the queue, or takes or gives a buffer. */
#define PUT_BEGUN 1u
/* Of a child that waits in the runtime to be followed. */
enum child_state { CHILD_HELD, CHILD_NATIVE, CHILD_GONE };
/* Threads leave the code cache for good, when they can; and at once. */
enum letgo { LETGO_NOT, LETGO_SOON, LETGO_NOW };

struct slot {
	uint32_t state;		/* futex: enum slot_state */
	uint32_t what;		/* enum request */
	uint64_t arg[4];
	uint64_t ret[2];
	uint32_t tid;		/* 2^31 and more: it has not begun; 0: ended */
	uint32_t used;		/* enum slot_use */
	uint32_t pid;		/* of the thread's process; 0: its tid is */
	uint32_t putting;	/* 0; or PUT_BEGUN and how many places it has */
	uint32_t ticket;	/* in the queue, from this one on */
	uint32_t turned;	/* kind cache: a buffer + 1 that it hands over
				 * while it has another one; or 0 */
	uint32_t incache;	/* 1: may be executing fragments */
	uint32_t sleeps;	/* the thread sleeps on state */
	uint64_t from;		/* handed over so far: offset in the buffers */
	uint32_t buf;		/* its buffer + 1, or 0 */
	uint32_t child;		/* futex of its held child: enum child_state */
	uint64_t icount;	/* kind counts: left at the last stop */
	uint64_t nmissed;	/* indirect transfers that no word led on */
	uint32_t cpu, turns;	/* where it asks; yields for its last answer */
	uint32_t resting;	/* 1: it waits, or makes a call of the guest's,
				 * and leaves alone what --contexts has, until
				 * it has seen that `renewing' is 0 */
};

/* The process of a slot's thread, by its members of these names. */
static inline uint32_t
slot_pid(uint32_t pid, uint32_t tid)
{
	return pid != 0 ? pid : tid;
}

/* What a thread hands over, in order; type Q_NONE: not written yet. */
enum qtype {
	Q_NONE,
	Q_RECORDS,		/* buffer bytes from..to of a slot's thread */
	Q_SYSCALL,		/* the same, then `Y arg` */
	Q_SIGNAL,		/* the same, then `K signo(arg2) pc(arg)` */
	Q_WINDOW,		/* the same, then `J window' */
	Q_FULL,			/* the same, and the buffer is given back */
	Q_TEXT,			/* from trace itself, which has the lines */
	Q_MARK,			/* the same, of a slot's thread or of none;
				 * it waits */
	Q_THREAD,		/* slot's thread begins, arg: tid */
	Q_COUNTS,		/* an interval of kind counts ended, or a part
				 * of what --for leaves */
	Q_RENEW,		/* from trace: free all counters */
	Q_LAST,			/* from trace: tell all counters, since no
				 * thread is left to step them */
	Q_TIMES,		/* --syscall-times: the call of the thread's
				 * last Q_SYSCALL took arg ns, and from, to ns
				 * of the processor */
	Q_ALLOC			/* kind counts: values sig and sig+1 of what
				 * --allocs tells are arg, and from, to */
};

struct qent {
	uint32_t type;		/* written last */
	uint16_t slot;
	uint16_t sig;
	uint32_t from, to;	/* offsets into the buffers; equal: none */
	uint64_t arg;
};

struct code_range {
	uint64_t start, end;
};

/* ENDED_ALONE: by its only thread, so nobody counts on. */
enum ended { ENDED_NOT, ENDED, ENDED_ALONE };

struct control {
	/* only trace writes these */
	uint32_t alive;		/* robust futex: FUTEX_OWNER_DIED: trace died */
	uint32_t letgo;		/* enum letgo */
	uint32_t nudges;	/* signals that bring threads out, to come */
	uint32_t gen;		/* of the code cache: +1 at each flush */
	uint32_t nrange;
	uint32_t tabmask;
	uint32_t cpu;		/* 0: native, else a model: cpuid is emulated */
	uint32_t ncpuid, near;	/* near: where trace serves, + 1, or 0 */
	uint32_t renewing;	/* trace tells all counters, or numbers calls
				 * anew: threads rest */
	uint64_t interval;	/* kind counts, in instructions; 0: none */
	uint64_t remaining;	/* kinds counts, cache: of --for; else 0 */
	uint64_t xcr0;		/* of the model */
	struct code_range range[NRANGE];
	uint32_t nfrag[2];	/* fragments of each zone */
	uint32_t nexit;
	/* both sides write these */
	uint32_t bell;		/* futex of the serving thread */
	uint32_t serving_sleeps;
	uint32_t freemask[NBUF / 32];	/* bit set: buffer is free */
	uint32_t freed;		/* +1 for each buffer given back; futex */
	uint32_t nfull;		/* full buffers that the formatter must read */
	uint32_t inuse;		/* buffers that threads hold */
	uint32_t free_sleeps;
	uint32_t qhead;		/* next to take, by the formatter; futex */
	uint32_t qtail;		/* next to fill */
	uint32_t qbell;		/* futex of the formatting thread */
	uint32_t formatting_sleeps;
	uint32_t qfull_sleeps;
	uint32_t skipping;	/* before --after: nothing is told yet */
	uint32_t windows;	/* WINDOWS_*; 0: all is told */
	uint32_t off;		/* WINDOWS_REQUESTS: nothing is told now */
	uint32_t nolink;	/* do not ask for links */
	uint32_t renewed;	/* +1: counters were written and are free */
	uint32_t publish;	/* publish records before REQ_MOVE */
	uint32_t suspect;	/* 1: the processor may be crowded */
	uint32_t crowded;	/* requests left that are slept for at once */
	uint32_t polling;	/* the guest may not call futex: poll for it */
	uint32_t settling;	/* trace is at work: the next answer waits */
	uint32_t sharing;	/* processes that share the memory have slots
				 * below this one */
	uint32_t nburied;	/* +1 for each SLOT_DEAD */
	uint32_t joining;	/* attached threads that are not here yet */
	uint32_t ended;		/* enum ended: the process, with `status` */
	uint32_t status;	/* as wait(2) has it */
	uint64_t want[NSLOT / 64];	/* by slot: it asks */
	uint64_t wanted;	/* bit i: want[i] is not 0; set after it */
	uint64_t more;		/* landing of what a jump pushed */
	uint64_t nalloc;	/* events of --allocs so far */
	struct kept_predictor kept;	/* of the thread that execs */
	struct qent queue[NQUEUE];
	struct slot slot[NSLOT];
};

/* CPUID of a model, for the emulation. */
struct cpuidrow {
	uint32_t leaf, subleaf;		/* subleaf ~0: any */
	uint32_t eax, ebx, ecx, edx;
};
#define NCPUID 64u

/* Segments of the memory file, filled by trace, read by the runtime's start. */
enum segment_number {
	SEG_CONTROL, SEG_TABLE, SEG_IBL, SEG_META, SEG_BUFFERS, SEG_ZONE0,
	SEG_ZONE1, SEG_COUNTERS, SEG_ARCS, NSEG
};

struct segment {
	uint64_t off;		/* in the memory file */
	uint64_t size;
	uint64_t addr;		/* in the guest; 0: where the kernel likes */
};

/* Parts of the META segment, by offset in it. */
struct metaparts {
	uint64_t frags[2];	/* struct fragmeta[], by zone */
	uint64_t maps;		/* bytes: map entries and pcs, by fragment */
	uint64_t exits;		/* struct exitkept[] */
	uint64_t calls;		/* struct exitcall[], with --contexts */
	uint64_t cpuids;	/* struct cpuidrow[NCPUID] */
};

/* The state of a guest's thread that is about to go on. */
struct guest_state {
	uint64_t gpr[16];
	uint64_t pc;
	uint64_t rflags;
	uint64_t fsbase, gsbase;
	uint64_t sigmask;
	uint64_t restart;	/* 1: first make the call in gpr, up to pc */
	uint64_t window;	/* its window, see WINDOW_OPEN; or 0 */
	uint64_t rseq;		/* its struct rseq, or 0, and the signature */
	uint64_t rseqsig;
};

/*
 * Attached processes: each thread but the first begins in the runtime at the
 * top of JOIN_SIZE bytes of stack, with its state at their start.
 */
#define JOIN_SIZE 16384u

/*
 * Of the META segment, a part that is mapped from an entry of the store, see
 * cache/kept.h, instead of the memory file: from its offset in the segment on.
 */
struct stored {
	uint64_t at, size;
	uint64_t off;		/* in the entry */
};
#define NSTORED 4u

/* What the runtime is started with: at the start of its data. */
#define NSEQUENCE 64u		/* restartable sequences, of an attached one */
struct boot {
	int32_t fd;		/* the memory file; closed by the runtime */
	uint32_t flags;
	struct segment seg[NSEG];
	struct metaparts meta;
	struct stored stored[NSTORED];
	uint32_t nstored;
	int32_t storedfd;	/* the entry, or -1; closed by the runtime */
	uint64_t countbytes;	/* a thread's cells, counters, frames; or 0 */
	uint64_t ncount;	/* its counters */
	uint64_t sets, ways;	/* kind cache: of each thread's table; else 0 */
	uint64_t lineshift;	/* log2 of a line's bytes */
	uint32_t leave[2];	/* heads of records: a line of code, of data,
				 * leaves the table */
	uint32_t alloc;		/* head of records of --allocs; 0: none */
	uint32_t frame;		/* and with --contexts: an arc entered, and its
				 * place; or 0, and how many frames were left */
	struct guest_state at;	/* the guest's, at its first instruction */
	uint64_t minframe;	/* bytes, AT_MINSIGSTKSZ */
	uint64_t filled;	/* bytes that guest/relocate.c has mapped */
	uint64_t blank;		/* T_SIZE unwritten bytes of the memory file */
	uint64_t addrbits;	/* of an address: 48, or 57 */
	uint64_t sequence[NSEQUENCE];	/* each its struct rseq_cs, or 0 */
	uint64_t rseqsig;	/* the signature of all of them */
	/* set by the runtime, for guest/detach.c, which takes threads out */
	uint64_t sysinsn;	/* behind the system call that is the guest's */
	uint64_t act;		/* the guest's actions by signal, four words */
	/* offsets in struct tarea */
	uint32_t pc, rflags, df, altstack, syncblocked;
};
/*
 * BOOT_HELD: this child waits to be taken over; `at` is its state.
 * BOOT_FREE_P: REG_P is the guest's, like any other register.
 * BOOT_ALLOCS: --allocs tells allocations, and where threads have their data.
 */
enum { BOOT_FOLLOW = 1, BOOT_COUNTS = 2, BOOT_CACHE = 4, BOOT_HELD = 8,
	BOOT_ATTACHED = 16, BOOT_RSEQ = 32, BOOT_CONTEXTS = 64,
	BOOT_TIMES = 128, BOOT_FREE_P = 256, BOOT_BRANCHES = 512,
	BOOT_ALLOCS = 1024 };

#endif
