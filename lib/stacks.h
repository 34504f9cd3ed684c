/*
 * stacks.h - from costs with calls to stacks of callers
 *
 *	struct stacks *s = stacks_read(costr, "Ir", false);
 *	for (i = 0; i < s->nvisit; i++)
 *		... s->visit[i] ... stacks_part(&s->visit[i], count) ...
 *
 * A function that has one caller has one stack, and all that was spent in it
 * was spent there. Costs from callgraph --contexts are like that: each function
 * is a context there. One that has several callers has several stacks, and what
 * it cost is shared out among them as its inclusive costs are: an estimate.
 */
#ifndef STACKS_H
#define STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cost.h"

#define STACKS_NONE	UINT32_MAX

/* What was spent at a place. */
struct stacks_row {
	struct cost_pos pos;
	uint32_t file;		/* names */
	uint32_t next;		/* of the same function, or STACKS_NONE */
};

struct stacks_node {		/* a function, or a context of one */
	uint32_t fn;		/* costfn */
	uint32_t row;		/* its first, or STACKS_NONE */
	uint32_t in;		/* private: its calls */
	uint32_t nin;
	uint32_t last;		/* its last visit so far, or STACKS_NONE */
	double seen;		/* how much of it has been visited */
};

/* A stack: a function on top of another visit's stack. */
struct stacks_visit {
	uint32_t node;
	uint32_t up;		/* the caller's, or STACKS_NONE */
	double from, to;	/* its share of the function's costs: 0 to 1 */
	struct cost_pos site;	/* of the call, if there is a caller */
	uint32_t file;		/* of that */
};

struct stacks {
	struct costnames *names;
	struct cost_head head;	/* the first part's */
	struct stacks_node *node;
	struct stacks_row *row;
	int64_t *count;		/* by row: head.nev counts each */
	struct stacks_visit *visit;	/* a caller is before its callees */
	size_t nnode, nrow, nvisit;
	size_t nshared;		/* functions with more than one caller */
	struct stacks_graph *graph;
};

/*
 * Read all costs, and of a truncated file those that are there; warn if there
 * are estimates. by: the event by which costs are shared out; NULL: the first.
 * If sites is set, calls from different places to one function have stacks of
 * their own; else a stack has the place of the costliest call.
 */
struct stacks *stacks_read(struct costr *, const char *by, bool sites);
/* A visit's part of n, which is the whole function's. */
int64_t stacks_part(const struct stacks_visit *, int64_t n);
/* The function's name, without its level of recursion. */
const char *stacks_name(const struct stacks *, uint32_t node, size_t *len);

#endif
