/*
 * ctx - calling contexts and their counts: segments, calls, jumps
 *
 * Each context has costs of its own. A context is a function, its level of
 * recursion (the last level stands for all deeper ones) and, on demand, a
 * number of its callers. With --contexts it is a function with all of its
 * callers, so contexts form a tree. There, a call beyond the last level goes
 * back to the context above that has the same function and level, so the tree
 * is at most as deep as there are functions and levels. Once there are
 * --contexts=MAX contexts, a new one is the function without callers.
 *
 * Invariant: a context depends only on the calling context, the function and
 * its level. An arc belongs to a slot and a slot to a context, so the arc's
 * target and level determine the callee's context.
 */
#include "repeat.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "khash.h"
#include "mem.h"
#include "outcome.h"

static inline khint_t
ctx_hash(const struct walk_ctx *c)
{
	uint64_t h = (uint64_t)(uintptr_t)c->up;

	h = (h ^ c->fn->num ^ c->site << 20) * HASH_MULTIPLIER;
	h = (h ^ h >> 32 ^ (uint64_t)c->level << 32 ^ c->thread) *
	    HASH_MULTIPLIER;
	return (khint_t)(h >> 32);
}

static inline bool
ctx_equal(const struct walk_ctx *a, const struct walk_ctx *b)
{
	return a->up == b->up && a->site == b->site && a->fn == b->fn &&
	    a->level == b->level && a->thread == b->thread;
}

KHASH_INIT(ctx, struct walk_ctx *, char, 0, ctx_hash, ctx_equal)

static inline khint_t
slot_hash(const struct walk_slot *s)
{
	uint64_t h = (uint64_t)(uintptr_t)s->seg * HASH_MULTIPLIER;

	h = (h ^ (uint64_t)(uintptr_t)s->ctx) * HASH_MULTIPLIER;
	return (khint_t)(h >> 32);
}

static inline bool
slot_equal(const struct walk_slot *a, const struct walk_slot *b)
{
	return a->ctx == b->ctx && a->seg == b->seg;
}

KHASH_INIT(slot, struct walk_slot *, char, 0, slot_hash, slot_equal)

static inline khint_t
arc_hash(const struct walk_arc *a)
{
	uint64_t h = (uint64_t)(uintptr_t)a->slot ^ a->to << 7 ^
	    (uint64_t)(uintptr_t)a->ctx->fn << 20 ^ a->level;

	return (khint_t)(h * HASH_MULTIPLIER >> 32);
}

static inline bool
arc_equal(const struct walk_arc *a, const struct walk_arc *b)
{
	return a->slot == b->slot && a->to == b->to && a->level == b->level &&
	    a->ctx->fn == b->ctx->fn;
}

KHASH_INIT(arc, struct walk_arc *, char, 0, arc_hash, arc_equal)

struct walk_ctx *contexts;
static struct walk_ctx **lastctx = &contexts;
static uint32_t nctx, nthread;
static uint64_t folded;
static khash_t(ctx) *ctxs, *chains;
static khash_t(slot) *slots;
static khash_t(arc) *arcs;

uint32_t
ctx_threads(void)
{
	return nthread;
}

uint64_t
ctx_folded(void)
{
	return folded;
}

/* ---- contexts ---- */

/* Find it in the table, or make it; *made says which. */
static struct walk_ctx *
lookup(khash_t(ctx) **table, struct walk_ctx *key, int *made)
{
	struct walk_ctx *c;
	khint_t k;

	if (*table == NULL)
		*table = kh_init(ctx);
	k = kh_put(ctx, *table, key, made);
	if (*made == 0)
		return kh_key(*table, k);
	c = xkeep(sizeof *c);
	*c = *key;
	kh_key(*table, k) = c;
	return c;
}

/*
 * The callers of fn as a chain: from the innermost, `up' leads outwards.
 * Equal chains are one chain, so pointers can be compared. A chain is as long
 * as the longest that any function needs, since callees extend it. A function
 * that calls itself is in it once.
 */
static const struct walk_ctx *
callers(const struct walk_ctx *from, const struct func *fn)
{
	struct func *v[CALLERS_MAX];
	const struct walk_ctx *c = NULL;
	uint32_t k = 0;
	int made;

	if (from == NULL || walk.callers == 0)
		return NULL;
	if (from->fn == fn)
		return from->up;
	v[k++] = from->fn;
	for (from = from->up; from != NULL && k < walk.callers; from = from->up)
		v[k++] = from->fn;
	while (k-- > 0)
		c = lookup(&chains,
		    &(struct walk_ctx){ .up = c, .fn = v[k] }, &made);
	return c;
}

/* Find the context above with this function and level, or NULL. */
static const struct walk_ctx *
back(const struct walk_ctx *from, const struct func *fn, uint32_t level)
{
	for (; from != NULL; from = from->up)
		if (from->fn == fn && from->level == level)
			return from;
	return NULL;
}

