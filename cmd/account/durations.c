/*
 * durations - all durations of a function's calls, in little memory
 *
 * Percentiles are exact, so every duration is kept, but as pairs of value and
 * number: they are few where ticks are instructions or calls are short.  New
 * ones gather unsorted until they are as many as the pairs, then they are
 * sorted and merged in, so that a call costs O(log n).
 */
#include "account.h"

#include <stdlib.h>

#include "util.h"

enum { FRESH = 1024 };

static int
by_value(const void *va, const void *vb)
{
	const uint64_t *a = va, *b = vb;

	return *a < *b ? -1 : *a > *b;
}

static void
merge(struct fn *f)
{
	struct run *r = NULL;
	size_t cap = 0, n = 0, i = 0, j = 0;
	struct run next;

	if (f->nfresh > 0)
		qsort(f->fresh, f->nfresh, sizeof *f->fresh, by_value);
	r = xgrow(r, &cap, f->nrun + f->nfresh, sizeof *r);
	while (i < f->nrun || j < f->nfresh) {
		if (j == f->nfresh ||
		    (i < f->nrun && f->run[i].ticks <= f->fresh[j]))
			next = f->run[i++];
		else
			next = (struct run){ f->fresh[j++], 1 };
		if (n > 0 && r[n - 1].ticks == next.ticks)
			r[n - 1].n += next.n;
		else
			r[n++] = next;
	}
	free(f->run);
	f->run = r;
	f->nrun = n;
	f->nfresh = 0;
}

void
fn_add(struct fn *f, uint64_t ticks)
{
	if (f->nfresh >= FRESH && f->nfresh >= f->nrun)
		merge(f);
	if (f->nfresh == f->capfresh)
		f->fresh = xgrow(f->fresh, &f->capfresh, f->nfresh + 1,
		    sizeof *f->fresh);
	f->fresh[f->nfresh++] = ticks;
	f->count++;
	f->sum += ticks;
}

/* the duration that k others come before, k less than count */
static uint64_t
nth(const struct fn *f, uint64_t k)
{
	size_t i;

	for (i = 0; k >= f->run[i].n; i++)
		k -= f->run[i].n;
	return f->run[i].ticks;
}

/* n * percent / 100, rounded down, without overflow */
static uint64_t
part(uint64_t n, unsigned percent)
{
	return (uint64_t)((unsigned __int128)n * percent / 100);
}

void
fn_row(struct fn *f, struct row *r)
{
	merge(f);
	*r = (struct row){
		.fn = f, .count = f->count, .sum = f->sum,
		.min = f->run[0].ticks, .max = f->run[f->nrun - 1].ticks,
		.median = nth(f, f->count / 2), .p90 = nth(f, part(f->count, 90)),
		.p99 = nth(f, part(f->count, 99))
	};
}
