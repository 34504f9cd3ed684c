/*
 * variant.h - between variant.c, which runs, and model.c, which has the caches
 */
#ifndef VARIANT_H
#define VARIANT_H

#include <stdbool.h>
#include <stdint.h>

#include "cachesim.h"

/* Events; the first ones are those of cachesim.h. */
enum { ILDMR = DLMW + 1, DLDMR, DLDMW, ACCOST1, SPLOSS1, ACCOST2, SPLOSS2,
    NEVENT };

/* ---- model.c ---- */

/* What --cacheuse calls: see variant.c. */
struct model_use {
	/* The access that is running loads a line into way `at', of all. */
	void (*loaded)(uint32_t at);
	/* The line in way `at' leaves LL, or else a first-level cache. */
	void (*lost)(uint32_t at, bool last_level, uint64_t accost,
	    uint64_t sploss);
};
void model_init(const struct geometry g[NCACHE], const struct model_use *);
/* What an access found, beside nothing. */
enum { L1_MISSED = 1, LL_MISSED = 2, LL_WROTE_BACK = 4 };
/*
 * A fetch or a data access, and behind it one to LL. With --cacheuse a fetch
 * counts as `times' uses of its lines.
 */
unsigned model_fetch(uint64_t addr, uint64_t size, uint64_t times);
/* The last line fetched; log2 of its size. */
extern struct fetched {
	uint64_t line;
	unsigned shift;
} model_fetched;

/* Is this in the line fetched last? Then it is a hit, for no data is in I1. */
static inline bool
model_again(uint64_t addr, uint64_t size)
{
	uint64_t line = model_fetched.line;

	return addr >> model_fetched.shift == line &&
	    (addr + size - 1) >> model_fetched.shift == line;
}

unsigned model_data(uint64_t addr, uint64_t size, bool write);
/* --cacheuse: all lines leave. */
void model_flush(void);

#endif
