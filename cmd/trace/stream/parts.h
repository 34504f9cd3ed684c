/*
 * parts.h - what the files of this folder share; not for other folders
 */
#ifndef STREAM_PARTS_H
#define STREAM_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "ctl.h"

struct evw;
struct out;

/*
 * queue.c: the queue.  What trace puts into it has its lines outside of the
 * memory that the program can write.
 */
/* Entries, and threads that wait for room to put theirs. */
#define QUEUE_MAX (NQUEUE + 2 * NSLOT + 64)
#define OWN_NO_SLOT NSLOT	/* of no thread */
struct own_entry {
	enum qtype type;	/* written last; Q_NONE: it is the program's */
	unsigned slot;		/* of Q_MARK, or OWN_NO_SLOT */
	char *lines;		/* or NULL; who takes the entry frees them */
};
/* Take the next entry, and what is ours of it; false: there is none. */
bool queue_take(struct qent *, struct own_entry *mine);
/* The number of the next entry, which counts all since the area was made. */
uint32_t queue_head(void);
/* The next place is not filled; somebody may have taken it. */
bool queue_is_empty(void);
/* Entries that are to come, at the end; the program may have lied: lose it. */
uint32_t queue_left(void);
/* No thread is left, and the next place is empty: one was killed. */
void queue_pass_hole(void);
/*
 * The next place was taken by one that was killed, so nobody will fill it: go
 * on behind it; false: that is not so.
 */
bool queue_pass_gap(void);
/*
 * All entries are taken, but the next one is not written yet.  The thread that
 * took its place is about to do so: lose patience if it does not.
 */
void queue_check_gap(void);
/* Do entries to come hand over so many bytes of the slot's thread, or more? */
bool queue_has_records(unsigned slot, uint64_t most);
/* An entry of format_renew, format_mark or format_text_now is done. */
void queue_renewed(void);
void queue_marked(void);
/* Wake the formatting thread. */
void queue_ring(void);
/* Wake who sleeps on a word of shared memory. */
void queue_wake(uint32_t *word);
/* The area's threads are gone, and with them all entries. */
void queue_reset(void);

/* records.c: records in the threads' buffers */
/* Tell the records that an entry hands over; those behind them come later. */
void records_handed(const struct qent *);
/* The same, and the buffer is free again. */
void records_full(const struct qent *);
/* The slot's thread begins, or is gone: it has no buffer. */
void records_begin(unsigned slot);
/* The same of all slots. */
void records_reset(void);
/* The number of the slot's buffer + 1; 0: it has none. */
uint32_t records_buffer(unsigned slot);
/* Tell what is left in that buffer of a dead thread's, and free it. */
void records_bury(unsigned slot, uint32_t buf);
/* Tell what is in that buffer of a running thread's, which keeps it. */
void records_look(unsigned slot, uint32_t buf);
/* Tell what no thread has handed over; all are gone. */
void records_leftovers(void);

/* entry.c: what entries are for */
/* Could an honest guest have written the entry? */
bool entry_is_possible(const struct qent *);
/* Do what an entry of the program's, or one of ours without lines, is for. */
void entry_take(const struct qent *);
/* Write, or keep, lines of trace's own; each ends in a newline. */
void entry_lines(char *lines);
/* The same of a line about a thread: all that it did before is told first. */
void entry_mark(unsigned slot, char *line);
/* Does a thread wait, since --for's window was full?  All such go on. */
bool entry_waits(void);
void entry_answer_waiting(void);
/* A new area begins: none of its threads has done anything. */
void entry_reset(void);

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
/* It has ended, and all of it is told. */
void thread_ends(unsigned slot);
/* Its number; 0: it has not begun, or has ended. */
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
extern uint8_t *id_length;
void lengths_begin(void);

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

/*
 * What a counter counts.  UNREGISTERED: executions of an id that evw does not
 * know.  NONE, executions that had no rounds, follows ROUNDS.
 */
enum what { EXECUTIONS, UNREGISTERED, ROUNDS, NONE, MISSES };
struct counted {
	uint32_t id;		/* or of the instruction's block */
	uint8_t ninsn;		/* of an id; or which one is repeated, from 1 */
	uint8_t what;		/* enum what */
	uint8_t does[NDO];	/* one execution, or round */
	bool holds;		/* see counter_hold */
};
static inline bool
counts_executions(const struct counted *c)
{
	return c->what == EXECUTIONS || c->what == UNREGISTERED;
}

/* A repeated instruction, or a branch: of which block; its number there. */
static inline uint64_t
insn_key(uint32_t block, unsigned n)
{
	return (uint64_t)block << 8 | n;
}

/* counters.c */
/* Prepare for a new area, before its threads run. */
void counters_begin(void);
/* What the counter counts, if it is not on the shelf. */
const struct counted *counter_counted(uint32_t c);
/* Make all counters free. */
void counters_renew(void);

/* cells.c */
/* The counters of a slot's thread. */
uint64_t *counters_of(unsigned slot);
/* More than the number of any slot whose thread has counted. */
unsigned counters_slots(void);
/*
 * Find the next of a thread's counters, from *i up to max, that have pages;
 * they are then *i up to *end.  false: there are none.
 */
bool counters_next(unsigned slot, uint32_t *i, uint32_t *end, uint32_t max);
/* Counters of one thread that have pages: v[from] up to v[end]; begins as 0. */
struct counter_run {
	unsigned slot;
	uint32_t from, end;
	const uint64_t *v;
};
/* The next of all threads' first max counters; false: there are no more. */
bool counters_next_run(struct counter_run *, uint32_t max);

/* tell.c */
/* The instructions that have been counted since counts were told. */
uint64_t counters_now(void);
/*
 * Write what a thread has counted since the last call; returns how many
 * instructions that is.
 */
uint64_t counters_tell(unsigned slot);
/* The same of one that has ended, which belongs to the next interval. */
void counters_tell_ended(unsigned slot);
/* End an interval, if it has instructions: n of them since the last one. */
void counters_interval(uint64_t n);
/*
 * The same for all threads, as one interval: counts; or, with --contexts, what
 * calls have taken as well, while all threads rest; or, since no thread runs
 * any more, what is held, too.
 */
enum tell { TELL_COUNTS, TELL_CALLS, TELL_LAST };
void counters_tell_all(enum tell);

/* held.c: that it was counted so often, see there */
struct held_count {
	struct counted c;
	uint64_t times;
};
void held_put(unsigned slot, const struct held_count *);
/* Take what is held of such a counter; false: nothing. */
bool held_take(unsigned slot, uint32_t id, unsigned ninsn, unsigned what,
    struct held_count *);
/* Any of them; false: nothing is held. */
bool held_any(unsigned slot, struct held_count *);

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
