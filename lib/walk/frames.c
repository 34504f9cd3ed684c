/*
 * frames - the frames of a thread's shadow stack: what calls push and returns
 * leave, and what their functions cost
 *
 * stack.c has the rules and says when.
 */
#include <string.h>

#include "frames.h"
#include "mem.h"
#include "places.h"
#include "repeat.h"

#define RUN_MOST 8192u	/* so many jumps in a row have a frame each */

uint32_t *
stack_depth(struct walk_thread *t, const struct func *f)
{
	if (f->num >= t->capdepth)
		t->depth = xgrow0(t->depth, &t->capdepth, f->num + (size_t)1,
		    sizeof *t->depth);
	repeat_depth(t, f->num);
	return &t->depth[f->num];
}

/* ---- functions entered and left ---- */

static void
entered(struct walk_thread *t, const struct func *f)
{
	if (f->before || f->zero)
		repeat_else();
	if (f->before)
		walk.trigger(WALK_DUMP_BEFORE, f);
	else if (f->zero)
		walk.trigger(WALK_ZERO, f);
	if (f->toggle)
		t->collect = !t->collect;
}

static void
left(struct walk_thread *t, const struct func *f)
{
	if (f->after) {
		repeat_else();
		walk.trigger(WALK_DUMP_AFTER, f);
	}
	if (f->toggle)
		t->collect = !t->collect;
}

/* ---- frames ---- */

void
stack_charge(const struct walk_thread *t, struct walk_arc *a,
    const struct walk_ctx *within, const int64_t *total, const int64_t *enter,
    uint64_t times)
{
	uint64_t *cost = (uint64_t *)a->cost;

	repeat_counts(a->cost, walk.ncol);
	for (unsigned i = 0; i < walk.ncol; i++)
		cost[i] += (uint64_t)total[i] * times - (uint64_t)enter[i];
	if (walk.charged != NULL)
		walk.charged(t, a, within);
}

static void
charge_frame(const struct walk_thread *t, size_t i, const int64_t *total)
{
	const struct walk_frame *f = &t->frame[i];

	stack_charge(t, f->arc, f->ctx, total, t->enter + i * walk.ncol,
	    f->times);
}

void
stack_settle_frame(struct walk_thread *t, size_t i, const int64_t *total)
{
	uint64_t *enter = (uint64_t *)t->enter + i * walk.ncol;

	charge_frame(t, i, total);
	for (unsigned c = 0; c < walk.ncol; c++)
		enter[c] = (uint64_t)total[c] * t->frame[i].times;
}

/* Does a call lead to no deeper level: --skip-direct-rec? */
static bool
same_level(const struct walk_arc *a)
{
	return walk.direct && arc_caller(a)->fn == a->ctx->fn;
}

/* Calls and returns inside of an execution are told, see walk_told. */
void
stack_turn(struct walk_thread *t, struct walk_arc *a, bool left,
    uint64_t times)
{
	if (t->turning == 0)
		return;
	t->turn = xgrow(t->turn, &t->capturn, t->nturn + 1, sizeof *t->turn);
	t->turn[t->nturn++] = (struct walk_turn){ t->turning, left, a, times };
}

void
stack_pop(struct walk_thread *t)
{
	struct walk_frame *f;
	struct func *fn;
	uint32_t *d;

	repeat_frames(t, t->n - 1);
	f = &t->frame[--t->n];
	places_drop(t, f->sp);
	t->skipper = f->skipper;
	stack_turn(t, f->arc, true, f->times);
	if (f->arc == NULL)
		return;
	charge_frame(t, t->n, t->total);
	t->ctx = f->ctx;
	fn = f->arc->ctx->fn;
	if (walk.left != NULL) {
		repeat_else();
		walk.left(t, fn);
	}
	d = stack_depth(t, fn);
	if (!same_level(f->arc) && --*d == 0)
		left(t, fn);
}

/* Drop the outer half of a very deep stack. */
static void
forget_half(struct walk_thread *t)
{
	size_t half = t->n / 2;

	repeat_frames(t, 0);
	for (size_t i = 0; i < half; i++) {
		places_drop(t, t->frame[i].sp);
		if (t->frame[i].arc != NULL) {
			charge_frame(t, i, t->total);
			if (!same_level(t->frame[i].arc))
				--*stack_depth(t, t->frame[i].arc->ctx->fn);
		}
	}
	t->n -= half;
	memmove(t->frame, t->frame + half, t->n * sizeof *t->frame);
	memmove(t->enter, t->enter + half * walk.ncol,
	    t->n * walk.ncol * sizeof *t->enter);
	t->bottom = 0;
	t->nsig = 0;
	t->nlanding = 0;
}

