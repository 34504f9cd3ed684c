/*
 * simrun.h - what all simulators share: options, the loop, -t, the costs
 *
 * A simulator reads events and gives costs by address, or with -t passes the
 * events on and tells its outcomes in O lines. It is a struct simulator:
 *
 *	static const struct simulator tlbsim = { .name = "tlbsim", ... };
 *
 *	int
 *	main(int argc, char **argv)
 *	{
 *		return simrun(&tlbsim, argc, argv);
 *	}
 *
 * In the order of a run: option, open; head for each H line; begin; then
 * define, batch and line as the stream has them; end; and for the costs count
 * and add for each instruction, and summary. A function that is NULL has
 * nothing to do.
 */
#ifndef SIMRUN_H
#define SIMRUN_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

#include "cost.h"
#include "ev.h"
#include "insns.h"
#include "objmap.h"
#include "outcome.h"

struct evw;
struct out;
struct simulator;

struct simrun {
	const struct simulator *sim;
	/* of the command line */
	const char *output;
	bool through;			/* -t */
	bool verbose;
	/* the run */
	struct evr *events;
	struct evw *writer;		/* with -t, else NULL */
	struct out *out;
	struct objmap *map;
	struct insns *insns;		/* all blocks, see simrun_number */
	struct outcomes *told;		/* by stages before this one */
	/* set by begin, with what it may have changed since sim */
	const char *columns;		/* of the costs: "Ir Dr ..." */
	const char *outcomes;		/* of the O lines, with -t */
	int64_t total[COST_EVMAX];	/* by column, once costs were written */
};

struct simulator {
	const char *name, *synopsis, *help;
	const char *columns, *outcomes;
	/* Options besides -h, -o, -t, -v: SIMRUN_OPTIONS ends the list. */
	const struct option *longopts;
	void (*option)(struct simrun *, int c);
	/* The stream is open: what is accepted, see ev_accept and ev_lean. */
	void (*open)(struct simrun *);
	void (*head)(struct simrun *, const struct ev *);
	/* All H lines were read; tells its model by simrun_desc. */
	void (*begin)(struct simrun *);
	/* A B, P, Q or Z line, by its definition; a block has its number. */
	void (*define)(struct simrun *, uint32_t id, const struct ev_def *);
	/* Executions: records from rec up to end. */
	void (*batch)(struct simrun *, const uint64_t *rec,
	    const uint64_t *end);
	/* Any other line, before it is passed on. */
	void (*line)(struct simrun *, int letter, const struct ev *);
	void (*end)(struct simrun *);
	/* How often an id was executed. */
	uint64_t (*count)(uint32_t id);
	/* Add an instruction's costs, by column. */
	void (*add)(const struct insns_at *, int64_t *n);
	/* With -v, on standard error; total is known. */
	void (*summary)(const struct simrun *);
};

#define SIMRUN_OWN	256	/* own long options begin here */
#define SIMRUN_OPTIONS						\
	{ "help", no_argument, NULL, 'h' },			\
	{ "output", required_argument, NULL, 'o' },		\
	{ "through", no_argument, NULL, 't' },			\
	{ "verbose", no_argument, NULL, 'v' },			\
	{ "version", no_argument, NULL, SIMRUN_OWN - 1 },	\
	{ NULL, 0, NULL, 0 }

/* The whole run; returns the program's status. */
int simrun(const struct simulator *, int argc, char **argv);

/* The number that insns gave a block; it is in block->user. */
static inline uint32_t
simrun_number(const struct ev_block *b)
{
	return (uint32_t)(uintptr_t)b->user - 1;
}

/* In begin: a line that describes the model, kept in costs and stream. */
void simrun_desc(struct simrun *, const char *text);
/* In batch, with -t: rec was executed once and so many times more. */
void simrun_pass(struct simrun *, const uint64_t *rec, uint64_t more);

/* An outcome of the execution that was passed last. */
struct sim_outcome {
	uint32_t insn;		/* of its block, from 0 */
	uint32_t event;		/* index into the names given */
	uint64_t n;		/* how often */
};
/* With -t: tell them, in order of insn. */
void simrun_outcomes(struct simrun *, const char *const *names,
    const struct sim_outcome *, unsigned n);
/* 0 or 1, as the option's argument is the first or second of two words. */
int simrun_choice(const char *option, const char *first, const char *second);

#endif
