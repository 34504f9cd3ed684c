/*
 * sum.h - sums of costs, which end the program if they leave 64 bits
 */
#ifndef SUM_H
#define SUM_H

#include <stdint.h>

/* Die: a sum lies beyond 2^63. */
_Noreturn void sum_beyond(void);

static inline void
sum_add(int64_t *to, int64_t n)
{
	if (__builtin_add_overflow(*to, n, to))
		sum_beyond();
}

/* The same of a count, up to `most', which is less than 2^63. */
static inline void
sum_count(uint64_t *to, uint64_t n, uint64_t most)
{
	if (n > most - *to)
		sum_beyond();
	*to += n;
}

/* How often something happens that n times brings `each' of. */
static inline int64_t
sum_times(int64_t each, int64_t n)
{
	int64_t product;

	if (__builtin_mul_overflow(each, n, &product))
		sum_beyond();
	return product;
}

#endif
