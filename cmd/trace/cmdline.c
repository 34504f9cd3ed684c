/*
 * cmdline - read the command line into the options
 */
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cache/cache.h"
#include "code/code.h"
#include "guest/guest.h"
#include "args.h"
#include "expand.h"
#include "look.h"
#include "mem.h"
#include "num.h"
#include "prog.h"
#include "trace.h"
#include "xlate/xlate.h"

static struct options *set;	/* other files see these as const: opt */
static bool after_given;

/* so many instructions: see check_rcx in xlate/count.c */
#define MOST (1ull << 56)

static const char synopsis[] =
    "[-fv] [-e kind] [-i n] [-o file] [--exec=word] [--cpu=level]\n"
    "             [--client-requests[=on|off]] [--log=file] "
    "[--control=file]\n"
    "             [--vdso=yes|no] [--aslr] [--after=n] [--for=n]\n"
    "             [--every=n] [--for-time=s] [--from=function]\n"
    "             [--to=function] [--last=size]\n"
    "             [--stdout=file] [--clear-env[=keep]] [--contexts[=max]]\n"
    "             [--allocs] [--alloc-fn=name:n] [--free-fn=name:n]\n"
    "             [--syscall-times] [--rep=once|each] "
    "[--modify=read|write]\n"
    "             [--store=folder] [--store-max=size]\n"
    "             program [argument ...] | -p pid";

static const char help[] =
"usage: trace [option]... program [argument]...\n"
"Run a program under binary translation and write what it did as event text.\n"
"\n"
"  -e, --events=KIND    all, blocks, branches, cache[=N[,L[,W]]], counts,\n"
"                       none: events(5)                          [all]\n"
"  -f, --follow         each child process too, with a stream of its own:\n"
"                       FILE of -o has %p in it, for the process number\n"
"      --exec=WORD      at an exec: no, let the process go; same, the stream\n"
"                       goes on; new, a stream for each image      [same]\n"
"  -i, --interval=N     kind counts: an interval every N instructions\n"
"  -o, --output=FILE    instead of standard output; then the program's own\n"
"                       standard output is left alone, else it goes to\n"
"                       standard error; with -o '|COMMAND', COMMAND reads\n"
"                       the stream, %p replaced as well; %q{VAR} in FILE\n"
"                       or COMMAND is an environment variable\n"
"  -p, --pid=PID        attach to this process, all its threads, until it\n"
"                       ends, --for is done, or we are interrupted\n"
"      --after=N        tell nothing of the first N instructions\n"
"      --for=N          then tell N and let the program go on natively\n"
"      --every=N        tell as many of each N, and let it go on in between\n"
"      --for-time=S     let the program go on natively after S seconds\n"
"      --from=FN        tell only what a thread does in function FN\n"
"      --to=FN          not until FN returns, but until it enters this one\n"
"      --last=SIZE      keep only the newest SIZE bytes of each thread's\n"
"                       records; write them at the end and at each SIGUSR1\n"
"      --client-requests[=on|off]  answer valgrind.h's requests: start and\n"
"                       stop, dump and zero; off: nothing is told until the\n"
"                       program starts it\n"
"      --log=FILE       append what these requests print to FILE, instead of\n"
"                       to standard error\n"
"      --control=FILE   make a FIFO there, and take commands by it, a line\n"
"                       each: on, off, dump, zero, as these requests\n"
"      --store=FOLDER   keep translations there for the next run;\n"
"                       QUERN_STORE in the environment says so, too\n"
"      --store-max=SIZE at most so many bytes of them           [1G]\n"
"      --stdout=FILE    where the program's standard output goes\n"
"      --contexts[=MAX]    kinds counts, cache: tell calling contexts, and\n"
"                       what each call took; at most MAX contexts  [1M]\n"
"      --rep=once|each  tell repeated string instructions as they are, or for\n"
"                       readers with --rep=each, as Valgrind has them  [once]\n"
"      --modify=read|write  what reads and writes again is a read of the\n"
"                       call, or a write, as in Callgrind        [read]\n"
"      --syscall-times  tell how long each system call took\n"
"      --allocs         tell allocations and frees of memory\n"
"      --alloc-fn=NAME:N   function NAME allocates, too; its argument N is\n"
"                       the size\n"
"      --free-fn=NAME:N    function NAME frees, too; N is the address\n"
"      --clear-env[=KEEP]  give the program no environment, but the variables\n"
"                       that KEEP names: NAME or NAME=VALUE, with commas\n"
"      --cpu=LEVEL      what cpuid answers: native, v2, v3 or v4  [native]\n"
"      --vdso=yes|no    show the program the kernel's vDSO      [yes]\n"
"      --aslr           leave address randomisation on\n"
"  -v, --verbose        a line each second: instructions so far; figures of\n"
"                       the translation at the end\n"
"      --debug=WORD,... for tests of trace itself: nolink, tinycache, "
    "nosuper,\n"
