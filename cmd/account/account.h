/* account.h - inside of account */
#ifndef ACCOUNT_H
#define ACCOUNT_H

#include <stddef.h>
#include <stdint.h>

struct out;

/* a duration, and how many calls took it */
struct run {
	uint64_t	ticks;
	uint64_t	n;
};

/* what the calls of one function took */
struct fn {
	uint32_t	id;
	char		*name;		/* or NULL */
	uint64_t	count;
	unsigned __int128 sum;		/* ticks */
	uint64_t	*fresh;		/* durations not yet in run */
	size_t		nfresh, capfresh;
	struct run	*run;		/* by duration */
	size_t		nrun, caprun;
};

/* what is shown of it; in ticks */
struct row {
	const struct fn	*fn;
	uint64_t	count;
	uint64_t	min, median, p90, p99, max;
	unsigned __int128 sum;
};

/* durations.c */
void	fn_add(struct fn *, uint64_t ticks);
void	fn_row(struct fn *, struct row *);

/* print.c */
enum format { TEXT, CSV, JSON };
enum column { FUNCID, COUNT, MIN, MED, P90, P99, MAX, SUM, FUNC, NCOLUMN };

struct report {
	struct row	*row;
	size_t		n;
	uint64_t	hz;		/* 0: durations are ticks */
	uint64_t	no_entry, no_exit, open;
};

extern const char *const column_names[NCOLUMN];
void	report_sort(struct report *, enum column, int ascending);
void	report_print(const struct report *, enum format, struct out *);

#endif
