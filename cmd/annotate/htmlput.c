/*
 * htmlput - cells, links and text of the page
 */
#include "html.h"

#include <inttypes.h>
#include <string.h>

#include "out.h"
#include "util.h"

bool *is_shown;

void
put_html(const char *s)
{
	for (; *s; s++)
		out_xml(out, (unsigned char)*s < 0x20 && *s != '\t' ? '?' : *s);
}

static const char *
meaning(const char *ev)
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
		{ "Bc", "conditional branches" },
		{ "Bcm", "conditional branches mispredicted" },
		{ "Bi", "indirect branches" },
		{ "Bim", "indirect branches mispredicted" },
		{ "Br", "returns" },
		{ "Brm", "returns mispredicted" },
		{ "Ge", "locked accesses to memory" },
	};
	size_t i;

	for (i = 0; i < sizeof known / sizeof known[0]; i++)
		if (!strcmp(ev, known[i].ev))
			return known[i].what;
	return NULL;
}

/* An attribute with the meaning of an event, if that is known. */
void
put_meaning(size_t ev)
{
	const char *s = prof.what[ev] ? prof.what[ev] : meaning(prof.ev[ev]);

	if (!s)
		return;
	out_str(out, " title=\"");
	put_html(s);
	out_ch(out, '"');
}

void
put_heads(const char *what)
{
	size_t i;

	for (i = 0; i < prof.nshow; i++) {
		out_printf(out, "<th class=\"n e%zu\"", i);
		put_meaning(prof.show[i]);
		out_ch(out, '>');
		put_html(prof.ev[prof.show[i]]);
		out_printf(out, "%s%s", *what ? " " : "", what);
	}
}

/* Heat: the square root of the share of the total, so small ones show. */
static double
heat_of(int64_t v, size_t ev)
{
	double all = (double)prof.total[ev], share, root = 0.5;
	int i;

	if (all == 0 || v == 0)
		return 0;
	share = (double)v / all;
	share = share < 0 ? -share : share;
	if (share >= 1)
		return 1;
	for (i = 0; i < 20; i++)	/* Newton's square root */
		root = (root + share / root) / 2;
	return root;
}

void
put_cells(const int64_t *n)
{
	char buf[32];
	size_t i, ev;
	double h;

	for (i = 0; i < prof.nshow; i++) {
		ev = prof.show[i];
		if (!n) {
			out_printf(out, "<td class=\"n e%zu\">", i);
			continue;
		}
		h = heat_of(n[ev], ev);
		out_printf(out, "<td class=\"n e%zu", i);
		if (h >= 0.02)
			out_printf(out, " %s\" style=\"--h:%.2f",
			    (n[ev] < 0) == (prof.total[ev] < 0) ? "h" : "l", h);
		out_printf(out, "\" data-v=\"%" PRId64 "\">%s", n[ev],
		    num_commas(buf, n[ev]));
		if (opt.percs && prof.total[ev] && n[ev])
			out_printf(out, " <small>%.1f%%</small>",
			    (double)n[ev] * 100 / (double)prof.total[ev]);
		else if (opt.percs)
			out_str(out, " <small></small>");
	}
}

const char *
last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void
put_fn(size_t at)
{
	if (is_shown[at])
		out_printf(out, "<a href=\"#f%zu\">", at);
	put_html(node_fn(at));
	if (is_shown[at])
		out_str(out, "</a>");
}

void
put_link(size_t at)
{
	put_fn(at);
	if (!*node_file(at) || !strcmp(node_file(at), "???"))
		return;
	out_str(out, " <span class=\"dim\" title=\"");
	put_html(node_file(at));
	out_str(out, "\">");
	put_html(last_part(node_file(at)));
	out_str(out, "</span>");
}
