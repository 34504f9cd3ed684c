/*
 * moves - a thread's calls, returns and jumps, by the rules of lib/walk
 *
 * Each slot's thread has a thread of lib/walk, whose stack follows its calls.
 * What callgraph(1) finds in the order of all executions is found here from
 * those transfers alone that may call, return or leave a function.
 */
#include <string.h>

#include "context/context.h"
#include "context/parts.h"
#include "ctl.h"
#include "khash.h"

static const struct walk_ctx *guessed;	/* before the last step, or NULL */
static int64_t back;		/* context_back */

/* A handler was interrupted before its first instruction. */
static bool
not_begun(const struct walk_thread *t)
{
	return t->nsig > 0 && t->total[0] == t->sig[t->nsig - 1].total[0];
}

/* What the thread has executed up to its step. */
static void
arrive(struct walk_thread *t, const struct context_step *s)
{
	struct walk_seg *seg;

	if (t->ctx == NULL || not_begun(t))
		return;
	seg = sites_seg(s->site, s->len, s->move);
	t->slot = slot_get(t->ctx, seg);
	t->seg = seg;
	t->sp = s->sp;
}

/* A slot's counts at its last step, or behind the last V lines. */
static int64_t *
counts(unsigned slot)
{
	static int64_t n[NSLOT][COSTS];

	return n[slot];
}

/* The thread, or all that it has done so far, ends. */
static void
end(struct walk_thread *t)
{
	const struct walk_ctx *c = roots_outermost(t);
	int64_t since[COSTS];

	memcpy(since, t->since, walk.ncol * sizeof *since);
	stack_close(t);
	if (c != NULL)
		told_root(t, c, since, t->total);
}

static void
handled(const struct walk_thread *t, const int64_t *since)
{
	if (t->ctx != NULL)
		told_root(t, t->ctx, since, t->total);
}

/* A jump by a stub, whose site is the jump to the stub. */
static bool
by_stub(const struct context_step *s)
{
	return s->step == MOVE_ON && s->move == MOVE_ON && s->indirect;
}

/*
 * Go on where a step leads.  A stub is in a section of its own, so what it
 * leads to is entered, whether it has a symbol or not.
 */
static void
go_on(struct walk_thread *t, const struct context_step *s)
{
	static struct walk_seg seg;
	static struct func_place at;

	memset(&seg, 0, sizeof seg);
	at = *sites_place(s->to);
	at.entry = at.entry || by_stub(s);
	seg.addr = s->to;
	seg.at = &at;
	stack_move(t, &seg);
}

/* Do what a step is, up to where the thread goes on. */
static void
step(struct walk_thread *t, const struct context_step *s)
{
	/* where no handler is active, sigreturn is a call like others */
	if (s->step != MOVE_SIGRETURN || t->nsig == 0)
		arrive(t, s);
	if (s->step == MOVE_SIGNAL)
		stack_signal(t, 0);
	else if (s->step == MOVE_SIGRETURN)
		stack_sigreturn(t);
	else if (s->step == MOVE_END)
		end(t);
	if (s->step != MOVE_END)
		go_on(t, s);
}

/* Bring a slot's thread up to date; now: its counts. */
static struct walk_thread *
thread_now(unsigned slot, const int64_t now[COSTS])
{
	struct walk_thread *t = thread_get(slot);
	int64_t *last = counts(slot), done[COSTS];
	unsigned i;

	for (i = 0; i < walk.ncol; i++) {
		done[i] = last[i] - now[i];
		last[i] = now[i];
		t->total[i] += done[i];
	}
	told_done(slot, done);
	spare_learn(slot);
	frames_take(slot, t, now);
	return t;
}

/*
 * What a handler did is no cost of what it interrupted.  Its counts are taken
 * back, so all frames are as they were before.  But where REG_P also serves for
 * intervals, the frames' counts are moved instead.
 */
static void
take_back(unsigned slot, const struct walk_thread *t, const int64_t *before)
{
	unsigned i;

	back = 0;
	if (walk.ncol == 1 && (opt->interval != 0 || opt->during != 0))
		return;
	if (memcmp(t->total, before, walk.ncol * sizeof *before) == 0)
		return;
	for (i = 0; i < walk.ncol; i++)
		counts(slot)[i] += before[i] - t->total[i];
	theirs_set_counts(slot, counts(slot));
	if (walk.ncol == 1)
		back = before[0] - t->total[0];
}

int64_t
context_back(void)
{
	return back;
}

