/*
 * queue.h - what goes to trace: requests, records, the queue
 *
 *	wait.c		a request waits for its answer
 *	serve.c		requests, and the queue
 *	buffer.c	the thread's record buffer
 */
#ifndef QUEUE_H
#define QUEUE_H

#include "runtime.h"

#pragma GCC visibility push(hidden)

/* ---- wait.c ---- */

struct waiting {
	enum request what;
	uint32_t cpu;		/* where it was asked */
	uint32_t turns;		/* yields to trace on this processor */
	uint32_t polls;
	bool sleeps;		/* at once */
	bool is_late;		/* whatever it is: trace was not done yet */
	long start;		/* when it yielded first, ns; 0: not timed */
};
/* Set all of w but `what' and `cpu' before the request is made. */
void wait_begin(struct waiting *);
/* Between two looks at the answer; false: sleep now. */
bool wait_awake(struct waiting *);
/* The answer is there: what does that say of the next requests? */
void wait_end(struct waiting *);

/* ---- serve.c ---- */

/*
 * From here to queue_end a thread takes a place in the queue, or a buffer, or
 * hands one over.  If it is killed there, trace has to look who has what.
 */
static inline void
queue_begin(struct tarea *t)
{
	__atomic_store_n(&t->slot->putting, PUT_BEGUN, __ATOMIC_RELEASE);
}

/* That is done. */
static inline void
queue_end(struct tarea *t)
{
	__atomic_store_n(&t->slot->putting, 0, __ATOMIC_RELEASE);
}

/* Make a request: 0, and the answer is in slot->ret; -1: trace is gone. */
int ask(struct tarea *, enum request, const uint64_t *arg);
/* The thread's slot, which a child has used, is its own again. */
void ask_settle(struct tarea *);
/* Hand over the thread's records since the last time, and what ended them. */
void queue_put(struct tarea *, enum qtype, uint64_t arg, unsigned sig);
/* Hand the buffer over for good. */
void queue_buffer(struct tarea *);
/* The thread counts no more: its slot is free once its counts are told. */
void queue_ended(struct tarea *);
/* An interval of counts has ended: wait until trace has read the counters. */
void queue_interval(struct tarea *);
/* Hand over a full buffer's bytes from..to, and the new one's, in one step. */
void queue_turn(struct tarea *, uint64_t from, uint64_t to);
/* How long the thread's last system call took, by both clocks, in ns. */
void queue_times(struct tarea *, uint64_t wall, uint64_t cpu);
/* Kind counts: hand over what --allocs tells of one event. */
void queue_values(struct tarea *, const uint64_t v[ALLOC_VALUES]);
/* Sleep while the word is val, 100 ms at most; wake up to n that do. */
void futex_wait(uint32_t *, uint32_t val);
void futex_wake(uint32_t *, int n);
void pause_ms(void);		/* sleep for one */
/* Has trace ended, so that nobody answers? */
bool trace_died(void);
/* The process is about to end: set ctl->ended. */
void serve_ended(void);

/* ---- buffer.c ---- */

/* The thread begins: give it a buffer, unless it records later or never. */
void buffer_first(struct tarea *);
/* How many instructions from now on an interval's end is; 0: there is none. */
uint64_t buffer_span(void);
/* The thread leaves its window: put its buffer aside. */
void buffer_aside(struct tarea *);
/* It enters one: take that buffer back. */
void buffer_back(struct tarea *);
/* Is the address in the guard page of the thread's buffer? */
bool buffer_guard(struct tarea *, uint64_t addr);
/* Guard all buffers now: mprotect may be forbidden later. */
void buffer_guard_all(void);
/* Make room for n bytes that the runtime itself will write at t->p. */
void buffer_room(struct tarea *, uint64_t n);
/* A store of the fragment hit the guard page: take another buffer. */
void buffer_full(struct tarea *, struct kucontext *);
/* Before a call that may block: with very many threads give it back. */
void buffer_asleep(struct tarea *);
/* After it: take a buffer, if the thread records and has none. */
void buffer_awake(struct tarea *);
/* queue_put, if the thread records; not of Q_RECORDS where there are none. */
void buffer_publish(struct tarea *, enum qtype, uint64_t arg, unsigned sig);

#pragma GCC visibility pop
#endif