"                       long, fewcounts, fewids, watch, fewcalls, "
    "hide,\n"
"                       dump[=PC]\n"
"  -h, --help           this text\n"
"      --version        the version\n";

enum { OPT_CPU = 256, OPT_AFTER, OPT_FOR, OPT_EVERY, OPT_TIME, OPT_FROM,
	OPT_TO, OPT_VDSO, OPT_ASLR, OPT_STDOUT, OPT_CLEAR, OPT_DEBUG,
	OPT_ADOPT, OPT_LAST,
	OPT_CONTEXTS, OPT_CLIENT, OPT_LOG, OPT_EXEC, OPT_IMAGE, OPT_ALLOCS,
	OPT_ALLOC_FN, OPT_FREE_FN, OPT_SYSTIMES, OPT_REP, OPT_MODIFY,
	OPT_STORE, OPT_STORE_MAX, OPT_CONTROL,
	OPT_VERSION };

static const struct option options[] = {
	{ "events", required_argument, NULL, 'e' },
	{ "follow", no_argument, NULL, 'f' },
	{ "adopt", required_argument, NULL, OPT_ADOPT },
	{ "image", required_argument, NULL, OPT_IMAGE },
	{ "interval", required_argument, NULL, 'i' },
	{ "output", required_argument, NULL, 'o' },
	{ "pid", required_argument, NULL, 'p' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ "after", required_argument, NULL, OPT_AFTER },
	{ "for", required_argument, NULL, OPT_FOR },
	{ "every", required_argument, NULL, OPT_EVERY },
	{ "for-time", required_argument, NULL, OPT_TIME },
	{ "from", required_argument, NULL, OPT_FROM },
	{ "to", required_argument, NULL, OPT_TO },
	{ "log", required_argument, NULL, OPT_LOG },
	{ "control", required_argument, NULL, OPT_CONTROL },
	{ "last", required_argument, NULL, OPT_LAST },
	{ "client-requests", optional_argument, NULL, OPT_CLIENT },
	{ "exec", required_argument, NULL, OPT_EXEC },
	{ "contexts", optional_argument, NULL, OPT_CONTEXTS },
	{ "rep", required_argument, NULL, OPT_REP },
	{ "modify", required_argument, NULL, OPT_MODIFY },
	{ "allocs", no_argument, NULL, OPT_ALLOCS },
	{ "alloc-fn", required_argument, NULL, OPT_ALLOC_FN },
	{ "free-fn", required_argument, NULL, OPT_FREE_FN },
	{ "cpu", required_argument, NULL, OPT_CPU },
	{ "vdso", required_argument, NULL, OPT_VDSO },
	{ "aslr", no_argument, NULL, OPT_ASLR },
	{ "syscall-times", no_argument, NULL, OPT_SYSTIMES },
	{ "store", required_argument, NULL, OPT_STORE },
	{ "store-max", required_argument, NULL, OPT_STORE_MAX },
	{ "stdout", required_argument, NULL, OPT_STDOUT },
	{ "clear-env", optional_argument, NULL, OPT_CLEAR },
	{ "debug", required_argument, NULL, OPT_DEBUG },
	{ NULL, 0, NULL, 0 }
};

