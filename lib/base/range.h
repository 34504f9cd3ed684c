/*
 * range.h - nested address ranges, asked for the innermost
 *
 * Functions, compilation units and inlined calls alike: add all, call
 * range_done once, then find. Where ranges overlap, the one that starts later
 * wins; of two that start together, the shorter; of equals, the larger what.
 */
#ifndef RANGE_H
#define RANGE_H

#include <stddef.h>
#include <stdint.h>

struct range {
	uint64_t start, end;	/* [start, end) */
	uint32_t what;		/* the owner's */
};

struct ranges {
	struct range *v;
	size_t n, cap;
	size_t last;		/* what range_find gave last */
};

/* Empty ranges are passed over. */
void range_add(struct ranges *, uint64_t start, uint64_t end, uint32_t what);
/* Make them disjoint and sorted. */
void range_done(struct ranges *);
/* The part of a range that holds addr, or NULL. */
const struct range *range_find(struct ranges *, uint64_t addr);

#endif