/*
 * Is the place sp on another stack than the frame?  A stack may be deep, but
 * its frames lie close together.
 */
bool
stack_apart(const struct walk_frame *f, uint64_t sp)
{
	return f->sp != ANYWHERE && ((sp > f->high &&
	    sp - f->high > WALK_APART) ||
	    (sp < f->sp && f->sp - sp > WALK_APART));
}

/* The highest place of the stack that frame i, the last one, is on. */
static uint64_t
highest(const struct walk_thread *t, size_t i)
{
	const struct walk_frame *f = &t->frame[i];

	if (i == 0 || stack_apart(f - 1, f->sp) || f->sp == ANYWHERE)
		return f->sp;
	return f[-1].high > f->sp && f[-1].sp != ANYWHERE ? f[-1].high : f->sp;
}

/* May the frame be one of a run: is it that of a jump? */
static bool
is_jump(const struct walk_frame *f)
{
	return f->ret == 0 && f->arc != NULL && !f->arc->ctx->fn->pop;
}

/* How many frames of its run are below the one that is about to be pushed. */
static uint32_t
run_below(const struct walk_thread *t, const struct walk_frame *f)
{
	if (t->n == t->bottom || !is_jump(f) || f[-1].sp != f->sp ||
	    !is_jump(f - 1))
		return 0;
	return f[-1].run + 1;
}

/*
 * It is about to be pushed: which are the others of its stack, and its run?
 * again: a frame that is just like it, or 0.
 */
static void
note_place(const struct walk_thread *t, struct walk_frame *f, size_t again)
{
	f->high = highest(t, t->n);
	f->run = run_below(t, f);
	if (f->ret == 0 && f->arc != NULL)
		f->arc->at = (uint32_t)(again != 0 ? again : t->n);
}

/* Count a call, made in this context. */
static void
count_call(const struct walk_thread *t, struct walk_arc *a,
    const struct walk_ctx *within)
{
	if (!t->collect)
		return;
	repeat_counts(&a->calls, 1);
	a->calls++;
	if (walk.charged != NULL)
		walk.charged(t, a, within);
}

static bool
is_call(const struct walk_slot *from)
{
	return from != NULL && (from->seg->flow == 'L' ||
	    from->seg->flow == 'X');
}

/*
 * Is frame i, of the run that ends in frame `last', just like one of a jump by
 * this arc?  The first one of the run shows its caller.
 */
static bool
is_again(const struct walk_thread *t, size_t i, size_t last,
    const struct walk_frame *like)
{
	const struct walk_frame *f = &t->frame[i];

	return i <= last && i + t->frame[last].run >= last &&
	    f->arc == like->arc && f->sp == like->sp && f->ret == 0 &&
	    f->ctx == like->ctx && f->skipper == like->skipper;
}

/*
 * The number of a frame, in a long run, that is just like the one that is about
 * to be pushed; 0: there is none.
 */
static size_t
find_again(const struct walk_thread *t, struct walk_arc *a, uint64_t sp,
    uint64_t ret)
{
	struct walk_frame like = { .arc = a, .sp = sp, .ctx = t->ctx,
	    .skipper = t->skipper };
	size_t last = t->n - 1;

	if (t->n == t->bottom || ret != 0 || a == NULL ||
	    t->frame[last].run < RUN_MOST || t->frame[last].sp != sp)
		return 0;
	return is_again(t, a->at, last, &like) ? a->at : 0;
}

/* A call at this total is another one of frame i. */
static void
add_again(struct walk_thread *t, size_t i, const int64_t *total)
{
	uint64_t *enter = (uint64_t *)t->enter + i * walk.ncol;

	repeat_again(t, i);
	t->frame[i].times++;
	for (unsigned c = 0; c < walk.ncol; c++)
		enter[c] += (uint64_t)total[c];
	t->ctx = t->frame[i].arc->ctx;
	t->skipper = NULL;
	if (i < t->first_again)
		t->first_again = i;
}

