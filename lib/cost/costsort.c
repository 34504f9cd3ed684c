/*
 * costsort - a stable sort that is quick where there is order already
 */
#include <stdlib.h>
#include <string.h>

#include "costsum.h"
#include "mem.h"

static void
merge_runs(uint32_t *to, const uint32_t *a, const uint32_t *aend,
    const uint32_t *bend, const struct cost_by *by)
{
	const uint32_t *b = aend;

	while (a < aend && b < bend)
		*to++ = by->cmp(by, *a, *b) <= 0 ? *a++ : *b++;
	memcpy(to, a, (aend - a) * sizeof *a);
	memcpy(to + (aend - a), b, (bend - b) * sizeof *b);
}

/* Natural runs are found and merged in pairs. */
void
costsort(uint32_t *v, size_t n, const struct cost_by *by)
{
	size_t *run = NULL, cap = 0, nrun = 0, i, k;
	uint32_t *from = v, *to, *spare, *swap;

	for (i = 0; i < n; i++)
		if (i == 0 || by->cmp(by, v[i - 1], v[i]) > 0) {
			run = xgrow(run, &cap, nrun + 2, sizeof *run);
			run[nrun++] = i;
		}
	if (nrun < 2) {
		free(run);
		return;
	}
	run[nrun] = n;
	to = spare = xmalloc(n * sizeof *v);
	while (nrun > 1) {
		for (i = k = 0; i < nrun; i += 2, k++) {
			if (i + 1 < nrun)
				merge_runs(to + run[i], from + run[i],
				    from + run[i + 1], from + run[i + 2], by);
			else
				memcpy(to + run[i], from + run[i],
				    (n - run[i]) * sizeof *v);
			run[k] = run[i];
		}
		run[k] = n;
		nrun = k;
		swap = from, from = to, to = swap;
	}
	if (from != v)
		memcpy(v, from, n * sizeof *v);
	free(spare);
	free(run);
}
