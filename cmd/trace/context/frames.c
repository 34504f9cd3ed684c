/*
 * frames - the frames of a thread, in the guest and in lib/walk
 *
 * The guest pushes and pops frames by itself as long as each call's arc is
 * known.  Before a step that is ours lib/walk's thread is brought up to date,
 * and behind it the guest's frames are.  A copy of those as of then shows what
 * the guest has changed since: all above the innermost frame that is the same.
 *
 * The guest's outermost frame is no call's: its arc leads to the root of the
 * thread.  So does one for each signal handler, above what was interrupted.
 *
 * Where functions jump to each other, or to themselves, again and again, some
 * of lib/walk's frames are of many calls (lib/walk/stack.c).  The guest does
 * not count them: that would make all of its calls slower.  But when its frames
 * need more room in such a run, it asks trace to make the next call, and trace
 * joins frames of the same jump (long_run in runtime/ctxmem.c).  Such a frame
 * has an arc of its own, whose target is ARC_MANY: the guest asks trace to
 * leave it.  The last frame of a run stays one call's, since calls are made
 * from its state.
 *
 * The guest can write all that is read here: see base/trust.c.
 */
#include <string.h>

#include "context/context.h"
#include "context/parts.h"
#include "ctl.h"
#include "mem.h"

#define JOIN_PART 16	/* jumps are joined where this part of frames is new */

/* The guest's frame, and what it is to lib/walk. */
struct copy {
	struct ctx_frame f;
	const struct walk_ctx *root;	/* NULL: a call's */
	const struct walk_arc *arc;
	int64_t enter;
	uint64_t times;		/* it is of so many calls */
};

static struct mirror {
	struct copy *v;
	size_t n, cap;
	bool used;		/* its thread's table may have arcs */
} mirrors[NSLOT];

/* How many frames the guest has. */
static size_t
frames_now(unsigned slot)
{
	const struct ctx_words *w = theirs_words(slot);
	uint64_t top = ONCE(w->top), base = ONCE(w->base);
	uint64_t n = (base - top) / sizeof(struct ctx_frame) + 1;

	if ((base - top) % sizeof(struct ctx_frame) != 0 || n > FRAMES_MOST) {
		trust_lose("its calls");
		return 0;
	}
	return n;
}

/* The state that the last frame leads to. */
static uint32_t
state_below(const struct mirror *m)
{
	return m->n == 0 ? 0 : arcs_to((uint32_t)(m->v[m->n - 1].f.arc / 16));
}

/* ------------------------------------------------------------ guest to walk */

static bool
is_same(const struct ctx_frame *a, const struct ctx_frame *b)
{
	return a->arc == b->arc && a->p == b->p && a->place == b->place;
}

/* The thread's totals when its frame i, f, was entered. */
static void
totals_at(unsigned slot, size_t i, const struct ctx_frame *f,
    const struct walk_thread *t, const int64_t *now, int64_t *enter)
{
	unsigned k;

	enter[0] = t->total[0] - ((int64_t)f->p - now[0]);
	for (k = 1; k < walk.ncol; k++)
		enter[k] = t->total[k] + now[k] +
		    (int64_t)ONCE(theirs_frame_more(slot, i)->refs[k - 1]);
}

/* Is the guest's frame i of a jump, left by the same return as one there? */
static bool
goes_on(unsigned slot, size_t i, uint64_t place)
{
	const struct ctx_frame *f = theirs_frame(slot, i);

	return ONCE(f->place) == place && ONCE(area.arcs[ONCE(f->arc) / 16 %
	    ARCS_MOST].ret) == 0;
}

/* The thread of lib/walk gets a frame that the guest pushed. */
static bool
take(struct mirror *m, struct walk_thread *t, const struct ctx_frame *f,
    const int64_t *enter, uint32_t *state, enum walk_join join)
{
	uint64_t n = f->arc / 16;
	struct walk_arc *a;

	if (f->arc % 16 != 0 || !arcs_is(n) || arcs_walk((uint32_t)n) == NULL ||
	    arcs_from((uint32_t)n) != *state) {
		trust_lose("its calls");
		return false;
	}
	*state = arcs_to((uint32_t)n);
	a = arcs_walk((uint32_t)n);
	if (!stack_put(t, a, f->place == PLACE_NONE ? UINT64_MAX : f->place,
	    area.arcs[n].ret, enter, join))
		return true;
	m->v = xgrow(m->v, &m->cap, m->n + 1, sizeof *m->v);
	m->v[m->n++] = (struct copy){ *f, NULL, a, enter[0], 1 };
	return true;
}

