/*
 * stream.h - event text, written by a thread of its own
 *
 * format.c	the thread that writes it, from begin to end
 * queue.c	what the program and trace hand to that thread
 * entry.c	what each entry of the queue is for
 * records.c	records in the threads' buffers
 * writer.c	the text's writer, and the stream's head
 * counters.c	what each counter counts
 * cells.c	where counters are: an array for each thread
 * tell.c	what threads have counted becomes lines, or sums
 * held.c	counts of threads in limbo, until it is known whose they are
 * totals.c	their sums, written at the end
 * dead.c	what processes leave undone that were killed
 * shelf.c	counters whose definitions are text already (--store)
 * progress.c	how far the run is, for the user
 * during.c	the end of --for's window
 * lengths.c	how many instructions an id stands for
 * threads.c	which thread the lines are of
 * last.c	the flight recorder: only the newest records
 * allocs.c	allocations and frees (--allocs)
 * sample.c	how often each id comes, in a sample
 * names.c	finds names of code made at run time
 * caches.c	the caches of this machine, for the stream's head
 */
#ifndef STREAM_H
#define STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

struct evw;

/* The serving thread gives the writer definitions, the formatter all lines. */
extern struct evw *stream_writer;
/*
 * Open the stream of a program, by its arguments, and write its head: into a
 * file, or, if fd is not -1, to this descriptor.
 */
void format_start(char *const argv[], const char *file, int fd);
/* Start the formatting thread, which consumes the queue of a new area. */
void format_begin(void);
/* Before format_begin: write these lines first; they are freed. */
void format_replace(char *lines);
/*
 * Queue lines of our own behind all earlier entries; they are freed. `=id' is
 * not a line, but defines an id.
 */
void format_text(char *lines);
/*
 * The same of a line about what the slot's thread has done so far; it waits for
 * us, and we wait until the line and all that comes before it are written.
 */
void format_mark(unsigned slot, char *line);
/* The same of lines that are about no thread. */
void format_text_now(char *lines);
/* The area's threads are gone: write all that they left, end the thread. */
void format_drain(void);
/* The run ends before the program's end, because of this signal to us. */
void format_interrupted(int sig);
/* End the stream; only a whole one gets the end mark. */
void format_end(const char *how, int status, bool whole);
/* All instructions of --for's window have been written. */
extern _Atomic bool format_full;
extern _Atomic int format_lost;	/* errno of a write that failed, or 0 */

/* Write the D line of a record of --allocs. */
void stream_alloc(struct evw *, const uint32_t *values);

/* ---- names.c: files with the names of code made at run time ---- */

struct jit;
/* An image begins: forget the files of the last one. */
void names_image(void);
/* M lines: look for new files among what is mapped. */
void names_mapped(const char *lines);
/* Read what was added to the files: how many pieces of code are known. */
size_t names_known(void);
/* All that has been read. */
struct jit *names_jit(void);
/* How this runtime is made to write such files, for a message; or NULL. */
const char *names_advice(void);
/*
 * The serving thread holds this lock while it reads names or defines blocks
 * that may have some.
 */
void names_lock(void);
void names_unlock(void);
/*
 * Called when the stream of an image has all but its end mark; at_end: not that
 * of a dump, while the image goes on.
 */
extern void (*format_last)(struct evw *, bool at_end);

/*
 * Look for processes that share the program's memory and were killed, and wait
 * until what they had is free.  Where nothing is to be written that happens now
 * and then without this.
 */
void format_bury(void);
/*
 * While no thread is in the cache: write all counts, free all counters.  calls:
 * with --contexts all threads rest, so write what calls have taken as well.
 */
void format_renew(bool calls);
/* Begin to write all counts, since no thread will count any more. */
void format_counts(void);

/* ---- counters.c: what each counter counts ---- */

/* Are n more counters left? */
bool counters_left(unsigned n);
/*
 * Take a counter for an id that stands for so many instructions; does: what one
 * execution reads and writes.
 */
uint32_t counter_new(uint32_t id, unsigned ninsn, const uint8_t does[NDO]);
/*
 * Kind counts: the same for an id that is not registered with evw, but defined
 * by a line of text before.
 */
uint32_t counter_new_unregistered(uint32_t id, unsigned ninsn);
/*
 * The counter's thread is in limbo while it counts: hold what it has, instead
 * of telling it, until it is taken (--contexts).
 */
void counter_hold(uint32_t counter);
/* Does the counter still count executions of this id? */
bool counter_is(uint32_t counter, uint32_t id);
/* The id whose executions it counts; 0: it counts something else. */
uint32_t counter_id(uint32_t counter);
/*
 * The first of two counters of a block's repeated instruction n, from 1: the
 * sum of its counts, and how many were 0.  does: reads and writes of a round.
 */
