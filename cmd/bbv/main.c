/*
 * bbv - vectors of basic blocks, interval by interval
 *
 *	B 1 >1000 3 2C1000		T:1:6 :2:1
 *	B 2 >1005 5 2S
 *	1*2				for intervals of 7 instructions: block
 *	2				1 has 6 of them, block 2 one
 *
 * bbv reads events of kinds all, blocks and counts.  Each thread has its own
 * intervals and its own file.  Records of kind counts have no order, so the
 * stream itself ends their intervals.
 */
#include "bbv.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "in.h"
#include "mem.h"
#include "num.h"
#include "prog.h"

static const char synopsis[] =
    "[--interval-size=n] [--bb-out-file=file] [--pc-out-file=file]\n"
    "           [--format=plain|exp-bbv|pinpoints|gem5] [--tail=keep|drop]\n"
    "           [--instr-count-only] [--mav=file] [--mav-size=n]\n"
    "           [-v] [file]";

static const char help[] =
"usage: bbv [option]... [file]\n"
"Write how often each basic block ran, a row for each interval.\n"
"\n"
"  -i, --interval-size=N    instructions of an interval       [100M]\n"
"  -o, --output=FILE, --bb-out-file=FILE\n"
"                           vectors; FILE.2, ... of further threads\n"
"                           (%p, %q{VAR})           [standard output]\n"
"      --pc-out-file=FILE   a line for each block: where it is\n"
"      --format=FORMAT      plain, gem5 (the same), exp-bbv, pinpoints\n"
"      --tail=keep|drop     the last interval, which is not full [drop it\n"
"                           unless it is the only one]\n"
"      --instr-count-only=yes  no vectors, only sums (also without =yes)\n"
"      --mav=FILE           vectors of the places in memory that were touched\n"
"      --mav-size=N         bytes of such a place, a power of two  [64]\n"
"  -v, --verbose            the sums of each thread to standard error, too\n"
"  -h, --help               this text\n"
"      --version            the version\n";

static struct bbv_thread *threads;
static size_t capthread, nthread;
static char *cmd;
static bool interval_given;
static bool is_counts;		/* the stream is of kind counts */
static uint64_t full;		/* kind counts: instructions of a full interval;
				   0: not known yet */

enum { OPT_PC = 256, OPT_FORMAT, OPT_TAIL, OPT_ONLY, OPT_MAV, OPT_SIZE,
	OPT_VERSION };

static void
set_format(const char *s)
{
	static const char *const words[] = { "plain", "gem5", "exp-bbv",
	    "pinpoints" };
	static const enum vector_format formats[] = { FORMAT_PLAIN,
	    FORMAT_PLAIN, FORMAT_EXP, FORMAT_PINPOINTS };

	opt.format = formats[word_arg("--format", s, words, 4)];
}

static void
one_option(int c)
{
	uint64_t n;

	switch (c) {
	case 'i':
		opt.interval = num_arg("--interval-size", optarg, 1,
		    1ull << 60);
		interval_given = true;
		break;
	case 'o':
		opt.bb_out = strcmp(optarg, "-") == 0 ? NULL : optarg;
		break;
	case OPT_PC:
		opt.pc_out = optarg;
		break;
	case OPT_FORMAT:
		set_format(optarg);
		break;
	case OPT_TAIL:
		opt.tail = choice_arg("--tail", optarg, "keep", "drop") ?
		    TAIL_DROP : TAIL_KEEP;
		break;
	case OPT_ONLY:
		opt.count_only = yes_arg("--instr-count-only", optarg);
		break;
	case OPT_MAV:
		opt.mav_out = optarg;
		break;
	case OPT_SIZE:
		n = size_arg("--mav-size", optarg, 1, 1u << 30);
		if ((n & (n - 1)) != 0)
			die("--mav-size=%s: not a power of two", optarg);
		opt.mav_shift = (unsigned)__builtin_ctzll(n);
		break;
	case 'v':
		opt.verbose = true;
		break;
	case 'h':
		prog_help(help);
	case OPT_VERSION:
		prog_version();
	default:
		prog_usage(synopsis);
	}
}

/* Each file has a name of its own. */
static void
check_names(void)
{
	const char *name[] = { opt.bb_out == NULL ? "-" : opt.bb_out,
	    opt.mav_out, opt.pc_out };

	for (unsigned i = 1; i < 3; i++)
		for (unsigned k = 0; k < i; k++)
			if (name[i] != NULL && name[k] != NULL &&
			    strcmp(name[i], name[k]) == 0)
				die("%s: two outputs cannot be one file",
				    name[i]);
}

static void
options(int argc, char **argv)
{
	static const struct option longopts[] = {
		{ "bb-out-file", required_argument, NULL, 'o' },
		{ "format", required_argument, NULL, OPT_FORMAT },
		{ "help", no_argument, NULL, 'h' },
		{ "instr-count-only", optional_argument, NULL, OPT_ONLY },
		{ "interval-size", required_argument, NULL, 'i' },
		{ "mav", required_argument, NULL, OPT_MAV },
		{ "mav-size", required_argument, NULL, OPT_SIZE },
		{ "output", required_argument, NULL, 'o' },
		{ "pc-out-file", required_argument, NULL, OPT_PC },
		{ "tail", required_argument, NULL, OPT_TAIL },
		{ "verbose", no_argument, NULL, 'v' },
		{ "version", no_argument, NULL, OPT_VERSION },
		{ NULL, 0, NULL, 0 }
	};
	int c;

	while ((c = getopt_long(argc, argv, "hi:o:v", longopts, NULL)) != -1)
		one_option(c);
	if (argc - optind > 1)
		prog_usage(synopsis);
	check_names();
}

