/*
 * num.h - numbers: decimal ones are read strictly and written with commas;
 * hexadecimal ones are written as streams have them
 */
#ifndef NUM_H
#define NUM_H

#include <stdint.h>

/*
 * Read decimal digits with k, M, G or no suffix, and move *s behind them. k is
 * what "k" multiplies by: COUNTS for counts, BYTES for sizes. -1: no number.
 */
#define COUNTS	1000
#define BYTES	1024
int num_next(const char **s, unsigned k, uint64_t *out);
/* The same for a number that is all of s. */
int num_parse(const char *s, unsigned k, uint64_t *out);
/* Write v as 1,234,567; returns where in buf it begins. */
const char *num_commas(char buf[32], int64_t v);
char *num_commas_u64(char buf[32], uint64_t v);

/* Write v in hexadecimal, without 0x: 16 bytes at most; returns their end. */
static inline char *
num_hex(char *p, uint64_t v)
{
	int shift = (63 - __builtin_clzll(v | 1)) & ~3;

	for (; shift >= 0; shift -= 4)
		*p++ = "0123456789abcdef"[v >> shift & 15];
	return p;
}

#endif
