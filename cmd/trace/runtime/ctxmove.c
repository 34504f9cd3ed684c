/*
 * ctxmove - with --contexts: make a thread's calls and returns
 *
 * Those that lib/walk would make in the same way whatever else it knows: plain
 * calls and jumps, by arcs that exist or that are like others (arcs.c), returns
 * from frames that are there, and jumps to where setjmp has returned.
 */
#include "contexts.h"
#include "ctx.h"

static uint64_t *
second_place(const struct tarea *t, uint64_t arc)
{
	uint32_t key = (uint32_t)-rt.arcs[arc / 16 % ARCS_MOST].nkey;

	return (uint64_t *)ctx_at(t, CTX_TABLE) + (key >> CTX_KEY_SECOND);
}

/* The arc gets its first place; another one there goes to its second. */
static void
put_arc(struct tarea *t, uint64_t arc)
{
	uint64_t i = -rt.arcs[arc / 16].nkey % CTX_KEYS;
	uint64_t *first = (uint64_t *)ctx_at(t, CTX_TABLE) + i, was = *first;

	if (was != 0 && was != arc && second_place(t, was) != first)
		*second_place(t, was) = was;
	*first = arc;
}

/*
 * The number of the arc for the call that is being made, which may be new; 0:
 * trace has to make it.  below: the frame inside of which it pushes its own.
 */
static uint32_t
find_arc(const struct tarea *t, const struct ctx_frame *below)
{
	uint32_t from = rt.arcs[below->arc / 16].to, tries = 0;
	uint32_t left = below == ctx_top(t) ? 0 : contexts_arc(t)->to;
	uint32_t i = rt.heads->arc[arc_bucket(ctx_state_of(below)->key,
	    t->moving.key, t->pc, left)];
	const struct ctx_arc *a;

	for (; i != 0; i = a->next, tries++) {
		if (i >= ARCS_MOST || tries == BUCKET_MOST)
			return 0;
		a = &rt.arcs[i];
		if (a->site == t->moving.key && a->target == t->pc &&
		    a->from == from && a->left == left)
			return a->slow ? 0 : i;
	}
	return left != 0 ? 0 : arcs_make(ctx_words(t), from, &t->moving, t->pc);
}

/* A flush since the thread left the cache takes its landing away. */
static void
check_landing(struct tarea *t, struct ctx_frame *f)
{
	if (__atomic_load_n(&rt.ctl->gen, __ATOMIC_SEQ_CST) != t->gen &&
	    f->landing != t->more)
		f->landing = (uint64_t)rt_return;
}

/* Is the frame on another stack?  Then trace knows which have been left. */
static bool
is_apart(const struct ctx_frame *f, uint64_t sp)
{
	return (f->place > sp ? f->place - sp : sp - f->place) >
	    STACKS_APART && f->place != PLACE_NONE;
}

/*
 * The innermost frame whose place is above; NULL: there is none inside of the
 * innermost handler's root, or frames are on other stacks.
 */
static struct ctx_frame *
frame_above(const struct tarea *t, uint64_t place)
{
	struct ctx_frame *f = ctx_top(t);

	if (is_apart(f, place))
		return NULL;
	for (; f->place <= place; f++)
		if (rt.arcs[f->arc / 16].target <= ARC_MANY ||
		    is_apart(f, place))
			return NULL;
	return f;
}

/* Leave the frames inside of this one. */
static void
leave_frames(struct tarea *t, struct ctx_frame *to)
{
	struct ctx_frame *f = ctx_top(t);

	for (; f < to; f++) {
		ctx_room_for_arc(t, f->arc / 16);
		ctx_add_costs(t, f, true, 2, 1);
	}
	__atomic_store_n(&ctx_words(t)->top, (uint64_t)to, __ATOMIC_SEQ_CST);
}

/* Push the frame of arc i, for the call or jump that is being made. */
static void
push_frame(struct tarea *t, uint32_t i, uint64_t landing)
{
	struct ctx_frame *top = ctx_top(t), *f = top - 1;
	bool call = t->moving.move == MOVE_CALL;

	ctx_room_for_arc(t, i);
	f->arc = 16ull * i;
	ctx_note_costs(t, f);
	f->place = call ? t->moving.sp : top->place;
	f->landing = !call ? t->more : landing != 0 ? landing :
	    (uint64_t)rt_return;
	ctx_count(t, f->arc)->calls++;
	__atomic_store_n(&ctx_words(t)->top, (uint64_t)f, __ATOMIC_SEQ_CST);
	check_landing(t, f);
}

/*
 * A call, or a jump or return that is one.  Fragments may make it from now on,
 * unless it is a return, or of setjmp, or a jump to where that may have
 * returned (`within'), or frames were left first: those whose place the return
 * address is written over, as where code has taken its own from there.
 */
static bool
make_call(struct tarea *t)
{
	struct ctx_frame *top = ctx_top(t), *below = top;
	uint32_t i, owner = ctx_state_of(ctx_top(t))->owner;

	if (t->moving.move == MOVE_CALL)
		below = frame_above(t, t->moving.sp);
	else if (top->place == PLACE_NONE ||
	    contexts_arc(t)->target == ARC_NONE)
		return false;
	if (below == NULL || ctx_state_of(below)->slow)
		return false;
	i = find_arc(t, below);
	if (i == 0 || !ctx_room_for_frame(t, (uint64_t)(below - 1)))
		return false;
	if (rt.arcs[i].lands && !ctx_note_landing(t, below, &rt.arcs[i]))
		return false;
	leave_frames(t, below);
	/* the landing is in the code of the owner that calls */
	push_frame(t, i, ctx_state_of(below)->owner == owner ?
	    t->moving.landing : 0);
	if (below == top && t->moving.move != MOVE_RETURN &&
	    !rt.arcs[i].lands && !rt.arcs[i].within)
		put_arc(t, 16ull * i);
	return true;
}

