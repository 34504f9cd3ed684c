/*
 * repeat - multiply the rounds of a repeated execution
 *
 * Some rounds are watched: what they count, which frames they leave and push.
 * Once the thread is back in the state in which the watch began, all further
 * rounds do the same, and the counts since then are multiplied. The state is
 * the same if
 *
 *  - the frames that were not touched are there, and as many others as before.
 *    These may differ from the old ones in two values: the stack pointer, by
 *    as much as it moves in that many rounds, and the counts at the call, by
 *    what the rounds counted. A frame that has not been left may stand for more
 *    calls than before. Each repetition then adds as many, with counts larger
 *    than the last time's by what the rounds counted;
 *  - all else is equal.
 *
 * A stack that moves keeps its distance to its own frames, but not to those
 * from before the watch; so rounds are multiplied only until it might meet the
 * last of these, or wrap around.
 *
 * If the state does not come back, the watch begins again after 1, 2, 4, ...
 * rounds. A recursion whose stack only grows comes back when stack.c drops
 * half of it.
 *
 * A return without a call adds all counts so far to an arc (unseen_call). That
 * sum grows from round to round, by the same amount each time.
 */
#include "places.h"
#include "repeat.h"

#include <stdlib.h>
#include <string.h>

#include "khash.h"
#include "mem.h"
#include "sum.h"

#define LEAST	256		/* multiply only if so many rounds are left */
#define MOST	((uint64_t)1 << 24)	/* give up after so many rounds */
#define MARGIN	4096		/* bytes beside a stack pointer that matter */

/* Numbers as they were when the watch began. */
struct repeat_note {
	uint64_t *at;
	size_t was;		/* in state.number */
	unsigned n;
	uint64_t grows;		/* how often the thread's total was added */
};

KHASH_MAP_INIT_INT64(note, size_t)

bool repeat_watches;

static struct {
	struct walk_thread thread;	/* when the watch began */
	struct repeat_note *note;
	uint64_t *number;
	khash_t(note) *of;	/* by address; functions: number << 1 | 1 */
	size_t nnote, capnote, nnumber, capnumber;
	struct walk_frame *frame;	/* those left, the last first */
	int64_t *enter;
	size_t nframe, capframe, capenter;
	size_t stayed;		/* outermost frames, not left since then */
	int64_t *total;
	uint64_t since, wait;	/* rounds watched; when to restart */
	uint64_t all;
	bool other;		/* an event that cannot be multiplied */
} state;

/* ---- changes while it watches ---- */

static struct repeat_note *
note_of(uint64_t key, uint64_t *at, unsigned n)
{
	struct repeat_note *note;
	khint_t k;
	int made;

	k = kh_put(note, state.of, key, &made);
	if (made == 0)
		return &state.note[kh_val(state.of, k)];
	kh_val(state.of, k) = state.nnote;
	state.note = xgrow(state.note, &state.capnote, state.nnote + 1,
	    sizeof *state.note);
	state.number = xgrow(state.number, &state.capnumber, state.nnumber + n,
	    sizeof *state.number);
	note = &state.note[state.nnote++];
	*note = (struct repeat_note){ at, state.nnumber, n, 0 };
	if (at != NULL)
		memcpy(state.number + state.nnumber, at, n * sizeof *at);
	state.nnumber += n;
	return note;
}

void
repeat_note_counts(void *at, unsigned n)
{
	note_of((uintptr_t)at, at, n);
}

void
repeat_note_growth(struct walk_arc *a)
{
	note_of((uintptr_t)a->cost, (uint64_t *)a->cost, walk.ncol)->grows++;
}

/* The arrays of depths may move, so functions have numbers here. */
void
repeat_note_depth(const struct walk_thread *t, uint32_t fn)
{
	size_t n = state.nnote;
	struct repeat_note *note = note_of((uint64_t)fn << 1 | 1, NULL, 1);

	if (n != state.nnote)
		state.number[note->was] = t->depth[fn];
}