bool
stack_join(struct walk_thread *t, bool any)
{
	size_t last = t->n - 1, i;
	const struct walk_frame *f;
	uint64_t *enter;

	if (t->n == t->bottom)
		return false;
	f = &t->frame[last];
	if (!is_jump(f) || f->run <= RUN_MOST || f->arc->at == last ||
	    !is_again(t, f->arc->at, last, f))
		return false;
	i = f->arc->at;
	if (!any && i + 1 != last)
		return false;
	enter = (uint64_t *)t->enter + i * walk.ncol;
	t->frame[i].times += f->times;
	for (unsigned c = 0; c < walk.ncol; c++)
		enter[c] += (uint64_t)t->enter[last * walk.ncol + c];
	if (i < t->first_again)
		t->first_again = i;
	--*stack_depth(t, f->arc->ctx->fn);
	places_drop(t, f->sp);
	t->n--;
	return true;
}

void
stack_push(struct walk_thread *t, struct walk_slot *from, struct walk_arc *a,
    uint64_t sp)
{
	uint64_t ret = is_call(from) ? seg_next(from->seg) : 0;
	struct walk_frame *f;
	size_t again = find_again(t, a, sp, ret);

	if (again != 0 && !walk.each) {
		add_again(t, again, t->total);
		stack_turn(t, a, false, 1);
		count_call(t, a, t->frame[again].ctx);
		return;
	}
	if (t->n >= walk.maxframes)
		forget_half(t);
	t->frame = xgrow(t->frame, &t->cap, t->n + 1, sizeof *t->frame);
	t->enter = xgrow(t->enter, &t->capenter, (t->n + 1) * walk.ncol,
	    sizeof *t->enter);
	f = &t->frame[t->n];
	*f = (struct walk_frame){ .sp = sp, .ret = ret, .arc = a,
	    .ctx = t->ctx, .skipper = t->skipper, .times = 1 };
	note_place(t, f, again);
	places_add(t, sp);
	memcpy(t->enter + t->n * walk.ncol, t->total,
	    walk.ncol * sizeof *t->enter);
	t->n++;
	stack_turn(t, a, false, 1);
	if (a == NULL) {
		if (t->skipper == NULL)
			t->skipper = from;
		return;
	}
	t->skipper = NULL;
	t->ctx = a->ctx;
	if (walk.entered != NULL) {
		repeat_else();
		walk.entered(t, a->ctx->fn, a->to - a->tolink);
	}
	if (!same_level(a) && ++*stack_depth(t, a->ctx->fn) == 1)
		entered(t, a->ctx->fn);
	count_call(t, a, f->ctx);
}

bool
stack_put(struct walk_thread *t, struct walk_arc *a, uint64_t sp,
    uint64_t ret, const int64_t *enter, enum walk_join join)
{
	size_t again = find_again(t, a, sp, ret);

	if (again != 0 && (join == WALK_JOIN_ANY ||
	    (join == WALK_JOIN_LAST && again + 1 == t->n))) {
		add_again(t, again, enter);
		return false;
	}
	t->frame = xgrow(t->frame, &t->cap, t->n + 1, sizeof *t->frame);
	t->enter = xgrow(t->enter, &t->capenter, (t->n + 1) * walk.ncol,
	    sizeof *t->enter);
	t->frame[t->n] = (struct walk_frame){ .sp = sp, .ret = ret, .arc = a,
	    .ctx = t->ctx, .skipper = t->skipper, .times = 1 };
	note_place(t, &t->frame[t->n], again);
	places_add(t, sp);
	memcpy(t->enter + t->n++ * walk.ncol, enter,
	    walk.ncol * sizeof *enter);
	t->skipper = NULL;
	t->ctx = a->ctx;
	++*stack_depth(t, a->ctx->fn);
	return true;
}

void
stack_drop(struct walk_thread *t)
{
	const struct walk_frame *f = &t->frame[--t->n];

	places_drop(t, f->sp);
	t->skipper = f->skipper;
	if (f->arc == NULL)
		return;
	t->ctx = f->ctx;
	--*stack_depth(t, f->arc->ctx->fn);
}

/*
 * Leave frames that sp is beyond, and up to `least` exactly at it; those of
 * another stack stay.
 */
void
stack_unwind(struct walk_thread *t, uint64_t sp, size_t least)
{
	while (t->n > t->bottom) {
		const struct walk_frame *f = &t->frame[t->n - 1];

		if ((f->sp > sp && f->sp != ANYWHERE) ||
		    (f->sp >= sp && least == 0) ||
		    (least == 0 && stack_apart(f, sp)))
			break;
		if (least > 0)
			least--;
		stack_pop(t);
	}
}

