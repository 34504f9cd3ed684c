/*
 * fmt-cachegrind - write costs by address as a Cachegrind file by line
 *
 * Example input, as a simulator writes it:
 *
 *	positions: instr
 *	events: Ir Dr
 *	ob=(1) /home/u/copy
 *	fl=(1) ???
 *	fn=(1) ???
 *	0x1139 100 0
 *	0x113d 100 100
 *	totals: 200 100
 *
 * and the output, where both instructions belong to main's line 7:
 *
 *	desc: ...
 *	cmd: ./copy in out
 *	events: Ir Dr
 *	fl=/home/u/copy.c
 *	fn=main
 *	7 200 100
 *	summary: 200 100
 *
 * A function is an ELF symbol; a file is that of the line.  So inlined code
 * stands under its own file, with the name of the function that it was inlined
 * into, as in Cachegrind.  Files and functions are in byte order, lines by
 * number.  Costs that have names already keep them.  The format has no calls
 * and jumps, so they are left out.
 */
#include <getopt.h>
#include <stdbool.h>
#include <string.h>

#include "args.h"
#include "cost.h"
#include "in.h"
#include "out.h"
#include "place.h"
#include "prog.h"
#include "sym.h"

static const char synopsis[] = "[-o file] [--demangle=yes|no] "
    "[--extra-debuginfo-path=dir] [--inline=yes|no] "
    "[--show-below-main=yes|no] [-v] [file]";
static const char help[] =
"usage: fmt-cachegrind [options] [file]\n"
"Put files, functions and lines to costs by address: a Cachegrind file.\n"
"\n"
"  -o, --output=FILE     write there instead of to standard output\n"
"      --demangle=yes|no names as in the source [yes]\n"
"      --extra-debuginfo-path=DIR\n"
"                        look for debug files there, too\n"
"      --inline=yes|no   inlined code is the inlined function's [no]\n"
"      --show-below-main=yes|no\n"
"                        _start and such by their names [no]\n"
"  -v, --verbose         print the events and their sums to standard error\n"
"  -h, --help            this text\n"
"      --version         the version\n";

static struct costnames *names;
static struct places *places;
static struct costsum *sum;
static uint32_t unknown;		/* the name ??? */
static unsigned symflags = SYM_DEMANGLE | SYM_BELOW_MAIN;
static bool inlines, verbose;

/* The first part's header is the file's; later events go to its columns. */
static struct cost_head head;
static size_t column[COST_EVMAX];
static bool same_columns;		/* this part's are the file's */

/* Function, file and line of an address; *inlined: it is inlined there. */
static struct place_frame
look_up(uint32_t ob, uint64_t addr, bool *inlined)
{
	struct place_frame chain[PLACE_MOST];

	*inlined = false;
	if (!inlines)
		return place_symbol(places, ob, addr);
	*inlined = place_inline(places, ob, addr, chain) > 1;
	return chain[0];
}

static void
begin_part(struct costr *r)
{
	if (sum == NULL) {
		head = r->head;
		head.format = COST_CACHEGRIND;
		sum = costsum_new(names, COST_LINE, head.nev);
	}
	if (costhead_map(&head, &r->head, column) < 0)
		costr_die(r, "the events are not those of the first part");
	same_columns = true;
	for (size_t i = 0; i < head.nev; i++)
		same_columns &= column[i] == i;
}

/* The counts of a part's events, by the file's: to n, unless they are so. */
static int64_t *
by_columns(int64_t *counts, int64_t n[COST_EVMAX])
{
	if (same_columns)
		return counts;
	for (size_t i = 0; i < head.nev; i++)
		n[column[i]] = counts[i];
	return n;
}

/* Does the input lack the function, or file and line? */
static bool
lacks_place(const struct costr *r, const struct costfn *f, uint32_t file)
{
	return !place_known(places, f->fn) || (!place_known(places, file) &&
	    (r->head.positions & COST_LINE) == 0);
}

/* Is the object to tell that, or which inlined function the code is of? */
static bool
is_to_tell(const struct costr *r, const struct costfn *f, uint32_t file)
{
	return place_known(places, f->ob) && r->head.positions & COST_INSTR &&
	    (inlines || lacks_place(r, f, file));
}

