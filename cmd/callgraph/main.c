/*
 * callgraph - who calls whom, and what that costs
 *
 *	trace ls | callgraph | fmt-callgrind >callgrind.out
 *
 * reads events(5) and writes costs(5) by function and address: what was
 * executed there, and for each call how often it was made and what it cost
 * until it returned, with everything that it called.
 *
 *	H quern-events 2		events: Ir
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
#include "codename.h"
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
"      --collect-atstart=yes|no count from the start, not only from where a\n"
"                               toggle says so [yes]\n"
"      --collect-bus=yes|no     Ge: instructions that lock the bus [no]\n"
"      --collect-jumps=yes|no   jumps inside of functions, too [no]\n"
"      --collect-systime=no|yes|msec|usec|nsec\n"
"                               sysCount sysTime sysCpuTime: system calls and\n"
"                               their times in such units [no]\n"
"      --contexts[=MAX]         each chain of callers apart, for fmt-folded\n"
"                               and fmt-pprof; at most MAX [1M]\n"
"      --demangle=yes|no        names as in the source [yes]\n"
"      --dump-after=FN          a part of its own when FN is left\n"
"      --dump-before=FN         ... before FN is entered\n"
"      --dump-every-bb=N        ... whenever N basic blocks have run\n"
"      --dump-instr=yes         always so here; see fmt-callgrind\n"
"      --fn-skip=FN             FN's cost is that of the call of it\n"
"      --instr-atstart=yes|no   follow the program from the start [yes]\n"
"      --join-cold=yes|no       f.cold, where compilers put what is rare, is\n"
"                               f [no]\n"
"      --modify=read|write      what reads and writes again is a read, or a\n"
"                               write, as in Callgrind [read]\n"
"      --pop-on-jump=FN         FN returns before it jumps elsewhere\n"
"      --rep=once|each          repeated string instructions count once, or\n"
"                               for each round, as Valgrind has it [once]\n"
"      --requests=exact|block   marks act where they are, or where the\n"
"                               basic block that they end begins [exact]\n"
"      --separate-callers=N[=FN]\n"
"                               each chain of N callers [of FN] apart [0];\n"
"                               auto is 0\n"
"      --separate-recs=N[=FN]   so many levels of recursion apart [2]\n"
"      --separate-sites=yes|no  contexts by where they were called, too:\n"
"                               for lines in fmt-pprof [no]\n"
"      --separate-threads=yes|no\n"
"                               a part for each thread [no]\n"
"      --skip-direct-rec=yes|no a function that calls itself stays at its\n"
"                               level of recursion [no]\n"
"      --skip-plt=yes|no        linkage stubs are no functions [yes]\n"
"      --toggle-collect=FN      count only while in FN\n"
"      --zero-before=FN         forget all when FN is entered\n"
"  -o, --output=FILE            write to FILE\n"
"  -h, --help                   this text\n"
"      --version                the version\n"
"\n"
"FN is a name, with * and ? as wild cards.\n";

static bool opt_calls;
static struct simhead stream;	/* its H lines */
static struct codenames *codes;	/* made at run time */
static const char *pid;
static const char *output;
static bool ready;	/* all H lines are read */
static bool parts;	/* options ask for parts */
static bool writes;	/* modifications are writes */
static bool whole_blocks;	/* marks count for the whole basic block */
/* what costs of calls have, in a stream with contexts */
static bool calls_each, calls_write;
static const char *ordered;	/* an option that needs kind blocks or all */
static char ended[8];	/* how the program ended */
static int endstatus;

/* ---- options ---- */

/* Note that an option needs the order of executions, if it is set. */
static bool
needs_order(const char *option, bool set)
{
	if (set && ordered == NULL)
		ordered = option;
	return set;
}

/* The options that are rules for functions. */
static struct rule_arg {
	const char *option, *pattern;
	enum func_rule rule;
} *rule_args;
static size_t nrule_arg, caprule_arg;

