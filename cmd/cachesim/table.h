/*
 * table.h - kind cache: the first-level caches behind trace's table
 *
 * table.c says what a set is. A line that enters trace's table at a place of a
 * full set, as nearly all do once a program has run for a while, takes
 * table_swap or table_swap8, which do not branch on what they find.
 */
#ifndef CACHESIM_TABLE_H
#define CACHESIM_TABLE_H

#ifdef __x86_64__
#include <immintrin.h>
#endif
#include <stdbool.h>
#include <stdint.h>

#include "cachesim.h"
#include "ev.h"

struct table_set {
	uint32_t inside;	/* lines in trace's table */
	uint32_t n;		/* others */
};

/* A first-level cache, and the lines of it that are in trace's table. */
struct l1_table {
	uint64_t *line;		/* in trace's, by set and place; TABLE_FREE:
				   none */
	uint64_t mask;		/* sets of trace's, less 1 */
	uint64_t ways;		/* of trace's */
	uint64_t free;		/* places of trace's */
	uint64_t nsets, assoc;	/* of the cache */
	bool same;		/* sets and ways are trace's */
	struct table_set *set;
	uint64_t *other;	/* others by set, from stride * set on */
	uint64_t stride;	/* a multiple of 8, at least assoc */
};
extern struct l1_table l1_table[NCACHE];
#define TABLE_FREE UINT64_MAX

/* What is in that place of the line's set in trace's table of I1 or D1. */
static inline uint64_t *
table_place(int cache, uint64_t line, unsigned place)
{
	const struct l1_table *t = &l1_table[cache];

	return &t->line[(line & t->mask) * EV_PLACES + place];
}

/*
 * A line enters trace's table in the place of one that leaves: are both lines
 * of one set, and is that set full? It is full again afterwards.
 */
static inline bool
table_is_full(const struct l1_table *t, uint64_t line, uint64_t leaves)
{
	const struct table_set *s = &t->set[line & (t->nsets - 1)];

	return leaves != TABLE_FREE && s->inside + (uint64_t)s->n == t->assoc &&
	    ((line ^ leaves) & (t->nsets - 1)) == 0;
}

/*
 * A line leaves trace's table and becomes the first of the n others at a. The
 * line that enters leaves the others, if it is one of them: 0. Else it was
 * missed, and the last of the others is replaced: 1.
 */
static inline unsigned
table_swap(uint64_t *a, uint64_t n, uint64_t leaves, uint64_t enters)
{
	uint64_t missed = ~(uint64_t)0, was;

	for (uint64_t i = 0; i < n; i++) {
		was = a[i];
		a[i] = was ^ ((was ^ leaves) & missed);
		leaves = was;
		missed = was == enters ? 0 : missed;
	}
	return missed != 0;
}

#ifdef __x86_64__
/* The same for up to TABLE_EIGHT others at once; a is aligned to 64 bytes. */
#define TABLE_EIGHT 8
__attribute__((target("avx512f"), always_inline))
static inline unsigned
table_swap8(uint64_t *a, uint64_t n, uint64_t leaves, uint64_t enters)
{
	const __m512i before = _mm512_setr_epi64(0, 0, 1, 2, 3, 4, 5, 6);
	unsigned all = (1U << n) - 1, where;
	__m512i x = _mm512_load_si512(a);

	where = _mm512_mask_cmpeq_epi64_mask((__mmask8)all, x,
	    _mm512_set1_epi64((long long)enters));
	/* those before it, or all, move one place on */
	x = _mm512_mask_permutexvar_epi64(x,
	    (__mmask8)((where ^ (where - 1)) & all), before, x);
	x = _mm512_mask_set1_epi64(x, (__mmask8)(all & 1), (long long)leaves);
	_mm512_store_si512(a, x);
	return where == 0;
}
#endif

#endif
