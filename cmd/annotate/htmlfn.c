/*
 * htmlfn.c - a function in the page: callers, callees, source
 *
 * The source is the function's own.  What was inlined into it, from other
 * files or from elsewhere in its own, is folded under the line that called it:
 * that line is known from the debug information, by the address of a cost
 * where the profile has addresses, else by looking through the function's code
 * for where the line occurs.
 */
#include "html.h"

#include <stdlib.h>
#include <string.h>

#include "code.h"
#include "out.h"
#include "util.h"

struct item {
	uint32_t top;		/* line in the function's own source; 0: unknown */
	const char *inl;	/* what was inlined there, or NULL: the line itself */
	bool several;		/* inlined there and at other lines too */
	uint32_t file, line;	/* where the cost is */
	uint64_t addr;
	enum cost_kind kind;
	uint32_t callee;
	int64_t count, *n;
};

struct body {			/* a function's records */
	struct item *v;
	size_t n, cap;
};

/* by node */
static struct body *body;

static size_t
find_node(uint32_t fn)
{
	return tally_find(&graph.self, fn);
}

void
html_gather(const bool *shown)
{
	struct cost c;
	struct body *b;
	struct item *it;
	size_t at;

	body = xcalloc(graph.self.n + 1, sizeof *body);
	while (costsum_next(prof.t, &c)) {
		at = find_node(c.fn);
		if (!shown[at] || c.kind == COST_JUMP)
			continue;
		b = &body[at];
		b->v = xgrow(b->v, &b->cap, b->n + 1, sizeof *b->v);
		it = &b->v[b->n++];
		memset(it, 0, sizeof *it);
		it->file = c.file;
		it->line = c.pos.line;
		it->addr = c.pos.addr;
		it->kind = c.kind;
		it->callee = c.kind == COST_CALL ? c.callee : 0;
		it->count = c.count[0];
		it->n = xmalloc(prof.nev * sizeof *it->n);
		memcpy(it->n, c.kind == COST_CALL ? call_costs(&c) : full(c.n), prof.nev * sizeof *it->n);
	}
}

/* Objects, and where their functions are. */
struct range {
	const char *fn;
	uint64_t start, end;
};

struct object {
	struct object *next;
	uint32_t name;
	struct code *code;	/* NULL: cannot be read */
	struct range *range;
	size_t n, cap;
};

static struct object *objects;

static void
add_ranges(struct object *o, uint64_t addr, uint64_t end)
{
	struct sym_at at;

	while (addr < end) {
		sym_find(code_sym(o->code), addr, &at);
		if (!at.end || at.end <= addr) {
			addr += 16 - addr % 16;
			continue;
		}
		o->range = xgrow(o->range, &o->cap, o->n + 1, sizeof *o->range);
		o->range[o->n++] = (struct range){ at.fn, at.start, at.end };
		addr = at.end;
	}
}

static struct object *
object(uint32_t name)
{
	struct object *o;
	uint64_t addr, len;
	size_t i;

	for (o = objects; o; o = o->next)
		if (o->name == name)
			return o;
	o = xcalloc(1, sizeof *o);
	o->name = name;
	o->next = objects;
	objects = o;
	if (*str(name))
		o->code = code_open(str(name), opt.intel);
	for (i = 0; o->code && code_part(o->code, i, &addr, &len); i++)
		add_ranges(o, addr, addr + len);
	return o;
}

static const char *
base(const char *file)
{
	const char *slash = strrchr(file, '/');

	return slash ? slash + 1 : file;
}

static bool
same_file(const char *a, const char *b)
{
	return !strcmp(a, b) || !strcmp(base(a), base(b));
}

enum { FRAMES = 64 };

/* Sets the line that called what is at addr, if it was inlined into file. */
static bool
inlined_at(struct object *o, uint64_t addr, const char *file, struct item *it)
{
	struct sym_frame frame[FRAMES];
	size_t n = sym_inline(code_sym(o->code), addr, frame, FRAMES);

	if (n < 2 || !same_file(frame[n - 1].file, file))
		return false;
	it->top = frame[n - 1].line;
	it->inl = frame[n - 2].fn;
	return true;
}

/*
 * Without addresses: go through the function's code and see what of it has the
 * item's line.  Its own if any of that was not inlined.
 */
