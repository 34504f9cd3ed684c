/*
 * account - how often functions were called, and how long the calls took
 *
 *	N 1 100		2 functions, durations in ticks
 *	N 2 120		 funcid  count  min  med  90p  99p  max  sum  function
 *	X 2 130		      1      1   80   80   80   80   80   80  outer
 *	X 1 180		      2      1   16   16   16   16   16   16  inner
 *
 * A duration lasts from entry to exit, callees included.  If exits are missing,
 * the exit of an outer frame also ends the frames inside of it.
 */
#include "account.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "calls.h"
#include "ev.h"
#include "in.h"
#include "khash.h"
#include "mem.h"
#include "out.h"
#include "prog.h"

static const char synopsis[] =
    "[-rt] [-f format] [-n number] [-s column] [-S order] [-o file] [events]";
static const char help[] =
"usage: account [options] [events]\n"
"How often functions were called and how long that took, from kind calls.\n"
"\n"
"  -f, --format=FORMAT       text, csv or json (text)\n"
"  -n, --top=N               only the first N functions\n"
"  -o, --output=FILE         write to FILE\n"
"  -r, --recursive-calls-only  only calls within which the function recurs\n"
"  -s, --sort=COLUMN         funcid count min med 90p 99p max sum func (sum)\n"
"  -S, --sortorder=ORDER     asc or dsc (dsc; funcid and func: asc)\n"
"  -t, --ticks               ticks, though their frequency is known\n"
"  -h, --help  --version\n";

/* -r: frames of a function in a thread */
struct depth {
	uint64_t	n;
	bool		recurs;		/* n was above 1 since it was 0 */
};

KHASH_MAP_INIT_INT64(depth, struct depth)
KHASH_MAP_INIT_INT(fn, struct fn_calls *)

static khash_t(fn) *fns;
static struct calls **threads;		/* by ev_thread */
static size_t nthreads, capthreads;
static khash_t(depth) *depths;		/* -r: thread << 32 | id */
static uint64_t hz;
static bool has_hz;

static struct fn_calls *
function(uint32_t id)
{
	static struct fn_calls *last;
	khint_t k;
	int new;

	if (last && last->id == id)
		return last;
	k = kh_put(fn, fns, id, &new);
	if (new) {
		kh_val(fns, k) = xcalloc(1, sizeof(struct fn_calls));
		kh_val(fns, k)->id = id;
	}
	return last = kh_val(fns, k);
}

static struct calls *
thread(unsigned nr)
{
	for (; nthreads <= nr; nthreads++) {
		threads = xgrow(threads, &capthreads, nthreads + 1,
		    sizeof *threads);
		threads[nthreads] = NULL;
	}
	if (threads[nr] == NULL)
		threads[nr] = xcalloc(1, sizeof *threads[nr]);
	return threads[nr];
}

static struct depth *
depth(unsigned nr, uint32_t id)
{
	khint_t k;
	int new;

	k = kh_put(depth, depths, (uint64_t)nr << 32 | id, &new);
	if (new)
		kh_val(depths, k) = (struct depth){ 0, false };
	return &kh_val(depths, k);
}

static void
enter(unsigned nr, uint32_t id, uint64_t tick)
{
	struct depth *d;

	calls_enter(thread(nr), id, tick);
	if (depths) {
		d = depth(nr, id);
		if (d->n++ > 0)
			d->recurs = true;
	}
}

static void
leave(unsigned nr, uint32_t id, uint64_t tick)
{
	struct calls *c = thread(nr);
	struct calls_frame *f;
	struct depth *d;
	size_t n;
	bool recurs;

	for (n = calls_match(c, id); n > 0; n--, calls_drop(c, 1)) {
		f = &c->frame[c->n - 1];
		if (depths) {
			d = depth(nr, f->id);
			recurs = d->recurs;
			if (--d->n == 0)
				d->recurs = false;
			if (!recurs)
				continue;
		}
		fn_add(function(f->id), tick > f->tick ? tick - f->tick :
		    f->tick - tick);
	}
}

