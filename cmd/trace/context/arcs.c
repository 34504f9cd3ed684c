/*
 * arcs - states and arcs as the guest has them
 *
 * A STATE is a context of lib/walk together with the set of functions that are
 * active, each once, or twice and more: two stacks with the same context may
 * differ in that, after a recursion was folded.  It decides at which level a
 * function is called.  A state in which each move is trace's, in a handler for
 * instance, is another one.
 *
 * The guest makes arcs like those that are made here, of numbers that it has
 * been given, and states for them (runtime/arcs.c).  They are learnt when
 * anyone asks for them, or at the thread's next step: all that they are follows
 * from their model and the state that they lead from.
 */
#include <string.h>

#include "context/context.h"
#include "context/parts.h"
#include "khash.h"
#include "mem.h"
#include "prog.h"

struct state_key {
	const struct walk_ctx *ctx;
	uint64_t set;
	uint32_t owner;		/* also where a stub's call is */
	bool slow;
};
struct arc_key {
	uint64_t target;
	const struct walk_arc *arc;	/* NULL: a stub's; a root: `unseen' */
	uint32_t from, site, to, left;
};

static uint64_t
mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static inline khint_t
state_hash(struct state_key k)
{
	return (khint_t)mix((uintptr_t)k.ctx ^ k.set ^ k.owner ^
	    (uint64_t)k.slow << 40);
}

static inline bool
state_equal(struct state_key a, struct state_key b)
{
	return a.ctx == b.ctx && a.set == b.set && a.owner == b.owner &&
	    a.slow == b.slow;
}

static inline khint_t
arc_hash(struct arc_key k)
{
	return (khint_t)mix(k.target ^ mix((uintptr_t)k.arc ^
	    (uint64_t)k.from << 40 ^ (uint64_t)k.to << 20 ^ k.site) ^ k.left);
}

static inline bool
arc_equal(struct arc_key a, struct arc_key b)
{
	return a.target == b.target && a.arc == b.arc && a.from == b.from &&
	    a.site == b.site && a.to == b.to && a.left == b.left;
}

KHASH_INIT(state, struct state_key, uint32_t, 1, state_hash, state_equal)
KHASH_INIT(arc, struct arc_key, uint32_t, 1, arc_hash, arc_equal)

struct state {
	const struct walk_ctx *ctx;	/* NULL: it is not known */
	uint64_t set;
	uint32_t owner;
};
struct arc {
	struct walk_arc *walk;	/* NULL: a root, or a stub's */
	const struct walk_ctx *root;	/* or NULL */
	const struct walk_arc *unseen;
	uint32_t from, to;
	uint32_t linked;	/* another arc with the same code, or 0 */
	uint32_t told;		/* its number in the stream, or 0 */
	bool known;
	bool gone;		/* no call finds it: arcs_unmapped */
};

/* From which no call is made. */
#define NO_STATE UINT32_MAX

static khash_t(state) *states;
static khash_t(arc) *arcs;
static struct state *state;	/* by number */
static struct arc *arc;
static size_t nstate = 1, capstate, narc = 1, caparc;
static bool has_models;

void
arcs_forget_models(void)
{
	if (has_models)
		memset(area.heads->model, 0, sizeof area.heads->model);
	has_models = false;
}

/* A new image, or all numbers are used up: none of the guest's. */
void
arcs_forget(void)
{
	if (states == NULL) {
		states = kh_init(state);
		arcs = kh_init(arc);
	} else {
		memset(area.heads, 0, sizeof *area.heads);
	}
	kh_clear(state, states);
	kh_clear(arc, arcs);
	state = xgrow(state, &capstate, 1, sizeof *state);
	arc = xgrow(arc, &caparc, 1, sizeof *arc);
	state[0] = (struct state){ 0 };
	arc[0] = (struct arc){ 0 };
	nstate = narc = 1;
	arcs_forget_models();
}

/* For tests there may be few, but more than all threads have spare. */
bool
context_is_full(void)
{
	bool few = (opt->debug & (DEBUG_FEWCOUNTS | DEBUG_FEWCALLS)) != 0;
	size_t most = !few ? ARCS_MOST - (1u << 16) : thread_count() > 1 ?
	    3000 : 300;

	return narc > most || nstate > most;
}

