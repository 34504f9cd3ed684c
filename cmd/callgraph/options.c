/*
 * options - the options of the command line
 *
 * Those that say how calls are followed become members of walk, or rules of
 * func.h; the others are in opt.
 */
#include <getopt.h>
#include <string.h>

#include "args.h"
#include "callgraph.h"
#include "mem.h"
#include "prog.h"

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
"      --share-lines=yes|no     counts, cache: the contexts of a function\n"
"                               share its own costs by line [yes]\n"
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

struct callgraph_options opt = { .share = true };

/* Note that an option needs the order of calls at least, if it is set. */
static void
needs_calls(const char *option, bool set)
{
	if (set && opt.ordered == NULL)
		opt.ordered = option;
}

/* Note that an option needs the order of executions, if it is set. */
static bool
needs_order(const char *option, bool set)
{
	needs_calls(option, set);
	if (set && opt.executed == NULL)
		opt.executed = option;
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

void
options_warn_idle(void)
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
	needs_calls(what, n != (rule == RULE_RECS ? 2 : 0));
	add_rule(what, rule, fn, n);
	return n;
}

enum { OPT_CALLS = 256, OPT_BUS, OPT_COLLECT, OPT_JUMPS, OPT_CONTEXTS,
    OPT_SYSTIME, OPT_DEMANGLE, OPT_AFTER, OPT_BEFORE, OPT_EVERY, OPT_FOLLOW,
    OPT_JOIN, OPT_INSTR, OPT_SKIP, OPT_MODIFY, OPT_POP, OPT_REP, OPT_REQUESTS,
    OPT_CALLERS, OPT_RECS, OPT_DIRECT, OPT_SITES, OPT_THREADS, OPT_SHARE,
    OPT_PLT, OPT_TOGGLE, OPT_ZERO, OPT_VERSION };

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
	{ "share-lines", optional_argument, NULL, OPT_SHARE },
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
		opt.parts |= rules[i].part;
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
		    yes_arg("--collect-bus", optarg));
		break;
	case OPT_COLLECT:
		walk.collect = !needs_order("--collect-atstart=no",
		    !yes_arg("--collect-atstart", optarg));
		break;
	case OPT_JUMPS:
		walk.jumps = needs_order("--collect-jumps",
		    yes_arg("--collect-jumps", optarg));
		break;
	case OPT_DEMANGLE:
		func_demangle(yes_arg("--demangle", optarg));
		break;
	case OPT_FOLLOW:
		walk.off = needs_order("--instr-atstart=no",
		    !yes_arg("--instr-atstart", optarg));
		break;
	case OPT_JOIN:
		func_join(needs_order("--join-cold",
		    yes_arg("--join-cold", optarg)));
		break;
	case OPT_DIRECT:
		walk.direct = needs_order("--skip-direct-rec",
		    yes_arg("--skip-direct-rec", optarg));
		break;
	case OPT_SITES:
		walk.sites = needs_order("--separate-sites",
		    yes_arg("--separate-sites", optarg));
		walk.contexts |= walk.sites;
		break;
	case OPT_SHARE:
		opt.share = yes_arg("--share-lines", optarg);
		break;
	case OPT_THREADS:
		walk.threads = yes_arg("--separate-threads", optarg);
		break;
	case OPT_PLT:
		func_skip_plt(!needs_order("--skip-plt=no",
		    !yes_arg("--skip-plt", optarg)));
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
		opt.calls = needs_order("--calls", true);
		break;
	case OPT_CONTEXTS:
		set_contexts();
		break;
	case OPT_EVERY:
		every = num_arg("--dump-every-bb", optarg, 0, UINT64_MAX);
		if (needs_order("--dump-every-bb", every != 0))
			opt.parts = true;
		every_option(every);
		break;
	case OPT_INSTR:
		if (!yes_arg("--dump-instr", optarg))
			die("--dump-instr=no: costs are by address here; "
			    "fmt-callgrind makes lines of them");
		break;
	case OPT_SYSTIME:
		needs_order("--collect-systime", systime_option(optarg));
		break;
	case OPT_MODIFY:
		opt.writes = choice_arg("--modify", optarg, "read", "write");
		break;
	case OPT_REP:
		walk.rep = choice_arg("--rep", optarg, "once", "each");
		break;
	case OPT_REQUESTS:
		opt.whole_blocks = choice_arg("--requests", optarg, "exact",
		    "block");
		needs_order("--requests=block", opt.whole_blocks);
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
		opt.output = optarg;
		break;
	default:
		if (!rule_option(c) && !yes_option(c))
			prog_usage(synopsis);
	}
}

const char *
options(int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, "ho:", longopts, NULL)) != -1)
		option(c);
	if (argc - optind > 1)
		prog_usage(synopsis);
	if (opt.calls && opt.parts)
		die("--calls tells no costs: no --dump-before, --dump-after, "
		    "--dump-every-bb, --zero-before");
	return argv[optind];
}
