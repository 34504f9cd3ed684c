/*
 * trace - run a program and write what it did as event text
 *
 *	$ trace -o run.ev ./copy in out
 *	$ head -4 run.ev
 *	H quern-events 1
 *	H cmd ./copy in out
 *	H arch x86_64
 *	H kind all
 *
 * This file: the command line, the order of a run, and how it ends: as the
 * program ended, with the same status or by the same signal.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace.h"
#include "util.h"

struct options opt = {
	.kind = KIND_ALL, .cpu = CPU_NATIVE, .sets = 64, .lineshift = 6,
	.ways = 8,
	.vdso = 1, .out_fd = -1
};
struct stats stats;

static int guest_st, guest_seen;

static const char synopsis[] =
    "[-fv] [-e kind] [-i n] [-o file] [--cpu=level] [--vdso=no] [--aslr]\n"
    "             [--after=n] [--for=n] [--from=function] [--to=function]\n"
    "             [--last=size] [--stdout=file]\n"
    "             program [argument ...] | -p pid";

static const char help[] =
"Run a program under binary translation and write what it did as event text.\n"
"\n"
"  -e, --events=KIND    all, blocks, cache[=N[,L[,W]]], counts: events(5)\n"
"                                                                [all]\n"
"  -f, --follow         each child process too, with a stream of its own:\n"
"                       FILE of -o has %p in it, for the process number\n"
"  -i, --interval=N     kind counts: an interval every N instructions\n"
"  -o, --output=FILE    instead of standard output; then the program's own\n"
"                       standard output is left alone, else it goes to\n"
"                       standard error\n"
"  -p, --pid=PID        attach to this process, all its threads, until it\n"
"                       ends, --for is done, or we are interrupted\n"
"      --after=N        tell nothing of the first N instructions\n"
"      --for=N          then tell N and let the program go on natively\n"
"      --from=FN        tell only what a thread does in function FN\n"
"      --to=FN          not until FN returns, but until it enters this one\n"
"      --last=SIZE      keep only the newest SIZE bytes of each thread's\n"
"                       records; write them at the end and at each SIGUSR1\n"
"      --stdout=FILE    where the program's standard output goes\n"
"      --cpu=LEVEL      what cpuid answers: native, v2, v3 or v4  [native]\n"
"      --vdso=yes|no    show the program the kernel's vDSO      [yes]\n"
"      --aslr           leave address randomisation on\n"
"  -v, --verbose        figures of the translation at the end\n"
"  -h, --help           this text\n"
"      --version        the version\n";

enum { OPT_CPU = 256, OPT_AFTER, OPT_FOR, OPT_FROM, OPT_TO, OPT_VDSO, OPT_ASLR,
	OPT_STDOUT, OPT_DEBUG, OPT_ADOPT, OPT_LAST, OPT_VERSION };

static const struct option options[] = {
	{ "events", required_argument, NULL, 'e' },
	{ "follow", no_argument, NULL, 'f' },
	{ "adopt", required_argument, NULL, OPT_ADOPT },
	{ "interval", required_argument, NULL, 'i' },
	{ "output", required_argument, NULL, 'o' },
	{ "pid", required_argument, NULL, 'p' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ "after", required_argument, NULL, OPT_AFTER },
	{ "for", required_argument, NULL, OPT_FOR },
	{ "from", required_argument, NULL, OPT_FROM },
	{ "to", required_argument, NULL, OPT_TO },
	{ "last", required_argument, NULL, OPT_LAST },
	{ "cpu", required_argument, NULL, OPT_CPU },
	{ "vdso", required_argument, NULL, OPT_VDSO },
	{ "aslr", no_argument, NULL, OPT_ASLR },
	{ "stdout", required_argument, NULL, OPT_STDOUT },
	{ "debug", required_argument, NULL, OPT_DEBUG },
	{ NULL, 0, NULL, 0 }
};

/* cache=N,L,W: sets, bytes of a line, ways, all optional */
static void
set_cache(const char *s)
{
	unsigned long v[3] = { 64, 64, 8 };
	const char *p = s;
	char *end;
	unsigned i;

	for (i = 0; *p != '\0'; i++) {
		if (i == 3 || *p != (i == 0 ? '=' : ',') || p[1] < '0' ||
		    p[1] > '9')
			die("-e cache%s: cache=sets,line,ways", s);
		v[i] = strtoul(p + 1, &end, 10);
		p = end;
	}
	if (v[0] < 2 || v[0] > MAX_SETS || (v[0] & (v[0] - 1)) != 0)
		die("-e cache: %lu sets: a power of two, 2 to %u", v[0],
		    MAX_SETS);
	if (v[1] < 16 || v[1] > 4096 || (v[1] & (v[1] - 1)) != 0)
		die("-e cache: lines of %lu bytes: a power of two, 16 to 4096",
		    v[1]);
	if (v[2] < 1 || v[2] > PLACES)
		die("-e cache: %lu ways: 1 to %u", v[2], PLACES);
	opt.kind = KIND_CACHE;
	opt.sets = (unsigned)v[0];
	opt.lineshift = (unsigned)__builtin_ctzl(v[1]);
	opt.ways = (unsigned)v[2];
}

