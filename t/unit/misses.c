/*
 * misses - counts of misses beyond 32 bits
 *
 * Accesses that all miss LL, counted from shortly below 2^32 on, and others
 * that are counted beside them.
 */
#include <inttypes.h>
#include <stdio.h>

#include "../../cmd/cachesim/cachesim.h"
#include "util.h"

int
main(int argc, char **argv)
{
	const struct geometry g = { 1 << 16, 4, 64 };
	static uint32_t near = UINT32_MAX - 9, far;

	(void)argc;
	prog_init(argv[0]);
	ll_init(&g);
	for (uint64_t i = 0; i < 100; i++) {
		ll_access(i << 16, 8, &near);
		ll_access((i << 16) + 64, 8, &far);
		/* in LL by now: no miss */
		ll_access(i << 16, 8, &near);
	}
	ll_drain();
	printf("%" PRIu64 " %" PRIu64 "\n", misses_all(&near),
	    misses_all(&far));
	for (int i = 0; i < 3; i++)
		misses_carry(&near);
	printf("%" PRIu64 " %" PRIu64 "\n", misses_all(&near),
	    misses_all(&far));
	return 0;
}
