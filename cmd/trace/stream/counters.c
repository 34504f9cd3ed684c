/*
 * counters - executions that are counted instead of recorded
 *
 * Each thread has an array of counters in the memory file, whose pages come as
 * they are used.  An id gets a counter when a fragment needs one.  When none is
 * left, all counts are told, and all counters are free again: they are written
 * as they are, or added up until the end (totals.c).
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "context/context.h"
#include "evw.h"
#include "stream/parts.h"
#include "stream/stream.h"
#include "khash.h"
#include "mem.h"

/*
 * What each counter counts; written by the serving thread.  UNREGISTERED:
 * executions of an id that evw does not know.  NONE follows ROUNDS.
 */
enum what { EXECUTIONS, UNREGISTERED, ROUNDS, NONE, MISSES };
static struct counted *counted;
static struct touched countedpages;
static uint32_t ncounters;
#define COUNT_MAX (1ull << 56)	/* no honest counter gets this far */

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

static bool
is_executions(uint32_t c)
{
	return counted[c].what == EXECUTIONS || counted[c].what == UNREGISTERED;
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
	return ncounters;
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
	return c < ncounters && !shelf_has(c) && counted[c].id == id &&
	    is_executions(c);
}

void
counters_renew(void)
{
	shelf_drop();
	ncounters = 0;
}

static uint64_t *
counters_of(unsigned slot)
{
	return (uint64_t *)(void *)(area.seg[SEG_COUNTERS] +
	    slot * area.boot.countbytes) + CELLS;
}

/* The number of threads that can have counters. */
static unsigned
nslots(void)
{
	return (unsigned)(area.boot.seg[SEG_COUNTERS].size /
	    area.boot.countbytes);
}

uint64_t *
counters_cells(unsigned slot)
{
	return counters_of(slot) - CELLS;
}

uint32_t
counter_id(uint32_t c)
{
	return c < ncounters && !shelf_has(c) && is_executions(c) ?
	    counted[c].id : 0;
}

bool
counters_has(unsigned slot)
{
	return area.boot.countbytes != 0 && slot < nslots();
}

/*
 * More than the number of any slot whose thread has counted.  The program says
 * which slots have threads: it may name some that have no counters.
 */
static unsigned
slots_used(void)
{
	unsigned n = thread_slots();

	if (area.boot.countbytes == 0)
		return 0;
	return n < nslots() ? n : nslots();
}

void
counter_add(unsigned slot, uint32_t counter, uint64_t n)
{
	if (counters_has(slot))
		counters_of(slot)[counter] += n;
}

void
counter_take_one(unsigned slot, uint32_t counter)
{
	if (counters_has(slot) && ONCE(counters_of(slot)[counter]) != 0)
		counters_of(slot)[counter]--;
}

uint64_t
counter_take(unsigned slot, uint32_t counter)
{
	uint64_t n = 0;

	if (counters_has(slot)) {
		n = ONCE(counters_of(slot)[counter]);
		counters_of(slot)[counter] = 0;
	}
	return n;
}

/*
 * What a count of v is for the costs of its thread's calls.  With --rep=each a
 * repeated instruction that writes costs its rounds and one, any other one its
 * rounds, or one if it has none.
 */
static void
add_costs(const struct counted *c, uint64_t v, uint64_t n[3])
{
	unsigned k;

	for (k = 0; k < 2 && c->what != NONE; k++)
		n[1 + k] += v * c->does[k];
	if (c->what == EXECUTIONS)
		n[0] += v * c->ninsn;
	if (!counts_each())
		return;
	if (c->what == EXECUTIONS)
		n[0] -= v * c->does[DO_REPEAT];
	else if (c->what == ROUNDS || c->does[DO_WRITE] == 0)
		n[0] += v;
}

/*
 * Take what is held of such a counter; false: nothing is.  It has been part of
 * the thread's costs, and will be again where it is counted next.
 */
static bool
take_held(unsigned slot, uint32_t id, unsigned n, unsigned what,
    struct held_count *h)
{
	uint64_t costs[3] = { 0, 0, 0 };
	unsigned i;

	if (!held_take(slot, id, n, what, h))
		return false;
	add_costs(&h->c, h->times, costs);
	for (i = 0; i < 3; i++)
		costs[i] = -costs[i];
	context_counted(slot, costs);
	return true;
}