static void
set_kind(const char *s)
{
	static const struct {
		const char *name;
		enum kind kind;
	} kinds[] = {
		{ "all", KIND_ALL }, { "blocks", KIND_BLOCKS },
		{ "counts", KIND_COUNTS }, { "none", KIND_NONE }
	};
	unsigned i;

	if (strncmp(s, "cache", 5) == 0 && (s[5] == '\0' || s[5] == '=' ||
	    s[5] == ' ')) {
		set_cache(s + 5);
		return;
	}
	for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (strcmp(s, kinds[i].name) == 0) {
			opt.kind = kinds[i].kind;
			return;
		}
	die("-e %s: not a kind of events: all, blocks, cache, counts", s);
}

/* For tests: nolink, tinycache, nosuper, long, with commas between. */
static void
set_debug(char *s)
{
	static const char *const names[] = { "nolink", "tinycache", "nosuper",
		"long" };
	char *word, *save = NULL;
	unsigned i;

	for (word = strtok_r(s, ",", &save); word != NULL;
	    word = strtok_r(NULL, ",", &save)) {
		for (i = 0; i < 4; i++)
			if (strcmp(word, names[i]) == 0)
				break;
		if (i == 4)
			die("--debug=%s: nolink, tinycache, nosuper, long",
			    word);
		opt.debug |= 1u << i;
	}
}

static int
yes_no(const char *what, const char *s)
{
	if (strcmp(s, "yes") != 0 && strcmp(s, "no") != 0)
		die("%s=%s: yes or no", what, s);
	return s[0] == 'y';
}

static void
one_option(int c)
{
	switch (c) {
	case 'e':
		set_kind(optarg);
		break;
	case 'f':
		opt.follow = 1;
		break;
	case 'i':
		opt.interval = num_arg("-i", optarg, 1, 1ull << 50);
		break;
	case 'o':
		opt.out = optarg;
		break;
	case 'p':
		opt.pid = (pid_t)num_arg("-p", optarg, 1, 1 << 22);
		break;
	case 'v':
		opt.verbose = 1;
		break;
	case 'h':
		prog_help(help);
	case OPT_VERSION:
		prog_version();
	case OPT_AFTER:
		opt.after = num_arg("--after", optarg, 0, 1ull << 60);
		break;
	case OPT_FOR:
		opt.during = num_arg("--for", optarg, 1, 1ull << 60);
		break;
	case OPT_FROM:
		window_add(optarg, WINDOWS_FROM);
		break;
	case OPT_TO:
		window_add(optarg, WINDOWS_TO);
		break;
	case OPT_LAST:
		opt.last = num_arg("--last", optarg, 4096, 1ull << 36);
		break;
	case OPT_CPU:
		if (cpu_parse(optarg, &opt.cpu) < 0)
			die("--cpu=%s: native, v2, v3 or v4", optarg);
		break;
	case OPT_VDSO:
		opt.vdso = yes_no("--vdso", optarg);
		break;
	case OPT_ASLR:
		opt.aslr = 1;
		break;
	case OPT_STDOUT:
		opt.guest_out = optarg;
		break;
	case OPT_ADOPT:		/* follow.c */
		opt.adopt = optarg;
		break;
	case OPT_DEBUG:
		set_debug(optarg);
		break;
	default:
		prog_usage(synopsis);
	}
}

