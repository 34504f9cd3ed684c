/*
 * callgraph - who calls whom, and what that costs
 *
 *	trace ls | callgraph | fmt-callgrind >callgrind.out
 *
 * reads events, events(5), and writes costs, costs(5), by function and address:
 * what was executed there, and of each call how often and what it cost until
 * it had returned, with all that was called meanwhile.
 *
 *	H quern-events 1		events: Ir
 *	H kind blocks			fn=(1) main
 *	B 1 >1000 5w8.0-8L2000		0x1000 1
 *	1+7ffe1000			cfn=(2) work
 *	B 2 >2000 3 1r8.0R		calls=1 0x2000
 *	2+7ffe0ff8			0x1000 2
 *	B 3 >1005 2S			+5 1
 *	3				fn=(2)
 *	Y 231				0x2000 1
 *	E exit 0 3			0x2003 1
 *
 * Streams of kind calls give ticks instead of instructions.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "callgraph.h"
#include "in.h"
#include "objmap.h"
#include "out.h"
#include "outcome.h"
#include "util.h"

static const char synopsis[] = "[option]... [file]";

static const char help[] =
"usage: callgraph [option]... [file]\n"
"Find the calls in a stream of events; write costs with calls.\n"
"\n"
"      --calls                  entries and exits, as events, not costs\n"
"      --collect-jumps=yes|no   jumps inside of functions, too [no]\n"
"      --contexts[=MAX]         each chain of callers apart, for fmt-folded\n"
"                               and fmt-pprof; at most MAX [1M]\n"
"      --demangle=yes|no        names as in the source [yes]\n"
"      --dump-after=FN          a part of its own when FN is left\n"
"      --dump-before=FN         ... before FN is entered\n"
"      --dump-instr=yes         always so here; see fmt-callgrind\n"
"      --fn-skip=FN             FN's cost is that of the call of it\n"
"      --join-cold=yes|no       f.cold, where compilers put what is rare, is\n"
"                               f [no]\n"
"      --pop-on-jump=FN         FN returns before it jumps elsewhere\n"
"      --rep=once|each          repeated string instructions count once, or\n"
"                               for each round, as Valgrind has it [once]\n"
"      --separate-callers=N[=FN]\n"
"                               each chain of N callers [of FN] apart [0]\n"
"      --separate-recs=N[=FN]   so many levels of recursion apart [2]\n"
"      --separate-sites=yes|no  contexts by where they were called, too:\n"
"                               for lines in fmt-pprof [no]\n"
"      --separate-threads=yes|no\n"
"                               a part for each thread [no]\n"
"      --skip-plt=yes|no        linkage stubs are no functions [yes]\n"
"      --toggle-collect=FN      count only while in FN\n"
"      --zero-before=FN         forget all when FN is entered\n"
"  -o, --output=FILE            write to FILE\n"
"  -h, --help                   this text\n"
"      --version                the version\n"
"\n"
"FN is a name, with * and ? as wild cards.\n";

struct objmap *map;
struct outcomes *told;
struct evr *events;
unsigned ncol = 1, firsttold = 1;
bool data_refs;
bool opt_sites, opt_rep, opt_calls;
bool opt_jumps, opt_threads, opt_toggle, opt_contexts, opt_demangle = true;
bool opt_join;
uint64_t opt_maxcontexts = 1000000;
uint32_t opt_callers;
struct simhead stream;
const char *pid;

static const char *output;
static bool ready;	/* all H lines have been read */
static bool parts;	/* options ask for parts */
static char ended[8];	/* how the program did */
static int endstatus;

/* ---- options ---- */

/* N or N=FN */
static uint32_t
separate(const char *what, enum func_rule rule, char *s, uint64_t max)
{
	char *fn = strchr(s, '=');
	uint32_t n;

	if (fn != NULL)
		*fn++ = '\0';
	n = (uint32_t)num_arg(what, s, rule == RULE_RECS, max);
	func_rule(rule, fn, n);
	return n;
}

enum { OPT_CALLS = 256, OPT_JUMPS, OPT_CONTEXTS, OPT_DEMANGLE, OPT_AFTER,
    OPT_BEFORE, OPT_JOIN, OPT_INSTR, OPT_SKIP, OPT_POP, OPT_REP, OPT_CALLERS, OPT_RECS,
    OPT_SITES, OPT_THREADS, OPT_PLT, OPT_TOGGLE,
    OPT_ZERO, OPT_VERSION };