static void
look_through(struct object *o, const char *fn, const char *file, struct body *b)
{
	char text[512];
	struct sym_at at;
	struct item found;
	uint64_t addr;
	size_t i, j, len;
	bool *own = xcalloc(b->n + 1, sizeof *own);

	for (i = 0; i < o->n; i++) {
		if (strcmp(o->range[i].fn, fn))
			continue;
		for (addr = o->range[i].start; addr < o->range[i].end; addr += len) {
			len = code_insn(o->code, addr, text, sizeof text);
			len += !len;
			sym_find(code_sym(o->code), addr, &at);
			memset(&found, 0, sizeof found);
			inlined_at(o, addr, file, &found);
			for (j = 0; j < b->n; j++) {
				struct item *it = &b->v[j];

				if (it->line != at.line ||
				    !same_file(at.file, str(it->file)))
					continue;
				own[j] |= !found.top;
				if (found.top && it->top && it->top != found.top)
					it->several = true;
				if (found.top && (!it->top || found.top < it->top)) {
					it->top = found.top;
					it->inl = found.inl;
				}
			}
		}
	}
	for (j = 0; j < b->n; j++)
		if (own[j] && same_file(str(b->v[j].file), file)) {
			b->v[j].top = 0;
			b->v[j].inl = NULL;
			b->v[j].several = false;
		}
	free(own);
}

static int
by_item(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int c;

	if (x->top != y->top)
		return x->top < y->top ? -1 : 1;
	if (!x->inl != !y->inl)
		return !x->inl ? -1 : 1;
	c = x->file == y->file ? 0 : strcmp(str(x->file), str(y->file));
	if (!c && x->line != y->line)
		c = x->line < y->line ? -1 : 1;
	if (!c)
		c = (int)x->kind - (int)y->kind;
	if (!c && x->kind == COST_CALL)
		c = by_sort(x->n, y->n);
	return c ? c : x->callee < y->callee ? -1 : x->callee > y->callee;
}

/* Puts each item under its line; the same at one line become one. */
static void
place(size_t node, struct body *b)
{
	uint32_t own = costfn_get(prof.nm, (uint32_t)graph.self.key[node]).fl;
	struct object *o = object(graph.ob[node]);
	struct item *last;
	size_t i, k = 0;

	if (o->code && !prof.addresses)
		look_through(o, node_fn(node), node_file(node), b);
	for (i = 0; i < b->n; i++) {
		struct item *it = &b->v[i];

		if (o->code && prof.addresses)
			inlined_at(o, it->addr, node_file(node), it);
		if (!it->inl && it->file == own)
			it->top = it->line;
		else if (!it->inl)
			it->inl = "";
	}
	/* calls at several addresses of a line are told once */
	for (i = 0; i < b->n; i++)
		for (k = i + 1; b->v[i].kind == COST_CALL && k < b->n; k++) {
			struct item *x = &b->v[i], *y = &b->v[k];

			if (y->kind != COST_CALL || x->callee != y->callee ||
			    x->top != y->top || x->file != y->file ||
			    x->line != y->line || !x->inl != !y->inl)
				continue;
			sums_add(x->n, y->n, prof.nev);
			sums_add(&x->count, &y->count, 1);
			b->v[k--] = b->v[--b->n];
		}
	if (b->n)
		qsort(b->v, b->n, sizeof *b->v, by_item);
	for (i = k = 0; i < b->n; i++) {
		last = k ? &b->v[k - 1] : NULL;
		if (last && last->kind == COST_SELF && b->v[i].kind == COST_SELF &&
		    last->top == b->v[i].top && !last->inl == !b->v[i].inl &&
		    last->file == b->v[i].file && last->line == b->v[i].line)
			sums_add(last->n, b->v[i].n, prof.nev);
		else
			b->v[k++] = b->v[i];
	}
	b->n = k;
}

static void
call_row(const struct item *it)
{
	char buf[32];

	out_str(out, "<tr class=\"call\"><td class=\"no\">");
	put_cells(it->n);
	out_str(out, "<td class=\"c\">&rarr; ");
	put_link(find_node(it->callee));
	out_printf(out, " (%s&times;)\n", num_commas(buf, it->count));
}

/* One percent: a call that is not to be folded away. */
static bool
is_much(const int64_t *n)
{
	size_t ev = prof.sort[0];
	double share = (double)n[ev] / (double)prof.total[ev];

	return share >= 0.01 || share <= -0.01;
}

/* What was inlined at a line: items from i to end. */
static void
inlined_row(const struct item *v, size_t i, size_t end)
{
	int64_t sum[COST_EVMAX] = { 0 };
	const char *text, *name = v[i].inl;
	bool several = false, one = true, open = false;
	size_t k;

	for (k = i; k < end; k++) {
		if (v[k].kind == COST_SELF)
			sums_add(sum, v[k].n, prof.nev);
		else
			open |= is_much(v[k].n);
		several |= v[k].several;
		one &= !strcmp(v[k].inl, name);
	}
	out_str(out, "<tr class=\"call\"><td class=\"no\">");
	put_cells(sum);
	out_printf(out, "<td class=\"c\"><details%s><summary>inlined",
	    open ? " open" : "");
	if (one && *name) {
		out_str(out, ": ");
		put_html(name);
	}
	if (several)
		out_str(out, " (also at lines below)");
	out_str(out, "</summary><table><tbody>\n");
	for (k = i; k < end; k++) {
		if (v[k].kind == COST_CALL) {
			call_row(&v[k]);
			continue;
		}
		out_str(out, "<tr><td class=\"no\">");
		put_html(base(str(v[k].file)));
		out_printf(out, ":%u", v[k].line);
		put_cells(v[k].n);
		out_str(out, "<td class=\"c\">");
		text = source_line(str(v[k].file), v[k].line);
		put_html(text ? text : "");
		out_ch(out, '\n');
	}
	out_str(out, "</tbody></table></details>\n");
}

