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

unsigned
caches_find(struct cache_found *found, caches_ask *ask)
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
