/*
 * stack - keep a shadow stack for each thread
 *
 * A frame is a call that has not returned. It keeps the stack pointer from
 * after the call: once the stack pointer is beyond that, the frame is left,
 * either by a return or, if the stack was cut, at the next call or return.
 * The rules are Callgrind's, except for those that need the stack pointer
 * where there is no call or return:
 *
 *  - A return leaves all frames that its stack pointer is beyond. If it is
 *    exactly at a frame, it returns from that one only if it goes to the
 *    frame's return address. Any other return is a jump.
 *  - A jump, or falling through, is a call if it leads to a function's first
 *    instruction or to another object or section, or if it was a return. Its
 *    frame has the stack pointer of the frame below, so that both are left
 *    together: tail calls.
 *  - An indirect jump into the midst of a function that has a frame goes back
 *    there: longjmp, and the landing pads of exceptions. If setjmp was called
 *    from there, its stack pointer is known. Otherwise the innermost frame of
 *    the function is taken, but not one that called _Unwind_Resume. If there
 *    are several, the next call or return decides: until then costs count in
 *    limbo, and the frames inside are left as of the jump.
 *  - A call overwrites the return address at its place: frames there have been
 *    left.
 *  - Places that lie far apart are on different stacks: Go's functions switch
 *    to the thread's own and back. Frames of another stack are not left by what
 *    is beyond them (Callgrind needs the other to lie below), but by a return
 *    from a frame further out, or where a call overwrites them.
 *  - _dl_runtime_resolve and its like return before they jump.
 *  - A return without a frame belongs to a call from before the stream began;
 *    its callee has been running since then, or since the last dump.
 *  - A signal handler has frames of its own, and its cost does not count for
 *    the function that it interrupted. It ends by sigreturn; by a jump to
 *    where setjmp was called, or back into a function, outside of it; or when
 *    a call or return finds the stack pointer beyond the interrupted
 *    function's frame, unless the handler has an alternate stack above it.
 *
 * A loop that begins at its function's first instruction calls that function
 * in each round; an interpreter may jump from one function to the next for
 * ever. Callgrind keeps a frame of 80 bytes for each such call. Here, in a RUN
 * of jumps from one place, all of which the same return will leave, the first
 * RUN_MOST have a frame each. From then on there is one for each arc: it has
 * the number of its calls and the sum of the thread's totals at them, so the
 * costs are the same. It counts as one activation of its function. That is
 * enough: a deeper level would have given the last call another arc.
 *
 * A skipped function has a frame without an arc. Its cost goes to the call
 * that led to it, and the calls that it makes count as made from there.
 */
#include "frames.h"
#include "repeat.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"

/* Handlers that never return leave what they interrupted for ever. */
#define MOSTSIG	64
#define MOSTLANDING (1u << 20)	/* even */

static struct walk_thread **thread;
static size_t capthread;
static unsigned nthread;	/* 1 + the highest number */

struct walk_thread *
thread_get(unsigned num)
{
	struct walk_thread *t;

	if (num >= capthread)
		thread = xgrow0(thread, &capthread, num + (size_t)1,
		    sizeof *thread);
	if (thread[num] != NULL)
		return thread[num];
	t = thread[num] = xcalloc(1, sizeof *t);
	t->num = num;
	if (num >= nthread)
		nthread = num + 1;
	t->key = KEY_LOOK;
	t->collect = walk.collect;
	t->first_again = SIZE_MAX;
	t->total = xcalloc(walk.ncol, sizeof *t->total);
	t->since = xcalloc(walk.ncol, sizeof *t->since);
	return t;
}

unsigned
thread_count(void)
{
	return nthread;
}

/* ---- limbo ---- */

/* A jump led to this function, perhaps to an active call further out. */
static void
enter_limbo(struct walk_thread *t)
{
	struct walk_slot *slots;

	if (t->ctx == NULL || t->skipper != NULL)
		return;
	repeat_else();
	if (t->limbo == NULL) {
		t->limbo = ctx_limbo();
		t->landing_total = xcalloc(walk.ncol, sizeof *t->landing_total);
	}
	slots = t->limbo->slots;
	*t->limbo = *t->ctx;
	t->limbo->num = 0;
	t->limbo->slots = slots;
	t->limbo->arcs = NULL;
	t->limbo->jumps = NULL;
	memcpy(t->landing_total, t->total, walk.ncol * sizeof *t->total);
	t->guess = t->ctx;
	t->ctx = t->limbo;
}

