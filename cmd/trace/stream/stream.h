/*
 * stream - event text, written by a thread of its own
 *
 * format.c	entries of the queue to text
 * writer.c	the text's writer, and the stream's head
 * counters.c	what is counted, not recorded
 * threads.c	which thread the lines are of
 * counters.c	executions that are counted
 * last.c	the flight recorder: only the newest records
 * sample.c	how often each id was told, in a sample
 * caches.c	the caches of this machine, for the stream's head
 */
#ifndef STREAM_H
#define STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

struct evw;

/* The writer; the serving thread gives it definitions, the formatter lines. */
extern struct evw *stream_writer;
/* Open the stream `out` of a program, by its arguments, and write its head. */
void format_start(char *const argv[], const char *out);
/* The queue of a new area: the formatting thread begins. */
void format_begin(void);
/* Before format_begin: lines to write first; they are freed. */
void format_replace(char *lines);
/* Lines from our side, in order with what was queued before; they are freed. */
void format_text(char *lines);
/* The area's threads are gone: write all that they told. */
void format_drain(void);
/* The end mark, if the stream is whole. */
void format_end(const char *how, int status, bool whole);
/* The window's instructions have all been written. */
extern volatile int format_full;
extern volatile int format_lost;	/* errno of a write that failed, or 0 */

/* No thread is in the cache: tell all counts so far; then all are free. */
void format_renew(void);

/*
 * Counters, of which each thread has its own: there are n more; one more, for
 * an id that tells `ninsn` instructions; 1: it still is that id's.
 */
bool counters_left(unsigned n);
uint32_t counter_new(uint32_t id, unsigned ninsn);
bool counter_is(uint32_t counter, uint32_t id);
/* It counts one more for a thread that waits for us. */
void counter_add(unsigned slot, uint32_t counter);

/* With --for: how many instructions an id tells. */
void format_length(uint32_t id, unsigned ninsn);

/* The flight recorder: somebody asked for a dump; children shall make theirs. */
bool last_pass_on(void);

/* Ids that came often, as the formatter found them; see sample.c. */
bool sample_pending(void);
/* The next of them; only where one is pending. */
uint32_t sample_next(void);
/* How often an id was told, in the sample. */
uint32_t sample_count(uint32_t id);
/* Halve its count, so that it must come often once more. */
void sample_halve(uint32_t id);

#endif
