/*
 * old - head and function table in the layout of Valgrind up to 3.20
 *
 * For Cachegrind's files they look as cg_annotate wrote them, for Callgrind's
 * as callgrind_annotate did.
 */
#include "annotate.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "out.h"
#include "shown.h"

static void
events(const char *what, const size_t *ev, size_t n)
{
	size_t i;

	out_str(out, what);
	for (i = 0; i < n; i++)
		out_printf(out, " %s", prof.ev[ev[i]]);
	out_ch(out, '\n');
}

static void
list(const char *what, char **v, size_t n)
{
	size_t i;

	out_printf(out, "%-18s%s\n", what, n ? shown(v[0]) : "");
	for (i = 1; i < n; i++)
		out_printf(out, "%-18s%s\n", "", shown(v[i]));
}

static void
thresholds(void)
{
	size_t i;

	out_str(out, "Thresholds:      ");
	for (i = 0; i < prof.nsort; i++)
		out_printf(out, " %g", prof.limit[i] >= 0 ? prof.limit[i] :
		    prof.callgrind ? 0.0 : 100.0);
	out_ch(out, '\n');
}

static void
target(const struct input *in)
{
	out_printf(out, "Profiled target:  %s", in->cmd && *in->cmd ?
	    shown(in->cmd) : "(unknown)");
	if (in->pid) {
		out_printf(out, " (PID %s", shown(in->pid));
		if (in->part)
			out_printf(out, ", part %s", shown(in->part));
		if (in->thread)
			out_printf(out, ", thread %s", shown(in->thread));
		out_ch(out, ')');
	}
	out_ch(out, '\n');
}

void
print_old_head(void)
{
	size_t ev[COST_EVMAX], i;
	const struct input *in = &prof.input[0];
	struct extremes x;
	struct cols c;

	for (i = 0; i < prof.nrec; i++)
		ev[i] = i;
	put_rule();
	if (prof.callgrind) {
		out_printf(out, "Profile data file '%s'", shown(in->name));
		if (in->creator)
			out_printf(out, " (creator: %s)", shown(in->creator));
		out_ch(out, '\n');
		put_rule();
	}
	out_str(out, in->desc);
	if (prof.callgrind)
		target(in);
	else
		out_printf(out, "Command:          %s\nData file:        %s\n",
		    in->cmd ? shown(in->cmd) : "", shown(in->name));
	events("Events recorded: ", ev, prof.nrec);
	events("Events shown:    ", prof.show, prof.nshow);
	events("Event sort order:", prof.sort, prof.nsort);
	thresholds();
	list("Include dirs:", opt.include, opt.ninclude);
	list("User annotated:", opt.source, opt.nsource);
	out_printf(out, "Auto-annotation:  %s\n\n",
	    opt.annotate ? "on" : "off");

	ext_init(&x);
	ext_add(&x, prof.summary);
	cols_set(&c, &x, NULL);
	put_rule();
	cols_head(&c, "", "");
	put_rule();
	cols_put(&c, prof.summary, NULL);
	out_str(out, " PROGRAM TOTALS\n\n");
}

/*
 * callgrind_annotate stops when the functions shown reach the threshold of
 * every sort event; with --inclusive, when the last function's share is at most
 * what the threshold leaves of 100 %.
 */
static bool
enough(const int64_t *shown, bool any)
{
	double share;
	size_t i, ev;

	if (prof.limit[0] >= 100)
		return false;
	for (i = 0; i < prof.nsort; i++) {
		ev = prof.sort[i];
		share = any ? (double)shown[ev] * 100 : 0;
		if (prof.summary[ev] > 0)
			share /= (double)prof.summary[ev];
		if (share < (prof.limit[i] >= 0 ? prof.limit[i] : 0))
			return false;
	}
	return true;
}

/* The file of a shown function is to be annotated. */
static void
add_file(struct files *f, const char *name, uint32_t id)
{
	size_t i;

	if (!strcmp(name, "???"))
		return;
	for (i = 0; i < f->n; i++)
		if (f->name[i] == id)
			return;
	f->name = xgrow(f->name, &f->cap, f->n + 1, sizeof *f->name);
	f->name[f->n++] = id;
}

void
print_old_flat(struct files *f)
{
	int64_t shown[COST_EVMAX] = { 0 };
	struct extremes x;
	struct cols c;
	size_t *v, i, j;

	graph_make();
	v = nodes_sorted();
	ext_init(&x);
	for (i = 0; i < graph.self.n; i++)
		ext_add(&x, node_counts(i));
	cols_set(&c, &x, NULL);
	put_rule();
	cols_head(&c, "", " file:function");
	put_rule();
	for (i = 0; i < graph.self.n; i++) {
		const int64_t *n = node_counts(v[i]);

		if (prof.callgrind ? enough(shown, i > 0) :
		    !passes_threshold(n))
			break;
		put_node(&c, v[i]);
		add_file(f, node_file(v[i]),
		    (uint32_t)(graph.self.key[v[i]] >> 32));
		if (!opt.inclusive)
			sums_add(shown, n, prof.nev);
		else
			for (j = 0; j < prof.nev; j++)
				shown[j] = prof.summary[j] - n[j];
	}
	out_ch(out, '\n');
	free(v);
}
