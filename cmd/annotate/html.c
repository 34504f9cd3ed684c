/*
 * html - the report as one page that needs no other files
 *
 * The source of each function is a details element, so the page works without
 * scripts.  The script sorts tables, chooses columns, filters, and opens what a
 * link leads to.
 */
#include "html.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "out.h"

enum { LINES = 20 };		/* of each event shown at first */

static const char *
command(void)
{
	const char *cmd = prof.input[0].cmd;

	return cmd && *cmd ? cmd : prof.input[0].name;
}

/* ---- notes ---- */

static void
note(const char *class, const char *who, const char *what)
{
	out_printf(out, "<p class=%s>", class);
	put_html(who);
	out_str(out, what);
	out_str(out, "</p>\n");
}

/* Does a line of description tell that the run or its record is not whole? */
static bool
is_warning(const char *desc)
{
	static const char *const words[] = { "interrupted", "truncated",
	    "was cut", "incomplete" };
	size_t i;

	for (i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strcasestr(desc, words[i]))
			return true;
	return false;
}

/* Call a function with each line of an input's description. */
static void
each_desc(const struct input *in, void (*tell)(const char *line))
{
	const char *s, *nl;
	char line[1024];

	for (s = in->desc; s && *s; s = nl + 1) {
		nl = strchr(s, '\n');
		snprintf(line, sizeof line, "%.*s", (int)(nl - s), s);
		tell(line);
	}
}

static void
warn_of(const char *line)
{
	if (is_warning(line))
		note("cut", line, "");
}

static void
compared(const char *line)
{
	if (strncmp(line, "Files compared:", 15))
		return;
	note("diff", line + 15 + strspn(line + 15, " "), ": these two runs "
	    "are compared. + is what the second costs more, - is what it "
	    "costs less. Percentages are shares of all changes.");
}

static void
notes(void)
{
	size_t i;

	for (i = 0; i < prof.ninput; i++) {
		if (prof.input[i].truncated)
			note("cut", prof.input[i].name, " was cut: it has no "
			    "end mark, and what these tables tell is not all "
			    "that it cost.");
		each_desc(&prof.input[i], warn_of);
		if (prof.is_diff)
			each_desc(&prof.input[i], compared);
	}
}

static void
desc_row(const char *line)
{
	out_str(out, "<tr><td><td>");
	put_html(line);
	out_ch(out, '\n');
}

static void
metadata(void)
{
	const struct input *in;
	size_t i;

	out_str(out, "<details><summary>Profile</summary>\n"
	    "<table class=meta>\n");
	for (i = 0; i < prof.ninput; i++) {
		in = &prof.input[i];
		out_str(out, "<tr><th scope=row>File<td>");
		put_html(in->name);
		out_str(out, "\n<tr><th scope=row>Command<td>");
		put_html(in->cmd ? in->cmd : "");
		out_ch(out, '\n');
		each_desc(in, desc_row);
	}
	out_str(out, "</table></details>\n");
}

/* ---- tables ---- */

static void
table_begin(const char *id, enum row_form form, const char *title,
    const char *sorted)
{
	static const char *const classes[] = { "r", "b", "c", "s" };

	out_printf(out, "<h2 id=%s>%s</h2>\n<table class=\"%s named%s\">"
	    "<thead><tr>", id, title, classes[form], sorted ? " sort" : "");
	put_heads(form, sorted);
}

static void
table_end(size_t rest, enum row_form form, unsigned others, const char *what)
{
	size_t n;

	columns(form, &n);
	if (rest)
		out_printf(out, "<tr class=rest><td colspan=%zu>%zu more %s%s "
		    "below the threshold\n", n + others, rest, what,
		    rest == 1 ? "" : "s");
	out_str(out, "</tbody></table>\n");
}

/* Add the counts of some records to part, by what is known of their places. */
static void
add_known(int64_t (*part)[COST_EVMAX], const struct cost *c)
{
	int i = c->pos.line ? 0 : has_function(c) ? 1 : 2;

	sums_add(part[i], with_derived(c->n), prof.nev);
}

/* How much of the costs has a source line, only a function, or neither. */
static void
totals(void)
{
	static int64_t part[3][COST_EVMAX];
	static const char *const names[] = { "All", "with a source line",
	    "with a function only", "with neither" };
	struct cost c;
	int i;

	while (costsum_next(prof.t, &c))
		if (c.kind == COST_SELF)
			add_known(part, &c);
	table_begin("totals", FORM_RATES, "Totals", NULL);
	out_str(out, "<th scope=col class=t>Part</thead><tbody>\n");
	for (i = 0; i < 4; i++) {
		out_str(out, "<tr>");
		put_cells(FORM_RATES, i ? part[i - 1] : prof.total, NULL);
		out_printf(out, "<th scope=row>%s\n", names[i]);
	}
	table_end(0, FORM_RATES, 1, "");
}

/* ---- the bar ---- */

