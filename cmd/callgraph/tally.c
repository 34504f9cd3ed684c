/*
 * tally - sums by two numbers
 *
 * For what a stream with contexts tells: the first number is the thread's, or
 * 0 for all, the second names a call, a block or an instruction.
 */
#include <stdlib.h>
#include <string.h>

#include "callgraph.h"
#include "hash.h"
#include "khash.h"
#include "mem.h"

struct key {
	uint64_t a, b;
};

static inline khint_t
key_hash(struct key k)
{
	uint64_t h = (k.a ^ k.b << 24 ^ k.b >> 40) * HASH_MULTIPLIER;

	return (khint_t)((h ^ h >> 29) * HASH_MULTIPLIER >> 32);
}

static inline bool
key_equal(struct key x, struct key y)
{
	return x.a == y.a && x.b == y.b;
}

KHASH_INIT(sum, struct key, size_t, 1, key_hash, key_equal)

#define RECENT	4096	/* a power of two */

struct tally {
	struct tally_entry *recent;	/* by hash: no key is 0, 0 */
	khash_t(sum) *index;
	struct tally_entry *entry;
	int64_t *sums;
	size_t n, capentry, capsums;
	unsigned ncol;
};

struct tally *
tally_new(unsigned ncol)
{
	struct tally *t = xcalloc(1, sizeof *t);

	t->index = kh_init(sum);
	t->recent = xcalloc(RECENT, sizeof *t->recent);
	t->ncol = ncol;
	return t;
}

/* The number of a sum, which is made if there is none. */
static size_t
number(struct tally *t, uint64_t a, uint64_t b)
{
	int new;
	khint_t k = kh_put(sum, t->index, ((struct key){ a, b }), &new);

	if (new == 0)
		return kh_val(t->index, k);
	kh_val(t->index, k) = t->n;
	t->entry = xgrow(t->entry, &t->capentry, t->n + 1, sizeof *t->entry);
	t->sums = xgrow(t->sums, &t->capsums, (t->n + 1) * t->ncol,
	    sizeof *t->sums);
	memset(t->sums + t->n * t->ncol, 0, t->ncol * sizeof *t->sums);
	t->entry[t->n] = (struct tally_entry){ a, b, t->n };
	return t->n++;
}

/* Mostly it was asked for not long ago. */
size_t
tally_number(struct tally *t, uint64_t a, uint64_t b)
{
	struct tally_entry *e = t->recent + key_hash((struct key){ a, b }) %
	    RECENT;

	if (e->a != a || e->b != b || (a | b) == 0)
		*e = (struct tally_entry){ a, b, number(t, a, b) };
	return e->at;
}

int64_t *
tally_numbered(struct tally *t, size_t n)
{
	return t->sums + n * t->ncol;
}

int64_t *
tally_at(struct tally *t, uint64_t a, uint64_t b)
{
	return tally_numbered(t, tally_number(t, a, b));
}

static int
by_key(const void *x, const void *y)
{
	const struct tally_entry *e = x, *f = y;

	if (e->a != f->a)
		return e->a < f->a ? -1 : 1;
	return e->b < f->b ? -1 : e->b > f->b;
}

const struct tally_entry *
tally_sort(struct tally *t, const struct tally_entry **e)
{
	if (t->n > 0)
		qsort(t->entry, t->n, sizeof *t->entry, by_key);
	*e = t->entry;
	return t->entry + t->n;
}

const int64_t *
tally_sums(const struct tally *t, const struct tally_entry *e)
{
	return t->sums + e->at * t->ncol;
}

void
tally_clear(struct tally *t)
{
	kh_clear(sum, t->index);
	memset(t->recent, 0, RECENT * sizeof *t->recent);
	t->n = 0;
}