/*
 * The stream's own descriptor, out of the way of the program's: what it
 * closes or writes to as 1 is not the stream.
 */
static void
choose_output(void)
{
	if (opt.out != NULL && strcmp(opt.out, "-") != 0)
		return;
	opt.out = NULL;
	opt.out_fd = fcntl(1, F_DUPFD_CLOEXEC, 100);
	if (opt.out_fd < 0)
		opt.out_fd = fcntl(1, F_DUPFD_CLOEXEC, 3);
	if (opt.out_fd < 0)
		die("standard output:");
}

void
guest_status(pid_t pid, int st)
{
	if (pid != guest.pid)
		return;
	guest_st = st;
	guest_seen = 1;
}

/* The name of this process's stream. */
static void
name_output(void)
{
	const char *at = opt.out == NULL ? NULL : strstr(opt.out, "%p");
	char *name;
	size_t n;

	if (at == NULL)
		return;
	n = strlen(opt.out) + 16;
	name = xmalloc(n);
	snprintf(name, n, "%.*s%d%s", (int)(at - opt.out), opt.out,
	    (int)guest.pid, at + 2);
	opt.out = name;
}

/* gone: serving ended with the program let go, and alive. */
static void
reap(int gone)
{
	int st;
	pid_t p;

	if (opt.pid != 0 && gone)
		guest_seen = 1;		/* it lives on */
	if ((opt.adopt != NULL || opt.pid != 0) && !guest_seen)
		guest_status(guest.pid, adopt_status());
	while (!guest_seen) {
		p = waitpid(guest.pid, &st, __WALL);
		if (p < 0 && errno != EINTR)
			die("waiting for the program:");
		if (p == guest.pid && (WIFEXITED(st) || WIFSIGNALED(st)))
			guest_status(p, st);
	}
}

static void
tell_stats(void)
{
	struct stats *s = &stats;

	warn("%llu fragments, %llu instructions in them, %llu bytes of code "
	    "for %llu", (unsigned long long)s->fragments,
	    (unsigned long long)s->insns, (unsigned long long)s->codebytes,
	    (unsigned long long)s->guestbytes);
	warn("%llu requests, %.1f ms translating, %.2f us a fragment, "
	    "%llu flushes", (unsigned long long)s->requests,
	    (double)s->translate_ns / 1e6, s->fragments == 0 ? 0 :
	    (double)s->translate_ns / 1e3 / (double)s->fragments,
	    (unsigned long long)s->flushes);
	warn("%llu executions told", (unsigned long long)s->records);
}

/* Die of the program's signal, without a core of our own. */
static _Noreturn void
die_of(int sig)
{
	struct rlimit none = { 0, 0 };
	sigset_t set;

	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0);
	signal(sig, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(sig);
	_exit(128 + sig);
}

/* Attached: the program goes on without us. */
static void
stop(int sig)
{
	(void)sig;
	serve_stop();
}

static volatile pid_t forward_to;

static void
forward(int sig)
{
	if (forward_to > 0)
		kill(forward_to, sig);
}

/*
 * The terminal sends its signals to the program as well: it decides.  One
 * that was meant for us alone is passed on.
 */