/* The jump left all frames below this place; 0: the guess was right. */
static void
leave_limbo(struct walk_thread *t, uint64_t place)
{
	int64_t *now = t->total;

	if (t->guess == NULL)
		return;
	repeat_else();
	t->ctx = t->guess;
	t->guess = NULL;
	t->total = t->landing_total;
	stack_unwind(t, place, 0);
	t->total = now;
	t->landed = t->ctx;
	ctx_move(t->limbo, t->ctx);
	if (t->slot != NULL && t->slot->ctx == t->limbo)
		t->slot = slot_get(t->ctx, (struct walk_seg *)t->seg);
}

/* ---- signals ---- */

/* Forget the outermost signal: its handler will hardly return. */
static void
forget_signal(struct walk_thread *t)
{
	free(t->sig[0].total);
	memmove(t->sig, t->sig + 1, --t->nsig * sizeof *t->sig);
	for (size_t i = 0; i < t->nlanding; i++)
		if (t->landing[i].nsig > 0)
			t->landing[i].nsig--;
}

/* Leave the handler's frames. */
static void
end_handler(struct walk_thread *t)
{
	struct walk_interrupt *i;

	repeat_else();
	leave_limbo(t, 0);
	while (t->n > t->bottom)
		stack_pop(t);
	if (t->ctx != NULL && *stack_depth(t, t->ctx->fn) > 0)
		--*stack_depth(t, t->ctx->fn);
	i = &t->sig[--t->nsig];
	while (t->nlanding > 0 && t->landing[t->nlanding - 1].nsig > t->nsig)
		t->nlanding--;
	if (walk.left != NULL && t->ctx != NULL)
		walk.left(t, t->ctx->fn);
	if (walk.handled != NULL)
		walk.handled(t, i->total);
	t->bottom = i->bottom;
	t->ctx = i->ctx;
	t->skipper = i->skipper;
	memcpy(t->total, i->total, walk.ncol * sizeof *i->total);
	free(i->total);
}

void
stack_sigreturn(struct walk_thread *t)
{
	if (t->nsig == 0)
		return;
	end_handler(t);
	t->seg = t->sig[t->nsig].seg;
	t->slot = t->sig[t->nsig].slot;
	t->sp = t->sig[t->nsig].sp;
	t->key = KEY_LOOK;
}

static void cut(struct walk_thread *t, bool call);

/*
 * A signal found the thread at pc: if a return had just led there, its frame
 * has been left.  Where that is not known here, what runs next decides.
 */
static void
return_before(struct walk_thread *t, uint64_t pc)
{
	size_t n;

	if (pc == 0 || t->seg == NULL || t->seg->flow != 'R')
		return;
	cut(t, false);
	if (t->n == t->bottom || t->frame[t->n - 1].sp == ANYWHERE)
		return;
	n = stack_returned(t, pc);
	if (n == 0)
		return;
	stack_unwind(t, t->sp, n);
	t->seg = NULL;
	t->slot = NULL;
}

/* Is a call's or return's place beyond the frame that was interrupted? */
static void
leave_handlers(struct walk_thread *t, uint64_t place)
{
	struct walk_interrupt *i;
	uint64_t frame;

	while (t->nsig > 0 && t->bottom > 0) {
		i = &t->sig[t->nsig - 1];
		frame = t->frame[t->bottom - 1].sp;
		if (!i->called) {
			repeat_else();
			i->above = place > frame;
		}
		i->called = true;
		if (i->above || place < frame)
			break;
		end_handler(t);
	}
}

void
stack_signal(struct walk_thread *t, uint64_t pc)
{
	struct walk_interrupt *i;

	if (walk.off)
		return;
	return_before(t, pc);
	leave_limbo(t, 0);
	if (t->nsig == MOSTSIG)
		forget_signal(t);
	t->sig = xgrow(t->sig, &t->capsig, t->nsig + 1, sizeof *t->sig);
	i = &t->sig[t->nsig++];
	*i = (struct walk_interrupt){ .bottom = t->bottom, .ctx = t->ctx,
	    .seg = t->seg, .slot = t->slot, .skipper = t->skipper,
	    .sp = t->sp, .total = xcalloc(walk.ncol, sizeof *i->total) };
	memcpy(i->total, t->total, walk.ncol * sizeof *i->total);
	t->bottom = t->n;
	t->ctx = NULL;
	t->seg = NULL;
	t->slot = NULL;
	t->skipper = NULL;
	t->key = KEY_LOOK;
}

