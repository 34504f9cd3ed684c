/*
 * stack - the threads' shadow stacks
 *
 * A frame is a call that has not returned. It has the stack pointer behind the
 * call, so that frames are left when the stack pointer is beyond theirs: by a
 * return, or found at the next call or return after the stack was cut. The
 * rules are Callgrind's, as far as they do not need the stack pointer where no
 * call or return tells it:
 *
 *  - A return with the stack pointer beyond the last frame's leaves all frames
 *    that it is beyond of. At the frame's own place it is one if it goes to the
 *    frame's return address. Any other one is a jump.
 *  - A jump, or going on, is a call if it is to a function's first instruction,
 *    to another object or section, or was a return. Its frame's place is that of
 *    the frame below, so that both are left together: tail calls.
 *  - An indirect jump into the midst of a function that has a frame goes back
 *    there: longjmp, and the landing pads of exceptions. Where setjmp was called
 *    from there, its stack pointer is known; else the frame taken is the
 *    innermost one, and if that was wrong, the next call or return cuts the
 *    stack.
 *  - _dl_runtime_resolve and its like return before they jump.
 *  - A return without a frame comes from a call that was not seen: it has been
 *    going on since the beginning, or the last dump.
 *  - A signal's handler is on a stack of its own; what it costs is not its
 *    victim's.
 *
 * A skipped function has a frame without an arc. What it costs is told at the
 * call that led to it, and a call from there is that one's.
 */
#include "callgraph.h"

#include <stdlib.h>
#include <string.h>

#include "util.h"

/* Who jumps between stacks may leave frames for ever: half of so many go. */
#define MOST	((size_t)1 << 20)
/* And so may handlers that never return. */
#define MOSTSIG	64
/* The place of a frame at a stack's beginning that a jump has made. */
#define ANYWHERE UINT64_MAX

static struct thread **thread;
static size_t capthread;
static unsigned nthread;	/* 1 + the highest number */

struct thread *
thread_get(unsigned num)
{
	size_t n = capthread;
	struct thread *t;

	if (num >= n) {
		thread = xgrow(thread, &capthread, num + (size_t)1,
		    sizeof *thread);
		memset(thread + n, 0, (capthread - n) * sizeof *thread);
	}
	if (thread[num] != NULL)
		return thread[num];
	t = thread[num] = xcalloc(1, sizeof *t);
	t->num = num;
	if (num >= nthread)
		nthread = num + 1;
	t->key = KEY_LOOK;
	t->collect = !opt_toggle;
	t->total = xcalloc(ncol, sizeof *t->total);
	t->since = xcalloc(ncol, sizeof *t->since);
	return t;
}

unsigned
thread_count(void)
{
	return nthread;
}

static uint32_t *
depth(struct thread *t, const struct func *f)
{
	size_t n = t->capdepth;

	if (f->num >= n) {
		t->depth = xgrow(t->depth, &t->capdepth, f->num + (size_t)1,
		    sizeof *t->depth);
		memset(t->depth + n, 0, (t->capdepth - n) * sizeof *t->depth);
	}
	return &t->depth[f->num];
}

/* ---- functions entered and left ---- */

static void
entered(struct thread *t, const struct func *f)
{
	if (f->before)
		dump_part("--dump-before", f->name);
	else if (f->zero)
		dump_zero();
	if (f->toggle)
		t->collect = !t->collect;
}

static void
left(struct thread *t, const struct func *f)
{
	if (f->after)
		dump_part("--dump-after", f->name);
	if (f->toggle)
		t->collect = !t->collect;
}

/* ---- frames ---- */

static void
add_inclusive(struct arc *a, const int64_t *total, const int64_t *enter)
{
	for (unsigned i = 0; i < ncol; i++)
		a->cost[i] += total[i] - enter[i];
}

static void
pop(struct thread *t)
{
	struct frame *f = &t->frame[--t->n];
	struct func *fn;
	uint32_t *d;

	t->skipper = f->skipper;
	if (f->arc == NULL)
		return;
	add_inclusive(f->arc, t->total, t->enter + t->n * ncol);
	t->ctx = f->ctx;
	fn = f->arc->ctx->fn;
	if (opt_calls)
		tell_leave(t, fn);
	d = depth(t, fn);
	if (--*d == 0)
		left(t, fn);
}

