/*
 * annotate - cost files -> functions and sources with costs in the margin
 */
#include "annotate.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "in.h"
#include "out.h"
#include "util.h"

static const char synopsis[] = "[option ...] [file ...]";
static const char help[] =
    "usage: annotate [option ...] [file ...]\n"
    "Show what functions and source lines cost.\n"
    "  --show=A,B          show these events, in this order\n"
    "  --sort=A[:T],B      sort by these; T: threshold in % of that event\n"
    "  --threshold=T       leave out what is below T % of the first sort event\n"
    "  --show-percs=yes|no percentages (--no-show-percs)\n"
    "  --auto=yes|no       annotate the sources (--annotate, --no-annotate)\n"
    "  --inclusive[=yes]   functions with all that they call\n"
    "  --tree=WHAT         none, caller, calling, both: callers and callees\n"
    "  --asm[=intel]       instructions, if the profile has addresses\n"
    "  --html=FILE         a page with all of this, to FILE\n"
    "  --layout=old|new    the tables of cg_annotate up to 3.20, or from then on\n"
    "  --context=N         lines around those that have counts [8]\n"
    "  -I, --include=DIR   look for sources below DIR too\n"
    "  --color=WHEN        auto, always, never\n"
    "  -o, --output=FILE   write there\n"
    "  -h, --help          --version\n";

enum { ASM = 256, HTML, LAYOUT, INCLUSIVE, TREE, SHOW, SORT, THRESHOLD, PERCS, NOPERCS, AUTO, ANNOTATE, NOANNOTATE,
    CONTEXT, COLOR, VERSION };

static const struct option longopts[] = {
	{ "asm", optional_argument, NULL, ASM },
	{ "html", required_argument, NULL, HTML },
	{ "layout", required_argument, NULL, LAYOUT },
	{ "inclusive", optional_argument, NULL, INCLUSIVE },
	{ "tree", required_argument, NULL, TREE },
	{ "show", required_argument, NULL, SHOW },
	{ "sort", required_argument, NULL, SORT },
	{ "threshold", required_argument, NULL, THRESHOLD },
	{ "show-percs", optional_argument, NULL, PERCS },
	{ "no-show-percs", no_argument, NULL, NOPERCS },
	{ "auto", required_argument, NULL, AUTO },
	{ "annotate", no_argument, NULL, ANNOTATE },
	{ "no-annotate", no_argument, NULL, NOANNOTATE },
	{ "context", required_argument, NULL, CONTEXT },
	{ "include", required_argument, NULL, 'I' },
	{ "color", optional_argument, NULL, COLOR },
	{ "output", required_argument, NULL, 'o' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, VERSION },
	{ NULL, 0, NULL, 0 }
};

static bool
yes(const char *what, const char *s)
{
	if (!s || !strcmp(s, "yes"))
		return true;
	if (strcmp(s, "no"))
		die("%s: '%s' is neither yes nor no", what, s);
	return false;
}

static bool
intel(const char *s)
{
	if (s && strcmp(s, "att") && strcmp(s, "intel"))
		die("--asm: '%s' is neither att nor intel", s);
	return s && !strcmp(s, "intel");
}

static bool
layout(const char *s)
{
	if (strcmp(s, "old") && strcmp(s, "new"))
		die("--layout: '%s' is neither old nor new", s);
	return !strcmp(s, "old");
}

static int
tree(const char *s)
{
	static const char *const words[] = { "none", "caller", "calling", "both" };
	int i;

	for (i = 0; i < 4; i++)
		if (!strcmp(s, words[i]))
			return i;
	die("--tree: '%s' is none of none, caller, calling, both", s);
}

static double
percent(const char *what, const char *s)
{
	char *end;
	double v = strtod(s, &end);

	if (end == s || (*end && strcmp(end, "%")) || !(v >= 0 && v <= 100))
		die("%s: '%s' is not a percentage", what, s);
	return v;
}

static bool
want_color(const char *when)
{
	const char *term = getenv("TERM"), *no = getenv("NO_COLOR");

	if (when && !strcmp(when, "always"))
		return true;
	if (when && !strcmp(when, "never"))
		return false;
	if (when && strcmp(when, "auto"))
		die("--color: '%s' is none of auto, always, never", when);
	return !opt.dest && isatty(1) && !(no && *no) && term && strcmp(term, "dumb");
}

static void
push(char ***v, size_t *n, char *s)
{
	*v = *n ? xrealloc(*v, (*n + 1) * sizeof **v) : xmalloc(sizeof **v);
	(*v)[(*n)++] = s;
}

static void	/* table */
options(int argc, char **argv)
{
	const char *color = NULL;
	int c;

	while ((c = getopt_long(argc, argv, "hI:o:", longopts, NULL)) != -1) {
		switch (c) {
		case ASM:
			opt.assembly = true;
			opt.intel = intel(optarg);
			break;
		case HTML:
			opt.html = optarg;
			break;
		case LAYOUT:
			opt.old = layout(optarg);
			break;
		case INCLUSIVE:
			opt.inclusive = yes("--inclusive", optarg);
			break;
		case TREE:
			opt.tree = tree(optarg);
			break;
		case SHOW:
			opt.show = optarg;
			break;
		case SORT:
			opt.sort = optarg;
			break;
		case THRESHOLD:
			opt.threshold = percent("--threshold", optarg);
			opt.has_threshold = true;
			break;
		case PERCS:
			opt.percs = yes("--show-percs", optarg);
			break;
		case NOPERCS:
			opt.percs = false;
			break;
		case AUTO:
			opt.annotate = yes("--auto", optarg);
			break;
		case ANNOTATE:
		case NOANNOTATE:
			opt.annotate = c == ANNOTATE;
			break;
		case CONTEXT:
			opt.context = num_arg("--context", optarg, 0, 1000000000);
			break;
		case COLOR:
			color = optarg ? optarg : "always";
			break;
		case 'I':
			push(&opt.include, &opt.ninclude, optarg + (*optarg == '='));
			break;
		case 'o':
			opt.dest = optarg;
			break;
		case 'h':
			prog_help(help);
		case VERSION:
			prog_version();
		default:
			prog_usage(synopsis);
		}
	}
	if (opt.html && opt.old)
		die("--html and --layout=old do not go together");
	opt.color = want_color(color);
	for (; optind < argc; optind++)
		push(&opt.file, &opt.nfile, argv[optind]);
	if (!opt.nfile)
		push(&opt.file, &opt.nfile, (char *)"-");
}

int
main(int argc, char **argv)
{
	struct files files = { .n = 0 };

	prog_init(argv[0]);
	opt.argv = argv;
	opt.argc = argc;
	options(argc, argv);
	load();
	if (opt.html) {
		out = out_open(opt.html);
		print_html();
		out_close(out);
		return prof.truncated || prof.unread || in_lacked() ? die_status : 0;
	}
	out = out_open(opt.dest);
	if (opt.old) {
		print_old_head();
		print_old_flat(&files);
	} else {
		print_head();
		print_flat(&files);
		if (opt.inclusive || opt.tree)
			print_graph();
	}
	if (opt.annotate)
		print_sources(&files);
	if (opt.assembly)
		print_asm();
	out_close(out);
	return prof.truncated || prof.unread || in_lacked() ? die_status : 0;
}
