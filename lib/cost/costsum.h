/*
 * costsum.h - inside the table of costs: costsum.c, costkey.c, costrun.c,
 * costsort.c, costorder.c
 */
#ifndef COSTSUM_H
#define COSTSUM_H

#include "cost.h"

enum { SELF, CALL, JUMP, NLIST, KEYMAX = 7 };

/* Unpacked entries: keys of nkey words and counts of ncnt words each. */
struct cost_rows {
	size_t n, capkey, capcnt;
	bool sorted;		/* by key, and no two alike */
	uint64_t *key;
	int64_t *cnt;
};

/* Packed entries, in order of their keys, no two alike. */
struct cost_run {
	struct cost_run *next;	/* an older one */
	size_t len;		/* bytes of data */
	uint32_t n;		/* entries */
	unsigned char data[];
};

struct fnsum {
	uint32_t fn;
	struct cost_run *run[NLIST];
};

struct cost_layout {			/* words in an entry of a list */
	size_t nkey, ncnt;
};

struct costsum {
	struct costnames *nm;
	unsigned positions;
	size_t nev;
	struct cost_layout lay[NLIST];
	uint32_t *where;	/* by function: 1 + its place in f, or 0 */
	size_t capwhere;
	struct fnsum *f;
	size_t nf, capf;
	struct fnsum *cur;	/* the function whose new entries are in rows */
	uint32_t own;		/* its file */
	struct cost_rows rows[NLIST];
	struct cost_rows spare[2];	/* room for run_merge */
	bool summed;		/* total is known */
	int64_t total[COST_EVMAX];

	/* costorder.c: after costsum_sort */
	uint32_t *order;	/* places in f, in canonical order */
	size_t at;		/* of the function that is given out */
	bool loaded;		/* its entries are in rows */
	bool last;		/* costsum_last */
	uint32_t *perm[NLIST];	/* their canonical order; NULL: unchanged */
	size_t next[NLIST];
};

/*
 * costkey.c: a record's key, of as many words as the layout of its list says:
 * file, positions and callee. costkey_get sets these members; the caller has
 * set the kind.
 */
void costkey_put(const struct costsum *, const struct cost *, uint64_t *key);
void costkey_get(const struct costsum *, const uint64_t *key, struct cost *);
/* Compare keys of n words: -1, 0, 1. */
static inline int
costkey_cmp(const uint64_t *a, const uint64_t *b, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}
/* to += n, of len counts; dies where a sum is beyond 64 bits. */
void costsum_add(const struct costsum *, int64_t *to, const int64_t *n,
    size_t len);

/* costsum.c: pack the rows of the current function into its runs */
void costsum_commit(struct costsum *);

/* costrun.c: make room for n entries */
void rows_room(struct cost_rows *, size_t n, const struct cost_layout *);
/* Pack rows that are in order, and destroy them. */
struct cost_run *run_pack(struct cost_rows *, const struct cost_layout *);
/* Unpack a run in place of what the rows had. */
void run_unpack(struct cost_rows *, const struct cost_run *,
    const struct cost_layout *);
/* Merge a run with rows that are in order; add up entries that are in both. */
struct cost_run *run_merge(struct costsum *, const struct cost_run *,
    const struct cost_rows *, const struct cost_layout *);

/* costsort.c: a stable sort that is quick where there is order already */
struct cost_by {
	int (*cmp)(const struct cost_by *, uint32_t, uint32_t);
	const struct costsum *t;
	const struct cost_rows *rows;
	int kind;
	const void *arg;
};
/* Sort v[n]; cmp gets two of its numbers: <0 0 >0. */
void costsort(uint32_t *v, size_t n, const struct cost_by *);

#endif
