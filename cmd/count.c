/*
 * count - how often each instruction was executed
 *
 *	trace -e counts ls | count | fmt-cachegrind >ls.out
 *
 * reads events, events(5), and writes costs, costs(5).  It simulates nothing,
 * so it takes the kinds without order too, which cost the traced program least.
 *
 *	H quern-events 1		events: Ir
 *	H kind counts			ob=???
 *	B 1 >1000 4 2C1000		0x1000 10
 *	T 1				+4 10
 *	1*9
 *	I 20
 *	E exit 0 10
 */
#include <stdio.h>

#include "simrun.h"
#include "util.h"

static const struct option longopts[] = { SIMRUN_OPTIONS };

static uint64_t *times;		/* by id */
static size_t captimes;

static void
open_stream(struct simrun *s)
{
	ev_lean(s->events);
	ev_accept(s->events, s->through ? EV_ALL | EV_BLOCKS :
	    EV_ALL | EV_BLOCKS | EV_COUNTS, "how often blocks were executed");
}

static void
define(struct simrun *s, uint32_t id, const struct ev_def *d)
{
	(void)s;
	(void)d;
	times = xgrow0(times, &captimes, id + 1, sizeof *times);
}

static void
batch(struct simrun *s, const uint64_t *rec, const uint64_t *end)
{
	for (; rec < end; rec = ev_skip(rec)) {
		times[ev_id(*rec)] += ev_more(rec) + 1;
		if (s->through)
			simrun_pass(s, rec, ev_more(rec));
	}
}

static uint64_t
count(uint32_t id)
{
	return times[id];
}

static void
add(const struct insns_at *at, int64_t *n)
{
	n[0] += (int64_t)at->times;
}

/* With -v */
static void
summary(const struct simrun *s)
{
	char buf[32];

	fprintf(stderr, "Instructions: %s\n", num_commas(buf, s->total[0]));
}

static const struct simulator counter = {
	.name = "count",
	.synopsis = "[-tv] [-o file] [file]",
	.help = "usage: count [option]... [file]\n"
	    "Count how often each instruction was executed; write costs.\n"
	    "\n"
	    "  -o, --output=FILE  write to FILE\n"
	    "  -t, --through      pass the events on; no costs\n"
	    "  -v, --verbose      print the sum to standard error\n"
	    "  -h, --help         this text\n"
	    "      --version      the version\n",
	.longopts = longopts, .columns = "Ir", .outcomes = "",
	.open = open_stream, .define = define, .batch = batch,
	.count = count, .add = add, .summary = summary
};

int
main(int argc, char **argv)
{
	return simrun(&counter, argc, argv);
}
