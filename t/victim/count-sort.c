/*
 * count-sort - a small deterministic program with a libc, for exact counts:
 * sorting, strings, formatted output
 * build: -static
 */
#include "victim.h"

static int
compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int
main(void)
{
	char *v[40], line[64];
	uint32_t seed = 1;

	for (size_t i = 0; i < NELEM(v); i++) {
		seed = seed * 1103515245 + 12345;
		snprintf(line, sizeof line, "%08x-%zu", seed, i);
		v[i] = strdup(line);
	}
	qsort(v, NELEM(v), sizeof v[0], compare);
	for (size_t i = 1; i < NELEM(v); i++)
		CHECK(strcmp(v[i - 1], v[i]) < 0);
	return victim_ok();
}
