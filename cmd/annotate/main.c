/*
 * annotate - cost files -> functions and sources with costs in the margin
 */
#include "annotate.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "in.h"
#include "mem.h"
#include "out.h"
#include "prog.h"

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
"  --function=PATTERN  only functions with such names, as 'parse*'\n"
"  --file=PATTERN      only code of such files\n"
"  --lines[=N]         the N lines that cost most, of all files [20]\n"
"  --asm[=intel]       instructions, if the profile has addresses\n"
"  --html=FILE         a page with all of this, to FILE\n"
"  --layout=old|new    the tables of cg_annotate up to 3.20, or from then on\n"
"  --context=N         lines around those that have counts [8]\n"
"  -I, --include=DIR   look for sources below DIR too\n"
"  --color=WHEN        auto, always, never\n"
"  -o, --output=FILE   write there\n"
"  -h, --help          --version\n";

enum { ASM = 256, FUNCTION, FROM_FILE, HTML, LAYOUT, LINES, INCLUSIVE, TREE,
    SHOW, SORT, THRESHOLD, PERCS, NOPERCS, AUTO, ANNOTATE, NOANNOTATE, CONTEXT,
    COLOR, VERSION };

static const struct option longopts[] = {
	{ "asm", optional_argument, NULL, ASM },
	{ "function", required_argument, NULL, FUNCTION },
	{ "file", required_argument, NULL, FROM_FILE },
	{ "html", required_argument, NULL, HTML },
	{ "layout", required_argument, NULL, LAYOUT },
	{ "lines", optional_argument, NULL, LINES },
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

static enum tree
which_tree(const char *s)
{
	static const char *const words[] = { "none", "caller", "calling",
	    "both" };

	return (enum tree)word_arg("--tree", s, words, 4);
}

static bool
want_color(const char *when)
{
	enum { AUTOMATIC, ALWAYS, NEVER };
	static const char *const words[] = { "auto", "always", "never" };
	const char *term = getenv("TERM"), *no = getenv("NO_COLOR");
	unsigned which = when ? word_arg("--color", when, words, 3) : AUTOMATIC;

	if (which != AUTOMATIC)
		return which == ALWAYS;
	return !opt.dest && isatty(1) && !(no && *no) && term &&
	    strcmp(term, "dumb");
}

static void
push(char ***v, size_t *n, char *s)
{
	*v = *n ? xrealloc(*v, (*n + 1) * sizeof **v) : xmalloc(sizeof **v);
	(*v)[(*n)++] = s;
}

/* An option of what the tables show; false: it is another one. */
static bool
table_option(int c)
{
	switch (c) {
	case INCLUSIVE:
		opt.inclusive = yes_arg("--inclusive", optarg);
		return true;
	case FUNCTION:
		push(&opt.function, &opt.nfunction, optarg);
		return true;
	case FROM_FILE:
		push(&opt.from, &opt.nfrom, optarg);
		return true;
	case LINES:
		opt.lines = optarg ? num_arg("--lines", optarg, 1,
		    1000000000) : 20;
		return true;
	case TREE:
		opt.tree = which_tree(optarg);
		return true;
	case SHOW:
		opt.show = optarg;
		return true;
	case SORT:
		opt.sort = optarg;
		return true;
	case THRESHOLD:
		opt.threshold = percent_arg("--threshold", optarg);
		opt.has_threshold = true;
		return true;
	case PERCS:
		opt.percs = yes_arg("--show-percs", optarg);
		return true;
	case NOPERCS:
		opt.percs = false;
		return true;
	}
	return false;
}

/* An option of the sources and of the form; false: it is another one. */
static bool
source_option(int c)
{
	switch (c) {
	case ASM:
		opt.assembly = true;
		opt.intel = optarg && choice_arg("--asm", optarg,
		    "att", "intel");
		return true;
	case HTML:
		opt.html = optarg;
		return true;
	case LAYOUT:
		opt.old = !choice_arg("--layout", optarg, "old", "new");
		return true;
	case AUTO:
		opt.annotate = yes_arg("--auto", optarg);
		return true;
	case ANNOTATE:
	case NOANNOTATE:
		opt.annotate = c == ANNOTATE;
		return true;
	case CONTEXT:
		opt.context = num_arg("--context", optarg, 0, 1000000000);
		return true;
	case 'I':
		push(&opt.include, &opt.ninclude, optarg + (*optarg == '='));
		return true;
	}
	return false;
}

static void
options(int argc, char **argv)
{
	const char *color = NULL;
	int c;

	while ((c = getopt_long(argc, argv, "hI:o:", longopts, NULL)) != -1) {
		if (table_option(c) || source_option(c))
			continue;
		if (c == COLOR)
			color = optarg ? optarg : "always";
		else if (c == 'o')
			opt.dest = optarg;
		else if (c == 'h')
			prog_help(help);
		else if (c == VERSION)
			prog_version();
		else
			prog_usage(synopsis);
	}
	if (opt.html && opt.dest)
		die("--html and -o do not go together");
	if (opt.html && opt.old)
		die("--html and --layout=old do not go together");
	if (opt.lines && opt.old)
		die("--lines and --layout=old do not go together");
	if (choosing() && (opt.html || opt.old))
		die("--function and --file go with neither --html nor "
		    "--layout=old");
	opt.color = want_color(color);
	for (; optind < argc; optind++)
		push(&opt.file, &opt.nfile, argv[optind]);
	if (!opt.nfile)
		push(&opt.file, &opt.nfile, (char *)"-");
}

static int
status(void)
{
	return prof.truncated || prof.unread || in_lacked() ? die_status : 0;
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
		return status();
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
		if (opt.lines)
			print_lines();
	}
	if (opt.annotate)
		print_sources(&files);
	if (opt.assembly)
		print_asm();
	choose_warn();
	out_close(out);
	return status();
}
