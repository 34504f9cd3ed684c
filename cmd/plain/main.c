/*
 * plain - write events one a line, as Lackey does, and read them back
 *
 *	H quern-events 2		I  00001000,4
 *	B 1 >1000 4r8.0 3w4@5000	 L 7ffe1000,8
 *	1+7ffe1000			I  00001004,3
 *	E exit 0 1			 S 00005000,4
 *
 * -r reads such lines and writes events.  A straight run of instructions, up to
 * one that is not the next in memory, becomes one execution of a block.  Each
 * of its references has an address group of its own.  Runs with the same
 * definition share an id.
 */
#include <ctype.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "ev.h"
#include "evw.h"
#include "in.h"
#include "khash.h"
#include "mem.h"
#include "out.h"
#include "prog.h"
#include "source.h"
#include "tally.h"

static const char synopsis[] =
    "[-drs] [--rep=once|each] [--sums=function] [-o file] [file]";

static const char help[] =
"usage: plain [option]... [file]\n"
"Write events one a line, as Valgrind's Lackey does.\n"
"\n"
"  -d, --data         data references only\n"
"  -o, --output=FILE  write to FILE\n"
"      --rep=once|each  a repeated string instruction has one fetch, or one\n"
"                     for each round and the test behind them  [once]\n"
"  -r, --reverse      read such lines and write events (also --inverse)\n"
"  -s, --source       lines of the program's source instead\n"
"      --sums=FN      instead: how many instructions, branches, superblocks,\n"
"                     and calls of function FN\n"
"  -h, --help         this text\n"
"      --version      the version\n";

static bool data_only, each, reverse, source;
static const char *output, *sums;

static void
options(int argc, char **argv)
{
	enum { OPT_VERSION = 256, OPT_REP, OPT_SUMS };
	static const struct option longopts[] = {
		{ "data", no_argument, NULL, 'd' },
		{ "help", no_argument, NULL, 'h' },
		{ "inverse", no_argument, NULL, 'r' },
		{ "output", required_argument, NULL, 'o' },
		{ "rep", required_argument, NULL, OPT_REP },
		{ "reverse", no_argument, NULL, 'r' },
		{ "source", no_argument, NULL, 's' },
		{ "sums", required_argument, NULL, OPT_SUMS },
		{ "version", no_argument, NULL, OPT_VERSION },
		{ NULL, 0, NULL, 0 }
	};
	int c;

	while ((c = getopt_long(argc, argv, "dho:rs", longopts, NULL)) != -1)
		switch (c) {
		case OPT_VERSION:
			prog_version();
		case 'd':
			data_only = true;
			break;
		case 'h':
			prog_help(help);
		case 'o':
			output = optarg;
			break;
		case OPT_REP:
			each = choice_arg("--rep", optarg, "once", "each");
			break;
		case OPT_SUMS:
			sums = optarg;
			break;
		case 'r':
			reverse = true;
			break;
		case 's':
			source = true;
			break;
		default:
			prog_usage(synopsis);
		}
	if (argc - optind > 1 || data_only + reverse + source +
	    (sums != NULL) > 1)
		prog_usage(synopsis);
}

/* ---- events to lines ---- */

/* Put one line; addresses have at least 8 digits. */
static void
put(struct out *o, const char *what, uint64_t addr, uint32_t size)
{
	char *p = out_room(o, 64), *from = p, digits[10], *d = digits + 10;
	int n = 8;

	while (n < 16 && addr >> (4 * n) != 0)
		n++;
	memcpy(p, what, 3);
	for (p += 3; n > 0; n--)
		*p++ = "0123456789abcdef"[addr >> (4 * (n - 1)) & 15];
	*p++ = ',';
	do
		*--d = (char)('0' + size % 10);
	while ((size /= 10) != 0);
	while (d < digits + 10)
		*p++ = *d++;
	*p++ = '\n';
	out_advance(o, (size_t)(p - from));
}

static void
fetch(struct out *o, const struct ev_insn *i)
{
	if (!data_only)
		put(o, "I  ", i->addr, i->len);
}