static void
add_rule(const char *name, enum func_rule rule, const char *pattern, uint32_t n)
{
	func_rule(rule, pattern, n);
	rule_args = xgrow(rule_args, &caprule_arg, nrule_arg + 1,
	    sizeof *rule_args);
	rule_args[nrule_arg++] = (struct rule_arg){ name, pattern, rule };
}

/* A misspelled function gives an empty profile. */
static void
warn_of_idle_rules(void)
{
	for (struct rule_arg *a = rule_args; a < rule_args + nrule_arg; a++)
		if (a->pattern != NULL && func_rule_idle(a->rule, a->pattern))
			warn("%s: no function %s was executed", a->option,
			    a->pattern);
}

/* N or N=FN */
static uint32_t
separate(const char *what, enum func_rule rule, char *s, uint64_t max)
{
	char *fn = strchr(s, '=');
	uint32_t n;

	if (fn != NULL)
		*fn++ = '\0';
	if (rule == RULE_CALLERS && strcmp(s, "auto") == 0)
		n = 0;		/* as in Callgrind */
	else
		n = (uint32_t)num_arg(what, s, rule == RULE_RECS, max);
	needs_order(what, n != (rule == RULE_RECS ? 2 : 0));
	add_rule(what, rule, fn, n);
	return n;
}

enum { OPT_CALLS = 256, OPT_BUS, OPT_COLLECT, OPT_JUMPS, OPT_CONTEXTS,
    OPT_SYSTIME, OPT_DEMANGLE, OPT_AFTER, OPT_BEFORE, OPT_EVERY, OPT_FOLLOW,
    OPT_JOIN, OPT_INSTR, OPT_SKIP, OPT_MODIFY, OPT_POP, OPT_REP, OPT_REQUESTS,
    OPT_CALLERS, OPT_RECS, OPT_DIRECT, OPT_SITES, OPT_THREADS, OPT_PLT,
    OPT_TOGGLE, OPT_ZERO, OPT_VERSION };

static const struct option longopts[] = {
	{ "calls", no_argument, NULL, OPT_CALLS },
	{ "collect-atstart", optional_argument, NULL, OPT_COLLECT },
	{ "collect-bus", optional_argument, NULL, OPT_BUS },
	{ "collect-jumps", optional_argument, NULL, OPT_JUMPS },
	{ "collect-systime", required_argument, NULL, OPT_SYSTIME },
	{ "contexts", optional_argument, NULL, OPT_CONTEXTS },
	{ "demangle", optional_argument, NULL, OPT_DEMANGLE },
	{ "dump-after", required_argument, NULL, OPT_AFTER },
	{ "dump-before", required_argument, NULL, OPT_BEFORE },
	{ "dump-every-bb", required_argument, NULL, OPT_EVERY },
	{ "dump-instr", optional_argument, NULL, OPT_INSTR },
	{ "fn-skip", required_argument, NULL, OPT_SKIP },
	{ "help", no_argument, NULL, 'h' },
	{ "instr-atstart", optional_argument, NULL, OPT_FOLLOW },
	{ "join-cold", optional_argument, NULL, OPT_JOIN },
	{ "modify", required_argument, NULL, OPT_MODIFY },
	{ "output", required_argument, NULL, 'o' },
	{ "pop-on-jump", required_argument, NULL, OPT_POP },
	{ "rep", required_argument, NULL, OPT_REP },
	{ "requests", required_argument, NULL, OPT_REQUESTS },
	{ "separate-callers", required_argument, NULL, OPT_CALLERS },
	{ "separate-recs", required_argument, NULL, OPT_RECS },
	{ "separate-sites", optional_argument, NULL, OPT_SITES },
	{ "separate-threads", optional_argument, NULL, OPT_THREADS },
	{ "skip-direct-rec", optional_argument, NULL, OPT_DIRECT },
	{ "skip-plt", optional_argument, NULL, OPT_PLT },
	{ "toggle-collect", required_argument, NULL, OPT_TOGGLE },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ "zero-before", required_argument, NULL, OPT_ZERO },
	{ NULL, 0, NULL, 0 }
};

