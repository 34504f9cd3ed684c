/*
 * diff.h - what the parts of diff share
 */
#ifndef DIFF_H
#define DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cost.h"

enum { BY_FUNCTION = 1, BY_LINE = 2, BY_CALL = 4 };

/* state.c */
struct limit {
	const char *text;	/* as it was given */
	size_t ev;
	bool percent;
	uint64_t num, den;	/* change > num/den [percent of old] is beyond */
	bool beyond;
};

struct side {
	const char *name, *cmd, *creator;
	int64_t total[COST_EVMAX];
	struct costsum *t;
};

struct diff {
	struct costnames *nm;
	struct side old, new;
	bool cachegrind, differ, strict;
	struct costset settings;
	unsigned positions;
	size_t nev;
	const char *ev[COST_EVMAX];
	size_t show[COST_EVMAX], nshow, sort[COST_EVMAX], nsort;
	double threshold;	/* % of the old total */
	int by;
	struct limit *limit;
	size_t nlimit;
};
extern struct diff d;
extern struct out *out;

const char *str(uint32_t name);

/* subst.c: s/pattern/replacement/flags as Perl has it */
struct subst;
struct subst *subst_parse(const char *what, const char *s);
/* name in its changed form; the same if nothing matches */
const char *subst_apply(const struct subst *, const char *name);

/* load.c */
enum { MOD_FILE, MOD_FUNC, MOD_OBJ, NMOD };
extern struct subst *mods[NMOD];
void load(struct side *, struct side *other);
int64_t minus(int64_t new, int64_t old);

/* join.c: two sorted tables side by side, in canonical order */
struct join {
	struct costsum *old, *new;
	struct cost at_old, at_new;	/* that come next */
	bool more_old, more_new, begun;
};

struct pair {
	struct cost c;			/* either one's kind and place */
	bool has_old, has_new;
	const int64_t *old, *new;	/* counts; zeros where it has none */
	int64_t count_old[2], count_new[2];
};
bool join_next(struct join *, struct pair *);
bool pair_differs(const struct pair *);
void write_profile(void);

/* rows.c: what changed, by function, line or call */
struct row {
	uint32_t fn;		/* function; of a line only where it stands first */
	uint32_t file, line;	/* by line */
	uint32_t callee;	/* by call */
	int64_t old[];		/* nev counts and, by call, how often; */
};				/* then the new ones: see row_new */

const int64_t *row_new(const struct row *);
/* sorted rows that changed and are above the threshold; how many changed */
struct row **rows(int by, size_t *nrow, size_t *nchanged);

/* report.c, json.c */
void write_text(void);
void write_json(void);

#endif
