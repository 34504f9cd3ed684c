/*
 * stacks - from costs with calls to stacks
 *
 * Functions and calls are a graph. A walk in depth from those that nobody
 * calls finds the calls that lead back to a function that is active: these are
 * recursion, and give no stacks of their own. What is left has no cycles, and
 * each way through it from the beginning is a stack.
 *
 * Where every function has one caller there are as many stacks as functions.
 * Elsewhere their number can be beyond all bounds, so those that are not worth
 * half a count, of all that is called from there, are left out, and what they
 * would have got goes to the last one that the function had.
 */
#include "stacks.h"

#include <stdlib.h>
#include <string.h>

#include "khash.h"
#include "mem.h"
#include "prog.h"
#include "sum.h"

#define MOST	((size_t)4 << 20)	/* visits by way of shared functions */

/* The calls of one node by another; where sites count, those at one site. */
struct stacks_arc {
	uint32_t from, to;
	uint32_t nextin, nextout;	/* of to, of from; or STACKS_NONE */
	uint32_t file;
	struct cost_pos site;
	int64_t calls;
	int64_t cost;		/* inclusive, of the event to share by */
	int64_t most;		/* of its calls the costliest one's */
	bool isback;
	double share;		/* of what its callee costs */
};

KHASH_MAP_INIT_INT(node, uint32_t)
KHASH_MAP_INIT_INT64(arc, uint32_t)

struct stacks_graph {
	struct costr *costr;
	khash_t(node) *nodes;	/* by costfn */
	khash_t(arc) *arcs;	/* by the two nodes */
	struct stacks_arc *arc;
	size_t narc, caparc, capnode, caprow, capcount, capvisit;
	uint32_t *out;		/* by node: its first arc */
	uint32_t *lastrow;	/* by node */
	size_t capout, caplast;
	size_t by;		/* event */
	bool sites;
	size_t column[COST_EVMAX];
};

/* ---- reading ---- */

static uint32_t
node_of(struct stacks *s, uint32_t fn)
{
	struct stacks_graph *g = s->graph;
	int new;
	khint_t k = kh_put(node, g->nodes, fn, &new);

	if (new == 0)
		return kh_val(g->nodes, k);
	s->node = xgrow(s->node, &g->capnode, s->nnode + 1, sizeof *s->node);
	g->out = xgrow(g->out, &g->capout, s->nnode + 1, sizeof *g->out);
	g->lastrow = xgrow(g->lastrow, &g->caplast, s->nnode + 1,
	    sizeof *g->lastrow);
	s->node[s->nnode] = (struct stacks_node){ .fn = fn,
	    .row = STACKS_NONE, .in = STACKS_NONE, .last = STACKS_NONE };
	g->out[s->nnode] = g->lastrow[s->nnode] = STACKS_NONE;
	return kh_val(g->nodes, k) = (uint32_t)s->nnode++;
}

static void
add_self(struct stacks *s, const struct cost *c)
{
	struct stacks_graph *g = s->graph;
	uint32_t node = node_of(s, c->fn), row = (uint32_t)s->nrow;
	size_t nev = s->head.nev, i;

	s->row = xgrow(s->row, &g->caprow, s->nrow + 1, sizeof *s->row);
	s->count = xgrow(s->count, &g->capcount, (s->nrow + 1) * nev,
	    sizeof *s->count);
	s->row[row] = (struct stacks_row){ c->pos, c->file, STACKS_NONE };
	memset(s->count + row * nev, 0, nev * sizeof *s->count);
	for (i = 0; i < g->costr->head.nev; i++)
		s->count[row * nev + g->column[i]] = c->n[i];
	if (g->lastrow[node] == STACKS_NONE)
		s->node[node].row = row;
	else
		s->row[g->lastrow[node]].next = row;
	g->lastrow[node] = row;
	s->nrow++;
}

static bool
same_site(const struct stacks_arc *a, const struct cost *c)
{
	return a->site.addr == c->pos.addr && a->site.line == c->pos.line &&
	    a->file == c->file;
}

