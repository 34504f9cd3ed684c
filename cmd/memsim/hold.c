/*
 * hold - which cores hold which lines, and the bytes that they touched
 *
 * A core holds a line as long as one of its own caches has it. Two tables have
 * the lines that are held: who holds them, and for each core how many copies
 * it has and which bytes it touched. Bytes touched by accesses that hit the
 * first cache of data are kept there, by slot, until the line leaves it.
 */
#include "memsim.h"

#include <string.h>

#include "hash.h"
#include "khash.h"

KHASH_INIT(holders, uint64_t, struct holders, 1, hash_address,
    kh_int64_hash_equal)
KHASH_INIT(held, uint64_t, struct held, 1, hash_address, kh_int64_hash_equal)

static khash_t(holders) *lines;
static khash_t(held) *held_by[MOST_CORES];

struct held *
hold_of(unsigned c, uint64_t line)
{
	khint_t k;

	if (held_by[c] == NULL)
		return NULL;
	k = kh_get(held, held_by[c], line);
	return k == kh_end(held_by[c]) ? NULL : &kh_val(held_by[c], k);
}

struct holders *
hold_all(uint64_t line)
{
	khint_t k;

	if (lines == NULL)
		return NULL;
	k = kh_get(holders, lines, line);
	return k == kh_end(lines) ? NULL : &kh_val(lines, k);
}

static struct holders *
new_holders(uint64_t line)
{
	khint_t k;
	int new;

	if (lines == NULL)
		lines = kh_init(holders);
	k = kh_put(holders, lines, line, &new);
	if (new != 0)
		kh_val(lines, k) = (struct holders){ 0, ncore == 1 };
	return &kh_val(lines, k);
}

void
hold_came(unsigned c, uint64_t line)
{
	khint_t k;
	int new;

	if (held_by[c] == NULL)
		held_by[c] = kh_init(held);
	k = kh_put(held, held_by[c], line, &new);
	if (new != 0) {
		kh_val(held_by[c], k) = (struct held){ 0, 0 };
		new_holders(line)->core |= (uint64_t)1 << c;
	}
	kh_val(held_by[c], k).copies++;
}

void
hold_gone(unsigned c, uint64_t line)
{
	struct holders *all;

	if (--hold_of(c, line)->copies != 0)
		return;
	kh_del(held, held_by[c], kh_get(held, held_by[c], line));
	all = hold_all(line);
	all->core &= ~((uint64_t)1 << c);
	if (all->core == 0)
		kh_del(holders, lines, kh_get(holders, lines, line));
}

void
hold_left(struct node *n, uint64_t line, uint32_t slot)
{
	hold_of(n->core, line)->touched |= n->touched[slot];
	hold_gone(n->core, line);
}

/* The bytes that a core touched since it began to hold the line. */
uint64_t
hold_touched(unsigned c, uint64_t line)
{
	struct node *n = core[c].first[DATA];
	uint64_t bytes = hold_of(c, line)->touched;
	uint32_t slot;

	if (n == NULL || n->touched == NULL)
		return bytes;
	slot = cache_find(n->c, line);
	return slot == CACHE_NONE ? bytes : bytes | n->touched[slot];
}
