/*
 * branchsim - how well a run's branches are predicted
 *
 *	trace ls | branchsim -t | cachesim | fmt-cachegrind >cachegrind.out
 *
 * reads events, events(5), of kind all, blocks or branches, and writes costs,
 * costs(5): for each address the instructions executed, conditional and
 * indirect branches, and how many of these were mispredicted. In kind branches
 * the program has kept the predictor itself, and tells sums.
 *
 *	H quern-events 2		events: Ir Bc Bcm Bi Bim
 *	B 1 >1000 4 2C1000		ob=???
 *	1*9				0x1000 10
 *	E exit 0 10			+4 10 10 3
 *
 * With -t it passes the events on and adds mispredictions as O lines.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "branchsim.h"
#include "evw.h"
#include "out.h"
#include "prog.h"

static const char synopsis[] = "[-tv] [--predictor=name] [--rep=once|each] "
    "[--warm=n] [-o file] [file]";

static const char help[] =
    "usage: branchsim [option]... [file]\n"
    "Simulate branch prediction on a stream of events; write costs.\n"
    "\n"
    "      --predictor=NAME  cachegrind (the default), bimodal, gshare,\n"
    "                        tage or perfect\n"
    "      --rep=once|each   the rounds of a repeated string instruction\n"
    "                        are no branches, or are, as in Valgrind\n"
    "      --warm=N          do not count the first N instructions\n"
    "  -o, --output=FILE     write to FILE\n"
    "  -t, --through         pass the events on, with mispredictions\n"
    "  -v, --verbose         print a summary to standard error\n"
    "  -h, --help            this text\n"
    "      --version         the version\n";

static const char *const event_name[NEVENT] = { "Bc", "Bcm", "Bi", "Bim",
    "Br", "Brm" };

static const struct predictor *const predictors[] = { &cachegrind, &bimodal,
    &gshare, &tage, &perfect };

static bool each;		/* --rep=each */
static bool learnt;		/* kind branches: rounds have been learnt */
static const struct predictor *predictor = &cachegrind;
static struct simrun *sim;
static struct thread_name running;

/* The columns of costs, besides Ir: with or without returns. */
static unsigned
nevent(void)
{
	return predictor->ret != NULL ? NEVENT : BR;
}

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

enum { OPT_PREDICTOR = SIMRUN_OWN, OPT_REP };

static const struct option longopts[] = {
	{ "predictor", required_argument, NULL, OPT_PREDICTOR },
	{ "rep", required_argument, NULL, OPT_REP },
	SIMRUN_WARM
	SIMRUN_OPTIONS
};

static void
option(struct simrun *s, int c)
{
	(void)s;
	if (c == OPT_PREDICTOR)
		choose(optarg);
	else
		each = choice_arg("--rep", optarg, "once", "each");
}

static void
open_stream(struct simrun *s)
{
	sim = s;
	ev_lean(s->events);
	ev_accept(s->events, EV_ALL | EV_BLOCKS | EV_BRANCHES |
	    (each ? EV_ROUNDS : 0),
	    each ? "how often instructions were repeated" :
	    "the order of executions");
	if (predictor->ret != NULL) {
		s->columns = "Ir Bc Bcm Bi Bim Br Brm";
		s->outcomes = "Bcm Bim Brm";
	}
}

/* The option that needs executions in order; NULL: there is none. */
static const char *
needs_order(const struct simrun *s)
{
	return predictor != &cachegrind ? "--predictor" :
	    s->through ? "-t" : NULL;
}

static void
head(struct simrun *s, const struct ev *e)
{
	(void)s;
	if (strcmp(e->text, "rep") == 0)
		learnt = strcmp(e->value, "each") == 0;
}

/* The program has kept the predictor: as we are to see it? */
static void
begin_sums(struct simrun *s)
{
	if (needs_order(s) != NULL)
		ev_bad(s->events, "%s needs executions in order, which kinds "
		    "all and blocks tell; kind branches has only sums",
		    needs_order(s));
	else if (each && !learnt)
		ev_bad(s->events, "--rep=each needs a predictor that has "
		    "learnt rounds: trace -e branches --rep=each");
	else if (learnt && !each)
		ev_bad(s->events, "the predictor has learnt rounds, by trace "
		    "--rep=each: needs --rep=each");
	if (each)
		sums_init(s->events);
}

static void
begin(struct simrun *s)
{
	char desc[60];

	if (ev_kind(s->events) == EV_BRANCHES)
		begin_sums(s);
	run_init(s->events, predictor, each);
	snprintf(desc, sizeof desc, "Branch predictor: %s", predictor->name);
	simrun_desc(s, desc);
	simrun_takes_outcomes(s);
}

static void
define(struct simrun *s, uint32_t id, const struct ev_def *d)
{
	(void)s;
	if (d->letter == 'B')
		sums_define(d->block);
	run_define(d, id);
}

/* ---- executions ---- */

/* What was found about the thread's last execution, which has been written. */
static void
tell_found(struct simrun *s)
{
	simrun_outcomes(s, event_name, found, nfound);
}

static uint64_t quiet;		/* rounds that have not been passed yet */
static uint64_t passed;		/* how often some have been */

