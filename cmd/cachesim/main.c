/*
 * cachesim - what a run does to the caches
 *
 *	trace ls | cachesim | fmt-cachegrind >cachegrind.out
 *
 * reads events, events(5), of kind all or cache, and writes costs, costs(5):
 * for each address the instructions executed, data read and written, and what
 * of that missed the first-level caches I1 and D1, and the last level LL.
 *
 *	H quern-events 2		events: Ir I1mr ILmr Dr D1mr ...
 *	B 1 >1000 4r8.0 2C1000		ob=???
 *	1+7ffe1000			0x1000 2 1 1 2 2 2
 *	1+40				+4 2
 *	E exit 0 2
 *
 * With -t it passes the events on and tells of the misses in O lines.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "cachesim.h"
#include "prog.h"
#include "report.h"

static const char synopsis[] = "[-tv] [--I1=S,A,L] [--D1=S,A,L] "
    "[--LL=S,A,L] [--cacheuse=yes|no] [--caches=machine|valgrind] "
    "[--modify=read|write] [--rep=once|each] [--simulate-hwpref=yes|no] "
    "[--simulate-wb=yes|no] [--wide=whole|cut] [--warm=n] [-o file] [file]";

static const char help[] =
    "usage: cachesim [option]... [file]\n"
    "Simulate caches on a stream of events; write costs.\n"
    "\n"
    "      --I1=SIZE,ASSOC,LINE  level-1 instruction cache\n"
    "      --D1=SIZE,ASSOC,LINE  level-1 data cache\n"
    "      --LL=SIZE,ASSOC,LINE  last-level cache (also --L2)\n"
    "                            default: those of the traced machine, or\n"
    "                            of this one\n"
    "      --caches=machine|valgrind\n"
    "                            print such options for the caches of this\n"
    "                            machine, or what Valgrind takes them for\n"
    "      --cacheuse=yes|no     how lines are used until they are replaced:\n"
    "                            AcCost and SpLoss [no]\n"
    "      --modify=read|write   what reads and writes again is a read, or a\n"
    "                            write, as in Callgrind [read]\n"
    "      --rep=once|each       count a repeated string instruction once,\n"
    "                            or for each round, as Valgrind does\n"
    "      --simulate-hwpref=yes|no  LL prefetches behind neighbouring\n"
    "                            lines [no]\n"
    "      --simulate-wb=yes|no  LL writes back: ILdmr DLdmr DLdmw [no]\n"
    "      --wide=whole|cut      a reference wider than a line touches all\n"
    "                            its lines, or one, as in Cachegrind\n"
    "      --warm=N              do not count the first N instructions\n"
    "  -o, --output=FILE         write to FILE\n"
    "  -t, --through             pass the events on, with the misses\n"
    "  -v, --verbose             print a summary to standard error\n"
    "  -h, --help                this text\n"
    "      --version             the version\n";

static struct geometry geometry[NCACHE];
static bool each;	/* count rounds of repeated instructions */
static bool writes;	/* modifications are writes */

enum { OPT_I1 = SIMRUN_OWN, OPT_D1, OPT_LL, OPT_REP, OPT_WIDE, OPT_CACHES,
    OPT_HWPREF, OPT_MODIFY, OPT_USE, OPT_WB };

static const struct option longopts[] = {
	{ "D1", required_argument, NULL, OPT_D1 },
	{ "I1", required_argument, NULL, OPT_I1 },
	{ "L2", required_argument, NULL, OPT_LL },
	{ "LL", required_argument, NULL, OPT_LL },
	{ "cacheuse", optional_argument, NULL, OPT_USE },
	{ "caches", required_argument, NULL, OPT_CACHES },
	{ "modify", required_argument, NULL, OPT_MODIFY },
	{ "rep", required_argument, NULL, OPT_REP },
	{ "simulate-hwpref", optional_argument, NULL, OPT_HWPREF },
	{ "simulate-wb", optional_argument, NULL, OPT_WB },
	{ "wide", required_argument, NULL, OPT_WIDE },
	SIMRUN_WARM
	SIMRUN_OPTIONS
};

static void
option(struct simrun *s, int c)
{
	(void)s;
	switch (c) {
	case OPT_I1:
		geometry_option(I1, optarg);
		break;
	case OPT_D1:
		geometry_option(D1, optarg);
		break;
	case OPT_LL:
		geometry_option(LL, optarg);
		break;
	case OPT_MODIFY:
		writes = choice_arg("--modify", optarg, "read", "write");
		break;
	case OPT_REP:
		each = choice_arg("--rep", optarg, "once", "each");
		break;
	case OPT_CACHES:
		geometry_as_valgrind = choice_arg("--caches", optarg,
		    "machine", "valgrind");
		geometry_print();
		exit(0);
	case OPT_HWPREF:
		variants.hwpref = yes_arg("--simulate-hwpref", optarg);
		break;
	case OPT_USE:
		variants.cacheuse = yes_arg("--cacheuse", optarg);
		break;
	case OPT_WB:
		variants.wb = yes_arg("--simulate-wb", optarg);
		break;
	default:
		cut_wide = choice_arg("--wide", optarg, "whole", "cut");
		break;
	}
}

/* A stream for another model, which only kind all is enough for. */
static void
open_variant(struct simrun *s)
{
	if (variants.cacheuse && (variants.wb || variants.hwpref))
		die("--cacheuse goes without --simulate-wb and "
		    "--simulate-hwpref");
	ev_accept(s->events, EV_ALL, variants.cacheuse ?
	    "each reference for --cacheuse" : variants.wb ?
	    "each reference for --simulate-wb" :
	    "each reference for --simulate-hwpref");
}