/*
 * The fetches of Lackey that the walk does not have: before each round but the
 * first, and behind the last if it wrote.  *open is such an instruction, or
 * NULL.
 */
static void
more_fetches(struct out *o, const struct ev_walk *w,
    const struct ev_insn **open)
{
	const struct ev_ref *r = &w->block->ref[w->ref];

	if (w->kind == 'i') {
		if (*open != NULL)
			fetch(o, *open);
		*open = NULL;
		return;
	}
	if (r->count == 0)
		return;
	if (w->round != 0 && w->ref == w->first)
		fetch(o, &w->block->insn[w->insn]);
	if (w->kind != 'r')
		*open = &w->block->insn[w->insn];
}

static void
execution(struct out *o, const struct ev_def *d)
{
	const struct ev_insn *open = NULL;
	struct ev_walk w;

	ev_walk(&w, d);
	while (ev_step(&w)) {
		if (each)
			more_fetches(o, &w, &open);
		switch (w.kind) {
		case 'i':
			fetch(o, &w.block->insn[w.insn]);
			break;
		case 'r':
			put(o, " L ", w.addr, w.size);
			break;
		case 'w':
			put(o, " S ", w.addr, w.size);
			break;
		case 'm':
			put(o, " M ", w.addr, w.size);
			break;
		}
	}
	if (open != NULL)
		fetch(o, open);
}

/* Each reference of a block must have its address. */
static void
check_block(struct evr *r, const struct ev_block *b)
{
	for (uint32_t i = 0; i < b->nref; i++)
		if (b->ref[i].where == EV_BARE)
			ev_bad(r, "a reference without its address");
}

static void
batch(struct out *o, const struct evr *r, const struct ev *e)
{
	for (const uint64_t *p = e->rec; p < e->end; p = ev_skip(p))
		for (uint64_t n = 0; n <= ev_more(p); n++) {
			const struct ev_def *d = ev_def(r, ev_id(*p));

			ev_apply(d, p + 1);
			execution(o, d);
		}
}

static int
to_lines(const char *name)
{
	struct out *o = out_open(output);
	struct evr *r = ev_open(in_open(name));
	struct ev e;
	int c;

	ev_accept(r, EV_ALL, "each reference with its address");
	while ((c = ev_next(r, &e)) > 0) {
		if (c == 'B')
			check_block(r, ev_def(r, e.id)->block);
		else if (c == EV_EXECS)
			batch(o, r, &e);
	}
	out_close(o);
	return ev_close(r);
}

/* The order of executions is enough. */
static int
to_sums(const char *name)
{
	struct out *o = out_open(output);
	struct evr *r = ev_open(in_open(name));
	struct ev e;
	int c;

	ev_accept(r, EV_ALL | EV_BLOCKS, "the order of executions");
	tally_open(sums);
	while ((c = ev_next(r, &e)) > 0)
		tally_line(r, &e, c);
	tally_print(o);
	out_close(o);
	return ev_close(r);
}

/* ---- lines to events ---- */

/* the most instructions and references of a run */
#define MAXINSN	64
#define MAXREF	200

KHASH_MAP_INIT_STR(run, uint32_t)

static struct in *input;
static struct evw *writer;
static khash_t(run) *runs;
static struct {
	char items[MAXINSN * 4 + MAXREF * 16 + 32];
	size_t len;
	unsigned ninsn, nref;
	uint64_t behind;	/* address behind its last instruction */
	uint32_t rec[1 + 2 * MAXREF];
} run;

static uint32_t
run_id(void)
{
	static uint32_t last;
	int new;
	khint_t k;

	k = kh_get(run, runs, run.items);
	if (k != kh_end(runs))
		return kh_val(runs, k);
	k = kh_put(run, runs, xstrdup(run.items), &new);
	if (evw_block(writer, ++last, kh_key(runs, k), run.nref,
	    run.ninsn) < 0)
		die("%s:%" PRIu64 ": more than %d different runs",
		    in_name(input), in_lineno(input), EVW_MAXID);
	kh_val(runs, k) = last;
	return last;
}

