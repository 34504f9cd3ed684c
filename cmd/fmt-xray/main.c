/*
 * fmt-xray - write event text of kind calls as an XRay FDR log
 *
 *	F 5 1 3 1000000000 16384 0 log	the log's header
 *	T 7 7				thread 7 of process 7
 *	L 12 500			its buffer begins, at this wall clock
 *	S 0 64				NewCPUId: processor 0, tick 100
 *	N 1 64				enter 1, 0 ticks later
 *	X 1 a4				exit 1, 64 ticks later
 *
 * A log that read-xray made text of comes back as it was, buffer by buffer.  A
 * stream without buffers gets one for each thread.
 */
#include "fmt-xray.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "ev.h"
#include "in.h"
#include "mem.h"
#include "out.h"
#include "prog.h"
#include "xray.h"

static const char synopsis[] =
    "[-j] [-b bytes] [-F hz] [-f version] [-m binary] [-o file] [events]";
static const char help[] =
"usage: fmt-xray [options] [events]\n"
"Event text of kind calls to an XRay log (flight data recorder).\n"
"\n"
"  -b, --buffer-size=BYTES  of the buffers (version 1: exactly so many)\n"
"  -F, --frequency=HZ       ticks per second, whatever the stream says\n"
"  -f, --format=VERSION     of the log, 1 to 5 (5)\n"
"  -j, --join               one buffer for each thread\n"
"  -m, --map=BINARY         write a file with the functions' names\n"
"  -o, --output=FILE        write to FILE\n"
"  -h, --help  --version\n";

enum { LEAST_SIZE = 256, USUAL_SIZE = 16384 };	/* of buffers */
#define MOST_SIZE UINT32_MAX
enum { CONSTANT_NONSTOP = 3 };

static struct xray_head head = {
	.version = XRAY_NEWEST, .type = XRAY_FDR, .flags = CONSTANT_NONSTOP,
};
static bool has_hz, has_size;	/* given by options */
static bool join;		/* -j */
static const char *map;		/* -m */
static bool began;		/* there was an F line */
static struct out *out;
static struct xray_writer *writer;	/* NULL: the log's header is open */

static struct xray_rec thread = { .kind = XRAY_THREAD };
static bool has_thread;		/* `thread' is written */
static bool named;		/* there was a T line */

/* the event being read: its data may take several lines */
static struct xray_rec event;
static uint8_t *data;
static size_t ndata, capdata;

static void
put(const struct xray_rec *r)
{
	if (writer == NULL) {
		if (!has_size && head.version > 1 && head.size == 0)
			head.size = USUAL_SIZE;
		writer = xray_create(out, &head);
	}
	if (!has_thread) {
		has_thread = true;
		xray_put(writer, &thread);
	}
	xray_put(writer, r);
}

static void
end_event(void)
{
	struct xray_rec r = { .kind = XRAY_DATA, .data = data, .len = ndata };

	if (event.kind == XRAY_END)
		return;
	event.size = ndata;
	put(&event);
	if (ndata > 0)
		put(&r);
	event.kind = XRAY_END;
}

static int
event_line(struct evr *in, const struct ev *e)
{
	if (e->nnum == 0 && event.kind == XRAY_END)
		return ev_bad(in, "D: no event that goes on");
	if (e->nnum > 0) {
		end_event();
		event.kind = e->nnum > 1 ? XRAY_TYPED : XRAY_CUSTOM;
		event.tsc = e->num[0];
		event.type = (uint16_t)e->num[1];
		ndata = 0;
		if (e->nnum > 1 && e->num[1] > UINT16_MAX)
			return ev_bad(in,
			    "D: type %llx does not fit in 16 bits",
			    (unsigned long long)e->num[1]);
	}
	data = xgrow(data, &capdata, ndata + e->textlen + 1, 1);
	memcpy(data + ndata, e->text, e->textlen);
	ndata += e->textlen;
	return 'D';
}

/* The header of a flight data log: its size of buffers is ours, without -b. */
static int
buffers_line(struct evr *in, const struct ev *e)
{
	uint64_t size = e->num[4];

	if (!has_size && head.version == 1 && size > MOST_SIZE)
		return ev_bad(in, "F: buffers of %llu bytes, more than %llu: "
		    "see -b", (unsigned long long)size,
		    (unsigned long long)MOST_SIZE);
	head.extra = e->num[5];
	if (!has_size && (head.version > 1 || size >= LEAST_SIZE))
		head.size = size;
	return 'F';
}

/* A log begins: its header becomes ours. */
static int
log_line(struct evr *in, const struct ev *e)
{
	uint64_t hz = has_hz ? head.hz : e->num[3];

	if (began && hz != head.hz)
		return ev_bad(in, "F: a log of another frequency: one log "
		    "cannot hold both");
	if (began)
		return 'F';
	began = true;
	if (writer)
		return ev_bad(in, "F: behind what belongs to no log");
	head.hz = hz;
	head.flags = (uint32_t)e->num[2];
	return e->num[1] == XRAY_FDR ? buffers_line(in, e) : 'F';
}