struct walk_ctx *
ctx_get(const struct walk_ctx *from, uint64_t site, struct func *fn,
    uint32_t depth, uint32_t thread)
{
	uint32_t level = depth < fn->recs ? depth : fn->recs;
	struct walk_ctx key = { .fn = fn, .level = level, .thread = thread };
	const struct walk_ctx *up;
	struct walk_ctx *c;
	int made;

	if (walk.contexts) {
		up = depth > fn->recs ? back(from, fn, level) : NULL;
		if (up != NULL)
			return (struct walk_ctx *)up;
		key.up = from;
		key.site = walk.sites ? site : 0;
		if (nctx >= walk.maxcontexts &&
		    kh_get(ctx, ctxs, &key) == kh_end(ctxs)) {
			folded++;
			key.up = NULL;
			key.site = 0;
		}
	} else {
		key.up = callers(from, fn);
	}
	c = lookup(&ctxs, &key, &made);
	if (made) {
		c->num = ++nctx;
		if (thread >= nthread)
			nthread = thread + 1;
		*lastctx = c;
		lastctx = &c->next;
	}
	return c;
}

const char *
ctx_name(const struct walk_ctx *c)
{
	static char *buf;
	static size_t cap;
	const struct walk_ctx *up = walk.contexts ? NULL : c->up;
	size_t n = strlen(c->fn->name) + 16, len;

	buf = xgrow(buf, &cap, n, 1);
	n = (size_t)sprintf(buf, c->level > 1 ? "%s'%u" : "%s", c->fn->name,
	    c->level);
	for (uint32_t k = 0; up != NULL && k < c->fn->callers; k++) {
		len = strlen(up->fn->name);
		buf = xgrow(buf, &cap, n + len + 2, 1);
		buf[n] = '\'';
		memcpy(buf + n + 1, up->fn->name, len + 1);
		n += len + 1;
		up = up->up;
	}
	return buf;
}

/* ---- segments ---- */

static khint_t
slot_put(struct walk_slot *key, int *made)
{
	khint_t k;

	if (slots == NULL)
		slots = kh_init(slot);
	k = kh_put(slot, slots, key, made);
	return k;
}

/* Only the slots of segments that have several are in the table. */
struct walk_slot *
slot_get(struct walk_ctx *c, struct walk_seg *s)
{
	struct walk_slot key = { .ctx = c, .seg = s }, *sl;
	khint_t k = 0;
	int made;

	if (s->slot != NULL && s->slot->ctx == c)
		return s->slot;
	if (s->slot != NULL && s->slot->ctx != NULL) {
		if (!s->several)
			slot_put(s->slot, &made);
		s->several = true;
		k = slot_put(&key, &made);
		if (made == 0) {
			s->slot = kh_key(slots, k);
			return s->slot;
		}
	}
	sl = xkeep(sizeof *sl);
	sl->ctx = c;
	sl->seg = s;
	sl->next = c->slots;
	c->slots = s->slot = sl;
	if (s->several)
		kh_key(slots, k) = sl;
	return sl;
}

struct slot_rare *
slot_more(struct walk_slot *sl)
{
	struct slot_rare *m = slot_rare(sl);

	if (m == NULL) {
		m = xkeep(sizeof *m);
		m->arcs = sl->arcs;
		sl->rare = (uintptr_t)m + 1;
	}
	return m;
}

int64_t *
slot_skipped(struct walk_slot *sl)
{
	struct slot_rare *m = slot_more(sl);

	if (m->skipped == NULL)
		m->skipped = xkeep(walk.ncol * sizeof *m->skipped);
	return m->skipped;
}

/* ---- calls ---- */

/* Make one that is the first in a list. */
static struct walk_arc *
arc_make(struct walk_arc **list, struct walk_ctx *callee, uint64_t tolink)
{
	struct walk_arc *a = xkeep(sizeof *a + walk.ncol * sizeof *a->cost);

	a->ctx = callee;
	a->tolink = tolink;
	a->next = *list;
	*list = a;
	return a;
}

struct walk_arc *
arc_new(struct walk_ctx *caller, uint64_t site, struct walk_ctx *callee,
    uint64_t tolink)
{
	struct walk_arc *a = arc_make(&caller->arcs, callee, tolink);

	a->place = xkeep(sizeof *a->place);
	*a->place = (struct walk_place){ caller, site };
	return a;
}

#define NEAR 8u		/* so many of a slot's arcs are looked through */

/*
 * One of the latest arcs of a slot, which becomes the first; or NULL. *all: the
 * slot has no others.
 */
static inline struct walk_arc *
arc_near(struct walk_slot *from, uint64_t to, const struct func *fn,
    uint32_t level, bool *all)
{
	struct walk_arc *a, **first = slot_arcs(from), **p = first;

	for (unsigned n = 0; n < NEAR && (a = *p) != NULL; n++, p = &a->next)
		if (a->to == to && a->level == level && a->ctx->fn == fn) {
			*p = a->next;
			a->next = *first;
			*first = a;
			return a;
		}
	*all = *p == NULL;
	return NULL;
}

