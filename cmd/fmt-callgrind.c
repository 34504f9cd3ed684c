/*
 * fmt-callgrind - write costs by address as a Callgrind file by line
 *
 *	trace ls | callgraph | fmt-callgrind >callgrind.out
 *
 * Example input, as callgraph writes it:
 *
 *	positions: instr
 *	events: Ir
 *	ob=(1) /home/u/copy
 *	fl=(1) ???
 *	fn=(1) main
 *	0x1139 1
 *	cob=(1)
 *	cfi=(1)
 *	cfn=(2) work
 *	calls=1 0x1160
 *	0x1139 40
 *
 * and the output, where that call is in main's line 7:
 *
 *	positions: line
 *	events: Ir
 *	ob=(1) /home/u/copy
 *	fl=(1) /home/u/copy.c
 *	fn=(1) main
 *	7 1
 *	cob=(1)
 *	cfi=(1)
 *	cfn=(2) work
 *	calls=1 3
 *	7 40
 *
 * By default, all readers of the format understand the file.  --dump-instr adds
 * addresses and jumps, which some do not know.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "args.h"
#include "cost.h"
#include "in.h"
#include "mem.h"
#include "out.h"
#include "place.h"
#include "prog.h"
#include "sym.h"

static const char synopsis[] = "[option]... [file]";
static const char help[] =
"usage: fmt-callgrind [option]... [file]\n"
"Put files and lines, and functions, to costs by address: a Callgrind file.\n"
"\n"
"      --compress-pos=yes|no  lines and addresses by difference\n"
"                             [no; yes with --dump-instr]\n"
"      --compress-strings=yes|no\n"
"                             a name once, then its number [yes]\n"
"      --demangle=yes|no      names as in the source [yes]\n"
"      --dump-instr=yes|no    addresses, too [no]\n"
"      --dump-line=yes|no     lines [yes]\n"
"      --extra-debuginfo-path=DIR\n"
"                             look for debug files there, too\n"
"      --inline=yes|no        inlined code is the inlined function's, called\n"
"                             by what it was inlined into [no]\n"
"      --jumps=yes|no         jumps [no; yes with --dump-instr]\n"
"      --parts=sum|keep|split|callgrind\n"
"                             several parts, or threads: added up, or one "
    "behind\n"
"                             the other, or a file for each, or for each with\n"
"                             Callgrind's names [sum]\n"
"      --show-below-main=yes|no\n"
"                             _start and such by their names [no]\n"
"  -o, --output=FILE          write there instead of to standard output\n"
"  -v, --verbose              print the events and their sums to standard error"
    "\n"
"  -h, --help                 this text\n"
"      --version              the version\n";

enum parts { PARTS_SUM, PARTS_KEEP, PARTS_SPLIT, PARTS_CALLGRIND };

static unsigned symflags = SYM_DEMANGLE | SYM_BELOW_MAIN;
static bool opt_instr, opt_line = true, opt_inline, opt_strings = true;
static bool opt_pos, opt_jumps, opt_verbose;
static bool has_pos, has_jumps;	/* given; otherwise as opt_instr */
static enum parts opt_parts;
static const char *output;

static struct costnames *names;
static struct places *places;
static struct costsum *sum;
static struct cost_head head;	/* of the output */
static size_t column[COST_EVMAX];	/* by event of the input */
static struct out *out;
static struct costw *writer;

/* ---- the records of one function ---- */

/*
 * They are held until the function's file is known.  The counts of rec[i] are
 * at counts + nev * i.
 */
static struct {
	uint32_t fn;		/* in the input */
	struct cost *rec;
	size_t n, cap, capcounts;
	int64_t *counts;
} held;

static void
put(struct cost *c)
{
	if (!opt_line) {
		c->file = c->tofile = costfn_get(names, c->fn).fl;
		c->pos.line = c->to.line = 0;
	}
	if (!opt_instr)
		c->pos.addr = c->to.addr = 0;
	costsum_put(sum, c);
}

/*
 * Is the line of a place to be found by its address? The input may have lines
 * only where no object has them.
 */
static bool
needs_line(const struct costr *r, uint32_t ob, uint32_t line)
{
	return (r->head.positions & COST_INSTR) != 0 && line == 0 &&
	    ((r->head.positions & COST_LINE) == 0 || place_known(places, ob));
}

