/*
 * arcs - states and arcs as the guest has them
 *
 * A STATE is a context of lib/walk together with the set of functions that are
 * active, each once, or twice and more: two stacks with the same context may
 * differ in that, after a recursion was folded.  It decides at which level a
 * function is called.  A state in which each move is trace's, in a handler for
 * instance, is another one.
 *
 * The arcs and states that the guest reads are written here alone.
 */
#include <htslib/khash.h>

#include "context/context.h"
#include "context/parts.h"
#include "util.h"

struct state_key {
	const struct walk_ctx *ctx;
	uint64_t set;
	uint32_t owner;		/* also where a stub's call is */
	bool slow;
};
struct arc_key {
	uint64_t target;
	const struct walk_arc *arc;	/* NULL: a root, or a stub's */
	uint32_t from, site, to;
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

static inline int
state_equal(struct state_key a, struct state_key b)
{
	return a.ctx == b.ctx && a.set == b.set && a.owner == b.owner &&
	    a.slow == b.slow;
}

static inline khint_t
arc_hash(struct arc_key k)
{
	return (khint_t)mix(k.target ^ mix((uintptr_t)k.arc ^
	    (uint64_t)k.from << 40 ^ (uint64_t)k.to << 20 ^ k.site));
}

static inline int
arc_equal(struct arc_key a, struct arc_key b)
{
	return a.target == b.target && a.arc == b.arc && a.from == b.from &&
	    a.site == b.site && a.to == b.to;
}

KHASH_INIT(state, struct state_key, uint32_t, 1, state_hash, state_equal)
KHASH_INIT(arc, struct arc_key, uint32_t, 1, arc_hash, arc_equal)

struct state {
	const struct walk_ctx *ctx;
	uint64_t set;
};
struct arc {
	struct walk_arc *walk;	/* NULL: a root, or a stub's */
	const struct walk_ctx *root;	/* or NULL */
	uint32_t from;
	uint32_t linked;	/* another arc with the same code, or 0 */
};

static khash_t(state) *states;
static khash_t(arc) *arcs;
static struct state *state;	/* by number */
static struct arc *arc;
static size_t nstate = 1, capstate, narc = 1, caparc;

/* A new image, or all numbers are used up: none of the guest's. */
void
arcs_forget(void)
{
	if (states == NULL) {
		states = kh_init(state);
		arcs = kh_init(arc);
	}
	kh_clear(state, states);
	kh_clear(arc, arcs);
	nstate = narc = 1;
}

/* With --debug=fewcounts there are few, for tests. */
bool
context_is_full(void)
{
	size_t most = opt->debug & DEBUG_FEWCOUNTS ? 300 :
	    ARCS_MOST - (1u << 16);

	return narc > most || nstate > most;
}

uint64_t
arcs_set_with(uint64_t set, const struct func *fn, uint32_t depth)
{
	return depth > 2 ? set : set + mix((uint64_t)fn->num * 2 + depth);
}

uint32_t
arcs_state(const struct walk_ctx *ctx, uint64_t set, uint32_t owner, bool slow)
{
	struct state_key key = { ctx, set, owner, slow };
	struct ctx_state *s;
	khint_t k;
	int made;

	k = kh_put(state, states, key, &made);
	if (made < 0 || nstate >= STATES_MOST)
		die("--contexts: too many states of calls");
	if (made == 0)
		return kh_val(states, k);
	state = xgrow(state, &capstate, nstate + 1, sizeof *state);
	state[nstate] = (struct state){ ctx, set };
	s = &area.states[nstate];
	s->key = mix(nstate);
	s->owner = owner;
	s->first = 0;
	s->slow = slow;
	return kh_val(states, k) = (uint32_t)nstate++;
}

uint64_t
arcs_set(uint32_t s)
{
	return state[s].set;
}

uint32_t
arcs_get(uint32_t from, const struct call *c, uint32_t to)
{
	struct arc_key key = { c->target, c->walk, from, c->site, to };
	struct ctx_arc *a;
	khint_t k;
	int made;

	k = kh_put(arc, arcs, key, &made);
	if (made < 0 || narc >= ARCS_MOST)
		die("--contexts: too many different calls");
	if (made == 0)
		return kh_val(arcs, k);
	arc = xgrow(arc, &caparc, narc + 1, sizeof *arc);
	arc[narc] = (struct arc){ c->walk, c->root, from, 0 };
	a = &area.arcs[narc];
	a->nkey = -(area.states[from].key + c->site +
	    (c->indirect ? c->target : 0));
	a->state = area.states[to].key;
	a->code = area.called;
	a->target = c->target;
	a->ret = c->ret;
	a->site = c->site;
	a->to = to;
	a->slow = c->slow;
	a->next = area.states[from].first;
	__atomic_store_n(&area.states[from].first, (uint32_t)narc,
	    __ATOMIC_RELEASE);
	return kh_val(arcs, k) = (uint32_t)narc++;
}

bool
arcs_is(uint64_t n)
{
	return n > 0 && n < narc;
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

uint32_t
arcs_from(uint32_t n)
{
	return arc[n].from;
}

const struct walk_ctx *
arcs_ctx(uint32_t n)
{
	return state[area.arcs[n].to].ctx;
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
	    area.states[a->to].owner == owner;
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

/* -------------------------------------------------------------------- sites */

struct site_key {
	app_pc pc, target;
};

static inline khint_t
site_hash(struct site_key k)
{
	return (khint_t)mix(k.pc ^ mix(k.target));
}

#define same_site(a, b) ((a).pc == (b).pc && (a).target == (b).target)
KHASH_INIT(site, struct site_key, uint32_t, 1, site_hash, same_site)

static khash_t(site) *sites;

uint32_t
context_key(app_pc pc, app_pc target)
{
	struct site_key key = { pc, target };
	uint32_t key_of;
	khint_t k;
	int made;

	context_lock();
	if (sites == NULL)
		sites = kh_init(site);
	k = kh_put(site, sites, key, &made);
	if (made < 0)
		die("sites of calls:");
	if (made != 0)
		kh_val(sites, k) = kh_size(sites) * 0x1e3779b1u & 0x7fffffff;
	key_of = kh_val(sites, k);
	context_unlock();
	return key_of;
}
