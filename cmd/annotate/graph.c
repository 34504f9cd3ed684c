/*
 * graph - functions with what they call, and what calls them
 *
 * The inclusive cost of a function is its self cost and that of all its calls.
 * In a cycle of functions (recursion), inner calls repeat the same cost again
 * and again, so they do not count:
 *
 *	a function outside of cycles	self cost and all its calls
 *	a cycle as a whole		self costs and the calls that leave it
 *	a function of a cycle		the calls to it, at most the whole
 *					cycle's cost
 *
 * In the old layout a function is a pair of file and name, inlined code apart,
 * and its inclusive cost is the sum of the calls to it, whether in a cycle or
 * not, as in callgrind_annotate.
 */
#include "annotate.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "num.h"
#include "out.h"
#include "shown.h"

struct graph graph;

static size_t
node(uint32_t fn, uint32_t file)
{
	struct costfn f = costfn_get(prof.nm, fn);
	uint64_t key = opt.old ? (uint64_t)file << 32 | f.fn : fn;
	size_t n = graph.self.n, at = tally_find(&graph.self, key);

	if (at == n) {
		graph.ob = xgrow(graph.ob, &graph.capob, n + 1,
		    sizeof *graph.ob);
		graph.ob[n] = 0;
	}
	if (!opt.old || file == f.fl)
		graph.ob[at] = f.ob;
	return at;
}

const char *
node_file(size_t at)
{
	uint64_t key = graph.self.key[at];

	return str(opt.old ? (uint32_t)(key >> 32) :
	    costfn_get(prof.nm, (uint32_t)key).fl);
}

const char *
node_fn(size_t at)
{
	uint64_t key = graph.self.key[at];

	return str(opt.old ? (uint32_t)key :
	    costfn_get(prof.nm, (uint32_t)key).fn);
}

static void
gather(void)
{
	size_t from, to, at;
	struct cost c;

	tally_init(&graph.self, prof.nev);
	tally_init(&graph.arcs, prof.nev + 1);
	while (costsum_next(prof.t, &c)) {
		if (c.kind == COST_JUMP)
			continue;
		from = node(c.fn, c.file);
		if (c.kind == COST_SELF) {
			tally_add(&graph.self, from, with_derived(c.n));
			continue;
		}
		to = node(c.callee, costfn_get(prof.nm, c.callee).fl);
		at = tally_find(&graph.arcs, (uint64_t)from << 32 | to);
		sums_add(tally_at(&graph.arcs, at), with_derived(c.n),
		    prof.nev);
		sums_add(tally_at(&graph.arcs, at) + prof.nev, c.count, 1);
	}
}

size_t
arc_from(size_t arc)
{
	return graph.arcs.key[arc] >> 32;
}

size_t
arc_to(size_t arc)
{
	return (uint32_t)graph.arcs.key[arc];
}

/* List each arc at its node `end`. */
static void
link_arcs(struct arcs *l, size_t (*end)(size_t))
{
	size_t i;

	l->first = xmalloc((graph.self.n + 1) * sizeof *l->first);
	l->next = xmalloc((graph.arcs.n + 1) * sizeof *l->next);
	for (i = 0; i < graph.self.n; i++)
		l->first[i] = SIZE_MAX;
	for (i = graph.arcs.n; i-- > 0;) {
		l->next[i] = l->first[end(i)];
		l->first[end(i)] = i;
	}
}

/* Tarjan's strongly connected components, with an explicit stack. */
struct scc {
	size_t *index, *low, *stack, *work, *arc;
	size_t nstack, nwork, count;
	bool *on;
};

static void
visit(struct scc *s, size_t v)
{
	s->index[v] = s->low[v] = ++s->count;
	s->stack[s->nstack++] = v;
	s->on[v] = true;
	s->work[s->nwork++] = v;
	s->arc[v] = graph.callees.first[v];
}

static void
leave(struct scc *s, size_t v)
{
	size_t w;

	s->nwork--;
	if (s->nwork && s->low[v] < s->low[s->work[s->nwork - 1]])
		s->low[s->work[s->nwork - 1]] = s->low[v];
	if (s->low[v] != s->index[v])
		return;
	do {
		w = s->stack[--s->nstack];
		s->on[w] = false;
		graph.cycle[w] = v;
	} while (w != v);
}

