/*
 * rand - the random numbers: L'Ecuyer's combined generator, shuffled
 *
 * P. L'Ecuyer, "Efficient and portable combined random number generators",
 * CACM 31(6), 1988: the difference of two multiplicative generators.  Schrage's
 * split m = a q + r keeps products in range.  The table of Bays and Durham
 * (TOMS 2(1), 1976) shuffles the output: the last output chooses an entry, from
 * which stream two is subtracted, and stream one replaces it.
 *
 * SimPoint rounds each number to single precision, so a number has 24 bits.
 * Its whole numbers are such a number times 2^31: half of them are multiples of
 * 128, a quarter of 64 only, and so on.  Modulo a number of intervals with many
 * factors 2, they prefer some intervals ("samp" bias).
 */
#include "cluster.h"

struct lcg {
	int64_t m, a, q, r;	/* modulus, multiplier, m / a, m % a */
};

static const struct lcg one = { 2147483563, 40014, 53668, 12211 };
static const struct lcg two = { 2147483399, 40692, 52774, 3791 };

/* so many different outputs choose one entry of the table */
#define SLOT (1 + (2147483563 - 1) / 32)

static int64_t
step(const struct lcg *g, int64_t s)
{
	s = g->a * (s % g->q) - g->r * (s / g->q);
	return s < 0 ? s + g->m : s;
}

/*
 * Seed 1 leaves SimPoint's table empty, and it crashes; here it is a seed like
 * any other, and equals seed 0.
 */
void
rnd_seed(struct rnd *r, int32_t seed)
{
	int64_t s = seed < 0 ? -(int64_t)seed : seed;
	int i;

	if (s == 0)
		s = 1;
	r->a = r->b = s;
	for (i = 39; i >= 0; i--) {
		r->a = step(&one, r->a);
		if (i < 32)
			r->tab[i] = r->a;
	}
	r->last = r->tab[0];
}

/* 1 .. 2147483562 */
static int64_t
draw(struct rnd *r)
{
	int64_t slot;

	r->a = step(&one, r->a);
	r->b = step(&two, r->b);
	slot = r->last / SLOT;
	r->last = r->tab[slot] - r->b;
	r->tab[slot] = r->a;
	if (r->last < 1)
		r->last += one.m - 1;
	return r->last;
}

float
rnd_uniform(struct rnd *r)
{
	const float most = (float)(1.0 - 1.2e-7);
	float u = (float)((double)draw(r) * (1.0 / 2147483563.0));

	return u > most ? most : u;
}

size_t
rnd_index(struct rnd *r, size_t n)
{
	return (size_t)(int32_t)(rnd_uniform(r) * 2147483648.0f) % n;
}

double
rnd_real(struct rnd *r)
{
	const double m = 2147483562.0;
	double high = (double)(draw(r) - 1);

	return (high + (double)(draw(r) - 1) / m) / m;
}

size_t
rnd_fair(struct rnd *r, size_t n)
{
	size_t i = (size_t)(rnd_real(r) * (double)n);

	return i < n ? i : n - 1;	/* the product may round up */
}
