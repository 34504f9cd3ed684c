/*
 * counters - executions that are counted instead of recorded
 *
 * Each thread has an array of counters in the memory file, whose pages come as
 * they are used.  An id gets a counter when a fragment needs one.  When none is
 * left, all counts are written out and all counters are free again.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "evw.h"
#include "stream/parts.h"
#include "stream/stream.h"
#include "util.h"

/* What each counter counts; written by the serving thread. */
static struct {
	uint32_t id;
	uint8_t ninsn;
} *counted;
static uint32_t ncounters;
#define COUNT_MAX (1ull << 56)	/* no honest counter gets this far */

static uint64_t *total;		/* kind cache: by id */
static size_t ntotal, captotal;

void
counters_begin(void)
{
	if (area.maxcount != 0)
		counted = xrealloc(counted, area.maxcount * sizeof *counted);
}

bool
counters_left(unsigned n)
{
	return area.boot.countbytes == 0 || ncounters + n <= area.maxcount;
}

uint32_t
counter_new(uint32_t id, unsigned ninsn)
{
	uint32_t c = ncounters;

	counted[c].id = id;
	counted[c].ninsn = (uint8_t)ninsn;
	__atomic_store_n(&ncounters, c + 1, __ATOMIC_RELEASE);
	return c;
}

bool
counter_is(uint32_t c, uint32_t id)
{
	return c < ncounters && counted[c].id == id;
}

void
counters_renew(void)
{
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

bool
counters_has(unsigned slot)
{
	return area.boot.countbytes != 0 && slot < nslots();
}

void
counter_add(unsigned slot, uint32_t counter)
{
	if (counters_has(slot))
		counters_of(slot)[counter]++;
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

static void
add_total(uint32_t id, uint64_t n)
{
	total = xgrow(total, &captotal, id + 1ul, sizeof *total);
	for (; ntotal <= id; ntotal++)
		total[ntotal] = 0;
	total[id] += n;
}

/* Kind cache adds counts up for the end.  The counters are zero afterwards. */
uint64_t
counters_tell(unsigned slot)
{
	uint32_t i, end, max = __atomic_load_n(&ncounters, __ATOMIC_ACQUIRE);
	uint64_t *c = counters_of(slot), n = 0, v;

	for (i = 0; next_counters(slot, &i, &end, max); i = end)
		for (; i < end; i++) {
			v = ONCE(c[i]);
			if (v == 0)
				continue;
			c[i] = 0;
			if (v >= COUNT_MAX)
				trust_lose("a counter");
			n += v * counted[i].ninsn;
			if (opt->kind->intervals) {
				thread_line(slot);
				if (trust_lost)
					return 0;
				evw_count(stream_writer, counted[i].id, v);
			} else {
				add_total(counted[i].id, v);
			}
		}
	return n;
}

void
counters_tell_all(void)
{
	unsigned i;
	uint64_t n = 0;

	for (i = 0; counters_has(i) && !trust_lost; i++)
		if (thread_number(i) != 0)
			n += counters_tell(i);
	if (opt->kind->intervals && n != 0)
		evw_line(stream_writer, "I %llu", (unsigned long long)n);
}

void
counters_totals(void)
{
	uint32_t id;

	for (id = 1; id < ntotal; id++)
		if (total[id] != 0)
			evw_total(stream_writer, id, total[id]);
}
