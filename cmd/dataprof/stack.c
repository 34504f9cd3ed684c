/*
 * stack - the functions whose frames are on the stacks
 *
 * In kind all lib/walk follows calls and returns, in kind cache N and X lines
 * tell them: each frame has the address where its return address lies. A frame
 * reaches from there down to the next one's; below the last lies what belongs
 * to the function whose code it is. Without either, a stack is only known by
 * the addresses that calls and returns refer to.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "callwalk.h"
#include "dataprof.h"
#include "mem.h"
#include "objmap.h"
#include "outcome.h"

#define BELOW	(8u << 20)	/* bytes that a function may have */
#define BELOW_SEEN (256u << 10)	/* where frames are not told */
#define ABOVE	(256u << 10)	/* arguments, environment, auxiliary vector */

/* Kind cache: a thread's frames, and the stack's extent. */
struct frame {
	uint64_t place;		/* of the return address */
	uint32_t arc;
};
struct stack {
	struct frame *frame;
	size_t n, cap;
	uint64_t lo, hi;	/* of calls' and returns' references */
};
static struct stack *stacks;
static size_t nstack;

/* S and A lines, by the reader's numbers, from 1. */
struct state {
	uint64_t addr;
	uint32_t up;
};
static struct state *states;
static size_t nstate, capstate;
static uint32_t *arc_to;
static size_t narc, caparc;

static void (*on_part)(uint32_t, uint32_t);
static bool parted;

static void
segment(const struct walk_seg *s)
{
	parted = true;
	on_part(s->first, s->end);
}

void
stack_begin(void (*part)(uint32_t, uint32_t))
{
	if (!dp.walks)
		return;
	walk.events = dp.events;
	walk.map = dp.map;
	walk.told = outcome_new();
	walk.ncol = walk.firsttold = 1;
	on_part = part;
	walk.segment = part == NULL ? NULL : segment;
	plan_begin();
}

static struct stack *
stack_of(unsigned thread)
{
	stacks = xgrow0(stacks, &nstack, thread + (size_t)1, sizeof *stacks);
	return &stacks[thread];
}

/* ---- lines ---- */

static void
add_state(const struct ev *e)
{
	size_t n = e->num[0];

	states = xgrow(states, &capstate, n + 1, sizeof *states);
	if (n >= nstate)
		nstate = n + 1;
	if (e->nnum == 2)
		states[n] = states[e->num[1]];
	else
		states[n] = (struct state){ e->num[3], (uint32_t)e->num[1] };
}

static void
add_arc(const struct ev *e)
{
	size_t n = e->num[0];

	arc_to = xgrow(arc_to, &caparc, n + 1, sizeof *arc_to);
	if (n >= narc)
		narc = n + 1;
	arc_to[n] = (uint32_t)e->num[4];
}

static void
enter(struct stack *s, uint64_t arc, uint64_t place)
{
	s->frame = xgrow(s->frame, &s->cap, s->n + 1, sizeof *s->frame);
	s->frame[s->n++] = (struct frame){ place, (uint32_t)arc };
}

static void
definition(uint32_t id)
{
	const char *wrong = plan_define(id);

	if (wrong != NULL)
		ev_bad(dp.events, "%s", wrong);
}

static void
system_call(uint64_t nr)
{
	struct walk_thread *t = thread_get(ev_thread(dp.events));

	if (nr == EV_SIGRETURN)
		stack_sigreturn(t);
	else if (nr == EV_EXIT)
		stack_close(t);
}

void
stack_line(const struct ev *e, char letter)
{
	struct stack *s;

	switch (letter) {
	case 'B':
	case 'P':
		if (dp.walks)
			definition(e->id);
		break;
	case 'S':
		add_state(e);
		break;
	case 'A':
		add_arc(e);
		break;
	case 'N':
		enter(stack_of(ev_thread(dp.events)), e->num[0], e->num[1]);
		break;
	case 'X':
		s = stack_of(ev_thread(dp.events));
		s->n -= e->num[0] < s->n ? e->num[0] : s->n;
		break;
	case 'Y':
		if (dp.walks && e->nnum == 1)
			system_call(e->num[0]);
		break;
	case 'K':
		if (dp.walks)
			stack_signal(thread_get(ev_thread(dp.events)),
			    e->num[1]);
		break;
	}
}

void
stack_exec(void)
{
	if (dp.walks)
		stack_close_all();
	for (size_t i = 0; i < nstack; i++)
		stacks[i].n = stacks[i].lo = stacks[i].hi = 0;
}

void
stack_batch(const struct ev *e)
{
	walk_batch(e);
}

bool
stack_round(const uint64_t *rec)
{
	static struct ev e;

	e.rec = rec;
	e.end = ev_skip(rec);
	parted = false;
	walk_batch(&e);
	return parted;
}

void
stack_rounds(const uint64_t *rec)
{
	walk.segment = NULL;
	stack_round(rec);
	walk.segment = segment;
}

void
stack_saw(unsigned thread, uint64_t sp)
{
	struct stack *s = stack_of(thread);

	/* far away: it is on another stack now */
	if (s->hi == 0 || sp + BELOW < s->lo || sp > s->hi + BELOW)
		s->lo = s->hi = sp;
	else if (sp < s->lo)
		s->lo = sp;
	else if (sp > s->hi)
		s->hi = sp;
}

/* ---- functions ---- */

static const struct func *
state_function(uint32_t state)
{
	struct func_place at;

	if (state == 0 || state >= nstate)
		return NULL;
	func_place(states[state].addr, &at);
	return at.fn;
}