/* -e cache=N,L,W: sets, bytes of a line, ways, each optional. */
static void
set_table(const char *s)
{
	uint64_t v[3] = { 64, 64, 8 };
	const char *p = s;
	unsigned i;

	for (i = 0; *p != '\0'; i++)
		if (i == 3 || *p++ != (i == 0 ? '=' : ',') ||
		    num_next(&p, i == 1 ? BYTES : COUNTS, &v[i]) < 0)
			die("-e cache%s: cache=sets,line,ways", s);
	if (v[0] < 2 || v[0] > MAX_SETS || (v[0] & (v[0] - 1)) != 0)
		die("-e cache: %" PRIu64 " sets: a power of two, 2 to %u", v[0],
		    MAX_SETS);
	if (v[1] < 16 || v[1] > 4096 || (v[1] & (v[1] - 1)) != 0)
		die("-e cache: lines of %" PRIu64 " bytes: a power of two, "
		    "16 to 4096", v[1]);
	if (v[2] < 1 || v[2] > PLACES)
		die("-e cache: %" PRIu64 " ways: 1 to %u", v[2], PLACES);
	set->sets = (unsigned)v[0];
	set->lineshift = (unsigned)__builtin_ctzl(v[1]);
	set->ways = (unsigned)v[2];
}

static void
set_kind(const char *s)
{
	set->kind = kind_find(s);
	if (set->kind == NULL)
		die("-e %s: not a kind of events: %s", s, kind_names());
	if (set->kind->help != NULL)
		set_table(s + strlen(set->kind->name));
}

static void
add_window(const char *function, unsigned which)
{
	window_add(function, which);
	set->windows |= which;
}

/* --debug=dump, or dump=PC; s is what follows "dump". */
static void
set_dump(const char *s)
{
	char *end;

	set->debug |= DEBUG_DUMP;
	if (s[0] == '\0')
		return;
	set->dump_pc = strtoull(s + 1, &end, 16);
	if (s[0] != '=' || s[1] == '\0' || *end != '\0')
		die("--debug=dump%s: dump=hexadecimal address", s);
}

/* Set bits of enum debug by their names, which commas separate. */
static void
set_debug(char *s)
{
	static const char *const names[] = { "nolink", "tinycache", "nosuper",
		"long", "fewcounts", "fewids", "watch", "fewcalls",
		"hide" };
	const unsigned n = sizeof names / sizeof names[0];
	char *word, *save = NULL;
	unsigned i;

	for (word = strtok_r(s, ",", &save); word != NULL;
	    word = strtok_r(NULL, ",", &save)) {
		if (strncmp(word, "dump", 4) == 0) {
			set_dump(word + 4);
			continue;
		}
		for (i = 0; i < n; i++)
			if (strcmp(word, names[i]) == 0)
				break;
		if (i == n)
			die("--debug=%s: nolink, tinycache, nosuper, long, "
			    "fewcounts, fewids, watch, fewcalls, hide, "
			    "dump[=PC]", word);
		set->debug |= 1u << i;
	}
}

/* --for-time: seconds, with a fraction or without */
static void
set_time(const char *s)
{
	char *end;

	set->seconds = strtod(s, &end);
	if (end == s || *end != '\0' || !(set->seconds >= 1e-3) ||
	    set->seconds > 1e9)
		die("--for-time=%s: seconds, from 0.001", s);
}

static bool
on_off(const char *s)
{
	static const char *const words[] = { "on", "off" };

	return word_arg("--client-requests", s, words, 2) == 0;
}

