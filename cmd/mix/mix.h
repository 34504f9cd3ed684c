/*
 * mix.h - the parts of mix
 *
 * main.c	the command line, the stream's lines, costs, -t
 * count.c	how often each id was executed, by thread
 * class.c	which class an instruction belongs to
 * code.c	the bytes of instructions, from object files or the stream
 * report.c	the text
 */
#ifndef MIX_H
#define MIX_H

#include <stdbool.h>
#include <stdint.h>

#include "simrun.h"

enum by { BY_MNEMONIC, BY_CATEGORY, BY_EXTENSION, BY_SET, BY_WIDTH };
#define NBY (BY_WIDTH + 1)

extern struct options {
	enum by by;
	bool threads;		/* each thread by itself */
	bool costs;		/* costs by address, no text */
	uint64_t nfunction;	/* how many are told */
	uint64_t nclass;	/* of each function */
} opt;

/* ---- count.c ---- */

/* A thread, by its number from 0, executed an id so many times. */
void count_add(unsigned thread, uint32_t id, uint64_t times);
/* The thread's own number, as a T line gives it; and it, 0: no line did. */
void count_name(unsigned thread, uint64_t tid);
uint64_t count_tid(unsigned thread);
/* How many threads there are; without --per-thread all are the first. */
unsigned count_threads(void);
/* From here on count_times is about one thread, or all (-1, the default). */
void count_only(int thread);
/* How often an id was executed. */
uint64_t count_times(uint32_t id);

/* ---- code.c ---- */

#define CODE_MOST 15		/* bytes of an instruction */

/* Begin; both are asked later, for the objects and instructions. */
void code_init(struct objmap *, const struct insns *);
/* A B line was read: keep the bytes that it has. */
void code_define(const struct evr *, uint32_t block, uint32_t ninsn);
/* An instruction's bytes, or NULL: they are not known. */
const uint8_t *code_bytes(const struct insns_at *);
/* It was executed, but its bytes are not known or make no sense. */
void code_unknown(const struct insns_at *);
/* Warn of all that are not known. */
void code_warn(void);

/* ---- class.c ---- */

extern const char *const by_name[NBY];	/* as --by and the report have them */

/* Begin, once opt.by is set. */
void class_init(void);
/* The number of an instruction's class; 0: not known. */
unsigned class_of(const struct insns_at *);
const char *class_name(unsigned);	/* by number; of 0 as well */
/* The number of a class, or 0: there is no such name. */
unsigned class_find(const char *name);
/* Classes have lower numbers. */
unsigned class_count(void);

/* ---- report.c ---- */

/* Sums by class, of the executions that count_times tells now. */
uint64_t *report_sum(struct simrun *);
/* Classes that occur, the most frequent first; how many. */
unsigned report_sort(const uint64_t *sum, unsigned *order);
/* Write the text, to the simulator's output. */
void report(struct simrun *);

#endif
