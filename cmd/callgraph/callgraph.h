/*
 * callgraph.h - what the parts of callgraph share
 *
 *	main.c	options, the stream's lines
 *	dump.c	what was counted, as costs
 *	tell.c	writes entries and exits as a stream of kind calls
 *	ticks.c	reads streams of kind calls
 *
 * Calls are followed by lib's callwalk.h.
 */
#ifndef CALLGRAPH_H
#define CALLGRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "callwalk.h"
#include "simhead.h"

struct out;

/* ---- dump.c ---- */

/* stream: its H lines; pid: of the process, or NULL. */
void dump_open(struct out *, const struct simhead *stream, const char *pid);
void dump_part(const char *trigger, const char *fn);	/* fn may be NULL */
void dump_zero(void);
void dump_unit(const char *);	/* of the first column, for its long name */
void dump_remark(const char *);	/* a desc: line at the end; keeps the string */
void dump_end(bool whole);

/* ---- tell.c: --calls ---- */

void tell_open(struct out *);
void tell_line(const struct ev *);	/* H, M, U, T */
void tell_enter(const struct walk_thread *, const struct func *,
    uint64_t slide);
void tell_leave(const struct walk_thread *, const struct func *);
void tell_handler(const struct walk_thread *, uint64_t instructions);
/* how the program ended, or NULL if the stream is not whole */
void tell_end(const char *how, int status);

/* ---- ticks.c ---- */

void ticks_line(int letter, const struct ev *);
void ticks_end(void);

#endif
