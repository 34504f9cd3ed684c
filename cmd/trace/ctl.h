/*
 * ctl.h - the segment `control': slots with requests, and the queue
 *
 * A part of shared.h.  A thread asks trace through its slot, and waits for the
 * answer; what it hands over in order goes through the queue, to the formatter.
 */
#ifndef CTL_H
#define CTL_H

#include <stdint.h>

#include "predictor.h"
#include "record.h"

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

enum {			/* control.windows */
	WINDOWS_FROM = 1, WINDOWS_TO = 2,
	WINDOWS_REQUESTS = 4,	/* the program switches by client requests */
	WINDOWS_EVERY = 8	/* by numbers of instructions, see --every */
};

/*
 * A window that ends by a return holds the stack pointer of its beginning.  A
 * stack pointer above that means that the function has returned, or was jumped
 * out of; one far above is on another stack.  WINDOW_OPEN: no return ends it.
 */
#define WINDOW_OPEN 0x7fffffffffffffull
#define WINDOW_FAR (64ull << 20)

/* In place of an exit's number: the number of an arc that led there. */
#define CALLED (1ull << 40)

/* Requests from a thread to trace; arguments in slot->arg. */
enum request {
	REQ_NONE,
	REQ_TRANSLATE,		/* pc, exit or ~0, its gen, mode -> entry;
				 * 0: no code there */
	REQ_PARTIAL,		/* definition, n, in a repeat -> id, bytes */
	REQ_MISSED,		/* definition, n, how often; 0: once less */
	REQ_STALE,		/* pc, mode of a fragment whose code changed */
	REQ_SAMPLE,		/* pc of compared code that is entered often */
	REQ_JUMPS,		/* exit, its gen: an indirect jump that is often
				 * a call: its code shall look for arcs first */
	REQ_COMPARE,		/* from now on code changes without a write
				 * that we notice */
	REQ_UNWATCH,		/* start, end: a call to come would fail where
				 * pages there are watched */
	REQ_MAPPED,		/* start, end: code there came, went, changed;
				 * 1: and from where the mapping begins */
	REQ_EXEC,		/* path, tid, 0 or 1 + the descriptor that path
				 * is relative to -> 0, 1: it runs natively */
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
 * In place of REQ_MOVE's site: the number of an arc, of a call whose function
 * has not begun.  Its frame has been taken back.
 */
#define NOT_BEGUN (1ull << 63)

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
	SAY_REFUSED, SAY_SECCOMP, SAY_32BIT, SAY_TRACED,
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
	SLOT_ENDED,		/* until trace has taken what it has counted */
	SLOT_DEAD		/* killed: trace is done with it, and the
				 * runtime may free its area */
};
/* slot->putting: it takes places in the queue, or takes or gives a buffer. */
#define PUT_BEGUN 1u
/* Of a child that waits in the runtime to be followed. */
enum child_state { CHILD_HELD, CHILD_NATIVE, CHILD_GONE };

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
	uint32_t told;		/* 1: of SLOT_ENDED, its counts are told */
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
	Q_ENDED,		/* it has ended, and counts no more */
	Q_COUNTS,		/* an interval of kind counts ended, or a part
				 * of what --for leaves */
	Q_RENEW,		/* from trace: free all counters */
	Q_RENEW_CALLS,		/* and tell calls: all threads rest */
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
	uint32_t qhead;		/* next to take, by the formatter */
	uint32_t qroom;		/* +1: places have become free; futex */
	uint32_t qtail;		/* next to fill */
	uint32_t qbell;		/* futex of the formatting thread */
	uint32_t formatting_sleeps;
	uint32_t qfull_sleeps;
	uint32_t skipping;	/* before --after: nothing is told yet */
	uint32_t windows;	/* WINDOWS_*; 0: all is told */
	uint32_t off;		/* WINDOWS_REQUESTS: nothing is told now */
	uint32_t nwindow;	/* WINDOWS_EVERY: +1 for each that begins */
	uint32_t nolink;	/* do not ask for links */
	uint32_t renewed;	/* +1: counters were written and are free */
	uint32_t publish;	/* publish records before REQ_MOVE */
	uint32_t suspect;	/* 1: the processor may be crowded */
	uint32_t crowded;	/* requests left that are slept for at once */
	uint32_t polling;	/* a filter: the runtime makes no calls, ... */
	uint32_t no_futex;	/* ... nor futex: poll for it, ... */
	uint32_t no_yield;	/* ... nor sched_yield */
	uint32_t settling;	/* the next answer is late: trace has begun, or
				 * is at work for another one */
	uint32_t sharing;	/* processes that share the memory have slots
				 * below this one */
	uint32_t nburied;	/* +1 for each SLOT_DEAD */
	uint32_t nslot;		/* no slot from here on was ever taken */
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

#endif
