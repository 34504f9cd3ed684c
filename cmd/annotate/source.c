/*
 * source - the annotated sources
 */
#include "annotate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "in.h"
#include "mem.h"
#include "num.h"
#include "out.h"
#include "prog.h"
#include "shown.h"

#define AT	"@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@" \
		"@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@"

/* file<<32 | line -> costs, of the files that may be annotated */
static struct tally lines;
/* row of lines<<32 | callee -> inclusive costs, number of calls */
static struct tally calls;
static size_t *order;		/* rows of lines, sorted by file and line */
static uint32_t *rank;		/* by name of a file, from 1; 0: not chosen */

enum coverage { KNOWN, LINE0, DIFFERENT, UNREADABLE, BELOW, NOFILE, NPART };

static const char *const labels[NPART] = {
	"  annotated: files known & above threshold & readable, "
	    "line numbers known",
	"  annotated: files known & above threshold & readable, "
	    "line numbers unknown",
	"unannotated: files known & above threshold & "
	    "two or more non-identical",
	"unannotated: files known & above threshold & unreadable ",
	"unannotated: files known & below threshold",
	"unannotated: files unknown"
};

static int64_t sums[NPART][COST_EVMAX];

/* The source that is being shown. */
struct source_view {
	const char *name, *path;
	FILE *f;
	uint32_t line;		/* number of the last line read */
	char *text;
	size_t cap;
	ssize_t len;
	struct cols cols;
	size_t at, end;		/* entries of order still to be shown */
};

static int
by_name(const void *a, const void *b)
{
	return strcmp(str(*(const uint32_t *)a), str(*(const uint32_t *)b));
}