/* The outer half is left, wherever it was. */
static void
forget_half(struct thread *t)
{
	size_t half = t->n / 2;

	for (size_t i = 0; i < half; i++)
		if (t->frame[i].arc != NULL) {
			add_inclusive(t->frame[i].arc, t->total,
			    t->enter + i * ncol);
			--*depth(t, t->frame[i].arc->ctx->fn);
		}
	t->n -= half;
	memmove(t->frame, t->frame + half, t->n * sizeof *t->frame);
	memmove(t->enter, t->enter + half * ncol,
	    t->n * ncol * sizeof *t->enter);
	t->bottom = 0;
	t->nsig = 0;
}

static void
push(struct thread *t, struct slot *from, struct arc *a, uint64_t sp)
{
	struct frame *f;

	if (t->n >= MOST)
		forget_half(t);
	t->frame = xgrow(t->frame, &t->cap, t->n + 1, sizeof *t->frame);
	t->enter = xgrow(t->enter, &t->capenter, (t->n + 1) * ncol,
	    sizeof *t->enter);
	f = &t->frame[t->n];
	*f = (struct frame){ .sp = sp, .arc = a, .ctx = t->ctx,
	    .skipper = t->skipper };
	if (from != NULL && (from->seg->flow == 'L' || from->seg->flow == 'X'))
		f->ret = seg_next(from->seg);
	memcpy(t->enter + t->n * ncol, t->total, ncol * sizeof *t->enter);
	t->n++;
	if (a == NULL) {
		if (t->skipper == NULL)
			t->skipper = from;
		return;
	}
	t->skipper = NULL;
	t->ctx = a->ctx;
	if (opt_calls)
		tell_enter(t, a->ctx->fn, a->to - a->tolink);
	if (++*depth(t, a->ctx->fn) == 1)
		entered(t, a->ctx->fn);
	if (t->collect)
		a->calls++;
}

/* Leave frames that the stack pointer is beyond; at its place up to `least`. */
static void
unwind(struct thread *t, uint64_t sp, size_t least)
{
	while (t->n > t->bottom) {
		const struct frame *f = &t->frame[t->n - 1];

		if ((f->sp > sp && f->sp != ANYWHERE) ||
		    (f->sp >= sp && least == 0))
			break;
		if (least > 0)
			least--;
		pop(t);
	}
}

/* Frames left at least by a return to addr; 0: it is a jump. */
static size_t
returned(const struct thread *t, uint64_t addr)
{
	size_t i = t->n, n = 1;

	if (t->frame[i - 1].sp == ANYWHERE)
		return 1;
	if (t->sp != t->frame[i - 1].sp)
		return t->sp > t->frame[i - 1].sp;
	for (; t->frame[i - 1].ret != addr; n++)
		if (--i == t->bottom || t->frame[i - 1].sp != t->sp)
			return 0;
	return n;
}

/* ---- signals ---- */

void
stack_signal(struct thread *t)
{
	struct interrupt *i;

	if (t->seg == NULL)
		return;
	if (t->nsig == MOSTSIG) {
		free(t->sig[0].total);
		memmove(t->sig, t->sig + 1, --t->nsig * sizeof *t->sig);
	}
	t->sig = xgrow(t->sig, &t->capsig, t->nsig + 1, sizeof *t->sig);
	i = &t->sig[t->nsig++];
	*i = (struct interrupt){ t->bottom, t->ctx, t->seg, t->slot,
	    t->skipper, t->sp, xcalloc(ncol, sizeof *i->total) };
	memcpy(i->total, t->total, ncol * sizeof *i->total);
	t->bottom = t->n;
	t->ctx = NULL;
	t->seg = NULL;
	t->slot = NULL;
	t->skipper = NULL;
	t->key = KEY_LOOK;
}

/* Leave the handler's frames. */
static void
end_handler(struct thread *t)
{
	struct interrupt *i;

	while (t->n > t->bottom)
		pop(t);
	i = &t->sig[--t->nsig];
	if (opt_calls) {
		if (t->ctx != NULL)
			tell_leave(t, t->ctx->fn);
		tell_handler(t, (uint64_t)(t->total[0] - i->total[0]));
	}
	t->bottom = i->bottom;
	t->ctx = i->ctx;
	t->skipper = i->skipper;
	memcpy(t->total, i->total, ncol * sizeof *i->total);
	free(i->total);
}

