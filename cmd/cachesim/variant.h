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
/* Begin with empty caches; --cacheuse tells what it finds to model_use. */
void model_init(const struct geometry g[NCACHE], const struct model_use *);

struct way {
	uint64_t tag;		/* 1 + line; 0: empty */
	uint32_t at;
	bool dirty;
};

extern struct model {
	struct way *way;	/* by set */
	uint64_t mask, assoc;	/* mask: sets - 1 */
	unsigned shift;		/* log2 of the line's size */
	uint32_t first;		/* at of its first way */
} model[NCACHE];

/* --cacheuse, by at. */
extern struct line_use {
	uint64_t count;		/* accesses; 0: the line is in no use */
	uint32_t parts;		/* 32nds that were accessed */
	uint32_t below;		/* LL's line: its at */
} *model_use;

/* The way of a line if that is the one of its set used last; else NULL. */
static inline struct way *
model_latest(const struct model *m, uint64_t addr, uint64_t size)
{
	uint64_t line = addr >> m->shift;
	struct way *w = m->way + (line & m->mask) * m->assoc;

	return w->tag == line + 1 && (addr + size - 1) >> m->shift == line ?
	    w : NULL;
}

/* The 32nds of a line of 2^shift bytes from a byte to another. */
static inline uint32_t
model_parts(unsigned shift, uint64_t from, uint64_t to)
{
	uint64_t a = from * 32 >> shift;
	uint64_t b = (((to + 1) * 32 - 1) >> shift);

	return UINT32_MAX << a & UINT32_MAX >> (31 - b);
}

/* What an access found, beside nothing. */
enum { L1_MISSED = 1, LL_MISSED = 2, LL_WROTE_BACK = 4 };
/* A fetch or a data access, and behind it one to LL. */
unsigned model_access(int cache, uint64_t addr, uint64_t size, bool write);
/* The same with --cacheuse: as many uses of its lines. */
unsigned model_uses(int cache, uint64_t addr, uint64_t size, uint64_t times);
/* --cacheuse: all lines leave. */
void model_flush(void);

#endif