static void
choice(const char *name, bool checked, const char *event, const char *what)
{
	out_printf(out, "<label><input type=checkbox value=%s%s>", name,
	    checked ? " checked" : "");
	put_html(event);
	if (what) {
		out_str(out, " <small>");
		put_html(what);
		out_str(out, "</small>");
	}
	out_str(out, "</label>\n");
}

static bool
is_main(size_t ev)
{
	size_t i;

	for (i = 0; i < prof.nmain; i++)
		if (prof.main[i] == ev)
			return true;
	return false;
}

static void
tools(void)
{
	unsigned rates = 0;
	char name[24];
	size_t i;

	out_str(out, "<div id=tools>\n<nav aria-label=Sections>"
	    "<a href=#totals>Totals</a> <a href=#lines>Lines</a> "
	    "<a href=#functions>Functions</a> <a href=#files>Files</a>");
	if (opt.annotate)
		out_str(out, " <a href=#sources>Sources</a>");
	out_str(out, "</nav>\n<form id=form role=search hidden>"
	    "<label for=filter>Filter</label> "
	    "<input id=filter type=search placeholder=\"words of names\"> "
	    "<button id=clear type=reset>Clear</button> "
	    "<output id=found for=filter></output></form>\n"
	    "<details id=columns hidden><summary>Columns</summary><div>\n");
	for (i = 0; i < prof.nshow; i++) {
		snprintf(name, sizeof name, "x%zu", i);
		rates += rate_columns(prof.show[i]);
		choice(name, is_main(prof.show[i]), prof.ev[prof.show[i]],
		    meaning(prof.show[i]));
	}
	if (rates)
		choice("xr", true, "Rates",
		    "per thousand instructions, and of the references");
	out_str(out, "</div></details>\n</div>\n");
}

/* ---- lines ---- */

static void
line_row(const struct hot_line *l, size_t i)
{
	const char *text = source_line(str(l->file), l->line);
	size_t node = tally_find(&graph.self, l->fn);
	bool link = opt.annotate && is_shown[node];

	out_str(out, "<tr>");
	put_cells(FORM_RATES, l->n, NULL);
	out_str(out, "<th scope=row>");
	if (link)
		out_printf(out, "<a href=#l%zu>", i);
	put_html(link ? last_part(str(l->file)) : str(l->file));
	out_printf(out, ":%u%s<td>", l->line, link ? "</a>" : "");
	put_fn(node);
	if (l->others)
		out_printf(out, " <small>and %zu more</small>", l->others);
	out_str(out, "<td><code>");
	put_code(text ? text + strspn(text, " \t") : "");
	out_str(out, "</code>\n");
}

/* The sign of the first count, by --sort's events, that is not 0. */
static int
sign_of(const int64_t *n)
{
	size_t i;

	for (i = 0; i < prof.nsort; i++)
		if (n[prof.sort[i]])
			return n[prof.sort[i]] < 0 ? -1 : 1;
	return 1;
}

/* Lines of one sign, if sign is not 0; the largest first. */
static size_t
line_rows(const struct hot_line *l, size_t n, int sign)
{
	size_t i, k = 0;

	for (i = 0; i < n; i++)
		if (!sign || sign_of(l[i].n) == sign) {
			line_row(&l[i], i);
			k++;
		}
	return k;
}

static void
lines(const struct hot_line *l, size_t n, size_t rest)
{
	static const char heads[] = "<th scope=col class=t>Line"
	    "<th scope=col class=t>Function<th scope=col class=t>Source"
	    "</thead><tbody>\n";

	table_begin("lines", FORM_RATES, prof.is_diff ?
	    "Lines that cost more" : "Lines that cost most", "descending");
	out_str(out, heads);
	line_rows(l, n, prof.is_diff);
	if (prof.is_diff) {
		table_end(0, FORM_RATES, 3, "");
		table_begin("lines-less", FORM_RATES, "Lines that cost less",
		    "ascending");
		out_str(out, heads);
		line_rows(l, n, -1);
	}
	table_end(rest, FORM_RATES, 3, "line");
}

/* ---- functions and files ---- */

/* Choose functions by self or inclusive cost, sorted by self cost. */
static size_t *
choose(size_t *n)
{
	size_t *v = nodes_sorted(), i, k = 0;

	is_shown = xcalloc(graph.self.n + 1, sizeof *is_shown);
	for (i = 0; i < graph.self.n; i++)
		if (passes_threshold(tally_at(&graph.self, v[i])) ||
		    passes_threshold(graph.incl + v[i] * prof.nev)) {
			is_shown[v[i]] = true;
			v[k++] = v[i];
		}
	*n = k;
	return v;
}

/* The last part of a path; where no details tell it, the pointer does. */
static void
path_cell(const char *path)
{
	out_str(out, "<td");
	if (!opt.annotate && strchr(path, '/')) {
		out_str(out, " title=\"");
		put_html(path);
		out_ch(out, '"');
	}
	out_ch(out, '>');
	put_html(last_part(path));
}

