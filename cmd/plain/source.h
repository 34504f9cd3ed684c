/*
 * source.h - events as lines of the program's source
 */
#ifndef SOURCE_H
#define SOURCE_H

#include "ev.h"

struct out;

/* A line of source in a function. */
struct step {
	const char *file;	/* or the object, or NULL */
	const char *fn;		/* function with the line */
	const char *outer;	/* function it was inlined into, or NULL */
	unsigned line;		/* 0: not known */
	uint32_t insn;		/* its first instruction in the block, from 0 */
};

/* Those of a block, by its number. */
struct steps {
	struct step *step;
	uint32_t n;
};

/* Write the source lines of a stream's executions; returns the exit status. */
int source_lines(const char *name, const char *output);

/* steps.c */

/* An M or U line. */
void steps_map(const struct ev *);
/* A block was defined: find its steps, by what is mapped now. */
void steps_define(struct ev_block *);
/* What steps_define found. */
const struct steps *steps_of(const struct ev_block *);
/* The step at a run-time address, by what is mapped now. */
struct step step_at(uint64_t addr);
/* Are they the same, but for the instruction? */
bool step_is_same(const struct step *, const struct step *);
/* Write a step; or an address, its step and a newline. */
void step_put(struct out *, const struct step *);
void step_put_addr(struct out *, uint64_t addr);

/* counted.c: a batch, and any other line, of kinds counts and cache */
void counted_executions(struct out *, const struct evr *, const struct ev *);
void counted_line(struct out *, const struct evr *, int letter,
    const struct ev *);

#endif