void
context_not_begun(struct context_step *s)
{
	const struct walk_seg *seg;

	context_lock();
	seg = arcs_seg(s->site & ~NOT_BEGUN);
	s->site = 0;
	if (seg != NULL) {
		s->site = seg_last(seg);
		s->len = seg->len;
		s->move = seg->flow == 'L' ? MOVE_CALL : seg->flow == 'I' ?
		    MOVE_IJUMP : MOVE_ON;
	}
	context_unlock();
}

bool
context_step(unsigned slot, const struct context_step *s)
{
	int64_t now[COSTS], before[COSTS];
	struct walk_thread *t;
	bool unseen;

	context_lock();
	theirs_counts(slot, s->p, now);
	if (s->step == MOVE_START) {
		memcpy(counts(slot), now, sizeof now);
		frames_end(slot);
		end(thread_get(slot));
	}
	t = thread_now(slot, now);
	t->landed = NULL;
	t->unseen = NULL;
	guessed = t->guess;
	memcpy(before, t->total, walk.ncol * sizeof *before);
	step(t, s);
	unseen = t->unseen != NULL;
	take_back(slot, t, before);
	if (s->step == MOVE_END)
		frames_end(slot);
	else if (!trust_lost)
		frames_give(slot, t, counts(slot), s);
	t->unseen = NULL;
	context_unlock();
	return unseen;
}

void
context_start(void)
{
	walk.data_refs = counts_refs();
	walk.ncol = walk.data_refs ? COSTS : 1;
	walk.each = true;	/* the guest is to get its arc */
	owners_start();
	arcs_forget();
	walk.charged = told_charge;
	walk.maxframes = FRAMES_MOST - 1;
	walk.handled = handled;
}

bool
context_landed(unsigned slot, uint32_t *limbo, uint32_t *owner)
{
	struct walk_thread *t;
	bool landed;

	context_lock();
	t = thread_get(slot);
	landed = t->landed != NULL && guessed != NULL;
	if (landed) {
		*limbo = owner_get(guessed, LIMBO);
		*owner = owner_get(t->landed, 0);
		t->landed = NULL;
	}
	context_unlock();
	return landed;
}

void
context_image(void)
{
	unsigned i;

	context_lock();
	for (i = 0; i < thread_count(); i++) {
		end(thread_get(i));
		frames_end(i);
	}
	frames_forget();
	arcs_forget();
	spare_forget();
	context_unlock();
}

/*
 * Learn what the threads of other slots than `but' have called, as of their
 * last steps: when their frames were entered does not depend on that.  A thread
 * that has ended has no frames, but its arcs may have counts yet.
 */
static void
learn_others(unsigned but)
{
	struct walk_thread *t;
	unsigned i;

	for (i = 0; i < thread_count(); i++) {
		if (i == but || !frames_used(i))
			continue;
		t = thread_get(i);
		spare_learn(i);
		frames_take(i, t, counts(i));
		theirs_charge(i, t);
	}
}

void
context_renew(unsigned slot, int64_t p)
{
	int64_t now[COSTS];
	struct walk_thread *t;
	unsigned i;

	context_lock();
	theirs_counts(slot, p, now);
	t = thread_now(slot, now);
	theirs_charge(slot, t);
	learn_others(slot);
	frames_forget();
	arcs_forget();
	spare_forget();
	for (i = 0; i < thread_count() && !trust_lost; i++) {
		t = thread_get(i);
		if (i != slot && roots_outermost(t) != NULL)
			frames_give(i, t, counts(i), NULL);
	}
	context_unlock();
}

/* Settle all open frames; what the thread's outermost context has taken. */
static void
settle(unsigned slot, int64_t p)
{
	struct walk_thread *t = thread_get(slot);
	const struct walk_ctx *c;
	int64_t rest[COSTS];
	unsigned i;

	told_rest(slot, rest);
	for (i = 1; i < walk.ncol; i++)
		rest[i] += theirs_gathered(slot, i - 1);
	for (i = 0; i < walk.ncol; i++) {
		counts(slot)[i] -= rest[i];
		t->total[i] += rest[i];
	}
	spare_learn(slot);
	frames_take(slot, t, counts(slot));
	theirs_charge(slot, t);
	c = roots_outermost(t);
	if (c == NULL || trust_lost)
		return;
	told_root(t, c, t->since, t->nsig > 0 ? t->sig[0].total : t->total);
	stack_settle_thread(t);
	if (p != 0)
		counts(slot)[0] = p;
	frames_give(slot, t, counts(slot), NULL);
}

void
context_end(unsigned slot)
{
	context_lock();
	frames_end(slot);
	end(thread_get(slot));
	context_unlock();
}

void
context_tell(struct evw *w, unsigned slot, int64_t p)
{
	context_lock();
	settle(slot, p);
	told_write(w, slot);
	context_unlock();
}
