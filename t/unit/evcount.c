/*
 * evcount - counts the instructions that an event stream tells
 *
 *	evcount [-cp] [file]
 *
 * One line with the total, like stepcount's; -p: then "address count" for
 * each instruction, sorted.  Of kinds all, blocks, counts and cache.  The
 * status is 0 only if the stream is whole; -c: of one that is cut off, too,
 * the total of what is there.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ev.h"
#include "in.h"
#include "mem.h"
#include "prog.h"

struct pc_count {
	uint64_t pc;
	uint64_t n;
};

static uint64_t total;
static uint64_t *times;		/* by id: how often it was executed */
static size_t times_cap;
static uint32_t max_id;
static bool want_pcs, cut_too;

static uint32_t
insns(const struct ev_def *d)
{
	return d->letter == 'P' ? d->n : d->block->ninsn;
}

static void
count_id(struct evr *r, uint32_t id, uint64_t rounds)
{
	total += rounds * insns(ev_def(r, id));
	if (!want_pcs)
		return;
	if (id > max_id) {
		size_t old = times_cap;

		times = xgrow(times, &times_cap, (size_t)id + 1, sizeof *times);
		for (size_t i = old; i < times_cap; i++)
			times[i] = 0;
		max_id = id;
	}
	times[id] += rounds;
}

/* Kind cache has references alone, and tells executions in W lines. */
static void
count(struct evr *r, const struct ev *e)
{
	if (ev_kind(r) == EV_CACHE)
		return;
	for (const uint64_t *rec = e->rec; rec < e->end; rec = ev_skip(rec))
		count_id(r, ev_id(*rec), 1 + ev_more(rec));
}

static int
by_pc(const void *a, const void *b)
{
	const struct pc_count *x = a, *y = b;

	return x->pc < y->pc ? -1 : x->pc > y->pc;
}

static void
print_pcs(struct evr *r)
{
	struct pc_count *v = NULL;
	size_t n = 0, cap = 0;

	for (uint32_t id = 0; id <= max_id && times_cap > 0; id++) {
		const struct ev_def *d;

		if (times[id] == 0)
			continue;
		d = ev_def(r, id);
		v = xgrow(v, &cap, n + insns(d), sizeof *v);
		for (uint32_t i = 0; i < insns(d); i++)
			v[n++] = (struct pc_count){ d->block->insn[i].addr,
			    times[id] };
	}
	if (n > 0)
		qsort(v, n, sizeof *v, by_pc);
	for (size_t i = 0; i < n; i++) {
		uint64_t sum = v[i].n;

		for (; i + 1 < n && v[i + 1].pc == v[i].pc; i++)
			sum += v[i + 1].n;
		printf("%" PRIx64 " %" PRIu64 "\n", v[i].pc, sum);
	}
}

int
main(int argc, char **argv)
{
	struct evr *r;
	struct ev e;
	int c;

	prog_init(argv[0]);
	while ((c = getopt(argc, argv, "cp")) != -1) {
		if (c != 'p' && c != 'c')
			prog_usage("[-cp] [file]");
		*(c == 'p' ? &want_pcs : &cut_too) = true;
	}
	r = ev_open(in_open(argv[optind]));
	ev_accept(r, EV_ALL | EV_BLOCKS | EV_COUNTS | EV_CACHE | EV_BRANCHES,
	    "every execution");
	while ((c = ev_next(r, &e)) > 0)
		if (c == EV_EXECS)
			count(r, &e);
		else if (c == 'W')
			count_id(r, e.id, e.num[1]);
	if (c == 0 || cut_too)
		printf("%" PRIu64 "\n", total);
	if (c == 0 && want_pcs)
		print_pcs(r);
	return ev_close(r);
}