/* Keep the frames from n on as they were when the watch began. */
static void
note_frames(const struct walk_thread *t, size_t n)
{
	size_t k = state.nframe, first = state.thread.n - k;

	for (; first > n; k++) {
		first--;
		state.frame = xgrow(state.frame, &state.capframe, k + 1,
		    sizeof *state.frame);
		state.enter = xgrow(state.enter, &state.capenter, (k + 1) *
		    walk.ncol, sizeof *state.enter);
		state.frame[k] = t->frame[first];
		memcpy(state.enter + k * walk.ncol, t->enter + first *
		    walk.ncol, walk.ncol * sizeof *state.enter);
	}
	state.nframe = k;
}

void
repeat_note_frames(const struct walk_thread *t, size_t n)
{
	if (n < state.stayed)
		state.stayed = n;
	note_frames(t, n);
}

void
repeat_note_again(const struct walk_thread *t, size_t i)
{
	note_frames(t, i);
}

void
repeat_note_else(void)
{
	state.other = true;
}

static void
watch(const struct walk_thread *t)
{
	if (state.of == NULL) {
		state.of = kh_init(note);
		state.total = xcalloc(walk.ncol, sizeof *state.total);
	}
	kh_clear(note, state.of);
	state.nnote = state.nnumber = state.nframe = 0;
	state.thread = *t;
	state.stayed = t->n;
	memcpy(state.total, t->total, walk.ncol * sizeof *state.total);
	state.since = 0;
	state.other = false;
	repeat_watches = true;
}

void
repeat_end(void)
{
	repeat_watches = false;
	state.all = state.wait = 0;
}

/* ---- the stack pointer ---- */

/* How far the stack pointer at a segment's end moves in a round. */
static uint64_t
moves_by(const struct walk_seg *p, const struct walk_seg *s,
    const uint64_t *rec)
{
	if (s->group == 0 || s->group > ev_ngroups(*rec) ||
	    (!p->apply && s->group != p->spgroup))
		return 0;
	return rec[s->group];
}

/* How far it moves in every segment; false: they differ. */
static bool
stack_by(const struct walk_seg *p, const uint64_t *rec, uint64_t *by)
{
	bool any = false;

	*by = 0;
	for (uint32_t i = 0; i < p->nseg; i++) {
		const struct walk_seg *s = plan_seg(p, i);

		if (!seg_moves_stack(s))
			continue;
		if (any && moves_by(p, s, rec) != *by)
			return false;
		*by = moves_by(p, s, rec);
		any = true;
	}
	return true;
}

/* Rounds until a moving value may come within the margin of another. */
static uint64_t
rounds_to(uint64_t value, uint64_t by, uint64_t there)
{
	uint64_t far = (int64_t)by < 0 ? value - there : there - value;
	uint64_t step = (int64_t)by < 0 ? -by : by;

	return by == 0 ? UINT64_MAX : far <= MARGIN ? 0 :
	    (far - MARGIN) / step;
}

/* Rounds until a place on the stack wraps around, or meets another one. */
static uint64_t
rounds_of(uint64_t sp, uint64_t by, const uint64_t *fixed)
{
	uint64_t n = rounds_to(sp, by, (int64_t)by < 0 ? 0 : UINT64_MAX), met;

	if (fixed == NULL)
		return n;
	met = rounds_to(sp, by, *fixed);
	return met < n ? met : n;
}

/* Rounds in which places on the stack keep their order. */
static uint64_t
in_order(const struct walk_thread *t, const struct walk_seg *p, uint64_t by)
{
	size_t low = state.thread.n - state.nframe;
	const uint64_t *fixed = NULL;
	uint64_t most = UINT64_MAX, n;

	if (by == 0)
		return most;
	if (t->nsig > 0 || t->nlanding > 0)
		return 0;
	if (low > 0 && t->frame[low - 1].sp != UINT64_MAX)
		fixed = &t->frame[low - 1].sp;
	for (uint32_t i = 0; i < p->nseg; i++) {
		const struct walk_seg *s = plan_seg(p, i);

		n = seg_moves_stack(s) ? rounds_of(seg_sp(s), by, fixed) : most;
		most = n < most ? n : most;
	}
	for (size_t i = low; i < t->n; i++) {
		n = t->frame[i].sp == UINT64_MAX ? most :
		    rounds_of(t->frame[i].sp, by, fixed);
		most = n < most ? n : most;
	}
	return most;
}