uint64_t
arcs_set_with(uint64_t set, const struct func *fn, uint32_t depth)
{
	return depth > 2 ? set : set + mix((uint64_t)fn->num * 2 + depth);
}

/* Random, but never twice; of no state, 0. */
static uint64_t
state_key(uint32_t n)
{
	return n == 0 ? 0 : mix(n);
}

/* The next n numbers of states, which are not known; the first. */
static uint32_t
new_states(uint32_t n)
{
	uint32_t first = (uint32_t)nstate;

	if (nstate + n > STATES_MOST)
		die("--contexts: too many states of calls");
	state = xgrow(state, &capstate, nstate + n, sizeof *state);
	for (; n > 0; n--, nstate++) {
		state[nstate] = (struct state){ 0 };
		area.states[nstate] = (struct ctx_state){ .key =
		    state_key((uint32_t)nstate) };
	}
	return first;
}

static uint32_t
new_arcs(uint32_t n)
{
	uint32_t first = (uint32_t)narc;

	if (narc + n > ARCS_MOST)
		die("--contexts: too many different calls");
	arc = xgrow(arc, &caparc, narc + n, sizeof *arc);
	for (; n > 0; n--, narc++) {
		arc[narc] = (struct arc){ 0 };
		area.arcs[narc] = (struct ctx_arc){ .code = area.called };
	}
	return first;
}