static const struct option longopts[] = {
	{ "calls", no_argument, NULL, OPT_CALLS },
	{ "collect-jumps", optional_argument, NULL, OPT_JUMPS },
	{ "contexts", optional_argument, NULL, OPT_CONTEXTS },
	{ "demangle", optional_argument, NULL, OPT_DEMANGLE },
	{ "dump-after", required_argument, NULL, OPT_AFTER },
	{ "dump-before", required_argument, NULL, OPT_BEFORE },
	{ "dump-instr", optional_argument, NULL, OPT_INSTR },
	{ "fn-skip", required_argument, NULL, OPT_SKIP },
	{ "help", no_argument, NULL, 'h' },
	{ "join-cold", optional_argument, NULL, OPT_JOIN },
	{ "output", required_argument, NULL, 'o' },
	{ "pop-on-jump", required_argument, NULL, OPT_POP },
	{ "rep", required_argument, NULL, OPT_REP },
	{ "separate-callers", required_argument, NULL, OPT_CALLERS },
	{ "separate-recs", required_argument, NULL, OPT_RECS },
	{ "separate-sites", optional_argument, NULL, OPT_SITES },
	{ "separate-threads", optional_argument, NULL, OPT_THREADS },
	{ "skip-plt", optional_argument, NULL, OPT_PLT },
	{ "toggle-collect", required_argument, NULL, OPT_TOGGLE },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ "zero-before", required_argument, NULL, OPT_ZERO },
	{ NULL, 0, NULL, 0 }
};

static void
set_contexts(void)
{
	opt_contexts = true;
	if (optarg != NULL)
		opt_maxcontexts = num_arg("--contexts", optarg, 1, UINT32_MAX);
}

static void	/* table */
option(int c)
{
	uint32_t n;

	switch (c) {
	case OPT_CALLS:
		opt_calls = true;
		break;
	case OPT_JUMPS:
		opt_jumps = yes_arg("collect-jumps", optarg);
		break;
	case OPT_CONTEXTS:
		set_contexts();
		break;
	case OPT_JOIN:
		opt_join = yes_arg("join-cold", optarg);
		break;
	case OPT_DEMANGLE:
		opt_demangle = yes_arg("demangle", optarg);
		break;
	case OPT_AFTER:
		parts = true;
		func_rule(RULE_AFTER, optarg, 0);
		break;
	case OPT_BEFORE:
		parts = true;
		func_rule(RULE_BEFORE, optarg, 0);
		break;
	case OPT_INSTR:
		if (!yes_arg("dump-instr", optarg))
			die("--dump-instr=no: costs are by address here; "
			    "fmt-callgrind makes lines of them");
		break;
	case OPT_SKIP:
		func_rule(RULE_SKIP, optarg, 0);
		break;
	case OPT_POP:
		func_rule(RULE_POP, optarg, 0);
		break;
	case OPT_REP:
		opt_rep = strcmp(optarg, "each") == 0;
		if (!opt_rep && strcmp(optarg, "once") != 0)
			die("--rep=%s: neither once nor each", optarg);
		break;
	case OPT_CALLERS:
		n = separate("--separate-callers", RULE_CALLERS, optarg,
		    CALLERS_MAX);
		if (n > opt_callers)
			opt_callers = n;
		break;
	case OPT_RECS:
		separate("--separate-recs", RULE_RECS, optarg, UINT32_MAX - 1);
		break;
	case OPT_SITES:
		opt_sites = yes_arg("separate-sites", optarg);
		opt_contexts |= opt_sites;
		break;
	case OPT_THREADS:
		opt_threads = yes_arg("separate-threads", optarg);
		break;
	case OPT_PLT:
		func_skip_plt(yes_arg("skip-plt", optarg));
		break;
	case OPT_TOGGLE:
		opt_toggle = true;
		func_rule(RULE_TOGGLE, optarg, 0);
		break;
	case OPT_ZERO:
		parts = true;
		func_rule(RULE_ZERO, optarg, 0);
		break;
	case OPT_VERSION:
		prog_version();
	case 'h':
		prog_help(help);
	case 'o':
		output = optarg;
		break;
	default:
		prog_usage(synopsis);
	}
}

/* ---- lines ---- */

