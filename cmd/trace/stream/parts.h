/*
 * parts - what the parts of the stream share; not for other folders
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
/* writer.c: the H lines; caches.c: `H I1`, `H D1`, `H LL` of this machine. */
void stream_head(void);
void stream_caches(struct evw *);

/* sample.c: look at some of the records in [a, b) */
void sample(const uint32_t *a, const uint32_t *b);

/*
 * last.c: the flight recorder.  What threads hand over goes there instead of
 * into the stream; a dump is evw_again, stream_head, last_dump and the end mark.
 */
/* Whole records of a slot's thread; they are copied. */
void last_records(unsigned slot, unsigned thread, const uint32_t *from,
    const uint32_t *to);
/* So many bytes of them, when as much as is kept will follow. */
void last_skip(unsigned slot, uint32_t bytes);
/* Their end: a system call or a signal. */
void last_ended(unsigned slot, unsigned thread, const struct qent *);
/* M and U lines; they are copied. */
void last_lines(const char *);
/* All but the head and the end mark. */
void last_dump(void);
/* The file for the end, or NULL: not yet; SIGUSR1 asks from here on. */
struct out *last_open(const char *name);
struct out *last_final(struct out *);
/* Somebody asked for a dump. */
bool last_asked(void);
/* The file for it, or NULL: there is none. */
struct out *last_begin(void);
void last_end(struct out *);

/* threads.c: the slot's thread is the next one that begins */
void thread_begins(unsigned slot);
/* Its number; 0: none yet. */
unsigned thread_number(unsigned slot);
/* What follows in the stream is this slot's thread's: a T line, if need be. */
void thread_line(unsigned slot);
/* The image went: threads are numbered anew. */
void threads_reset(void);

/* counters.c */
/* The slot's thread can have counters. */
bool counters_has(unsigned slot);
/* Of a new area, while nobody takes any. */
void counters_begin(void);
/* Tell what a thread counted since the last time: how many instructions. */
uint64_t counters_tell(unsigned slot);
/* All threads, as an interval. */
void counters_tell_all(void);
/* From here on all are free. */
void counters_renew(void);
/* Kind cache: the counts of all, at the end. */
void counters_totals(void);

#endif