static void
set_contexts(void)
{
	walk.contexts = true;
	if (optarg != NULL)
		walk.maxcontexts = num_arg("--contexts", optarg, 1, UINT32_MAX);
}

/* An option that is a rule for functions; false: it is another one. */
static bool
rule_option(int c)
{
	static const struct {
		int c;
		enum func_rule rule;
		bool part;	/* it asks for parts */
		const char *name;
	} rules[] = {
		{ OPT_AFTER, RULE_AFTER, true, "--dump-after" },
		{ OPT_BEFORE, RULE_BEFORE, true, "--dump-before" },
		{ OPT_POP, RULE_POP, false, "--pop-on-jump" },
		{ OPT_SKIP, RULE_SKIP, false, "--fn-skip" },
		{ OPT_TOGGLE, RULE_TOGGLE, false, "--toggle-collect" },
		{ OPT_ZERO, RULE_ZERO, true, "--zero-before" }
	};

	for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
		if (rules[i].c != c)
			continue;
		add_rule(rules[i].name, rules[i].rule, optarg, 0);
		needs_order(rules[i].name, true);
		parts |= rules[i].part;
		if (c == OPT_TOGGLE)
			walk.collect = false;
		return true;
	}
	return false;
}

/* An option with yes or no; false: it is another one. */
static bool	/* table */
yes_option(int c)
{
	switch (c) {
	case OPT_BUS:
		walk.bus = needs_order("--collect-bus",
		    yes_arg("collect-bus", optarg));
		break;
	case OPT_COLLECT:
		walk.collect = !needs_order("--collect-atstart=no",
		    !yes_arg("collect-atstart", optarg));
		break;
	case OPT_JUMPS:
		walk.jumps = needs_order("--collect-jumps",
		    yes_arg("collect-jumps", optarg));
		break;
	case OPT_DEMANGLE:
		func_demangle(yes_arg("demangle", optarg));
		break;
	case OPT_FOLLOW:
		walk.off = needs_order("--instr-atstart=no",
		    !yes_arg("instr-atstart", optarg));
		break;
	case OPT_JOIN:
		func_join(needs_order("--join-cold",
		    yes_arg("join-cold", optarg)));
		break;
	case OPT_DIRECT:
		walk.direct = needs_order("--skip-direct-rec",
		    yes_arg("skip-direct-rec", optarg));
		break;
	case OPT_SITES:
		walk.sites = needs_order("--separate-sites",
		    yes_arg("separate-sites", optarg));
		walk.contexts |= walk.sites;
		break;
	case OPT_THREADS:
		walk.threads = yes_arg("separate-threads", optarg);
		break;
	case OPT_PLT:
		func_skip_plt(!needs_order("--skip-plt=no",
		    !yes_arg("skip-plt", optarg)));
		break;
	default:
		return false;
	}
	return true;
}