void
stack_close(struct walk_thread *t)
{
	leave_limbo(t, 0);
	while (t->nsig > 0)
		end_handler(t);
	while (t->n > 0)
		stack_pop(t);
	if (walk.left != NULL && t->ctx != NULL)
		walk.left(t, t->ctx->fn);
	t->ctx = NULL;
	t->seg = NULL;
	t->slot = NULL;
	t->skipper = NULL;
	t->key = KEY_LOOK;
	memcpy(t->since, t->total, walk.ncol * sizeof *t->since);
	if (t->capdepth > 0)
		memset(t->depth, 0, t->capdepth * sizeof *t->depth);
	t->nlanding = 0;
}

void
stack_close_all(void)
{
	for (unsigned i = 0; i < nthread; i++)
		if (thread[i] != NULL)
			stack_close(thread[i]);
}

void
stack_follow(bool on)
{
	if (on != walk.off)
		return;
	stack_close_all();
	/* what was counted before belongs to no call from here on */
	for (unsigned i = 0; i < nthread; i++)
		if (thread[i] != NULL)
			memcpy(thread[i]->since, thread[i]->total,
			    walk.ncol * sizeof *thread[i]->since);
	walk.off = !on;
}

void
stack_collect(struct walk_thread *t, bool on)
{
	t->collect = on;
	t->key = KEY_LOOK;
}

void
stack_settle_thread(struct walk_thread *t)
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
		if (t->frame[i].arc != NULL)
			stack_settle_frame(t, i, total);
	}
	memcpy(t->since, t->nsig > 0 ? t->sig[0].total : t->total,
	    walk.ncol * sizeof *t->since);
}

void
stack_settle(void)
{
	for (unsigned i = 0; i < nthread; i++)
		if (thread[i] != NULL)
			stack_settle_thread(thread[i]);
}

/* ---- moves ---- */

static uint32_t
which(const struct walk_thread *t)
{
	return walk.threads ? t->num : 0;
}

/* The outermost context of a stack. */
static struct walk_ctx *
root(struct walk_thread *t, const struct walk_seg *to)
{
	uint32_t *d = stack_depth(t, seg_fn(to));

	if (walk.entered != NULL) {
		repeat_else();
		walk.entered(t, seg_fn(to), to->at->slide);
	}
	++*d;
	return ctx_get(NULL, 0, seg_fn(to), *d, which(t));
}

/* A return without a frame: `to` had called what ran last. */
static void
unseen_call(struct walk_thread *t, const struct walk_seg *to)
{
	struct walk_ctx *callee = t->ctx, *caller;
	struct walk_arc *a;

	if (callee == NULL)
		return;
	if (*stack_depth(t, callee->fn) > 0)
		--*stack_depth(t, callee->fn);
	if (walk.left != NULL)
		walk.left(t, callee->fn);
	caller = root(t, to);
	for (a = caller->arcs; a != NULL; a = a->next)
		if (a->ctx == callee &&
		    arc_site(a) == to->addr - to->at->slide - 1)
			break;
	if (a == NULL)
		a = arc_new(caller, to->addr - to->at->slide - 1, callee,
		    callee->fn->start);
	if (t->collect) {
		repeat_counts(&a->calls, 1);
		a->calls++;
	}
	repeat_growth(a);
	stack_turn(t, a, true, 1);
	stack_charge(t, a, caller, t->total, t->nsig == 0 ? t->since :
	    t->sig[t->nsig - 1].total, 1);
	t->ctx = caller;
	t->unseen = a;
}

/* Drop the outer half of very many landings. */
static void
forget_landings(struct walk_thread *t)
{
	t->nlanding /= 2;
	memmove(t->landing, t->landing + t->nlanding,
	    t->nlanding * sizeof *t->landing);
}

void
stack_landing(struct walk_thread *t, uint64_t addr, uint64_t sp)
{
	repeat_else();
	/* landings with a lower stack pointer have been left */
	while (t->nlanding > 0 &&
	    t->landing[t->nlanding - 1].nsig == t->nsig &&
	    t->landing[t->nlanding - 1].sp <= sp)
		t->nlanding--;
	if (t->nlanding == MOSTLANDING)
		forget_landings(t);
	t->landing = xgrow(t->landing, &t->caplanding, t->nlanding + 1,
	    sizeof *t->landing);
	t->landing[t->nlanding++] = (struct walk_landing){ addr, sp, t->nsig };
}