/* A function with its file; own: addr is certainly the function's own. */
static uint32_t
function(const struct costr *r, uint32_t fn, uint64_t addr, bool own)
{
	if (r->head.positions & COST_INSTR)
		return place_function(places, fn, addr, own);
	return place_as_is(places, fn);
}

/*
 * Put calls with these costs from each function at addr to the one inlined into
 * it; at the entry of an inlined function, they count as `entered' calls.
 * Returns the innermost function.
 */
static uint32_t
put_inlined(uint32_t fn, uint64_t addr, int64_t *n, int64_t entered)
{
	struct place_frame f[PLACE_MOST];
	struct costfn outer = costfn_get(names, fn);
	struct cost c = { .kind = COST_CALL };
	size_t k = place_inline(places, outer.ob, addr, f);

	while (k-- > 1) {
		c.fn = fn;
		c.file = f[k].file;
		c.pos = (struct cost_pos){ addr, 0, f[k].line };
		fn = costfn_add(names, (struct costfn){ .ob = outer.ob,
		    .fl = f[k - 1].file, .fn = f[k - 1].fn });
		c.callee = fn;
		c.to.addr = f[k - 1].entry;
		c.to.line = place_find(places, outer.ob, f[k - 1].entry).line;
		c.count[0] = f[k - 1].entry == addr ? entered : 0;
		c.n = n;
		put(&c);
	}
	return fn;
}

static void
put_record(const struct costr *r, const struct cost *in, uint32_t fn)
{
	struct cost c = *in;
	uint32_t ob = costfn_get(names, fn).ob;
	int ir = costhead_find(&head, "Ir");
	struct place p;

	c.fn = fn;
	if (needs_line(r, ob, c.pos.line)) {
		p = place_find(places, ob, c.pos.addr);
		c.file = p.file;
		c.pos.line = p.line;
	}
	if (c.kind != COST_SELF)
		c.callee = c.callee == in->fn ? fn :
		    function(r, c.callee, c.to.addr, true);
	if (c.kind != COST_SELF)
		ob = costfn_get(names, c.callee).ob;
	if (c.kind != COST_SELF && needs_line(r, ob, c.to.line)) {
		p = place_find(places, ob, c.to.addr);
		c.tofile = p.file;
		c.to.line = p.line;
	}
	ob = costfn_get(names, fn).ob;
	if (opt_inline && r->head.positions & COST_INSTR &&
	    place_known(places, ob)) {
		if (c.kind == COST_JUMP)
			return;
		c.fn = put_inlined(fn, c.pos.addr, c.n,
		    c.kind == COST_SELF && ir >= 0 ? c.n[ir] : 0);
	}
	put(&c);
}

static void
hold(const struct cost *c)
{
	held.rec = xgrow(held.rec, &held.cap, held.n + 1, sizeof *held.rec);
	held.counts = xgrow(held.counts, &held.capcounts,
	    (held.n + 1) * head.nev, sizeof *held.counts);
	held.rec[held.n] = *c;
	if (c->kind != COST_JUMP)
		memcpy(held.counts + held.n * head.nev, c->n,
		    head.nev * sizeof *held.counts);
	held.n++;
}

static void
release(const struct costr *r, uint32_t fn)
{
	size_t i;

	for (i = 0; i < held.n; i++) {
		held.rec[i].n = held.counts + i * head.nev;
		put_record(r, &held.rec[i], fn);
	}
	held.n = 0;
}

/* No more records of the function: its first address must give the file. */
static void
release_all(const struct costr *r)
{
	if (held.n > 0)
		release(r, function(r, held.fn, held.rec[0].pos.addr, true));
}

static void
record(const struct costr *r, const struct cost *in)
{
	struct cost c = *in;
	int64_t n[COST_EVMAX] = { 0 };
	uint32_t fn;
	size_t i;

	if (c.kind == COST_JUMP && !opt_jumps)
		return;
	if (c.kind != COST_JUMP) {
		for (i = 0; i < r->head.nev; i++)
			n[column[i]] = c.n[i];
		c.n = n;
	}
	if (c.fn != held.fn)
		release_all(r);
	held.fn = c.fn;
	fn = function(r, c.fn, c.pos.addr, false);
	if (fn == UINT32_MAX) {
		hold(&c);
		return;
	}
	release(r, fn);
	put_record(r, &c, fn);
}

/* ---- parts ---- */