static void	/* table */
option(int c)
{
	uint64_t every;
	uint32_t n;

	switch (c) {
	case OPT_CALLS:
		opt_calls = needs_order("--calls", true);
		break;
	case OPT_CONTEXTS:
		set_contexts();
		break;
	case OPT_EVERY:
		every = num_arg("--dump-every-bb", optarg, 0, UINT64_MAX);
		if (needs_order("--dump-every-bb", every != 0))
			parts = true;
		every_option(every);
		break;
	case OPT_INSTR:
		if (!yes_arg("dump-instr", optarg))
			die("--dump-instr=no: costs are by address here; "
			    "fmt-callgrind makes lines of them");
		break;
	case OPT_SYSTIME:
		needs_order("--collect-systime", systime_option(optarg));
		break;
	case OPT_MODIFY:
		writes = choice_arg("--modify", optarg, "read", "write");
		break;
	case OPT_REP:
		walk.rep = choice_arg("--rep", optarg, "once", "each");
		break;
	case OPT_REQUESTS:
		whole_blocks = choice_arg("--requests", optarg, "exact",
		    "block");
		needs_order("--requests=block", whole_blocks);
		break;
	case OPT_CALLERS:
		n = separate("--separate-callers", RULE_CALLERS, optarg,
		    CALLERS_MAX);
		if (n > walk.callers)
			walk.callers = n;
		break;
	case OPT_RECS:
		separate("--separate-recs", RULE_RECS, optarg, UINT32_MAX - 1);
		break;
	case OPT_VERSION:
		prog_version();
	case 'h':
		prog_help(help);
	case 'o':
		output = optarg;
		break;
	default:
		if (!rule_option(c) && !yes_option(c))
			prog_usage(synopsis);
	}
}

/* Write a part, or forget the counts, when such a function runs. */
static void
trigger(enum walk_trigger which, const struct func *f)
{
	if (which == WALK_ZERO)
		dump_zero();
	else
		dump_part(which == WALK_DUMP_BEFORE ? "--dump-before" :
		    "--dump-after", f->name);
}

/* ---- lines ---- */

static void
head(const struct ev *e)
{
	simhead_line(&stream, e);
	systime_head(e);
	if (strcmp(e->text, "pid") == 0)
		pid = xstrdup(e->value);
	if (strcmp(e->text, "rep") == 0)
		calls_each = strcmp(e->value, "each") == 0;
	if (strcmp(e->text, "modify") == 0)
		calls_write = strcmp(e->value, "write") == 0;
	if (strcmp(e->text, "outcomes") == 0 &&
	    outcome_head(walk.told, e->value) < 0)
		ev_bad(walk.events,
		    "H outcomes: too many events, or malformed");
}

/* Does the stream tell counts and contexts, not the order of executions? */
static bool
has_contexts(void)
{
	return ev_kind(walk.events) & (EV_COUNTS | EV_CACHE);
}

/* Refuse options that the costs of calls were not counted with. */
static void
check_costs(void)
{
	if (walk.rep != calls_each)
		ev_bad(walk.events, "calls cost %s of a repeated instruction: "
		    "--rep=%s needs trace --rep=%s", calls_each ?
		    "each round" : "one round", walk.rep ? "each" : "once",
		    walk.rep ? "each" : "once");
	else if (walk.data_refs && writes != calls_write)
		ev_bad(walk.events, "calls %s what they modify: --modify=%s "
		    "needs trace --modify=%s", calls_write ? "write" : "read",
		    writes ? "write" : "read", writes ? "write" : "read");
}

/* Refuse what is not in such a stream. */
static void
check_contexts(void)
{
	const char *kind = ev_kind(walk.events) == EV_CACHE ? "cache" :
	    "counts";

	if (!ev_contexts(walk.events))
		ev_bad(walk.events, "a stream of kind %s without calling "
		    "contexts: needs trace -e %s --contexts", kind, kind);
	else if (ordered != NULL)
		ev_bad(walk.events, "a stream of kind %s does not tell what %s "
		    "needs, the order of executions: needs trace -e blocks",
		    kind, ordered);
	else
		check_costs();
}

/* Keep no more of blocks than is looked at. */
static void
be_lean(void)
{
	/* what depends on values is looked at again and again */
	bool lean = !walk.data_refs && !walk.rep && !whole_blocks;

	if (lean && !walk.bus && !has_contexts())
		ev_lean_calls(walk.events);
	else if (lean || has_contexts())
		ev_lean(walk.events);
}

