/*
 * caches.h - the caches of this machine, as its processor tells them
 *
 * By Intel's leaf 4 of cpuid, or AMD's 0x8000001d and older ones.  libc's
 * sysconf has neither the ways of all caches on AMD's processors, nor the size
 * of the last level, of which it takes the sum over the package.
 */
#ifndef CACHES_H
#define CACHES_H

#include <stdbool.h>
#include <stdint.h>

struct cpuid {
	uint32_t a, b, c, d;
};

/* What a processor answers: the real one's answers, or another's. */
typedef struct cpuid caches_ask(uint32_t leaf, uint32_t sub);
/* The real one, as `ask'. What is no x86-64 processor answers zeros. */
struct cpuid caches_cpuid(uint32_t leaf, uint32_t sub);

/* Of which maker, as cpuid spells it? */
bool caches_maker_is(const char *maker, caches_ask *);

#define CACHES_MOST 16u

struct cache_found {
	unsigned level;		/* from 1 */
	enum { HOLDS_DATA = 1, HOLDS_CODE = 2, HOLDS_BOTH = 3 } holds;
	uint64_t size, ways, sets, line;	/* size and line in bytes */
	bool inclusive;		/* of the levels below */
};

/*
 * Find at most CACHES_MOST; how many.  0: the processor does not say.  All are
 * by the newer leaf, or, if that leaves out the first level or the last and the
 * older ones do not, all by these.
 *
 * Some virtual machines, and AMD's processors before Zen, have only AMD's older
 * leaves.  Their last level is the package's, not the part that a core uses;
 * where they leave out ways we say 16.
 */
unsigned caches_find(struct cache_found *, caches_ask *);

#define CACHES_FULL 255u	/* each line may lie in each way */
/* The ways that a code of AMD's leaf 0x80000006 stands for; 0: none, or more
   than it can tell. */
unsigned caches_amd_ways(uint32_t code);

/* Those of the first level, and the last that holds both; NULL: none is. */
struct caches_ends {
	const struct cache_found *i1, *d1, *ll;
};
/* Choose them among n caches. */
struct caches_ends caches_ends(const struct cache_found *, unsigned n);

#endif
