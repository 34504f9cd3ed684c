/*
 * counted - kinds counts and cache as lines of the program's source
 *
 *	S 2 1 1 401100		state 2: in state 1, 401100 f.c:3: f
 *	A 2 1 401007 401100 2	arc 2: from state 1 to state 2 by 401007 f.c:14
 *	V 2 1 d			arc 2: 1 calls, 13 instructions
 *	1*3			4 times f.c:13: main
 *	R 1 2 40 0		64 rounds, 0 times none: 401005 f.c:13: main
 *
 * States and arcs have the reader's numbers, which are those of the stream if
 * it numbers them in order.
 */
#include <inttypes.h>
#include <stdio.h>

#include "out.h"
#include "source.h"

/* Write the source of an address of a block's instruction, from 0. */
static void
put_insn(struct out *o, const struct ev_block *b, uint64_t insn)
{
	step_put_addr(o, b->insn[insn].addr);
}

/* The lines of the first n instructions of a block were executed. */
static void
put_times(struct out *o, const struct ev_def *d, uint64_t times)
{
	const struct steps *s = steps_of(d->block);

	for (uint32_t i = 0; i < s->n && s->step[i].insn < d->n; i++) {
		out_printf(o, "%" PRIu64 " times ", times);
		step_put(o, &s->step[i]);
		out_ch(o, '\n');
	}
}

static void
put_references(struct out *o, const struct ev_def *d)
{
	struct ev_walk w;

	for (ev_walk(&w, d); ev_step(&w); ) {
		out_printf(o, "%c %08" PRIx64 ",%" PRIu32 " ",
		    w.kind == 'i' ? 'I' : w.kind == 'r' ? 'L' :
		    w.kind == 'w' ? 'S' : 'M', w.addr, w.size);
		put_insn(o, d->block, w.insn);
	}
}

void
counted_executions(struct out *o, const struct evr *r, const struct ev *e)
{
	const struct ev_def *d;

	for (const uint64_t *p = e->rec; p < e->end; p = ev_skip(p)) {
		d = ev_def(r, ev_id(*p));
		if (ev_kind(r) == EV_COUNTS) {
			put_times(o, d, 1 + ev_more(p));
			continue;
		}
		for (uint64_t n = 0; n <= ev_more(p); n++) {
			ev_apply(d, p + 1);
			if (d->letter == 'Q')
				put_references(o, d);
		}
	}
}

/* S id up level address, S id same */
static void
state(struct out *o, const struct ev *e)
{
	const uint64_t *n = e->num;

	out_printf(o, "state %" PRIu64, n[0]);
	if (e->nnum == 2) {
		out_printf(o, ": as state %" PRIu64 "\n", n[1]);
		return;
	}
	out_printf(o, "%s: ", n[2] == 2 ? ", called again" : "");
	if (n[1] != 0)
		out_printf(o, "in state %" PRIu64 ", ", n[1]);
	step_put_addr(o, n[3]);
}

/* A id from site target to */
static void
arc(struct out *o, const struct ev *e)
{
	out_printf(o, "arc %" PRIu64 ": ", e->num[0]);
	if (e->num[1] != 0)
		out_printf(o, "from state %" PRIu64 " ", e->num[1]);
	out_printf(o, "to state %" PRIu64, e->num[4]);
	if (e->num[1] == 0) {
		out_ch(o, '\n');
		return;
	}
	if (e->nnum == 6)
		out_printf(o, ", within state %" PRIu64 ",", e->num[5]);
	out_str(o, " by ");
	step_put_addr(o, e->num[2]);
}

/* V arc calls ir [dr dw] */
static void
calls(struct out *o, const struct ev *e)
{
	const uint64_t *n = e->num;

	out_printf(o, "arc %" PRIu64 ": %" PRIu64 " calls, %" PRIu64
	    " instructions", n[0], n[1], n[2]);
	if (e->nnum == 5)
		out_printf(o, ", %" PRIu64 " reads, %" PRIu64 " writes", n[3],
		    n[4]);
	out_ch(o, '\n');
}

void
counted_line(struct out *o, const struct evr *r, int letter,
    const struct ev *e)
{
	const uint64_t *n = e->num;

	switch (letter) {
	case 'A':
		arc(o, e);
		break;
	case 'F':
		out_printf(o, "own cost of state %" PRIu64 ": ", n[1]);
		put_insn(o, ev_def(r, e->id)->block, 0);
		break;
	case 'I':
		out_printf(o, "an interval of %" PRIu64 " instructions\n",
		    n[0]);
		break;
	case 'N':
		out_printf(o, "a frame by arc %" PRIu64 ", return address at %"
		    PRIx64, n[0], n[1]);
		if (e->nnum == 3)
			out_printf(o, ", in place of that which it has called "
			    "by arc %" PRIu64, n[2]);
		out_ch(o, '\n');
		break;
	case 'R':
		out_printf(o, "%" PRIu64 " rounds, %" PRIu64 " times none: ",
		    n[2], n[3]);
		put_insn(o, ev_def(r, e->id)->block, n[1] - 1);
		break;
	case 'S':
		state(o, e);
		break;
	case 'V':
		calls(o, e);
		break;
	case 'W':
		put_times(o, ev_def(r, e->id), n[1]);
		break;
	case 'X':
		if (ev_kind(r) == EV_BRANCHES) {
			out_printf(o, "%" PRIu64 " times mispredicted: ",
			    n[2]);
			put_insn(o, ev_def(r, e->id)->block, n[1] - 1);
			break;
		}
		out_printf(o, "%" PRIu64 " frames left\n", n[0]);
		break;
	}
}