/* Behind the H lines. */
static void
begin(struct out *o)
{
	static const char *const misses[] = { "D1mr", "D1mw", "DLmr", "DLmw" };

	ready = true;
	if (ev_kind(walk.events) == EV_CALLS) {
		/* there is little to tell of each: all contexts */
		walk.contexts |= walk.callers == 0;
		dump_open(o, &stream, pid);
		return;
	}
	for (unsigned i = 0; i < outcome_columns(walk.told); i++)
		for (unsigned k = 0; k < 4; k++)
			walk.data_refs |= strcmp(outcome_name(walk.told, i),
			    misses[k]) == 0;
	if (walk.bus && outcome_head(walk.told, "Ge") < 0)
		die("H outcomes: no room for Ge");
	if (!has_contexts())
		systime_begin();
	if (walk.data_refs)
		walk.firsttold = 3;
	walk.ncol = walk.firsttold + outcome_columns(walk.told);
	be_lean();
	dump_open(o, &stream, pid);
	if (!has_contexts()) {
		plan_begin();
		if (!every_asked() && outcome_columns(walk.told) > 0)
			ev_outcomes(walk.events);
		return;
	}
	check_contexts();
	ready = ev_error(walk.events) == NULL;
	contexts_begin();
}

static void
outcome(const struct ev *e)
{
	walk_told(thread_get(ev_thread(walk.events)), e);
}

static void
unmapped(const struct ev *e)
{
	if (ev_kind(walk.events) != EV_CALLS)
		func_replaced(e->num[0], e->num[1]);
	/* an exec: nobody returns any more */
	if (e->num[0] == 0 && e->num[1] == UINT64_MAX &&
	    ev_kind(walk.events) != EV_CALLS)
		stack_close_all();
}

/* G n = id ...: the segments of these blocks are functions with that name. */
static void
code_name(const struct ev *e)
{
	struct walk_seg *p;

	codenames_take(codes, e);
	if (*e->line == 'L')
		dump_lines();
	for (size_t i = 0; i < e->nids; i++) {
		struct codename *code = codename_get(codes, e->num[0]);

		if (has_contexts()) {
			lines_named(e->ids[i], code);
			continue;
		}
		p = &plan[e->ids[i]];
		for (uint32_t k = 0; k < p->nseg; k++)
			func_named(plan_seg(p, k)->at->fn, code);
	}
}

static void
system_call(const struct ev *e)
{
	struct walk_thread *t = thread_get(ev_thread(walk.events));

	systime_call(t, e);
	if (e->nnum != 1)
		return;
	if (e->num[0] == EV_SIGRETURN)
		stack_sigreturn(t);
	else if (e->num[0] == EV_EXIT)
		stack_close(t);
}

static void
remark(const char *text)
{
	if (text != NULL)
		dump_remark(text);
}

static void
dump(const char *text)
{
	char *s = xmalloc(strlen(text) + 32);

	sprintf(s, "Client Request%s%s", *text != '\0' ? ": " : "", text);
	if (has_contexts())
		contexts_part();
	dump_part(s, NULL);
	free(s);
}

/* A J line, of which opt_calls passes none on. */
static void	/* table */
mark(const struct ev *e)
{
	unsigned thread = ev_thread(walk.events);
	bool moves = whole_blocks && e->num[0] != EV_INTERRUPTED &&
	    e->num[0] != EV_WINDOW;
	struct walk_thread *t;

	/* with --requests=block, the last block comes after the mark */
	if (moves)
		walk_last_block(thread_get(thread), -1);
	switch (e->num[0]) {
	case EV_INTERRUPTED:
		remark(simhead_end(e));
		break;
	case EV_ON:
		stack_follow(true);
		break;
	case EV_COLD:
	case EV_OFF:
		if (!has_contexts())
			stack_close_all();
		stack_follow(!walk.off || e->num[0] == EV_COLD);
		break;
	case EV_WINDOW:
		if (!has_contexts())
			stack_close(thread_get(thread));
		break;
	case EV_TOGGLE:
		t = thread_get(thread);
		stack_collect(t, !t->collect);
		break;
	case EV_DUMP:
		if (!opt_calls)
			dump(e->text);
		break;
	case EV_ZERO:
		if (has_contexts())
			contexts_part();
		if (!opt_calls)
			dump_zero();
		break;
	}
	if (moves)
		walk_last_block(thread_get(thread), 1);
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
		remark(simhead_end(e));
		break;
	case 'H':
		head(e);
		break;
	case 'B':
	case 'P':
		wrong = plan_define(e->id);
		if (wrong != NULL)
			ev_bad(walk.events, "%s", wrong);
		else
			every_define(e->id);
		break;
	case 'U':
		unmapped(e);
		/* fallthrough */
	case 'M':
		if (objmap_line(walk.map, e->line, e->len) < 0)
			ev_bad(walk.events, "%c: malformed", letter);
		break;
	case 'O':
		outcome(e);
		break;
	case 'J':
		mark(e);
		break;
	case 'Y':
		system_call(e);
		break;
	case 'K':
		stack_signal(thread_get(ev_thread(walk.events)),
		    e->num[1]);
		break;
	}
}