/* The arc for a call, among those of the same two nodes. */
static struct stacks_arc *
arc_for(struct stacks *s, uint32_t from, uint32_t to, const struct cost *c)
{
	struct stacks_graph *g = s->graph;
	int new;
	khint_t k = kh_put(arc, g->arcs, (uint64_t)from << 32 | to, &new);
	uint32_t i;

	/* arcs of the same nodes are neighbours in the list of from */
	for (i = new ? STACKS_NONE : kh_val(g->arcs, k); i != STACKS_NONE &&
	    g->arc[i].to == to; i = g->arc[i].nextout)
		if (!g->sites || same_site(&g->arc[i], c))
			return &g->arc[i];
	g->arc = xgrow(g->arc, &g->caparc, g->narc + 1, sizeof *g->arc);
	i = (uint32_t)g->narc++;
	g->arc[i] = (struct stacks_arc){ .from = from, .to = to, .site = c->pos,
	    .file = c->file, .most = -1, .nextin = s->node[to].in };
	s->node[to].in = i;
	s->node[to].nin++;
	if (new) {
		g->arc[i].nextout = g->out[from];
		g->out[from] = i;
		kh_val(g->arcs, k) = i;
	} else {
		g->arc[i].nextout = g->arc[kh_val(g->arcs, k)].nextout;
		g->arc[kh_val(g->arcs, k)].nextout = i;
	}
	return &g->arc[i];
}

static void
add_call(struct stacks *s, const struct cost *c)
{
	struct stacks_graph *g = s->graph;
	uint32_t from = node_of(s, c->fn), to = node_of(s, c->callee);
	struct stacks_arc *a = arc_for(s, from, to, c);
	int64_t cost = 0;
	size_t i;

	for (i = 0; i < g->costr->head.nev; i++)
		if (g->column[i] == g->by)
			cost = c->n[i];
	sum_add(&a->calls, c->count[0]);
	sum_add(&a->cost, cost);
	if (cost > a->most) {
		a->most = cost;
		a->site = c->pos;
		a->file = c->file;
	}
}

static void
begin_part(struct stacks *s, const char *by)
{
	struct costr *r = s->graph->costr;
	size_t i;
	int c;

	if (s->head.nev == 0) {
		s->head = r->head;
		r->head.desc = NULL;
		r->head.ndesc = 0;
		c = by == NULL ? 0 : costhead_find(&s->head, by);
		if (c < 0)
			die("%s: no event %s", r->name, by);
		s->graph->by = (size_t)c;
	}
	for (i = 0; i < r->head.nev; i++) {
		c = costhead_find(&s->head, r->head.ev[i].name);
		if (c < 0)
			costr_die(r, "event %s is in a later part only",
			    r->head.ev[i].name);
		s->graph->column[i] = (size_t)c;
	}
}

/* ---- the graph ---- */

/* Depth first from a node; arcs to nodes on the way are back arcs. */
static void
mark_back(struct stacks *s, uint32_t root, char *state)
{
	static struct { uint32_t node, arc; } *way;
	static size_t cap;
	struct stacks_graph *g = s->graph;
	size_t n = 0;
	uint32_t a, to;

	way = xgrow(way, &cap, 1, sizeof *way);
	way[n].node = root;
	way[n++].arc = g->out[root];
	state[root] = 1;
	while (n > 0) {
		a = way[n - 1].arc;
		if (a == STACKS_NONE) {
			state[way[--n].node] = 2;
			continue;
		}
		way[n - 1].arc = g->arc[a].nextout;
		to = g->arc[a].to;
		g->arc[a].isback = state[to] == 1;
		if (state[to] != 0)
			continue;
		state[to] = 1;
		way = xgrow(way, &cap, n + 1, sizeof *way);
		way[n].node = to;
		way[n++].arc = g->out[to];
	}
}

/* Of what a node costs, how much is each caller's? */
static void
share(struct stacks *s, uint32_t node)
{
	struct stacks_graph *g = s->graph;
	int64_t cost = 0, calls = 0;
	uint32_t i, n = 0;

	for (i = s->node[node].in; i != STACKS_NONE; i = g->arc[i].nextin)
		if (!g->arc[i].isback) {
			sum_add(&cost, g->arc[i].cost);
			sum_add(&calls, g->arc[i].calls);
			n++;
		}
	s->node[node].nin = n;
	s->nshared += n > 1;
	for (i = s->node[node].in; i != STACKS_NONE; i = g->arc[i].nextin)
		g->arc[i].share = n == 1 ? 1 :
		    cost > 0 ? (double)g->arc[i].cost / (double)cost :
		    calls > 0 ? (double)g->arc[i].calls / (double)calls :
		    1.0 / n;
}

