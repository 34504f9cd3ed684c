/*
 * reuse - how long until memory is used again
 *
 *	trace ls | reuse --plot=ls.svg
 *
 * reads events, events(5), of kind all, and finds for each reference how many
 * different lines were used since the last use of its line. That is its
 * distance: an LRU cache of as many lines, or less, misses it. So one pass over
 * the stream gives the misses of caches of all sizes.
 *
 *	H quern-events 1		refs 5
 *	B 1 >1000 4r8.0 2C1000		cold 3
 *	1+7ffe1000			curve 64 1 5 1.000000
 *	1+40				curve 128 2 4 0.800000
 *	1-40				curve 192 3 3 0.600000
 *	1+80
 *	1-40
 *	E exit 0 5
 *
 * It writes a text; with --costs costs by address, costs(5); with -t it passes
 * the events on and tells of misses in O lines.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "mem.h"
#include "prog.h"
#include "reuse.h"

static const char synopsis[] = "[-tv] [--refs=data|code|both] [--line=n] "
    "[--sample=share]\n"
    "             [--per-thread] [--sizes=all|size,...] [--caches=size,...]\n"
    "             [--interval=n] [--functions=n] [--costs[=size,...]]\n"
    "             [--plot=file] [-o file] [file]";

static const char help[] =
    "usage: reuse [option]... [file]\n"
    "Tell how many different lines lie between uses of a line of memory, and\n"
    "so what LRU caches of each size miss.\n"
    "\n"
    "      --refs=data|code|both references, fetches, or both      [data]\n"
    "      --line=N              bytes of a line, a power of two   [64]\n"
    "      --sample=SHARE        of the lines, 0.01 or 1%          [all]\n"
    "      --per-thread          each thread by itself\n"
    "      --sizes=SIZE,...|all  caches of the curve\n"
    "      --caches=SIZE,...     caches of the machine, to be marked\n"
    "      --interval=N          instructions of a working set\n"
    "      --functions=N         how many functions to tell        [20]\n"
    "      --costs[=SIZE,...]    write costs: misses at these sizes\n"
    "      --plot=FILE           draw curve and working sets, an SVG\n"
    "  -o, --output=FILE         write to FILE\n"
    "  -t, --through             pass the events on, with the misses\n"
    "  -v, --verbose             print a summary to standard error\n"
    "  -h, --help                this text\n"
    "      --version             the version\n";

#define MOST_TOLD	8	/* sizes, in O lines */

static const struct insns *insns;

/* ---- options ---- */

enum { OPT_REFS = SIMRUN_OWN, OPT_LINE, OPT_SAMPLE, OPT_THREAD, OPT_SIZES,
    OPT_CACHES, OPT_INTERVAL, OPT_FUNCTIONS, OPT_COSTS, OPT_PLOT };

static const struct option longopts[] = {
	{ "refs", required_argument, NULL, OPT_REFS },
	{ "line", required_argument, NULL, OPT_LINE },
	{ "sample", required_argument, NULL, OPT_SAMPLE },
	{ "per-thread", no_argument, NULL, OPT_THREAD },
	{ "sizes", required_argument, NULL, OPT_SIZES },
	{ "caches", required_argument, NULL, OPT_CACHES },
	{ "interval", required_argument, NULL, OPT_INTERVAL },
	{ "functions", required_argument, NULL, OPT_FUNCTIONS },
	{ "costs", optional_argument, NULL, OPT_COSTS },
	{ "plot", required_argument, NULL, OPT_PLOT },
	SIMRUN_OPTIONS
};

static void
option(struct simrun *s, int c)
{
	(void)s;
	switch (c) {
	case OPT_REFS:
		set_refs(optarg);
		break;
	case OPT_LINE:
		set_line(optarg);
		break;
	case OPT_SAMPLE:
		set_sample(optarg);
		break;
	case OPT_THREAD:
		opt.threads = true;
		break;
	case OPT_SIZES:
		opt.all_sizes = strcmp(optarg, "all") == 0;
		curve_nsize = opt.all_sizes ? 0 : read_sizes("--sizes", optarg,
		    curve_size, MOST_SIZES);
		break;
	case OPT_CACHES:
		ncache = read_sizes("--caches", optarg, caches, 8);
		break;
	case OPT_INTERVAL:
		opt.interval = num_arg("--interval", optarg, 1,
		    UINT64_C(1) << 60);
		break;
	case OPT_FUNCTIONS:
		opt.nfunction = num_arg("--functions", optarg, 0, 1 << 30);
		break;
	case OPT_COSTS:
		opt.costs = true;
		nsize = optarg == NULL ? 0 : read_sizes("--costs", optarg,
		    sizes, MOST_SIZES);
		break;
	case OPT_PLOT:
		opt.plot = optarg;
		break;
	}
}

/* ---- the stream ---- */

static void
head(struct simrun *s, const struct ev *e)
{
	(void)s;
	take_head(e);
}

/* The names of misses: D, I or A, then m and the size. */
static char *
event_names(void)
{
	char *list = xcalloc(nsize + 1, 32), *p = list;

	for (unsigned i = 0; i < nsize; i++)
		p += sprintf(p, "%s%cm%s", i == 0 ? "" : " ", !opt.code ? 'D' :
		    opt.data ? 'A' : 'I', sizes[i].name);
	return list;
}

static const char *event_name[MOST_SIZES];