static void
pass_quiet(const uint64_t *p)
{
	if (quiet != 0)
		simrun_pass(sim, p, quiet - 1);
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
		tell_found(sim);
	}
	run_round(p);
	quiet++;
	if (nfound != 0) {
		pass_quiet(p);
		tell_found(sim);
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

/* A record of one round, by its line. */
static void
pass_one(struct simpass *t, const uint64_t *p, const uint64_t *end)
{
	if (run_before(p) < 0)
		return;
	if (nfound != 0) {
		simpass_outcomes(t);
		tell_found(sim);
	}
	run_round(p);
	simpass_one(t, p, end);
	if (nfound != 0) {
		simpass_lines(t);
		tell_found(sim);
	}
}

static void
pass_batch(struct simrun *s, const uint64_t *rec, const uint64_t *end)
{
	struct simpass t = { .s = s, .text = s->text };

	for (; rec < end; rec = ev_skip(rec)) {
		bool line = t.text != NULL && ev_more(rec) == 0;

		if (line) {
			pass_one(&t, rec, end);
		} else {
			simpass_outcomes(&t);
			pass_record(rec);
		}
		if (ev_error(s->events) != NULL)
			break;
		if (!line)
			simpass_skip(&t, rec);
	}
	simpass_outcomes(&t);
}

static void
batch(struct simrun *s, const uint64_t *rec, const uint64_t *end)
{
	if (s->through)
		pass_batch(s, rec, end);
	else if (run_batch(rec, end) < 0)
		s->stopped = run_refused;
}

/* The lines that follow are about this thread. */
static void
go_to(struct simrun *s, struct thread_name t)
{
	if (t.tid == running.tid && t.pid == running.pid)
		return;
	if (t.has_pid)
		evw_line(s->writer, "T %" PRIu64 " %" PRIu64, t.tid, t.pid);
	else
		evw_line(s->writer, "T %" PRIu64, t.tid);
	running = t;
}

/* Threads that ended on a branch, and the branch's outcomes. */
static void
ends(struct simrun *s)
{
	struct thread_name t;

	while (run_end(&t)) {
		if (s->writer == NULL || nfound == 0)
			continue;
		go_to(s, t);
		tell_found(s);
	}
}

/* Nothing is told of any thread for a while. */
static void
off(struct simrun *s)
{
	struct thread_name own = running;

	ends(s);
	if (s->writer != NULL)
		go_to(s, own);
}

/* What was open when the thread was last told of is not what goes on. */
static void
mark(struct simrun *s, uint64_t which)
{
	if (which == EV_OFF)
		off(s);
	if (which != EV_WINDOW)
		return;
	run_stops();
	if (s->writer != NULL)
		tell_found(s);
}

static void
line(struct simrun *s, int letter, const struct ev *e)
{
	switch (letter) {
	case 'E':
		ends(s);
		break;
	case 'J':
		mark(s, e->num[0]);
		break;
	case 'W':
		if (ev_kind(s->events) == EV_BRANCHES)
			run_sum(e->id, e->num[1]);
		break;
	case 'R':
		sums_rounds(ev_def(s->events, e->id)->block, e);
		break;
	case 'X':
		if (sums_missed(ev_def(s->events, e->id)->block,
		    (uint32_t)e->num[1] - 1, e->num[2]) < 0)
			ev_bad(s->events, "X: instruction %" PRIx64 " of id %"
			    PRIx64 " is no branch", e->num[1], e->num[0]);
		break;
	case 'K':
		run_goes_on(e->num[1]);
		if (s->writer != NULL)
			tell_found(s);
		break;
	case 'T':
		running = (struct thread_name){ e->num[0],
		    e->nnum == 2 ? e->num[1] : 0, e->nnum == 2 };
		run_thread(ev_thread(s->events), running);
		break;
	default:
		break;
	}
}

static void
forget(struct simrun *s)
{
	(void)s;
	run_forget();
}

static void
idle(struct simrun *s, bool is_idle)
{
	(void)s;
	if (!is_idle)
		run_forget();
}

/* ---- costs ---- */

static void
add_costs(const struct insns_at *at, int64_t *n)
{
	int64_t own[NEVENT + 1] = { 0 };

	run_costs(at->block, at->insn, at->times, own);
	sums_costs(at, own);
	n[0] += (int64_t)at->times + own[NEVENT];
	for (unsigned k = 0; k < nevent(); k++)
		n[1 + k] += own[k];
}

static void
summary(const struct simrun *s)
{
	struct out *err = out_fd(2, "standard error");
	static const char *const what[] = { "conditional", "indirect",
	    "return" };

	for (unsigned i = 0; i < nevent() / 2; i++) {
		int64_t all = s->total[1 + 2 * i], wrong = s->total[2 + 2 * i];

		out_printf(err, "%-12s%15" PRId64 " branches %15" PRId64
		    " mispredicted %6.2f%%\n", what[i], all, wrong,
		    100.0 * (double)wrong / (double)(all != 0 ? all : 1));
	}
	out_flush(err);
}

static const struct simulator branchsim = {
	.name = "branchsim", .synopsis = synopsis, .help = help,
	.columns = "Ir Bc Bcm Bi Bim", .outcomes = "Bcm Bim",
	.longopts = longopts, .option = option, .open = open_stream,
	.head = head,
	.begin = begin, .define = define, .batch = batch, .line = line,
	.count = run_count, .add = add_costs, .forget = forget, .idle = idle,
	.summary = summary
};

int
main(int argc, char **argv)
{
	return simrun(&branchsim, argc, argv);
}
