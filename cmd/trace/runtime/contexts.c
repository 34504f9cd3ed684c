/*
 * contexts - with --contexts: a thread's frames, where fragments cannot
 *
 * Fragments make the calls and returns whose arcs are in the thread's table.
 * All others come here.  What an exit did is noted, and carried out when the
 * thread is about to go on at its target.  If a signal comes in between, its
 * handler is told first, with what was interrupted.  The runtime itself makes
 * what it can (ctxmove.c).  Every other move it leaves to trace, which changes
 * the frames by the rules of lib/walk.
 */
#include "contexts.h"
#include "ctx.h"
#include "queue.h"
#include "signals.h"
#include "state.h"

struct ctx_frame *
contexts_top(const struct tarea *t)
{
	return ctx_top(t);
}

const struct ctx_arc *
contexts_arc(const struct tarea *t)
{
	return &rt.arcs[contexts_top(t)->arc / 16];
}

static const struct ctx_state *
state(const struct tarea *t)
{
	return ctx_state_of(ctx_top(t));
}

uint32_t
contexts_owner(const struct tarea *t)
{
	if (!(rt.boot.flags & BOOT_CONTEXTS) || t->skips)
		return 0;
	return state(t)->owner;
}

/* ------------------------------------------------- calls are numbered anew */

void
contexts_rest(struct tarea *t)
{
	if (rt.boot.flags & BOOT_CONTEXTS)
		__atomic_store_n(&t->slot->resting, 1, __ATOMIC_SEQ_CST);
}

static bool
is_renewing(void)
{
	return __atomic_load_n(&rt.ctl->renewing, __ATOMIC_SEQ_CST) != 0;
}

/* Rest until trace has what it needs. */
static void
wait_renewed(struct tarea *t)
{
	contexts_rest(t);
	while (is_renewing() && !trace_died())
		if (rt.ctl->polling)
			__builtin_ia32_pause();
		else
			pause_ms();
}

void
contexts_resume(struct tarea *t)
{
	if (!(rt.boot.flags & BOOT_CONTEXTS))
		return;
	__atomic_store_n(&t->slot->resting, 0, __ATOMIC_SEQ_CST);
	while (is_renewing() && !trace_died()) {
		wait_renewed(t);
		__atomic_store_n(&t->slot->resting, 0, __ATOMIC_SEQ_CST);
	}
}

/* -------------------------------------------------------- calls and returns */

const struct exitcall *
contexts_exit(uint32_t number)
{
	static const struct exitcall none;

	return rt.calls == NULL ? &none : &rt.calls[number];
}

void
contexts_left(struct tarea *t, const struct exitmeta *x,
    const struct exitcall *c)
{
	if (c->move == MOVE_NONE || contexts_owner(t) == 0)
		return;
	t->moving.site = c->site;
	t->moving.sitelen = c->sitelen;
	t->moving.move = c->move;
	t->moving.key = c->key;
	t->moving.indirect = x->kind == EXIT_INDIRECT;
	t->moving.landing = c->landing;
	t->moving.sp = t->gpr[4];
	/* an operand of the return does not count */
	if (c->move == MOVE_RETURN && x->kind == EXIT_INDIRECT)
		t->moving.sp += 8 + (uint64_t)(int64_t)(int32_t)x->aux;
}

/* Have trace make a step; the moves between steps are ours. */
static void
tell(struct tarea *t, enum move step, uint64_t site)
{
	uint64_t arg[4] = { site, t->pc, t->moving.sp, move_arg(step,
	    t->moving.move | (t->moving.indirect ? 8 : 0), t->moving.sitelen,
	    t->p) };

	t->moving.move = MOVE_NONE;
	state_fp_settle(t);	/* code may be made, see dispatch_go */
	if (t->rseq != 0)
		rseq_learn(t);
	if (rt.ctl->publish)
		buffer_publish(t, Q_RECORDS, 0, 0);
	if (ask(t, REQ_MOVE, arg) < 0)
		return;
	t->p += t->slot->ret[1];	/* kind cache: 0 */
	/* trace has pushed it */
	ctx_room_behind_step(t);
	/* kind cache: it is in another root now, and the last one was told */
	if (t->slot->ret[0] != 0 && ctx_has_more() && t->bufend != 0 &&
	    ctx_words(t)->told <= ctx_words(t)->top)
		contexts_tell(t, 0);
}

