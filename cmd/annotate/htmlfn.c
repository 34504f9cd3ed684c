/*
 * htmlfn - a function in the page: callers, callees, source
 *
 * The source shown is the function's own.  Code inlined into it, from another
 * file or another place of its file, is folded under the line that called it.
 * The debug information gives that line: by the address of a cost if the
 * profile has addresses; otherwise a search of the function's code finds where
 * the inlined line occurs.
 */
#include "html.h"

#include <stdlib.h>
#include <string.h>

#include "code.h"
#include "mem.h"
#include "num.h"
#include "out.h"

struct line_item {		/* costs shown at a line of the function */
	uint32_t top;		/* that line; 0: unknown */
	const char *inl;	/* function inlined there; NULL: own code */
	bool several;		/* other lines inline it, too */
	uint32_t file, line;	/* source of the cost */
	uint64_t addr;
	enum cost_kind kind;
	uint32_t callee;
	int64_t count, *n;
};

struct body {			/* a function's records */
	struct line_item *v;
	size_t n, cap;
};

/* by node */
static struct body *body;

/* file<<32 | line -> 1 + the number of a hot line; and these lines' nodes */
static struct tally hot;
static const struct hot_line *hot_line;

void
html_hot(const struct hot_line *l, size_t n)
{
	size_t i;

	tally_init(&hot, 1);
	hot_line = l;
	for (i = 0; i < n; i++)
		*tally_at(&hot, tally_find(&hot, (uint64_t)l[i].file << 32 |
		    l[i].line)) = (int64_t)i + 1;
}

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
	struct line_item *it;
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
		it->count = c.kind == COST_CALL ? c.count[0] : 0;
		it->n = xmalloc(prof.nev * sizeof *it->n);
		memcpy(it->n, c.kind == COST_CALL ? call_costs(&c) :
		    with_derived(c.n), prof.nev * sizeof *it->n);
	}
}

struct fn_range {
	const char *fn;
	uint64_t start, end;
};

struct fn_object {
	struct fn_object *next;
	uint32_t name;
	struct object_code *code;	/* NULL: cannot be read */
	struct fn_range *range;	/* its functions */
	size_t n, cap;
};

static struct fn_object *objects;

static void
add_ranges(struct fn_object *o, uint64_t addr, uint64_t end)
{
	struct sym_at at;

	while (addr < end) {
		sym_find(code_sym(o->code), addr, &at);
		if (!at.end || at.end <= addr) {
			addr += 16 - addr % 16;
			continue;
		}
		o->range = xgrow(o->range, &o->cap, o->n + 1, sizeof *o->range);
		o->range[o->n++] = (struct fn_range){ at.fn, at.start, at.end };
		addr = at.end;
	}
}

static struct fn_object *
object(uint32_t name)
{
	struct fn_object *o;
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

/* If the code at addr was inlined into file, set the line that called it. */
static bool
inlined_at(struct fn_object *o, uint64_t addr, const char *file,
    struct line_item *it)
{
	struct sym_frame frame[FRAMES];
	size_t n = sym_inline(code_sym(o->code), addr, frame, FRAMES);