/* Split the list of names; it stays in memory. */
static void
split_names(const char *list)
{
	char *save = NULL;
	unsigned n = 0;

	for (char *p = strtok_r(xstrdup(list), " ", &save); p != NULL;
	    p = strtok_r(NULL, " ", &save))
		event_name[n++] = p;
}

static void
open_stream(struct simrun *s)
{
	ev_accept(s->events, EV_ALL, "each reference with its address");
	ev_lean(s->events);
	opt.costs |= s->through;
	if (!opt.costs)
		s->report = report;
	insns = s->insns;
	refs_init(s->events, s->insns);
}

/* Sizes, if none were given: of costs the caches. */
static void
default_sizes(void)
{
	char buf[24];

	if (nsize != 0)
		return;
	if (!opt.costs)
		for (unsigned i = 0; i < 31; i++)
			add_size(sizes, &nsize, UINT64_C(1024) << i, NULL);
	for (unsigned i = 0; i < ncache; i++)
		add_size(sizes, &nsize, caches[i].bytes,
		    xstrdup(size_name(caches[i].bytes, buf)));
	nsize = unique_sizes(sizes, nsize);
	if (nsize == 0)
		die("--costs: the machine's caches are not known; name sizes");
}

static void
begin(struct simrun *s)
{
	char *columns, *names;

	find_caches();
	default_sizes();
	if (opt.costs) {
		names = event_names();
		columns = xmalloc(strlen(names) + 16);
		sprintf(columns, "Ir%s %s", !opt.data ? "" : opt.code ? " A" :
		    " D", names);
		s->columns = columns;
		s->outcomes = names;
		split_names(names);
		if (outcome_has(s->told, event_name, nsize))
			ev_bad(s->events, "H outcomes: these events have been "
			    "through a reuse before");
	}
	if (s->through && nsize > MOST_TOLD)
		die("--costs: with -t at most %u sizes", MOST_TOLD);
	count_init(s->through);
	history = history_of(0);
}

static void
define(struct simrun *s, uint32_t id, const struct ev_def *d)
{
	const char *wrong = refs_define(id, d);

	if (wrong != NULL)
		ev_bad(s->events, "%s", wrong);
}

/* Pass on what was found: each event of an instruction once. */
static void
pass_found(struct simrun *s, const uint64_t *rec)
{
	uint64_t first = insns_first(s->insns, simrun_number(
	    ev_def(s->events, ev_id(*rec))->block));
	struct sim_outcome o[MOST_TOLD];
	unsigned n;

	for (unsigned i = 0, k; i < nfound; i = k) {
		uint64_t times[MOST_TOLD] = { 0 };

		for (k = i; k < nfound && found[k].insn == found[i].insn; k++)
			times[found[k].event] += found[k].n;
		n = 0;
		for (unsigned e = 0; e < nsize; e++)
			if (times[e] != 0)
				o[n++] = (struct sim_outcome){
				    (uint32_t)(found[i].insn - first), e,
				    times[e] };
		simrun_outcomes(s, event_name, o, n);
	}
}

static void
pass(struct simrun *s, const uint64_t *rec, uint64_t n)
{
	if (nfound == 0) {
		simrun_pass(s, rec, n - 1);
		return;
	}
	for (; n > 0; n--) {
		simrun_pass(s, rec, 0);
		pass_found(s, rec);
	}
}

static void
batch(struct simrun *s, const uint64_t *rec, const uint64_t *end)
{
	bool first;
	uint64_t k;

	history = history_of(ev_thread(s->events));
	history->used = true;
	for (; rec < end && !history->lru.full; rec = ev_skip(rec)) {
		if (!s->through && (rec = refs_sift(rec, end)) == end)
			break;
		first = true;
		for (uint64_t n = 1 + ev_more(rec);
		    n > 0 && !history->lru.full; n -= k) {
			nfound = 0;
			k = refs_run(rec, n, first);
			first = false;
			if (s->through)
				pass(s, rec, k);
		}
	}
	if (history->lru.full)
		ev_bad(s->events, "more than %u lines; a larger --line, or "
		    "--sample, makes fewer", LRU_MOST);
	if (history->work.crowded)
		ev_bad(s->events, "--interval: too many intervals");
}

static void
line(struct simrun *s, int letter, const struct ev *e)
{
	(void)s;
	if (letter == 'T')
		history_of(ev_thread(s->events))->tid = e->num[0];
}

static void
end(struct simrun *s)
{
	(void)s;
	for (unsigned i = 0; i < histories(); i++)
		work_end(history_of(i));
	if (opt.plot != NULL)
		plot(opt.plot);
}

/* ---- costs ---- */

static void
add(const struct insns_at *at, int64_t *n)
{
	const struct row *r = &rows[insns_first(insns, at->block) + at->insn];
	int64_t sum = 0;

	*n++ += (int64_t)at->times;
	if (opt.data)
		*n++ += (int64_t)(at->times * refs_of(at)) + r->extra;
	if (r->n == NULL)
		return;
	sum = (int64_t)r->n[nsize];
	for (unsigned k = nsize; k-- > 0; ) {
		sum += (int64_t)r->n[k];
		n[k] += sum;
	}
}

static const struct simulator reuse = {
	.name = "reuse", .synopsis = synopsis, .help = help,
	.columns = "", .outcomes = "",
	.longopts = longopts, .option = option, .open = open_stream,
	.head = head, .begin = begin, .define = define, .batch = batch,
	.line = line, .end = end, .count = refs_count, .add = add,
	.summary = summary
};

int
main(int argc, char **argv)
{
	return simrun(&reuse, argc, argv);
}