static void
add(const struct costr *r, const struct cost *in)
{
	struct cost c = { .kind = COST_SELF };
	struct costfn f = costfn_get(names, in->fn);
	struct place_frame at;
	int64_t n[COST_EVMAX];
	bool inlined;

	c.n = by_columns(in->n, n);
	c.file = place_known(places, in->file) ? in->file : unknown;
	c.pos.line = r->head.positions & COST_LINE ? in->pos.line : 0;
	if (is_to_tell(r, &f, in->file)) {
		at = look_up(f.ob, in->pos.addr, &inlined);
		if (lacks_place(r, &f, in->file)) {
			c.file = at.file;
			c.pos.line = at.line;
		}
		if (inlined || !place_known(places, f.fn))
			f.fn = at.fn;
	}
	if (f.fn == 0)
		f.fn = unknown;
	c.fn = costfn_add(names, (struct costfn){ .fl = c.file, .fn = f.fn });
	costsum_put(sum, &c);
}

/* Start reading the object that will be asked while costs come in. */
static void
announced(const struct costr *r, uint32_t fn)
{
	struct costfn f = costfn_get(names, fn);

	if (is_to_tell(r, &f, f.fl))
		place_prepare(places, f.ob, inlines);
}

static void
read_costs(struct costr *r)
{
	struct cost c;

	while (costr_next(r, &c) != COST_END)
		if (c.kind == COST_PART)
			begin_part(r);
		else if (c.kind == COST_SELF)
			add(r, &c);
		else if (c.kind == COST_FN)
			announced(r, c.fn);
}

static void
set_flag(unsigned flag, bool on)
{
	symflags = on ? symflags | flag : symflags & ~flag;
}

static const char *
options(int argc, char **argv)
{
	enum { VERSION = 256, DEMANGLE, BELOW };
	static const struct option longs[] = {
		{ "demangle", optional_argument, NULL, DEMANGLE },
		{ "help", no_argument, NULL, 'h' },
		{ "output", required_argument, NULL, 'o' },
		{ "show-below-main", optional_argument, NULL, BELOW },
		{ "verbose", no_argument, NULL, 'v' },
		{ "version", no_argument, NULL, VERSION },
		PLACE_OPTIONS,
		{ NULL, 0, NULL, 0 }
	};
	const char *output = NULL;
	int c;

	while ((c = getopt_long(argc, argv, "ho:v", longs, NULL)) != -1)
		switch (c) {
		case DEMANGLE:
			set_flag(SYM_DEMANGLE, yes_arg("--demangle", optarg));
			break;
		case 'h':
			prog_help(help);
		case 'o':
			output = optarg;
			break;
		case BELOW:
			set_flag(SYM_BELOW_MAIN,
			    !yes_arg("--show-below-main", optarg));
			break;
		case 'v':
			verbose = true;
			break;
		case VERSION:
			prog_version();
		default:
			if (!place_option(c, optarg, &inlines))
				prog_usage(synopsis);
		}
	if (argc - optind > 1)
		prog_usage(synopsis);
	return output;
}

int
main(int argc, char **argv)
{
	struct costr *r;
	struct costw *w;
	struct cost c;
	struct out *o;
	const char *output;
	bool whole;

	prog_init(argv[0]);
	output = options(argc, argv);
	names = costnames_new();
	places = places_new(names, symflags);
	unknown = costnames_str(names, SYM_UNKNOWN);
	r = costr_open(argv[optind], names);
	costr_partial(r);
	r->each_fn = true;
	read_costs(r);
	if (sum == NULL)
		die("%s: no costs", r->name);
	costsum_sort(sum);
	o = out_open(output);
	head.positions = COST_LINE;
	costr_late(r, &head);
	w = costw_begin(o, names, &head, COSTW_PLAIN);
	while (costsum_next(sum, &c))
		costw_put(w, &c);
	/* cut input makes a file without summary, so that its reader notices */
	whole = !r->truncated && !in_lacked();
	if (whole)
		costw_end(w);
	out_close(o);
	if (verbose)
		costr_report(r, &head);
	return whole ? 0 : 2;
}
