/*
 * misses - counts of misses beyond 8 bits
 *
 * Accesses that all miss LL, counted from 2^32 - 10 on, and others
 * that are counted beside them.
 */
#include <inttypes.h>
#include <stdio.h>

#include "../../cmd/cachesim/cachesim.h"
#include "prog.h"

int
main(int argc, char **argv)
{
	const struct geometry g = { 1 << 16, 4, 64 };
	static uint8_t near, far;

	(void)argc;
	prog_init(argv[0]);
	ll_init(&g);
	misses_add(&near, UINT32_MAX - 9);
	for (uint64_t i = 0; i < 100; i++) {
		ll_access(i << 16, 8, &near);
		ll_access((i << 16) + 64, 8, &far);
		/* in LL by now: no miss */
		ll_access(i << 16, 8, &near);
	}
	ll_drain();
	printf("%" PRIu64 " %" PRIu64 "\n", misses_all(&near),
	    misses_all(&far));
	misses_add(&near, (uint64_t)3 << 32);
	for (uint64_t i = 0; i < 200000; i++)
		ll_access(i << 16, 8, &far);
	ll_drain();
	printf("%" PRIu64 " %" PRIu64 "\n", misses_all(&near),
	    misses_all(&far));
	return 0;
}