/*
 * The guest has pushed the frames from k on, of n.  Where frames are joined,
 * those above are given again: that is too dear for a few.
 */
static enum walk_join
how_to_join(size_t n, size_t k)
{
	if (walk.ncol > 1)
		return WALK_JOIN_NONE;
	return n - k > n / JOIN_PART ? WALK_JOIN_ANY : WALK_JOIN_LAST;
}

void
frames_take(unsigned slot, struct walk_thread *t, const int64_t now[COSTS])
{
	struct mirror *m = &mirrors[slot];
	int64_t enter[COSTS];
	enum walk_join join;
	uint32_t state;
	size_t n, k;
	struct ctx_frame f;

	if (m->n == 0 || (n = frames_now(slot)) == 0)
		return;
	landings_take(theirs_words(slot), t);
	k = n < m->n ? n : m->n;
	while (k > 0 && !is_same(theirs_frame(slot, k - 1), &m->v[k - 1].f))
		k--;
	for (; m->n > k && m->v[m->n - 1].root == NULL; m->n--)
		stack_drop(t);
	if (k == 0 || m->n > k) {
		trust_lose("its calls");
		return;
	}
	state = state_below(m);
	join = how_to_join(n, k);
	for (; k < n; k++) {
		f = *(volatile struct ctx_frame *)theirs_frame(slot, k);
		totals_at(slot, k, &f, t, now, enter);
		while (join != WALK_JOIN_NONE &&
		    goes_on(slot, k, m->v[m->n - 1].f.place) &&
		    stack_join(t, join == WALK_JOIN_ANY))
			m->n--;
		if (!take(m, t, &f, enter, &state, k + 1 == n ||
		    !goes_on(slot, k + 1, f.place) ? WALK_JOIN_NONE : join))
			return;
	}
}

/* ------------------------------------------------------------ walk to guest */

/* What the guest's frame i is: the root of handler *sig, or lib/walk's *at. */
static bool
is_root(const struct walk_thread *t, size_t i, size_t *sig, size_t *at)
{
	size_t k;

	for (k = 0; k < t->nsig && 1 + roots_bottom(t, k) + k < i; k++)
		;
	*sig = k;
	*at = i - 1 - k;
	return i == 0 || (k < t->nsig && 1 + roots_bottom(t, k) + k == i);
}

/* REG_P at the call of a frame that has been entered at this total. */
static uint64_t
p_at(const struct walk_thread *t, int64_t enter, int64_t p)
{
	return (uint64_t)(p + t->total[0] - enter);
}

static bool
is_unchanged(const struct walk_thread *t, const struct mirror *m, size_t i,
    int64_t p)
{
	const struct copy *c = &m->v[i];
	const struct walk_frame *f;
	size_t sig, at;

	if (context_in_limbo(arcs_owner(arcs_to((uint32_t)(c->f.arc / 16)))))
		return false;
	if (is_root(t, i, &sig, &at))
		return i == 0 && c->root == roots_outermost(t);
	f = &t->frame[at];
	return c->root == NULL && c->arc == f->arc && c->times == f->times &&
	    c->enter == t->enter[at * walk.ncol] &&
	    (at < t->bottom || f->times > 1 ||
	    c->f.p == p_at(t, c->enter, p));
}

/* The guest's frame i is lib/walk's frame `at'. */
static size_t
guests(const struct walk_thread *t, size_t at)
{
	size_t k = 0;

	while (k < t->nsig && roots_bottom(t, k) <= at)
		k++;
	return 1 + at + k;
}

/*
 * A handler has ended, and REG_P has not got back what it did: see take_back in
 * moves.c.  So all counts at the calls above have moved alike, and only that
 * number is changed in each frame.
 */
static void
move_counts(unsigned slot, struct walk_thread *t, struct mirror *m, size_t n,
    int64_t p)
{
	size_t i = guests(t, t->bottom), at = t->bottom;
	const struct walk_frame *f;
	struct copy *c;

	for (; i < n && i < m->n && walk.ncol == 1; i++, at++) {
		c = &m->v[i];
		f = &t->frame[at];
		if (c->root != NULL || c->arc != f->arc || f->times > 1 ||
		    c->times > 1 || c->enter != t->enter[at] ||
		    c->f.p == p_at(t, c->enter, p))
			break;
		c->f.p = p_at(t, c->enter, p);
		theirs_frame(slot, i)->p = c->f.p;
	}
}

/* How many of the guest's frames are as they are to be. */
static size_t
unchanged(struct walk_thread *t, const struct mirror *m, size_t n, int64_t p)
{
	size_t i = n < m->n ? n : m->n, again;

	again = t->first_again < t->n ? guests(t, t->first_again) : i;
	t->first_again = SIZE_MAX;
	i = again < i ? again : i;
	while (i > 0 && !is_unchanged(t, m, i - 1, p))
		i--;
	return i == n && t->guess != NULL ? i - 1 : i;
}

