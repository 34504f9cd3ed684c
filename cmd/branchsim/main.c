/*
 * branchsim - how well a run's branches are predicted
 *
 *	trace ls | branchsim -t | cachesim | fmt-cachegrind >cachegrind.out
 *
 * reads events, events(5), of kind all or blocks, and writes costs, costs(5):
 * for each address the instructions executed, conditional and indirect
 * branches, and how many of these were mispredicted.
 *
 *	H quern-events 1		events: Ir Bc Bcm Bi Bim
 *	B 1 >1000 4 2C1000		ob=???
 *	1*9				0x1000 10
 *	E exit 0 10			+4 10 10 3
 *
 * With -t it passes the events on and tells of mispredictions in O lines.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "branchsim.h"
#include "cost.h"
#include "evw.h"
#include "in.h"
#include "insns.h"
#include "objmap.h"
#include "out.h"
#include "outcome.h"
#include "simhead.h"
#include "simopt.h"
#include "util.h"

static const char synopsis[] = "[-tv] [--predictor=name] [--rep=once|each] "
    "[-o file] [file]";

static const char help[] =
    "usage: branchsim [option]... [file]\n"
    "Simulate branch prediction on a stream of events; write costs.\n"
    "\n"
    "      --predictor=NAME  cachegrind (the default), bimodal, gshare,\n"
    "                        tage or perfect\n"
    "      --rep=once|each   the rounds of a repeated string instruction\n"
    "                        are no branches, or are, as in Valgrind\n"
    "  -o, --output=FILE     write to FILE\n"
    "  -t, --through         pass the events on, with mispredictions\n"
    "  -v, --verbose         print a summary to standard error\n"
    "  -h, --help            this text\n"
    "      --version         the version\n";

static struct simopt opt = { .synopsis = synopsis, .help = help };

static const char *const event_name[NEVENT] = { "Bc", "Bcm", "Bi", "Bim",
    "Br", "Brm" };

static const struct predictor *const predictors[] = { &cachegrind, &bimodal,
    &gshare, &tage, &perfect };

static int each;
static const struct predictor *predictor = &cachegrind;
static struct evr *events;
static struct evw *writer;
static struct objmap *map;
static struct outcomes *told;		/* by stages before this one */
static struct simhead stream;		/* its H lines */
static int ready;			/* all H lines have been read */
static uint64_t tid;			/* of the thread that runs */

static void
choose(const char *name)
{
	for (size_t i = 0; i < sizeof predictors / sizeof *predictors; i++)
		if (strcmp(predictors[i]->name, name) == 0) {
			predictor = predictors[i];
			return;
		}
	die("--predictor=%s: not one of cachegrind, bimodal, gshare, tage, "
	    "perfect", name);
}

