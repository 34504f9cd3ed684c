/*
 * parts.h - what the files of this folder share; not for other folders
 */
#ifndef STREAM_PARTS_H
#define STREAM_PARTS_H

#include <stdbool.h>
#include <stdint.h>

struct evw;
struct out;
struct qent;

/* The program's arguments. */
extern char *const *stream_program;
/* writer.c: write the H lines; caches.c: `H I1`, `H D1`, `H LL` among them. */
void stream_head(void);
void stream_caches(struct evw *);

/* sample.c: to be called first, once */
void sample_begin(void);
/* Count the ids of some of the records in [a, b). */
void sample(const uint32_t *a, const uint32_t *b);

/*
 * last.c: the flight recorder.  What threads hand over goes there instead of
 * into the stream; a dump is evw_again, stream_head, last_dump and the end
 * mark.
 */
/* Keep whole records of a slot's thread; they are copied. */
void last_records(unsigned slot, unsigned thread, const uint32_t *from,
    const uint32_t *to);
/* Drop so many bytes of them: as much as the ring keeps will follow. */
void last_skip(unsigned slot, uint32_t bytes);
/* A system call or a signal ended them. */
void last_ended(unsigned slot, unsigned thread, const struct qent *);
/* Keep M and U lines; they are copied. */
void last_lines(const char *);
/* Write all of a dump but the head and the end mark. */
void last_dump(void);
/*
 * Open the final dump's file, or return NULL: last_final will do so.  From here
 * on SIGUSR1 asks for a dump.
 */
struct out *last_open(const char *name);
/* At the end: the file of the final dump; takes what last_open returned. */
struct out *last_final(struct out *);
/* Whether a dump has been asked for since the last call. */
bool last_asked(void);
/* Open the file for it, or return NULL: there can be none. */
struct out *last_begin(void);

/* allocs.c: kind counts, an entry Q_ALLOC */
void alloc_values(const struct qent *);

/*
 * dead.c: find out whose threads were killed, at once or now and then.  Take a
 * slot of these that has put nothing from this place on; NSLOT: none.  Have all
 * been taken, but those that the serving thread has to answer?  Forget all.
 */
void dead_find(bool at_once);
unsigned dead_next(uint32_t qhead);
bool dead_are_buried(uint32_t qhead);
void dead_reset(void);
/* The place in the queue is taken, and not filled: was that a dead one? */
bool dead_took(uint32_t ticket);
/*
 * One was killed while it took or handed over something: count buffers anew
 * once the queue is empty.
 */
void dead_owes(void);
void dead_settle(uint32_t qhead);

/* threads.c */
/* Number the slot's thread: it is the next one that begins. */
void thread_begins(unsigned slot);
/* Its number; 0: it has not begun. */
unsigned thread_number(unsigned slot);
/* More than the number of any slot that has had a thread. */
unsigned thread_slots(void);
/* How many have begun: the highest number. */
unsigned threads_begun(void);
/* The next lines are of this slot's thread: write a T line if need be. */
void thread_line(unsigned slot);
/* The same of the thread with this number. */
void thread_line_of(unsigned n);
/* The image was replaced: number threads from 1 again. */
void threads_reset(void);

/* lengths.c: instructions by id */
extern uint8_t id_length[];

/* during.c: records [a, b) were taken; the end of those in --for's window. */
const uint32_t *during_records(const uint32_t *a, const uint32_t *b);
/* The same of n instructions that were counted. */
void during_counted(uint64_t n);

/* progress.c: records [a, b) were taken. */
void progress_records(const uint32_t *a, const uint32_t *b);
/* Counters of n instructions were taken. */
void progress_counted(uint64_t n);
/* A second has passed: write the line; so many more have been counted. */
void progress_line(uint64_t more);

/* counters.c */
/* The instructions that have been counted since counts were told. */
uint64_t counters_now(void);
/* Prepare for a new area, before its threads run. */
void counters_begin(void);
/*
 * Write what a thread has counted since the last call; returns how many
 * instructions that is.
 */
uint64_t counters_tell(unsigned slot);
/* The same for all threads, as one interval. */
void counters_tell_all(bool last);
/* Make all counters free. */
void counters_renew(void);

/* totals.c: an id was executed n times more */
void totals_add(uint32_t id, uint64_t n);
/* Instruction n of a block, from 1, did these rounds, and `none' times none. */
void totals_add_rounds(uint32_t block, unsigned n, uint64_t done,
    uint64_t none);
/* It is a branch, which was mispredicted so often. */
void totals_add_missed(uint32_t block, unsigned n, uint64_t missed);
/* Write the definitions of what was executed: its code is about to go. */
void totals_define(void);
/* Write all sums, which are 0 then. */
void totals_write(void);

/* shelf.c: is the id that of a counter on the shelf? */
bool shelf_has_id(uint32_t id);
/* That counter. */
uint32_t shelf_counter(uint32_t id);
/* Write what the counter counts, if it is not written; false: it is nothing. */
bool shelf_define(uint32_t c);
/* How many instructions an execution is; 0: it counts none. */
unsigned shelf_length(uint32_t c);
/* Is it the first of the two counters of a repeated instruction? */
bool shelf_is_pair(uint32_t c);
/*
 * Write that the counter is v, and, if it is the first of two, that the second
 * is `none'; returns how many instructions that is.
 */
uint64_t shelf_tell(uint32_t c, uint64_t v, uint64_t none);
/* Nothing is on the shelf any more. */
void shelf_drop(void);

#endif
