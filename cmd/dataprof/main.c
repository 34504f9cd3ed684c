/*
 * dataprof - whose data the misses are on
 *
 *	trace --allocs -e cache --contexts ./prog | cachesim -t | dataprof |
 *	    fmt-callgrind >data.out
 *
 * A simulator's O line says what an instruction found. Which reference that
 * was, and where, follows from the execution before it: of the references of
 * the instruction, the first that reads or writes as the event's name says.
 * Costs of fetches are those of the function whose code it is.
 */
#include <getopt.h>
#include <string.h>

#include "args.h"
#include "codename.h"
#include "dataprof.h"
#include "func.h"
#include "in.h"
#include "mem.h"
#include "objmap.h"
#include "out.h"
#include "prog.h"
#include "simhead.h"

static const char synopsis[] =
    "[-v] [-o file] [--by=object|type|page] [--depth=n] [--refs]\n"
    "                [--text] [--events=list] [--rows=n]\n"
    "                [--stacks=peak|left|bytes|number] [--lines=yes|no]\n"
    "                [--massif] [--threshold=x] [--max-snapshots=n]\n"
    "                [--detailed-freq=n] [file]";

static const char help[] =
"usage: dataprof [option]... [file]\n"
"Say which data the misses of a stream of events are on.\n"
"\n"
"      --by=WHAT        object, type or page                    [object]\n"
"      --depth=N        callers that name an allocation         [6]; with\n"
"                       --stacks and --massif                   [100]\n"
"      --lines=yes|no   the line of each call for memory, and functions that\n"
"                       are inlined there                       [no]; with\n"
"                       --massif                                [yes]\n"
"      --refs           all references, too: Dr and Dw\n"
"      --text           a table instead of costs\n"
"      --events=LIST    columns of the table            [the main ones]\n"
"      --rows=N         of the table; 0: all                    [0]\n"
"      --stacks=WHAT    collapsed stacks of allocations: bytes at the heap's\n"
"                       peak, or left at the end, all bytes, or their number\n"
"      --massif         a file for ms_print, of the heap over time\n"
"      --threshold=X    there, branches below X percent together [1]\n"
"      --max-snapshots=N  points in time, at most               [200]\n"
"      --detailed-freq=N  every Nth of them has a tree          [10]\n"
"  -o, --output=FILE    write to FILE\n"
"  -v, --verbose        what is allocated, on standard error\n"
"  -h, --help           this text\n"
"      --version        the version\n";

enum { OPT_BY = 256, OPT_DEPTH, OPT_REFS, OPT_TEXT, OPT_EVENTS, OPT_ROWS,
    OPT_STACKS, OPT_LINES, OPT_MASSIF, OPT_THRESHOLD, OPT_SNAPSHOTS,
    OPT_DETAILED, OPT_VERSION };

static const struct option longopts[] = {
	{ "by", required_argument, NULL, OPT_BY },
	{ "lines", optional_argument, NULL, OPT_LINES },
	{ "depth", required_argument, NULL, OPT_DEPTH },
	{ "refs", no_argument, NULL, OPT_REFS },
	{ "text", no_argument, NULL, OPT_TEXT },
	{ "events", required_argument, NULL, OPT_EVENTS },
	{ "rows", required_argument, NULL, OPT_ROWS },
	{ "stacks", required_argument, NULL, OPT_STACKS },
	{ "massif", no_argument, NULL, OPT_MASSIF },
	{ "threshold", required_argument, NULL, OPT_THRESHOLD },
	{ "max-snapshots", required_argument, NULL, OPT_SNAPSHOTS },
	{ "detailed-freq", required_argument, NULL, OPT_DETAILED },
	{ "output", required_argument, NULL, 'o' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 }
};

static struct codenames *codes;	/* of code made at run time */
static bool refs;		/* count all references */
static const char *output;
static int lines = -1;		/* --lines; -1: not given */
static const char *massifs;	/* an option that only --massif has */
static struct simhead stream;
static struct report how = { .head = &stream };

/* Callers that name an allocation, unless --depth says. */
enum { DEPTH = 6, DEPTH_HEAP = 100 };

