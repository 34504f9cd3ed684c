/*
 * count - distances, counted in all and by instruction
 *
 * By instruction, uses are counted by the largest of the sizes that they miss.
 * Most uses hit even the smallest, and are not counted there at all: how often
 * an instruction was executed is known.
 */
#include "reuse.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "prog.h"

struct history *history;
struct row *rows;
struct sim_outcome *found;
unsigned nfound;
uint64_t count_least;
uint64_t count_weight;

static struct history **all;
static size_t nall, capall, caprow, capfound;
static bool telling;		/* -t */
static uint64_t least[MOST_SIZES + 4];	/* lines, of each size */
static uint8_t first[65];	/* by bits of a distance: where to look */

struct history *
history_of(unsigned thread)
{
	unsigned n = opt.threads ? thread : 0;

	all = xgrow0(all, &capall, n + (size_t)1, sizeof *all);
	for (; nall <= n; nall++) {
		all[nall] = xcalloc(1, sizeof **all);
		lru_init(&all[nall]->lru);
		work_init(&all[nall]->work);
	}
	return all[n];
}

unsigned
histories(void)
{
	return (unsigned)nall;
}

static unsigned
bits(uint64_t n)
{
	return n == 0 ? 0 : 64 - (unsigned)__builtin_clzll(n);
}

void
count_init(bool through)
{
	unsigned k = 0;

	telling = through;
	for (unsigned i = 0; i < nsize; i++) {
		double lines = (double)in_lines(sizes[i].bytes) * opt.sample;

		least[i] = (uint64_t)lines;
		least[i] += (double)least[i] < lines;
	}
	count_least = nsize == 0 ? LRU_NONE : least[0];
	/* the size at which to begin for distances of so many bits */
	for (unsigned b = 0; b <= 64; b++) {
		while (k + 1 < nsize && bits(least[k + 1]) < b)
			k++;
		first[b] = (uint8_t)k;
	}
}

void
count_rows(uint64_t n)
{
	if (n > UINT32_MAX)
		die("too many different instructions");
	rows = xgrow0(rows, &caprow, n, sizeof *rows);
}

/* The largest size that misses a distance of at least count_least. */
static unsigned
size_of(uint64_t distance)
{
	unsigned k;

	if (distance == LRU_NONE)
		return nsize;
	k = first[bits(distance)];
	while (k + 1 < nsize && least[k + 1] <= distance)
		k++;
	return k;
}

/* Note for an O line that all sizes up to `last' were missed n times. */
static void
tell(uint64_t insn, unsigned last, uint64_t n)
{
	for (unsigned k = 0; k <= last && k < nsize; k++) {
		found = xgrow(found, &capfound, nfound + (size_t)1,
		    sizeof *found);
		found[nfound++] = (struct sim_outcome){ (uint32_t)insn, k, n };
	}
}

static void
count_far(struct distances *d, uint64_t distance, uint64_t n)
{
	distance -= LRU_FRONT;
	if (distance >= d->capfar)
		d->far = xgrow0(d->far, &d->capfar, distance + 1,
		    sizeof *d->far);
	d->far[distance] += n;
}

void
count_use(uint64_t insn, uint64_t distance, uint64_t n, unsigned group)
{
	struct distances *d = &history->distances[group];
	struct row *r;
	unsigned k;

	if (distance < LRU_FRONT)
		d->near[distance] += n;
	else if (distance == LRU_NONE)
		d->cold += n;
	else
		count_far(d, distance, n);
	if (distance < count_least || nsize == 0)
		return;
	r = &rows[insn];
	if (r->n == NULL)
		r->n = xcalloc(nsize + 1, sizeof *r->n);
	k = size_of(distance);
	r->n[k] += n;
	if (telling)
		tell(insn, k, n / count_weight);
}

uint64_t
count_most(const struct distances *d)
{
	uint64_t n = LRU_FRONT + d->capfar;

	while (n > 0 && count_of(d, n - 1) == 0)
		n--;
	return n == 0 ? 0 : n - 1;
}

uint64_t
count_of(const struct distances *d, uint64_t distance)
{
	if (distance < LRU_FRONT)
		return d->near[distance];
	distance -= LRU_FRONT;
	return distance < d->capfar ? d->far[distance] : 0;
}
