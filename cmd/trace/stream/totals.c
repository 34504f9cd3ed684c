/*
 * totals - kinds cache and branches: what counters have counted, to the end
 *
 * Where counts are not told by intervals, a W, R or X line before the end mark
 * has the sum of all threads.
 */
#include <stdlib.h>

#include "evw.h"
#include "khash.h"
#include "mem.h"
#include "stream/parts.h"
#include "stream/stream.h"

/*
 * Executions by id, the low 16 bits; `large' has what is left of them, which
 * few ids have.
 */
static uint16_t *total;
static size_t ntotal, captotal;
KHASH_MAP_INIT_INT(large, uint64_t)
static khash_t(large) *large;	/* id -> the sum >> 16 */

struct rounds {
	uint64_t rounds, none;
};
KHASH_MAP_INIT_INT64(rounds, struct rounds)
static khash_t(rounds) *rounds;	/* by insn_key */

/* Mispredictions, in the order in which they were told. */
static struct sum {
	uint64_t key, n;	/* insn_key */
} *misses;
static size_t nmisses, capmisses;

static void
add_large(uint32_t id, uint64_t n)
{
	khiter_t k;
	int new;

	if (large == NULL)
		large = kh_init(large);
	k = kh_put(large, large, id, &new);
	if (new != 0)
		kh_value(large, k) = 0;
	kh_value(large, k) += n;
}

void
totals_add(uint32_t id, uint64_t n)
{
	uint64_t sum;

	total = xgrow(total, &captotal, id + 1ul, sizeof *total);
	for (; ntotal <= id; ntotal++)
		total[ntotal] = 0;
	sum = total[id] + n;
	total[id] = (uint16_t)sum;
	if (sum >> 16 != 0)
		add_large(id, sum >> 16);
}

static uint64_t
total_of(uint32_t id)
{
	khiter_t k;

	if (large == NULL)
		return total[id];
	k = kh_get(large, large, id);
	return k == kh_end(large) ? total[id] :
	    total[id] | kh_value(large, k) << 16;
}

void
totals_add_rounds(uint32_t block, unsigned n, uint64_t done, uint64_t none)
{
	khiter_t k;
	int new;

	if (rounds == NULL)
		rounds = kh_init(rounds);
	k = kh_put(rounds, rounds, insn_key(block, n), &new);
	if (new != 0)
		kh_value(rounds, k) = (struct rounds){ 0, 0 };
	kh_value(rounds, k).rounds += done;
	kh_value(rounds, k).none += none;
}

void
totals_add_missed(uint32_t block, unsigned n, uint64_t missed)
{
	misses = xgrow(misses, &capmisses, nmisses + 1, sizeof *misses);
	misses[nmisses++] = (struct sum){ insn_key(block, n), missed };
}

static int
by_key(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void
write_rounds(uint64_t key, const struct rounds *r)
{
	evw_rounds(stream_writer, (uint32_t)(key >> 8), (unsigned)key & 0xff,
	    r->rounds, r->none);
}

/* Write all sums of rounds, in order of their keys, and forget them. */
static void
write_all_rounds(void)
{
	size_t n = 0, i;
	uint64_t *key;
	khiter_t k;

	if (rounds == NULL)
		return;
	key = xcalloc(kh_size(rounds), sizeof *key);
	for (k = 0; k < kh_end(rounds); k++)
		if (kh_exist(rounds, k))
			key[n++] = kh_key(rounds, k);
	qsort(key, n, sizeof *key, by_key);
	for (i = 0; i < n; i++)
		write_rounds(key[i], &kh_value(rounds,
		    kh_get(rounds, rounds, key[i])));
	free(key);
	kh_clear(rounds, rounds);
}

/* The same of mispredictions; of one thread they are in order. */
static void
write_misses(void)
{
	size_t i, end;
	uint64_t n;

	for (i = 1; i < nmisses && misses[i - 1].key < misses[i].key; i++)
		;
	if (i < nmisses)
		qsort(misses, nmisses, sizeof *misses, by_key);
	for (i = 0; i < nmisses; i = end) {
		n = 0;
		for (end = i; end < nmisses && misses[end].key ==
		    misses[i].key; end++)
			n += misses[end].n;
		evw_missed(stream_writer, (uint32_t)(misses[i].key >> 8),
		    (unsigned)misses[i].key & 0xff, n);
	}
	nmisses = 0;
}

void
totals_define(void)
{
	uint32_t id;

	for (id = 1; id < ntotal; id++)
		if (total_of(id) != 0)
			evw_define(stream_writer, id);
}

void
totals_write(void)
{
	uint32_t id;

	for (id = 1; id < ntotal; id++)
		if (total_of(id) != 0)
			evw_total(stream_writer, id, total_of(id));
	write_all_rounds();
	write_misses();
	ntotal = 0;
	if (large != NULL)
		kh_clear(large, large);
}