/* How many frames of jumps a stack begins with: one return leaves them all. */
static size_t
jumped_to(const struct walk_thread *t)
{
	size_t n = 0;

	while (t->n - n > t->bottom && t->frame[t->n - n - 1].sp == ANYWHERE)
		n++;
	return n;
}

size_t
stack_returned(const struct walk_thread *t, uint64_t addr)
{
	size_t i = t->n, n = 1;

	if (t->frame[i - 1].sp == ANYWHERE)
		return jumped_to(t);
	if (stack_apart(&t->frame[i - 1], t->sp))
		return 0;
	if (t->sp != t->frame[i - 1].sp)
		return t->sp > t->frame[i - 1].sp;
	for (; t->frame[i - 1].ret != addr; n++)
		if (--i == t->bottom || t->frame[i - 1].sp != t->sp)
			return 0;
	return n;
}

/*
 * Who called frame i's function is now the caller of what that has called: what
 * it costs from here on is part of that caller's costs.
 */
static void
give_caller(struct walk_thread *t, size_t i)
{
	const struct walk_frame *f = &t->frame[i];
	size_t k = i + 1;

	while (k < t->n && t->frame[k].arc == NULL)
		k++;
	if (k == t->n) {
		t->ctx = f->ctx;
		return;
	}
	stack_settle_frame(t, k, t->total);
	t->frame[k].ctx = f->ctx;
}

/* Leave frame i, inside of which others are. */
static void
leave_outer(struct walk_thread *t, size_t i)
{
	const struct walk_frame *f = &t->frame[i];
	struct func *fn;

	repeat_frames(t, i);
	places_drop(t, f->sp);
	t->frame[i + 1].skipper = f->skipper;
	if (f->arc != NULL) {
		give_caller(t, i);
		charge_frame(t, i, t->total);
		fn = f->arc->ctx->fn;
		if (!same_level(f->arc) && --*stack_depth(t, fn) == 0)
			left(t, fn);
	}
	t->n--;
	memmove(t->frame + i, t->frame + i + 1, (t->n - i) * sizeof *t->frame);
	memmove(t->enter + i * walk.ncol, t->enter + (i + 1) * walk.ncol,
	    (t->n - i) * walk.ncol * sizeof *t->enter);
}

/*
 * The outermost frame that is looked at: deep recursions may switch often.  A
 * run is looked at as one, whether its calls share frames or not.
 */
static size_t
last_looked_at(const struct walk_thread *t)
{
	size_t i = t->n, run;
	unsigned n;

	for (n = 0; n < WALK_RUNS && i > t->bottom &&
	    t->n - i < WALK_FRAMES; n++) {
		run = t->frame[i - 1].run + 1ul;
		i = run < i - t->bottom ? i - run : t->bottom;
	}
	return i;
}

/*
 * A call is made on another stack than that of the last frame: frames whose
 * place it overwrites have been left there.
 */
static void
overwrite(struct walk_thread *t, uint64_t place)
{
	size_t i, last = last_looked_at(t);

	for (i = t->n; i-- > last; )
		if (t->frame[i].sp <= place &&
		    !stack_apart(&t->frame[i], place))
			leave_outer(t, i);
}

/*
 * A call is made on another stack, above the last frame's: by the last frame's
 * function, which has switched stacks, or by one that a jump has led to.
 */
void
stack_switch(struct walk_thread *t, uint64_t place)
{
	if (t->ctx != NULL && t->skipper == NULL &&
	    !func_same(t->ctx->fn, seg_fn(t->seg)))
		while (t->n > t->bottom && t->frame[t->n - 1].sp < place)
			stack_pop(t);
	else if (walk.left == NULL)	/* who is told must see nested pairs */
		overwrite(t, place);
}

/*
 * A return on another stack than that of the last frame: if it is that of a
 * frame further out, the others have been left.
 */
void
stack_return(struct walk_thread *t, uint64_t addr)
{
	size_t i, last;

	if (!stack_apart(&t->frame[t->n - 1], t->sp) ||
	    !places_have(t, t->sp - 8))
		return;
	last = last_looked_at(t);
	for (i = t->n; i-- > last; )
		if (t->frame[i].sp == t->sp - 8 && t->frame[i].ret == addr) {
			while (t->n > i + 1)
				stack_pop(t);
			break;
		}
}
