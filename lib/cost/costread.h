/*
 * costread.h - inside the reader of costs: costread.c, costline.c
 */
#ifndef COSTREAD_H
#define COSTREAD_H

#include <htslib/khash.h>

#include "cost.h"

struct in;

KHASH_INIT(id, uint64_t, uint64_t, 1, kh_int64_hash_func, kh_int64_hash_equal)

enum space { OB, FL, FN, NSPACE };

enum pend { PEND_NONE, PEND_CALL, PEND_JUMP };

struct costread {
	struct in *in;
	char *line;
	size_t len;
	bool held;		/* look at this line again */
	bool any;		/* the head has begun */
	bool told;		/* COST_PART was given for this part */
	bool magic;		/* "# callgrind format" */
	bool callgrind;		/* a key that only Callgrind's have */
	bool totals, summary;	/* seen in this part */
	bool in_cmd;		/* lines that are no header's belong to cmd: */
	char *cmd;		/* the command with such lines */
	size_t cmdlen, cmdcap;
	bool own_cmd;		/* this part has cmd: */
	bool more;		/* another part follows this one */
	bool another;		/* another file begins behind this part */
	unsigned part;		/* from 1 */
	khash_t(id) *ids[NSPACE];	/* id -> name | part it was given in << 32 */

	uint32_t ob, fl, file;	/* as last said by ob=, fl=, and fl= fi= fe= */
	uint32_t fn;
	bool fn_known;
	struct cost_pos pos;	/* of the last cost line */

	/* of the call or jump that is being told */
	uint32_t cob, cfi, cfn, jfi, jfn;
	uint32_t ctx, cctx, jctx;	/* of the last name, of cfn=, of jfn= */
	bool has_cob, has_cfi, has_cfn, has_jfi, has_jfn;
	enum pend pend;
	struct cost next;

	int64_t n[COST_EVMAX], sum[COST_EVMAX], total[COST_EVMAX], given[COST_EVMAX];
};

static inline bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static inline const char *
blanks(const char *p)
{
	while (is_blank(*p))
		p++;
	return p;
}

/* costread.c: at most 40 bytes of a line, for messages */
const char *cost_shown(const char *);

/* costline.c */
enum cost_kind cost_line(struct costr *, struct cost *);	/* begins with a position */
void cost_word(struct costr *);		/* word=... */
/* as many counts as there are; returns where the line ends */
const char *cost_counts(struct costr *, const char *, int64_t *n);

#endif
