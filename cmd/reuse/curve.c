/*
 * curve - misses of LRU caches of each size
 *
 * A cache of s lines misses what has a distance of s or more. Of a sample with
 * share r distances are r times as long, and uses r times as many.
 *
 * The error comes from chance in which lines were sampled, in two ways. Which
 * lines' uses count: lines are dealt into GROUPS by other bits of their hash;
 * the groups are independent, each estimates the misses, and how far these
 * estimates lie apart gives the standard error of their sum. And how many lines
 * of a distance: all groups measure distances by the same lines, and so cannot
 * tell. Of d lines chance samples d r, with a deviation of sqrt(d r (1 - r)),
 * which moves the curve to the left or right: where it is steep, much.
 *
 *	r = 0.1, 1000 lines: 100 +- 9.5 of the sample, 905 to 1095 lines
 *
 * The two are independent, and their squares add up.
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
	c->all = xcalloc(c->most + 2, sizeof *c->all);
	for (unsigned g = 0; g < groups(); g++) {
		const struct distances *d = &h->distances[g];
		uint64_t sum = d->cold;

		c->misses[g] = xmalloc((c->most + 2) * sizeof **c->misses);
		c->misses[g][c->most + 1] = sum;
		for (uint64_t k = c->most + 1; k-- > 0; )
			c->misses[g][k] = sum += count_of(d, k);
		for (uint64_t k = 0; k <= c->most + 1; k++)
			c->all[k] += c->misses[g][k];
	}
}

void
curve_free(struct curve *c)
{
	for (unsigned g = 0; g < groups(); g++)
		free(c->misses[g]);
	free(c->all);
}

uint64_t
curve_first(void)
{
	return (uint64_t)ceil(1 / opt.sample);
}

/* The index in misses[] of so many sampled lines. */
static uint64_t
place(const struct curve *c, double lines)
{
	return lines > (double)c->most ? c->most + 1 : (uint64_t)ceil(lines);
}

/* The variance of the misses by that of which lines' uses count. */
static double
by_uses(const struct curve *c, uint64_t k)
{
	double mean = (double)c->all[k] / GROUPS, apart = 0;

	for (unsigned g = 0; g < GROUPS; g++)
		apart += pow((double)c->misses[g][k] - mean, 2);
	return apart * GROUPS / (GROUPS - 1) * (1 - opt.sample);
}

/*
 * The variance of the misses by that of how many lines of a distance are
 * sampled. The root of that number deviates by half of sqrt(1 - r), however
 * large it is; z are the middles of equally likely parts of such deviations.
 * Distance 0 has all that stays in the smallest caches, so it is left out.
 */
static double
by_distance(const struct curve *c, double lines)
{
	static const double z[] = { 0.0784, 0.2372, 0.4023, 0.5791, 0.7764,
		1.0100, 1.3180, 1.8627 };
	const unsigned n = sizeof z / sizeof *z;
	double middle = (double)c->all[place(c, lines)], apart = 0;

	lines = fmin(lines, (double)c->most + 1);
	for (unsigned i = 0; i < 2 * n; i++) {
		double root = sqrt(lines) + (i < n ? z[i] : -z[i - n]) *
		    sqrt(1 - opt.sample) / 2;
		uint64_t k = place(c, root > 0 ? root * root : 0);

		apart += pow((double)c->all[k == 0 ? 1 : k] - middle, 2);
	}
	return apart / (2 * n);
}

struct point
curve_at(const struct curve *c, uint64_t lines)
{
	struct point p = { .lines = lines };
	double sampled = (double)lines * opt.sample;
	uint64_t k = place(c, sampled);

	p.misses = (double)c->all[k] / opt.sample;
	if (opt.sample < 1)
		p.error = sqrt(by_uses(c, k) + by_distance(c, sampled)) /
		    opt.sample;
	return p;
}
