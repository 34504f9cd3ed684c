/*
 * fmt-svg - draw a flame graph of collapsed stacks
 *
 *	trace ls | callgraph --contexts | fmt-folded | fmt-svg >ls.svg
 *
 * fmt-svg reads the lines that fmt-folded, FlameGraph's stackcollapse programs
 * and others write,
 *
 *	main;work 40
 *	main 10
 *
 * in any order, and writes one picture for a browser that needs no other files:
 * a click on a frame zooms in, and functions can be searched.  If lines have
 * two counts, before and after, or --diff names two files, colours and signs
 * show the difference.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "flame.h"
#include "out.h"
#include "prog.h"

static const char synopsis[] = "[-i] [-o file] [-t title] [--count=name] "
    "[--min-width=tenths] [--width=pixels] [file | --diff old new]";
static const char help[] =
"usage: fmt-svg [option]... [file]\n"
"A flame graph of collapsed stacks: one SVG, with zoom and search.\n"
"\n"
"      --count=NAME        what is counted [counts]\n"
"      --diff              compare two files, before and after\n"
"  -i, --inverted          the first function at the top\n"
"      --min-width=TENTHS  merge frames less wide, in tenths of pixels [1]\n"
"  -o, --output=FILE       write there instead of to standard output\n"
"  -t, --title=TEXT        [Flame graph]\n"
"      --width=PIXELS      of the picture [1200]\n"
"  -h, --help              this text\n"
"      --version           the version\n";

static struct picture picture = { .title = "Flame graph", .what = "counts",
    .width = 1200, .least = -1 };
static const char *output;
static bool diff;

static void
options(int argc, char **argv)
{
	enum { VERSION = 256, COUNT, DIFF, LEAST, WIDTH };
	static const struct option longs[] = {
		{ "count", required_argument, NULL, COUNT },
		{ "diff", no_argument, NULL, DIFF },
		{ "help", no_argument, NULL, 'h' },
		{ "inverted", no_argument, NULL, 'i' },
		{ "min-width", required_argument, NULL, LEAST },
		{ "output", required_argument, NULL, 'o' },
		{ "title", required_argument, NULL, 't' },
		{ "version", no_argument, NULL, VERSION },
		{ "width", required_argument, NULL, WIDTH },
		{ NULL, 0, NULL, 0 }
	};
	int c;

	while ((c = getopt_long(argc, argv, "hio:t:", longs, NULL)) != -1)
		switch (c) {
		case COUNT:
			picture.what = optarg;
			break;
		case DIFF:
			diff = true;
			break;
		case 'h':
			prog_help(help);
		case 'i':
			picture.down = true;
			break;
		case LEAST:
			picture.least = (double)num_arg("--min-width", optarg,
			    0, 10000) / 10;
			break;
		case 'o':
			output = optarg;
			break;
		case 't':
			picture.title = optarg;
			break;
		case VERSION:
			prog_version();
		case WIDTH:
			picture.width = (unsigned)num_arg("--width", optarg,
			    200, 100000);
			break;
		default:
			prog_usage(synopsis);
		}
	if (diff ? argc - optind != 2 : argc - optind > 1)
		prog_usage(synopsis);
}

int
main(int argc, char **argv)
{
	struct out *o;

	prog_init(argv[0]);
	options(argc, argv);
	if (diff && !strcmp(argv[optind], "-") &&
	    !strcmp(argv[optind + 1], "-"))
		die("only one of the files can be standard input");
	if (diff)
		frames_compare(argv[optind], argv[optind + 1]);
	else
		frames_read(argv[optind]);
	o = out_open(output);
	draw(o, &picture);
	out_close(o);
	return 0;
}
