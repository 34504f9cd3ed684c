/*
 * callgraph.h - what the parts of callgraph share
 *
 *	main.c	the stream's lines
 *	options.c	the command line
 *	dump.c	what was counted, as costs
 *	every.c	parts of so many basic blocks
 *	systime.c	system calls and their times
 *	tell.c	writes entries and exits as a stream of kind calls
 *	ticks.c	reads streams of kind calls
 *
 * and for streams with contexts, which tell the calls themselves:
 *
 *	contexts.c	the order in which these are used
 *	states.c	contexts, calls and their costs
 *	lines.c	own costs by address
 *	frames.c	outcomes of references alone
 *	share.c	own costs of a function's contexts, by line
 *	tally.c	sums by two numbers
 *
 * Other calls are followed by lib's callwalk.h.
 */
#ifndef CALLGRAPH_H
#define CALLGRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "callwalk.h"
#include "simhead.h"

struct codename;
struct out;

/* ---- options.c ---- */

extern struct callgraph_options {
	bool calls;		/* write entries and exits, not costs */
	bool parts;		/* some option asks for parts */
	bool writes;		/* modifications are writes */
	bool share;		/* own costs of several contexts, by line */
	bool whole_blocks;	/* marks count for the whole basic block */
	const char *ordered;	/* an option that kinds counts and cache lack */
	const char *executed;	/* one that needs kind blocks or all */
	const char *output;	/* a file, or NULL */
} opt;

/* Read the command line; returns the name of the input, or NULL. */
const char *options(int argc, char **argv);
/* Warn of rules for functions that were never executed: misspelled ones. */
void options_warn_idle(void);

/* ---- dump.c: what was counted, as costs ---- */

/*
 * The columns are known: begin the costs. stream: its H lines; pid: of the
 * process, or NULL.
 */
void dump_open(struct out *, const struct simhead *stream, const char *pid);
/*
 * Write the counts as a part, and zero them. The trigger, and the function that
 * it names or NULL, become a line of the part's header.
 */
void dump_part(const char *trigger, const char *fn);
/* Zero all counts; open calls cost nothing so far. */
void dump_zero(void);
void dump_lines(void);	/* some functions have lines: write these as well */
void dump_unit(const char *);	/* of the first column, for its long name */
void dump_remark(const char *);	/* a desc: line at the end; keeps the string */
/* Write the last part; whole: with the end mark. */
void dump_end(bool whole);

/* ---- every.c: --dump-every-bb ---- */

/* A part after so many basic blocks; 0: none. */
void every_option(uint64_t n);
/* Does the option ask for parts? */
bool every_asked(void);
/* A B or P line was read. */
void every_define(uint32_t id);
void every_batch(const struct ev *);	/* walk_batch, with parts */

/* ---- systime.c: --collect-systime ---- */

bool systime_option(const char *);	/* false: no times are asked for */
void systime_head(const struct ev *);	/* an H line */
void systime_begin(void);		/* behind them */
/* What an event means in words, or NULL. */
const char *systime_name(const char *event);
/* A Y line: a call that was made, or one that has returned. */
void systime_call(struct walk_thread *, const struct ev *);

/* ---- tell.c: --calls ---- */

/* Begin the stream of kind calls. */
void tell_open(struct out *);
/* An H, M, U or T line: pass it on, if it is true of the output. */
void tell_line(const struct ev *);
/* callwalk.h's events: a function was entered or left; a handler has ended. */
void tell_enter(const struct walk_thread *, const struct func *,
    uint64_t slide);
void tell_leave(const struct walk_thread *, const struct func *);
void tell_handler(const struct walk_thread *, const int64_t *since);
/* End it. how: how the program ended, or NULL if the stream is not whole. */
void tell_end(const char *how, int status);

/* ---- tally.c: sums by two numbers ---- */

struct tally;
struct tally_entry {
	uint64_t a, b;
	size_t at;		/* private */
};

/* A tally with so many sums for each pair of numbers. */
struct tally *tally_new(unsigned ncol);
/* The sums of a and b, 0 at first; they hold until the next call. */
int64_t *tally_at(struct tally *, uint64_t a, uint64_t b);
/* The same in two steps: the number stays until tally_clear. */
size_t tally_number(struct tally *, uint64_t a, uint64_t b);
int64_t *tally_numbered(struct tally *, size_t number);
/* Put all in order, which is final: *e is the first one. Returns their end. */
const struct tally_entry *tally_sort(struct tally *,
    const struct tally_entry **e);
