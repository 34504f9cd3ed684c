/*
 * lines - the lines that cost most, over all files
 *
 * A line's costs are those of all functions that contain it, its own and those
 * that it was inlined into.  The costliest of them is named beside it.
 */
#include "annotate.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "out.h"

/* file<<32 | line -> costs */
static struct tally places;
/* row of places<<32 | function -> costs */
static struct tally parts;
static size_t by_event;

static void
gather(void)
{
	struct cost c;
	size_t at;

	tally_init(&places, prof.nev);
	tally_init(&parts, prof.nev);
	while (costsum_next(prof.t, &c)) {
		if (c.kind != COST_SELF || !c.pos.line ||
		    !chosen(c.fn, c.file))
			continue;
		at = tally_find(&places, (uint64_t)c.file << 32 | c.pos.line);
		tally_add(&places, at, with_derived(c.n));
		at = tally_find(&parts, (uint64_t)at << 32 | c.fn);
		tally_add(&parts, at, with_derived(c.n));
	}
}

static int
by_name(uint64_t x, uint64_t y)
{
	int c = strcmp(str((uint32_t)(x >> 32)), str((uint32_t)(y >> 32)));

	return c ? c : x < y ? -1 : x > y;
}

static int
by_cost(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	int c = cmp_counts(tally_at(&places, x), tally_at(&places, y));

	return c ? c : by_name(places.key[x], places.key[y]);
}

static int
by_one_event(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	uint64_t p = count_size(tally_at(&places, x)[by_event]);
	uint64_t q = count_size(tally_at(&places, y)[by_event]);

	return p != q ? (p > q ? -1 : 1) : by_cost(a, b);
}

/* Mark the first `most` lines by each of the events. */
static bool *
mark(const size_t *ev, size_t nev, size_t most)
{
	bool *chosen = xcalloc(places.n + 1, sizeof *chosen);
	size_t *v = xmalloc((places.n + 1) * sizeof *v), i, k;

	for (i = 0; i < places.n; i++)
		v[i] = i;
	for (k = 0; k < nev; k++) {
		by_event = ev[k];
		qsort(v, places.n, sizeof *v, by_one_event);
		for (i = 0; i < places.n && i < most; i++)
			chosen[v[i]] |= tally_at(&places, v[i])[by_event] != 0;
	}
	free(v);
	return chosen;
}

/* Set the costliest function of each line, and how many others it has. */
static void
name_functions(struct hot_line *l, const size_t *row, size_t n)
{
	size_t *at = xcalloc(places.n + 1, sizeof *at), i;
	const int64_t **most = xcalloc(n + 1, sizeof *most);

	for (i = 0; i < n; i++)
		at[row[i]] = i + 1;
	for (i = 0; i < parts.n; i++) {
		size_t k = at[parts.key[i] >> 32];

		if (!k--)
			continue;
		l[k].others += most[k] != NULL;
		if (most[k] && cmp_counts(most[k], tally_at(&parts, i)) <= 0)
			continue;
		most[k] = tally_at(&parts, i);
		l[k].fn = (uint32_t)parts.key[i];
	}
	free(at);
	free(most);
}

struct hot_line *
hot_lines(const size_t *ev, size_t nev, size_t most, size_t *n, size_t *rest)
{
	size_t *v, i, k = 0;
	struct hot_line *l;
	bool *chosen;

	if (!places.hash)
		gather();
	chosen = mark(ev, nev, most);
	v = xmalloc((places.n + 1) * sizeof *v);
	for (i = 0; i < places.n; i++)
		if (chosen[i] && passes_threshold(tally_at(&places, i)))
			v[k++] = i;
	if (k)
		qsort(v, k, sizeof *v, by_cost);
	l = xcalloc(k + 1, sizeof *l);
	for (i = 0; i < k; i++) {
		l[i].file = places.key[v[i]] >> 32;
		l[i].line = (uint32_t)places.key[v[i]];
		l[i].n = tally_at(&places, v[i]);
	}
	name_functions(l, v, k);
	free(chosen);
	free(v);
	*n = k;
	*rest = places.n - k;
	return l;
}

static void
print_line(const struct cols *c, const struct hot_line *l)
{
	const char *text = source_line(str(l->file), l->line);

	heat_begin(l->n);
	cols_put(c, l->n, NULL);
	out_printf(out, " %s:%u", show(l->file), l->line);
	out_printf(out, " %s", show(costfn_get(prof.nm, l->fn).fn));
	if (l->others)
		out_printf(out, " and %zu more", l->others);
	if (text) {
		text += strspn(text, " \t");
		out_str(out, " | ");
		put_text(text, strcspn(text, "\r"));
	}
	heat_end();
	out_ch(out, '\n');
}

/* " less than 10 % of Ir and 25 % of D1mr", the thresholds */
static void
put_limits(void)
{
	const char *before = " less than";
	size_t i;

	for (i = 0; i < prof.nsort; i++)
		if (prof.limit[i] >= 0) {
			out_printf(out, "%s %g %% of %s", before,
			    prof.limit[i], prof.ev[prof.sort[i]]);
			before = " and";
		}
}

/* What the table leaves out: beyond --lines, or below the threshold. */
static void
put_rest(size_t rest)
{
	size_t low = 0, i;

	if (!rest)
		return;
	for (i = 0; i < places.n; i++)
		low += !passes_threshold(tally_at(&places, i));
	out_printf(out, "\n%zu more line%s", rest, rest == 1 ? "" : "s");
	if (rest > low)
		out_str(out, rest == 1 ? " has costs" : " have costs");
	if (low && rest > low)
		out_printf(out, ", %zu of them", low);
	else if (low)
		out_str(out, rest == 1 ? ", of" : ", each of");
	if (low)
		put_limits();
	out_ch(out, '\n');
}

void
print_lines(void)
{
	struct extremes x;
	struct cols c;
	size_t n, i, rest;
	struct hot_line *l = hot_lines(prof.sort, 1, opt.lines, &n, &rest);

	ext_init(&x);
	for (i = 0; i < n; i++)
		ext_add(&x, l[i].n);
	put_title("Line summary");
	cols_set(&c, &x, NULL);
	cols_head(&c, "", " file:line function | source");
	out_ch(out, '\n');
	for (i = 0; i < n; i++)
		print_line(&c, &l[i]);
	put_rest(rest);
	out_ch(out, '\n');
	free(l);
}
