/*
 * flat - the head of the report, and what functions cost by themselves
 *
 * A function here is a pair of file and name.  Code inlined from another file
 * counts for that file, under the name of the function that it was inlined
 * into.  So there are two tables: files with their functions, and functions
 * with their files.  A function without a file is one of its object, which
 * stands behind its name: 0x8870 [/usr/bin/lua5.4].
 */
#include "annotate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "out.h"
#include "prog.h"
#include "shown.h"

/* file<<32 | function's name -> costs */
static struct tally pairs;

struct function_row {
	uint32_t outer, inner;	/* names */
	const int64_t *n;
	const int64_t *all;	/* counts of the outer name */
	size_t at;		/* its row in the tally of outer names */
};

/* The name of a function in the tables. */
static uint32_t
name_of(uint32_t fn)
{
	static uint32_t last = UINT32_MAX, name;
	struct costfn f = costfn_get(prof.nm, fn);
	char *s;

	if (strcmp(str(f.fl), "???") || !*str(f.ob) ||
	    !strcmp(str(f.ob), "???"))
		return f.fn;
	if (fn == last)
		return name;
	if (asprintf(&s, "%s [%s]", str(f.fn), str(f.ob)) < 0)
		die("out of memory");
	name = costnames_str(prof.nm, s);
	last = fn;
	free(s);
	return name;
}

static void
gather(void)
{
	struct cost c;
	uint32_t fn;
	size_t at;

	tally_init(&pairs, prof.nev);
	while (costsum_next(prof.t, &c)) {
		if (c.kind != COST_SELF || !chosen(c.fn, c.file))
			continue;
		fn = name_of(c.fn);
		at = tally_find(&pairs, (uint64_t)c.file << 32 | fn);
		tally_add(&pairs, at, with_derived(c.n));
	}
}

static void
metadata(const char *what, const char *value)
{
	out_printf(out, "%-18s%s\n", what, shown(value));
}

static void
events(const char *what, const size_t *ev, size_t n)
{
	size_t i;

	out_printf(out, "%-17s", what);
	for (i = 0; i < n; i++)
		out_printf(out, " %s", prof.ev[ev[i]]);
	out_ch(out, '\n');
}

static void
thresholds(void)
{
	const char *before = "";
	size_t i;

	out_printf(out, "%-18s", "Threshold:");
	for (i = 0; i < prof.nsort; i++)
		if (prof.limit[i] >= 0) {
			out_printf(out, prof.limit[i] == (int)prof.limit[i] ?
			    "%s%.1f%%" : "%s%g%%", before, prof.limit[i]);
			before = " ";
		}
	out_ch(out, '\n');
}

static void
descriptions(void)
{
	size_t i, same = 1;
	char what[40];

	for (i = 1; i < prof.ninput; i++)
		same += !strcmp(prof.input[i].desc, prof.input[0].desc);
	for (i = 0; i < prof.ninput; i++) {
		if (same != prof.ninput)
			out_printf(out, "Description %zu:\n", i + 1);
		if (same != prof.ninput || i == 0)
			out_str(out, prof.input[i].desc);
	}
	for (i = 0; i < prof.ninput; i++) {
		const char *cmd = prof.input[i].cmd ? prof.input[i].cmd : "";

		if (prof.ninput == 1) {
			metadata("Command:", cmd);
			break;
		}
		snprintf(what, sizeof what, "Command %zu:", i + 1);
		if (i && prof.input[i - 1].cmd &&
		    !strcmp(prof.input[i - 1].cmd, cmd))
			out_printf(out, "%-18s(same as Command %zu)\n", what,
			    i);
		else
			metadata(what, cmd);
	}
}

void
print_head(void)
{
	size_t ev[COST_EVMAX], i;
	struct extremes x;
	struct cols c;

	put_title("Metadata");
	out_printf(out, "%-17s %s", "Invocation:", progname);
	for (i = 1; i < (size_t)opt.argc; i++)
		out_printf(out, " %s", shown(opt.argv[i]));
	out_ch(out, '\n');
	descriptions();
	for (i = 0; i < prof.nrec; i++)
		ev[i] = i;
	events("Events recorded:", ev, prof.nrec);
	events("Events shown:", prof.show, prof.nshow);
	events("Event sort order:", prof.sort, prof.nsort);
	thresholds();
	metadata("Annotation:", opt.annotate ? "on" : "off");
	out_ch(out, '\n');

	ext_init(&x);
	ext_add(&x, prof.summary);
	cols_set(&c, &x, NULL);
	put_title("Summary");
	cols_head(&c, "", "");
	out_ch(out, '\n');
	cols_put(&c, prof.summary, NULL);
	out_str(out, " PROGRAM TOTALS\n\n");
}