static void
publish(uint32_t *first, uint32_t *next, uint32_t n)
{
	*next = ONCE(*first);
	while (!__atomic_compare_exchange_n(first, next, n, false,
	    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
}

/* The guest will find a state that is not apart by its caller. */
static void
publish_state(uint32_t n)
{
	struct ctx_state *s = &area.states[n];

	if (s->up != 0 && !s->slow && s->apart == 0)
		publish(&area.heads->state[state_bucket(state_key(s->up),
		    s->owner)],
		    &s->next, n);
}

uint32_t
arcs_state(const struct walk_ctx *ctx, uint64_t set, uint32_t up,
    uint32_t owner, bool slow)
{
	struct state_key key = { ctx, set, owner, slow };
	struct ctx_state *s;
	uint32_t n;
	khint_t k;
	int made;

	k = kh_put(state, states, key, &made);
	if (made == 0)
		return kh_val(states, k);
	n = kh_val(states, k) = new_states(1);
	state[n] = (struct state){ ctx, set, owner };
	s = &area.states[n];
	s->owner = owner;
	s->slow = slow;
	s->fn = ctx->fn->num + 1;
	s->level = (uint16_t)ctx->level;
	s->up = up;
	if (up != 0 && state[up].set == set)
		s->apart = STATE_FOLDED;
	if (up != 0 && ctx->up != state[up].ctx)
		s->apart |= STATE_BESIDE;
	state_note_active(s, &area.states[up], up);
	publish_state(n);
	return n;
}

uint64_t
arcs_set(uint32_t s)
{
	return state[s].set;
}

/* Is there a model already for calls to where the arc leads, at its level? */
static bool
has_model(uint32_t n, uint32_t like)
{
	const struct walk_ctx *ctx = state[arc[n].to].ctx;
	unsigned i;

	for (i = 0; i < MODELS_MOST && like > 0 && like < narc; i++) {
		const struct ctx_arc *a = &area.arcs[like];

		if (ONCE(a->ret) != 0 && ONCE(a->target) ==
		    area.arcs[n].target && arc[like].known &&
		    state[arc[like].to].ctx->fn == ctx->fn &&
		    state[arc[like].to].ctx->level == ctx->level)
			return true;
		like = ONCE(a->like);
	}
	return false;
}

/* The guest will find the arc by its state, and as a model of others. */
static void
publish_arc(uint32_t n, bool model)
{
	struct ctx_arc *a = &area.arcs[n];
	uint32_t *like = &area.heads->model[model_bucket(a->ret != 0, a->site,
	    a->target)];

	if (model && (a->ret == 0 || !has_model(n, *like))) {
		a->like = *like;
		__atomic_store_n(like, n, __ATOMIC_RELEASE);
		has_models = true;
	}
	publish(&area.heads->arc[arc_bucket(state_key(a->from), a->site,
	    a->target, a->left)], &a->next, n);
}

/*
 * Would other states of the function make the same call?  Not where it is made
 * by a function whose frame was left before: the state is of who called that.
 * And where a jump into the midst of a function leads depends on which
 * functions are active.
 */
static bool
is_model(uint32_t from, const struct call *c)
{
	return !c->slow && !c->within && c->left == 0 && c->walk != NULL &&
	    arc_from(c->walk) != NULL &&
	    arc_caller(c->walk) == state[from].ctx;
}

static uint64_t
negated_key(uint32_t from, const struct call *c)
{
	return -state_key(from) - c->site - (c->indirect ? c->target : 0);
}

/* Calls find the arc again: the object is back. */
static void
come_back(uint32_t n, uint32_t from, const struct call *c)
{
	struct ctx_arc *a = &area.arcs[n];

	arc[n].gone = false;
	__atomic_store_n(&a->from, from, __ATOMIC_RELAXED);
	__atomic_store_n(&a->nkey, negated_key(from, c), __ATOMIC_RELEASE);
}

void
arcs_unmapped(uint64_t start, uint64_t end)
{
	struct ctx_arc *a;
	uint32_t n;

	for (n = 1; n < narc; n++) {
		a = &area.arcs[n];
		if (arc[n].gone || ONCE(a->target) < start ||
		    ONCE(a->target) >= end || !arcs_is(n))
			continue;
		arc[n].gone = true;
		__atomic_store_n(&a->nkey, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&a->from, NO_STATE, __ATOMIC_RELAXED);
	}
}

uint32_t
arcs_get(uint32_t from, const struct call *c, uint32_t to)
{
	struct arc_key key = { c->target, c->walk != NULL ? c->walk :
	    c->unseen, from, c->site, to, c->left };
	uint32_t n;
	khint_t k;
	int made;

	k = kh_put(arc, arcs, key, &made);
	if (made == 0) {
		n = kh_val(arcs, k);
		if (arc[n].gone)
			come_back(n, from, c);
		return n;
	}
	n = kh_val(arcs, k) = new_arcs(1);
	arc[n] = (struct arc){ c->walk, c->root, c->unseen, from, to, 0, 0,
	    true, false };
	area.arcs[n] = (struct ctx_arc){ .nkey = negated_key(from, c),
	    .state = state_key(to), .code = area.called, .target = c->target,
	    .ret = c->ret, .site = c->site, .to = to, .slow = c->slow,
	    .lands = c->lands, .within = c->within, .left = c->left,
	    .from = from };
	publish_arc(n, is_model(from, c));
	return n;
}

/* -------------------------------------------------- what the guest has made */

#define DEEP 1000u

/* The next k numbers of arcs, or of states, for a thread; 0: there are none. */
uint32_t
arcs_spare(uint32_t k, bool of_states)
{
	if (context_is_full())
		return 0;
	return of_states ? new_states(k) : new_arcs(k);
}

/* The state that the guest has made with an arc. */
static bool
learn_state(uint32_t n, uint32_t from, uint32_t owner,
    const struct walk_ctx *ctx)
{
	struct state_key key;
	khint_t k;
	int made;

	if (state[n].ctx != NULL)
		return state[n].ctx == ctx;
	key = (struct state_key){ ctx, arcs_set_with(state[from].set, ctx->fn,
	    ctx->level), owner, false };
	state[n] = (struct state){ ctx, key.set, owner };
	k = kh_put(state, states, key, &made);
	if (made != 0)
		kh_val(states, k) = n;
	return true;
}

static bool
learn_arc(uint32_t n, struct walk_arc *w, const struct ctx_arc *a)
{
	struct arc_key key = { w->to, w, a->from, a->site, a->to, 0 };
	khint_t k;
	int made;

	if (!learn_state(a->to, a->from, state[arc[a->like].to].owner, w->ctx))
		return false;
	arc[n] = (struct arc){ w, NULL, NULL, a->from, a->to, 0, 0, true,
	    false };
	k = kh_put(arc, arcs, key, &made);
	if (made != 0)
		kh_val(arcs, k) = n;
	return true;
}

static bool learn(uint32_t, unsigned deep);

/* Is the state known, now? */
static bool
knows_state(uint32_t n, unsigned deep)
{
	uint32_t made;

	if (n == 0 || n >= nstate)
		return false;
	if (state[n].ctx != NULL)
		return true;
	made = ONCE(area.states[n].made);
	return deep < DEEP && made > 0 && made < narc && !arc[made].known &&
	    learn(made, deep + 1) && state[n].ctx != NULL;
}

/* Where the guest's arc leads from, if that can be; or NULL. */
static const struct walk_seg *
from_seg(const struct ctx_arc *a, const struct walk_arc *like)
{
	const struct site *s;

	if (a->ret == 0)
		return state[a->from].ctx->fn == arc_caller(like)->fn ?
		    arc_from(like)->seg : NULL;
	s = sites_of(a->site);
	if (s == NULL || (s->target != 0 && s->target != like->to) ||
	    a->ret <= s->pc || a->ret > s->pc + MAX_LEN)
		return NULL;
	return sites_seg(s->pc, (uint8_t)(a->ret - s->pc), MOVE_CALL);
}

static bool
learn(uint32_t n, unsigned deep)
{
	struct ctx_arc a = *(volatile struct ctx_arc *)&area.arcs[n];
	const struct walk_arc *like;
	const struct walk_seg *seg;

	if (a.like == 0 || a.like >= narc || a.to == 0 || a.to >= nstate)
		return false;
	like = arc[a.like].walk;
	if (!arc[a.like].known || like == NULL || arc_from(like) == NULL ||
	    !knows_state(a.from, deep))
		return false;
	seg = from_seg(&a, like);
	return seg != NULL && learn_arc(n, arc_like(slot_get((struct walk_ctx *)
	    state[a.from].ctx, (struct walk_seg *)seg), like,
	    like->ctx->level), &a);
}

bool
arcs_is(uint64_t n)
{
	return n > 0 && n < narc && (arc[n].known || learn((uint32_t)n, 0));
}

const struct walk_seg *
arcs_seg(uint64_t n)
{
	struct walk_arc *a = arcs_is(n) ? arcs_walk((uint32_t)n) : NULL;

	return a == NULL || arc_from(a) == NULL ? NULL : arc_from(a)->seg;
}

struct walk_arc *
arcs_walk(uint32_t n)
{
	return arc[n].walk;
}

const struct walk_ctx *
arcs_root(uint32_t n)
{
	return arc[n].root;
}

const struct walk_arc *
arcs_unseen(uint32_t n)
{
	return arc[n].unseen;
}

uint32_t *
arcs_told(uint32_t n)
{
	return &arc[n].told;
}

uint32_t
arcs_from(uint32_t n)
{
	return arc[n].from;
}

uint32_t
arcs_to(uint32_t n)
{
	return arc[n].to;
}

uint32_t
arcs_owner(uint32_t s)
{
	return state[s].owner;
}

const struct walk_ctx *
arcs_ctx(uint32_t n)
{
	return state[arc[n].to].ctx;
}

const struct walk_ctx *
arcs_within(uint32_t n)
{
	return state[arc[n].from].ctx;
}

uint32_t
arcs_end(void)
{
	return (uint32_t)narc;
}

/* --------------------------------------------------------------------- code */

static void
set_code(uint32_t n, uint64_t code)
{
	__atomic_store_n(&area.arcs[n].code, code, __ATOMIC_RELEASE);
}

bool
context_link(uint64_t n, app_pc target, uint32_t owner, uint64_t code,
    uint32_t next)
{
	struct ctx_arc *a = &area.arcs[n];
	bool fits;

	context_lock();
	fits = arcs_is(n) && a->target == target && a->code == area.called &&
	    state[arc[n].to].owner == owner;
	if (fits) {
		arc[n].linked = next;
		set_code((uint32_t)n, code);
	}
	context_unlock();
	return fits;
}

void
context_cut(uint32_t n)
{
	context_lock();
	for (; n != 0; n = arc[n].linked)
		set_code(n, area.called);
	context_unlock();
}

void
context_cut_all(void)
{
	uint32_t n;

	context_lock();
	for (n = 1; n < narc; n++)
		set_code(n, area.called);
	context_unlock();
}