/* By function: its activations in frames that are to be given yet. */
static uint32_t *above;
static size_t capabove;

/* Frames from `at' on are to be given, each by put_call. */
static void
count_above(const struct walk_thread *t, size_t at)
{
	above = xgrow0(above, &capabove, t->capdepth, sizeof *above);
	for (; at < t->n; at++)
		if (t->frame[at].arc != NULL)
			above[t->frame[at].arc->ctx->fn->num]++;
}

/* How many activations fn has up to frame `at', which is given now. */
static uint32_t
active(const struct walk_thread *t, const struct func *fn, size_t at)
{
	uint32_t n = t->depth[fn->num] - --above[fn->num];
	size_t k;

	for (k = 0; k < t->nsig; k++)
		if (roots_bottom(t, k) > at && roots_root(t, k) != NULL)
			n -= roots_root(t, k)->fn == fn;
	return n;
}

/* It was entered at these totals; NULL: it is a root. */
static void
put(struct mirror *m, unsigned slot, const struct copy *c,
    const struct walk_thread *t, const int64_t *enter, const int64_t *now)
{
	unsigned k;

	for (k = 1; enter != NULL && k < walk.ncol; k++)
		theirs_frame_more(slot, m->n)->refs[k - 1] =
		    -(uint64_t)(now[k] + t->total[k] - enter[k]);

	m->v = xgrow(m->v, &m->cap, m->n + 1, sizeof *m->v);
	m->v[m->n] = *c;
	*theirs_frame(slot, m->n++) = c->f;
}

/* A root, as a frame; place: calls from above it have left the root. */
static void
put_root(struct mirror *m, unsigned slot, const struct walk_thread *t,
    const struct walk_ctx *root, uint64_t place, bool slow, bool limbo)
{
	struct call c = { .slow = true, .root = root };
	uint32_t up = state_below(m), to;

	if (t->unseen != NULL && arc_caller(t->unseen) == root)
		c.unseen = t->unseen;
	to = arcs_state(root, arcs_set_with(arcs_set(up), root->fn,
	    root->level), up, owner_get(root, limbo ? LIMBO : 0), slow);
	put(m, slot, &(struct copy){ .f = { area.returned, 16ull *
	    arcs_get(0, &c, to), 0, place }, .root = root }, NULL, NULL, NULL);
}

/* Is trace to see the innermost handler's first call, for its stack? */
static bool
is_new_handler(const struct walk_thread *t)
{
	return t->nsig > 0 && !t->sig[t->nsig - 1].called;
}

/* The root of handler k. */
static void
put_handler(struct mirror *m, unsigned slot, const struct walk_thread *t,
    size_t k)
{
	bool last = k + 1 == t->nsig;
	size_t bottom = roots_bottom(t, k);
	bool limbo = last && bottom == t->n && t->guess != NULL;
	const struct walk_interrupt *s = &t->sig[k];
	uint64_t place = bottom == 0 || s->above || !s->called ? UINT64_MAX :
	    t->frame[bottom - 1].sp;

	put_root(m, slot, t, roots_root(t, k), place == UINT64_MAX ?
	    PLACE_NONE : place, limbo || (last && is_new_handler(t)), limbo);
}

/* Is the call of lib/walk's last frame as the guest will make it again? */
static bool
is_plain(const struct walk_thread *t, const struct context_step *s,
    const struct walk_frame *f)
{
	const struct walk_arc *a = f->arc;

	return !is_new_handler(t) && t->guess == NULL && t->skipper == NULL &&
	    f->skipper == NULL && arc_from(a) != NULL &&
	    seg_last(arc_from(a)->seg) == s->site && a->to == s->to &&
	    !a->ctx->fn->skip && !arc_caller(a)->fn->pop &&
	    (f->sp != UINT64_MAX || t->nsig == 0);
}

/*
 * Lib/walk's frame `at`, pushed by step s, or NULL.  left: as struct ctx_arc
 * has it, if this is the call that the step made.
 */