/*
 * The last frame is that of setjmp; note where it returns and the stack pointer
 * then. If a stub led to it, the frame below has the return address.
 */
static void
landing_set(struct walk_thread *t)
{
	const struct walk_frame *f = &t->frame[t->n - 1];
	uint64_t sp = f->sp + 8;

	while (f->ret == 0 && f > t->frame + t->bottom && f[-1].sp == f->sp)
		f--;
	if (f->ret != 0)
		stack_landing(t, f->ret, sp);
}

/* Leave frames down to the innermost landing at this address, if any. */
static bool
landing_take(struct walk_thread *t, uint64_t addr)
{
	uint64_t top = t->n > t->bottom ? t->frame[t->n - 1].sp : 0;
	struct walk_landing l;
	size_t i;

	for (i = t->nlanding; i > 0; i--) {
		l = t->landing[i - 1];
		if (l.addr == addr && (l.nsig < t->nsig || l.sp > top))
			break;
	}
	if (i == 0)
		return false;
	leave_limbo(t, 0);
	while (t->nsig > l.nsig)
		end_handler(t);
	stack_unwind(t, l.sp, 0);
	while (--i > 0)
		if (t->landing[i - 1].addr == addr &&
		    t->landing[i - 1].nsig == l.nsig)
			break;
	if (i > 0)
		enter_limbo(t);
	return true;
}

/* An active call of a function: it called, or was interrupted. */
struct activation {
	size_t n;		/* frames outside of it */
	size_t nsig;		/* handlers outside of it */
	bool resumed;		/* it called _Unwind_Resume */
};

/* Find the innermost one of fn outside of `a`; `a` becomes it. */
static bool
find_activation(const struct walk_thread *t, const struct func *fn,
    struct activation *a)
{
	size_t bottom = a->nsig == t->nsig ? t->bottom : t->sig[a->nsig].bottom;
	const struct walk_frame *f;

	for (;;) {
		while (a->nsig > 0 && a->n == bottom) {
			bottom = t->sig[--a->nsig].bottom;
			if (t->sig[a->nsig].ctx != NULL &&
			    func_same(t->sig[a->nsig].ctx->fn, fn)) {
				a->resumed = false;
				return true;
			}
		}
		if (a->n == 0)
			return false;
		f = &t->frame[--a->n];
		/* a skipped function keeps its own frame */
		if (f->arc == NULL && func_same(f->skipped, fn)) {
			a->n++;
			a->resumed = false;
			return true;
		}
		if (f->arc == NULL || f->ctx == NULL ||
		    !func_same(f->ctx->fn, fn))
			continue;
		a->resumed = f->arc->ctx->fn->resume;
		return true;
	}
}

/* Leave the stubs by which calls were made that have been left. */
static void
leave_stubs(struct walk_thread *t, const struct func *fn)
{
	const struct walk_frame *f;

	for (; t->n > t->bottom; stack_pop(t)) {
		f = &t->frame[t->n - 1];
		if (f->arc != NULL || func_same(f->skipped, fn))
			break;
	}
}

/* An indirect jump: back into a function that has a frame? */
static bool
back_into(struct walk_thread *t, const struct walk_seg *to)
{
	struct activation a = { .n = t->n, .nsig = t->nsig }, more;

	if (t->nlanding > 0 && landing_take(t, to->addr))
		return true;
	if (func_same(seg_fn(to), seg_fn(t->seg)) || to->at->entry ||
	    to->addr - to->at->slide == seg_fn(to)->start ||
	    (t->ctx != NULL && func_same(t->ctx->fn, seg_fn(to))) ||
	    !find_activation(t, seg_fn(to), &a))
		return false;
	leave_limbo(t, 0);
	more = a;
	if (a.resumed && find_activation(t, seg_fn(to), &more))
		a = more;
	while (t->nsig > a.nsig)
		end_handler(t);
	while (t->n > a.n)
		stack_pop(t);
	leave_stubs(t, seg_fn(to));
	more = a;
	if (find_activation(t, seg_fn(to), &more) && more.nsig == a.nsig)
		enter_limbo(t);
	return true;
}