static void
set_exec(const char *s)
{
	static const char *const words[] = { [EXEC_NO] = "no",
	    [EXEC_SAME] = "same", [EXEC_NEW] = "new" };

	set->exec = (enum exec)word_arg("--exec", s, words, EXEC_NEW + 1);
}

static bool
yes_no(const char *what, const char *s)
{
	if (strcmp(s, "yes") != 0 && strcmp(s, "no") != 0)
		die("%s=%s: yes or no", what, s);
	return s[0] == 'y';
}

/* --adopt and --image are given by guest/follow.c alone. */
static void
take_process(bool adopt, const char *s)
{
	set->adopt = adopt ? s : NULL;
	set->image = adopt ? NULL : s;
	set->adopted = adopt || strncmp(strchrnul(s, ','), ",1", 2) == 0;
}

static void
set_allocs(int c)
{
	set->allocs = true;
	if (c == OPT_ALLOC_FN)
		allocs_add("--alloc-fn", optarg, ALLOC_NEW);
	else if (c == OPT_FREE_FN)
		allocs_add("--free-fn", optarg, ALLOC_FREE);
}

/* An option that is only there or not; false: it is another one. */
static bool
flag_option(int c)
{
	bool *flag = c == 'f' ? &set->follow : c == 'v' ? &set->verbose :
	    c == OPT_ASLR ? &set->aslr : c == OPT_SYSTIMES ? &set->times : NULL;

	if (flag != NULL)
		*flag = true;
	return flag != NULL;
}

static void
one_option(int c)	/* table */
{
	switch (c) {
	case 'e':
		set_kind(optarg);
		break;
	case 'i':
		set->interval = num_arg("-i", optarg, 1, 1ull << 50);
		break;
	case 'o':
		set->out = optarg;
		break;
	case 'p':
		set->pid = (pid_t)num_arg("-p", optarg, 1, 1 << 22);
		break;
	case 'h':
		prog_help(help);
	case OPT_VERSION:
		prog_version();
	case OPT_AFTER:
		set->after = num_arg("--after", optarg, 0, MOST);
		after_given = true;
		break;
	case OPT_FOR:
		set->during = num_arg("--for", optarg, 1, MOST);
		break;
	case OPT_EVERY:
		set->every = num_arg("--every", optarg, 2, MOST);
		break;
	case OPT_TIME:
		set_time(optarg);
		break;
	case OPT_FROM:
	case OPT_TO:
		add_window(optarg, c == OPT_FROM ? WINDOWS_FROM : WINDOWS_TO);
		break;
	case OPT_CLIENT:
		set->windows |= WINDOWS_REQUESTS;
		set->off = optarg != NULL && !on_off(optarg);
		break;
	case OPT_EXEC:
		set_exec(optarg);
		break;
	case OPT_CONTEXTS:
		set->contexts = optarg == NULL ? 1000000 :
		    num_arg("--contexts", optarg, 1, UINT32_MAX);
		break;
	case OPT_REP:
		set->each = choice_arg("--rep", optarg, "once", "each");
		break;
	case OPT_MODIFY:
		set->writes = choice_arg("--modify", optarg, "read", "write");
		break;
	case OPT_ALLOCS ... OPT_FREE_FN:
		set_allocs(c);
		break;
	case OPT_LOG:
		set->log = optarg;
		break;
	case OPT_CONTROL:
		set->control = optarg;
		break;
	case OPT_LAST:
		set->last = size_arg("--last", optarg, 4096, 1ull << 36);
		break;
	case OPT_CPU:
		if (cpu_parse(optarg, &set->cpu) < 0)
			die("--cpu=%s: native, v2, v3 or v4", optarg);
		break;
	case OPT_VDSO:
		set->vdso = yes_no("--vdso", optarg);
		break;
	case OPT_STORE:
		set->store = optarg;
		break;
	case OPT_STORE_MAX:
		set->store_max = size_arg("--store-max", optarg, 1 << 20,
		    1ull << 50);
		break;
	case OPT_STDOUT:
		set->guest_out = optarg;
		break;
	case OPT_CLEAR:
		set->clear_env = true;
		set->keep_env = optarg;
		break;
	case OPT_ADOPT:
	case OPT_IMAGE:
		take_process(c == OPT_ADOPT, optarg);
		break;
	case OPT_DEBUG:
		set_debug(optarg);
		break;
	default:
		if (!flag_option(c))
			prog_usage(synopsis);
	}
}

