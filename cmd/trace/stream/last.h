/*
 * last.h - the flight recorder (--last): format.c's other way
 *
 * What threads hand over goes here instead of into the stream; a dump is
 * evw_again, headers, last_dump, and the end mark.
 */
#ifndef LAST_H
#define LAST_H

#include <stdint.h>

struct out;
struct qent;

/* Whole records of a slot's thread; they are copied. */
void last_records(unsigned slot, unsigned thread, const uint32_t *from,
    const uint32_t *to);
/* So many bytes of them, when as much as is kept will follow. */
void last_skip(unsigned slot, uint32_t bytes);
/* Their end: a system call or a signal. */
void last_ended(unsigned slot, unsigned thread, const struct qent *);
/* M and U lines; they are copied. */
void last_lines(const char *);
/* All but headers and end mark. */
void last_dump(void);

/* The file for the end, or NULL: not yet; SIGUSR1 asks from here on. */
struct out *last_open(void);
struct out *last_final(struct out *);
/* 1: somebody asked for a dump. */
int last_asked(void);
/* Ask who writes the children's streams, too: the main thread. */
void last_pass_on(void);
/* The file for it, or NULL: there is none. */
struct out *last_begin(void);
void last_end(struct out *);

#endif