/* The sums of an entry. */
const int64_t *tally_sums(const struct tally *, const struct tally_entry *);
void tally_clear(struct tally *);	/* no sums are left */

/*
 * States, lines and frames sum up what their lines tell. NAME_begin comes
 * behind the H lines, when the columns are known. For each part, and at the
 * end, NAME_make makes contexts of the sums: of a thread, or of all (0) if none
 * is apart, in the order of their numbers. NAME_clear then sets the sums to 0.
 */

/* ---- states.c: S, A, V lines ---- */

/* As NAME_begin. */
void states_begin(void);
/* A line that begins with the letter S, A or V was read. */
void states_line(int letter, const struct ev *);
/* As NAME_make, of the thread with this number, or of all: 0. */
void states_make(uint32_t thread);
/* As NAME_clear. */
void states_clear(void);
/* A mark says that the running thread's costs do not count now. */
bool states_idle(void);
/* The running thread's number, or 0 if none is apart. */
uint64_t states_thread(void);
/* The link-time address of a run-time one. */
uint64_t states_link(uint64_t addr);
/* Does a thread or handler begin by this arc? */
bool states_is_begin(uint32_t arc);
/* The state that it leads to: a group's first, unless contexts are apart. */
uint32_t states_own(uint32_t arc);
/*
 * The inclusive outcomes of its calls, by column, of all threads; good until
 * the next call.
 */
int64_t *states_outcomes(uint32_t arc);
/* The number of a state's group: all states of its function and level. */
uint32_t states_group(uint32_t state);
/* The function of a group, and its first state. */
struct func *states_function(uint32_t group);
uint32_t states_first(uint32_t group);
/*
 * The context that has a group's own costs by line: the only one; or one whose
 * lines all of them share; or NULL, if nobody wants these.
 */
struct walk_ctx *states_lines(uint32_t group);
/* The context of a state in the thread made last. */
struct walk_ctx *states_ctx(uint32_t state);

/* ---- lines.c: definitions, F lines, executions, W and R lines ---- */

/* As NAME_begin. */
void lines_begin(void);
/* A B, P, Q or Z line was read. */
void lines_define(uint32_t id);
/* An F line: the function and level that a block's executions belong to. */
void lines_owner(const struct ev *);
/* Name the function that a block belongs to. */
void lines_named(uint32_t id, struct codename *);
/* Executions; and, of a W line, n more of an id. */
void lines_batch(const struct ev *);
void lines_times(uint32_t id, uint64_t n);
/* An R line. */
void lines_rounds(const struct ev *);
/* The group of a block; 0: none was told. */
uint32_t lines_group(uint32_t id);
/*
 * Where the costs of a block's instruction are in a context. If the slot's
 * segment has no definition, it is in slot_skipped: a stub's.
 */
struct walk_slot *lines_slot(struct walk_ctx *, uint32_t id, uint32_t insn);
/* As NAME_make and NAME_clear. */
void lines_make(uint64_t thread);
void lines_clear(void);

/* ---- frames.c: N, X and O lines ---- */

/* As NAME_begin. */
void frames_begin(void);
/* An N or X line; an O line. */
void frames_line(int letter, const struct ev *);
void frames_outcome(const struct ev *);
/* Open calls get what they have cost so far. */
void frames_settle(void);
/* The stream is over: all calls end. */
void frames_end(void);
/* As NAME_make and NAME_clear. */
void frames_make(void);
void frames_clear(void);

/* ---- share.c ---- */

/* Forget all lines; a line of a function's, with its counts by column. */
void share_begin(void);
void share_line(uint64_t addr, const int64_t *n);
/*
 * Put a context's part of each line, whose columns add up to own, into the rows
 * of their addresses.  False: so much is not left, and no row was asked for.
 */
bool share_take(const int64_t *own, int64_t *(*row)(uint64_t addr));

/* ---- contexts.c: all of these, in a stream with contexts ---- */

/* Behind the H lines. */
void contexts_begin(void);
/* Any line but E, G, H, J and L. */
void contexts_line(int letter, const struct ev *);
/* What was told so far becomes contexts, for a part or to be forgotten. */
void contexts_part(void);
/* The same at the end of the stream. */
void contexts_end(void);

/* ---- ticks.c: streams of kind calls ---- */

/* Any line but H, M and U; the end of the stream. */
void ticks_line(int letter, const struct ev *);
void ticks_end(void);

#endif
