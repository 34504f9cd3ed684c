/*
 * curve - misses of LRU caches of each size
 *
 * A cache of s lines misses what has a distance of s or more. Of a sample with
 * share r distances are r times as long, and uses r times as many.
 *
 * The error comes from chance in which lines were sampled. They are dealt into
 * GROUPS by other bits of their hash; the groups are independent, each
 * estimates the misses, and how far these estimates lie apart gives the
 * standard error of their sum.
 */
#include "reuse.h"

#include <math.h>
#include <stdlib.h>

#include "mem.h"

static unsigned
groups(void)
{
	return opt.sample < 1 ? GROUPS : 1;
}

uint64_t
scaled(uint64_t distance)
{
	return opt.sample < 1 ? (uint64_t)((double)distance / opt.sample) :
	    distance;
}

void
curve_make(struct curve *c, const struct history *h)
{
	c->h = h;
	c->most = 0;
	for (unsigned g = 0; g < groups(); g++)
		if (count_most(&h->distances[g]) > c->most)
			c->most = count_most(&h->distances[g]);
	for (unsigned g = 0; g < groups(); g++) {
		const struct distances *d = &h->distances[g];
		uint64_t sum = d->cold;

		c->misses[g] = xmalloc((c->most + 2) * sizeof **c->misses);
		c->misses[g][c->most + 1] = sum;
		for (uint64_t k = c->most + 1; k-- > 0; )
			c->misses[g][k] = sum += count_of(d, k);
	}
}

void
curve_free(struct curve *c)
{
	for (unsigned g = 0; g < groups(); g++)
		free(c->misses[g]);
}

uint64_t
curve_first(void)
{
	return (uint64_t)ceil(1 / opt.sample);
}

struct point
curve_at(const struct curve *c, uint64_t lines)
{
	struct point p = { .lines = lines };
	double least = ceil((double)lines * opt.sample), sum = 0, apart = 0;
	uint64_t k = least > (double)c->most ? c->most + 1 : (uint64_t)least;

	for (unsigned g = 0; g < groups(); g++)
		sum += (double)c->misses[g][k];
	p.misses = sum / opt.sample;
	if (opt.sample >= 1)
		return p;
	for (unsigned g = 0; g < GROUPS; g++)
		apart += pow((double)c->misses[g][k] - sum / GROUPS, 2);
	p.error = sqrt(apart * GROUPS / (GROUPS - 1) * (1 - opt.sample)) /
	    opt.sample;
	return p;
}
