/*
 * units.h - what an execution of an id does: its fetches and references
 *
 * units.c makes units of definitions, run.c runs them.
 */
#ifndef UNITS_H
#define UNITS_H

#include "memsim.h"

/* A fetch or a reference. */
struct op {
	uint64_t at;		/* what is added to the value */
	uint64_t mask;		/* of an entry's bits that must be as wanted */
	uint16_t value;		/* by group; ngroups: 0 */
	uint16_t insn;
	uint16_t size;
	uint8_t side;
	uint8_t kind;
};

/* What an id does, in order. */
struct unit {
	uint64_t count;
	uint64_t *value;
	struct op *op;
	struct op *data;	/* those of data alone */
	uint64_t *line;		/* of code, each once for fetches in a row */
	uint32_t nop, ndata, nline;
	uint32_t block;		/* its number */
	uint64_t page;		/* page_4k of code; 0: of several, these: */
	uint64_t *pages;
	uint32_t npages;
	const struct ev_insn *insn;	/* of its block */
	bool walk;		/* has references that are repeated or bare */
};

/* The first cache of a side; where there is none, one that never hits. */
struct quick {
	uint64_t *entry;
	uint16_t *hint;
	uint64_t nhint;
	struct cache *c;	/* NULL: none */
	struct node *n;
	uint64_t *touched;
	bool stride;		/* its uses train a prefetcher */
	unsigned shift;
	uint64_t size;
	struct cache *tlb;	/* the first one, if all pages have 4k */
};

extern struct unit *unit;	/* by id */
extern struct quick quick[MOST_CORES][2];	/* by core and side */
extern bool units_code_first;	/* code may be looked up before data */

/* Begin, with the machine as it is described. */
void units_init(struct simrun *);
/* How many of its code lines are fetched from in the first n things it does. */
uint32_t units_lines(const struct op *, uint32_t n);
/* Core number was made: find its first caches. */
void units_core(unsigned number);
/* A definition was read: make the unit of its id. */
void units_define(const struct ev_def *, uint32_t id);
/* How often an id was executed. */
uint64_t units_count(uint32_t id);

#endif
