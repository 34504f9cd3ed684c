/*
 * simrun.h - what all simulators share: options, the loop, -t, the costs
 *
 * A simulator reads events and writes costs by address, or with -t passes the
 * events on and adds its outcomes as O lines. It is a struct simulator:
 *
 *	static const struct simulator tlbsim = { .name = "tlbsim", ... };
 *
 *	int
 *	main(int argc, char **argv)
 *	{
 *		return simrun(&tlbsim, argc, argv);
 *	}
 *
 * simrun calls its functions in this order: option, open; head for each H
 * line; begin; then define, batch and line as the stream has them; end; for the
 * costs, count and add for each instruction; summary. A function may be NULL.
 *
 * A simulator with a text of its own sets report, from an option or in open:
 * that is called in place of writing costs, and calls simrun_insns.
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
	/* from the command line */
	const char *output;
	bool through;			/* -t */
	bool parts;			/* set by option: see simrun_part */
	bool verbose;
	/* the run */
	struct evr *events;
	struct evw *writer;		/* with -t, else NULL */
	/*
	 * In batch: the text of its records, a line each, if these are all of
	 * the text but for O lines (simrun_takes_outcomes); else NULL.
	 */
	const char *text, *textend;
	/* Set by batch: the record that it refused; else NULL. */
	const uint64_t *stopped;
	struct out *out;
	struct objmap *map;
	struct insns *insns;		/* all blocks, see simrun_number */
	struct outcomes *told;		/* of stages before this one */
	bool whole;			/* it was read to its end mark */
	/* Writes a text to out, in place of costs; NULL: costs. */
	void (*report)(struct simrun *);
	/*
	 * Copied from sim; begin may change them. The columns, if NULL until
	 * then, may be set in end.
	 */
	const char *columns;		/* of the costs: "Ir Dr ..." */
	const char *outcomes;		/* of the O lines, with -t */
	int64_t total[COST_EVMAX];	/* by column, once costs were written */
};

struct simulator {
	const char *name, *synopsis, *help;
	const char *columns;
	const char *outcomes;		/* NULL: it has none, and no -t */
	const char *shortopts;		/* its own, as for getopt; or NULL */
	/* Options besides -h, -o, -t, -v: SIMRUN_OPTIONS ends the list. */
	const struct option *longopts;
	void (*option)(struct simrun *, int c);
	/* The stream is open: call ev_accept and perhaps ev_lean. */
	void (*open)(struct simrun *);
	void (*head)(struct simrun *, const struct ev *);
	/* All H lines were read: describe the model by simrun_desc. */
	void (*begin)(struct simrun *);
	/* A B, P, Q or Z line was read; a block has its simrun_number. */
	void (*define)(struct simrun *, uint32_t id, const struct ev_def *);
	/* Executions: records from rec up to end. */
	void (*batch)(struct simrun *, const uint64_t *rec,
	    const uint64_t *end);
	/* Any other line, before it is passed on. */
	void (*line)(struct simrun *, int letter, const struct ev *);
	/* The stream is over, or the warm-up: bring all counts up to date. */
	void (*end)(struct simrun *);
	/* How often was an id executed? */
	uint64_t (*count)(uint32_t id);
	/* Add an instruction's costs to n, by column. */
	void (*add)(const struct insns_at *, int64_t *n);
	/* What has run so far does not count: --warm, a mark; after end. */
	void (*forget)(struct simrun *);
	/* What runs from here on does not count, or counts; after end. */
	void (*idle)(struct simrun *, bool idle);
	/* With -v: write a summary to standard error; total is set. */
	void (*summary)(const struct simrun *);
};

#define SIMRUN_OWN	256	/* own long options begin here */
/* Before SIMRUN_OPTIONS: --warm, for who runs executions in their order. */
#define SIMRUN_WARM						\
	{ "warm", required_argument, NULL, SIMRUN_OWN - 2 },
#define SIMRUN_OPTIONS						\
	{ "help", no_argument, NULL, 'h' },			\
	{ "output", required_argument, NULL, 'o' },		\
	{ "through", no_argument, NULL, 't' },			\
	{ "verbose", no_argument, NULL, 'v' },			\
	{ "version", no_argument, NULL, SIMRUN_OWN - 1 },	\
	{ NULL, 0, NULL, 0 }

/* The whole run; returns the program's status. */
int simrun(const struct simulator *, int argc, char **argv);

/* The number that insns gave a block; it is in block->number. */
static inline uint32_t
simrun_number(const struct ev_block *b)
{
	return b->number - 1;
}

/*
 * In line: write the costs that count and add tell now as a part of their own.
 * The simulator then counts from 0 again; what is left at the end is a part,
 * too, if it is not nothing.
 */
void simrun_part(struct simrun *);

/*
 * In report: call each(), with NULL, for all instructions that were executed,
 * as insns_visit does: one that is in several blocks comes for each of them.
 */
void simrun_insns(struct simrun *,
    void (*each)(const struct insns_at *, int64_t *));
/* In begin: add a line about the model to the costs or to the stream. */
void simrun_desc(struct simrun *, const char *text);
/* In batch, with -t: pass on an execution of rec and `more` repeats. */
void simrun_pass(struct simrun *, const uint64_t *rec, uint64_t more);

/* An outcome of the execution passed on last. */
struct sim_outcome {
	uint32_t insn;		/* of its block, from 0 */
	uint32_t event;		/* index into the names given */
	uint64_t n;		/* how often */
};
/*
 * To be called in begin: batches may have O lines of earlier stages in their
 * text, which passing it on by simpass takes care of.
 */
void simrun_takes_outcomes(struct simrun *);
/* With -t: write the O lines of outcomes in order of insn. */
void simrun_outcomes(struct simrun *, const char *const *names,
    const struct sim_outcome *, unsigned n);
/*
 * In batch, with -t: the records' lines are passed on as they are. One that is
 * passed otherwise is skipped; all are where text is NULL.
 */
struct simpass {
	struct simrun *s;
	const char *text;	/* its first line that is not passed yet */
	uint64_t lines, executions;	/* in so many that are to be */
	const uint64_t *last;	/* the last record of these, or skipped */
};

/* Pass what is to be, before something else. */
void simpass_lines(struct simpass *);
/* The same, and the O lines of earlier stages that follow. */
void simpass_outcomes(struct simpass *);
/*
 * Pass a record of one round, of those up to end. Equal ones become one line,
 * as simrun_pass has them.
 */
void simpass_one(struct simpass *, const uint64_t *rec, const uint64_t *end);
/* The next line, that of rec, has been passed on as something else. */
void simpass_skip(struct simpass *, const uint64_t *rec);

/*
 * With -t, kind cache: write that from here on each execution of a single
 * reference has these events, once each.
 */
void simrun_standing(struct simrun *, uint32_t id, const char *const *names,
    unsigned n);
/* Does --warm still hold? Then O lines are not written. */
bool simrun_warming(struct simrun *);

#endif
