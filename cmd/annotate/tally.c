/*
 * tally - counts by a 64-bit key
 */
#include "annotate.h"

#include <string.h>

#include "hash.h"
#include "khash.h"
#include "mem.h"
#include "prog.h"

KHASH_INIT(key, uint64_t, uint32_t, 1, hash_address, kh_int64_hash_equal)

void
tally_init(struct tally *t, size_t width)
{
	memset(t, 0, sizeof *t);
	t->width = width;
	t->hash = kh_init(key);
}

size_t
tally_find(struct tally *t, uint64_t key)
{
	khash_t(key) *h = t->hash;
	khiter_t it;
	int made;

	if (t->n && t->key[t->n - 1] == key)
		return t->n - 1;
	it = kh_put(key, h, key, &made);
	if (made) {
		t->key = xgrow(t->key, &t->capk, t->n + 1, sizeof *t->key);
		t->count = xgrow(t->count, &t->cap, t->n + 1,
		    t->width * sizeof *t->count);
		t->key[t->n] = key;
		memset(tally_at(t, t->n), 0, t->width * sizeof *t->count);
		kh_val(h, it) = t->n++;
	}
	return kh_val(h, it);
}

void
sums_add(int64_t *to, const int64_t *n, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (__builtin_add_overflow(to[i], n[i], &to[i]))
			die("a sum is beyond 64 bits");
}

void
tally_add(struct tally *t, size_t at, const int64_t *n)
{
	sums_add(tally_at(t, at), n, t->width);
}

uint64_t
count_size(int64_t v)
{
	return v < 0 ? -(uint64_t)v : (uint64_t)v;
}

int
cmp_counts(const int64_t *a, const int64_t *b)
{
	size_t i;
	uint64_t x, y;

	for (i = 0; i < prof.nsort; i++) {
		x = count_size(a[prof.sort[i]]);
		y = count_size(b[prof.sort[i]]);
		if (x != y)
			return x > y ? -1 : 1;
	}
	return 0;
}

bool
passes_threshold(const int64_t *n)
{
	size_t i, ev;

	for (i = 0; i < prof.nsort; i++) {
		ev = prof.sort[i];
		if (prof.limit[i] >= 0 && (double)count_size(n[ev]) >=
		    prof.limit[i] * (double)count_size(prof.whole[ev]) / 100)
			return true;
	}
	return false;
}
