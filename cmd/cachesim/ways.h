/*
 * ways.h - the ways of a set of D1, four at once
 *
 * For what has AVX2: a set has a multiple of four places, of which l1.c and
 * short.c look for that of a line, and for the one used longest ago.
 */
#ifndef WAYS_H
#define WAYS_H

#ifdef __x86_64__

#include <immintrin.h>

#include "cachesim.h"

#define WAYS_FN __attribute__((target("avx2,bmi"), always_inline)) static inline

/* Those that are x in all four places, a bit each. */
WAYS_FN unsigned
ways_equal(const uint64_t *v, __m256i x)
{
	unsigned m = 0;

	for (unsigned w = 0; w < l1.dways; w += 4)
		m |= (unsigned)_mm256_movemask_pd((__m256d)_mm256_cmpeq_epi64(x,
		    _mm256_loadu_si256((const __m256i *)&v[w]))) << w;
	return m;
}

/* The lesser of each two: stamps are less than 2^63. */
WAYS_FN __m256i
ways_lesser(__m256i x, __m256i y)
{
	return _mm256_blendv_epi8(x, y, _mm256_cmpgt_epi64(x, y));
}

/* The way that was used longest ago, by its stamp; the first of equal ones. */
WAYS_FN unsigned
ways_oldest(const uint64_t *stamp)
{
	__m256i x = _mm256_loadu_si256((const __m256i *)stamp);

	for (unsigned w = 4; w < l1.dways; w += 4)
		x = ways_lesser(x,
		    _mm256_loadu_si256((const __m256i *)&stamp[w]));
	x = ways_lesser(x, _mm256_permute4x64_epi64(x, 0x4e));
	x = ways_lesser(x, _mm256_shuffle_epi32(x, 0x4e));
	return (unsigned)__builtin_ctz(ways_equal(stamp, x));
}

#endif

#endif