void
stack_sigreturn(struct thread *t)
{
	if (t->nsig == 0)
		return;
	end_handler(t);
	t->seg = t->sig[t->nsig].seg;
	t->slot = t->sig[t->nsig].slot;
	t->sp = t->sig[t->nsig].sp;
	t->key = KEY_LOOK;
}

void
stack_close(struct thread *t)
{
	while (t->nsig > 0)
		end_handler(t);
	while (t->n > 0)
		pop(t);
	if (opt_calls && t->ctx != NULL)
		tell_leave(t, t->ctx->fn);
	t->ctx = NULL;
	t->seg = NULL;
	t->slot = NULL;
	t->skipper = NULL;
	t->key = KEY_LOOK;
	if (t->capdepth > 0)
		memset(t->depth, 0, t->capdepth * sizeof *t->depth);
}

void
stack_close_all(void)
{
	for (unsigned i = 0; i < nthread; i++)
		if (thread[i] != NULL)
			stack_close(thread[i]);
}

static void
settle(struct thread *t)
{
	size_t sig = t->nsig, i = t->n;
	const int64_t *total = t->total;
	size_t bottom = t->bottom;

	while (i-- > 0) {
		while (sig > 0 && i < bottom) {
			sig--;
			total = t->sig[sig].total;
			bottom = t->sig[sig].bottom;
		}
		if (t->frame[i].arc == NULL)
			continue;
		add_inclusive(t->frame[i].arc, total, t->enter + i * ncol);
		memcpy(t->enter + i * ncol, total, ncol * sizeof *total);
	}
	memcpy(t->since, t->nsig > 0 ? t->sig[0].total : t->total,
	    ncol * sizeof *t->since);
}

void
stack_settle(void)
{
	for (unsigned i = 0; i < nthread; i++)
		if (thread[i] != NULL)
			settle(thread[i]);
}

/* ---- moves ---- */

static uint32_t
which(const struct thread *t)
{
	return opt_threads ? t->num : 0;
}

/* The first context of a stack, or what a return without a call leads to. */
static struct ctx *
root(struct thread *t, const struct seg *to)
{
	uint32_t *d = depth(t, to->at->fn);

	if (opt_calls)
		tell_enter(t, to->at->fn, to->at->slide);
	if (*d == 0)
		*d = 1;
	return ctx_get(NULL, 0, to->at->fn, *d, which(t));
}

/* A return without a frame: to has called what ran. */
static void
unseen_call(struct thread *t, const struct seg *to)
{
	struct ctx *callee = t->ctx, *caller;
	struct arc *a;

	if (callee == NULL)
		return;
	if (*depth(t, callee->fn) > 0)
		--*depth(t, callee->fn);
	if (opt_calls)
		tell_leave(t, callee->fn);
	caller = root(t, to);
	for (a = caller->arcs; a != NULL; a = a->more)
		if (a->from == NULL && a->ctx == callee &&
		    a->site == to->addr - to->at->slide - 1)
			break;
	if (a == NULL)
		a = arc_new(caller, to->addr - to->at->slide - 1, callee,
		    callee->fn->start);
	if (t->collect)
		a->calls++;
	add_inclusive(a, t->total, t->nsig == 0 ? t->since :
	    t->sig[t->nsig - 1].total);
	t->ctx = caller;
}

/* Are they parts of one function? Compilers make one of what is rare. */
static bool
same_function(const struct func *f, const struct func *g)
{
	return f == g || (f->ob == g->ob && f->stem == g->stem &&
	    memcmp(f->name, g->name, f->stem) == 0);
}

/*
 * The last frame is a setjmp's: when it returns, the stack is as before. If it
 * came by way of a stub, the frame below, at the same place, knows where to.
 */
static void
landing_set(struct thread *t)
{
	const struct frame *f = &t->frame[t->n - 1];
	struct landing l = { 0, f->sp + 8 };

	while (f->ret == 0 && f > t->frame + t->bottom && f[-1].sp == f->sp)
		f--;
	l.addr = f->ret;
	if (l.addr == 0)
		return;
	/* what has a lower stack pointer has been left */
	while (t->nlanding > 0 && t->landing[t->nlanding - 1].sp <= l.sp)
		t->nlanding--;
	t->landing = xgrow(t->landing, &t->caplanding, t->nlanding + 1,
	    sizeof *t->landing);
	t->landing[t->nlanding++] = l;
}