/*
 * trace has made the call: its next ones, and this one's return, are ours.  The
 * landing is in the code of the owner that the call was made by; where frames
 * were left first, which the stack pointer was beyond, the call returns to
 * another owner.
 */
void
ctx_set_landing(struct tarea *t, uint32_t owner)
{
	struct ctx_frame *f = ctx_top(t);
	const struct ctx_arc *a = contexts_arc(t);

	if (a->slow || a->site != t->moving.key || a->target != t->pc ||
	    f->place != t->moving.sp || t->moving.landing == 0 ||
	    ctx_state_of(f)->slow || ctx_state_of(f + 1)->owner != owner)
		return;
	__atomic_store_n(&f->landing, t->moving.landing, __ATOMIC_SEQ_CST);
	check_landing(t, f);
	if (a->left == 0 && !a->lands)
		put_arc(t, f->arc);
}

/*
 * Is a return that leaves no frame behind its stack pointer a jump?  It is one
 * from a frame that is exactly there only if it goes to its return address.
 */
static bool
is_jump(const struct tarea *t)
{
	const struct ctx_frame *f = ctx_top(t);
	const struct ctx_arc *a;

	for (; f->place == t->moving.sp; f++) {
		a = &rt.arcs[f->arc / 16];
		if (a->ret == t->pc || a->target <= ARC_MANY)
			return false;	/* of this frame trace knows more */
	}
	return true;
}

#define FAR_MOST 8192u	/* so many frames of a stack are looked at */

/*
 * Is the stack pointer on another stack than the top frame, whatever the
 * highest place of that stack is?
 */
static bool
is_on_another(const struct tarea *t, uint64_t sp)
{
	const struct ctx_frame *f = ctx_top(t);
	unsigned n;

	if (sp < f->place)
		return true;
	for (n = 0; n < FAR_MOST; f++, n++) {
		if (rt.arcs[f->arc / 16].target == ARC_NONE || f->place > sp ||
		    !is_apart(f, sp))
			return false;
		if (f[1].place == PLACE_NONE || (f[1].place > f->place &&
		    is_apart(f + 1, f->place)))
			return true;
		if (is_apart(f + 1, f->place))
			return false;
	}
	return false;
}

/* Are a frame and the one outside of it two jumps of a run? */
static bool
is_run(const struct ctx_frame *f)
{
	const struct ctx_arc *a = &rt.arcs[f[1].arc / 16];

	return f->place == f[1].place && rt.arcs[f->arc / 16].ret == 0 &&
	    a->ret == 0 && a->target != ARC_NONE;
}

/*
 * Find the frame that a return comes from, on another stack than the top one,
 * among those that lib/walk looks at.  *to: NULL, it is a jump.  false: trace
 * knows.
 */
static bool
find_far(const struct tarea *t, struct ctx_frame **to)
{
	struct ctx_frame *f = ctx_top(t), *end = f + FRAMES_LOOKED_AT;
	unsigned runs = 0;
	const struct ctx_arc *a;

	*to = NULL;
	for (; f < end && runs < RUNS_LOOKED_AT; f++) {
		a = &rt.arcs[f->arc / 16];
		if (a->target <= ARC_MANY)
			return (uint64_t)f == ctx_words(t)->base;
		if (f->place == t->moving.sp - 8 && a->ret == t->pc) {
			*to = f;
			break;
		}
		runs += !is_run(f);
	}
	return true;
}

/*
 * A return on another stack than the top frame's.  If it is one from a frame
 * further out, those inside of that have been left; else it is a jump.
 */
static bool
make_far_return(struct tarea *t)
{
	uint64_t sp = t->moving.sp;
	struct ctx_frame *f;

	if (!is_on_another(t, sp) || !find_far(t, &f))
		return false;
	if (f == NULL)
		return make_call(t);
	for (; f->place < sp; f++)
		if (rt.arcs[f->arc / 16].target <= ARC_MANY || is_apart(f, sp))
			return false;
	leave_frames(t, f);
	return true;
}

/* Leave the frames that sp is beyond, but no handler's; false: trace knows. */
static bool
leave_below(struct tarea *t, uint64_t sp)
{
	struct ctx_frame *f = frame_above(t, sp - 1);

	if (f == NULL)
		return false;
	leave_frames(t, f);
	return true;
}

/* Where the stack pointer is beyond no frame, a return may be a jump. */
static bool
make_return(struct tarea *t)
{
	if (is_apart(ctx_top(t), t->moving.sp))
		return make_far_return(t);
	if (ctx_top(t)->place >= t->moving.sp)
		return is_jump(t) && make_call(t);
	return leave_below(t, t->moving.sp);
}

/* A jump to where setjmp has returned. */
static bool
make_landing(struct tarea *t)
{
	uint64_t sp = ctx_landing(t);

	return sp != 0 && leave_below(t, sp);
}

bool
ctx_move(struct tarea *t)
{
	if (ctx_state_of(ctx_top(t))->slow)
		return false;
	if (t->moving.move == MOVE_RETURN)
		return make_return(t);
	if (t->moving.move == MOVE_IJUMP && ctx_may_land(t))
		return make_landing(t);
	return make_call(t);
}