/* Frames as lib/walk or the stream has them: of frame i, from 0. */
static size_t
frame_count(unsigned thread)
{
	return dp.walks ? thread_get(thread)->n : stack_of(thread)->n;
}

static uint64_t
frame_place(unsigned thread, size_t i)
{
	return dp.walks ? thread_get(thread)->frame[i].sp :
	    stacks[thread].frame[i].place;
}

/* The function that the frame is of, or NULL: a stub. */
static const struct func *
frame_function(unsigned thread, size_t i)
{
	const struct walk_frame *f;
	uint32_t arc;

	if (dp.walks) {
		f = &thread_get(thread)->frame[i];
		return f->arc == NULL ? NULL : f->arc->ctx->fn;
	}
	arc = stacks[thread].frame[i].arc;
	return arc < narc ? state_function(arc_to[arc]) : NULL;
}

/* The innermost frame whose return address lies at or above addr, + 1; or 0. */
static size_t
frame_at(unsigned thread, uint64_t addr)
{
	size_t i = frame_count(thread);
	const struct walk_frame *f;

	if (!dp.walks) {
		while (i > 0 && frame_place(thread, i - 1) + 8 <= addr)
			i--;
		return i;
	}
	for (f = thread_get(thread)->frame; i > 0 && f[i - 1].sp + 8 <= addr; )
		i--;
	return i;
}

static uint32_t
no_function(void)
{
	static uint32_t number;		/* + 1 */

	if (number == 0)
		number = 1 + object_get(DATA_STACK, "", dp.frames ?
		    "(arguments and environment)" : "(stack: which function's "
		    "needs kind all, or kind cache with contexts)");
	return number - 1;
}

static bool
by_frame(unsigned thread, uint64_t addr, const struct func *code,
    struct data_place *p)
{
	size_t n = frame_count(thread), i;
	const struct func *f = NULL;

	if (n == 0)
		return false;
	i = frame_at(thread, addr);
	if (i == 0 && addr - frame_place(thread, 0) >= ABOVE)
		return false;
	if (i == n && frame_place(thread, n - 1) - addr >= BELOW)
		return false;
	if (i == n) {
		p->object = object_code(DATA_STACK, code);
		return true;
	}
	if (i == 0 && dp.walks)	/* the function that called the first one */
		f = thread_get(thread)->frame[0].arc == NULL ? NULL :
		    thread_get(thread)->frame[0].ctx->fn;
	while (i > 0 && f == NULL)
		f = frame_function(thread, --i);
	p->object = f != NULL ? object_code(DATA_STACK, f) : no_function();
	return true;
}

bool
stack_find(unsigned thread, uint64_t addr, const struct func *code,
    struct data_place *p)
{
	const struct stack *s;

	p->lo = p->hi = 0;
	if (dp.frames && by_frame(thread, addr, code, p))
		return true;
	s = stack_of(thread);
	if (s->hi == 0 || addr + BELOW_SEEN < s->lo || addr > s->hi + ABOVE)
		return false;
	p->object = no_function();
	return true;
}

struct stack_own
stack_own(unsigned thread)
{
	static struct stack_own own;
	static uint64_t own_top, since = UINT64_MAX;
	const struct walk_thread *t = thread_get(thread);
	uint64_t top = t->n == 0 ? 0 : t->frame[t->n - 1].sp;

	if (top == own_top && since == epoch.all)
		return own;
	own_top = top;
	since = epoch.all;
	own = (struct stack_own){ 0, 0, 0 };
	/* by_frame has BELOW bytes; no sum of it may leave 64 bits */
	if (top < BELOW || top > UINT64_MAX - BELOW)
		return own;
	own.far = top - BELOW + 1;
	if (dp.by == BY_PAGE)
		return own;
	own.lo = images_below(top - BELOW + 1, top);
	own.size = top + 1 - own.lo;
	return own;
}

/* ---- chains of callers ---- */

static const struct func **chain;
static size_t capchain;
static unsigned nchain;

/* Add a function, unless it is the last one again; false: no more. */
static bool
link_to(const struct func *f)
{
	/* what binds a function at its first call does not call it */
	if (f == NULL || (nchain > 0 && f == chain[nchain - 1]) ||
	    strncmp(f->name, "_dl_runtime_resolve", 19) == 0)
		return nchain <= dp.depth;
	if (nchain != 0 && strcmp(f->name, "(below main)") == 0)
		return false;
	chain = xgrow(chain, &capchain, nchain + 1, sizeof *chain);
	chain[nchain++] = f;
	return nchain <= dp.depth;
}

static void
walk_chain(unsigned thread)
{
	const struct walk_thread *t = thread_get(thread);
	size_t i = t->n;
	bool more = true;

	if (t->ctx != NULL)
		more = link_to(t->ctx->fn);
	while (more && i > 0)
		if (t->frame[--i].arc != NULL && t->frame[i].ctx != NULL)
			more = link_to(t->frame[i].ctx->fn);
}

static void
state_chain(uint32_t state)
{
	bool more = true;

	for (state = states[state].up; more && state != 0 && state < nstate;
	    state = states[state].up)
		more = link_to(state_function(state));
}

unsigned
stack_chain(unsigned thread, uint64_t function, uint64_t caller,
    uint32_t state, const struct func ***to)
{
	struct func_place at;

	nchain = 0;
	func_place(function, &at);
	link_to(at.fn);
	if (dp.walks)
		walk_chain(thread);
	else if (state != 0 && state < nstate)
		state_chain(state);
	if (nchain == 1) {
		func_place(caller - 1, &at);
		link_to(at.fn);
	}
	*to = chain;
	return nchain;
}
