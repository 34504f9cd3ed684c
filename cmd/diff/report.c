/*
 * report - the difference as text
 */
#include "diff.h"

#include <stdio.h>
#include <string.h>

#include "num.h"
#include "out.h"
#include "shown.h"

struct change_text {
	char count[40], perc[32];
};

struct widths {
	int count, perc;
};

static void
title(const char *s)
{
	static const char line[] = "----------------------------------------"
	    "----------------------------------------\n";

	out_printf(out, "%s-- %s\n%s", line, s, line);
}

/* "+1,234" and " (+5.3%)", the percentage of the old count */
static void
format_change(struct change_text *t, int64_t old, int64_t new)
{
	char buf[32];
	int64_t v = minus(new, old);

	snprintf(t->count, sizeof t->count, "%s%s", v > 0 ? "+" : "",
	    num_commas(buf, v));
	t->perc[0] = '\0';
	if (v == 0)
		return;
	if (old == 0)
		strcpy(t->perc, " (new)");
	else if (new == 0)
		strcpy(t->perc, " (gone)");
	else
		snprintf(t->perc, sizeof t->perc, " (%+.1f%%)",
		    (double)v * 100 / (old < 0 ? -(double)old : (double)old));
}

static const char *
event(size_t ev)
{
	return shown(diff.ev[ev]);
}

static int
max(int a, size_t b)
{
	return a > (int)b ? a : (int)b;
}

static void
measure(struct widths *w, struct change_row **v, size_t n)
{
	struct change_text t;
	size_t i, j;

	memset(w, 0, diff.nshow * sizeof *w);
	for (j = 0; j < diff.nshow; j++) {
		for (i = 0; i < n; i++) {
			format_change(&t, v[i]->old[diff.show[j]],
			    row_new(v[i])[diff.show[j]]);
			w[j].count = max(w[j].count, strlen(t.count));
			w[j].perc = max(w[j].perc, strlen(t.perc));
		}
		w[j].count = max(w[j].count, strlen(event(diff.show[j])));
	}
}

static const char *
show(uint32_t name)
{
	return shown(str(name));
}

static void
put_fn(uint32_t fn)
{
	struct costfn f = costfn_get(diff.nm, fn);

	out_printf(out, "%s:%s", show(f.fl), show(f.fn));
	if (*str(f.ob))
		out_printf(out, " [%s]", show(f.ob));
}

static void
put_row_name(enum diff_by by, const struct change_row *r)
{
	struct change_text t;

	if (by == BY_LINE) {
		out_printf(out, "%s:%u", show(r->file), r->line);
		return;
	}
	put_fn(r->fn);
	if (by == BY_FUNCTION)
		return;
	out_str(out, " -> ");
	put_fn(r->callee);
	format_change(&t, r->old[diff.nev], row_new(r)[diff.nev]);
	if (r->old[diff.nev] != row_new(r)[diff.nev])
		out_printf(out, ", calls %s%s", t.count, t.perc);
}

static void
section(enum diff_by by, const char *name, const char *what)
{
	struct widths w[COST_EVMAX];
	size_t n, changed, ev, i, j;
	struct change_row **v = rows(by, &n, &changed, &ev);
	struct change_text t;
	int c;

	if (!changed)
		return;
	title(name);
	measure(w, v, n);
	for (j = 0; j < diff.nshow; j++) {
		out_str(out, event(diff.show[j]));
		for (c = strlen(event(diff.show[j]));
		    c < w[j].count + w[j].perc; c++)
			out_ch(out, '_');
		out_ch(out, ' ');
	}
	out_printf(out, " %s\n\n", what);
	for (i = 0; i < n; i++) {
		for (j = 0; j < diff.nshow; j++) {
			format_change(&t, v[i]->old[diff.show[j]],
			    row_new(v[i])[diff.show[j]]);
			out_printf(out, "%*s%*s ", w[j].count, t.count,
			    w[j].perc, t.perc);
		}
		out_ch(out, ' ');
		put_row_name(by, v[i]);
		out_ch(out, '\n');
	}
	if (n < changed)
		out_printf(out, "%s%zu more changed by less than %g%% of all "
		    "%s\n", n ? "\n" : "", changed - n, diff.threshold,
		    event(ev));
	out_ch(out, '\n');
}

static void
totals(void)
{
	char o[32], n[32];
	struct change_text t;
	int w[4] = { 5, 3, 3, 6 };
	size_t i, ev;

	for (i = 0; i < diff.nshow; i++) {
		ev = diff.show[i];
		format_change(&t, diff.old.total[ev], diff.new.total[ev]);
		w[0] = max(w[0], strlen(event(ev)));
		w[1] = max(w[1], strlen(num_commas(o, diff.old.total[ev])));
		w[2] = max(w[2], strlen(num_commas(n, diff.new.total[ev])));
		w[3] = max(w[3], strlen(t.count));
	}
	out_printf(out, "%-*s %*s %*s %*s\n", w[0], "Event", w[1], "old", w[2],
	    "new", w[3], "change");
	for (i = 0; i < diff.nshow; i++) {
		ev = diff.show[i];
		format_change(&t, diff.old.total[ev], diff.new.total[ev]);
		out_printf(out, "%-*s %*s %*s %*s%s\n", w[0], event(ev), w[1],
		    num_commas(o, diff.old.total[ev]), w[2],
		    num_commas(n, diff.new.total[ev]), w[3], t.count, t.perc);
	}
	out_ch(out, '\n');
}

/* The functions that exceed a limit, with their changes */
static void
exceeding(const struct event_limit *l)
{
	struct change_text t;
	size_t i;

	for (i = 0; i < l->nover; i++) {
		format_change(&t, l->over[i].old, l->over[i].new);
		out_printf(out, "  %s%s  ", t.count, t.perc);
		put_fn(l->over[i].fn);
		out_ch(out, '\n');
	}
}

static const char *
verdict(const struct event_limit *l)
{
	if (limit_is_idle(l))
		return "no function";
	return l->beyond ? "exceeded" : "kept";
}

static void
limits(void)
{
	size_t i;

	for (i = 0; i < diff.nlimit; i++) {
		out_printf(out, "Limit %s: %s\n", shown(diff.limit[i].text),
		    verdict(&diff.limit[i]));
		exceeding(&diff.limit[i]);
	}
	if (diff.nlimit)
		out_ch(out, '\n');
}

void
write_text(void)
{
	if (!diff.differ && !diff.nlimit)
		return;
	title("Difference");
	out_printf(out,
	    "Old:     %s\nCommand: %s\nNew:     %s\nCommand: %s\n\n",
	    shown(diff.old.name), shown(diff.old.cmd), shown(diff.new.name),
	    shown(diff.new.cmd));
	totals();
	limits();
	if (diff.by & BY_FUNCTION)
		section(BY_FUNCTION, "Functions", "file:function");
	if (diff.by & BY_LINE)
		section(BY_LINE, "Lines", "file:line");
	if (diff.by & BY_CALL)
		section(BY_CALL, "Calls, with all that they call",
		    "caller -> callee");
}
