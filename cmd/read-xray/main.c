/*
 * read-xray - read XRay logs as event text of kind calls
 *
 *	version 5, thread 7: enter 1 at 100, exit 1 at 164
 *
 *	F 5 1 3 1000000000 16384 0 xray-log.a	a log begins: its header
 *	T 7 7					thread 7 of process 7
 *	L 12 500				a buffer, its wall clock
 *	S 0 64					on processor 0 from tick 100 on
 *	N 1 64
 *	X 1 a4
 *
 * Logs are read one after the other, each thread's buffers in the order of
 * their wall clocks.  Unreadable parts of a log become `R` lines and one
 * message a log; the stream then has no end mark, unless -k is given.
 */
#include "read-xray.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "calls.h"
#include "evw.h"
#include "num.h"
#include "out.h"
#include "prog.h"
#include "xray.h"

static const char synopsis[] =
    "[-k] [-F hz] [-m [object=]binary] [-o file] [log ...]";
static const char help[] =
"usage: read-xray [options] [log ...]\n"
"XRay logs (FDR versions 1 to 5, basic 1 to 3) to event text, kind calls.\n"
"\n"
"  -F, --frequency=HZ      ticks per second, whatever the logs say\n"
"  -k, --keep-going        end the stream as whole though a log is damaged\n"
"  -m, --map=[N=]BINARY    functions' names from BINARY (of object N)\n"
"  -o, --output=FILE       write to FILE\n"
"  -h, --help  --version\n";

static struct out *out;
static struct calls_set threads;
static struct calls *thread;
static uint64_t ncalls;
static uint64_t frequency;		/* -F */
static bool has_frequency;
static bool keep_going;			/* -k */
static bool trouble;			/* some log is damaged */

/* faults of the log being read */
static struct {
	uint64_t	nlost, bytes, ntwice;
	uint64_t	first, first_twice;	/* offsets */
	const char	*why;
} damage;

/* Put a letter and one or two numbers. */
static void
put_line(char letter, uint64_t a, const uint64_t *b)
{
	char *from = out_room(out, 40), *p = from;

	*p++ = letter;
	*p++ = ' ';
	p = num_hex(p, a);
	if (b) {
		*p++ = ' ';
		p = num_hex(p, *b);
	}
	*p++ = '\n';
	out_advance(out, (size_t)(p - from));
}

static void
call(const struct xray_rec *r)
{
	static const char letters[] = {
		[XRAY_ENTER] = 'N', [XRAY_EXIT] = 'X', [XRAY_TAIL] = 'V'
	};

	map_use(out, r->id);
	put_line(letters[r->kind], r->id, &r->tsc);
	ncalls++;
	if (r->kind == XRAY_ENTER)
		calls_enter(thread, r->id, r->tsc);
	else
		calls_drop(thread, calls_match(thread, r->id));
}

static void
put_thread(const struct xray_rec *r)
{
	thread = calls_thread(&threads, r->pid, r->tid);
	out_str(out, "T ");
	out_u64(out, r->tid);
	if (r->has_pid) {
		out_ch(out, ' ');
		out_u64(out, r->pid);
	}
	out_ch(out, '\n');
	if (r->kind == XRAY_BUFFER)
		out_printf(out, "L %lld %d\n", (long long)r->sec, r->usec);
}

/*
 * Put an event's line up to its text; the data follows in pieces, a line each.
 * Returns the bytes of data to come.
 */
static uint64_t
put_event(const struct xray_rec *r)
{
	out_str(out, "D ");
	out_hex(out, r->tsc);
	if (r->kind == XRAY_TYPED) {
		out_ch(out, ':');
		out_hex(out, r->type);
	}
	out_str(out, r->size > 0 ? " " : "\n");
	return r->size;
}

static uint64_t
put_data(const struct xray_rec *r, uint64_t left)
{
	put_text(out, r->data, r->len);
	left -= r->len;
	out_str(out, left > 0 ? "\nD . " : "\n");
	return left;
}

static void
put_missing(const struct xray_rec *r)
{
	const char *why = r->kind == XRAY_TWICE ?
	    "a buffer that comes twice" : r->text;

	out_printf(out, "R %llx %llx %s\n", (unsigned long long)r->off,
	    (unsigned long long)r->len, why);
	if (r->kind == XRAY_TWICE) {
		if (damage.ntwice++ == 0)
			damage.first_twice = r->off;
		return;
	}
	damage.bytes += r->len;
	if (damage.nlost++ == 0) {
		damage.first = r->off;
		damage.why = why;
	}
}