/* By label of O lines: the row that it stands for. */
static size_t *labels;
static size_t nlabels;

/* ---- options ---- */

static void
set_by(const char *arg)
{
	static const char *const words[] = { "object", "type", "page" };

	dp.by = (enum by)word_arg("--by", arg, words, 3);
}

static void
set_form(enum form form)
{
	if (how.form != FORM_COSTS && how.form != form)
		die("--text, --stacks and --massif exclude each other");
	how.form = form;
}

static void
set_stacks(const char *arg)
{
	static const char *const words[] = { "peak", "left", "bytes",
		"number" };

	set_form(FORM_STACKS);
	how.figure = (enum figure)word_arg("--stacks", arg, words, 4);
}

static void
option(int c)
{
	switch (c) {
	case OPT_BY:
		set_by(optarg);
		break;
	case OPT_DEPTH:
		dp.depth = (unsigned)num_arg("--depth", optarg, 1, 1000);
		break;
	case OPT_REFS:
		refs = true;
		break;
	case OPT_TEXT:
		set_form(FORM_TABLE);
		break;
	case OPT_STACKS:
		set_stacks(optarg);
		break;
	case OPT_LINES:
		lines = yes_arg("--lines", optarg);
		break;
	case OPT_MASSIF:
		set_form(FORM_MASSIF);
		break;
	case OPT_THRESHOLD:
		massifs = "--threshold";
		dp.threshold = percent_arg(massifs, optarg);
		break;
	case OPT_SNAPSHOTS:
		massifs = "--max-snapshots";
		dp.samples = num_arg(massifs, optarg, 10, MOST_SAMPLES);
		break;
	case OPT_DETAILED:
		massifs = "--detailed-freq";
		dp.detailed = num_arg(massifs, optarg, 1, 1000000);
		break;
	case OPT_EVENTS:
		how.events = optarg;
		break;
	case OPT_ROWS:
		how.rows = num_arg("--rows", optarg, 0, UINT64_MAX);
		break;
	case 'o':
		output = optarg;
		break;
	case 'v':
		how.verbose = true;
		break;
	case 'h':
		prog_help(help);
	case OPT_VERSION:
		prog_version();
	default:
		prog_usage(synopsis);
	}
}

/* ---- executions ---- */

static void
batch_all(const struct ev *e)
{
	const struct ev_def *d;
	const uint64_t *rec;
	uint64_t *value, rounds;

	for (rec = e->rec; rec < e->end; rec = ev_skip(rec)) {
		d = ev_def(dp.events, ev_id(*rec));
		if (refs) {
			refs_rounds(d, rec);
			continue;
		}
		value = refs_values(d->block);
		rounds = 1 + ev_more(rec);
		dp.time += d->n * rounds;
		for (unsigned i = 0; i < d->ngroups; i++)
			value[i] += rec[1 + i] * rounds;
	}
	if (!refs)
		stack_batch(e);
}

/* ---- outcomes ---- */

/* The reference of an instruction that an event is about, or NULL. */
static const struct ev_ref *
meant(const struct ev_block *b, uint32_t insn, const uint64_t *value,
    enum side s, uint64_t *addr)
{
	const struct ev_ref *r = &b->ref[b->insn[insn].ref], *any = NULL;
	const struct ev_ref *end = r + b->insn[insn].nref;
	uint64_t at;

	for (; r < end; r++) {
		if (!ref_address(value, r, &at))
			continue;
		if (s == SIDE_ANY || (s == SIDE_WRITE) == (r->kind == 'w')) {
			*addr = at;
			return r;
		}
		if (any == NULL) {
			any = r;
			*addr = at;
		}
	}
	return any;
}

/* Events of one side, of instruction insn of what was executed last. */
static void
add_side(const struct ev_def *d, uint32_t insn, const struct event_list *l,
    enum side s)
{
	struct insn_cache *cache = insn_cache(d->block, insn);
	const struct ev_ref *r = NULL;
	uint64_t addr = 0;