static void
find_cycles(void)
{
	size_t n = graph.self.n + 1, i, v, w;
	struct scc s = { 0 };

	s.index = xcalloc(n, sizeof *s.index);
	s.low = xcalloc(n, sizeof *s.low);
	s.stack = xcalloc(n, sizeof *s.stack);
	s.work = xcalloc(n, sizeof *s.work);
	s.arc = xcalloc(n, sizeof *s.arc);
	s.on = xcalloc(n, sizeof *s.on);
	graph.cycle = xcalloc(n, sizeof *graph.cycle);
	for (i = 0; i < graph.self.n; i++) {
		if (!s.index[i])
			visit(&s, i);
		while (s.nwork) {
			v = s.work[s.nwork - 1];
			if (s.arc[v] == SIZE_MAX) {
				leave(&s, v);
				continue;
			}
			w = arc_to(s.arc[v]);
			s.arc[v] = graph.callees.next[s.arc[v]];
			if (!s.index[w])
				visit(&s, w);
			else if (s.on[w] && s.index[w] < s.low[v])
				s.low[v] = s.index[w];
		}
	}
	free(s.index);
	free(s.low);
	free(s.stack);
	free(s.work);
	free(s.arc);
	free(s.on);
}

static void
include_cycles(void)
{
	size_t n = graph.self.n, i, j, from, to;
	int64_t *in = xcalloc(n + 1, prof.nev * sizeof *in), *all;
	size_t *members = xcalloc(n + 1, sizeof *members);

	all = xcalloc(n + 1, prof.nev * sizeof *all);	/* by cycle */
	for (i = 0; i < n; i++) {
		members[graph.cycle[i]]++;
		sums_add(all + graph.cycle[i] * prof.nev,
		    tally_at(&graph.self, i), prof.nev);
		sums_add(graph.incl + i * prof.nev, tally_at(&graph.self, i),
		    prof.nev);
	}
	for (i = 0; i < graph.arcs.n; i++) {
		from = arc_from(i);
		to = arc_to(i);
		if (from != to)
			sums_add(in + to * prof.nev, tally_at(&graph.arcs, i),
			    prof.nev);
		if (graph.cycle[from] == graph.cycle[to])
			continue;
		sums_add(all + graph.cycle[from] * prof.nev,
		    tally_at(&graph.arcs, i), prof.nev);
		sums_add(graph.incl + from * prof.nev, tally_at(&graph.arcs, i),
		    prof.nev);
	}
	for (i = 0; i < n; i++)
		for (j = 0; members[graph.cycle[i]] > 1 && j < prof.nev; j++) {
			int64_t *v = &graph.incl[i * prof.nev + j];

			if (in[i * prof.nev + j] > *v)
				*v = in[i * prof.nev + j];
			if (*v > all[graph.cycle[i] * prof.nev + j])
				*v = all[graph.cycle[i] * prof.nev + j];
		}
	free(in);
	free(all);
	free(members);
}

static void
include_arcs(void)
{
	size_t i, n = graph.self.n;
	bool *called = xcalloc(n + 1, sizeof *called);

	for (i = 0; i < graph.arcs.n; i++)
		called[arc_to(i)] = true;
	for (i = 0; i < n; i++)
		if (!called[i])
			sums_add(graph.incl + i * prof.nev,
			    tally_at(&graph.self, i), prof.nev);
	for (i = 0; i < graph.arcs.n; i++) {
		sums_add(graph.incl + arc_to(i) * prof.nev,
		    tally_at(&graph.arcs, i), prof.nev);
		if (!called[arc_from(i)])
			sums_add(graph.incl + arc_from(i) * prof.nev,
			    tally_at(&graph.arcs, i), prof.nev);
	}
	free(called);
}

void
graph_make(void)
{
	if (graph.incl)
		return;
	gather();
	link_arcs(&graph.callees, arc_from);
	link_arcs(&graph.callers, arc_to);
	graph.incl = xcalloc(graph.self.n + 1, prof.nev * sizeof *graph.incl);
	find_cycles();
	if (opt.old)
		include_arcs();
	else
		include_cycles();
}

/*
 * A call inside a cycle repeats the cost of the call into the cycle.  Where
 * calls from a line are shown, it counts as a call but costs nothing.
 */
const int64_t *
call_costs(const struct cost *c)
{
	static const int64_t none[COST_EVMAX];
	size_t from, to;

	from = node(c->fn, c->file);
	to = node(c->callee, costfn_get(prof.nm, c->callee).fl);
	return graph.cycle[from] == graph.cycle[to] ? none : with_derived(c->n);
}

/* The counts that the tables show of a function. */
const int64_t *
node_counts(size_t at)
{
	if (opt.inclusive)
		return graph.incl + at * prof.nev;
	return tally_at(&graph.self, at);
}