static void
function_rows(const size_t *v, size_t n, enum row_form form, int sign)
{
	size_t i;

	for (i = 0; i < n; i++) {
		const int64_t *self = tally_at(&graph.self, v[i]);

		if (sign && sign_of(self) != sign)
			continue;
		out_str(out, "<tr>");
		put_cells(form, self, graph.incl + v[i] * prof.nev);
		out_str(out, "<th scope=row>");
		put_fn(v[i]);
		path_cell(node_file(v[i]));
		path_cell(str(graph.ob[v[i]]));
		out_ch(out, '\n');
	}
}

static void
functions(const size_t *v, size_t n)
{
	static const char heads[] = "<th scope=col class=t>Function"
	    "<th scope=col class=t>File<th scope=col class=t>Object"
	    "</thead><tbody>\n";
	enum row_form form = graph.arcs.n ? FORM_BOTH : FORM_RATES;

	table_begin("functions", form, prof.is_diff ?
	    "Functions that cost more" : "Functions", "descending");
	out_str(out, heads);
	function_rows(v, n, form, prof.is_diff);
	if (prof.is_diff) {
		table_end(0, form, 3, "");
		table_begin("functions-less", form, "Functions that cost less",
		    "ascending");
		out_str(out, heads);
		function_rows(v, n, form, -1);
	}
	table_end(graph.self.n - n, form, 3, "function");
}

static struct tally by_file;

static int
by_cost(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	int c = cmp_counts(tally_at(&by_file, x), tally_at(&by_file, y));

	return c ? c : strcmp(str((uint32_t)by_file.key[x]),
	    str((uint32_t)by_file.key[y]));
}

static void
files(void)
{
	struct cost c;
	size_t *v, i, n = 0;

	tally_init(&by_file, prof.nev);
	while (costsum_next(prof.t, &c))
		if (c.kind == COST_SELF)
			tally_add(&by_file, tally_find(&by_file, c.file),
			    with_derived(c.n));
	v = xmalloc((by_file.n + 1) * sizeof *v);
	for (i = 0; i < by_file.n; i++)
		if (passes_threshold(tally_at(&by_file, i)))
			v[n++] = i;
	if (n)
		qsort(v, n, sizeof *v, by_cost);
	table_begin("files", FORM_RATES, "Files", "descending");
	out_str(out, "<th scope=col class=t>File</thead><tbody>\n");
	for (i = 0; i < n; i++) {
		out_str(out, "<tr>");
		put_cells(FORM_RATES, tally_at(&by_file, v[i]), NULL);
		out_str(out, "<th scope=row>");
		put_html(str((uint32_t)by_file.key[v[i]]));
		out_ch(out, '\n');
	}
	table_end(by_file.n - n, FORM_RATES, 1, "file");
	free(v);
}

static void
details(const size_t *v, size_t n)
{
	size_t i, ev = prof.sort[0];
	double all = (double)prof.whole[ev];

	out_str(out, "<h2 id=sources>Sources</h2>\n");
	html_gather(is_shown);
	for (i = 0; i < n; i++) {
		out_printf(out, "<details class=fn id=f%zu%s><summary><b>",
		    v[i], i ? "" : " open");
		put_html(node_fn(v[i]));
		out_str(out, "</b> ");
		put_html(node_file(v[i]));
		out_str(out, " <small>");
		put_html(prof.ev[ev]);
		out_printf(out, ": self %.1f%%", all != 0 ? 100 *
		    (double)tally_at(&graph.self, v[i])[ev] / all : 0);
		if (graph.arcs.n)
			out_printf(out, ", inclusive %.1f%%", all != 0 ? 100 *
			    (double)graph.incl[v[i] * prof.nev + ev] / all : 0);
		out_str(out, "</small></summary><div>\n");
		html_function(v[i]);
		out_str(out, "</div></details>\n");
	}
}

/* In a difference all is what changed, up and down, by function. */
static void
add_changes(void)
{
	size_t i, k;

	memset(prof.whole, 0, sizeof prof.whole);
	for (i = 0; i < graph.self.n; i++)
		for (k = 0; k < prof.nev; k++) {
			int64_t v = tally_at(&graph.self, i)[k];

			v = v < 0 ? -v : v;
			sums_add(&prof.whole[k], &v, 1);
		}
}

void
print_html(void)
{
	size_t *v, n, nlines, rest;
	struct hot_line *l;

	graph_make();
	if (prof.is_diff)
		add_changes();
	v = choose(&n);
	l = hot_lines(prof.main, prof.nmain, opt.lines ? opt.lines : LINES,
	    &nlines, &rest);
	html_hot(l, nlines);
	html_begin(command());
	out_str(out, "<header><h1>");
	put_html(command());
	out_str(out, "</h1>\n");
	notes();
	metadata();
	out_str(out, "</header>\n");
	tools();
	out_str(out, "<main>\n");
	totals();
	lines(l, nlines, rest);
	functions(v, n);
	files();
	if (opt.annotate)
		details(v, n);
	out_str(out, "</main>\n");
	html_end();
	free(l);
	free(v);
}