uint32_t counter_rounds(uint32_t block, unsigned n, const uint8_t does[NDO]);
/* The same, if there are such counters; false: there are none. */
bool counters_find(uint32_t block, unsigned n, uint32_t *c);
/*
 * The first of as many counters of mispredictions as a block has branches: n
 * are their numbers in it, from 1.
 */
uint32_t counters_missed(uint32_t block, const uint8_t *n, unsigned count);
/* That of the branch with number n, if there is one; false: there is none. */
bool counters_find_missed(uint32_t block, unsigned n, uint32_t *c);

/* --store: an image begins; its first n counters are taken, see counter_put. */
void counters_reserve(uint32_t n);
/* How many counters are taken. */
uint32_t counters_used(void);
/* Let counter c, which is taken, count executions of an id, ... */
void counter_put(uint32_t c, uint32_t id, unsigned ninsn);
/* ... or it and the next one a repeated instruction, as counter_rounds, ... */
void counter_put_rounds(uint32_t c, uint32_t block, unsigned n);
/* ... or it the mispredictions of a branch, as one of counters_missed. */
void counter_put_missed(uint32_t c, uint32_t block, unsigned n);

/* ---- cells.c: where counters are ---- */

/* Call fn for those of each thread's first n counters that are v >= least. */
void counters_each(uint32_t n, uint64_t least,
    void (*fn)(uint32_t c, uint64_t v));
/* The next slot that has a thread, going round; this one: no other has. */
unsigned counters_next_slot(unsigned slot);
/* The cells of a slot's thread, which lie before its counters. */
uint64_t *counters_cells(unsigned slot);
/* Can the slot's thread have counters? */
bool counters_has(unsigned slot);

/* Of a thread that waits for us: count n more. */
void counter_add(unsigned slot, uint32_t counter, uint64_t n);
/* Take one back, if it has not been told. */
void counter_take_one(unsigned slot, uint32_t counter);
/* Take all back that has not been told; returns how many that were. */
uint64_t counter_take(unsigned slot, uint32_t counter);

/* ---- tell.c: what threads have counted ---- */

/* Take back what is held of an id's counter; returns how often it counted. */
uint64_t counter_take_held(unsigned slot, uint32_t id, unsigned ninsn);
/* The rounds of a block's first n instructions are another block's. */
void counters_move(unsigned slot, uint32_t from, uint32_t to, unsigned n);

/* ---- shelf.c: kind counts, counters that the store has defined ---- */

enum { SHELF_NOTHING, SHELF_BLOCK, SHELF_PREFIX, SHELF_ROUNDS, SHELF_NONE };
struct shelf_count {
	uint32_t at;		/* SHELF_BLOCK: its text; else its block's
				 * counter */
	uint8_t n;		/* instructions; of rounds: which, from 1 */
	uint8_t what;		/* SHELF_*; NONE follows ROUNDS */
	uint8_t pad[2];
};
/*
 * The first n counters are the store's.  What each counts, with the text of its
 * definition, stays where it is; the ids are those from `first' on.  The text
 * of a block is its items, and ends with a zero.
 */
void shelf_take(const struct shelf_count *, uint32_t n, const char *text,
    size_t size, uint32_t first);
/* Is it one of these counters? */
bool shelf_has(uint32_t c);
/* The id that such a counter counts executions of, or whose block it is of. */
uint32_t shelf_id(uint32_t c);
/* How many blocks of these have been written. */
size_t shelf_written(void);

/* A record about frames (kind cache): its values. */
void format_frame(struct evw *, const uint32_t *values);

/* Set how many instructions an id stands for, for --for and progress. */
void lengths_tell(uint32_t id, unsigned ninsn);

/* Whether a line a second tells the user how far the run is. */
extern bool progress_on;
/* The program's process is there: decide on that. */
void progress_start(void);
/* The run is over. */
void progress_end(void);

/* The flight recorder: a dump was asked for, and children must make theirs. */
bool last_pass_on(void);

/* Whether there are ids that came often; see sample.c. */
bool sample_pending(void);
/* The next of them; only where one is pending. */
uint32_t sample_next(void);
/* An id of the block that mostly came behind the id; 0: there is none. */
uint32_t sample_follower(uint32_t id);
/* How often an id came, in the sample. */
uint32_t sample_count(uint32_t id);
/* Halve that count, so that the id must come often once more. */
void sample_halve(uint32_t id);

#endif
