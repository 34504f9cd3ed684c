/*
 * diff.h - what the parts of diff share
 */
#ifndef DIFF_H
#define DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cost.h"

/* --by: bits, in the order of its words function, line, call */
enum diff_by { BY_FUNCTION = 1, BY_LINE = 2, BY_CALL = 4 };

/* state.c */
struct function_change {	/* a function that exceeds a limit */
	uint32_t fn;
	int64_t old, new;
};

struct event_limit {		/* --limit=EVENT[:FUNCTION]=N[%] */
	const char *text;	/* the option's argument */
	size_t ev;
	char *functions;	/* pattern of their names; NULL: the total */
	bool percent;
	uint64_t num, den;	/* limit: num/den [percent of the old total] */
	bool beyond;		/* the event grew by more than the limit */
	bool in_old, in_new;	/* a function there has such a name */
	struct function_change *over;
	size_t nover, cap;
};

struct diff_side {
	const char *name, *cmd, *creator;
	int64_t total[COST_EVMAX];
	struct costsum *t;
};

struct diff {
	struct costnames *nm;
	struct diff_side old, new;
	bool cachegrind;	/* both files are Cachegrind's */
	bool differ, strict;
	bool keep;		/* the tables are needed after rows.c's sums */
	struct costset settings;
	unsigned positions;
	/* the tables of the sides have counts of recorded events; rows and
	   totals those of all: recorded ones, then derived ones */
	size_t nrec, nev;
	struct cost_derived events;
	const char *ev[COST_EVMAX];
	size_t show[COST_EVMAX], nshow, sort[COST_EVMAX], nsort;
	double threshold;	/* % of the old total */
	unsigned by;		/* enum diff_by */
	struct event_limit *limit;
	size_t nlimit;
};
extern struct diff diff;
extern struct out *out;

/* The string of a name of d.nm. */
const char *str(uint32_t name);

/* subst.c: s/pattern/replacement/flags as in Perl */
struct name_subst;
/* Compile one or several; dies if one is wrong, and names the option `what'. */
struct name_subst *subst_parse(const char *what, const char *s);
/* Apply all substitutions to a name. */
const char *subst_apply(const struct name_subst *, const char *name);

/* objects.c: functions that differ only in the object */
struct record_pair;
void objects_see(const struct record_pair *);	/* each pair of the tables */
void objects_tell(void);			/* then, if there are any */

/* limit.c */
void limit_add(const char *arg);		/* an option's argument */
void limits_parse(void);			/* once the events are known */
/* A limit of functions of which new has none: it would hold for nothing. */
bool limit_is_idle(const struct event_limit *);
/*
 * The status: 1 if the profiles differ, or with --limit, if a limit is
 * exceeded; 2 if a limit is idle, which a message says.
 */
int judge(void);

/* load.c */
enum name_kind { MOD_FILE, MOD_FUNC, MOD_OBJ, NMOD };
extern struct name_subst *mods[NMOD];	/* --mod-...; NULL: not given */
/* Read a side's file; the columns are those of the other one, if it is read. */
void load(struct diff_side *, struct diff_side *other);
/* The number of an event, once a file was read, or -1. */
int find_event(const char *s, size_t len);
/* new - old; dies if that is beyond 64 bits. */
int64_t minus(int64_t new, int64_t old);

/* join.c: walk two sorted tables side by side, in canonical order */
struct join {
	struct costsum *old, *new;
	struct cost at_old, at_new;	/* the next record of each */
	bool more_old, more_new, begun;
};

struct record_pair {
	struct cost c;			/* kind, function and position */
	bool has_old, has_new;
	const int64_t *old, *new;	/* counts; zeros: no such record */
	int64_t count_old[2], count_new[2];
};
/* The next pair; false: the end.  A struct join of zeros and tables begins. */
bool join_next(struct join *, struct record_pair *);
/* Does a count differ, or how often a call or jump was made? */
bool pair_differs(const struct record_pair *);
/* -p: write all differences as a profile. */
void write_profile(void);

/* rows.c: what changed, by function, line or call */
struct change_row {
	uint32_t fn;		/* by function, by call */
	uint32_t file, line;	/* by line */
	uint32_t callee;	/* by call */
	int64_t old[];		/* nev counts and the number of calls; */
};				/* then the new ones: see row_new */

/* The new counts of a row, and its number of calls. */
const int64_t *row_new(const struct change_row *);
/* Ready to walk the sums by function: records of kind COST_SELF. */
struct join join_functions(void);
/*
 * Rows that changed by the threshold, sorted; *nchanged: all that changed; *ev:
 * the event that the threshold is of.
 */
struct change_row **rows(enum diff_by, size_t *nrow, size_t *nchanged,
    size_t *ev);

/* report.c, json.c: write the report, to out */
void write_text(void);
void write_json(void);

#endif
