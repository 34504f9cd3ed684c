/*
 * account.h - what the parts of account share
 */
#ifndef ACCOUNT_H
#define ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct out;

/* a duration, and the number of calls that took it */
struct duration_count {
	uint64_t	ticks;
	uint64_t	n;
};

/* the durations of one function's calls */
struct fn_calls {
	uint32_t	id;
	char		*name;		/* or NULL */
	uint64_t	count;
	unsigned __int128 sum;		/* ticks */
	uint64_t	*fresh;		/* durations not merged yet */
	size_t		nfresh, capfresh;
	struct duration_count *merged;	/* sorted by duration */
	size_t		nmerged;
};

/* the figures of a function that a report shows; in ticks */
struct fn_figures {
	const struct fn_calls	*fn;
	uint64_t	count;
	uint64_t	min, median, p90, p99, max;
	unsigned __int128 sum;
};

/* durations.c */
/* A call of the function took so many ticks. */
void	fn_add(struct fn_calls *, uint64_t ticks);
/* Set the figures of all calls so far, of which there must be one. */
void	fn_row(struct fn_calls *, struct fn_figures *);

/* print.c */
enum report_format { TEXT, CSV, JSON };
enum column { FUNCID, COUNT, MIN, MED, P90, P99, MAX, SUM, FUNC, NCOLUMN };

struct fn_report {
	struct fn_figures *row;
	size_t		n;
	uint64_t	hz;		/* 0: durations are ticks */
	uint64_t	no_entry, no_exit, open;	/* incomplete calls */
};

extern const char *const column_names[NCOLUMN];
/* Sort the rows by a column; equal ones by their function's id. */
void	report_sort(struct fn_report *, enum column, bool ascending);
void	report_print(const struct fn_report *, enum report_format,
	    struct out *);

#endif