/* ---- is the state the same? ---- */

static bool
same_frame(const struct walk_frame *f, const struct walk_frame *was,
    uint64_t moved)
{
	return f->arc == was->arc && f->ret == was->ret &&
	    f->ctx == was->ctx && f->skipper == was->skipper &&
	    f->times >= was->times &&
	    f->sp == (was->sp == UINT64_MAX ? was->sp : was->sp + moved);
}

/* By how many calls has the frame grown that was the k-th last one? */
static uint64_t
grown(const struct walk_thread *t, size_t k)
{
	return t->frame[state.thread.n - 1 - k].times - state.frame[k].times;
}

static uint64_t
growth(const int64_t *is, const int64_t *was, unsigned column)
{
	return (uint64_t)is[column] - (uint64_t)was[column];
}

static bool
same_frames(const struct walk_thread *t, uint64_t moved)
{
	for (size_t k = 0; k < state.nframe; k++) {
		size_t i = state.thread.n - 1 - k;
		const int64_t *was = state.enter + k * walk.ncol;
		const int64_t *is = t->enter + i * walk.ncol;

		if (!same_frame(&t->frame[i], &state.frame[k], moved))
			return false;
		if (grown(t, k) != 0 && i < state.stayed)
			continue;
		for (unsigned c = 0; c < walk.ncol; c++)
			if (grown(t, k) != 0 || growth(is, was, c) !=
			    growth(t->total, state.total, c) *
			    t->frame[i].times)
				return false;
	}
	return true;
}

static bool
same_depths(const struct walk_thread *t)
{
	for (khint_t k = 0; k < kh_end(state.of); k++)
		if (kh_exist(state.of, k) && (kh_key(state.of, k) & 1) != 0 &&
		    state.number[state.note[kh_val(state.of, k)].was] !=
		    t->depth[kh_key(state.of, k) >> 1])
			return false;
	return true;
}

static bool
same(const struct walk_thread *t, uint64_t moved)
{
	const struct walk_thread *was = &state.thread;

	if (state.other || t->n != was->n || t->ctx != was->ctx ||
	    t->seg != was->seg || t->slot != was->slot ||
	    t->skipper != was->skipper || t->collect != was->collect ||
	    t->key != was->key || t->bottom != was->bottom ||
	    t->nsig != was->nsig || t->nlanding != was->nlanding ||
	    t->guess != was->guess || t->landed != was->landed)
		return false;
	if (seg_moves_stack(t->seg) && t->sp != was->sp + moved)
		return false;
	return same_depths(t) && same_frames(t, moved);
}

/*
 * Rounds in which the groups' values leave the costs as they are. A value is
 * an address, which affects costs only when it is 0, or a count.
 */
static uint64_t
same_costs(const struct walk_seg *p, const uint64_t *rec)
{
	const struct ev_block *b = seg_block(p);
	uint64_t most = UINT64_MAX, n;

	if (!p->apply || (!walk.data_refs && !walk.rep))
		return most;
	for (uint32_t i = 0; i < b->nref; i++)
		if (b->ref[i].count != 0 &&
		    b->ref[i].count <= ev_ngroups(*rec) &&
		    rec[b->ref[i].count] != 0)
			return 0;
	for (unsigned g = 0; g < ev_ngroups(*rec); g++) {
		n = rounds_to(b->value[g], rec[1 + g], 0);
		most = n < most ? n : most;
	}
	return most;
}

/* ---- many rounds ---- */

static uint64_t
sum_to(uint64_t n)
{
	return n % 2 == 0 ? n / 2 * (n + 1) : (n + 1) / 2 * n;
}

