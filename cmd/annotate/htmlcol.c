/*
 * htmlcol - columns of the page's tables, and their cells
 */
#include "html.h"

#include <string.h>

#include "mem.h"
#include "num.h"
#include "out.h"

const char *
meaning(size_t ev)
{
	static const struct { const char *ev, *what; } known[] = {
		{ "Ir", "instructions executed" },
		{ "Dr", "data reads" },
		{ "Dw", "data writes" },
		{ "I1mr", "instructions not in the first-level cache" },
		{ "D1mr", "data reads not in the first-level cache" },
		{ "D1mw", "data writes not in the first-level cache" },
		{ "ILmr", "instructions not in the last-level cache" },
		{ "DLmr", "data reads not in the last-level cache" },
		{ "DLmw", "data writes not in the last-level cache" },
		{ "ILdmr", "instructions whose line replaced a dirty one" },
		{ "DLdmr", "data reads whose line replaced a dirty one" },
		{ "DLdmw", "data writes whose line replaced a dirty one" },
		{ "AcCost1", "1000 / accesses, of lines of I1, D1" },
		{ "SpLoss1", "bytes not used in lines of I1, D1" },
		{ "AcCost2", "1000 / accesses, of lines of LL" },
		{ "SpLoss2", "bytes not used in lines of LL" },
		{ "Bc", "conditional branches" },
		{ "Bcm", "conditional branches mispredicted" },
		{ "Bi", "indirect branches" },
		{ "Bim", "indirect branches mispredicted" },
		{ "Br", "returns" },
		{ "Brm", "returns mispredicted" },
		{ "Ge", "locked accesses to memory" },
		{ "sysCount", "system calls" },
	};
	size_t i;

	if (prof.what[ev])
		return prof.what[ev];
	for (i = 0; i < sizeof known / sizeof known[0]; i++)
		if (!strcmp(prof.ev[ev], known[i].ev))
			return known[i].what;
	return NULL;
}

/* An attribute with the meaning of an event, if that is known. */
static void
put_meaning(size_t ev)
{
	if (!meaning(ev))
		return;
	out_str(out, " title=\"");
	put_html(meaning(ev));
	out_ch(out, '"');
}

/* The rates say nothing of changes, and one per Ir repeats that per 1000 Ir. */
static bool
has_share(size_t ev)
{
	const struct rate *r = rate_of(ev);

	return !prof.is_diff && r->nper > 0 &&
	    (r->nper > 1 || strcmp(prof.ev[r->per[0]], "Ir") != 0);
}

static bool
has_per_thousand(size_t ev)
{
	double v;

	return !prof.is_diff && rate_of(ev)->is_rate &&
	    rate_per_thousand(prof.total, ev, &v);
}

unsigned
rate_columns(size_t ev)
{
	return has_share(ev) + has_per_thousand(ev);
}

static size_t
make_columns(enum row_form form, struct column *v)
{
	size_t i, ev, n = 0;

	for (i = 0; i < prof.nshow; i++) {
		ev = prof.show[i];
		v[n++] = (struct column){ ev, i, COUNT };
		if (form == FORM_COUNTS || form == FORM_SOURCE)
			continue;
		if (has_per_thousand(ev))
			v[n++] = (struct column){ ev, i, PER_THOUSAND };
		if (has_share(ev))
			v[n++] = (struct column){ ev, i, PER_REF };
	}
	for (i = 0; form == FORM_BOTH && i < prof.nshow; i++)
		v[n++] = (struct column){ prof.show[i], i, INCLUSIVE };
	return n;
}

const struct column *
columns(enum row_form form, size_t *n)
{
	static struct column *made[FORM_SOURCE + 1];
	static size_t count[FORM_SOURCE + 1];

	if (!made[form]) {
		made[form] = xcalloc(4 * COST_EVMAX, sizeof *made[form]);
		count[form] = make_columns(form, made[form]);
	}
	*n = count[form];
	return made[form];
}

const char *
column_label(const struct column *c)
{
	static const char *const labels[] = { "", " /1000 Ir", " /ref.",
	    " incl." };

	return labels[c->what];
}

static void
put_column_title(const struct column *c)
{
	const struct rate *r = rate_of(c->ev);
	size_t i;

	if (c->what == COUNT || c->what == INCLUSIVE) {
		put_meaning(c->ev);
		return;
	}
	out_str(out, " title=\"");
	put_html(prof.ev[c->ev]);
	out_str(out, c->what == PER_REF ? " per reference: of " :
	    " per thousand instructions");
	for (i = 0; c->what == PER_REF && i < r->nper; i++) {
		out_str(out, i ? " + " : "");
		put_html(prof.ev[r->per[i]]);
	}
	out_ch(out, '"');
}

void
put_heads(enum row_form form, const char *sorted)
{
	size_t n, i;
	const struct column *v = columns(form, &n);

	for (i = 0; i < n; i++) {
		out_str(out, "<th");
		if (form == FORM_RATES || form == FORM_BOTH) {
			out_str(out, " scope=col");
			put_column_title(&v[i]);
		}
		if (sorted && v[i].what == COUNT && v[i].ev == prof.sort[0])
			out_printf(out, " aria-sort=%s", sorted);
		out_ch(out, '>');
		put_html(prof.ev[v[i].ev]);
		out_str(out, column_label(&v[i]));
	}
}

enum { HEATS = 9 };

/* Heat: the square root of the share of the total, so small ones show. */
static int
heat_of(int64_t v, size_t ev)
{
	double all = (double)count_size(prof.whole[ev]), share;
	int i;

	if (all == 0 || v == 0)
		return 0;
	share = (double)count_size(v) / all;
	for (i = HEATS; i > 0; i--)
		if (share * HEATS * HEATS >= (i - 0.5) * (i - 0.5))
			return i;
	return 0;
}

static void
put_count(int64_t v, size_t ev)
{
	char buf[32];
	double share = prof.whole[ev] ?
	    100 * (double)v / (double)prof.whole[ev] : 0;
	int heat = heat_of(v, ev);
	bool less = (v < 0) != (prof.whole[ev] < 0);

	if (heat)
		out_printf(out, "<td class=%c%d>", less ? 'l' : 'h', heat);
	else
		out_str(out, "<td>");
	if (prof.is_diff && v > 0)
		out_ch(out, '+');
	out_str(out, num_commas(buf, v));
	if (opt.percs && (share >= 0.05 || share <= -0.05))
		out_printf(out, " <i>%.1f%%</i>", share);
}

static void
put_rate(const int64_t *n, const struct column *c)
{
	double v;

	out_str(out, n[c->ev] ? "<td>" : "<td>0");
	if (!n[c->ev])
		return;
	if (c->what == PER_THOUSAND && rate_per_thousand(n, c->ev, &v))
		out_printf(out, "%.*f", v < 10 ? 2 : v < 1000, v);
	if (c->what == PER_REF && rate_per_ref(rate_of(c->ev), n, c->ev, &v))
		out_printf(out, "%.*f%%", v < 10 ? 2 : 1, v);
}

void
put_cells(enum row_form form, const int64_t *n, const int64_t *incl)
{
	size_t k, i;
	const struct column *v = columns(form, &k);

	for (i = 0; i < k; i++)
		if (!n)
			out_str(out, "<td>");
		else if (v[i].what == COUNT)
			put_count(n[v[i].ev], v[i].ev);
		else if (v[i].what == INCLUSIVE)
			put_count(incl[v[i].ev], v[i].ev);
		else
			put_rate(n, &v[i]);
}