	if (d->letter == 'Q') {
		addr = alone_last(d);
		r = d->k == 0 ? NULL : alone_ref(d);
	} else if (s != SIDE_FETCH) {
		r = meant(d->block, insn, refs_values(d->block), s, &addr);
	}
	if (r == NULL)
		tally_add(insn_code_row(cache), l->cost[s], 1);
	else
		refer(cache, r, addr, l->cost[s], l->most[s]);
}

/* O n=label: what the instruction refers to now is what is meant later. */
static void
set_label(const struct ev_def *d, uint32_t insn, uint64_t label)
{
	struct insn_cache *cache = insn_cache(d->block, insn);
	const struct ev_ref *r;
	struct data_place p;
	uint64_t addr;

	labels = xgrow0(labels, &nlabels, label + 1, sizeof *labels);
	r = meant(d->block, insn, refs_values(d->block), SIDE_ANY, &addr);
	labels[label] = r == NULL ? insn_code_row(cache) :
	    tally_find(ev_thread(dp.events), addr, r->size, cache->code - 1,
	    false, &p);
}

/* O =label: of whatever side the events are. */
static void
add_label(uint64_t label, const struct event_list *l)
{
	for (unsigned s = 0; s < NSIDE; s++)
		if (l->any[s])
			tally_add(labels[label], l->cost[s], l->most[s]);
}

static void
outcome(const struct ev *e)
{
	const struct ev_def *d = ev_last(dp.events);
	const struct event_list *l = events_parse(e->text);
	uint64_t label = e->num[1];

	if (l == NULL) {
		ev_bad(dp.events, "O: malformed, or an event that is in no "
		    "H outcomes line");
		return;
	}
	if (e->num[0] == 0 && label == 0)
		alone_standing(e->id, l);
	else if (e->num[0] == 0)
		add_label(label, l);
	if (e->num[0] == 0)
		return;
	if (!dp.walks && d->letter != 'Q') {
		ev_bad(dp.events, "O: not behind a single reference");
		return;
	}
	for (unsigned s = 0; s < NSIDE; s++)
		if (l->any[s])
			add_side(d, (uint32_t)e->num[0] - 1, l, s);
	if (label != 0)
		set_label(d, (uint32_t)e->num[0] - 1, label);
}

/* ---- lines ---- */

static void
head(const struct ev *e)
{
	simhead_line(&stream, e);
	if (strcmp(e->text, "allocs") == 0)
		dp.allocs = true;
	if (strcmp(e->text, "outcomes") == 0)
		events_add(e->value);
}

/* Is only what is allocated wanted? */
static bool
is_heap(void)
{
	return how.form == FORM_STACKS || how.form == FORM_MASSIF;
}

/* All H lines were read. */
static void
begin(void)
{
	unsigned kind = ev_kind(dp.events);

	dp.orders = kind == EV_COUNTS;
	dp.massif = how.form == FORM_MASSIF;
	dp.lines = lines < 0 ? how.form == FORM_MASSIF : lines != 0;
	if (dp.depth == 0)
		dp.depth = is_heap() ? DEPTH_HEAP : DEPTH;
	dp.walks = kind == EV_ALL;
	dp.frames = kind == EV_ALL || (kind == EV_CACHE &&
	    ev_contexts(dp.events));
	dp.unit = kind == EV_ALL ? "instructions" : "allocations and frees";
	if (kind == EV_ALL && !events_any())
		refs = true;
	if (kind == EV_CACHE && !events_any())
		ev_bad(dp.events, "a stream of kind cache without outcomes "
		    "does not tell which references miss: needs cachesim -t "
		    "or memsim -t before this");
	else if (kind != EV_ALL && refs)
		ev_bad(dp.events, "--refs: only kind all tells all "
		    "references");
	else if (kind != EV_COUNTS && is_heap())
		ev_bad(dp.events, "--stacks and --massif want allocations of "
		    "all threads in their order: needs trace -e counts "
		    "--allocs");
	else if (kind == EV_COUNTS && !dp.allocs)
		ev_bad(dp.events, "a stream of kind counts without "
		    "allocations tells nothing of data: needs trace --allocs");
	events_columns(refs);
	stack_begin(refs ? refs_count : NULL);
}