/* Sort by the outer's counts and name, then by the inner's. */
static int
by_row(const void *a, const void *b)
{
	const struct function_row *x = a, *y = b;
	int c;

	if (x->outer != y->outer) {
		c = cmp_counts(x->all, y->all);
		return c ? c : strcmp(str(y->outer), str(x->outer));
	}
	c = cmp_counts(x->n, y->n);
	return c ? c : strcmp(str(y->inner), str(x->inner));
}

static struct function_row *
choose(bool by_file, size_t *nrow)
{
	struct tally outer;
	struct function_row *row = NULL;
	size_t cap = 0, n = 0, i, at;

	tally_init(&outer, prof.nev);
	for (i = 0; i < pairs.n; i++) {
		uint32_t file = pairs.key[i] >> 32, fn = (uint32_t)pairs.key[i];

		at = tally_find(&outer, by_file ? file : fn);
		tally_add(&outer, at, tally_at(&pairs, i));
		if (!passes_threshold(tally_at(&pairs, i)))
			continue;
		row = xgrow(row, &cap, n + 1, sizeof *row);
		row[n++] = (struct function_row){ .outer = by_file ? file : fn,
		    .inner = by_file ? fn : file, .n = tally_at(&pairs, i),
		    .at = at };
	}
	for (i = 0; i < n; i++)
		row[i].all = tally_at(&outer, row[i].at);
	if (n)
		qsort(row, n, sizeof *row, by_row);
	*nrow = n;
	return row;
}

static size_t
same_outer(const struct function_row *row, size_t n, size_t i)
{
	size_t k = i;

	while (k < n && row[k].outer == row[i].outer)
		k++;
	return k;
}

static void
widths(struct cols *c, const struct function_row *row, size_t n)
{
	struct extremes x, cumul;
	int64_t sum[COST_EVMAX] = { 0 };
	size_t i;

	ext_init(&x);
	ext_init(&cumul);
	for (i = 0; i < n; i++) {
		ext_add(&x, row[i].n);
		if (i && row[i].outer == row[i - 1].outer)
			continue;
		ext_add(&x, row[i].all);
		sums_add(sum, row[i].all, prof.nev);
		ext_add(&cumul, sum);
	}
	cols_set(c, &x, &cumul);
}

static void
print_rows(const struct function_row *row, size_t n, const char *mark,
    const char *title)
{
	int64_t sum[COST_EVMAX] = { 0 };
	struct cols c;
	size_t i, k;

	widths(&c, row, n);
	cols_head(&c, "  ", title);
	out_ch(out, '\n');
	for (i = 0; i < n; i = k) {
		k = same_outer(row, n, i);
		sums_add(sum, row[i].all, prof.nev);
		heat_begin(row[i].all);
		out_str(out, mark);
		cols_put(&c, row[i].all, sum);
		out_printf(out, " %s:", show(row[i].outer));
		if (k == i + 1 && !memcmp(row[i].n, row[i].all,
		    prof.nev * sizeof *row[i].n)) {
			out_str(out, show(row[i].inner));
			i = k;
		}
		heat_end();
		out_ch(out, '\n');
		for (; i < k; i++) {
			heat_begin(row[i].n);
			out_str(out, "  ");
			cols_put(&c, row[i].n, NULL);
			out_printf(out, "   %s", show(row[i].inner));
			heat_end();
			out_ch(out, '\n');
		}
		out_ch(out, '\n');
	}
}

void
print_flat(struct files *f)
{
	struct function_row *row;
	size_t n, i;

	gather();
	row = choose(true, &n);
	put_title("File:function summary");
	print_rows(row, n, "< ", " file:function");
	for (i = 0; i < n; i++)
		if (i == 0 || row[i].outer != row[i - 1].outer) {
			f->name = xgrow(f->name, &f->cap, f->n + 1,
			    sizeof *f->name);
			f->name[f->n++] = row[i].outer;
		}
	free(row);
	row = choose(false, &n);
	put_title("Function:file summary");
	print_rows(row, n, "> ", " function:file");
	free(row);
}