/*
 * QUERN_STORE is ours: in the program's environment it would move its stack.
 * Traces of children are told by an option.  A user who sets it for all runs
 * need not be told of each run that cannot use it.
 */
static void
take_store(void)
{
	const char *s = getenv("QUERN_STORE");

	char *option;

	if (set->store == NULL && s != NULL && *s != '\0' &&
	    kept_hindrance() == NULL) {
		option = xmalloc(strlen(s) + 16);
		sprintf(option, "--store=%s", s);
		follow_option(option);
		set->store = strchr(option, '=') + 1;
	}
	unsetenv("QUERN_STORE");
}

/*
 * Give the stream a descriptor of its own, out of the way of the program's, so
 * that the program can close its descriptor 1 or write to it.
 */
static void
choose_output(void)
{
	if (set->out != NULL && strcmp(set->out, "-") != 0)
		return;
	set->out = NULL;
	if (!opt->kind->tells)
		return;		/* no stream: the program keeps its own */
	set->out_fd = fcntl(1, F_DUPFD_CLOEXEC, 100);
	if (set->out_fd < 0)
		set->out_fd = fcntl(1, F_DUPFD_CLOEXEC, 3);
	if (set->out_fd < 0)
		die("standard output:");
}

/* Refuse options that the kind of events has no use for. */
static void
check_kind(void)
{
	if (opt->interval != 0 && !opt->kind->intervals)
		die("-i: only kind counts has intervals");
	if (opt->during != 0 && !opt->kind->tells)
		die("--for: kind none tells nothing that could end early");
	if (opt->contexts != 0 && opt->kind->learns)
		die("--contexts: kind branches tells none; kinds counts and "
		    "cache do");
	if (opt->contexts != 0 && !opt->kind->counters)
		die("--contexts: only kinds counts and cache tell contexts; "
		    "kinds all and blocks have the order of calls");
	if (opt->each && !opt->kind->tells)
		die("--rep=each: kind none tells nothing");
	if (opt->writes && opt->contexts == 0)
		die("--modify=write: only with --contexts; no other stream has "
		    "the costs of calls");
	if (opt->allocs && !opt->kind->tells)
		die("--allocs: kind none tells nothing");
	if (opt->times && (!opt->kind->records || opt->last != 0))
		die("--syscall-times: %s", opt->last != 0 ? "not with --last" :
		    "only kinds all and blocks tell system calls");
	if (opt->last != 0 && !opt->kind->records)
		die("--last: only kinds all and blocks have records in order");
}

/* Streams that nobody keeps may all go to one place. */
static bool
output_is_nothing(void)
{
	return opt->out != NULL && strcmp(opt->out, "/dev/null") == 0;
}

/* Refuse what the program's environment or a stream for each process lacks. */
static void
check_processes(void)
{
	if (opt->clear_env && opt->pid != 0)
		die("--clear-env: a process that runs has its environment");
	if (opt->keep_env != NULL && (opt->keep_env[0] == '=' ||
	    strstr(opt->keep_env, ",=") != NULL))
		die("--clear-env=%s: a variable without a name",
		    opt->keep_env);
	if (opt->follow && opt->kind->tells && !output_has_pid() &&
	    !output_is_command() && !output_is_nothing())
		die("-f: each process has a stream of its own: -o with %%p in "
		    "the name, as in -o run.%%p.ev, or -o with a command");
}

