/*
 * html - the report as one page that needs no other files
 *
 * The source of each function is a details element, so the page works without
 * scripts.  The script sorts tables, chooses columns and filters.
 */
#include "html.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"
#include "util.h"

/* Embed a file as a string. */
#define TEXT_OF(name, path)						\
	__asm__(".pushsection .rodata\n"				\
	    #name ":\n.incbin \"" path "\"\n"				\
	    ".byte 0\n.popsection\n");					\
	extern const char name[] __attribute__((visibility("hidden")))

TEXT_OF(page_css, "cmd/annotate/page.css");
TEXT_OF(page_js, "cmd/annotate/page.js");

/* events shown at first: without, with inclusive costs beside them */
enum { COLUMNS = 4, COLUMNS_CALLS = 2 };

static const char *
command(void)
{
	const char *cmd = prof.input[0].cmd;

	return cmd && *cmd ? cmd : prof.input[0].name;
}

static void
head(void)
{
	out_str(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
	    "<meta charset=\"utf-8\">\n"
	    "<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
	put_html(command());
	out_str(out, " - costs</title>\n<style>\n");
	out_write(out, page_css, strlen(page_css));
	out_str(out, "</style>\n</head>\n<body>\n<h1>");
	put_html(command());
	out_str(out, "</h1>\n");
}

static void
cut_profiles(void)
{
	size_t i;

	for (i = 0; i < prof.ninput; i++) {
		if (!prof.input[i].truncated)
			continue;
		out_str(out, "<p class=\"cut\">");
		put_html(prof.input[i].name);
		out_str(out, " was cut: it has no end mark, and what these "
		    "tables tell is not all that it cost.</p>\n");
	}
}

static void
metadata(void)
{
	const char *s, *nl;
	size_t i;

	out_str(out, "<details><summary class=\"dim\">Profile</summary>\n"
	    "<table>\n");
	for (i = 0; i < prof.ninput; i++) {
		out_str(out, "<tr><td>File<td>");
		put_html(prof.input[i].name);
		out_str(out, "\n<tr><td>Command<td>");
		put_html(prof.input[i].cmd ? prof.input[i].cmd : "");
		out_ch(out, '\n');
		for (s = prof.input[i].desc; *s; s = nl + 1) {
			char line[512];

			nl = strchr(s, '\n');
			snprintf(line, sizeof line, "%.*s", (int)(nl - s), s);
			out_str(out, "<tr><td><td>");
			put_html(line);
			out_ch(out, '\n');
		}
	}
	out_str(out, "</table></details>\n");
}

/* How much of the costs has a source line, only a function, or neither. */
static void
coverage(void)
{
	int64_t part[3][COST_EVMAX];
	static const char *const names[] = { "All", "with a source line",
	    "with a function only", "with neither" };
	struct costfn f;
	struct cost c;
	int i;

	memset(part, 0, sizeof part);
	while (costsum_next(prof.t, &c)) {
		if (c.kind != COST_SELF)
			continue;
		f = costfn_get(prof.nm, c.fn);
		i = c.pos.line ? 0 :
		    *str(f.fn) && strcmp(str(f.fn), "???") ? 1 : 2;
		sums_add(part[i], with_derived(c.n), prof.nev);
	}
	out_str(out, "<h2>Totals</h2>\n<table class=\"plain\"><thead><tr>");
	put_heads("");
	out_str(out, "<th></thead><tbody>\n");
	for (i = 0; i < 4; i++) {
		out_str(out, "<tr>");
		put_cells(i ? part[i - 1] : prof.total);
		out_printf(out, "<td>%s\n", names[i]);
	}
	out_str(out, "</tbody></table>\n");
}

static void
tools(void)
{
	size_t i, most = graph.arcs.n ? COLUMNS_CALLS : COLUMNS;

	out_str(out, "<div id=\"tools\"><input id=\"filter\" type=\"search\" "
	    "placeholder=\"functions and files with these words\"> ");
	for (i = 0; i < prof.nshow; i++) {
		out_str(out, "<label");
		put_meaning(prof.show[i]);
		out_printf(out, "><input type=\"checkbox\" data-ev=\"%zu\"%s>",
		    i, i < most || opt.show ? " checked" : "");
		put_html(prof.ev[prof.show[i]]);
		out_str(out, "</label>");
	}
	out_str(out, "</div>\n");
}

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

static void
rest(size_t n, size_t columns, const char *what)
{
	if (n)
		out_printf(out, "<tr class=\"rest\"><td colspan=\"%zu\" "
		    "class=\"dim\">%zu more %s below the threshold\n", columns,
		    n, what);
}

/* The last part of a path; the whole path shows under the pointer. */
static void
path_cell(const char *path)
{
	out_str(out, "<td title=\"");
	put_html(path);
	out_str(out, "\">");
	put_html(last_part(path));
}

static void
functions(const size_t *v, size_t n)
{
	bool calls = graph.arcs.n > 0;
	size_t i, by = 0;

	while (by < prof.nshow && prof.show[by] != prof.sort[0])
		by++;
	out_str(out, "<h2>Functions</h2>\n<table class=\"sort named\" "
	    "id=\"functions\"");
	if (by < prof.nshow)
		out_printf(out, " data-by=\"%zu\"", by);
	out_str(out, "><thead><tr>");
	put_heads(calls ? "self" : "");
	if (calls)
		put_heads("incl.");
	out_str(out, "<th>Function<th>File<th>Object</thead><tbody>\n");
	for (i = 0; i < n; i++) {
		out_str(out, "<tr>");
		put_cells(tally_at(&graph.self, v[i]));
		if (calls)
			put_cells(graph.incl + v[i] * prof.nev);
		out_str(out, "<td class=\"name\" title=\"");
		put_html(node_fn(v[i]));
		out_str(out, "\">");
		put_fn(v[i]);
		path_cell(node_file(v[i]));
		path_cell(str(graph.ob[v[i]]));
		out_ch(out, '\n');
	}
	rest(graph.self.n - n, prof.nshow * (1 + calls) + 3, "functions");
	out_str(out, "</tbody></table>\n");
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
	out_str(out, "<h2>Files</h2>\n<table class=\"sort named\" "
	    "id=\"files\"><thead><tr>");
	put_heads("");
	out_str(out, "<th>File</thead><tbody>\n");
	for (i = 0; i < n; i++) {
		out_str(out, "<tr>");
		put_cells(tally_at(&by_file, v[i]));
		out_str(out, "<td>");
		put_html(str((uint32_t)by_file.key[v[i]]));
		out_ch(out, '\n');
	}
	rest(by_file.n - n, prof.nshow + 1, "files");
	out_str(out, "</tbody></table>\n");
	free(v);
}

static void
details(const size_t *v, size_t n)
{
	size_t i, ev = prof.sort[0];
	double all = (double)prof.total[ev];

	out_str(out, "<h2>Sources</h2>\n");
	html_gather(is_shown);
	for (i = 0; i < n; i++) {
		out_printf(out, "<details class=\"fn\" id=\"f%zu\"%s>"
		    "<summary><b>", v[i], i ? "" : " open");
		put_html(node_fn(v[i]));
		out_str(out, "</b> ");
		put_html(node_file(v[i]));
		out_printf(out, " <span class=\"dim\">%s: self %.1f%%",
		    prof.ev[ev], all != 0 ? 100 *
		    (double)tally_at(&graph.self, v[i])[ev] / all : 0);
		if (graph.arcs.n)
			out_printf(out, ", inclusive %.1f%%", all != 0 ? 100 *
			    (double)graph.incl[v[i] * prof.nev + ev] / all : 0);
		out_str(out, "</span></summary><div>\n");
		html_function(v[i]);
		out_str(out, "</div></details>\n");
	}
}

void
print_html(void)
{
	size_t *v, n;

	graph_make();
	v = choose(&n);
	head();
	cut_profiles();
	metadata();
	tools();
	coverage();
	functions(v, n);
	files();
	if (opt.annotate)
		details(v, n);
	out_str(out, "<script>\n");
	out_write(out, page_js, strlen(page_js));
	out_str(out, "</script>\n</body>\n</html>\n");
	free(v);
}