static int
thread_line(struct evr *in, const struct ev *e)
{
	if (e->num[0] > UINT32_MAX || (e->nnum > 1 && e->num[1] > UINT32_MAX))
		return ev_bad(in, "T: a number that does not fit in 32 bits");
	thread.sec = 0;
	thread.usec = 0;
	thread.tid = (uint32_t)e->num[0];
	if (e->nnum > 1) {
		thread.pid = (uint32_t)e->num[1];
		thread.has_pid = 1;
	}
	/* the first T line also names the thread that ran before it */
	if (!named && has_thread && e->nnum == 1)
		xray_rename(writer, thread.tid);
	named = true;
	has_thread = false;
	return 'T';
}

static int
call_line(struct evr *in, const struct ev *e, enum xray_kind kind)
{
	struct xray_rec r = {
		.kind = kind, .id = (uint32_t)e->num[0], .tsc = e->num[1]
	};

	if (e->num[0] >> 28)
		return ev_bad(in, "%c: id %llx does not fit in 28 bits",
		    *e->line, (unsigned long long)e->num[0]);
	put(&r);
	return *e->line;
}

/* -j: the first buffer of a thread sets its wall clock. */
static int
joined_buffer(struct evr *in, const struct ev *e)
{
	static bool *seen;
	static size_t cap;
	unsigned nr = ev_thread(in);

	seen = xgrow0(seen, &cap, nr + 1, sizeof *seen);
	if (!seen[nr]) {
		seen[nr] = true;
		thread.sec = (int64_t)e->num[0];
		thread.usec = (int32_t)e->num[1];
		has_thread = false;
	}
	return 'L';
}

/* Write a line's record; < 0: the line is wrong. */
static int
put_line(struct evr *in, const struct ev *e)	/* table */
{
	struct xray_rec r = { .kind = XRAY_END };

	if (*e->line != 'D')
		end_event();
	switch (*e->line) {
	case 'H':
		if (strcmp(e->text, "pid") == 0) {
			thread.pid = (uint32_t)strtoul(e->value, NULL, 10);
			thread.has_pid = true;
		}
		return 'H';
	case 'F':
		return log_line(in, e);
	case 'T':
		return thread_line(in, e);
	case 'L':
		if (join)
			return joined_buffer(in, e);
		r = thread;
		r.kind = XRAY_BUFFER;
		r.sec = (int64_t)e->num[0];
		r.usec = (int32_t)e->num[1];
		has_thread = true;
		break;
	case 'S':
		r.kind = XRAY_CPU;
		r.cpu = (uint16_t)e->num[0];
		r.tsc = e->num[1];
		break;
	case 'J':
		r.kind = XRAY_WRAP;
		r.tsc = e->num[0];
		break;
	case 'N':
		return call_line(in, e, XRAY_ENTER);
	case 'X':
		return call_line(in, e, XRAY_EXIT);
	case 'V':
		return call_line(in, e, XRAY_TAIL);
	case 'A':
		r.kind = XRAY_ARG;
		r.arg = e->num[0];
		break;
	case 'D':
		return event_line(in, e);
	case 'G':
		if (map && e->num[0] <= UINT32_MAX)
			map_name((uint32_t)e->num[0],
			    e->nnum > 1 ? &e->num[1] : NULL, e->text);
		return 'G';
	default:	/* maps, comments: an XRay log has no such records */
		return *e->line;
	}
	put(&r);
	return *e->line;
}

static int
run(const char *name)
{
	struct in *in = in_open(name);
	struct evr *r = ev_open(in);
	struct ev e;
	uint64_t left_out;
	int status;

	ev_accept(r, EV_CALLS, "entries and exits of functions");
	while (ev_next(r, &e) > 0)
		if (put_line(r, &e) < 0)
			break;
	end_event();
	if (writer == NULL)
		writer = xray_create(out, &head);
	left_out = xray_finish(writer);
	status = ev_close(r);
	if (left_out > 0)
		warn("typed events left out, as version %u has none: %llu",
		    head.version, (unsigned long long)left_out);
	in_close(in);
	return status;
}

static void
options(int argc, char **argv, const char **to)
{
	static const struct option longs[] = {
		{ "buffer-size", required_argument, NULL, 'b' },
		{ "frequency", required_argument, NULL, 'F' },
		{ "format", required_argument, NULL, 'f' },
		{ "join", no_argument, NULL, 'j' },
		{ "map", required_argument, NULL, 'm' },
		{ "output", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 }
	};
	int c;

	while ((c = getopt_long(argc, argv, "b:F:f:hjm:o:", longs,
	    NULL)) != -1) {
		switch (c) {
		case 'b':
			head.size = size_arg("--buffer-size", optarg,
			    LEAST_SIZE, MOST_SIZE - 7);
			if (head.size % 8 != 0)
				die("--buffer-size=%s: not a multiple of 8",
				    optarg);
			has_size = true;
			break;
		case 'F':
			head.hz = num_arg("--frequency", optarg, 0, UINT64_MAX);
			has_hz = true;
			break;
		case 'f':
			head.version = (uint16_t)num_arg("--format", optarg, 1,
			    XRAY_NEWEST);
			break;
		case 'h':
			prog_help(help);
		case 'j':
			join = true;
			break;
		case 'm':
			map = optarg;
			break;
		case 'o':
			*to = optarg;
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
	const char *to = NULL;
	int status;

	prog_init(argv[0]);
	options(argc, argv, &to);
	out_hold();
	out = out_open(to);
	status = run(argv[optind]);
	if (map)
		map_write(map);
	out_close(out);
	out_publish();
	return status;
}