static void
open_stream(struct simrun *s)
{
	if (writes)
		ev_modify_writes(s->events);
	if (variant_is_on()) {
		open_variant(s);
		return;
	}
	ev_accept(s->events, EV_ALL | EV_CACHE,
	    "each reference with its address");
	/* where misses are told, so is the instruction */
	if (!s->through)
		ev_lean(s->events);
}

static void
head(struct simrun *s, const struct ev *e)
{
	const char *wrong;

	for (int i = 0; i < NCACHE; i++) {
		if (strcmp(e->text, cache_name[i]) != 0)
			continue;
		wrong = geometry_stream(i, e->value);
		if (wrong != NULL)
			ev_bad(s->events, "%s cache of %s: %s; give --%s",
			    cache_name[i], e->value, wrong, cache_name[i]);
	}
}

static uint64_t
least_ways(void)
{
	uint64_t i1 = geometry[I1].assoc, d1 = geometry[D1].assoc;

	return i1 < d1 ? i1 : d1;
}

/* The kind of trace's that tells enough for caches with so few sets. */
static const char *
kind_for(uint64_t line, uint64_t ways)
{
	static char text[64];
	uint64_t sets = 128;

	for (int i = I1; i <= D1; i++) {
		const struct geometry *g = &geometry[i];

		while (sets > 1 && g->size / g->line / g->assoc % sets != 0)
			sets /= 2;
	}
	if (sets == 1)
		return "all";
	snprintf(text, sizeof text, "all, or cache=%" PRIu64 ",%" PRIu64 ",%"
	    PRIu64, sets, line, least_ways() < ways ? least_ways() : ways);
	return text;
}

/* Kind cache is exact only for certain caches. */
static void
check_filter(struct simrun *s)
{
	uint64_t sets, size, ways;

	ev_filter(s->events, &sets, &size, &ways);
	for (int i = I1; i <= D1; i++) {
		const struct geometry *g = &geometry[i];
		uint64_t has = g->size / g->line / g->assoc;

		if (g->line != size)
			ev_bad(s->events, "a stream for lines of %" PRIu64
			    " bytes, but those of %s have %" PRIu64, size,
			    cache_name[i], g->line);
		else if (has % sets != 0)
			ev_bad(s->events, "a stream for caches with a multiple "
			    "of %" PRIu64 " sets, but %s has %" PRIu64
			    ": needs trace -e %s", sets, cache_name[i], has,
			    kind_for(size, ways));
		else if (g->assoc < ways)
			ev_bad(s->events, "a stream for caches of %" PRIu64
			    " ways or more, but %s has %" PRIu64
			    ": needs trace -e cache=%" PRIu64 ",%" PRIu64
			    ",%" PRIu64, ways, cache_name[i], g->assoc, sets,
			    size, least_ways());
	}
}

static void
describe_variant(struct simrun *s)
{
	if (variants.wb)
		simrun_desc(s, "LL writes back");
	if (variants.hwpref)
		simrun_desc(s, "LL prefetches");
}

static void
begin(struct simrun *s)
{
	geometry_decide(geometry);
	if (ev_kind(s->events) == EV_CACHE)
		check_filter(s);
	report_init(s->insns, each);
	if (variant_is_on()) {
		variant_init(s, geometry, each);
	} else {
		blocks_init(geometry, s->events);
		batch_init(geometry, s->events, s->through);
		simrun_takes_outcomes(s);
	}
	for (int i = 0; i < NCACHE; i++)
		simrun_desc(s, report_cache(i, &geometry[i]));
	if (variant_is_on())
		describe_variant(s);
}

static void
define(struct simrun *s, uint32_t id, const struct ev_def *d)
{
	const char *wrong;

	if (variant_is_on())
		wrong = variant_define(s, id, d);
	else
		wrong = blocks_define(d, id, ev_kind(s->events));
	if (wrong != NULL)
		ev_bad(s->events, "%s", wrong);
	else if (d->letter == 'Q' || d->letter == 'Z')
		lone_define(d, id);
}

static void
line(struct simrun *s, int letter, const struct ev *e)
{
	(void)s;
	if (letter == 'E' && variant_is_on())
		variant_end(s);
	else if (letter == 'W' && variant_is_on())
		variant_executed(e->id, e->num[1]);
	else if (letter == 'W')
		unit[e->id].count += e->num[1];
	if (letter != 'J' || e->num[0] != EV_COLD)
		return;
	if (variant_is_on())
		variant_clear();
	else
		batch_clear();
}

/* ---- executions ---- */

static void
records(struct simrun *s, const uint64_t *rec, const uint64_t *end)
{
	if (variant_is_on()) {
		variant_batch(s, rec, end);
		return;
	}
	if (s->through)
		pass_records(s, rec, end);
	else
		batch(rec, end);
}

static void
end(struct simrun *s)
{
	(void)s;
	if (!variant_is_on())
		batch_end();
}

static uint64_t
count(uint32_t id)
{
	return variant_is_on() ? variant_count(id) : report_count(id);
}

static void
add(const struct insns_at *at, int64_t *n)
{
	if (variant_is_on())
		variant_add(at, n);
	else
		report_add(at, n);
}

static const struct simulator cachesim = {
	.name = "cachesim", .synopsis = synopsis, .help = help,
	.columns = "Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw",
	.outcomes = "I1mr ILmr D1mr DLmr D1mw DLmw",
	.longopts = longopts, .option = option, .open = open_stream,
	.head = head, .begin = begin, .define = define, .batch = records,
	.line = line, .end = end, .count = count, .add = add,
	.summary = report_summary
};

int
main(int argc, char **argv)
{
	return simrun(&cachesim, argc, argv);
}