/* Count a line; < 0: the line is wrong. */
static int
count_line(struct evr *r, const struct ev *e)
{
	struct fn_calls *f;

	switch (*e->line) {
	case 'N':
	case 'X':
	case 'V':
		if (e->num[0] > UINT32_MAX)
			return ev_bad(r, "%c: id %llx does not fit in 32 bits",
			    *e->line, (unsigned long long)e->num[0]);
		if (*e->line == 'N')
			enter(ev_thread(r), (uint32_t)e->num[0], e->num[1]);
		else
			leave(ev_thread(r), (uint32_t)e->num[0], e->num[1]);
		break;
	case 'G':
		f = function((uint32_t)e->num[0]);
		free(f->name);
		f->name = xstrdup(e->text);
		break;
	case 'F':
		if (has_hz && hz != e->num[3])
			return ev_bad(r, "F: a log of another frequency: its "
			    "ticks are not those of the one before");
		hz = e->num[3];
		has_hz = true;
		break;
	}
	return *e->line;
}

static void
collect(struct fn_report *r)
{
	khint_t k;
	size_t i;

	r->row = xcalloc(kh_size(fns) + 1, sizeof *r->row);
	for (k = kh_begin(fns); k != kh_end(fns); k++)
		if (kh_exist(fns, k) && kh_val(fns, k)->count > 0)
			fn_row(kh_val(fns, k), &r->row[r->n++]);
	for (i = 0; i < nthreads; i++)
		if (threads[i]) {
			r->no_entry += threads[i]->no_entry;
			r->no_exit += threads[i]->no_exit;
			r->open += threads[i]->n;
		}
}

static struct {
	enum report_format	format;
	enum column	sort;
	enum { DESCENDING, ASCENDING, DEFAULT } order;
	uint64_t	top;
	bool		ticks;
	const char	*to;
} opt = { .sort = SUM, .order = DEFAULT, .top = UINT64_MAX };

static void
options(int argc, char **argv)
{
	static const char *const formats[] = { "text", "csv", "json" };
	static const struct option longs[] = {
		{ "format", required_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' },
		{ "top", required_argument, NULL, 'n' },
		{ "output", required_argument, NULL, 'o' },
		{ "recursive-calls-only", no_argument, NULL, 'r' },
		{ "sortorder", required_argument, NULL, 'S' },
		{ "sort", required_argument, NULL, 's' },
		{ "ticks", no_argument, NULL, 't' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 }
	};
	int c;

	while ((c = getopt_long(argc, argv, "f:hn:o:rS:s:t", longs,
	    NULL)) != -1) {
		switch (c) {
		case 'f':
			opt.format = (enum report_format)word_arg("--format",
			    optarg, formats, 3);
			break;
		case 'h':
			prog_help(help);
		case 'n':
			opt.top = num_arg("--top", optarg, 0, UINT64_MAX);
			break;
		case 'o':
			opt.to = optarg;
			break;
		case 'r':
			depths = kh_init(depth);
			break;
		case 'S':
			opt.order = choice_arg("--sortorder", optarg, "dsc",
			    "asc");
			break;
		case 's':
			opt.sort = (enum column)word_arg("--sort", optarg,
			    column_names, NCOLUMN);
			break;
		case 't':
			opt.ticks = true;
			break;
		case 'V':
			prog_version();
		default:
			prog_usage(synopsis);
		}
	}
	if (argc - optind > 1)
		prog_usage(synopsis);
}

int
main(int argc, char **argv)
{
	struct fn_report report = { 0 };
	struct out *out;
	struct evr *r;
	struct in *in;
	struct ev e;
	int status;

	prog_init(argv[0]);
	options(argc, argv);
	fns = kh_init(fn);
	in = in_open(argv[optind]);
	r = ev_open(in);
	ev_accept(r, EV_CALLS, "entries and exits of functions");
	out = out_open(opt.to);
	while (ev_next(r, &e) > 0)
		if (count_line(r, &e) < 0)
			break;
	collect(&report);
	report.hz = opt.ticks ? 0 : hz;
	if (opt.order == DEFAULT)
		opt.order = opt.sort == FUNCID || opt.sort == FUNC ?
		    ASCENDING : DESCENDING;
	report_sort(&report, opt.sort, opt.order == ASCENDING);
	if (report.n > opt.top)
		report.n = opt.top;
	report_print(&report, opt.format, out);
	status = ev_close(r);
	out_close(out);
	return status;
}