/* The items of one line: its own costs, its calls, what was inlined. */
static size_t
line_rows(const char *file, uint32_t line, const struct body *b, size_t i)
{
	const char *text = source_line(file, line);
	const int64_t *n = NULL;
	size_t end;

	if (i < b->n && b->v[i].top == line && !b->v[i].inl &&
	    b->v[i].kind == COST_SELF)
		n = b->v[i++].n;
	out_printf(out, "<tr><td class=\"no\">%u", line);
	put_cells(n);
	out_str(out, "<td class=\"c\">");
	put_html(text ? text : "");
	out_ch(out, '\n');
	for (; i < b->n && b->v[i].top == line && !b->v[i].inl; i++)
		if (b->v[i].kind == COST_CALL)
			call_row(&b->v[i]);
	for (end = i; end < b->n && b->v[end].top == line; end++)
		continue;
	if (end > i)
		inlined_row(b->v, i, end);
	return end;
}

static void
source(size_t node, const struct body *b)
{
	const char *file = node_file(node);
	uint32_t line, next = 1, lo, hi, ctx = opt.context;
	size_t i = 0, k;

	if (!*file || !source_line(file, 1)) {
		out_str(out, "<p class=\"dim\">The source cannot be read.</p>\n");
		ctx = 0;
	}
	out_str(out, "<table class=\"src\"><thead><tr><th>");
	put_heads("");
	out_str(out, "<th></thead><tbody>\n");
	/* what has no line of the function's own */
	while (i < b->n && !b->v[i].top && !b->v[i].inl) {
		if (b->v[i].kind == COST_CALL) {
			call_row(&b->v[i++]);
			continue;
		}
		out_str(out, "<tr><td class=\"no\">?");
		put_cells(b->v[i++].n);
		out_str(out, "<td class=\"c dim\">no line is known\n");
	}
	for (k = i; k < b->n && !b->v[k].top; k++)
		continue;
	if (k > i)
		inlined_row(b->v, i, k);
	for (i = k; i < b->n;) {
		lo = b->v[i].top > ctx ? b->v[i].top - ctx : 1;
		lo = lo < next ? next : lo;
		if (lo > next)
			out_printf(out, "<tr class=\"gap\"><td class=\"no\">&hellip;<td "
			    "colspan=\"%zu\">\n", prof.nshow + 1);
		for (line = lo; line < b->v[i].top; line++)
			line_rows(file, line, b, b->n);
		line = b->v[i].top;
		i = line_rows(file, line, b, i);
		next = line + 1;
		if (i < b->n && b->v[i].top <= line + 2 * (uint64_t)ctx)
			continue;
		hi = line + ctx;
		for (; next <= hi && source_line(file, next); next++)
			line_rows(file, next, b, b->n);
	}
	out_str(out, "</tbody></table>\n");
}

static void
side(const char *title, const struct arcs *l, size_t node)
{
	size_t n, i, *v = arcs_sorted(l, node, &n);
	char buf[32];

	if (n) {
		out_printf(out, "<div><b>%s</b><table class=\"sort\"><thead><tr>", title);
		put_heads("");
		out_str(out, "<th class=\"n\">Calls<th>Function</thead><tbody>\n");
	}
	for (i = 0; i < n; i++) {
		const int64_t *c = tally_at(&graph.arcs, v[i]);
		bool again = graph.cycle[arc_from(v[i])] == graph.cycle[arc_to(v[i])];

		out_str(out, again ? "<tr class=\"again\">" : "<tr>");
		put_cells(c);
		out_printf(out, "<td class=\"n\" data-v=\"%lld\">%s<td>",
		    (long long)c[prof.nev], num_commas(buf, c[prof.nev]));
		put_link(l == &graph.callers ? arc_from(v[i]) : arc_to(v[i]));
		out_str(out, again ? " <span class=\"dim\" title=\"calls within a cycle "
		    "tell the same costs again and again\">cycle</span>\n" : "\n");
	}
	if (n)
		out_str(out, "</tbody></table></div>\n");
	free(v);
}

void
html_function(size_t node)
{
	struct body *b = &body[node];

	if (*str(graph.ob[node])) {
		out_str(out, "<div class=\"dim\">");
		put_html(str(graph.ob[node]));
		out_str(out, "</div>\n");
	}
	out_str(out, "<div class=\"sides\">\n");
	side("Callers", &graph.callers, node);
	side("Callees", &graph.callees, node);
	out_str(out, "</div>\n");
	place(node, b);
	source(node, b);
}
