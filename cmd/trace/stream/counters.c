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

/* A repeated instruction: of which block; its number there. */
static uint64_t
rounds_key(uint32_t block, unsigned n)
{
	return (uint64_t)block << 8 | n;
}

KHASH_MAP_INIT_INT64(pairs, uint32_t)
static khash_t(pairs) *pairs;	/* rounds_key -> the first of its counters */

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

static uint32_t
add(uint32_t id, unsigned ninsn, const uint8_t does[NDO], enum what what)
{
	uint32_t c = ncounters;

	xtouch(counted, &countedpages, (c + 1) * sizeof *counted);
	counted[c].id = id;
	counted[c].ninsn = (uint8_t)ninsn;
	counted[c].what = (uint8_t)what;
	counted[c].holds = false;
	memcpy(counted[c].does, does, NDO);
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
	static const uint8_t none[NDO];

	return add(id, ninsn, none, UNREGISTERED);
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
	k = kh_put(pairs, pairs, rounds_key(block, n), &new);
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
	for (i = 0; i < 2; i++) {
		counted[c + i].id = block;
		counted[c + i].ninsn = (uint8_t)n;
		counted[c + i].what = i == 0 ? ROUNDS : NONE;
		counted[c + i].holds = false;
		memcpy(counted[c + i].does, does, NDO);
	}
	__atomic_store_n(&ncounters, c + 2, __ATOMIC_RELEASE);
	return c;
}

static bool
is_missed(uint32_t c, uint32_t block)
{
	return c < ncounters && counted[c].id == block &&
	    counted[c].what == MISSES;
}

static void
put_missed(uint32_t c, uint32_t block, unsigned n)
{
	counter_put(c, block, n);
	counted[c].what = MISSES;
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
		put_missed(c + i, block, n[i]);
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
	memset(&counted[c], 0, sizeof counted[c]);
	counted[c].id = id;
	counted[c].ninsn = (uint8_t)ninsn;
	counted[c].what = EXECUTIONS;
}

void
counter_put_rounds(uint32_t c, uint32_t block, unsigned n)
{
	bool is_new;

	*rounds_counter(block, n, &is_new) = c;
	counter_put(c, block, n);
	counter_put(c + 1, block, n);
	counted[c].what = ROUNDS;
	counted[c + 1].what = NONE;
}

void
counter_put_missed(uint32_t c, uint32_t block, unsigned n)
{
	missed = xgrow0(missed, &capmissed, block + 1UL, sizeof *missed);
	if (!is_missed(missed[block], block))
		missed[block] = c;
	put_missed(c, block, n);
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
	k = kh_get(pairs, pairs, rounds_key(block, n));
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
