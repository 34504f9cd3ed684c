/*
 * evscan.h - turn execution lines into words
 *
 * Inside lib only. The text of many lines becomes an array of words, each an
 * id, a difference or a number of repeats, and an array of pieces: the index
 * of each word that begins a line, or, with EVSCAN_STAR, that follows a `*`.
 *
 *	735.+4-4\n2*3d\n	words	735 0 4 -4 | 2 | 3d
 *				pieces	0, 4, 5 EVSCAN_STAR, 6 (the end)
 */
#ifndef EVSCAN_H
#define EVSCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ev.h"

#define EVSCAN_TEXT	8192		/* the most bytes in one call */
#define EVSCAN_BEFORE	16		/* readable bytes before the text */
#define EVSCAN_BEHIND	64		/* readable bytes behind it */
#define EVSCAN_STAR	0x80000000U
#define EVSCAN_OUT	(EVSCAN_TEXT / 6 + 1)	/* "O 1 X\n" */

struct evscan {
	unsigned nword;
	unsigned npiece;
	bool malformed;		/* somewhere: scan the lines one by one */
	unsigned checked;	/* pieces that are records, by evcheck() */
	uint32_t star;		/* the word that a `*` next would belong to */
	uint64_t nline, nexec;	/* lines and executions of these */
	/* the executions among O lines */
	char copy[EVSCAN_BEFORE + EVSCAN_TEXT + EVSCAN_BEHIND];
	unsigned nout;		/* O lines among them: see evout.h */
	struct ev_out out[EVSCAN_OUT];
	uint32_t piece[EVSCAN_TEXT + 4];
	uint64_t word[EVSCAN_TEXT + 4];
};

typedef size_t evscan_fn(struct evscan *, const char *text, size_t n);

/*
 * Scan n bytes, whole lines with a newline before them. Stops before a line
 * that is not an execution. Returns the number of bytes scanned.
 */
evscan_fn evscan_text;
/*
 * evsimd.c: the implementations, 0 (plain) to 3, or NULL if this processor
 * cannot run it; evscan_text takes the last that it can. All give the same
 * result, except for malformed text, where the plain one stops.
 */
#define EVSCAN_WAYS	4
evscan_fn evscan_plain;
evscan_fn *evscan_way(unsigned way);
/* Scan one line without SIMD: 0, or -1 for a line malformed at *at. */
int evscan_line(struct evscan *, const char *line, size_t n, const char **at);

/* ---- evcheck.c ---- */

/* No piece is a record yet. */
void evcheck_begin(struct evscan *);
/*
 * Make records of the other pieces: replace each line's id by the head of its
 * records, in heads by id. -1: not of all, since a line does not fit its id, or
 * has one that is not defined yet.
 */
int evcheck(struct evscan *, const uint32_t *heads);

#endif
