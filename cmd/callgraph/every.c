/*
 * every - --dump-every-bb: a part after so many basic blocks
 *
 * A basic block ends behind each transfer of control, taken or not. An
 * execution has as many as its id has transfers, and one more if it does not
 * end in one. A part ends behind the execution that fills it.
 */
#include "callgraph.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "mem.h"

static uint64_t every;		/* 0: no such option */
static uint64_t left;		/* basic blocks until the next part */
static char trigger[48];
static uint32_t *nbb;		/* by id */
static size_t capnbb;

void
every_option(uint64_t n)
{
	left = every = n;
	snprintf(trigger, sizeof trigger, "--dump-every-bb=%" PRIu64, n);
}

bool
every_asked(void)
{
	return every != 0;
}

void
every_define(uint32_t id)
{
	const struct ev_def *d = ev_def(walk.events, id);
	uint32_t n = 1;

	if (every == 0)
		return;
	for (uint32_t k = 0; k + 1 < d->n; k++)
		n += d->block->insn[k].flow != 0;
	nbb = xgrow(nbb, &capnbb, id + 1UL, sizeof *nbb);
	nbb[id] = n;
}

static void
walk_records(const uint64_t *rec, const uint64_t *end)
{
	const struct ev e = { .rec = rec, .end = end };

	if (rec < end)
		walk_batch(&e);
}

static void
end_part(void)
{
	dump_part(trigger, NULL);
	left = every;
}

/* A record that ends a part with some of its rounds. */
static void
split(const uint64_t *rec, uint64_t rounds)
{
	uint64_t some[2 + 256], n, b = nbb[ev_id(*rec)];
	unsigned words = 1 + ev_ngroups(*rec);

	memcpy(some, rec, words * sizeof *rec);
	for (; rounds > 0; rounds -= n) {
		n = left / b + (left % b != 0);
		if (n > rounds)
			n = rounds;
		some[0] = n == 1 ? some[0] & ~EV_MORE : some[0] | EV_MORE;
		some[words] = n - 1;
		walk_records(some, ev_skip(some));
		if (n * b >= left)
			end_part();
		else
			left -= n * b;
	}
}

void
every_batch(const struct ev *e)
{
	const uint64_t *from = e->rec, *rec;
	uint64_t n, b;

	if (every == 0 || walk.off) {
		walk_batch(e);
		return;
	}
	for (rec = from; rec < e->end; rec = ev_skip(rec)) {
		b = nbb[ev_id(*rec)];
		n = ev_more(rec) + 1;
		if (b * n < left) {
			left -= b * n;
			continue;
		}
		walk_records(from, rec);
		split(rec, n);
		from = ev_skip(rec);
	}
	walk_records(from, e->end);
}
