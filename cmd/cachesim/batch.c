/*
 * batch - run records of executions, the short way if possible
 */
#include "cachesim.h"

#include <string.h>

static struct evr *events;

/* Run n rounds of a record whose id has no short way. */
__attribute__((noinline))
static void
other(const uint64_t *p, uint64_t n)
{
	uint32_t id = ev_id(*p);

	for (; n > 0; n--) {
		ev_apply(ev_def(events, id), p + 1);
		unit[id].count++;
		ordered_long(id);
	}
}

/* Copy the record with n rounds; return its end. */
static uint64_t *
with_rounds(uint64_t *to, const uint64_t *p, uint64_t n)
{
	unsigned words = 1 + ev_ngroups(*p);

	memcpy(to, p, words * sizeof *p);
	to[0] &= ~EV_MORE;
	if (n == 1)
		return to + words;
	to[0] |= EV_MORE;
	to[words] = n - 1;
	return to + words + 1;
}

/* Run n rounds of a record one by one. */
static void
batch_rounds(const uint64_t *p, uint64_t n)
{
	uint64_t some[2 + 256];

	if (unit[ev_id(*p)].ntouch == 0)
		other(p, n);
	else
		short_batch(some, with_rounds(some, p, n), UINT64_MAX);
}

void
batch(const uint64_t *p, const uint64_t *end)
{
	if (l1.tables) {
		lone_batch(events, p, end);
		return;
	}
	for (;;) {
		p = short_batch(p, end, REPEAT_FIRST);
		if (p >= end)
			break;
		if (ev_more(p) >= REPEAT_FIRST)
			rounds_record(events, p, batch_rounds);
		else
			other(p, ev_more(p) + 1);
		p = ev_skip(p);
	}
}

void
batch_some(const uint64_t *p, uint64_t n)
{
	uint64_t some[2 + 256];

	nfound = 0;
	if (n == 1 && ev_more(p) == 0)
		batch(p, ev_skip(p));
	else
		batch(some, with_rounds(some, p, n));
}

const uint64_t *
batch_found(const uint64_t *p, const uint64_t *end)
{
	nfound = 0;
	return short_batch(p, end, 1);
}

void
batch_end(void)
{
	ll_drain();
}

void
batch_clear(void)
{
	ll_drain();
	l1_clear();
	ll_clear();
}

void
batch_init(const struct geometry g[NCACHE], struct evr *r, bool pass)
{
	events = r;
	l1_init(g, r);
	if (l1.tables)
		lone_init(l1.ishift, l1.dshift, pass);
	ll_init(&g[LL]);
	repeat_init(g);
	ordered_init(r, pass);
	short_init(g, pass);
}