static struct bbv_thread *
thread(unsigned n)
{
	if (n < nthread)
		return &threads[n];
	threads = xgrow0(threads, &capthread, n + 1, sizeof *threads);
	for (; nthread <= n; nthread++) {
		threads[nthread].number = (unsigned)nthread + 1;
		rows_open(&threads[nthread], cmd != NULL ? cmd : "");
	}
	return &threads[n];
}

static bool held;	/* kind counts: an interval that is not full has ended,
			   which may be the last one */

/* Kind counts: the interval that has ended is a row of each thread that ran. */
static void
stream_rows(void)
{
	for (size_t i = 0; i < nthread; i++)
		if (threads[i].ninsn != 0)
			vector_row(&threads[i], 0);
	held = false;
}

/*
 * Kind counts: an interval of n instructions ended, for all threads. If it is
 * not full, it is the tail, unless something follows: then a mark or a lack of
 * counters has ended it.
 */
static void
stream_interval(uint64_t n)
{
	static uint64_t intervals;

	if (held)
		stream_rows();
	if (n < full && (opt.tail == TAIL_DROP ||
	    (opt.tail == TAIL_ONLY && intervals > 0)))
		held = true;
	else
		stream_rows();
	if (intervals++ == 0 && full == 0)
		full = n - n / 100;
}

static void
header(const struct ev *e)
{
	uint64_t n;

	if (strcmp(e->text, "pid") == 0)
		stream_pid = xstrdup(e->value);
	else if (strcmp(e->text, "cmd") == 0)
		cmd = xstrdup(e->value);
	else if (strcmp(e->text, "interval") == 0 &&
	    num_parse(e->value, COUNTS, &n) == 0)
		full = opt.interval = n;
}

/* Refuse options that do not fit the stream's kind. */
static void
check_kind(const struct evr *r)
{
	is_counts = ev_kind(r) == EV_COUNTS;
	opt.exact = opt.format == FORMAT_EXP && !is_counts;
	if (is_counts && interval_given)
		die("--interval-size: a stream of kind counts has its own "
		    "intervals (trace -i)");
	if (is_counts && opt.format == FORMAT_PINPOINTS)
		die("--format=pinpoints: kind counts has no order");
	if (opt.mav_out != NULL && ev_kind(r) != EV_ALL)
		die("--mav: needs a stream of kind all");
}

/* The thread whose executions are not settled yet, or NULL. */
static struct bbv_thread *running;

static void
settle(void)
{
	if (running != NULL)
		count_settle(running);
}

/* A line behind the H lines, or executions. */
static void	/* table */
line(struct evr *r, int letter, const struct ev *e, struct objmap *map)
{
	switch (letter) {
	case 'M':
	case 'U':
		objmap_line(map, e->line, e->len);
		if (letter == 'M' && opt.exact)
			exact_map(e->num[1], e->num[2], e->num[3], e->text);
		break;
	case 'B':
	case 'P':
		if (opt.exact)
			exact_define(r, e->id, map);
		else
			blocks_define(r, e->id, map);
		break;
	case 'K':
		if (opt.exact)
			exact_break(thread(ev_thread(r)));
		break;
	case 'T':
		settle();
		running = NULL;
		break;
	case 'I':
		settle();
		stream_interval(e->num[0]);
		break;
	case 'Y':
		if (e->num[0] == EV_EXIT && e->nnum == 1 && running != NULL &&
		    !is_counts) {
			count_end(running);
			running = NULL;
		}
		break;
	case EV_EXECS:
		if (held)
			stream_rows();
		running = thread(ev_thread(r));
		if (is_counts)
			count_counts(e, running);
		else
			count_execs(r, e, running, map);
		break;
	default:
		break;
	}
}

static void
read_stream(struct evr *r)
{
	struct objmap *map = objmap_new();
	struct ev e;
	bool begun = false;
	int c;

	ev_accept(r, EV_ALL | EV_BLOCKS | EV_COUNTS, "executions of blocks");
	/* Valgrind's blocks depend on values, and regions on addresses */
	if (opt.format != FORMAT_EXP && opt.mav_out == NULL)
		ev_lean(r);
	while ((c = ev_next(r, &e)) > 0) {
		if (c == 'H') {
			header(&e);
			continue;
		}
		if (!begun)
			check_kind(r);
		begun = true;
		line(r, c, &e, map);
	}
	settle();
}

int
main(int argc, char **argv)
{
	struct evr *r;
	uint64_t total = 0;
	int status;
	size_t i;

	prog_init(argv[0]);
	options(argc, argv);
	out_hold();
	r = ev_open(in_open(argv[optind]));
	read_stream(r);
	thread(0);
	for (i = 0; i < nthread; i++) {
		if (!is_counts)
			count_end(&threads[i]);
		total += threads[i].total;
		rows_close(&threads[i]);
	}
	rows_blocks();
	out_publish();
	status = ev_close(r);
	/* who reads an empty pipe leaves it to us to say why it is */
	if (status == 0 && total == 0)
		warn("no instruction was executed: there is no vector");
	return status;
}
