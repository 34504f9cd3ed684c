/*
 * evwids.h - what the writer of event text knows of ids; inside lib only
 *
 * The registering thread writes a cold entry, and then stores its state, a
 * letter, with release order.  From then on the entry is only read, except that
 * the writing thread adds WRITTEN to the state.
 */
#ifndef EVWIDS_H
#define EVWIDS_H

#include <stdatomic.h>

#include "evwrec.h"

/* A state: what the id names, and whether its definition is in the text. */
enum { UNKNOWN, BLOCK = 'B', PACKED = 'b', PREFIX = 'P', REF = 'Q',
    SCATTERED = 'q', LEAVE = 'Z', SPECIAL = 'D', WRITTEN = 0x80 };

/* What the first execution needs, 8 bytes: there is one for each id. */
struct evw_cold {
	uint32_t at : 24;	/* PREFIX, REF: the block; else: cold_more */
	uint32_t group : 8;	/* REF: the first of its groups, which are
				 * neighbours; or NO_GROUP: it stays */
	union {
		uint16_t n;	/* instructions; LEAVE: 'i' or 'd' */
		struct {	/* REF */
			uint8_t insn, k;
		};
	};
	uint8_t ngroups;
	_Atomic uint8_t state;
};
_Static_assert(sizeof(struct evw_cold) == 8, "one for each id");
#define NO_GROUP 255u

/* And what others than PREFIX and REF need, who are fewer. */
union evw_named {
	const char *items;	/* BLOCK */
	const uint8_t *packed;	/* PACKED: see evpack.h */
	struct evw_ref *ref;	/* SCATTERED */
	void (*special)(struct evw *, const uint32_t *);
};
struct evw_more {
	union evw_named named[EVW_MORE];
	uint32_t id[EVW_MORE];	/* SCATTERED: the block; PACKED: its note */
};

/* What the id of an entry names, without WRITTEN. */
static inline int
cold_letter(const struct evw_cold *c)
{
	return c->state & ~WRITTEN;
}

/* What an entry that needs more than its own bytes has elsewhere. */
static inline union evw_named *
cold_more(const struct evw *w, const struct evw_cold *c)
{
	return &w->rest[c->at / EVW_MORE]->named[c->at % EVW_MORE];
}

/* SCATTERED: the block that it is of; PACKED: its note. */
static inline uint32_t *
cold_id(const struct evw *w, const struct evw_cold *c)
{
	return &w->rest[c->at / EVW_MORE]->id[c->at % EVW_MORE];
}

/* The block that a prefix or a reference belongs to; else 0. */
static inline uint32_t
cold_block(const struct evw *w, const struct evw_cold *c)
{
	int as = cold_letter(c);

	return as == PREFIX || as == REF ? c->at :
	    as == SCATTERED ? *cold_id(w, c) : 0;
}

/*
 * Write the line that defines an id, its block's first, unless that is done.
 * There must be a table of ids, and the id within it.  -1: undefined.
 */
int evwids_define(struct evw *, uint32_t id);

#endif
