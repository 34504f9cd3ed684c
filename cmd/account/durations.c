/*
 * durations - keep all durations of a function's calls in little memory
 *
 * Percentiles are exact, so every duration is kept, but as pairs of duration
 * and number of calls: there are few pairs where ticks are instructions or
 * calls are short.  New durations gather unsorted until there are as many as
 * pairs; then they are sorted and merged in.  So a call costs O(log n).
 */
#include "account.h"

#include <stdlib.h>

#include "mem.h"

enum { FRESH = 1024 };

static int
by_value(const void *va, const void *vb)
{
	const uint64_t *a = va, *b = vb;

	return *a < *b ? -1 : *a > *b;
}

static void
merge(struct fn_calls *f)
{
	struct duration_count *r = NULL;	/* the merged list */
	size_t cap = 0, n = 0, i = 0, j = 0;
	struct duration_count next;

	if (f->nfresh > 0)
		qsort(f->fresh, f->nfresh, sizeof *f->fresh, by_value);
	r = xgrow(r, &cap, f->nmerged + f->nfresh, sizeof *r);
	while (i < f->nmerged || j < f->nfresh) {
		if (j == f->nfresh ||
		    (i < f->nmerged && f->merged[i].ticks <= f->fresh[j]))
			next = f->merged[i++];
		else
			next = (struct duration_count){ f->fresh[j++], 1 };
		if (n > 0 && r[n - 1].ticks == next.ticks)
			r[n - 1].n += next.n;
		else
			r[n++] = next;
	}
	free(f->merged);
	f->merged = r;
	f->nmerged = n;
	f->nfresh = 0;
}

void
fn_add(struct fn_calls *f, uint64_t ticks)
{
	if (f->nfresh >= FRESH && f->nfresh >= f->nmerged)
		merge(f);
	if (f->nfresh == f->capfresh)
		f->fresh = xgrow(f->fresh, &f->capfresh, f->nfresh + 1,
		    sizeof *f->fresh);
	f->fresh[f->nfresh++] = ticks;
	f->count++;
	f->sum += ticks;
}

/* The duration with index k of all in order. */
static uint64_t
nth(const struct fn_calls *f, uint64_t k)
{
	size_t i;

	for (i = 0; k >= f->merged[i].n; i++)
		k -= f->merged[i].n;
	return f->merged[i].ticks;
}

/* n * percent / 100, rounded down, without overflow */
static uint64_t
part(uint64_t n, unsigned percent)
{
	return (uint64_t)((unsigned __int128)n * percent / 100);
}

void
fn_row(struct fn_calls *f, struct fn_figures *r)
{
	merge(f);
	*r = (struct fn_figures){
		.fn = f, .count = f->count, .sum = f->sum,
		.min = f->merged[0].ticks, .max =
		    f->merged[f->nmerged - 1].ticks,
		.median = nth(f, f->count / 2),
		    .p90 = nth(f, part(f->count, 90)),
		.p99 = nth(f, part(f->count, 99))
	};
}