/* Refuse options for requests that do not go together. */
static void
check_requests(void)
{
	if (opt->windows > WINDOWS_REQUESTS || (opt->windows ==
	    WINDOWS_REQUESTS && opt->after != 0))
		die("--client-requests: the program says what is told; no "
		    "--from, --to, --after");
	if (opt->control != NULL && (opt->windows != WINDOWS_REQUESTS ||
	    !opt->kind->tells || opt->last != 0))
		die("--control: %s", opt->last != 0 ? "not with --last" :
		    opt->kind->tells ? "needs --client-requests" :
		    "kind none tells nothing");
	if (opt->control != NULL && opt->control[0] == '\0')
		die("--control: an empty name");
	if (opt->control != NULL && opt->follow &&
	    strstr(opt->control, "%p") == NULL)
		die("--control: each process has a FIFO of its own: needs %%p "
		    "in the name with -f");
}

/*
 * With --every, --after and --for are about each window.  Without --after the
 * first one is in the middle of its part of the run.
 */
static void
settle_every(void)
{
	if (opt->every == 0)
		return;
	if (opt->during == 0 || opt->during >= opt->every)
		die("--every: needs --for, the length of each window, below "
		    "that from one to the next");
	if (opt->windows != 0 || opt->interval != 0 || opt->last != 0)
		die("--every: begins and ends windows itself; no --from, --to, "
		    "--client-requests, -i, --last");
	if (opt->contexts != 0)
		die("--every: no --contexts: windows begin within calls whose "
		    "callers nobody has seen");
	set->span = opt->during;
	set->first = after_given ? opt->after :
	    (opt->every - opt->span) / 2;
	set->during = set->after = 0;
	set->windows = WINDOWS_EVERY;
}

/* Where a FIFO of this name would be, is there another file? */
static void
check_control(void)
{
	char *name;
	struct stat st;

	if (opt->control == NULL || strstr(opt->control, "%p") != NULL)
		return;
	name = expand(opt->control, NULL, false);
	if (lstat(name, &st) == 0 && !S_ISFIFO(st.st_mode))
		die("--control: %s is there, and is no FIFO", name);
	free(name);
}

/* Refuse names that cannot be expanded, or used. */
static void
check_names(void)
{
	if (opt->out != NULL && opt->out[0] == '\0')
		die("-o: an empty name");
	variables_check("-o", opt->out);
	variables_check("--log", opt->log);
	variables_check("--control", opt->control);
	variables_check("--stdout", opt->guest_out);
	check_control();
	if (opt->out != NULL && opt->last == 0 && !output_is_command() &&
	    strstr(opt->out, "%n") != NULL)
		die("-o %s: %%n is the number of a dump of --last", opt->out);
}

/* The first that is wrong is told. */
static void
check_options(void)
{
	check_kind();
	check_processes();
	check_requests();
	check_names();
	if (opt->exec == EXEC_NEW && opt->kind->tells && opt->out == NULL)
		die("--exec=new: each image has a stream of its own: needs -o");
	if (opt->exec == EXEC_NEW && opt->pid != 0)
		die("--exec=new: a process that runs already keeps its stream");
	if (opt->last != 0 && output_is_command())
		die("--last: its dumps are files: -o with a name, no command");
}

char **
cmdline(int argc, char *argv[])
{
	int c;

	set = options_set();
	set->kind = kind_find("all");
	set->store_max = 1ull << 30;
	while ((c = getopt_long(argc, argv, "+e:fhi:o:p:v", options,
	    NULL)) != -1)
		one_option(c);
	set->leaves = set->pid != 0;
	if (opt->adopt != NULL)
		set->pid = 0;
	if ((optind == argc) != (opt->adopt != NULL || opt->image != NULL ||
	    opt->pid != 0))
		prog_usage(synopsis);
	check_options();
	settle_every();
	choose_output();
	set->relocates = !opt->aslr && opt->pid == 0 && !launch_can_fix();
	follow_options(optind, argv);
	take_store();
	return argv + optind;
}