/* `from` ended in a call, or something that counts as one. */
static void
call(struct walk_thread *t, struct walk_slot *from, const struct walk_seg *to,
    uint64_t sp)
{
	struct walk_arc *a = NULL;
	uint32_t level;

	if (seg_fn(to)->skip && from != NULL) {
		stack_push(t, from, NULL, sp);
		t->frame[t->n - 1].skipped = seg_fn(to);
		return;
	}
	if (t->ctx == NULL) {
		t->ctx = root(t, to);
		return;
	}
	if (t->skipper != NULL)
		from = t->skipper;
	level = *stack_depth(t, seg_fn(to)) + 1;
	if (walk.direct && from->ctx->fn == seg_fn(to) && level > 1)
		level--;
	if (level > seg_fn(to)->recs)
		level = seg_fn(to)->recs + 1;
	a = arc_get(from, to, level, which(t));
	stack_push(t, from, a, sp);
	if (seg_fn(to)->setjmp)
		landing_set(t);
}

static void
emulated_call(struct walk_thread *t, const struct walk_seg *to)
{
	struct walk_slot *from = t->slot;
	uint64_t sp;
	const struct walk_frame *f;

	if (t->guess != NULL) {
		leave_limbo(t, 0);
		from = t->slot;
	}
	if (t->seg->at->fn->pop && t->n > t->bottom) {
		f = &t->frame[t->n - 1];
		if (f->arc != NULL && arc_from(f->arc) != NULL) {
			from = arc_from(f->arc);
			stack_pop(t);
		}
	}
	sp = t->n > t->bottom ? t->frame[t->n - 1].sp : ANYWHERE;
	call(t, from, to, sp);
}

/*
 * A call or return shows the stack pointer, and so which frames are left. What
 * ran last was in the one that remains.
 */
static void
cut(struct walk_thread *t, bool call)
{
	/* the place of a return address */
	uint64_t place = call ? t->sp : t->sp - 8;

	leave_limbo(t, call ? place + 1 : place);
	if (t->nsig > 0)
		leave_handlers(t, place);
	if (!call)
		return;
	if (t->n > t->bottom && t->frame[t->n - 1].sp < place &&
	    stack_apart(&t->frame[t->n - 1], place))
		stack_switch(t, place);
	stack_unwind(t, place + 1, 0);
	if (t->slot->ctx != t->ctx && t->ctx != NULL && t->skipper == NULL &&
	    func_same(t->ctx->fn, seg_fn(t->seg)))
		t->slot = slot_get(t->ctx, (struct walk_seg *)t->seg);
}

/*
 * A return leaves n frames. The function that was running at first may have
 * jumped to the one that returns: then it is left with that, to its caller.
 */
static void
return_to(struct walk_thread *t, size_t n, const struct walk_seg *to)
{
	bool jumped = t->frame[t->n - 1].sp == ANYWHERE;

	stack_unwind(t, t->sp, n);
	if (jumped && t->n == t->bottom && t->ctx != NULL &&
	    t->skipper == NULL && !func_same(t->ctx->fn, seg_fn(to)))
		unseen_call(t, to);
}

void
stack_move(struct walk_thread *t, const struct walk_seg *to)
{
	const struct walk_seg *last = t->seg;
	uint8_t flow = last == NULL ? 0 : last->flow;
	size_t n = 0;

	if (flow == 'L' || flow == 'X' || flow == 'R')
		cut(t, flow != 'R');
	if (flow == 'R' && t->n > t->bottom) {
		stack_return(t, to->addr);
		n = stack_returned(t, to->addr);
	}
	if (flow == 'L' || flow == 'X') {
		call(t, t->slot, to, t->sp);
	} else if (n > 0) {
		return_to(t, n, to);
	} else if (flow == 'R' && t->n == t->bottom) {
		unseen_call(t, to);
	} else if (flow == 'I' && back_into(t, to)) {
		/* execution goes on there */
	} else if (last != NULL && (flow == 'R' || to->at->entry ||
	    to->at->section != last->at->section)) {
		emulated_call(t, to);
	} else if (walk.jumps && (flow == 'C' || flow == 'J' || flow == 'I') &&
	    to->addr != seg_next(last) && t->skipper == NULL && t->collect) {
		jump_count(t->slot, to, t->ctx, 1);
	}
	if (t->ctx == NULL)
		t->ctx = root(t, to);
}