static void
put_header(const struct xray_head *h, const char *name)
{
	out_printf(out, "F %u %u %u %llu %llu %llu ", h->version, h->type,
	    h->flags, (unsigned long long)(has_frequency ? frequency : h->hz),
	    (unsigned long long)h->size, (unsigned long long)h->extra);
	put_text(out, name, strlen(name));
	out_ch(out, '\n');
}

static void
report(const char *name)
{
	char more[80] = "";

	if (damage.nlost > 1)
		snprintf(more, sizeof more, ", other places: %llu",
		    (unsigned long long)damage.nlost - 1);
	if (damage.nlost > 0) {
		warn("%s: offset %llu: %s (bytes lost: %llu%s)", name,
		    (unsigned long long)damage.first, damage.why,
		    (unsigned long long)damage.bytes, more);
		trouble = true;
	}
	if (damage.ntwice > 0)
		warn("%s: offset %llu: a buffer that comes twice "
		    "(such buffers: %llu, and as many are missing)", name,
		    (unsigned long long)damage.first_twice,
		    (unsigned long long)damage.ntwice);
}

/* Report calls of which the log holds only the entry or the exit. */
static void
report_halves(const char *name)
{
	uint64_t no_entry = 0, no_exit = 0, inside = 0;
	char text[160];
	size_t i;

	for (i = 0; i < threads.n; i++) {
		no_entry += threads.thread[i]->no_entry;
		no_exit += threads.thread[i]->no_exit;
		inside += threads.thread[i]->n;
	}
	calls_reset(&threads);
	if (no_entry == 0 && no_exit == 0 && inside == 0)
		return;
	snprintf(text, sizeof text, "exits without their entries: %llu, "
	    "entries without their exits: %llu, not left at the end: %llu",
	    (unsigned long long)no_entry, (unsigned long long)no_exit,
	    (unsigned long long)inside);
	out_printf(out, "C %s\n", text);
	if (no_entry > 0 || no_exit > 0)
		warn("%s: %s", name, text);
}

static void
put_record(const struct xray_rec *r, uint64_t *left)	/* table */
{
	switch (r->kind) {
	case XRAY_ENTER:
	case XRAY_EXIT:
	case XRAY_TAIL:
		call(r);
		break;
	case XRAY_BUFFER:
	case XRAY_THREAD:
		put_thread(r);
		break;
	case XRAY_CPU:
		put_line('S', r->cpu, &r->tsc);
		break;
	case XRAY_WRAP:
		put_line('J', r->tsc, NULL);
		break;
	case XRAY_ARG:
		put_line('A', r->arg, NULL);
		break;
	case XRAY_CUSTOM:
	case XRAY_TYPED:
		*left = put_event(r);
		break;
	case XRAY_DATA:
		*left = put_data(r, *left);
		break;
	case XRAY_TWICE:
	case XRAY_LOST:
		put_missing(r);
		break;
	case XRAY_END:
		break;
	}
}

static void
read_log(const char *file)
{
	struct xray *x = xray_open(file);
	const char *name = file && strcmp(file, "-") != 0 ? file : "stdin";
	struct xray_rec r;
	uint64_t left = 0;

	memset(&damage, 0, sizeof damage);
	put_header(xray_header(x), name);
	for (xray_next(x, &r); r.kind != XRAY_END; xray_next(x, &r))
		put_record(&r, &left);
	xray_close(x);
	report(name);
	report_halves(name);
}

/* Returns the name of the output, or NULL. */
static const char *
options(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "frequency", required_argument, NULL, 'F' },
		{ "keep-going", no_argument, NULL, 'k' },
		{ "map", required_argument, NULL, 'm' },
		{ "output", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 }
	};
	const char *to = NULL;
	int c;

	while ((c = getopt_long(argc, argv, "F:hkm:o:", longs, NULL)) != -1) {
		switch (c) {
		case 'F':
			frequency = num_arg("--frequency", optarg, 0,
			    UINT64_MAX);
			has_frequency = true;
			break;
		case 'k':
			keep_going = true;
			break;
		case 'm':
			map_add(optarg);
			break;
		case 'o':
			to = optarg;
			break;
		case 'h':
			prog_help(help);
		case 'V':
			prog_version();
		default:
			prog_usage(synopsis);
		}
	}
	return to;
}

int
main(int argc, char **argv)
{
	prog_init(argv[0]);
	out = out_open(options(argc, argv));
	out_str(out, EVW_HEADER "\nH kind calls\n");
	map_begin(out);
	do
		read_log(argv[optind]);
	while (optind < argc && ++optind < argc);
	if (!trouble || keep_going)
		out_printf(out, "E exit 0 %llu\n", (unsigned long long)ncalls);
	out_close(out);
	return trouble && !keep_going ? 2 : 0;
}
