/*
 * costread.h - inside the reader of costs: costread.c, costline.c
 */
#ifndef COSTREAD_H
#define COSTREAD_H

#include "cost.h"
#include "khash.h"

struct in;

KHASH_INIT(id, uint64_t, uint64_t, 1, kh_int64_hash_func, kh_int64_hash_equal)

/* Objects, files and functions: (1) may stand for one of each. */
enum cost_space { OB, FL, FN, NSPACE };

enum pend { PEND_NONE, PEND_CALL, PEND_JUMP };

struct costread {
	struct in *in;
	char *line;
	size_t len;
	bool held;		/* process this line again */
	bool any;		/* the header has begun */
	bool told;		/* COST_PART was returned for this part */
	bool magic;		/* "# callgrind format" */
	bool callgrind;		/* a key that only Callgrind's have */
	bool totals, summary;	/* seen in this part */
	bool finished;		/* the part was found to be whole */
	bool in_cmd;		/* lines that are no header's belong to cmd: */
	char *cmd;		/* the command with such lines */
	size_t cmdlen, capcmd;
	bool own_cmd;		/* this part has cmd: */
	bool more;		/* another part follows this one */
	bool another;		/* another file begins behind this part */
	unsigned part;		/* from 1 */
	char **first;		/* the events of the first part: copies */
	size_t nfirst;
	size_t column[COST_EVMAX];	/* this part's events among those, or
					   COST_EVMAX: not there */
	khash_t(id) *ids[NSPACE];	/* id -> part that defines it << 32
					   | name */

	uint32_t ob, fl, file;	/* of the last ob=, fl=, and fl= fi= fe= */
	uint32_t fn;
	bool fn_known;
	struct cost_pos pos;	/* of the last cost line */

	/* of the call or jump being read */
	uint32_t cob, cfi, cfn, jfi, jfn;
	uint32_t ctx, cctx, jctx;	/* of the last name, of cfn=, of jfn= */
	bool has_cob, has_cfi, has_cfn, has_jfi, has_jfn;
	enum pend pend;
	struct cost next;

	int64_t n[COST_EVMAX];
	int64_t sum[COST_EVMAX];	/* of this part's self costs */
	int64_t total[COST_EVMAX];	/* its end mark */
	int64_t given[COST_EVMAX];	/* its summary: line */
};

/* Does it separate the words of a line? */
static inline bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The first character from p on that does not. */
static inline const char *
blanks(const char *p)
{
	while (is_blank(*p))
		p++;
	return p;
}

/* costread.c: at most 40 bytes of a line, for messages */
const char *cost_shown(const char *);

/*
 * costline.c: read the line in r->d. What is malformed is an error, which dies.
 * cost_line takes one that begins with a position, and gives its record;
 * cost_word one of the form word=..., whose names hold for lines to come.
 */
enum cost_kind cost_line(struct costr *r, struct cost *);
void cost_word(struct costr *r);
/* Read the counts up to the end of the line, and return that. */
const char *cost_counts(struct costr *, const char *, int64_t *n);

#endif