static void
settle(struct stacks *s)
{
	char *state = xcalloc(s->nnode + 1, 1);
	uint32_t i;

	for (i = 0; i < s->nnode; i++)
		if (s->node[i].in == STACKS_NONE)
			mark_back(s, i, state);
	for (i = 0; i < s->nnode; i++)
		if (state[i] == 0)
			mark_back(s, i, state);
	for (i = 0; i < s->nnode; i++)
		share(s, i);
	free(state);
}

/* ---- visits ---- */

static void
visit(struct stacks *s, uint32_t node, uint32_t up, const struct stacks_arc *a,
    double part)
{
	struct stacks_graph *g = s->graph;
	struct stacks_node *n = &s->node[node];
	struct stacks_visit *v;

	s->visit = xgrow(s->visit, &g->capvisit, s->nvisit + 1,
	    sizeof *s->visit);
	v = &s->visit[s->nvisit];
	*v = (struct stacks_visit){ .node = node, .up = up, .from = n->seen };
	n->seen += part;
	v->to = n->seen;
	if (a != NULL) {
		v->site = a->site;
		v->file = a->file;
	}
	n->last = (uint32_t)s->nvisit++;
}

/* All that is called from a visit, and from what is called there. */
static void
descend(struct stacks *s, uint32_t from)
{
	struct stacks_graph *g = s->graph;
	size_t i = from;
	double part, here;
	uint32_t a;

	/* the visits from here on are the queue of those to go on from */
	for (; i < s->nvisit; i++) {
		here = s->visit[i].to - s->visit[i].from;
		for (a = g->out[s->visit[i].node]; a != STACKS_NONE;
		    a = g->arc[a].nextout) {
			part = here * g->arc[a].share;
			if (g->arc[a].isback || (part < 1 &&
			    (s->nvisit >= MOST ||
			    here * (double)g->arc[a].cost < 0.5)))
				continue;
			visit(s, g->arc[a].to, (uint32_t)i, &g->arc[a], part);
		}
	}
}

static void
visit_all(struct stacks *s)
{
	uint32_t i;

	for (i = 0; i < s->nnode; i++)
		if (s->node[i].nin == 0) {
			visit(s, i, STACKS_NONE, NULL, 1);
			descend(s, (uint32_t)s->nvisit - 1);
		}
	for (i = 0; i < s->nnode; i++) {
		if (s->node[i].last == STACKS_NONE)
			visit(s, i, STACKS_NONE, NULL, 1);
		s->visit[s->node[i].last].to = 1;
	}
}

/* ---- */

struct stacks *
stacks_read(struct costr *r, const char *by, bool sites)
{
	struct stacks *s = xcalloc(1, sizeof *s);
	struct cost c;

	costr_partial(r);
	r->by_id = true;
	s->names = r->nm;
	s->graph = xcalloc(1, sizeof *s->graph);
	s->graph->costr = r;
	s->graph->nodes = kh_init(node);
	s->graph->arcs = kh_init(arc);
	s->graph->sites = sites;
	while (costr_next(r, &c) != COST_END)
		if (c.kind == COST_PART)
			begin_part(s, by);
		else if (c.kind == COST_SELF)
			add_self(s, &c);
		else if (c.kind == COST_CALL)
			add_call(s, &c);
	if (s->head.nev == 0)
		die("%s: no costs", r->name);
	settle(s);
	visit_all(s);
	if (s->nshared > 0)
		warn("%s: %zu functions have several %s: their stacks are "
		    "estimates; see callgraph's %s", r->name, s->nshared,
		    sites ? "places of call" : "callers",
		    sites ? "--separate-sites" : "--contexts");
	return s;
}

int64_t
stacks_part(const struct stacks_visit *v, int64_t n)
{
	int64_t to = v->to == 1 ? n : (int64_t)(v->to * (double)n + 0.5);

	return v->from == 0 ? to : to - (int64_t)(v->from * (double)n + 0.5);
}

const char *
stacks_name(const struct stacks *s, uint32_t node, size_t *len)
{
	const char *name = costnames_get(s->names,
	    costfn_get(s->names, s->node[node].fn).fn);
	size_t n = strlen(name), k = n;

	while (k > 0 && name[k - 1] >= '0' && name[k - 1] <= '9')
		k--;
	*len = k < n && k > 1 && name[k - 1] == '\'' ? k - 1 : n;
	return name;
}