static int
by_line(const void *a, const void *b)
{
	uint64_t x = lines.key[*(const size_t *)a];
	uint64_t y = lines.key[*(const size_t *)b];

	if (x >> 32 != y >> 32)
		return rank[x >> 32] < rank[y >> 32] ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void
add_line(const struct cost *c)
{
	size_t at = tally_find(&lines, (uint64_t)c->file << 32 | c->pos.line);
	size_t k;

	if (c->kind == COST_SELF) {
		tally_add(&lines, at, with_derived(c->n));
		return;
	}
	k = tally_find(&calls, (uint64_t)at << 32 | c->callee);
	sums_add(tally_at(&calls, k), call_costs(c), prof.nev);
	sums_add(tally_at(&calls, k) + prof.nev, c->count, 1);
}

static void
gather(struct files *f)
{
	struct cost c;
	size_t i;
	bool unknown;

	rank = xcalloc(costnames_count(prof.nm), sizeof *rank);
	if (f->n)
		qsort(f->name, f->n, sizeof *f->name, by_name);
	for (i = 0; i < f->n; i++)
		rank[f->name[i]] = i + 1;
	if (prof.callgrind)
		graph_make();
	tally_init(&lines, prof.nev);
	tally_init(&calls, prof.nev + 1);
	while (costsum_next(prof.t, &c)) {
		if (!chosen(c.fn, c.file))
			continue;
		if (rank[c.file] && c.kind != COST_JUMP)
			add_line(&c);
		if (rank[c.file] || c.kind != COST_SELF)
			continue;
		unknown = !strcmp(str(c.file), "???");
		sums_add(sums[unknown ? NOFILE : BELOW], with_derived(c.n),
		    prof.nev);
	}
	order = xmalloc((lines.n + 1) * sizeof *order);
	for (i = 0; i < lines.n; i++)
		order[i] = i;
	qsort(order, lines.n, sizeof *order, by_line);
}

static FILE *
open_text(const char *path)
{
	int fd = in_optional(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");

	if (fd >= 0 && !f)
		die("out of memory");
	return f;
}

/*
 * Open the file itself, or else search the folders of -I for its whole name
 * and for the rest of its name without its first folders.
 */
static FILE *
source_open(const char *name, char **path)
{
	const char *rest;
	FILE *f = open_text(name);
	size_t i;

	*path = xstrdup(name);
	for (rest = name; !f && rest; rest = strchr(rest, '/')) {
		rest += strspn(rest, "/");
		for (i = 0; !f && i < opt.ninclude; i++) {
			free(*path);
			if (asprintf(path, "%s/%s", opt.include[i], rest) < 0)
				die("out of memory");
			f = open_text(*path);
		}
	}
	return f;
}

/* Read a line, without its newline.  Returns its length, or -1. */
static ssize_t
read_line(char **s, size_t *size, FILE *f, const char *path)
{
	ssize_t len = getline(s, size, f);

	if (len < 0 && !feof(f)) {
		warn("%s: read:", path);
		prof.unread = true;
	}
	if (len > 0 && (*s)[len - 1] == '\n')
		(*s)[--len] = '\0';
	return len;
}

const char *
source_line(const char *name, uint32_t line)
{
	static struct source_text {
		struct source_text *next;
		char *name, **line;
		size_t n, cap;
	} *all;
	struct source_text *t;
	char *path, *s = NULL;
	size_t size = 0;
	FILE *f;

	for (t = all; t; t = t->next)
		if (!strcmp(t->name, name))
			return line && line <= t->n ? t->line[line - 1] : NULL;
	t = xcalloc(1, sizeof *t);
	t->name = xstrdup(name);
	t->next = all;
	all = t;
	f = source_open(name, &path);
	while (f && read_line(&s, &size, f, path) >= 0) {
		t->line = xgrow(t->line, &t->cap, t->n + 1, sizeof *t->line);
		t->line[t->n++] = xstrdup(s);
	}
	if (f)
		fclose(f);
	free(s);
	free(path);
	return line && line <= t->n ? t->line[line - 1] : NULL;
}

static void
warning(const char *fmt, const char *a, const char *b)
{
	out_printf(out, "%s\n@@ WARNING @@ WARNING @@ WARNING @@ WARNING "
	    "@@ WARNING @@ WARNING @@ WARNING @@\n%s\n", AT, AT);
	out_printf(out, fmt, shown(a), b ? shown(b) : NULL);
	out_printf(out, "%s\n", AT);
}

static void
warn_if_newer(const struct source_view *s)
{
	static const char *const fmts[] = {
		"@ Original source files are all newer than data file '%s':\n"
		"@ - %s\n@ Annotations may not be correct.\n",
		"@ Data file '%s' is older than source file '%s'.\n"
		"@ Annotations may not be correct.\n"
	};
	struct stat st;
	int64_t t;
	size_t i;

	if (fstat(fileno(s->f), &st) < 0)
		return;
	t = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	for (i = 0; i < prof.ninput; i++)
		if (t > prof.input[i].mtime) {
			warning(fmts[opt.old], prof.input[i].name, s->path);
			out_ch(out, '\n');
		}
}

static bool
next_line(struct source_view *s)
{
	s->len = read_line(&s->text, &s->cap, s->f, s->path);
	if (s->len < 0)
		return false;
	s->line++;
	return true;
}

/* Put a line of source; tabs and a CR at its end pass unescaped. */
void
put_text(const char *s, size_t n)
{
	size_t len, end = n > 0 && s[n - 1] == '\r' ? n - 1 : n;
	const char *tab;

	for (; end > 0 && (tab = memchr(s, '\t', end)); s = tab + 1) {
		len = tab - s;
		out_shown(out, s, len);
		out_ch(out, '\t');
		end -= len + 1;
		n -= len + 1;
	}
	out_shown(out, s, end);
	out_write(out, s + end, n - end);
}

static int
by_calls(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	int c = cmp_counts(tally_at(&calls, x), tally_at(&calls, y));

	return c ? c : x < y ? -1 : x > y;
}

static size_t *first_call;	/* by row of lines: the first of its calls */
static size_t *next_call;	/* by call: the next one of that line */

static void
index_calls(void)
{
	size_t i, at;

	first_call = xmalloc((lines.n + 1) * sizeof *first_call);
	next_call = xmalloc((calls.n + 1) * sizeof *next_call);
	memset(first_call, 0xff, (lines.n + 1) * sizeof *first_call);
	for (i = calls.n; i-- > 0;) {
		at = calls.key[i] >> 32;
		next_call[i] = first_call[at];
		first_call[at] = i;
	}
}

static void
print_calls(const struct source_view *s, size_t at)
{
	size_t *v = NULL, cap = 0, n = 0, i;
	struct costfn f;
	char buf[32];

	for (i = first_call[at]; i != SIZE_MAX; i = next_call[i]) {
		v = xgrow(v, &cap, n + 1, sizeof *v);
		v[n++] = i;
	}
	if (n)
		qsort(v, n, sizeof *v, by_calls);
	for (i = 0; i < n; i++) {
		f = costfn_get(prof.nm, (uint32_t)calls.key[v[i]]);
		heat_begin(tally_at(&calls, v[i]));
		cols_put(&s->cols, tally_at(&calls, v[i]), NULL);
		out_printf(out, " => %s:%s (%sx)", show(f.fl), show(f.fn),
		    num_commas(buf, tally_at(&calls, v[i])[prof.nev]));
		heat_end();
		out_ch(out, '\n');
	}
	free(v);
}

static uint32_t
line_at(size_t i)
{
	return lines.key[order[i]];
}

static void
show_line(struct source_view *s)
{
	const int64_t *n = NULL;
	size_t at = 0;

	if (s->at < s->end && line_at(s->at) == s->line) {
		at = order[s->at++];
		n = tally_at(&lines, at);
		sums_add(sums[KNOWN], n, prof.nev);
	}
	heat_begin(n);
	cols_put(&s->cols, n, NULL);
	out_ch(out, ' ');
	put_text(s->text, s->len);
	heat_end();
	out_ch(out, '\n');
	if (n)
		print_calls(s, at);
}

static void
put_border(uint64_t line)
{
	out_printf(out, "-- line %lu "
	    "----------------------------------------\n", (unsigned long)line);
}

/* Show lines lo to hi; false: the file ended before. */
static bool
show_range(struct source_view *s, uint64_t lo, uint64_t hi)
{
	while (s->line + 1 < lo)
		if (!next_line(s))
			return false;
	if (lo != 1)
		put_border(lo);
	while (s->line < hi) {
		if (!next_line(s))
			return false;
		show_line(s);
	}
	put_border(hi);
	return true;
}

/* Show each line with counts and its context; overlapping contexts join. */
static void
show_ranges(struct source_view *s)
{
	uint64_t lo, hi, ctx = opt.context;
	size_t i, k;

	for (i = s->at; i < s->end; i = k + 1) {
		for (k = i; k + 1 < s->end; k++)
			if (line_at(k) + 2 * ctx < line_at(k + 1))
				break;
		lo = line_at(i) > ctx ? line_at(i) - ctx : 1;
		hi = line_at(k) + ctx;
		if (!show_range(s, lo, hi))
			break;
	}
}

static void
show_bogus(struct source_view *s)
{
	out_ch(out, '\n');
	for (; s->at < s->end; s->at++) {
		cols_put(&s->cols, tally_at(&lines, order[s->at]), NULL);
		out_printf(out, " <bogus line %u>\n", line_at(s->at));
		sums_add(sums[KNOWN], tally_at(&lines, order[s->at]), prof.nev);
	}
	out_ch(out, '\n');
	warning("@@ Information recorded about lines past the end of '%s'.\n",
	    s->name, NULL);
}

static void
show_line0(struct source_view *s, size_t at)
{
	cols_put(&s->cols, tally_at(&lines, at), NULL);
	if (opt.old)
		out_printf(out, " <counts for unidentified lines in %s>\n",
		    shown(s->name));
	else
		out_str(out, " <unknown (line 0)>\n");
	print_calls(s, at);
	out_ch(out, '\n');
	sums_add(sums[LINE0], tally_at(&lines, at), prof.nev);
}

static void
show_source(struct source_view *s)
{
	struct extremes x;
	size_t i;

	warn_if_newer(s);
	ext_init(&x);
	for (i = s->at; i < s->end; i++)
		ext_add(&x, tally_at(&lines, order[i]));
	cols_set(&s->cols, &x, NULL);
	cols_head(&s->cols, "", "");
	out_ch(out, '\n');
	i = s->at;
	if (i < s->end && line_at(i) == 0) {
		s->at++;
		if (!opt.old)
			show_line0(s, order[i]);
	}
	if (s->at < s->end) {
		show_ranges(s);
		if (s->at < s->end)
			show_bogus(s);
		out_ch(out, '\n');
	}
	if (opt.old && i < s->end && line_at(i) == 0)
		show_line0(s, order[i]);
}

static void
heading(const struct source_view *s, const char *path)
{
	const char *where = strcmp(path, s->name) ? path : NULL;

	if (opt.old) {
		put_rule();
		out_printf(out, "-- Auto-annotated source: %s\n", shown(path));
		put_rule();
	} else if (where) {
		put_title("Annotated source file: %s (%s)", shown(s->name),
		    shown(where));
	} else {
		put_title("Annotated source file: %s", shown(s->name));
	}
}

static uint32_t *missing;	/* sources that could not be read */
static size_t nmissing, nshown;

static void
print_file(uint32_t name, size_t at, size_t end)
{
	struct source_view s = { .name = str(name), .at = at, .end = end };
	enum coverage part = strcmp(s.name, "???") ? UNREADABLE : NOFILE;
	char *path = NULL;
	size_t i;

	if (part == UNREADABLE)
		s.f = source_open(s.name, &path);
	if (s.f) {
		heading(&s, path);
		s.path = path;
		show_source(&s);
		fclose(s.f);
		nshown++;
	} else {
		for (i = at; i < end; i++)
			sums_add(sums[part], tally_at(&lines, order[i]),
			    prof.nev);
		if (part == UNREADABLE)
			missing[nmissing++] = name;
	}
	free(path);
	free(s.text);
}

static void
print_missing(void)
{
	size_t i;

	if (!nmissing)
		return;
	put_title("Unannotated source files");
	out_str(out, "Unannotated because these original files are "
	    "unreadable:\n");
	for (i = 0; i < nmissing; i++)
		out_printf(out, "- %s\n", show(missing[i]));
	out_ch(out, '\n');
}

static void
print_summary(void)
{
	struct extremes x;
	struct cols c;
	int i;

	ext_init(&x);
	for (i = 0; i < NPART; i++)
		ext_add(&x, sums[i]);
	cols_set(&c, &x, NULL);
	put_title("Annotation summary");
	cols_head(&c, "", "");
	out_ch(out, '\n');
	for (i = 0; i < NPART; i++) {
		cols_put(&c, sums[i], NULL);
		out_printf(out, " %s\n", labels[i]);
	}
	out_ch(out, '\n');
}

static void
print_old_summary(void)
{
	struct extremes x;
	struct cols c;
	size_t i;

	if (nmissing) {
		put_rule();
		out_str(out, "The following files chosen for auto-annotation "
		    "could not be found:\n");
		put_rule();
		for (i = 0; i < nmissing; i++)
			out_printf(out, "  %s\n", show(missing[i]));
		out_ch(out, '\n');
	}
	if (!nshown)
		return;
	ext_init(&x);
	ext_add(&x, sums[KNOWN]);
	cols_set(&c, &x, NULL);
	put_rule();
	cols_head(&c, "", "");
	put_rule();
	cols_put(&c, sums[KNOWN], NULL);
	out_str(out, " events annotated\n\n");
}

void
print_sources(struct files *f)
{
	size_t i, at = 0, end;

	missing = xcalloc(f->n + 1, sizeof *missing);

	gather(f);
	index_calls();
	for (i = 0; i < f->n; i++) {
		for (end = at; end < lines.n; end++)
			if (lines.key[order[end]] >> 32 != f->name[i])
				break;
		print_file(f->name[i], at, end);
		at = end;
	}
	if (opt.old) {
		print_old_summary();
		return;
	}
	print_missing();
	if (!choosing())
		print_summary();
}