static const struct func *
code_function(const struct codename *c)
{
	static const struct func **made;	/* by its number */
	static size_t cap;

	made = xgrow0(made, &cap, c->num + (size_t)1, sizeof *made);
	if (made[c->num] == NULL)
		made[c->num] = func_new(0, c->start, c->name);
	return made[c->num];
}

/* The instructions of a block that lie in a function's range are its code. */
static void
name_block(uint32_t block, uint32_t ninsn, const struct codename *c)
{
	const struct insn_cache *cache = insn_caches(block);
	uint32_t n;

	for (uint32_t i = 0; cache != NULL && i < ninsn; i++) {
		if (cache[i].code == 0)
			continue;
		n = cache[i].code - 1;
		if (tally_code_at(n)->addr - c->start < c->size)
			tally_code_named(n, code_function(c));
	}
}

/* G n = id ..., of code made at run time */
static void
code_names(const struct ev *e)
{
	const struct ev_block *b;

	codenames_take(codes, e);
	for (size_t i = 0; i < e->nids; i++) {
		b = ev_def(dp.events, e->ids[i])->block;
		name_block(b->id, b->ninsn, codename_get(codes, e->num[0]));
	}
}

/* U of all addresses: threads, their stacks and memory are gone. */
static void
exec_over(void)
{
	hold_end();
	heap_exec();
	images_exec();
	stack_exec();
	dp.image = dp.time;
}

static void	/* table */
line(int letter, const struct ev *e)
{
	unsigned thread = ev_thread(dp.events);
	struct heap_made made;

	switch (letter) {
	case 'B':
		if (dp.walks)
			refs_define(ev_def(dp.events, e->id)->block);
		/* fallthrough */
	case 'P':
	case 'Q':
	case 'Z':
		alone_define(e->id);
		break;
	case 'D':
		if (!dp.walks && !dp.orders)
			dp.time = dp.image + e->num[0];
		if (heap_line(e, thread, &made))
			hold_settle(thread, &made);
		break;
	case 'G':
	case 'L':
		code_names(e);
		break;
	case 'E':
	case 'J':
		if (how.late == NULL)
			how.late = simhead_end(e);
		break;
	case 'O':
		outcome(e);
		break;
	case 'M':
	case 'U':
		if (objmap_line(dp.map, e->line, e->len) < 0) {
			ev_bad(dp.events, "%c: malformed", letter);
			break;
		}
		epoch.code++;
		images_line(e, (char)letter);
		if (letter == 'U' && e->num[0] == 0 &&
		    e->num[1] == UINT64_MAX)
			exec_over();
		break;
	}
	stack_line(e, (char)letter);
}

/* false: there is nothing to report. */
static bool
run(void)
{
	struct ev e;
	bool ready = false;
	int c;

	while ((c = ev_next(dp.events, &e)) > 0) {
		if (c == 'H') {
			head(&e);
			continue;
		}
		if (!ready)
			begin();
		if (!ready && ev_error(dp.events) != NULL)
			return false;
		ready = true;
		if (c != EV_EXECS) {
			line(c, &e);
			continue;
		}
		if (dp.walks)
			batch_all(&e);
		else if (ev_kind(dp.events) == EV_CACHE)
			alone_batch(&e);
	}
	alone_end();
	hold_end();
	order_end();
	tally_names_end();
	how.whole = c == 0;
	return ready;
}

int
main(int argc, char **argv)
{
	struct out *o;
	int c;

	prog_init(argv[0]);
	while ((c = getopt_long(argc, argv, "ho:v", longopts, NULL)) != -1)
		option(c);
	if (argc - optind > 1)
		prog_usage(synopsis);
	if (massifs != NULL && how.form != FORM_MASSIF)
		die("%s: only with --massif", massifs);
	o = out_open(output);
	dp.events = ev_open(in_open(argv[optind]));
	dp.map = objmap_new();
	codes = codenames_new();
	func_map(dp.map);
	ev_standing(dp.events);
	ev_accept(dp.events, EV_ALL | EV_CACHE | EV_COUNTS,
	    "the addresses of references");
	if (run())
		report(o, &how);
	out_close(o);
	return ev_close(dp.events);
}
