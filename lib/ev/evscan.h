/*
 * evscan.h - execution lines to words
 *
 * Inside lib only. The text of many lines becomes one array of words, each
 * an id, a difference or a number of repeats, and one of pieces: where in
 * the words a line begins, or the number behind a `*`.
 *
 *	735.+4-4\n2*3d\n	words	735 0 4 -4 | 2 | 3d
 *				pieces	0, 4, 5 EVSCAN_STAR, 6 (the end)
 */
#ifndef EVSCAN_H
#define EVSCAN_H

#include <stddef.h>
#include <stdint.h>

#define EVSCAN_TEXT	8192		/* most bytes at once */
#define EVSCAN_BEFORE	16		/* readable bytes before the text */
#define EVSCAN_BEHIND	64		/* readable bytes behind it */
#define EVSCAN_STAR	0x80000000U

struct evscan {
	unsigned nword;
	unsigned npiece;
	int malformed;		/* somewhere: take the lines one by one */
	uint32_t piece[EVSCAN_TEXT + 4];
	uint64_t word[EVSCAN_TEXT + 4];
	/* of separators; pos[0] is the one before the text, at -1 */
	uint16_t pos[EVSCAN_TEXT + 64];
	char separator[EVSCAN_TEXT + 64];	/* AVX-512: those at pos[1] ... */
};

typedef size_t evscan_fn(struct evscan *, const char *text, size_t n);

/*
 * Scan n bytes, whole lines with a newline before them. Stops before a line
 * that is not an execution. Returns the number of bytes taken.
 */
evscan_fn evscan_text;
/*
 * evsimd.c: the ways to do that, 0 (plain) to 3; NULL: not here. And the best.
 * All give the same, but for a malformed text, where the plain one stops.
 */
#define EVSCAN_WAYS	4
evscan_fn evscan_plain;
evscan_fn *evscan_way(unsigned way);
evscan_fn *evscan_best(void);
/* The same for one line, without SIMD: 0 taken, -1 malformed at *at. */
int evscan_line(struct evscan *, const char *line, size_t n, const char **at);

#endif
