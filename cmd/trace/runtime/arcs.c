/*
 * arcs - with --contexts: make an arc like another one
 *
 * A request for each call that a state has not made before would take most of a
 * short run.  So only the first arc of a call to a target is made by trace.  It
 * serves as a MODEL for calls to that target from other states: these lead to
 * the same function, at the level that its active calls make it, which follows
 * from the states that this one was made from.  Where a jump is a call, its
 * model has the same site and function.  Deep recursion goes back to an earlier
 * state; it is left to trace.
 *
 * A state that is not apart is reached from one other state alone, by calls of
 * its function.  So its number need not be looked for among all.
 */
#include "contexts.h"
#include "ctx.h"
#include "runtime.h"

#define ACTIVE_MOST 4000u	/* so many states are looked at */

static const struct ctx_state *
state(uint32_t n)
{
	return &rt.states[n % STATES_MOST];
}

/* The level of a call of fn from a state; 0: unknown, or deep recursion. */
static unsigned
level_of(uint32_t s, uint32_t fn)
{
	unsigned level = 1, n = 0;

	while (s != 0) {
		if (++n == ACTIVE_MOST)
			return 0;
		if (!state_may_have(state(s), fn)) {
			s = state(s)->skip;
			continue;
		}
		level += state(s)->fn == fn &&
		    !(state(s)->apart & STATE_FOLDED);
		if (level > 2)
			return 0;
		s = state(s)->up;
	}
	return level;
}

/* The model for a call, or jump, from a state; NULL: there is none. */
static const struct ctx_arc *
find_model(uint32_t s, bool call, uint32_t site, uint64_t target)
{
	uint32_t i = rt.heads->model[model_bucket(call, site, target)], n = 0;
	uint32_t fn = state(s)->fn;
	unsigned level = 0;
	const struct ctx_arc *a;

	for (; i != 0 && n < MODELS_MOST; i = a->like, n++) {
		a = &rt.arcs[i % ARCS_MOST];
		if (a->target != target || (a->ret != 0) != call)
			continue;
		if (!call && (a->site != site || state(a->from)->fn != fn))
			continue;
		if (level == 0)
			level = level_of(s, state(a->to)->fn);
		if (level == 0)
			return NULL;
		if (state(a->to)->level == level)
			return a;
	}
	return NULL;
}

/* The state that other sites of a state reach by this call, or 0. */
static uint32_t
find_child(uint32_t s, const struct ctx_state *like)
{
	uint32_t i = rt.heads->state[state_bucket(state(s)->key, like->owner)];
	uint32_t n = 0;

	for (; i != 0 && n < BUCKET_MOST; i = state(i)->next, n++)
		if (state(i)->owner == like->owner && state(i)->up == s &&
		    state(i)->fn == like->fn)
			return i;
	return 0;
}

/* A new state, with the arc to it; 0: no number is left. */
static uint32_t
make_state(struct ctx_words *w, uint32_t up, const struct ctx_state *like)
{
	struct ctx_state *s;

	if (w->state == w->state_end)
		return 0;
	s = &rt.states[w->state % STATES_MOST];
	s->owner = like->owner;
	s->level = like->level;
	s->fn = like->fn;
	s->up = up;
	s->apart = 0;
	s->made = w->arc;
	state_note_active(s, state(up), up);
	return w->state++;
}

/* Put it into its bucket. */
static void
publish(uint32_t *first, uint32_t *next, uint32_t n)
{
	*next = __atomic_load_n(first, __ATOMIC_SEQ_CST);
	while (!__atomic_compare_exchange_n(first, next, n, 0,
	    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
}

static void
publish_arc(struct ctx_arc *a, uint32_t n)
{
	publish(&rt.heads->arc[arc_bucket(state(a->from)->key, a->site,
	    a->target, 0)], &a->next, n);
}

static void
publish_state(uint32_t n)
{
	struct ctx_state *s = &rt.states[n % STATES_MOST];

	publish(&rt.heads->state[state_bucket(state(s->up)->key, s->owner)],
	    &s->next, n);
}

uint32_t
arcs_make(struct ctx_words *w, uint32_t from, const struct moving *m,
    uint64_t target)
{
	bool call = m->move == MOVE_CALL;
	const struct ctx_arc *like = find_model(from, call, m->key, target);
	uint32_t n = w->arc, to, made = 0;
	struct ctx_arc *a;

	if (like == NULL || n == w->arc_end)
		return 0;
	to = find_child(from, state(like->to));
	if (to == 0)
		to = made = make_state(w, from, state(like->to));
	if (to == 0)
		return 0;
	a = &rt.arcs[n % ARCS_MOST];
	a->nkey = -state(from)->key - m->key - (m->indirect ? target : 0);
	a->state = state(to)->key;
	a->target = target;
	a->ret = call ? m->site + m->sitelen : 0;
	a->site = m->key;
	a->to = to;
	a->from = from;
	a->lands = like->lands;
	a->like = (uint32_t)(like - rt.arcs);
	publish_arc(a, n);
	if (made != 0)
		publish_state(made);
	__atomic_store_n(&w->arc, n + 1, __ATOMIC_SEQ_CST);
	return n;
}
