/*
 * cachesim - what a run does to the caches
 *
 *	trace ls | cachesim | fmt-cachegrind >cachegrind.out
 *
 * reads events, events(5), of kind all or cache, and writes costs, costs(5):
 * for each address the instructions executed, data read and written, and what
 * of that missed the first-level caches I1 and D1, and the last level LL.
 *
 *	H quern-events 1		events: Ir I1mr ILmr Dr D1mr ...
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

#include "cachesim.h"
#include "evw.h"
#include "in.h"
#include "insns.h"
#include "objmap.h"
#include "out.h"
#include "outcome.h"
#include "report.h"
#include "simopt.h"
#include "util.h"

static const char synopsis[] = "[-tv] [--I1=S,A,L] [--D1=S,A,L] "
    "[--LL=S,A,L] [--rep=once|each] [--wide=whole|cut] "
    "[-o file] [file]";

static const char help[] =
    "usage: cachesim [option]... [file]\n"
    "Simulate caches on a stream of events; write costs.\n"
    "\n"
    "      --I1=SIZE,ASSOC,LINE  level-1 instruction cache\n"
    "      --D1=SIZE,ASSOC,LINE  level-1 data cache\n"
    "      --LL=SIZE,ASSOC,LINE  last-level cache (also --L2)\n"
    "                            default: those of the traced machine, or\n"
    "                            of this one\n"
    "      --rep=once|each       count a repeated string instruction once,\n"
    "                            or for each round, as Valgrind does\n"
    "      --wide=whole|cut      a reference wider than a line touches all\n"
    "                            its lines, or one, as in Cachegrind\n"
    "  -o, --output=FILE         write to FILE\n"
    "  -t, --through             pass the events on, with the misses\n"
    "  -v, --verbose             print a summary to standard error\n"
    "  -h, --help                this text\n"
    "      --version             the version\n";

static struct simopt opt = { .synopsis = synopsis, .help = help };

static struct report report;
static struct evr *events;
static struct evw *writer;
static struct out *out;
static int ready;	/* caches are made: all H lines have been read */

static const char *const event_name[] = { "I1mr", "ILmr", "D1mr", "DLmr",
    "D1mw", "DLmw" };

/* The file to read. */
static const char *
options(int argc, char **argv)
{
	enum { OPT_I1 = 256, OPT_D1, OPT_LL, OPT_REP, OPT_WIDE };
	static const struct option longopts[] = {
		{ "D1", required_argument, NULL, OPT_D1 },
		{ "I1", required_argument, NULL, OPT_I1 },
		{ "L2", required_argument, NULL, OPT_LL },
		{ "LL", required_argument, NULL, OPT_LL },
		{ "rep", required_argument, NULL, OPT_REP },
		{ "wide", required_argument, NULL, OPT_WIDE },
		SIMOPT_LONG
	};
	int c;

	while ((c = getopt_long(argc, argv, SIMOPT_SHORT, longopts,
	    NULL)) != -1)
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
		case OPT_REP:
			report.each = simopt_choice("rep", "once", "each");
			break;
		case OPT_WIDE:
			cut_wide = simopt_choice("wide", "whole", "cut");
			break;
		default:
			simopt_take(&opt, c);
		}
	return simopt_file(&opt, argc, argv);
}

/* ---- lines ---- */

static void
head(const struct ev *e)
{
	simhead_line(&report.head, e);
	for (int i = 0; i < NCACHE; i++)
		if (strcmp(e->text, cache_name[i]) == 0)
			geometry_stream(i, e->value);
	if (strcmp(e->text, "outcomes") == 0 &&
	    outcome_head(report.told, e->value) < 0)
		ev_bad(events, "H outcomes: too many events, or malformed");
	if (outcome_has(report.told, event_name, 6))
		ev_bad(events, "H outcomes: these events have been through "
		    "a cachesim before");
}

static uint64_t
least_ways(void)
{
	uint64_t i1 = report.geometry[I1].assoc, d1 = report.geometry[D1].assoc;

	return i1 < d1 ? i1 : d1;
}

/* Kind cache is exact only for certain caches. */
static void
check_filter(void)
{
	uint64_t sets, size, ways;

	ev_filter(events, &sets, &size, &ways);
	for (int i = I1; i <= D1; i++) {
		const struct geometry *g = &report.geometry[i];
		uint64_t has = g->size / g->line / g->assoc;

		if (g->line != size)
			ev_bad(events, "a stream for lines of %" PRIu64
			    " bytes, but those of %s have %" PRIu64, size,
			    cache_name[i], g->line);
		else if (has % sets != 0)
			ev_bad(events, "a stream for caches with a multiple "
			    "of %" PRIu64 " sets, but %s has %" PRIu64, sets,
			    cache_name[i], has);
		else if (g->assoc < ways)
			ev_bad(events, "a stream for caches of %" PRIu64
			    " ways or more, but %s has %" PRIu64
			    ": needs trace -e cache=%" PRIu64 ",%" PRIu64
			    ",%" PRIu64, ways, cache_name[i], g->assoc, sets,
			    size, least_ways());
	}
}