uint64_t
counter_take_held(unsigned slot, uint32_t id, unsigned ninsn)
{
	struct held_count h;

	return take_held(slot, id, ninsn, EXECUTIONS, &h) ? h.times : 0;
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

/* Count what was held of rounds, or of executions that had none, of `block'. */
static void
add_held_rounds(unsigned slot, const struct held_count *h, uint32_t block)
{
	uint32_t c = counter_rounds(block, h->c.ninsn, h->c.does);

	counter_add(slot, c + (h->c.what == NONE), h->times);
}

void
counters_move(unsigned slot, uint32_t from, uint32_t to, unsigned n)
{
	struct held_count h;
	uint32_t c, d, i;

	for (; n > 0 && counters_has(slot); n--) {
		for (i = ROUNDS; i <= NONE && counters_left(2); i++)
			if (take_held(slot, from, n, i, &h))
				add_held_rounds(slot, &h, to);
		if (!counters_find(from, n, &c) || !counters_left(2))
			continue;
		d = counter_rounds(to, n, counted[c].does);
		for (i = 0; i < 2; i++)
			counter_add(slot, d + i, counter_take(slot, c + i));
	}
}

/*
 * Find the next of a thread's counters, from *i up to max, that have pages;
 * they are then *i up to *end.  false: there are none.
 */
static bool
next_counters(unsigned slot, uint32_t *i, uint32_t *end, uint32_t max)
{
	const struct segment *s = &area.boot.seg[SEG_COUNTERS];
	off_t first = (off_t)(s->off + slot * area.boot.countbytes + 8 * CELLS);
	off_t at, to;

	if (*i >= max)
		return false;
	at = lseek(area.fd, first + 8 * (off_t)*i, SEEK_DATA);
	if (at < 0 && errno == ENXIO)
		return false;
	to = at < 0 ? -1 : lseek(area.fd, at, SEEK_HOLE);
	*end = max;
	if (to < 0)		/* this kernel cannot tell */
		return true;
	*i = at - first < 8 * (off_t)max ? (uint32_t)((at - first) / 8) : max;
	if (to - first < 8 * (off_t)max)
		*end = (uint32_t)((to - first) / 8);
	return *i < max;
}

/* Counter i of c[] has v rounds, executions that had none, mispredictions. */
static void
tell_rounds(uint64_t *c, uint32_t i, uint64_t v)
{
	uint32_t block = counted[i].id;
	unsigned n = counted[i].ninsn;
	uint64_t done = v, none = 0;

	if (counted[i].what == MISSES) {
		totals_add_missed(block, n, v);
		return;
	}
	if (counted[i].what == NONE) {
		done = 0;
		none = v;
	} else {
		none = ONCE(c[i + 1]);
		if (none >= COUNT_MAX)
			trust_lose("a counter");
		c[i + 1] = 0;
	}
	if (opt->kind->intervals)
		evw_rounds(stream_writer, block, n, done, none);
	else
		totals_add_rounds(block, n, done, none);
}

/* The same of one of the store's. */
static uint64_t
tell_shelf(uint64_t *c, uint32_t i, uint64_t v)
{
	uint64_t none = 0;

	if (shelf_is_pair(i)) {
		none = ONCE(c[i + 1]);
		c[i + 1] = 0;
		if (none >= COUNT_MAX)
			trust_lose("a counter");
	}
	return shelf_tell(i, v, none);
}

/* Hold what a thread's counter i, which is v, has counted. */
static void
hold(unsigned slot, uint64_t *c, uint32_t i, uint64_t v, uint64_t costs[3])
{
	held_put(slot, &(struct held_count){ counted[i], v });
	add_costs(&counted[i], v, costs);
	c[i] = 0;
}

/* A thread's counter i, which is v; adds up what that is. */
static void
tell_counter(unsigned slot, uint64_t *c, uint32_t i, uint64_t v, uint64_t *n,
    uint64_t costs[3])
{
	c[i] = 0;
	if (v >= COUNT_MAX)
		trust_lose("a counter");
	if (opt->kind->intervals)
		thread_line(slot);
	if (trust_lost)
		return;
	if (shelf_has(i)) {
		*n += tell_shelf(c, i, v);
		return;
	}
	add_costs(&counted[i], v, costs);
	if (!is_executions(i)) {
		if (counted[i].what == ROUNDS)
			add_costs(&counted[i + 1], ONCE(c[i + 1]), costs);
		tell_rounds(c, i, v);
		return;
	}
	if (counted[i].what == UNREGISTERED)
		evw_exec(stream_writer, counted[i].id, 0, NULL, v - 1);
	else if (opt->kind->intervals)
		evw_count(stream_writer, counted[i].id, v);
	else
		totals_add(counted[i].id, v);
	*n += v * counted[i].ninsn;
}

/* Kind cache adds counts up for the end.  The counters are zero afterwards. */
uint64_t
counters_tell(unsigned slot)
{
	uint32_t i, end, max = __atomic_load_n(&ncounters, __ATOMIC_ACQUIRE);
	uint64_t *c = counters_of(slot), v;
	uint64_t costs[3] = { 0, 0, 0 };	/* Ir, reads, writes */
	uint64_t n = 0;

	if (opt->contexts != 0)
		context_tell_new(stream_writer);
	for (i = 0; next_counters(slot, &i, &end, max); i = end)
		for (; i < end && !trust_lost; i++) {
			v = ONCE(c[i]);
			if (v != 0 && !shelf_has(i) && counted[i].holds)
				hold(slot, c, i, v, costs);
			else if (v != 0)
				tell_counter(slot, c, i, v, &n, costs);
		}
	if (trust_lost)
		return 0;
	during_counted(n);
	progress_counted(n);
	if (opt->contexts != 0)
		context_counted(slot, costs);
	return n;
}

/* How many instructions an execution that a counter counts has. */
static unsigned
length_of(uint32_t c)
{
	return shelf_has(c) ? shelf_length(c) :
	    is_executions(c) ? counted[c].ninsn : 0;
}

/* Counters of one thread that have pages: v[from] up to v[end]; begins as 0. */
struct run {
	unsigned slot;
	uint32_t from, end;
	const uint64_t *v;
};

/* The next of all threads' first max counters; false: there are no more. */
static bool
next_run(struct run *r, uint32_t max)
{
	for (; r->slot < slots_used(); r->slot++, r->end = 0) {
		r->from = r->end;
		r->v = counters_of(r->slot);
		if (thread_number(r->slot) != 0 &&
		    next_counters(r->slot, &r->from, &r->end, max))
			return true;
	}
	return false;
}

uint64_t
counters_now(void)
{
	uint32_t max = __atomic_load_n(&ncounters, __ATOMIC_ACQUIRE), c;
	struct run r = { 0, 0, 0, NULL };
	uint64_t n = 0;

	while (next_run(&r, max))
		for (c = r.from; c < r.end; c++)
			n += ONCE(r.v[c]) * length_of(c);
	return n;
}

void
counters_each(uint32_t n, uint64_t least, void (*fn)(uint32_t c, uint64_t v))
{
	struct run r = { 0, 0, 0, NULL };
	uint64_t v;
	uint32_t c;

	while (next_run(&r, n))
		for (c = r.from; c < r.end; c++) {
			v = ONCE(r.v[c]);
			if (v >= least)
				fn(c, v);
		}
}

unsigned
counters_next_slot(unsigned slot)
{
	unsigned i, n = slots_used();

	for (i = 0; i < n; i++) {
		slot = (slot + 1) % n;
		if (thread_number(slot) != 0)
			break;
	}
	return slot;
}

/* Tell what is held of a thread that will not run any more. */
static uint64_t
tell_held(unsigned slot)
{
	struct held_count h;
	uint64_t n = 0;

	while (held_any(slot, &h) && take_held(slot, h.c.id, h.c.ninsn,
	    h.c.what, &h)) {
		if (!counters_left(2)) {
			n += counters_tell(slot);
			counters_renew();
		}
		if (h.c.what == EXECUTIONS)
			counter_add(slot, counter_new(h.c.id, h.c.ninsn,
			    h.c.does), h.times);
		else
			add_held_rounds(slot, &h, h.c.id);
	}
	return n + counters_tell(slot);
}

/* The thread will not run any more. */
static void
tell_contexts(unsigned slot)
{
	thread_line(slot);
	context_tell(stream_writer, slot, 0);
}

void
counters_tell_all(bool last)
{
	unsigned i;
	uint64_t n = 0;

	for (i = 0; i < slots_used() && !trust_lost; i++)
		if (thread_number(i) != 0)
			n += counters_tell(i);
	for (i = 0; last && opt->contexts != 0 && i < slots_used() &&
	    !trust_lost; i++)
		if (thread_number(i) != 0) {
			n += tell_held(i);
			tell_contexts(i);
		}
	if (opt->kind->intervals && n != 0)
		evw_line(stream_writer, "I %llu", (unsigned long long)n);
}
