/*
 * source - write events as lines of the program's source
 *
 *	B 1 >401000 4r8.0 3 2C401000	sum.c:4: sum
 *	1+7ffe1000			sum.c:5: sum
 *	1+8*2				sum.c:4: sum
 *	Y 231				sum.c:5: sum ...
 *
 * A STEP is a line of source in a function.  The steps of a block are found
 * when it is defined.  Executions that stay in one step become one line.
 */
#include "source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "in.h"
#include "mem.h"
#include "out.h"

static struct out *out;
static struct step *last;	/* by thread: its last step */
static size_t caplast;
static uint64_t tid, written;	/* thread: now, last written; 0: the only one */

/* The last step of the current thread. */
static struct step *
last_step(const struct evr *r)
{
	unsigned t = ev_thread(r);

	last = xgrow0(last, &caplast, t + 1, sizeof *last);
	return &last[t];
}

/* Write the thread, unless it is the last one written. */
static void
put_thread(struct step *at)
{
	if (tid == written)
		return;
	written = tid;
	out_printf(out, "thread %" PRIu64 "\n", tid);
	at->fn = NULL;		/* its next step is written in any case */
}

/* Execute the first n instructions of a block once. */
static void
execution(struct step *at, const struct steps *s, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < s->n && s->step[i].insn < n; i++) {
		if (step_is_same(at, &s->step[i]))
			continue;
		*at = s->step[i];
		step_put(out, at);
		out_ch(out, '\n');
	}
}

static void
executions(const struct evr *r, const struct ev *e)
{
	struct step *at = last_step(r);
	const struct ev_def *d;
	const struct steps *s;
	uint64_t n;

	put_thread(at);
	if (ev_kind(r) & (EV_COUNTS | EV_CACHE | EV_BRANCHES)) {
		counted_executions(out, r, e);
		return;
	}
	for (const uint64_t *p = e->rec; p < e->end; p = ev_skip(p)) {
		d = ev_def(r, ev_id(*p));
		s = steps_of(d->block);
		n = s->n == 1 ? 0 : ev_more(p);
		do
			execution(at, s, d->n);
		while (n-- > 0);
	}
}

static void
signal_line(const struct evr *r, const struct ev *e)
{
	struct step s = step_at(e->num[1]), *at = last_step(r);
	const char *name = strsignal((int)e->num[0]);

	put_thread(at);
	out_printf(out, "signal %" PRIu64 " (%s) at %" PRIx64 " ", e->num[0],
	    name != NULL ? name : "unknown", e->num[1]);
	step_put(out, &s);
	out_ch(out, '\n');
}

int
source_lines(const char *name, const char *output)
{
	struct evr *r = ev_open(in_open(name));
	struct ev e;
	int c;

	out = out_open(output);
	ev_accept(r, EV_ALL | EV_BLOCKS | EV_COUNTS | EV_CACHE |
	    EV_BRANCHES,
	    "executions");
	while ((c = ev_next(r, &e)) > 0)
		switch (c) {
		case 'M':
		case 'U':
			steps_map(&e);
			break;
		case 'B':
			steps_define(ev_def(r, e.id)->block);
			break;
		case 'T':
			tid = e.num[0];
			break;
		case 'K':
			signal_line(r, &e);
			break;
		case 'Y':
			put_thread(last_step(r));
			out_printf(out, e.nnum == 1 ? "system call %" PRIu64
			    "\n" : "system call %" PRIu64 ": %" PRIu64 " ns, %"
			    PRIu64 " ns of the processor\n", e.num[0],
			    e.num[1], e.num[2]);
			break;
		case EV_EXECS:
			executions(r, &e);
			break;
		default:
			if (strchr("FINRVWX", c) != NULL)
				put_thread(last_step(r));
			counted_line(out, r, c, &e);
		}
	out_close(out);
	return ev_close(r);
}
