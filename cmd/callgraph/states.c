/*
 * states - calling contexts that the stream tells: S, A and V lines
 *
 * A state is a function at a level of recursion in some context. Its context
 * becomes one of callwalk.h's: with --contexts each its own, else one for all
 * states with the same function and level, which are a GROUP here.
 *
 * Own costs by line are known by group (lines.c). With --contexts a group can
 * have several contexts; the own cost of each is what the calls to it cost,
 * less what the calls from it cost, and is put at the function's first address,
 * or shares the group's lines.
 *
 * All is summed up as it comes, and becomes contexts and arcs at the end.
 */
#include <stdlib.h>
#include <string.h>

#include "callgraph.h"
#include "khash.h"
#include "mem.h"
#include "objmap.h"
#include "sum.h"

KHASH_MAP_INIT_INT64(group, uint32_t)
KHASH_MAP_INIT_INT64(lines, struct walk_ctx *)

struct state {
	uint32_t same;		/* the state whose context it has */
	uint32_t up;		/* the caller's, one with a context; 0: none */
	uint32_t group;
};

struct group {
	struct func *fn;
	uint32_t level;
	uint32_t ncontexts;
	uint32_t state;		/* the first of them */
};

struct arc {
	uint32_t from, to;	/* states with a context; from 0: a beginning */
	uint32_t within;	/* whose cost calls are part of: mostly from */
	uint32_t own;		/* where it leads, see states_own */
	uint64_t site, target;	/* link-time */
	size_t sums;		/* 1 + their number; 0: none yet */
};

static struct state *state;	/* by number, from 1 */
static struct group *group;	/* from 1 */
static struct arc *arc;		/* from 1 */
static size_t nstate = 1, capstate, ngroup = 1, capgroup, narc = 1, caparc;
static khash_t(group) *groups;	/* by function and level */
static struct tally *calls;	/* by thread and arc: calls, then columns */

void
states_begin(void)
{
	groups = kh_init(group);
	calls = tally_new(1 + walk.ncol);
}

uint64_t
states_thread(void)
{
	return walk.threads ? ev_thread(walk.events) : 0;
}

/* ---- definitions ---- */

static uint32_t
group_of(struct func *fn, uint32_t level)
{
	int new;
	khint_t k = kh_put(group, groups, (uint64_t)fn->num << 2 | level, &new);

	if (new != 0) {
		group = xgrow(group, &capgroup, ngroup + 1, sizeof *group);
		group[ngroup] = (struct group){ fn, level, 0,
		    (uint32_t)nstate };
		kh_val(groups, k) = (uint32_t)ngroup++;
	}
	return kh_val(groups, k);
}

/* S id up level address, S id same */
static void
define_state(const struct ev *e)
{
	struct func_place at;
	struct state s;

	state = xgrow(state, &capstate, nstate + 1, sizeof *state);
	if (e->nnum == 2) {
		state[nstate++] = state[e->num[1]];
		return;
	}
	func_place(e->num[3], &at);
	s.same = (uint32_t)nstate;
	s.up = e->num[1] == 0 ? 0 : state[e->num[1]].same;
	s.group = group_of(at.fn, (uint32_t)e->num[2]);
	group[s.group].ncontexts++;
	state[nstate++] = s;
}

uint64_t
states_link(uint64_t addr)
{
	uint64_t link = addr;

	objmap_find(walk.map, addr, &link);
	return link;
}

/* A id from site target to [within] */
static void
define_arc(const struct ev *e)
{
	struct arc a = { .to = state[e->num[4]].same,
	    .site = states_link(e->num[2]), .target = states_link(e->num[3]) };

	a.own = walk.contexts ? a.to : group[state[a.to].group].state;
	if (e->num[1] != 0)
		a.from = a.within = state[e->num[1]].same;
	if (e->nnum == 6)
		a.within = state[e->num[5]].same;
	arc = xgrow(arc, &caparc, narc + 1, sizeof *arc);
	arc[narc++] = a;
}

/* V arc calls ir [dr dw] */
static void
add_calls(const struct ev *e)
{
	int64_t *n = tally_at(calls, states_thread(), e->num[0]);
	unsigned columns = walk.data_refs ? 3 : 1;

	for (unsigned i = 0; i <= columns; i++)
		sum_add(&n[i], (int64_t)e->num[1 + i]);
}

void
states_line(int letter, const struct ev *e)
{
	if (letter == 'S')
		define_state(e);
	else if (letter == 'A')
		define_arc(e);
	else if (letter == 'V')
		add_calls(e);
}