static void
own_signals(void)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction a;
	unsigned i;

	memset(&a, 0, sizeof a);
	a.sa_handler = SIG_IGN;		/* a reader that goes away: see format.c */
	sigaction(SIGPIPE, &a, NULL);
	a.sa_handler = stop;
	a.sa_flags = SA_RESTART;
	for (i = 0; opt.pid != 0 && i < 4; i++)
		sigaction(ends[i], &a, NULL);
	if (opt.pid != 0)
		return;
	a.sa_handler = SIG_IGN;
	sigaction(SIGINT, &a, NULL);
	sigaction(SIGQUIT, &a, NULL);
	a.sa_handler = forward;
	a.sa_flags = SA_RESTART;
	forward_to = guest.pid;
	sigaction(SIGTERM, &a, NULL);
	sigaction(SIGHUP, &a, NULL);
	if (opt.last == 0)
		sigaction(SIGUSR1, &a, NULL);
	sigaction(SIGUSR2, &a, NULL);
}

static void
check_options(void)
{
	if (opt.interval != 0 && opt.kind != KIND_COUNTS)
		die("-i: only kind counts has intervals");
	if (opt.during != 0 && opt.kind != KIND_ALL && opt.kind != KIND_BLOCKS)
		die("--for: only kinds all and blocks can end early");
	if (opt.last != 0 && opt.kind != KIND_ALL && opt.kind != KIND_BLOCKS)
		die("--last: only kinds all and blocks have records in order");
	if (opt.follow && (opt.out == NULL || strstr(opt.out, "%p") == NULL))
		die("-f: each process has a stream of its own: -o with %%p in "
		    "the name, as in -o run.%%p.ev");
	opt.window = opt.kind;
	if (opt.after != 0)
		opt.kind = KIND_SKIP;
}

/* The program was let go before it ran. */
static _Noreturn void
natively(const char *name)
{
	warn("%s: 32-bit programs cannot be traced: it runs natively, without "
	    "a stream", name);
	own_signals();
	reap(0);
	exit(STATUS_TROUBLE);
}

/* The program stopped, its stream begun; then it runs. */
static void
begin(char **argv)
{
	if (opt.adopt != NULL) {
		argv = adopt(opt.adopt);
		if (argv == NULL)
			exit(0);
	} else if (opt.pid != 0) {
		own_signals();
		attach(opt.pid);
		argv = process_command();
	} else if (opt.follow) {
		launch(argv);
	}
	name_output();
	format_start(argv);
	frag_start();
	if (opt.adopt == NULL && opt.pid == 0 && !opt.follow)
		launch(argv);
	if (opt.adopt != NULL)
		adopt_inject();
	else if (opt.pid != 0)
		attach_inject();
	else if (launch_is_foreign())
		natively(argv[0]);
	else
		launch_inject();
	if (opt.pid == 0)
		own_signals();
	format_begin();
}

int
main(int argc, char *argv[])
{
	int c, whole, gone;

	prog_init(argv[0]);
	die_status = STATUS_TROUBLE;
	while ((c = getopt_long(argc, argv, "+e:fhi:o:p:v", options, NULL)) != -1)
		one_option(c);
	if (opt.adopt != NULL)
		opt.pid = 0;
	if ((optind == argc) != (opt.adopt != NULL || opt.pid != 0))
		prog_usage(synopsis);
	check_options();
	choose_output();
	follow_options(optind, argv);
	begin(argv + optind);
	gone = serve();
	__atomic_store_n(&area.ctl->letgo, 2, __ATOMIC_SEQ_CST);
	if (gone && opt.pid != 0)
		detach();
	reap(gone);
	format_drain();
	whole = !stats.refused && !format_lost;
	if (WIFSIGNALED(guest_st))
		format_end("signal", WTERMSIG(guest_st), whole);
	else
		format_end("exit", WEXITSTATUS(guest_st), whole);
	window_tell();
	if (opt.verbose)
		tell_stats();
	follow_wait();
	if (format_lost == EPIPE)
		die_sigpipe();
	if (!whole || format_lost)
		return STATUS_TROUBLE;
	if (opt.adopt != NULL || opt.pid != 0)
		return 0;
	if (WIFSIGNALED(guest_st))
		die_of(WTERMSIG(guest_st));
	return WEXITSTATUS(guest_st);
}
