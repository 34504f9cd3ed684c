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

/* --tree: bits, in the order of its words none, caller, calling, both */
enum tree { TREE_NONE, TREE_CALLERS, TREE_CALLEES, TREE_BOTH };

/* state.c: the options */
struct annotate_opts {
	bool old;		/* the tables of Valgrind's tools up to 3.20 */
	bool percs, annotate, inclusive, assembly, intel, color;
	enum tree tree;
	unsigned context;	/* lines shown around one with counts */
	unsigned lines;		/* --lines: how many; 0: not given */
	double threshold;
	bool has_threshold;
	char *show, *sort, *html, *dest;
	char **include, **source, **file;
	char **function, **from;	/* patterns of --function, --file */
	size_t ninclude, nsource, nfile, nfunction, nfrom;
	char **argv;		/* shown in the head of the report */
	int argc;
};
extern struct annotate_opts opt;
/* Is only a choice of functions or files shown? */
static inline bool
choosing(void)
{
	return opt.nfunction || opt.nfrom;
}
extern struct out *out;

/* the profile */
struct input {
	const char *name;
	const char *cmd, *creator, *pid, *part, *thread;
	const char *desc;	/* its lines, each with its newline */
	int64_t mtime;		/* ns; INT64_MAX: not a regular file */
	bool truncated;
};

struct prof {
	struct costnames *nm;
	struct costsum *t;
	struct input *input;
	size_t ninput;
	bool callgrind, truncated;
	bool calls;		/* some record is a call */
	bool is_diff;		/* counts are changes, made by diff -p */
	bool unread;		/* a source could not be read to its end */
	bool addresses;		/* some part has addresses */
	size_t nrec, nev;	/* events: recorded; recorded and derived */
	const char *ev[COST_EVMAX];
	const char *what[COST_EVMAX];	/* the event's long name, or NULL */
	size_t show[COST_EVMAX], nshow;
	size_t main[COST_EVMAX], nmain;	/* --html: shown first, as columns */
	size_t sort[COST_EVMAX], nsort;
	double limit[COST_EVMAX];	/* by sort: threshold in %; -1: none */
	int64_t total[COST_EVMAX];	/* sum of the self costs */
	int64_t whole[COST_EVMAX];	/* what percentages are of: the total */
	int64_t summary[COST_EVMAX];	/* the files' summary: lines, if any */
};
extern struct prof prof;

/* load.c: read opt.file into prof, and choose events; dies of bad files */
void load(void);
/* Counts by recorded event, with the derived ones': costderived_counts. */
const int64_t *with_derived(const int64_t *n);
bool has_function(const struct cost *);	/* is its function's name known? */
/* The string of a name of prof.nm; the same, safe for a terminal. */
const char *str(uint32_t name);
const char *show(uint32_t name);

/* choose.c: --function and --file */
/* Is this function's (costfn) part in this file to be shown? */
bool chosen(uint32_t fn, uint32_t file);
/* Warn of patterns that nothing matched, when all was asked for. */
void choose_warn(void);

/* rates.c: misses, by instructions and by references */
struct rate {
	bool is_rate, is_miss;
	size_t per[COST_EVMAX], nper;	/* its references; none: not known */
};

/*
 * Is ev the first of several events whose sum, such as DLmr + DLmw = DLm, the
 * profile does not have? Sets its name and its n parts, COST_EVMAX at most.
 */
bool rates_sum(size_t ev, char *name, size_t size, size_t *parts, size_t *n);
/*
 * Find out all rates, once the profile is read. Sets ev to the events that are
 * misses and not 0 in total, a sum instead of its parts; returns how many.
 */
size_t rates_main(size_t *ev);
/* What rates_main found of an event. */
const struct rate *rate_of(size_t ev);
/*
 * Event ev of the counts n as per cent of its references, and as misses per
 * thousand Ir. false: there are no references, or no Ir; then it is 0.
 */
bool rate_per_ref(const struct rate *, const int64_t *n, size_t ev, double *);
bool rate_per_thousand(const int64_t *n, size_t ev, double *);

/* tally.c: rows of `width` counts, found by a 64-bit key */
struct tally {
	size_t n, cap, capk, width;
	uint64_t *key;
	int64_t *count;
	void *hash;
};

/* Begin without rows. */
void tally_init(struct tally *, size_t width);
/* The row of a key, from 0; a new key gets a row of zeros. */
size_t tally_find(struct tally *, uint64_t key);
/* Add n, which has `width' counts, to a row; dies beyond 64 bits. */
void tally_add(struct tally *, size_t row, const int64_t *n);
/* The counts of row i, good until the next tally_find. */
static inline int64_t *
tally_at(const struct tally *t, size_t i)
{
	return t->count + i * t->width;
}
/* to += n, of len counts; dies beyond 64 bits. */
void sums_add(int64_t *to, const int64_t *n, size_t len);
/* Compares for qsort(3): larger absolute counts first, by --sort's events. */
int cmp_counts(const int64_t *a, const int64_t *b);
uint64_t count_size(int64_t);	/* without its sign */
/* Does a row with these counts reach --threshold? */
bool passes_threshold(const int64_t *n);

