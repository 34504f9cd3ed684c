/*
 * counters - what each counter counts: executions, instead of records
 *
 * An id gets a counter when a fragment needs one.  When none is left, all
 * counts are told (tell.c), and all counters are free again.  All of this is
 * the serving thread's; the formatting thread reads it, up to counters_used().
 */
#include <string.h>

#include "khash.h"
#include "mem.h"
#include "stream/parts.h"
#include "stream/stream.h"

static struct counted *counted;
static struct touched countedpages;
static uint32_t ncounters;

KHASH_MAP_INIT_INT64(pairs, uint32_t)
static khash_t(pairs) *pairs;	/* insn_key -> the first of its counters */

/* Kind branches: by block, the first counter of its branches. */
static uint32_t *missed;
static size_t capmissed;

void
counters_begin(void)
{
	if (area.maxcount == 0)
		return;
	counted = xrealloc(counted, area.maxcount * sizeof *counted);
	countedpages.size = area.maxcount * sizeof *counted;
	countedpages.have = ncounters * sizeof *counted;
}

bool
counters_left(unsigned n)
{
	return area.boot.countbytes == 0 || ncounters + n <= area.maxcount;
}

/* does: NULL for nothing. */
static void
describe(uint32_t c, uint32_t id, unsigned ninsn, const uint8_t does[NDO],
    enum what what)
{
	counted[c] = (struct counted){ .id = id, .ninsn = (uint8_t)ninsn,
		.what = (uint8_t)what };
	if (does != NULL)
		memcpy(counted[c].does, does, NDO);
}

static uint32_t
add(uint32_t id, unsigned ninsn, const uint8_t does[NDO], enum what what)
{
	uint32_t c = ncounters;

	xtouch(counted, &countedpages, (c + 1) * sizeof *counted);
	describe(c, id, ninsn, does, what);
	__atomic_store_n(&ncounters, c + 1, __ATOMIC_RELEASE);
	return c;
}

uint32_t
counter_new(uint32_t id, unsigned ninsn, const uint8_t does[NDO])
{
	return add(id, ninsn, does, EXECUTIONS);
}

uint32_t
counter_new_unregistered(uint32_t id, unsigned ninsn)
{
	return add(id, ninsn, NULL, UNREGISTERED);
}

void
counter_hold(uint32_t counter)
{
	counted[counter].holds = true;
}

/* Where the counter of these rounds is kept; is_new: nothing was yet. */
static uint32_t *
rounds_counter(uint32_t block, unsigned n, bool *is_new)
{
	khiter_t k;
	int new;

	if (pairs == NULL)
		pairs = kh_init(pairs);
	k = kh_put(pairs, pairs, insn_key(block, n), &new);
	*is_new = new != 0;
	return &kh_value(pairs, k);
}

uint32_t
counter_rounds(uint32_t block, unsigned n, const uint8_t does[NDO])
{
	uint32_t c = ncounters, i;
	bool is_new;
	uint32_t *kept = rounds_counter(block, n, &is_new);

	i = is_new ? c : *kept;
	if (i < c && counted[i].id == block && counted[i].ninsn == n &&
	    counted[i].what == ROUNDS)
		return i;
	*kept = c;
	describe(c, block, n, does, ROUNDS);
	describe(c + 1, block, n, does, NONE);
	__atomic_store_n(&ncounters, c + 2, __ATOMIC_RELEASE);
	return c;
}

static bool
is_missed(uint32_t c, uint32_t block)
{
	return c < ncounters && counted[c].id == block &&
	    counted[c].what == MISSES;
}

uint32_t
counters_missed(uint32_t block, const uint8_t *n, unsigned count)
{
	uint32_t c = ncounters, i;

	missed = xgrow0(missed, &capmissed, block + 1UL, sizeof *missed);
	for (i = 0; i < count; i++)
		if (!is_missed(missed[block] + i, block) ||
		    counted[missed[block] + i].ninsn != n[i])
			break;
	if (i == count)
		return missed[block];
	missed[block] = c;
	for (i = 0; i < count; i++)
		describe(c + i, block, n[i], NULL, MISSES);
	__atomic_store_n(&ncounters, c + count, __ATOMIC_RELEASE);
	return c;
}

void
counters_reserve(uint32_t n)
{
	counters_begin();
	__atomic_store_n(&ncounters, n, __ATOMIC_RELEASE);
}

uint32_t
counters_used(void)
{
	return __atomic_load_n(&ncounters, __ATOMIC_ACQUIRE);
}

const struct counted *
counter_counted(uint32_t c)
{
	return &counted[c];
}

void
counter_put(uint32_t c, uint32_t id, unsigned ninsn)
{
	describe(c, id, ninsn, NULL, EXECUTIONS);
}

void
counter_put_rounds(uint32_t c, uint32_t block, unsigned n)
{
	bool is_new;

	*rounds_counter(block, n, &is_new) = c;
	describe(c, block, n, NULL, ROUNDS);
	describe(c + 1, block, n, NULL, NONE);
}

void
counter_put_missed(uint32_t c, uint32_t block, unsigned n)
{
	missed = xgrow0(missed, &capmissed, block + 1UL, sizeof *missed);
	if (!is_missed(missed[block], block))
		missed[block] = c;
	describe(c, block, n, NULL, MISSES);
}

bool
counter_is(uint32_t c, uint32_t id)
{
	return id != 0 && counter_id(c) == id;
}

void
counters_renew(void)
{
	shelf_drop();
	ncounters = 0;
}

uint32_t
counter_id(uint32_t c)
{
	const struct counted *k = &counted[c];

	return c < ncounters && !shelf_has(c) && counts_executions(k) ?
	    k->id : 0;
}

bool
counters_find(uint32_t block, unsigned n, uint32_t *c)
{
	khiter_t k;

	if (pairs == NULL)
		return false;
	k = kh_get(pairs, pairs, insn_key(block, n));
	if (k == kh_end(pairs))
		return false;
	*c = kh_value(pairs, k);
	return *c + 1 < ncounters && counted[*c].id == block &&
	    counted[*c].ninsn == n && counted[*c].what == ROUNDS;
}

bool
counters_find_missed(uint32_t block, unsigned n, uint32_t *c)
{
	if (block >= capmissed)
		return false;
	for (*c = missed[block]; is_missed(*c, block); ++*c)
		if (counted[*c].ninsn == n)
			return true;
	return false;
}
