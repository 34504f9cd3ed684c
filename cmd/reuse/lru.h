/*
 * lru.h - the order in which lines were last used
 */
#ifndef LRU_H
#define LRU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LRU_FRONT	16	/* lines kept in a list, the newest first */
#define LRU_NONE	UINT64_MAX	/* no line; as a distance: never used */
#define LRU_MOST	(UINT32_C(1) << 25)	/* lines */

/* What is known of a line. */
struct lru_line {
	uint64_t key;		/* 1 + its number; 0: the place is free */
	uint32_t time;		/* when it left the front; 0: it is there */
	uint32_t stamp;		/* the caller's, 0 at first */
};

struct lru {
	uint64_t front[LRU_FRONT];
	uint32_t nfront;
	uint32_t nline;		/* different lines, in the front or not */
	bool full;		/* there were more than LRU_MOST: ignored */
	/* lines by number: a hash table */
	struct lru_line *line;
	unsigned shift;		/* 64 less log2 of its places */
	/* times at which a line left the front and was not used since */
	uint64_t *bit;		/* by time */
	uint32_t *sum;		/* of chunks of bits: a Fenwick tree, from 1 */
	uint32_t ntime;		/* places in bit, a power of two */
	uint32_t now;		/* the next time */
	uint32_t nbehind;	/* bits that are 1 */
};

/* Begin: no line has been used. */
void lru_init(struct lru *);
/*
 * Use a line that is not the newest. Returns how many different lines were used
 * since its last use, or LRU_NONE. If it was not in the front, *found is its
 * entry until the next call, else NULL.
 */
uint64_t lru_search(struct lru *, uint64_t line, struct lru_line **found);
/* Empty the front, so that each line's next use is told by found. */
void lru_flush(struct lru *);
/* How many entries there are, used or not (key 0). */
size_t lru_places(const struct lru *);

#endif
