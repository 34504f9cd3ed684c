/*
 * num.h - decimal numbers, read strictly and written with commas
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

#endif
