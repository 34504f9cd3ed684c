/*
 * cells - where counters are: an array for each thread, in the memory file
 *
 * Before its counters a thread has CELLS words of other use.  Pages come as
 * they are used, so a look at all counters skips those that have none.
 */
#include <errno.h>
#include <unistd.h>

#include "stream/parts.h"
#include "stream/stream.h"

uint64_t *
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

bool
counters_has(unsigned slot)
{
	return area.boot.countbytes != 0 && slot < nslots();
}

/* The program says which slots have threads: it may name some without. */
unsigned
counters_slots(void)
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

bool
counters_next(unsigned slot, uint32_t *i, uint32_t *end, uint32_t max)
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

bool
counters_next_run(struct counter_run *r, uint32_t max)
{
	for (; r->slot < counters_slots(); r->slot++, r->end = 0) {
		r->from = r->end;
		r->v = counters_of(r->slot);
		if (thread_number(r->slot) != 0 &&
		    counters_next(r->slot, &r->from, &r->end, max))
			return true;
	}
	return false;
}

void
counters_each(uint32_t n, uint64_t least, void (*fn)(uint32_t c, uint64_t v))
{
	struct counter_run r = { 0, 0, 0, NULL };
	uint64_t v;
	uint32_t c;

	while (counters_next_run(&r, n))
		for (c = r.from; c < r.end; c++) {
			v = ONCE(r.v[c]);
			if (v >= least)
				fn(c, v);
		}
}

unsigned
counters_next_slot(unsigned slot)
{
	unsigned i, n = counters_slots();

	for (i = 0; i < n; i++) {
		slot = (slot + 1) % n;
		if (thread_number(slot) != 0)
			break;
	}
	return slot;
}