/* The file to read. */
static const char *
options(int argc, char **argv)
{
	enum { OPT_PREDICTOR = 256, OPT_REP };
	static const struct option longopts[] = {
		{ "predictor", required_argument, NULL, OPT_PREDICTOR },
		{ "rep", required_argument, NULL, OPT_REP },
		SIMOPT_LONG
	};
	int c;

	while ((c = getopt_long(argc, argv, SIMOPT_SHORT, longopts,
	    NULL)) != -1)
		switch (c) {
		case OPT_PREDICTOR:
			choose(optarg);
			break;
		case OPT_REP:
			each = simopt_choice("rep", "once", "each");
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
	simhead_line(&stream, e);
	if (strcmp(e->text, "outcomes") != 0)
		return;
	if (outcome_head(told, e->value) < 0)
		ev_bad(events, "H outcomes: too many events, or malformed");
	if (outcome_has(told, event_name, NEVENT))
		ev_bad(events, "H outcomes: these events have been through "
		    "a branchsim before");
}

static void
begin(void)
{
	ready = 1;
	run_init(events, predictor, each);
	if (writer == NULL)
		return;
	evw_line(writer, predictor->ret != NULL ?
	    "H outcomes Bcm Bim Brm" : "H outcomes Bcm Bim");
	evw_line(writer, "H desc Branch predictor: %s", predictor->name);
}

static void
outcome(const struct ev *e)
{
	const struct ev_def *d = ev_last(events);
	const char *wrong = outcome_line(told, run_number(d->block) +
	    e->num[0] - 1, e->text);

	if (wrong != NULL)
		ev_bad(events, "O: %s", wrong);
}

static void write_found(void);

static void
line(int letter, const struct ev *e)
{
	switch (letter) {
	case 'H':
		head(e);
		break;
	case 'B':
	case 'P':
		run_define(ev_def(events, e->id), e->id, map);
		break;
	case 'K':
		run_goes_on(e->num[1]);
		if (writer != NULL)
			write_found();
		break;
	case 'M':
	case 'U':
		if (objmap_line(map, e->line, e->len) < 0)
			ev_bad(events, "%c: malformed", letter);
		break;
	case 'O':
		if (!opt.through)
			outcome(e);
		break;
	case 'T':
		tid = e->num[0];
		run_thread(ev_thread(events), tid);
		break;
	}
}

/* ---- passing through ---- */

/* What was found about the thread's last execution, which has been written. */
static void
write_found(void)
{
	char text[400];
	size_t n = 0;

	for (unsigned i = 0; i < nfound; i++) {
		const struct found *f = &found[i];

		if (n == 0)
			n = (size_t)sprintf(text, "O %x", f->insn + 1);
		n += (size_t)sprintf(text + n, f->n == 1 ? " %s" :
		    " %s*%" PRIx64, event_name[f->event], f->n);
		if (i + 1 == nfound || f[1].insn != f->insn) {
			evw_raw(writer, text, n);
			n = 0;
		}
	}
}

static void
pass(const uint64_t *p, uint64_t more)
{
	evw_exec(writer, ev_def(events, ev_id(*p))->id, ev_ngroups(*p), p + 1,
	    more);
}

static uint64_t quiet;		/* rounds that have not been passed yet */
static uint64_t passed;		/* how often some have been */

static void
pass_quiet(const uint64_t *p)
{
	if (quiet != 0)
		pass(p, quiet - 1);
	quiet = 0;
	passed++;
}

static int
pass_round(const uint64_t *p)
{
	if (run_before(p) < 0)
		return -1;
	if (nfound != 0) {
		pass_quiet(p);
		write_found();
	}
	run_round(p);
	quiet++;
	if (nfound != 0) {
		pass_quiet(p);
		write_found();
	}
	return 0;
}

static void
left_out(const uint64_t *p, uint64_t rounds)
{
	run_counted(p, rounds);
	quiet += rounds;
}

static void
pass_record(const uint64_t *p)
{
	uint64_t n = 1 + ev_more(p);
	struct run_many m = { p, pass_round, &passed, left_out };

	if (n > REPEAT_FIRST)
		run_many(&m, n);
	else
		while (n-- > 0 && pass_round(p) == 0)
			;
	pass_quiet(p);
}

/* Threads that ended on a branch, with what became of that. */
static void
ends(void)
{
	uint64_t t;

	while (run_end(&t)) {
		if (writer == NULL || nfound == 0)
			continue;
		if (t != tid)
			evw_line(writer, "T %" PRIu64, t);
		tid = t;
		write_found();
	}
}

/* ---- */

/* Returns 0 if the stream was whole. */
static int
run(void)
{
	struct ev e;
	int c;

	while ((c = ev_next(events, &e)) > 0) {
		if (!ready && c != 'H')
			begin();
		if (c == EV_EXECS && !opt.through) {
			run_batch(e.rec, e.end);
		} else if (c == EV_EXECS) {
			for (const uint64_t *p = e.rec; p < e.end &&
			    ev_error(events) == NULL; p = ev_skip(p))
				pass_record(p);
		} else {
			line(c, &e);
		}
		if (ev_error(events) != NULL)
			break;
		if (c == 'E')
			ends();
		if (writer == NULL || c == EV_EXECS)
			continue;
		if (c == 'E')
			evw_end(writer, e.text, (int)e.num[0]);
		else
			evw_raw(writer, e.line, e.len);
	}
	return c == 0 ? 0 : -1;
}

/* ---- costs ---- */

static int64_t total[COST_EVMAX];
static unsigned nevent;		/* of ours: with or without returns */

static void
add_costs(const struct insns_at *at, int64_t *n)
{
	int64_t own[NEVENT + 1] = { 0 };

	run_costs(at->block, at->insn, at->times, own);
	n[0] += (int64_t)at->times + own[NEVENT];
	for (unsigned k = 0; k < nevent; k++)
		n[1 + k] += own[k];
	outcome_add(told, insns_first(insns, at->block) + at->insn,
	    at->i->flow, at->times, n + 1 + nevent);
}

static struct costw *
costs_begin(struct out *o)
{
	struct costnames *names = costnames_new();
	static struct cost_head h;
	unsigned n = outcome_columns(told);
	char *columns = xmalloc(60 + 32 * n), *desc = xmalloc(60);

	strcpy(columns, "Ir");
	for (unsigned i = 0; i < nevent; i++)
		sprintf(strchr(columns, '\0'), " %s", event_name[i]);
	for (unsigned i = 0; i < n; i++)
		sprintf(strchr(columns, '\0'), " %s", outcome_name(told, i));
	costhead_init(&h);
	h.positions = COST_INSTR;
	h.creator = "quern-branchsim-" QUERN_VERSION;
	sprintf(desc, "Branch predictor: %s", predictor->name);
	costhead_desc(&h, desc);
	simhead_put(&stream, &h);
	if (costhead_events(&h, names, columns) < 0)
		die("events: %s", columns);
	costhead_done(&h);
	return costw_begin(o, names, &h, COSTW_RELATIVE | COSTW_SHORT);
}

static void
costs(struct out *o, int whole)
{
	struct insns_costs c = { .total = total, .count = run_count,
	    .add = add_costs };

	nevent = predictor->ret != NULL ? NEVENT : BR;
	c.nev = 1 + nevent + outcome_columns(told);
	if (o != NULL)
		c.w = costs_begin(o);
	insns_write(insns, &c, map);
	if (o != NULL && whole)
		costw_end(c.w);
}

static void
summary(void)
{
	struct out *err = out_fd(2, "standard error");
	static const char *const what[] = { "conditional", "indirect",
	    "return" };

	for (unsigned i = 0; i < nevent / 2; i++) {
		int64_t all = total[1 + 2 * i], wrong = total[2 + 2 * i];

		out_printf(err, "%-12s%15" PRId64 " branches %15" PRId64
		    " mispredicted %6.2f%%\n", what[i], all, wrong,
		    100.0 * (double)wrong / (double)(all != 0 ? all : 1));
	}
	out_flush(err);
}

int
main(int argc, char **argv)
{
	struct out *o;
	const char *file;
	int whole;

	prog_init(argv[0]);
	file = options(argc, argv);
	o = out_open(opt.output);
	events = ev_open(in_open(file));
	ev_lean(events);
	ev_accept(events, each ? EV_ALL : EV_ALL | EV_BLOCKS,
	    each ? "how often instructions were repeated" :
	    "the order of executions");
	map = objmap_new();
	told = outcome_new();
	if (opt.through)
		writer = evw_open(o);
	whole = run() == 0 && !in_lacked();
	if (ready && (!opt.through || opt.verbose))
		costs(opt.through ? NULL : o, whole);
	if (writer != NULL)
		evw_flush(writer);
	if (ready && opt.verbose)
		summary();
	out_close(o);
	return ev_close(events);
}