static int
by_place(size_t x, size_t y)
{
	int c = strcmp(node_file(x), node_file(y));

	if (!c)
		c = strcmp(node_fn(x), node_fn(y));
	return c ? c : strcmp(str(graph.ob[x]), str(graph.ob[y]));
}

static int
by_node(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	int c = cmp_counts(node_counts(x), node_counts(y));

	return c ? c : by_place(x, y);
}

static int
by_arc(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	int c = cmp_counts(tally_at(&graph.arcs, x), tally_at(&graph.arcs, y));

	if (!c)
		c = by_place(arc_from(x), arc_from(y));
	return c ? c : by_place(arc_to(x), arc_to(y));
}

bool
node_chosen(size_t at)
{
	uint32_t fn = (uint32_t)graph.self.key[at];

	return chosen(fn, costfn_get(prof.nm, fn).fl);
}

size_t *
nodes_sorted(void)
{
	size_t *v = xmalloc((graph.self.n + 1) * sizeof *v), i;

	for (i = 0; i < graph.self.n; i++)
		v[i] = i;
	qsort(v, graph.self.n, sizeof *v, by_node);
	return v;
}

size_t *
arcs_sorted(const struct arcs *l, size_t at, size_t *n)
{
	size_t *v = NULL, cap = 0, i;

	*n = 0;
	for (i = l->first[at]; i != SIZE_MAX; i = l->next[i]) {
		v = xgrow(v, &cap, *n + 1, sizeof *v);
		v[(*n)++] = i;
	}
	if (*n)
		qsort(v, *n, sizeof *v, by_arc);
	return v;
}

static void
put_name(size_t at)
{
	out_printf(out, "%s:%s", shown(node_file(at)), shown(node_fn(at)));
	if (*str(graph.ob[at]))
		out_printf(out, " [%s]", show(graph.ob[at]));
}

static void
put_arcs(const struct cols *c, const struct arcs *l, size_t at,
    const char *mark)
{
	size_t n, i, *v = arcs_sorted(l, at, &n), other;
	char buf[32];

	for (i = 0; i < n; i++) {
		other = l == &graph.callers ? arc_from(v[i]) : arc_to(v[i]);
		cols_put(c, tally_at(&graph.arcs, v[i]), NULL);
		out_printf(out, "%s%s:%s (%sx)", mark, shown(node_file(other)),
		    shown(node_fn(other)), num_commas(buf,
		    tally_at(&graph.arcs, v[i])[prof.nev]));
		if (*str(graph.ob[other]))
			out_printf(out, " [%s]", show(graph.ob[other]));
		out_ch(out, '\n');
	}
	free(v);
}

void
put_node(const struct cols *c, size_t at)
{
	if (opt.tree)
		out_ch(out, '\n');
	if (opt.tree & TREE_CALLERS)
		put_arcs(c, &graph.callers, at, " < ");
	heat_begin(node_counts(at));
	cols_put(c, node_counts(at), NULL);
	out_str(out, opt.tree ? " *  " : " ");
	put_name(at);
	heat_end();
	out_ch(out, '\n');
	if (opt.tree & TREE_CALLEES)
		put_arcs(c, &graph.callees, at, " >   ");
}

static void
ext_arcs(struct extremes *x, const struct arcs *l, size_t at)
{
	size_t i;

	for (i = l->first[at]; i != SIZE_MAX; i = l->next[i])
		ext_add(x, tally_at(&graph.arcs, i));
}

/* The section of calls in the new layout. */
void
print_graph(void)
{
	size_t *v, i, n = 0;
	struct extremes x;
	struct cols c;

	graph_make();
	v = nodes_sorted();
	ext_init(&x);
	for (i = 0; i < graph.self.n; i++) {
		if (!node_chosen(v[i]) || !passes_threshold(node_counts(v[i])))
			continue;
		ext_add(&x, node_counts(v[i]));
		if (opt.tree & TREE_CALLERS)
			ext_arcs(&x, &graph.callers, v[i]);
		if (opt.tree & TREE_CALLEES)
			ext_arcs(&x, &graph.callees, v[i]);
		v[n++] = v[i];
	}
	put_title(opt.inclusive ? "Inclusive function summary" :
	    "Function summary");
	cols_set(&c, &x, NULL);
	cols_head(&c, "", " file:function");
	if (!opt.tree)
		out_ch(out, '\n');
	for (i = 0; i < n; i++)
		put_node(&c, v[i]);
	out_ch(out, '\n');
	free(v);
}