int64_t *
states_outcomes(uint32_t a)
{
	if (arc[a].sums == 0)
		arc[a].sums = tally_number(calls, 0, a) + 1;
	return tally_numbered(calls, arc[a].sums - 1) + 1 + walk.firsttold;
}

bool
states_is_begin(uint32_t a)
{
	return arc[a].from == 0;
}

uint32_t
states_own(uint32_t a)
{
	return arc[a].own;
}

uint32_t
states_group(uint32_t s)
{
	return state[s].group;
}

struct func *
states_function(uint32_t g)
{
	return group[g].fn;
}

uint32_t
states_first(uint32_t g)
{
	return group[g].state;
}

static bool
has_lines(uint32_t g)
{
	return !walk.contexts || group[g].ncontexts == 1;
}

/* ---- contexts ---- */

static struct walk_ctx **ctx;	/* by state, of the thread */
static khash_t(lines) *shared;	/* by thread and group; with opt.share */
static const struct tally_entry *next_call, *last_call;	/* being made */
static uint32_t thread;

/* Callers first; a damaged stream can have a million of them. */
struct walk_ctx *
states_ctx(uint32_t s)
{
	static uint32_t *chain;
	static size_t cap;
	size_t n = 0;

	for (; s != 0 && ctx[s] == NULL; s = state[s].up) {
		chain = xgrow(chain, &cap, n + 1, sizeof *chain);
		chain[n++] = s;
	}
	while (n > 0) {
		const struct state *t = &state[s = chain[--n]];
		const struct group *g = &group[t->group];

		ctx[s] = ctx_get(t->up == 0 ? NULL : ctx[t->up], 0, g->fn,
		    g->level, thread);
	}
	return ctx[s];
}

/* The context, which no other one calls, with the lines of a group's. */
static struct walk_ctx *
shared_lines(uint32_t g)
{
	khint_t k;
	int new;

	if (shared == NULL)
		shared = kh_init(lines);
	k = kh_put(lines, shared, (uint64_t)thread << 32 | g, &new);
	if (new != 0)
		kh_val(shared, k) = xkeep(sizeof(struct walk_ctx));
	return kh_val(shared, k);
}

struct walk_ctx *
states_lines(uint32_t g)
{
	if (has_lines(g))
		return states_ctx(group[g].state);
	return opt.share ? shared_lines(g) : NULL;
}

/* Contexts are numbered as they were told, as by whoever follows executions. */
static void
make_contexts(const struct tally_entry *e, const struct tally_entry *end)
{
	static bool *used;
	static size_t cap;

	used = xgrow0(used, &cap, nstate, sizeof *used);
	memset(used, 0, nstate * sizeof *used);
	for (; e < end; e++) {
		used[arc[e->b].from] = true;
		used[arc[e->b].to] = true;
	}
	for (uint32_t s = 1; s < nstate; s++)
		if (used[s])
			states_ctx(s);
}

/* The own costs of a state grow by n, or shrink. */
static void
add_own(uint32_t s, const int64_t *n, int64_t sign)
{
	struct walk_ctx *c = states_ctx(s);

	if (c->costs == NULL)
		c->costs = xkeep(walk.ncol * sizeof *c->costs);
	if (opt.share && c->lines == NULL)
		c->lines = shared_lines(state[s].group);
	for (unsigned i = 0; i < walk.firsttold; i++)
		sum_add(&c->costs[i], sign * n[i]);
}

static void
make_arc(const struct arc *a, const int64_t *n)
{
	struct walk_arc *made;

	if (!has_lines(state[a->to].group))
		add_own(a->to, n + 1, 1);
	if (a->from == 0)
		return;
	if (!has_lines(state[a->within].group))
		add_own(a->within, n + 1, -1);
	made = arc_new(states_ctx(a->from), a->site, states_ctx(a->to),
	    a->target);
	made->calls = (uint64_t)n[0];
	memcpy(made->cost, n + 1, walk.ncol * sizeof *made->cost);
}

void
states_make(uint32_t t)
{
	const struct tally_entry *e;

	if (ctx == NULL) {
		last_call = tally_sort(calls, &next_call);
		ctx = xcalloc(nstate, sizeof *ctx);
	}
	memset(ctx, 0, nstate * sizeof *ctx);
	thread = t;
	for (e = next_call; e < last_call && e->a == t; e++)
		continue;
	make_contexts(next_call, e);
	for (; next_call < e; next_call++)
		make_arc(&arc[next_call->b], tally_sums(calls, next_call));
}

void
states_clear(void)
{
	tally_clear(calls);
	for (size_t i = 1; i < narc; i++)
		arc[i].sums = 0;
	free(ctx);
	ctx = NULL;
}

bool
states_idle(void)
{
	return !thread_get(ev_thread(walk.events))->collect;
}