	if (n < 2 || !same_file(frame[n - 1].file, file))
		return false;
	it->top = frame[n - 1].line;
	it->inl = frame[n - 2].fn;
	return true;
}

static int
by_line(const void *a, const void *b)
{
	const struct line_item *x = a, *y = b;

	return x->line < y->line ? -1 : x->line > y->line;
}

/* The first item of the line, or behind it; they are sorted by line. */
static size_t
first_of(const struct body *b, uint32_t line)
{
	size_t lo = 0, hi = b->n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (b->v[mid].line < line)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Set the items whose line the instruction at addr has; own: not inlined. */
static void
match_insn(struct fn_object *o, uint64_t addr, const char *file,
    struct body *b, bool *own)
{
	struct line_item found = { 0 };
	struct sym_at at;
	size_t j;

	sym_find(code_sym(o->code), addr, &at);
	inlined_at(o, addr, file, &found);
	for (j = first_of(b, at.line); j < b->n && b->v[j].line == at.line;
	    j++) {
		struct line_item *it = &b->v[j];

		if (!same_file(at.file, str(it->file)))
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

/*
 * Without addresses: search the function's code for each item's line.  The item
 * is the function's own if any instruction of that line was not inlined.
 */
static void
find_by_code(struct fn_object *o, const char *fn, const char *file,
    struct body *b)
{
	char text[512];
	uint64_t addr;
	size_t i, j, len;
	bool *own = xcalloc(b->n + 1, sizeof *own);

	if (b->n)
		qsort(b->v, b->n, sizeof *b->v, by_line);
	for (i = 0; i < o->n; i++) {
		if (strcmp(o->range[i].fn, fn))
			continue;
		for (addr = o->range[i].start; addr < o->range[i].end;
		    addr += len) {
			len = code_insn(o->code, addr, text, sizeof text);
			len += !len;
			match_insn(o, addr, file, b, own);
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
by_place(const struct line_item *x, const struct line_item *y)
{
	int c;

	if (x->top != y->top)
		return x->top < y->top ? -1 : 1;
	if (!x->inl != !y->inl)
		return !x->inl ? -1 : 1;
	c = x->file == y->file ? 0 : strcmp(str(x->file), str(y->file));
	if (!c && x->line != y->line)
		c = x->line < y->line ? -1 : 1;
	return c ? c : (int)x->kind - (int)y->kind;
}

/* What is to become one item is side by side, in order of addresses. */
static int
by_callee(const void *a, const void *b)
{
	const struct line_item *x = a, *y = b;
	int c = by_place(x, y);

	if (!c && x->callee != y->callee)
		c = x->callee < y->callee ? -1 : 1;
	return c ? c : x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int
by_costs(const void *a, const void *b)
{
	const struct line_item *x = a, *y = b;
	int c = by_place(x, y);

	if (!c && x->kind == COST_CALL)
		c = cmp_counts(x->n, y->n);
	return c ? c : x->callee < y->callee ? -1 : x->callee > y->callee;
}

/* Give each item its line of the function's own source. */
static void
find_lines(size_t node, struct body *b)
{
	uint32_t own = costfn_get(prof.nm, (uint32_t)graph.self.key[node]).fl;
	struct fn_object *o = object(graph.ob[node]);
	size_t i;

	if (o->code && !prof.addresses)
		find_by_code(o, node_fn(node), node_file(node), b);
	for (i = 0; i < b->n; i++) {
		struct line_item *it = &b->v[i];

		if (o->code && prof.addresses)
			inlined_at(o, it->addr, node_file(node), it);
		if (!it->inl && it->file == own)
			it->top = it->line;
		else if (!it->inl)
			it->inl = "";
	}
}

/*
 * Sort the items by line. Self costs of one line become one item, and so do
 * calls of one function from several addresses of a line.
 */
static void
sort_items(struct body *b)
{
	struct line_item *last;
	size_t i, k;

	if (!b->n)
		return;
	qsort(b->v, b->n, sizeof *b->v, by_callee);
	for (i = k = 0; i < b->n; i++) {
		last = k ? &b->v[k - 1] : NULL;
		if (last && !by_place(last, &b->v[i]) &&
		    last->callee == b->v[i].callee) {
			sums_add(last->n, b->v[i].n, prof.nev);
			sums_add(&last->count, &b->v[i].count, 1);
		} else {
			b->v[k++] = b->v[i];
		}
	}
	b->n = k;
	qsort(b->v, b->n, sizeof *b->v, by_costs);
}

/* The number of a hot line in the function named there, or -1. */
static int64_t
hot_at(size_t node, uint32_t file, uint32_t line)
{
	int64_t at = *tally_at(&hot, tally_find(&hot,
	    (uint64_t)file << 32 | line)) - 1;

	return at >= 0 && find_node(hot_line[at].fn) == node ? at : -1;
}

/* Begin a row with costs; a hot line's has a name. */
static void
begin_row(size_t node, uint32_t file, uint32_t line)
{
	int64_t at = hot_at(node, file, line);

	if (at >= 0) {
		out_printf(out, "<tr><th id=l%lld>", (long long)at);
		/* a name occurs once */
		*tally_at(&hot, tally_find(&hot,
		    (uint64_t)file << 32 | line)) = 0;
	} else {
		out_str(out, "<tr><th>");
	}
}

static void
call_row(const struct line_item *it)
{
	char buf[32];

	out_str(out, "<tr class=call><td>");
	put_cells(FORM_SOURCE, it->n, NULL);
	out_str(out, "<td>&rarr; ");
	put_link(find_node(it->callee));
	out_printf(out, " (%s&times;)\n", num_commas(buf, it->count));
}

/* At least one percent: such a call is not folded away. */
static bool
is_large(const int64_t *n)
{
	size_t ev = prof.sort[0];
	double share = (double)n[ev] / (double)prof.whole[ev];

	return share >= 0.01 || share <= -0.01;
}

/* The code inlined at a line: items i to end - 1. */
static void
inlined_row(size_t node, const struct line_item *v, size_t i, size_t end)
{
	int64_t sum[COST_EVMAX] = { 0 };
	const char *text, *name = v[i].inl;
	bool several = false, one = true, open = false;
	size_t k;

	for (k = i; k < end; k++) {
		if (v[k].kind == COST_SELF)
			sums_add(sum, v[k].n, prof.nev);
		else
			open |= is_large(v[k].n);
		several |= v[k].several;
		one &= !strcmp(v[k].inl, name);
	}
	out_str(out, "<tr class=call><td>");
	put_cells(FORM_SOURCE, sum, NULL);
	out_printf(out, "<td><details%s><summary>inlined",
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
		begin_row(node, v[k].file, v[k].line);
		put_html(base(str(v[k].file)));
		out_printf(out, ":%u", v[k].line);
		put_cells(FORM_SOURCE, v[k].n, NULL);
		out_str(out, "<td>");
		text = source_line(str(v[k].file), v[k].line);
		put_code(text ? text : "");
		out_ch(out, '\n');
	}
	out_str(out, "</tbody></table></details>\n");
}

/* The items of one line: self costs, calls, inlined code. */
static size_t
line_rows(size_t node, uint32_t line, const struct body *b, size_t i)
{
	const char *text = source_line(node_file(node), line);
	const int64_t *n = NULL;
	size_t end;

	if (i < b->n && b->v[i].top == line && !b->v[i].inl &&
	    b->v[i].kind == COST_SELF) {
		begin_row(node, b->v[i].file, line);
		n = b->v[i++].n;
	} else {
		out_str(out, "<tr><th>");
	}
	out_printf(out, "%u", line);
	put_cells(FORM_SOURCE, n, NULL);
	out_str(out, "<td>");
	put_code(text ? text : "");
	out_ch(out, '\n');
	for (; i < b->n && b->v[i].top == line && !b->v[i].inl; i++)
		if (b->v[i].kind == COST_CALL)
			call_row(&b->v[i]);
	for (end = i; end < b->n && b->v[end].top == line; end++)
		continue;
	if (end > i)
		inlined_row(node, b->v, i, end);
	return end;
}

static bool
is_readable(const char *file)
{
	return *file && source_line(file, 1);
}

/*
 * Of a source that cannot be read only lines are of use that cost much; calls
 * are told above.
 */
static void
drop_unreadable(size_t node, struct body *b)
{
	bool own = is_readable(node_file(node));
	size_t i, k = 0;

	for (i = 0; i < b->n; i++) {
		const struct line_item *it = &b->v[i];

		if (it->kind == COST_CALL ? own :
		    is_readable(str(it->file)) || is_large(it->n) ||
		    hot_at(node, it->file, it->line) >= 0)
			b->v[k++] = *it;
	}
	b->n = k;
}

static void
source(size_t node, const struct body *b)
{
	const char *file = node_file(node);
	uint32_t line, next = 1, lo, hi, ctx = opt.context;
	size_t i = 0, k;

	if (!is_readable(file)) {
		out_printf(out, "<p>The source cannot be read%s</p>\n",
		    b->n ? "; these are its lines that cost most." : ".");
		ctx = 0;
	}
	if (!b->n)
		return;
	out_str(out, "<table class=s><thead><tr><th>Line");
	put_heads(FORM_SOURCE, NULL);
	out_str(out, "<th>Source</thead><tbody>\n");
	/* costs and calls without a line of the function */
	while (i < b->n && !b->v[i].top && !b->v[i].inl) {
		if (b->v[i].kind == COST_CALL) {
			call_row(&b->v[i++]);
			continue;
		}
		out_str(out, "<tr><th>?");
		put_cells(FORM_SOURCE, b->v[i++].n, NULL);
		out_str(out, "<td>no line is known\n");
	}
	for (k = i; k < b->n && !b->v[k].top; k++)
		continue;
	if (k > i)
		inlined_row(node, b->v, i, k);
	for (i = k; i < b->n;) {
		lo = b->v[i].top > ctx ? b->v[i].top - ctx : 1;
		lo = lo < next ? next : lo;
		if (lo > next)
			out_printf(out, "<tr class=gap><th>&hellip;"
			    "<td colspan=%zu>\n", prof.nshow + 1);
		for (line = lo; line < b->v[i].top; line++)
			line_rows(node, line, b, b->n);
		line = b->v[i].top;
		i = line_rows(node, line, b, i);
		next = line + 1;
		if (i < b->n && b->v[i].top <= line + 2 * (uint64_t)ctx)
			continue;
		hi = line + ctx;
		for (; next <= hi && source_line(file, next); next++)
			line_rows(node, next, b, b->n);
	}
	out_str(out, "</tbody></table>\n");
}

static void
put_side(const char *title, const struct arcs *l, size_t node)
{
	size_t n, i, *v = arcs_sorted(l, node, &n);
	char buf[32];

	if (n) {
		out_printf(out, "<table class=\"c sort\"><caption>%s"
		    "</caption><thead><tr>", title);
		put_heads(FORM_COUNTS, "descending");
		out_str(out, "<th>Calls<th class=t>Function</thead>"
		    "<tbody>\n");
	}
	for (i = 0; i < n; i++) {
		const int64_t *c = tally_at(&graph.arcs, v[i]);
		bool again = graph.cycle[arc_from(v[i])] ==
		    graph.cycle[arc_to(v[i])];

		out_str(out, again ? "<tr class=again>" : "<tr>");
		put_cells(FORM_COUNTS, c, NULL);
		out_printf(out, "<td>%s<th scope=row>",
		    num_commas(buf, c[prof.nev]));
		put_link(l == &graph.callers ? arc_from(v[i]) : arc_to(v[i]));
		if (again)
			out_str(out, " <small title=\"calls within a cycle "
			    "tell the same costs again and again\">cycle"
			    "</small>");
		out_ch(out, '\n');
	}
	if (n)
		out_str(out, "</tbody></table>\n");
	free(v);
}

void
html_function(size_t node)
{
	struct body *b = &body[node];

	bool calls = graph.callers.first[node] != SIZE_MAX ||
	    graph.callees.first[node] != SIZE_MAX;

	if (*str(graph.ob[node])) {
		out_str(out, "<p>");
		put_html(str(graph.ob[node]));
		out_str(out, "</p>\n");
	}
	if (calls)
		out_str(out, "<div class=sides>\n");
	put_side("Callers, and what their calls cost", &graph.callers, node);
	put_side("Callees, and what these calls cost", &graph.callees, node);
	if (calls)
		out_str(out, "</div>\n");
	find_lines(node, b);
	sort_items(b);
	drop_unreadable(node, b);
	source(node, b);
}
