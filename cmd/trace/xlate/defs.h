/*
 * defs.h - what def.c, defrefs.c and defkept.c share of definitions
 */
#ifndef DEFS_H
#define DEFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evw.h"
#include "xlate/xlate.h"

/*
 * There are several for each block that ever runs: small, and never freed.  An
 * entry of id[] is an id and its number of instructions, in one word.
 */
struct def {
	app_pc pc;
	uint32_t *id;		/* entries; that of the whole block is first;
				 * behind the room for them, their counters */
	uint32_t epoch;		/* when it was made */
	uint32_t number;
	uint16_t npacked;	/* bytes of packed */
	uint8_t nid, capid;
	uint8_t n, ngroups;
	bool passed : 1;	/* see def_pass */
	bool apart : 1;		/* its code is not straight */
	bool path : 1;		/* it goes along a path */
	bool unlisted : 1;	/* not all ids of references are in ref */
	bool more : 1;		/* a struct def_more is before it */
	bool limbo : 1;		/* its owner is in limbo */
	uint8_t packed[];	/* its items */
};

/* What few definitions have, but in kind cache or with --contexts. */
struct def_more {
	uint32_t *ref;		/* kind cache: ids of single references, as
				 * defrefs.c lists them */
	const uint8_t (*does)[NDO];	/* by number of first instructions, or
					 * NULL */
	uint32_t known;		/* names of code that were known then, + 1 */
	uint32_t owner;
	uint16_t nref, capref;
};

extern const struct def_more def_no_more;	/* what all others have */

/* What a definition has beside the rest; def_no_more if that is nothing. */
static inline const struct def_more *
def_more_of(const struct def *d)
{
	return d->more ? (const struct def_more *)(const void *)d - 1 :
	    &def_no_more;
}

/* The id in an entry of an id. */
static inline uint32_t
def_entry_id(uint32_t entry)
{
	return entry & (NIDS - 1);
}

/* How many instructions the id stands for. */
static inline unsigned
def_entry_length(uint32_t entry)
{
	return entry >> ID_BITS;
}

/* Where the counter of the id at index k is kept, if the kind has counters. */
static inline uint32_t *
def_counter_at(const struct def *d, unsigned k)
{
	return &d->id[d->capid + k];
}

/* ---- def.c ---- */

/* Of a definition that is to be made, with one id, that of the whole. */
struct def_parts {
	app_pc pc;
	const struct def_more *more;	/* or NULL */
	unsigned n, ngroups;	/* of instructions, and of groups */
	const uint8_t *packed;	/* the items */
	size_t npacked;
	unsigned exits;		/* ids that there is to be room for */
	uint32_t id;		/* 0: a new one */
	uint32_t number;	/* NO_NUMBER: a new one */
};
#define NO_NUMBER ~0u
struct def *def_new(const struct def_parts *);
/* It is the latest definition of its key. */
void def_enter(const struct def *);
/* By number; NULL: there is none, or it is not made yet. */
struct def *def_numbered(uint32_t);
/*
 * n numbers, from the result on, of definitions that are to be made; entered:
 * all of them at once.
 */
uint32_t def_make_room(uint32_t n, bool entered);
/* The index of the id of the first n instructions; d->nid: there is none. */
unsigned def_index(const struct def *, unsigned n);
/* Make an id of the first n instructions: this one, or a new one if it is 0. */
uint32_t def_add_id(struct def *, unsigned n, uint32_t id);
/*
 * The id of the first n instructions, which use so many groups; made if there
 * is none yet.  0 if n is 0.
 */
uint32_t def_id_for(struct def *, unsigned n, unsigned used);
/* The counter of their id, made if there is none. */
uint32_t def_counter_for(struct def *, unsigned n);

/* ---- defrefs.c ---- */

/*
 * Under which number the id of an instruction's reference is listed: its own.
 * What repeated ones have together, with their count, is listed apart.
 */
#define TOGETHER 3u
unsigned def_listed_as(const struct evw_ref *);
/* The id that is listed of an instruction, from 0, under this number, or 0. */
uint32_t def_listed_ref(const struct def *, unsigned i, unsigned k);
/* By the index in the list. */
uint32_t def_listed_id(const struct def *, unsigned index);
/* List one; expected: about how many there will be, looked at for the first. */
void def_list_ref(struct def *, unsigned expected, uint32_t id, unsigned i,
    unsigned k);

#endif