static void
end_run(void)
{
	if (run.ninsn != 0) {
		run.items[run.len] = '\0';
		run.rec[0] = run.nref << 24 | run_id();
		evw_records(writer, run.rec, run.rec + 1 + 2 * run.nref);
	}
	run.len = run.ninsn = run.nref = 0;
}

static void
instruction(uint64_t addr, uint64_t len)
{
	if (addr != run.behind || run.ninsn == MAXINSN ||
	    run.nref > MAXREF - 64)
		end_run();
	if (run.ninsn == 0)
		run.len = (size_t)sprintf(run.items, ">%" PRIx64, addr);
	/* a longer one is a request to Valgrind: cut it, and end the run */
	run.behind = len > 15 ? UINT64_MAX : addr + len;
	run.len += (size_t)sprintf(run.items + run.len, " %x",
	    (unsigned)(len > 15 ? 15 : len));
	run.ninsn++;
}

/* A reference of the last instruction; -1: there is none, or too many. */
static const char *trouble = "not a line of Lackey's";

static int
reference(char kind, uint64_t addr, uint64_t size)
{
	if (run.ninsn == 0)
		return -1;
	if (run.nref == MAXREF) {
		trouble = "more than 200 references of an instruction, as "
		    "plain --rep=each never writes";
		return -1;
	}
	run.len += (size_t)sprintf(run.items + run.len, "%c%x.%x",
	    kind == 'L' ? 'r' : kind == 'S' ? 'w' : 'm', (unsigned)size,
	    run.nref);
	memcpy(run.rec + 1 + 2 * run.nref++, &addr, 8);
	return 0;
}

/* A line `I  addr,len' or the like; -1: malformed. */
static int
event_line(const char *s)
{
	uint64_t addr, size = 0;
	char kind;

	while (*s == ' ')
		s++;
	kind = *s++;
	if (kind == '\0' || strchr("ILSM", kind) == NULL || *s != ' ')
		return -1;
	while (*s == ' ')
		s++;
	if (ev_hex(&s, &addr) < 0 || *s++ != ',' ||
	    !isdigit((unsigned char)*s))
		return -1;
	for (; isdigit((unsigned char)*s) && size < 1 << 16; s++)
		size = size * 10 + (uint64_t)(*s - '0');
	if (*s != '\0' || size == 0 || size >= 1 << 16)
		return -1;
	if (kind != 'I')
		return reference(kind, addr, size);
	instruction(addr, size);
	return 0;
}

/* Is it a line of Valgrind's log?  The command goes into the stream's head. */
static bool
is_log(const char *line, bool began)
{
	const char *s = strstr(line, "== Command: ");
	char *text;

	if (*line == '\0' || strncmp(line, "SB ", 3) == 0 ||
	    strncmp(line, "--", 2) == 0)
		return true;
	if (strncmp(line, "==", 2) != 0)
		return false;
	if (s != NULL && !began) {
		text = xmalloc(4 * strlen(s) + 1);
		evw_escape(text, s + strlen("== Command: "), 0);
		evw_line(writer, "H cmd %.60000s", text);
		free(text);
	}
	return true;
}

static int
to_events(const char *name)
{
	struct out *o = out_open(output);
	char *line;
	bool began = false;
	int status = 0;

	input = in_open(name);
	writer = evw_open(o);
	runs = kh_init(run);
	evw_line(writer, EVW_HEADER);
	while (status == 0 && (line = in_line(input, NULL)) != NULL) {
		if (is_log(line, began))
			continue;
		began = true;
		if (event_line(line) == 0)
			continue;
		warn("%s:%" PRIu64 ": %s: `%.40s'", in_name(input),
		    in_lineno(input), trouble, line);
		status = 2;
	}
	end_run();
	if (status == 0)
		evw_end(writer, "exit", 0);
	else
		evw_flush(writer);
	out_close(o);
	return status;
}

int
main(int argc, char **argv)
{
	const char *name;

	prog_init(argv[0]);
	options(argc, argv);
	name = argv[optind];
	if (source)
		return source_lines(name, output);
	if (sums != NULL)
		return to_sums(name);
	return reverse ? to_events(name) : to_lines(name);
}