/* Behind the H lines. */
static void
begin(void)
{
	ready = 1;
	geometry_decide(report.geometry);
	if (ev_kind(events) == EV_CACHE)
		check_filter();
	blocks_init(report.geometry, events);
	batch_init(report.geometry, events, opt.through);
	if (writer == NULL)
		return;
	evw_line(writer, "H outcomes I1mr ILmr D1mr DLmr D1mw DLmw");
	for (int i = 0; i < NCACHE; i++)
		evw_line(writer, "H desc %s", report_cache(&report, i));
}

static void
definition(const struct ev *e)
{
	const char *wrong = blocks_define(ev_def(events, e->id), e->id,
	    ev_kind(events), report.map);

	if (wrong != NULL)
		ev_bad(events, "%s", wrong);
	else if (ev_def(events, e->id)->letter == 'Q' ||
	    ev_def(events, e->id)->letter == 'Z')
		lone_define(ev_def(events, e->id), e->id);
}

static void
outcome(const struct ev *e)
{
	const struct ev_block *b = ev_last(events)->block;
	const char *wrong = outcome_line(report.told,
	    insns_first(insns, (uint32_t)(uintptr_t)b->user - 1) +
	    e->num[0] - 1, e->text);

	if (wrong != NULL)
		ev_bad(events, "O: %s", wrong);
}

/*
 * A stage behind us has nothing to do while the program runs, but much when
 * costs come: it is told of objects as soon as they are there.
 */
static void
mapping(const struct ev *e)
{
	unsigned n = objmap_nobj(report.map);
	const struct obj *obj;

	if (objmap_line(report.map, e->line, e->len) < 0)
		ev_bad(events, "%c: malformed", e->line[0]);
	if (opt.through || objmap_nobj(report.map) == n)
		return;
	obj = objmap_obj(report.map, n);
	if (obj->readable)
		report_object(out, &report, obj->path);
}

static void
line(int letter, const struct ev *e)
{
	switch (letter) {
	case 'H':
		head(e);
		break;
	case 'B':
	case 'P':
	case 'Q':
	case 'Z':
		definition(e);
		break;
	case 'M':
	case 'U':
		mapping(e);
		break;
	case 'O':
		if (!opt.through)
			outcome(e);
		break;
	case 'W':
		unit[e->id].count += e->num[1];
		break;
	}
}

/* ---- passing through ---- */

/* The misses of the last round, which has been written. */
static void
write_found(void)
{
	char text[200 + 40 * 6];
	size_t n;

	for (unsigned i = 0, k; i < nfound; i = k) {
		uint64_t times[6] = { 0 };

		for (k = i; k < nfound && found[k].insn == found[i].insn; k++)
			times[found[k].event] += found[k].n;
		n = (size_t)sprintf(text, "O %x", found[i].insn + 1);
		for (unsigned e = 0; e < 6; e++)
			if (times[e] > 1)
				n += (size_t)sprintf(text + n, " %s*%" PRIx64,
				    event_name[e], times[e]);
			else if (times[e] == 1)
				n += (size_t)sprintf(text + n, " %s",
				    event_name[e]);
		evw_raw(writer, text, n);
	}
}

static void
pass(const uint64_t *p, uint64_t more)
{
	evw_exec(writer, ev_def(events, ev_id(*p))->id, ev_ngroups(*p), p + 1,
	    more);
}

static void
pass_batch(const struct ev *e)
{
	for (const uint64_t *p = e->rec; p < e->end; p = ev_skip(p)) {
		uint64_t rounds = 1 + ev_more(p), quiet = 0, k;

		for (; rounds > 0; rounds -= k) {
			/* like some in which nothing was found: all at once */
			k = quiet > 3 && rounds_alike(p) ? rounds : 1;
			batch_some(p, k);
			quiet += k;
			if (nfound == 0 && rounds != k)
				continue;
			pass(p, quiet - 1);
			quiet = 0;
			write_found();
		}
	}
}

/* ---- */

static void
run(void)
{
	struct ev e;
	int c;

	while ((c = ev_next(events, &e)) > 0) {
		if (!ready && c != 'H')
			begin();
		if (ev_error(events) != NULL)
			break;
		if (c == EV_EXECS) {
			if (opt.through)
				pass_batch(&e);
			else
				batch(e.rec, e.end);
			continue;
		}
		line(c, &e);
		if (writer == NULL || ev_error(events) != NULL)
			continue;
		if (c == 'E')
			evw_end(writer, e.text, (int)e.num[0]);
		else
			evw_raw(writer, e.line, e.len);
	}
	if (ready)
		batch_end();
	report.whole = c == 0;
}

int
main(int argc, char **argv)
{
	const char *file;

	prog_init(argv[0]);
	file = options(argc, argv);
	out = out_open(opt.output);
	events = ev_open(in_open(file));
	ev_accept(events, opt.through ? EV_ALL : EV_ALL | EV_CACHE,
	    "each reference with its address");
	/* where misses are told, so is the instruction */
	if (!opt.through)
		ev_lean(events);
	report.events = events;
	report.map = objmap_new();
	report.told = outcome_new();
	if (opt.through)
		writer = evw_open(out);
	run();
	if (ready && (!opt.through || opt.verbose))
		report_costs(opt.through ? NULL : out, &report);
	if (writer != NULL)
		evw_flush(writer);
	if (ready && opt.verbose)
		report_summary();
	out_close(out);
	return ev_close(events);
}