/* cols.c: columns of counts */
struct extremes {		/* of the counts that a table shows */
	int64_t min[COST_EVMAX], max[COST_EVMAX];
};

struct cols {			/* widths in characters, by event */
	struct { unsigned count, perc1, perc2, all; } w[COST_EVMAX];
};

/* Begin with 0 and 0; take in the counts of a line, by event. */
void ext_init(struct extremes *);
void ext_add(struct extremes *, const int64_t *n);
/*
 * Make the columns so wide that all counts fit. cumul: a second percentage
 * follows each count, of cumulated counts; NULL: none does.
 */
void cols_set(struct cols *, const struct extremes *,
    const struct extremes *cumul);
/* Write a line with the events' names over their columns, between texts. */
void cols_head(const struct cols *, const char *before, const char *after);
/*
 * Write a line's counts and a blank. n NULL: the line has no counts, so dots
 * stand there. cumul: the cumulated ones, where cols_set had them; else NULL.
 */
void cols_put(const struct cols *, const int64_t *n, const int64_t *cumul);
/* Write a section's title, between rules; a rule, 80 dashes. */
void put_title(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void put_rule(void);
/*
 * On a terminal: begin, end the colour that tells how large a share of the
 * first sort event n is; n NULL: that of a line without counts.
 */
void heat_begin(const int64_t *n);
void heat_end(void);

/* flat.c: table of functions; it also chooses the files to annotate */
struct files {
	uint32_t *name;
	size_t n, cap;
};

/* What was read, the options, and the program's totals. */
void print_head(void);
/* Both tables of functions; appends the files of the first to the list. */
void print_flat(struct files *);

/* graph.c: nodes and arcs go by their rows, from 0, in graph.self, .arcs */
struct arcs {			/* a list of arcs for each node */
	size_t *first;		/* by node; SIZE_MAX: none */
	size_t *next;		/* by arc; SIZE_MAX: the last */
};

struct graph {
	struct tally self;	/* nodes: functions, with their self costs */
	struct tally arcs;	/* from<<32 | to: inclusive costs, calls */
	int64_t *incl;		/* inclusive costs: nev for each node */
	uint32_t *ob;		/* each node's object */
	size_t capob;
	size_t *cycle;		/* each node's cycle, named by one member */
	struct arcs callers, callees;
};
extern struct graph graph;

/* Fill graph from the profile, once. */
void graph_make(void);
const char *node_file(size_t), *node_fn(size_t);	/* names */
/* A node's counts by event: with --inclusive, inclusive ones; else its own. */
const int64_t *node_counts(size_t);
/* The costs of a call; zeros if it stays within a cycle. */
const int64_t *call_costs(const struct cost *);
size_t arc_from(size_t arc), arc_to(size_t arc);	/* nodes */
/*
 * All nodes, a node's arcs (*n of them), largest first by --sort's events. The
 * caller frees the list, which is NULL if a node has no arcs.
 */
size_t *nodes_sorted(void);
/* Is it a function that --function and --file choose? */
bool node_chosen(size_t);
size_t *arcs_sorted(const struct arcs *, size_t node, size_t *n);
/* Write a node's line, and with --tree those of its arcs around it. */
void put_node(const struct cols *, size_t node);
/* The table of functions of a profile with calls. */
void print_graph(void);

/* lines.c: lines of sources, whatever function they are in */
struct hot_line {
	uint32_t file, line;
	uint32_t fn;		/* costfn: the costliest one that has it */
	size_t others;		/* how many more functions have it */
	const int64_t *n;
};

/*
 * The lines that cost most: the first `most` by each of the events, sorted by
 * --sort's. There are *n of them, and *rest more lines have costs. The caller
 * frees the list.
 */
struct hot_line *hot_lines(const size_t *ev, size_t nev, size_t most,
    size_t *n, size_t *rest);
/* --lines: the table of these, by the first sort event. */
void print_lines(void);

/* old.c: what print_head and print_flat are with --old */
void print_old_head(void);
void print_old_flat(struct files *);

/* source.c: the annotated sources of these files, which it sorts by name */
void print_sources(struct files *);
/* Write len bytes of a source, safe for a terminal; tabs stay. */
void put_text(const char *, size_t len);
/* A line of a source, from 1, or NULL: the source has no such line. */
const char *source_line(const char *name, uint32_t line);

/* asm.c: the functions above the threshold, disassembled; dies if it cannot */
void print_asm(void);

/* html.c: all of the report, as a page */
void print_html(void);

#endif
