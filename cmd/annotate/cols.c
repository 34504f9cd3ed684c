/*
 * cols - columns of counts, in the old and in the new layout
 *
 * New layout: underscores fill the event's name up to the width of its column;
 * counts and percentages are aligned separately.  Old layout: count and
 * percentage are one text, aligned to the right; where a count is 0 or missing,
 * blanks replace the percentage.
 */
#include "annotate.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "num.h"
#include "out.h"

void
ext_init(struct extremes *x)
{
	memset(x, 0, sizeof *x);
}

void
ext_add(struct extremes *x, const int64_t *n)
{
	size_t i;

	for (i = 0; i < prof.nev; i++) {
		if (n[i] < x->min[i])
			x->min[i] = n[i];
		if (n[i] > x->max[i])
			x->max[i] = n[i];
	}
}

struct count_text {
	char buf[32], perc1[40], perc2[40];
	const char *count;
};

static double
perc(int64_t v, size_t ev)
{
	return (double)v * 100 / (double)prof.summary[ev];
}

static void
new_text(struct count_text *t, int64_t v, const int64_t *cumul, size_t ev)
{
	t->count = num_commas(t->buf, v);
	t->perc1[0] = t->perc2[0] = '\0';
	if (!opt.percs || (!cumul && v == 0))
		return;
	if (prof.summary[ev] == 0) {
		strcpy(t->perc1, cumul ? " (n/a," : " (n/a)");
		strcpy(t->perc2, cumul ? " n/a)" : "");
		return;
	}
	snprintf(t->perc1, sizeof t->perc1, cumul ? " (%.1f%%," : " (%.1f%%)",
	    perc(v, ev));
	if (cumul)
		snprintf(t->perc2, sizeof t->perc2, " %.1f%%)",
		    perc(*cumul, ev));
}

static void
old_text(struct count_text *t, int64_t v, size_t ev)
{
	double p = prof.summary[ev] ? perc(v, ev) : 0;

	t->count = num_commas(t->buf, v);
	t->perc1[0] = t->perc2[0] = '\0';
	if (!opt.percs)
		return;
	if (v == 0)
		strcpy(t->perc1, "         ");
	else
		snprintf(t->perc1, sizeof t->perc1,
		    p > -9.995 && p < 99.995 ? " (%5.2f%%)" : " (%5.1f%%)", p);
}

/* The old tables count a minus as a digit that may get a comma behind it. */
static unsigned
old_width(int64_t v)
{
	char buf[32];
	unsigned len = snprintf(buf, sizeof buf, "%" PRId64, v);

	return len + (len - 1) / 3 + (opt.percs ? 9 : 0);
}

static unsigned
max(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

void
cols_set(struct cols *c, const struct extremes *x, const struct extremes *cumul)
{
	struct count_text lo, hi;
	unsigned name;
	size_t i;

	for (i = 0; i < prof.nev; i++) {
		name = strlen(prof.ev[i]);
		if (opt.old) {
			c->w[i].all = max(name, max(old_width(x->min[i]),
			    old_width(x->max[i])));
			continue;
		}
		new_text(&lo, x->min[i], cumul ? &cumul->min[i] : NULL, i);
		new_text(&hi, x->max[i], cumul ? &cumul->max[i] : NULL, i);
		c->w[i].count = max(strlen(lo.count), strlen(hi.count));
		c->w[i].perc1 = max(strlen(lo.perc1), strlen(hi.perc1));
		c->w[i].perc2 = max(strlen(lo.perc2), strlen(hi.perc2));
		c->w[i].all = max(name, c->w[i].count + c->w[i].perc1 +
		    c->w[i].perc2);
	}
}

void
cols_head(const struct cols *c, const char *before, const char *after)
{
	unsigned j;
	size_t i, ev;

	out_str(out, before);
	for (i = 0; i < prof.nshow; i++) {
		ev = prof.show[i];
		out_str(out, prof.ev[ev]);
		for (j = strlen(prof.ev[ev]); j < c->w[ev].all; j++)
			out_ch(out, opt.old ? ' ' : '_');
		out_ch(out, ' ');
	}
	out_printf(out, "%s\n", after);
}

void
cols_put(const struct cols *c, const int64_t *n, const int64_t *cumul)
{
	struct count_text t;
	size_t i, ev;
	int w;

	for (i = 0; i < prof.nshow; i++) {
		ev = prof.show[i];
		memset(&t, 0, sizeof t);
		if (opt.old) {
			if (n)
				old_text(&t, n[ev], ev);
			else
				t.count = ".";
			if (!n && opt.percs)
				strcpy(t.perc1, "         ");
			w = c->w[ev].all - strlen(t.perc1);
			out_printf(out, "%*s%s ", w, t.count, t.perc1);
			continue;
		}
		t.count = ".";
		if (n)
			new_text(&t, n[ev], cumul ? &cumul[ev] : NULL, ev);
		w = c->w[ev].all - c->w[ev].perc1 - c->w[ev].perc2;
		out_printf(out, "%*s%*s%*s ", w, t.count, (int)c->w[ev].perc1,
		    t.perc1, (int)c->w[ev].perc2, t.perc2);
	}
}

void
put_rule(void)
{
	char line[82];

	memset(line, '-', 80);
	strcpy(line + 80, "\n");
	out_str(out, line);
}

void
put_title(const char *fmt, ...)
{
	char title[4096];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(title, sizeof title, fmt, ap);
	va_end(ap);
	if (opt.color)
		out_str(out, "\033[1m");
	put_rule();
	out_printf(out, "-- %s\n", title);
	put_rule();
	if (opt.color)
		out_str(out, "\033[0m");
}

void
heat_begin(const int64_t *n)
{
	size_t ev = prof.sort[0];
	double p;

	if (!opt.color)
		return;
	p = n && prof.summary[ev] ? perc(n[ev], ev) : 0;
	if (p < 0)
		p = -p;
	if (!n)
		out_str(out, "\033[2m");
	else
		out_str(out, p >= 5 ? "\033[1;31m" : p >= 1 ? "\033[33m" : "");
}

void
heat_end(void)
{
	if (opt.color)
		out_str(out, "\033[0m");
}