/* Leave frames down to the innermost that setjmp said of this address. */
static bool
landing_take(struct thread *t, uint64_t addr)
{
	uint64_t top = t->n > t->bottom ? t->frame[t->n - 1].sp : 0;

	for (size_t i = t->nlanding; i > 0; i--)
		if (t->landing[i - 1].addr == addr &&
		    t->landing[i - 1].sp > top) {
			unwind(t, t->landing[i - 1].sp, 0);
			return true;
		}
	return false;
}

/* An indirect jump: back into a function that has a frame? */
static bool
back_into(struct thread *t, const struct seg *to)
{
	const struct frame *f;
	size_t i, keep = 0;

	if (t->nlanding > 0 && landing_take(t, to->addr))
		return true;
	if (same_function(to->at->fn, t->seg->at->fn) || to->at->entry ||
	    to->addr - to->at->slide == to->at->fn->start ||
	    (t->ctx != NULL && same_function(t->ctx->fn, to->at->fn)))
		return false;
	for (i = t->n; i > 0; i--) {
		f = &t->frame[i - 1];
		if (f->arc != NULL && f->ctx != NULL &&
		    same_function(f->ctx->fn, to->at->fn))
			break;
		/* a skipped one goes on in its own frame */
		keep = f->arc == NULL && same_function(f->skipped, to->at->fn);
		if (keep)
			break;
	}
	if (i == 0)
		return false;
	while (t->nsig > 0 && i - 1 < t->bottom)
		end_handler(t);
	while (t->n >= i + keep)
		pop(t);
	return true;
}

/* `from` ended in a call, or something that counts as one. */
static void
call(struct thread *t, struct slot *from, const struct seg *to, uint64_t sp)
{
	struct arc *a = NULL;
	uint32_t level;

	if (to->at->fn->skip && from != NULL) {
		push(t, from, NULL, sp);
		t->frame[t->n - 1].skipped = to->at->fn;
		return;
	}
	if (t->ctx == NULL) {
		t->ctx = root(t, to);
		return;
	}
	if (t->skipper != NULL)
		from = t->skipper;
	level = *depth(t, to->at->fn) + 1;
	if (level > to->at->fn->recs)
		level = to->at->fn->recs + 1;
	a = arc_get(from, to, level, which(t));
	push(t, from, a, sp);
	if (to->at->fn->setjmp)
		landing_set(t);
}

static void
emulated_call(struct thread *t, const struct seg *to)
{
	struct slot *from = t->slot;
	uint64_t sp;
	const struct frame *f;

	if (t->seg->at->fn->pop && t->n > t->bottom) {
		f = &t->frame[t->n - 1];
		if (f->arc != NULL && f->arc->from != NULL) {
			from = f->arc->from;
			pop(t);
		}
	}
	sp = t->n > t->bottom ? t->frame[t->n - 1].sp : ANYWHERE;
	call(t, from, to, sp);
}

void
stack_move(struct thread *t, const struct seg *to)
{
	const struct seg *last = t->seg;
	uint8_t flow = last == NULL ? 0 : last->flow;
	size_t n = 0;

	if (flow == 'R' && t->n > t->bottom)
		n = returned(t, to->addr);
	if (flow == 'L' || flow == 'X') {
		unwind(t, t->sp, 0);
		call(t, t->slot, to, t->sp);
	} else if (n > 0) {
		unwind(t, t->sp, n);
	} else if (flow == 'R' && t->n == t->bottom) {
		unseen_call(t, to);
	} else if (flow == 'I' && back_into(t, to)) {
		/* there it goes on */
	} else if (last != NULL && (flow == 'R' || to->at->entry ||
	    to->at->section != last->at->section)) {
		emulated_call(t, to);
	} else if (opt_jumps && (flow == 'C' || flow == 'J' || flow == 'I') &&
	    to->addr != seg_next(last) && t->skipper == NULL && t->collect) {
		jump_count(t->slot, to, t->ctx);
	}
	if (t->ctx == NULL)
		t->ctx = root(t, to);
}