/* Add what the rounds counted, so many times. */
static void
multiply(const struct walk_thread *t, uint64_t times)
{
	for (size_t i = 0; i < state.nnote; i++) {
		const struct repeat_note *note = &state.note[i];
		const uint64_t *was = state.number + note->was;

		for (unsigned k = 0; note->at != NULL && k < note->n; k++) {
			note->at[k] += (note->at[k] - was[k]) * times;
			if (note->grows != 0)
				note->at[k] += note->grows * sum_to(times) *
				    growth(t->total, state.total, k);
		}
	}
}

/* The calls of frame i are those of later rounds. */
static void
move_enter(struct walk_thread *t, size_t i, uint64_t times)
{
	uint64_t *enter = (uint64_t *)t->enter + i * walk.ncol;

	for (unsigned c = 0; c < walk.ncol; c++)
		enter[c] += growth(t->total, state.total, c) *
		    t->frame[i].times * times;
}

/* The frame gets the calls of so many rounds more. */
static void
grow_enter(struct walk_thread *t, size_t k, uint64_t times)
{
	int64_t *enter = t->enter + (state.thread.n - 1 - k) * walk.ncol;
	const int64_t *was = state.enter + k * walk.ncol;

	for (unsigned c = 0; c < walk.ncol; c++)
		enter[c] = (int64_t)((uint64_t)enter[c] +
		    growth(enter, was, c) * times + grown(t, k) *
		    growth(t->total, state.total, c) * sum_to(times));
}

static void
move_frames(struct walk_thread *t, uint64_t moved, uint64_t times)
{
	for (size_t k = 0; k < state.nframe; k++) {
		size_t i = state.thread.n - 1 - k;

		if (t->frame[i].sp != UINT64_MAX)
			places_move(t, i, moved);
		if (grown(t, k) > 0)
			grow_enter(t, k, times);
		else
			move_enter(t, i, times);
		t->frame[i].times += grown(t, k) * times;
	}
}

static void
leave_out(struct walk_thread *t, struct walk_seg *p, const uint64_t *rec,
    uint64_t times)
{
	uint64_t rounds = times * state.since, by;

	stack_by(p, rec, &by);
	multiply(t, times);
	move_frames(t, by * rounds, times);
	if (seg_moves_stack(t->seg))
		t->sp += by * rounds;
	for (unsigned c = 0; c < walk.ncol; c++)
		sum_add(&t->total[c], sum_times(t->total[c] -
		    state.total[c], (int64_t)times));
	if (p->spgroup != 0)
		plan_values[p->block] += rec[p->spgroup] * rounds;
	for (unsigned g = 0; p->apply && g < ev_ngroups(*rec); g++)
		seg_block(p)->value[g] += rec[1 + g] * rounds;
}

/* How often the watched rounds can be multiplied. */
static uint64_t
times(const struct walk_thread *t, const struct walk_seg *p,
    const uint64_t *rec, uint64_t more)
{
	uint64_t by, n, costs;

	if (!stack_by(p, rec, &by) || !same(t, by * state.since))
		return 0;
	n = in_order(t, p, by);
	costs = same_costs(p, rec);
	n = costs < n ? costs : n;
	return (more < n ? more : n) / state.since;
}

uint64_t
repeat_round(struct walk_thread *t, struct walk_seg *p, const uint64_t *rec,
    uint64_t more)
{
	uint64_t n, rounds;

	if (!repeat_watches && (more < LEAST || state.all >= MOST))
		return 0;
	if (!repeat_watches) {
		state.wait = 1;
		watch(t);
		return 0;
	}
	state.since++;
	state.all++;
	n = times(t, p, rec, more);
	rounds = n * state.since;
	if (n > 0) {
		leave_out(t, p, rec, n);
		repeat_watches = false;
	} else if (state.all >= MOST) {
		repeat_watches = false;
	} else if (state.since >= state.wait) {
		state.wait *= 2;
		watch(t);
	}
	return rounds;
}
