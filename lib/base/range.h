/*
 * range.h - nested address ranges; finds the innermost one at an address
 *
 * For functions, compilation units and inlined calls. Add all ranges, call
 * range_done once, then find. Where ranges overlap, the one that starts later
 * wins; of two that start together, the shorter; of equals, the larger `what`.
 */
#ifndef RANGE_H
#define RANGE_H

#include <stddef.h>
#include <stdint.h>

struct addr_range {
	uint64_t start, end;	/* [start, end) */
	uint32_t what;		/* the caller's number for it */
};

struct ranges {
	struct addr_range *v;
	size_t n, cap;
	size_t last;		/* the first that ends behind the address that
				 * range_find was asked for last; or n */
};

/* Add a range; an empty one is ignored. */
void range_add(struct ranges *, uint64_t start, uint64_t end, uint32_t what);
/* Make them disjoint and sorted. */
void range_done(struct ranges *);
/* The part of a range that holds addr, or NULL. */
const struct addr_range *range_find(struct ranges *, uint64_t addr);
/* Where the first range behind addr starts; UINT64_MAX: there is none. */
uint64_t range_next(const struct ranges *, uint64_t addr);

#endif