static void
put_call(struct mirror *m, unsigned slot, struct walk_thread *t, size_t at,
    const int64_t *now, const struct context_step *s, uint32_t left)
{
	const struct walk_frame *f = &t->frame[at];
	const int64_t *enter = t->enter + at * walk.ncol;
	const struct walk_arc *a = f->arc;
	uint32_t from = state_below(m), to;
	bool top = at + 1 == t->n;
	bool slow = a == NULL || (top && t->guess != NULL) ||
	    (at >= t->bottom && t->nsig > 0 && (is_new_handler(t) ||
	    f->sp == UINT64_MAX));
	struct call c = { .walk = f->arc, .ret = f->ret };

	c.slow = s == NULL || !top || f->times > 1 || a == NULL ||
	    !is_plain(t, s, f);
	if (a != NULL) {
		to = arcs_state(a->ctx, arcs_set_with(arcs_set(from),
		    a->ctx->fn, active(t, a->ctx->fn, at)), from,
		    owner_get(a->ctx, top && t->guess != NULL ? LIMBO : 0),
		    slow);
		c.target = f->times > 1 ? ARC_MANY : a->to;
		/* of a frame that is given again no call has a site */
		c.site = arc_from(a) == NULL || s == NULL || !top ||
		    f->times > 1 ? 0 : context_key(seg_last(arc_from(a)->seg),
		    s->indirect ? 0 : a->to);
		c.indirect = s != NULL && top && s->indirect;
		c.left = c.slow ? 0 : left;
		c.lands = a->ctx->fn->setjmp;
		c.within = !c.slow && s->move == MOVE_IJUMP &&
		    !sites_place(s->to)->entry;
	} else {
		to = arcs_state(roots_now(t), arcs_set(from), from, owner_get(
		    roots_now(t), t->skipper == NULL ? 0 :
		    seg_last(t->skipper->seg)), true);
	}
	put(m, slot, &(struct copy){ .f = { c.slow || s->move == MOVE_CALL ?
	    area.returned : area.ctl->more, 16ull * arcs_get(from, &c, to),
	    f->times > 1 ? 0 : p_at(t, *enter, *now), f->sp == UINT64_MAX ?
	    PLACE_NONE : f->sp }, .arc = a, .enter = *enter,
	    .times = f->times }, t, enter, now);
}

void
frames_give(unsigned slot, struct walk_thread *t, const int64_t now[COSTS],
    const struct context_step *s)
{
	struct mirror *m = &mirrors[slot];
	size_t n = 1 + t->n + t->nsig, i, sig, at;
	/* a step pushes one frame at most: so others were left first */
	uint32_t left = m->n >= n ? state_below(m) : 0;
	bool limbo = n == 1 && t->guess != NULL;

	m->used = true;
	move_counts(slot, t, m, n, *now);
	i = unchanged(t, m, n, *now);
	is_root(t, i, &sig, &at);
	count_above(t, i == 0 ? 0 : at);
	for (m->n = i; i < n; i++)
		if (i == 0)
			put_root(m, slot, t, roots_outermost(t), PLACE_NONE,
			    limbo, limbo);
		else if (is_root(t, i, &sig, &at))
			put_handler(m, slot, t, sig);
		else
			put_call(m, slot, t, at, now, s, left);
	theirs_words(slot)->top = ONCE(theirs_words(slot)->base) -
	    (n - 1) * sizeof(struct ctx_frame);
	landings_give(theirs_words(slot), t);
}

uint32_t
context_owner(unsigned slot)
{
	return arcs_owner(state_below(&mirrors[slot]));
}

uint32_t
context_called(unsigned slot)
{
	const struct mirror *m = &mirrors[slot];

	return m->n == 0 ? 0 : (uint32_t)(m->v[m->n - 1].f.arc / 16);
}

bool
frames_used(unsigned slot)
{
	return mirrors[slot].used && theirs_are(slot);
}

void
frames_end(unsigned slot)
{
	struct ctx_frame none = { area.returned, 0, 0, PLACE_NONE };

	mirrors[slot].n = 0;
	if (ONCE(theirs_words(slot)->base) == 0)
		return;
	*theirs_frame(slot, 0) = none;
	theirs_words(slot)->top = ONCE(theirs_words(slot)->base);
	landings_end(theirs_words(slot));
}

void
frames_forget(void)
{
	unsigned slot;

	for (slot = 0; slot < NSLOT; slot++) {
		if (!mirrors[slot].used || !theirs_are(slot))
			continue;
		mirrors[slot].n = 0;
		mirrors[slot].used = false;
		theirs_forget_keys(slot);
	}
}

void
context_forget_landings(void)
{
	struct ctx_frame *f;
	unsigned slot;
	size_t i, n;

	for (slot = 0; slot < NSLOT; slot++) {
		if (!theirs_are(slot) || mirrors[slot].n == 0)
			continue;
		n = frames_now(slot);
		for (i = 0; i < n; i++) {
			f = theirs_frame(slot, i);
			if (f->landing != area.ctl->more)
				f->landing = area.returned;
		}
	}
}
