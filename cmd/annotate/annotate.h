/*
 * annotate.h - what the parts of annotate share
 */
#ifndef ANNOTATE_H
#define ANNOTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cost.h"

enum { TREE_CALLERS = 1, TREE_CALLEES = 2 };

/* state.c: what was asked for */
struct opts {
	bool old;		/* the tables of Valgrind's tools up to 3.20 */
	bool percs, annotate, inclusive, assembly, intel, color;
	int tree;
	unsigned context;
	double threshold;
	bool has_threshold;
	char *show, *sort, *html, *dest;
	char **include, **source, **file;
	size_t ninclude, nsource, nfile;
	char **argv;		/* for the head of the report */
	int argc;
};
extern struct opts opt;
extern struct out *out;

/* the profile */
struct input {
	const char *name;
	const char *cmd, *creator, *pid, *part, *thread;
	const char *desc;	/* its lines, each with its newline */
	int64_t mtime;		/* ns; INT64_MAX where there is none */
	bool truncated;
};

struct prof {
	struct costnames *nm;
	struct costsum *t;
	struct input *input;
	size_t ninput;
	bool callgrind, truncated;
	bool unread;		/* a source could not be read to its end */
	bool addresses;		/* some part has them */
	size_t nrec, nev;	/* recorded events; with the derived ones */
	const char *ev[COST_EVMAX];
	const char *what[COST_EVMAX];	/* the event is this; or NULL */
	size_t show[COST_EVMAX], nshow;
	size_t sort[COST_EVMAX], nsort;
	double limit[COST_EVMAX];	/* threshold in %, of the sort event */
	int64_t total[COST_EVMAX];	/* of the self costs */
	int64_t summary[COST_EVMAX];	/* what the file gives as summary: */
};
extern struct prof prof;

/* load.c */
void load(void);
/* a record's counts with the derived events; good until the next call */
const int64_t *full(const int64_t *n);
const char *str(uint32_t name);
const char *show(uint32_t name);	/* fit for a terminal */

/* tally.c: counts by a 64-bit key; width counts each */
struct tally {
	size_t n, cap, kcap, width;
	uint64_t *key;
	int64_t *count;
	void *hash;
};

void tally_init(struct tally *, size_t width);
size_t tally_find(struct tally *, uint64_t key);	/* makes it if need be */
void tally_add(struct tally *, size_t at, const int64_t *n);
static inline int64_t *
tally_at(const struct tally *t, size_t i)
{
	return t->count + i * t->width;
}
void sums_add(int64_t *to, const int64_t *n, size_t len);
/* as qsort_r(3): larger absolute counts first, in the order of --sort */
int by_sort(const int64_t *a, const int64_t *b);
/* does the row pass --threshold? */
bool above(const int64_t *n);

/* cols.c: columns of counts */
struct extremes {
	int64_t min[COST_EVMAX], max[COST_EVMAX];
};

struct cols {
	struct { unsigned count, perc1, perc2, all; } w[COST_EVMAX];
};

void ext_init(struct extremes *);
void ext_add(struct extremes *, const int64_t *n);
/* cumul: rows may have a second percentage, of cumulated counts; or NULL */
void cols_set(struct cols *, const struct extremes *, const struct extremes *cumul);
void cols_head(const struct cols *, const char *before, const char *after);
/* the counts and a blank; n NULL: of a line that has none */
void cols_put(const struct cols *, const int64_t *n, const int64_t *cumul);
void fancy(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void rule(void);
/* on a terminal: begin the colour for a share of the first sort event; end */
void heat(const int64_t *n);
void cool(void);

/* flat.c: functions, and which files are worth annotating */
struct files {
	uint32_t *name;
	size_t n, cap;
};

void print_head(void);
void print_flat(struct files *);

/* graph.c */
struct arcs {			/* of a node the first, of an arc the next */
	size_t *first, *next;
};

struct graph {
	struct tally self;	/* nodes: functions, with their own costs */
	struct tally arcs;	/* from<<32 | to: inclusive costs, how often */
	int64_t *incl;		/* nev for each node */
	uint32_t *ob;		/* the node's object */
	size_t obcap;
	size_t *cycle;		/* nodes of a cycle have the same */
	struct arcs callers, callees;
};
extern struct graph graph;

void graph_make(void);
const char *node_file(size_t), *node_fn(size_t);
const int64_t *node_counts(size_t);
const int64_t *call_costs(const struct cost *);
size_t arc_from(size_t arc), arc_to(size_t arc);
/* largest first, in the order of --sort */
size_t *nodes_sorted(void);
size_t *arcs_sorted(const struct arcs *, size_t node, size_t *n);
void put_node(const struct cols *, size_t node);
void ext_arcs(struct extremes *, const struct arcs *, size_t node);
void print_graph(void);

/* old.c */
void print_old_head(void);
void print_old_flat(struct files *);

/* source.c */
void print_sources(struct files *);
FILE *source_open(const char *name, char **path);
void put_text(const char *, size_t len);
/* a line of a source, or NULL; good until the next call */
const char *source_line(const char *name, uint32_t line);

/* asm.c */
void print_asm(void);

/* html.c */
void print_html(void);

#endif