void
contexts_arrive(struct tarea *t)
{
	unsigned move = t->moving.move;
	uint32_t owner;
	bool done;

	if (!(rt.boot.flags & BOOT_CONTEXTS) || t->skips)
		return;
	if (is_renewing() || t->slot->resting)
		contexts_resume(t);
	owner = contexts_owner(t);
	if (owner == 0) {
		t->moving.sp = t->gpr[4];
		tell(t, MOVE_START, t->pc);
		t->root.pc = t->pc;
		t->root.owner = state(t)->owner;
		return;
	}
	if (move == MOVE_NONE)
		return;
	done = ctx_move(t);
	if (!done)
		tell(t, MOVE_ON, t->moving.site);
	if (!done && move == MOVE_CALL)
		ctx_set_landing(t, owner);
	t->moving.move = MOVE_NONE;
}

/*
 * Take back the call of a function that has not begun, at pc: its frame.  The
 * arc's number; 0: there is none.
 */
static uint64_t
undo_call(struct tarea *t, uint64_t pc)
{
	struct ctx_frame *f = contexts_top(t);

	if (contexts_arc(t)->from == 0 || contexts_arc(t)->target != pc ||
	    f->p != ctx_instructions(t))
		return 0;
	ctx_room_for_arc(t, f->arc / 16);
	ctx_count(t, f->arc)->calls--;
	ctx_words(t)->top = (uint64_t)(f + 1);
	t->moving.sp = f->place;
	return f->arc / 16;
}

void
contexts_step(struct tarea *t, enum move step, uint64_t pc)
{
	uint64_t arc = 0;

	if (contexts_owner(t) == 0)
		return;
	/* a handler that returns there makes the call once more */
	if (t->moving.move == MOVE_NONE && step == MOVE_SIGNAL)
		arc = undo_call(t, pc);
	if (t->moving.move == MOVE_NONE)
		t->moving.sitelen = 0;
	tell(t, step, arc != 0 ? NOT_BEGUN | arc :
	    t->moving.move == MOVE_NONE ? pc : t->moving.site);
}

/* -------------------------------------------------------- windows */


void
contexts_not_called(struct tarea *t)
{
	if ((rt.boot.flags & BOOT_CONTEXTS) && contexts_owner(t) != 0)
		undo_call(t, t->pc);
}

/*
 * All calls end, and with them where setjmp has returned.  A root that made no
 * other call, as where the function has returned, is left for the next window,
 * which often begins in it.
 */
void
contexts_end_window(struct tarea *t)
{
	if (!(rt.boot.flags & BOOT_CONTEXTS))
		return;
	ctx_hide_frames(t);
	if (state(t)->owner == 0)
		return;
	undo_call(t, t->pc);
	if (ctx_words(t)->top == ctx_words(t)->base && !state(t)->slow &&
	    ctx_words(t)->nlanding == 0 && ctx_words(t)->others == 0)
		t->moving.move = MOVE_NONE;
	else
		contexts_step(t, MOVE_END, t->pc);
}

void
contexts_begin_window(struct tarea *t)
{
	uint32_t owner = contexts_owner(t);

	if (owner != 0 && (owner != t->root.owner || t->pc != t->root.pc))
		contexts_step(t, MOVE_END, t->pc);
}

uint64_t
contexts_called(const struct tarea *t)
{
	const struct ctx_arc *a;

	if (contexts_owner(t) == 0)
		return ~0ull;
	a = contexts_arc(t);
	return a->target == t->pc ? CALLED | (uint64_t)(a - rt.arcs) : ~0ull;
}