static unsigned
positions(void)
{
	return (opt_instr ? COST_INSTR : 0) |
	    (opt_line || !opt_instr ? COST_LINE : 0);
}

static unsigned
style(void)
{
	return (opt_strings ? 0 : COSTW_PLAIN) | (opt_pos ? COSTW_RELATIVE : 0);
}

/* A device or a pipe takes all parts: it must not be renamed. */
static void
check_output(void)
{
	struct stat st;

	if (opt_parts == PARTS_CALLGRIND && output != NULL &&
	    stat(output, &st) == 0 && !S_ISREG(st.st_mode))
		opt_parts = PARTS_KEEP;
}

static bool
is_split(void)
{
	return opt_parts == PARTS_SPLIT || opt_parts == PARTS_CALLGRIND;
}

/* A part's file: FILE.2, or FILE.2-03 for its thread 3. part may be "". */
static char *
split_name(const char *part, const char *thread)
{
	char *name = xmalloc(strlen(output) + 64);
	int n = sprintf(name, "%s%s%.20s", output, *part == '\0' ? "" : ".",
	    part);

	if (thread != NULL)
		sprintf(name + n, "-%s%.20s", strlen(thread) < 2 ? "0" : "",
		    thread);
	return name;
}

/* The files of the latest part, which may be the last: they lose its number. */
static struct {
	char *part;
	char **name, **last;	/* as it is, and what it becomes */
	size_t n, capname, caplast;
} latest;

static void
note_latest(const char *part, char *name)
{
	if (latest.part == NULL || strcmp(latest.part, part) != 0) {
		free(latest.part);
		latest.part = xstrdup(part);
		latest.n = 0;
	}
	latest.name = xgrow(latest.name, &latest.capname, latest.n + 1,
	    sizeof *latest.name);
	latest.last = xgrow(latest.last, &latest.caplast, latest.n + 1,
	    sizeof *latest.last);
	latest.name[latest.n] = name;
	latest.last[latest.n++] = split_name("", head.thread);
}

static void
rename_latest(void)
{
	for (size_t i = 0; i < latest.n; i++)
		if (rename(latest.name[i], latest.last[i]) < 0)
			die("%s:", latest.last[i]);
}

static void
open_split(void)
{
	const char *part = head.part != NULL ? head.part : "1";
	char *name = split_name(part, head.thread);

	out = out_open(name);
	note_latest(part, name);
}

static void
write_sum(bool whole)
{
	struct cost c;

	if (is_split())
		open_split();
	else if (out == NULL)
		out = out_open(output);
	if (writer == NULL)
		writer = costw_begin(out, names, &head, style());
	else
		costw_part(writer, &head);
	costsum_sort(sum);
	if (whole)
		costw_total(writer, costsum_total(sum));
	while (costsum_next(sum, &c)) {
		/* callgrind_annotate takes what follows calls=0 for own cost */
		if (c.kind == COST_CALL && c.count[0] == 0)
			c.count[0] = 1;
		costw_put(writer, &c);
	}
	costsum_free(sum);
	sum = NULL;
	if (!is_split())
		return;
	if (whole)
		costw_end(writer);
	writer = NULL;
	out_close(out);
}

static void
begin_part(struct costr *r)
{
	int c;

	if (sum != NULL && opt_parts != PARTS_SUM)
		write_sum(true);
	if (sum == NULL) {
		head = r->head;
		head.format = COST_CALLGRIND;
		head.positions = positions();
		if (opt_parts == PARTS_SUM)
			head.thread = NULL;
		r->head.desc = NULL;
		r->head.ndesc = 0;
		sum = costsum_new(names, head.positions, head.nev);
	} else {
		head.part = "1";
	}
	for (size_t i = 0; i < r->head.nev; i++) {
		c = costhead_find(&head, r->head.ev[i].name);
		if (c < 0)
			costr_die(r, "event %s is in a later part only",
			    r->head.ev[i].name);
		column[i] = (size_t)c;
	}
}

/* A part is there before the next one begins, which can be hours later. */
static void
end_part(void)
{
	if (opt_parts == PARTS_SUM || sum == NULL)
		return;
	write_sum(true);
	if (!is_split())
		costw_more(writer);
}