static khint_t
arc_put(struct walk_arc *key, int *made)
{
	khint_t k;

	if (arcs == NULL)
		arcs = kh_init(arc);
	k = kh_put(arc, arcs, key, made);
	return k;
}

/*
 * One that is not near: find it, or make it; its target has this slide. The
 * table has the arcs of slots with more than NEAR. all: the slot has no others
 * than those near.
 */
static __attribute__((noinline)) struct walk_arc *
arc_far(struct walk_slot *from, uint64_t to, struct func *fn, uint32_t level,
    bool all, uint64_t slide, uint32_t thread)
{
	struct walk_ctx callee = { .fn = fn };
	struct walk_arc key = { .slot = from, .ctx = &callee, .to = to,
	    .level = level };
	struct walk_arc *a;
	unsigned n = 0;
	khint_t k = 0;
	int made;

	for (a = *slot_arcs(from); all && a != NULL; a = a->next)
		n++;
	if (n == NEAR)
		for (a = *slot_arcs(from); a != NULL; a = a->next)
			arc_put(a, &made);
	if (!all || n == NEAR) {
		k = arc_put(&key, &made);
		if (made == 0)
			return kh_key(arcs, k);
	}
	a = arc_make(slot_arcs(from), ctx_get(from->ctx,
	    seg_last(from->seg), fn, level, thread), to - slide);
	a->slot = from;
	a->to = to;
	a->level = level;
	if (!all || n == NEAR)
		kh_key(arcs, k) = a;
	return a;
}

struct walk_arc *
arc_get(struct walk_slot *from, const struct walk_seg *to, uint32_t level,
    uint32_t thread)
{
	struct func *fn = seg_fn(to);
	bool all;
	struct walk_arc *a = arc_near(from, to->addr, fn, level, &all);

	return a != NULL ? a : arc_far(from, to->addr, fn, level, all,
	    to->at->slide, thread);
}

struct walk_arc *
arc_like(struct walk_slot *from, const struct walk_arc *like, uint32_t level)
{
	struct func *fn = like->ctx->fn;
	bool all;
	struct walk_arc *a = arc_near(from, like->to, fn, level, &all);

	return a != NULL ? a : arc_far(from, like->to, fn, level, all,
	    like->to - like->tolink, like->ctx->thread);
}

/* ---- jumps ---- */

void
jump_count(struct walk_slot *from, const struct walk_seg *to,
    struct walk_ctx *c, uint64_t n)
{
	struct slot_rare *m = slot_more(from);
	struct walk_jump *j, **p;

	for (p = &m->jumps; (j = *p) != NULL; p = &j->next)
		if (j->to == to->addr && j->ctx == c) {
			*p = j->next;
			break;
		}
	if (j == NULL) {
		j = xkeep(sizeof *j);
		*j = (struct walk_jump){ .slot = from, .to = to->addr, .ctx = c,
		    .seg = to, .more = from->ctx->jumps };
		from->ctx->jumps = j;
	}
	j->next = m->jumps;
	m->jumps = j;
	repeat_counts(&j->n, 1);
	j->n += n;
}

/* ---- limbo ---- */

struct walk_ctx *
ctx_limbo(void)
{
	return xkeep(sizeof(struct walk_ctx));
}

static void
add_all(int64_t **to, int64_t **from, size_t n)
{
	if (*from == NULL)
		return;
	if (*to == NULL) {
		*to = *from;
		*from = NULL;
		return;
	}
	for (size_t i = 0; i < n; i++)
		(*to)[i] += (*from)[i];
	memset(*from, 0, n * sizeof **from);
}

static void
move_more(struct walk_slot *from, struct walk_slot *to, struct walk_ctx *limbo)
{
	struct slot_rare *m = slot_rare(from), *into = slot_more(to);
	size_t n = (size_t)to->seg->end - to->seg->first;

	if (m->extra != NULL)
		add_all(&into->extra, &m->extra, seg_nref(to->seg) + n);
	if (m->told != NULL && into->told == NULL)
		into->told = xcalloc(n, sizeof *into->told);
	for (size_t i = 0; m->told != NULL && i < n; i++)
		add_all(&into->told[i], &m->told[i],
		    outcome_columns(walk.told));
	for (struct walk_jump *j = m->jumps; j != NULL; j = j->next) {
		if (j->n > 0)
			jump_count(to, j->seg, j->ctx == limbo ? to->ctx :
			    j->ctx, j->n);
		j->n = 0;
	}
}

void
ctx_move(struct walk_ctx *limbo, struct walk_ctx *to)
{
	struct walk_slot *sl, *dest;

	for (sl = limbo->slots; sl != NULL; sl = sl->next) {
		if (sl->n == 0 && slot_rare(sl) == NULL)
			continue;
		dest = slot_get(to, (struct walk_seg *)sl->seg);
		dest->n += sl->n;
		sl->n = 0;
		if (slot_rare(sl) != NULL)
			move_more(sl, dest, limbo);
	}
}
