/*
 * icount - instructions executed, by address
 *
 *	trace -e counts ls | icount | fmt-cachegrind >ls.out
 *
 * It simulates nothing: it only needs how often each block and prefix ran, and
 * so takes kinds without order too, which cost the traced program least. With
 * --rep=each lib/rounds.h adds the rounds of repeated string instructions.
 *
 *	H quern-events 2		events: Ir
 *	H kind counts			ob=???
 *	B 1 >1000 4 2w1			0x1000 10
 *	1*f				+4 10
 *	E exit 0 16
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "mem.h"
#include "num.h"
#include "prog.h"
#include "rounds.h"
#include "simrun.h"

static const char synopsis[] = "[-iv] [--interval=n] [--rep=once|each] "
    "[-o file] [file]";

static const char help[] =
    "usage: icount [option]... [file]\n"
    "Count instructions on a stream of events; write costs by address.\n"
    "\n"
    "  -i, --intervals      a part for each interval of the stream\n"
    "      --interval=N     only the Nth interval, from 1\n"
    "      --rep=once|each  count a repeated string instruction once,\n"
    "                       or for each round, as Valgrind does\n"
    "  -o, --output=FILE    write to FILE\n"
    "  -v, --verbose        print the sum to standard error\n"
    "  -h, --help           this text\n"
    "      --version        the version\n";

static bool each;
static uint64_t only;		/* --interval, or 0 */
static uint64_t ended;		/* intervals that have ended */
static uint64_t *times;		/* by id: how often it ran */
static size_t captimes;
static struct rounds *rounds;	/* with --rep=each */

enum { OPT_INTERVAL = SIMRUN_OWN, OPT_REP };

static const struct option longopts[] = {
	{ "intervals", no_argument, NULL, 'i' },
	{ "interval", required_argument, NULL, OPT_INTERVAL },
	{ "rep", required_argument, NULL, OPT_REP },
	SIMRUN_OPTIONS
};

static void
option(struct simrun *s, int c)
{
	if (c == 'i')
		s->parts = true;
	else if (c == OPT_INTERVAL)
		only = num_arg("--interval", optarg, 1, UINT64_MAX);
	else
		each = choice_arg("--rep", optarg, "once", "each");
}

static void
open_stream(struct simrun *s)
{
	unsigned kinds = EV_ALL | EV_BLOCKS | EV_COUNTS;

	if (s->parts && only != 0)
		die("-i and --interval exclude each other");
	ev_lean(s->events);
	if (each)
		kinds |= EV_ROUNDS;
	if (s->parts || only != 0)
		ev_accept(s->events, kinds, "intervals");
	else
		ev_accept(s->events, kinds | EV_CACHE | EV_BRANCHES, each ?
		    "how often instructions were repeated" :
		    "how often instructions were executed");
	if (each)
		rounds = rounds_new(s->events);
}

static void
define(struct simrun *s, uint32_t id, const struct ev_def *d)
{
	(void)s;
	times = xgrow0(times, &captimes, id + 1UL, sizeof *times);
	if (each && d->letter == 'B')
		rounds_define(rounds, simrun_number(d->block), d->block);
}

static bool
counting(void)
{
	return only == 0 || ended < only;
}

static void
batch(struct simrun *s, const uint64_t *rec, const uint64_t *end)
{
	unsigned kind = ev_kind(s->events);

	/* kind cache: references; its W lines say what was executed */
	if (kind == EV_CACHE || !counting())
		return;
	for (; rec < end; rec = ev_skip(rec)) {
		times[ev_id(*rec)] += 1 + ev_more(rec);
		if (each && kind != EV_COUNTS)
			rounds_record(rounds, simrun_number(
			    ev_def(s->events, ev_id(*rec))->block), rec);
	}
}

static void
interval(struct simrun *s)
{
	ended++;
	if (s->parts)
		simrun_part(s);
	if (!s->parts && ended >= only)
		return;
	memset(times, 0, captimes * sizeof *times);
	if (each)
		rounds_zero(rounds);
}

/* Is the interval that was asked for in the stream? */
static void
find_interval(struct simrun *s)
{
	uint64_t n = ended;

	for (size_t i = 0; n == ended && i < captimes; i++)
		n += times[i] != 0;
	if (n < only)
		ev_bad(s->events, "only %" PRIu64 " interval%s", n,
		    n == 1 ? "" : "s");
}

static void
line(struct simrun *s, int letter, const struct ev *e)
{
	switch (letter) {
	case 'E':
		find_interval(s);
		break;
	case 'I':
		interval(s);
		break;
	case 'R':
		if (each && counting())
			rounds_line(rounds, simrun_number(
			    ev_def(s->events, e->id)->block), e);
		break;
	case 'W':
		times[e->id] += e->num[1];
		break;
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
	if (each)
		n[0] += (int64_t)rounds_extra(rounds, at->block, at->insn,
		    at->i, at->ref, at->times);
}

static void
summary(const struct simrun *s)
{
	char buf[32];

	fprintf(stderr, "Instructions: %s\n", num_commas(buf, s->total[0]));
}

static const struct simulator icount = {
	.name = "icount", .synopsis = synopsis, .help = help,
	.shortopts = "i", .longopts = longopts, .option = option,
	.columns = "Ir", .open = open_stream, .define = define, .batch = batch,
	.line = line, .count = count, .add = add, .summary = summary
};

int
main(int argc, char **argv)
{
	return simrun(&icount, argc, argv);
}