static void
read_costs(struct costr *r)
{
	struct cost c;

	for (;;) {
		costr_next(r, &c);
		if (c.kind == COST_END || c.kind == COST_PART ||
		    c.kind == COST_ENDED) {
			release_all(r);
			held.fn = UINT32_MAX;
			costr_late(r, &head);
		}
		if (c.kind == COST_END)
			break;
		if (c.kind == COST_PART)
			begin_part(r);
		else if (c.kind == COST_ENDED)
			end_part();
		else
			record(r, &c);
	}
}

/* ---- options ---- */

static void
set_flag(unsigned flag, bool on)
{
	symflags = on ? symflags | flag : symflags & ~flag;
}

static void
set_parts(const char *arg)
{
	static const char *const words[] = { "sum", "keep", "split",
	    "callgrind" };

	opt_parts = word_arg("--parts", arg, words, 4);
}

enum { VERSION = 256, COMPRESS_POS, COMPRESS_STRINGS, DEMANGLE, INSTR, LINE,
    JUMPS, PARTS, BELOW };

static const struct option longs[] = {
	{ "compress-pos", optional_argument, NULL, COMPRESS_POS },
	{ "compress-strings", optional_argument, NULL, COMPRESS_STRINGS },
	{ "demangle", optional_argument, NULL, DEMANGLE },
	{ "dump-instr", optional_argument, NULL, INSTR },
	{ "dump-line", optional_argument, NULL, LINE },
	{ "help", no_argument, NULL, 'h' },
	{ "jumps", optional_argument, NULL, JUMPS },
	{ "output", required_argument, NULL, 'o' },
	{ "parts", required_argument, NULL, PARTS },
	{ "show-below-main", optional_argument, NULL, BELOW },
	{ "verbose", no_argument, NULL, 'v' },
	{ "version", no_argument, NULL, VERSION },
	PLACE_OPTIONS,
	{ NULL, 0, NULL, 0 }
};

static void	/* table */
option(int c)
{
	switch (c) {
	case COMPRESS_POS:
		opt_pos = yes_arg("--compress-pos", optarg);
		has_pos = true;
		break;
	case COMPRESS_STRINGS:
		opt_strings = yes_arg("--compress-strings", optarg);
		break;
	case DEMANGLE:
		set_flag(SYM_DEMANGLE, yes_arg("--demangle", optarg));
		break;
	case INSTR:
		opt_instr = yes_arg("--dump-instr", optarg);
		break;
	case LINE:
		opt_line = yes_arg("--dump-line", optarg);
		break;
	case 'h':
		prog_help(help);
	case JUMPS:
		opt_jumps = yes_arg("--jumps", optarg);
		has_jumps = true;
		break;
	case 'o':
		output = optarg;
		break;
	case PARTS:
		set_parts(optarg);
		break;
	case BELOW:
		set_flag(SYM_BELOW_MAIN, !yes_arg("--show-below-main", optarg));
		break;
	case 'v':
		opt_verbose = true;
		break;
	case VERSION:
		prog_version();
	default:
		if (!place_option(c, optarg, &opt_inline))
			prog_usage(synopsis);
	}
}

int
main(int argc, char **argv)
{
	struct costr *r;
	bool whole;
	int c;

	prog_init(argv[0]);
	while ((c = getopt_long(argc, argv, "ho:v", longs, NULL)) != -1)
		option(c);
	if (argc - optind > 1)
		prog_usage(synopsis);
	check_output();
	if (!has_pos)
		opt_pos = opt_instr;
	if (!has_jumps)
		opt_jumps = opt_instr;
	if (is_split() && (output == NULL || strcmp(output, "-") == 0))
		die("--parts=%s needs -o FILE", opt_parts == PARTS_SPLIT ?
		    "split" : "callgrind");
	names = costnames_new();
	places = places_new(names, symflags);
	r = costr_open(argv[optind], names);
	costr_partial(r);
	r->by_id = true;
	r->each_end = true;
	read_costs(r);
	if (sum == NULL && writer == NULL && latest.n == 0)
		die("%s: no costs", r->name);
	/* cut input makes a file without totals, so that its reader notices */
	whole = !r->truncated && !in_lacked();
	if (sum != NULL)
		write_sum(whole);
	if (opt_parts == PARTS_CALLGRIND)
		rename_latest();
	if (whole && !is_split())
		costw_end(writer);
	if (!is_split())
		out_close(out);
	if (opt_verbose)
		costr_report(r, &head);
	return whole ? 0 : 2;
}