/* Does the line add to what kinds counts and cache tell of contexts? */
static bool
is_contexts_line(int letter)
{
	switch (letter) {
	case 'E':
	case 'G':
	case 'H':
	case 'J':
	case 'L':
		return false;
	default:
		return has_contexts();
	}
}

/* 0: the stream was whole. */
static int
run(struct out *o)
{
	struct ev e;
	int c;

	while ((c = ev_next(walk.events, &e)) > 0) {
		if (!ready && c != 'H')
			begin(o);
		if (ev_error(walk.events) != NULL)
			break;
		if (is_contexts_line(c))
			contexts_line(c, &e);
		else if (c == EV_EXECS)
			every_batch(&e);
		else if (ev_kind(walk.events) == EV_CALLS && c != 'H' &&
		    c != 'M' && c != 'U')
			ticks_line(c, &e);
		else if (c == 'G' || c == 'L')
			code_name(&e);
		else
			line(c, &e);
	}
	return c;
}

/* The stream is at its end; whole: nothing is missing. */
static void
end(bool whole)
{
	if (opt_calls) {
		stack_close_all();
		tell_end(whole ? ended : NULL, endstatus);
	} else if (ready) {
		if (ev_kind(walk.events) == EV_CALLS)
			ticks_end();
		else if (has_contexts())
			contexts_end();
		else
			stack_close_all();
		dump_end(whole);
		if (whole)
			warn_of_idle_rules();
	}
}

int
main(int argc, char **argv)
{
	struct out *o;
	int c;

	prog_init(argv[0]);
	while ((c = getopt_long(argc, argv, "ho:", longopts, NULL)) != -1)
		option(c);
	if (argc - optind > 1)
		prog_usage(synopsis);
	if (opt_calls && parts)
		die("--calls tells no costs: no --dump-before, --dump-after, "
		    "--dump-every-bb, --zero-before");
	o = out_open(output);
	walk.events = ev_open(in_open(argv[optind]));
	if (writes)
		ev_modify_writes(walk.events);
	if (walk.rep)
		ev_accept(walk.events, EV_ALL | EV_BLOCKS | EV_COUNTS |
		    EV_CACHE | EV_ROUNDS,
		    "the rounds of instructions");
	else
		ev_accept(walk.events, EV_ALL | EV_BLOCKS | EV_COUNTS |
		    EV_CACHE | (opt_calls ? 0 : EV_CALLS),
		    "the order of executions");
	if (opt_calls) {
		tell_open(o);
		walk.entered = tell_enter;
		walk.left = tell_leave;
		walk.handled = tell_handler;
	}
	walk.trigger = trigger;
	walk.map = objmap_new();
	func_map(walk.map);
	walk.told = outcome_new();
	codes = codenames_new();
	c = run(o);
	end(c == 0 && !in_lacked());
	out_close(o);
	return ev_close(walk.events);
}
