/*
 * theirs - what the guest has of a thread's frames and counts
 *
 * It lies behind the counters of each slot.  The guest can write all of that:
 * see base/trust.c.
 */
#include <string.h>

#include "context/context.h"
#include "context/parts.h"
#include "ctl.h"

static uint8_t *
part(unsigned slot)
{
	return area.seg[SEG_COUNTERS] + slot * area.boot.countbytes +
	    8ull * (CELLS + NIDS);
}

bool
theirs_are(unsigned slot)
{
	return slot * area.boot.countbytes < area.boot.seg[SEG_COUNTERS].size;
}

struct ctx_words *
theirs_words(unsigned slot)
{
	return (struct ctx_words *)(void *)(part(slot) + CTX_WORDS);
}

/* The guest's frame i, from the outermost. */
struct ctx_frame *
theirs_frame(unsigned slot, size_t i)
{
	struct ctx_frame *f = (struct ctx_frame *)(void *)(part(slot) +
	    CTX_FRAMES);

	return f + (FRAMES_MOST - 1 - i);
}

static struct ctx_count *
count(unsigned slot, uint32_t arc)
{
	struct ctx_count *c = (struct ctx_count *)(void *)(part(slot) +
	    CTX_COUNTS);

	return c + arc;
}

/* What kind cache has more of them. */
struct ctx_frame_more *
theirs_frame_more(unsigned slot, size_t i)
{
	return (struct ctx_frame_more *)((uintptr_t)theirs_frame(slot, i) +
	    CTX_MORE);
}

static struct ctx_count_more *
count_more(unsigned slot, uint32_t arc)
{
	return (struct ctx_count_more *)((uintptr_t)count(slot, arc) +
	    CTX_MORE);
}

void
theirs_counts(unsigned slot, int64_t p, int64_t n[COSTS])
{
	const struct ctx_words *w = theirs_words(slot);
	unsigned i;

	n[0] = p;
	if (walk.ncol == 1)
		return;
	n[0] = (int64_t)ONCE(w->ir);
	for (i = 1; i < walk.ncol; i++)
		n[i] = -(int64_t)ONCE(w->refs[i - 1]);
}

void
theirs_set_counts(unsigned slot, const int64_t n[COSTS])
{
	struct ctx_words *w = theirs_words(slot);
	unsigned i;

	if (walk.ncol == 1)
		return;
	w->ir = (uint64_t)n[0];
	for (i = 1; i < walk.ncol; i++)
		w->refs[i - 1] = -(uint64_t)n[i];
}

int64_t
theirs_gathered(unsigned slot, unsigned which)
{
	static uint64_t last[NSLOT][2];
	uint64_t was = last[slot][which];

	last[slot][which] = ONCE(theirs_words(slot)->gathered[which]);
	return (int64_t)(last[slot][which] - was);
}

void
theirs_forget_keys(unsigned slot)
{
	memset(part(slot) + CTX_TABLE, 0, 8 * CTX_KEYS);
}

void
theirs_charge(unsigned slot, const struct walk_thread *t)
{
	static const struct ctx_count_more none;
	uint64_t own = ONCE(theirs_words(slot)->narc);
	uint32_t n = 1, end = arcs_end();
	struct ctx_count_more *more;
	struct ctx_count *c;
	struct walk_arc *a;
	unsigned k;

	for (; n < end && n < own; n++) {
		c = count(slot, n);
		if ((c->calls == 0 && c->ir == 0) || !arcs_is(n))
			continue;
		a = arcs_walk(n);
		more = walk.ncol == 1 ? NULL : count_more(slot, n);
		if (a != NULL) {
			a->calls += c->calls;
			a->cost[0] += (int64_t)c->ir;
			for (k = 1; k < walk.ncol; k++)
				a->cost[k] += (int64_t)more->refs[k - 1];
			told_charge(t, a, arcs_within(n));
		}
		c->calls = c->ir = 0;
		if (more != NULL)
			*more = none;
	}
}
