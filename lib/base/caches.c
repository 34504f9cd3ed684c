/*
 * caches - what cpuid tells about caches
 */
#include "caches.h"

#include <string.h>

#define LEAF_INTEL 4u
#define LEAF_AMD 0x8000001du
#define TOPOLOGY_EXTENSIONS 22	/* bit of 0x80000001's ecx */

struct cpuid
caches_cpuid(uint32_t leaf, uint32_t sub)
{
	struct cpuid r = { 0, 0, 0, 0 };

#ifdef __x86_64__
	__asm__("cpuid" : "=a"(r.a), "=b"(r.b), "=c"(r.c), "=d"(r.d)
	    : "a"(leaf), "c"(sub));
#else
	(void)leaf;
	(void)sub;
#endif
	return r;
}

bool
caches_maker_is(const char *maker, caches_ask *ask)
{
	struct cpuid r = ask(0, 0);
	char name[12];

	memcpy(name, &r.b, 4);
	memcpy(name + 4, &r.d, 4);
	memcpy(name + 8, &r.c, 4);
	return strlen(maker) == sizeof name &&
	    memcmp(name, maker, sizeof name) == 0;
}

/* The leaf that tells the caches, or 0: there is none. */
static uint32_t
leaf_of(caches_ask *ask)
{
	if (caches_maker_is("GenuineIntel", ask))
		return ask(0, 0).a >= LEAF_INTEL ? LEAF_INTEL : 0;
	return ask(0x80000000, 0).a >= LEAF_AMD &&
	    ask(0x80000001, 0).c >> TOPOLOGY_EXTENSIONS & 1 ? LEAF_AMD : 0;
}

/* By the leaf that has them one by one. */
static unsigned
find_each(struct cache_found *found, caches_ask *ask)
{
	uint32_t leaf = leaf_of(ask), n;
	struct cache_found *f;
	struct cpuid r;

	for (n = 0; leaf != 0 && n < CACHES_MOST; n++) {
		r = ask(leaf, n);
		if ((r.a & 31) == 0 || (r.a & 31) > HOLDS_BOTH)
			break;
		f = &found[n];
		f->level = r.a >> 5 & 7;
		f->holds = r.a & 31;
		f->ways = (r.b >> 22) + 1;
		f->line = (r.b & 0xfff) + 1;
		f->sets = ((uint64_t)r.c + 1) * ((r.b >> 12 & 0x3ff) + 1);
		f->size = f->ways * f->sets * f->line;
		f->inclusive = r.d & 2;
	}
	return n;
}

/* Of some lines and ways, if there are any; how many caches that is. */
static unsigned
older(struct cache_found *f, unsigned level, unsigned holds, uint64_t size,
    unsigned ways, uint64_t line)
{
	if (size == 0 || line == 0)
		return 0;
	if (ways == CACHES_FULL)
		ways = size / line;
	if (ways == 0 || size < ways * line)
		return 0;
	*f = (struct cache_found){ level, holds, size, ways,
	    size / (ways * line), line, false };
	return 1;
}

unsigned
caches_amd_ways(uint32_t code)
{
	static const uint8_t ways[16] = { 0, 1, 2, 3, 4, 6, 8, 0, 16, 0, 32,
	    48, 64, 96, 128, CACHES_FULL };

	return ways[code & 15];
}

/* Of a cache; where this leaf does not tell them we say 16. */
static unsigned
cache_ways(uint32_t code)
{
	return (code & 15) == 9 ? 16 : caches_amd_ways(code);
}

/* AMD's older leaves: one for the first level, one for the others. */
static unsigned
find_older(struct cache_found *found, caches_ask *ask)
{
	const uint64_t kb = 1024;
	struct cpuid r;
	unsigned n;

	if (ask(0x80000000, 0).a < 0x80000006)
		return 0;
	r = ask(0x80000005, 0);
	n = older(found, 1, HOLDS_DATA, (r.c >> 24) * kb, r.c >> 16 & 255,
	    r.c & 255);
	n += older(found + n, 1, HOLDS_CODE, (r.d >> 24) * kb, r.d >> 16 & 255,
	    r.d & 255);
	r = ask(0x80000006, 0);
	n += older(found + n, 2, HOLDS_BOTH, (r.c >> 16) * kb,
	    cache_ways(r.c >> 12), r.c & 255);
	n += older(found + n, 3, HOLDS_BOTH, (r.d >> 18) * 512 * kb,
	    cache_ways(r.d >> 12), r.d & 255);
	return n;
}

struct caches_ends
caches_ends(const struct cache_found *all, unsigned n)
{
	struct caches_ends e = { NULL, NULL, NULL };
	const struct cache_found *f;

	for (f = all; f < all + n; f++)
		if (f->level == 1 && f->holds == HOLDS_DATA)
			e.d1 = f;
		else if (f->level == 1 && f->holds == HOLDS_CODE)
			e.i1 = f;
		else if (f->level > 1 && f->holds == HOLDS_BOTH &&
		    (e.ll == NULL || f->level > e.ll->level))
			e.ll = f;
	return e;
}

/* Are those of the first level among them, and one behind these? */
static bool
has_ends(const struct cache_found *all, unsigned n)
{
	struct caches_ends e = caches_ends(all, n);

	return e.i1 != NULL && e.d1 != NULL && e.ll != NULL;
}

unsigned
caches_find(struct cache_found *found, caches_ask *ask)
{
	struct cache_found old[CACHES_MOST];
	unsigned n = find_each(found, ask), nold;

	if (has_ends(found, n) || caches_maker_is("GenuineIntel", ask))
		return n;
	nold = find_older(old, ask);
	if (n != 0 && !has_ends(old, nold))
		return n;
	memcpy(found, old, nold * sizeof *old);
	return nold;
}