static void
head(const struct ev *e)
{
	simhead_line(&stream, e);
	if (strcmp(e->text, "pid") == 0)
		pid = xstrdup(e->value);
	if (strcmp(e->text, "outcomes") == 0 &&
	    outcome_head(told, e->value) < 0)
		ev_bad(events, "H outcomes: too many events, or malformed");
}

/* Behind the H lines. */
static void
begin(struct out *o)
{
	static const char *const misses[] = { "D1mr", "D1mw", "DLmr", "DLmw" };

	ready = true;
	if (ev_kind(events) == EV_CALLS) {
		/* there is little to tell of each: all contexts */
		opt_contexts |= opt_callers == 0;
		dump_open(o);
		return;
	}
	for (unsigned i = 0; i < outcome_columns(told); i++)
		for (unsigned k = 0; k < 4; k++)
			data_refs |= strcmp(outcome_name(told, i),
			    misses[k]) == 0;
	if (data_refs)
		firsttold = 3;
	ncol = firsttold + outcome_columns(told);
	/* what depends on values is looked at again and again */
	if (!data_refs && !opt_rep)
		ev_lean(events);
	walk_begin();
	dump_open(o);
}

static void
outcome(const struct ev *e)
{
	walk_told(thread_get(ev_thread(events)), (uint32_t)e->num[0] - 1,
	    e->text);
}

static void
unmapped(const struct ev *e)
{
	/* an exec: nobody returns any more */
	if (e->num[0] == 0 && e->num[1] == UINT64_MAX &&
	    ev_kind(events) != EV_CALLS)
		stack_close_all();
}

static void
system_call(const struct ev *e)
{
	struct thread *t = thread_get(ev_thread(events));

	if (e->num[0] == 15)
		stack_sigreturn(t);
	else if (e->num[0] == 60)
		stack_close(t);
}

static void	/* table */
line(int letter, const struct ev *e)
{
	const char *wrong;

	if (opt_calls && strchr("HMTU", letter) != NULL)
		tell_line(e);
	switch (letter) {
	case 'E':
		snprintf(ended, sizeof ended, "%s", e->text);
		endstatus = (int)e->num[0];
		break;
	case 'H':
		head(e);
		break;
	case 'B':
	case 'P':
		wrong = plan_define(e->id);
		if (wrong != NULL)
			ev_bad(events, "%s", wrong);
		break;
	case 'U':
		unmapped(e);
		/* fallthrough */
	case 'M':
		if (objmap_line(map, e->line, e->len) < 0)
			ev_bad(events, "%c: malformed", letter);
		break;
	case 'O':
		outcome(e);
		break;
	case 'Y':
		system_call(e);
		break;
	case 'K':
		stack_signal(thread_get(ev_thread(events)));
		break;
	}
}

/* 0: the stream was whole. */
static int
run(struct out *o)
{
	struct ev e;
	int c;

	while ((c = ev_next(events, &e)) > 0) {
		if (!ready && c != 'H')
			begin(o);
		if (c == EV_EXECS)
			walk_batch(&e);
		else if (ev_kind(events) == EV_CALLS && c != 'H' &&
		    c != 'M' && c != 'U')
			ticks_line(c, &e);
		else
			line(c, &e);
	}
	return c;
}

int
main(int argc, char **argv)
{
	struct out *o;
	bool whole;
	int c;

	prog_init(argv[0]);
	while ((c = getopt_long(argc, argv, "ho:", longopts, NULL)) != -1)
		option(c);
	if (argc - optind > 1)
		prog_usage(synopsis);
	if (opt_calls && parts)
		die("--calls tells no costs: no --dump-before, --dump-after, "
		    "--zero-before");
	o = out_open(output);
	events = ev_open(in_open(argv[optind]));
	if (opt_rep)
		ev_accept(events, EV_ALL, "the rounds of instructions");
	else
		ev_accept(events, EV_ALL | EV_BLOCKS |
		    (opt_calls ? 0 : EV_CALLS), "the order of executions");
	if (opt_calls)
		tell_open(o);
	map = objmap_new();
	told = outcome_new();
	c = run(o);
	whole = c == 0 && !in_lacked();
	if (opt_calls) {
		stack_close_all();
		tell_end(whole ? ended : NULL, endstatus);
	} else if (ready) {
		if (ev_kind(events) == EV_CALLS)
			ticks_end();
		else
			stack_close_all();
		dump_end(whole);
	}
	out_close(o);
	return ev_close(events);
}
