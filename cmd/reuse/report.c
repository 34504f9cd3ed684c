/*
 * report - the text: a table a paragraph, a word that names it on each line
 *
 *	refs 5
 *	curve 128 2 4 0.800000
 *
 * so that awk '$1 == "curve"' takes one out. reuse(1) has the columns.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "funcs.h"
#include "out.h"
#include "reuse.h"

#define OCTAVE	4		/* points of the curve from one size to twice */
#define ROWS	32		/* intervals, if the user chose none */

static struct out *out;

/* ---- all uses ---- */

static double
share(double n, uint64_t of)
{
	return of == 0 ? 0 : n / (double)of;
}

/* Of a sample: as many as there would be of all. */
static double
whole(uint64_t n)
{
	return (double)n / opt.sample;
}

/* Uses of a distance, in all groups. */
static uint64_t
uses_of(const struct curve *c, uint64_t distance)
{
	uint64_t n = 0;

	for (unsigned g = 0; g < GROUPS; g++)
		n += count_of(&c->h->distances[g], distance);
	return n;
}

static uint64_t
cold_of(const struct history *h)
{
	uint64_t n = 0;

	for (unsigned g = 0; g < GROUPS; g++)
		n += h->distances[g].cold;
	return n;
}

/* Mean and median distance of uses that are not the first of their line. */
static void
averages(const struct curve *c)
{
	uint64_t n = 0, half, median = 0;
	double sum = 0;

	for (uint64_t d = 0; d <= c->most; d++) {
		n += uses_of(c, d);
		sum += (double)uses_of(c, d) * (double)scaled(d);
	}
	half = n;
	for (uint64_t d = 0; d <= c->most && half > n / 2; d++) {
		half -= uses_of(c, d);
		median = d;
	}
	out_printf(out, "mean %.2f\nmedian %" PRIu64 "\nlargest %" PRIu64 "\n",
	    share(sum, n), scaled(median), scaled(c->most));
}

static void
totals(const struct curve *c)
{
	const struct history *h = c->h;

	out_printf(out, "insns %" PRIu64 "\nrefs %" PRIu64 "\n", h->insns,
	    h->refs);
	out_printf(out, "lines %.0f\n", whole(h->lru.nline));
	if (opt.sample < 1)
		out_printf(out, "sampled %" PRIu32 "\n", h->lru.nline);
	else
		out_printf(out, "pages %" PRIu32 "\n", h->work.npage);
	out_printf(out, "cold %.0f\n", whole(cold_of(h)));
	averages(c);
}

/* Distances, from one power of two to the next. */
static void
histogram(const struct curve *c)
{
	uint64_t to, n;

	out_str(out, "\n# hist from to refs share\n");
	for (uint64_t d = 0; d <= c->most; d = to + 1) {
		to = d == 0 ? 0 : 2 * d - 1;
		n = 0;
		for (uint64_t k = d; k <= to && k <= c->most; k++)
			n += uses_of(c, k);
		out_printf(out, "hist %" PRIu64 " %" PRIu64 " %.0f %.6f\n",
		    scaled(d), to == 0 ? 0 : scaled(to + 1) - 1, whole(n),
		    share(whole(n), c->h->refs));
	}
	out_printf(out, "hist cold - %.0f %.6f\n", whole(cold_of(c->h)),
	    share(whole(cold_of(c->h)), c->h->refs));
}

/* ---- the curve ---- */

static void
put_point(const char *what, uint64_t bytes, struct point p, uint64_t refs)
{
	out_printf(out, "%s %" PRIu64 " %" PRIu64 " %.0f %.6f", what, bytes,
	    p.lines, p.misses, share(p.misses, refs));
	if (opt.sample < 1)
		out_printf(out, " %.6f", share(p.error, refs));
	out_ch(out, '\n');
}

static void
put_lines(const struct curve *c, uint64_t lines)
{
	put_point("curve", lines << opt.shift, curve_at(c, lines),
	    c->h->refs);
}

static void
curve(const struct curve *c)
{
	uint64_t end = scaled(c->most) + 1;

	out_printf(out, "\n# curve bytes lines misses ratio%s\n",
	    opt.sample < 1 ? " error" : "");
	for (unsigned i = 0; i < curve_nsize; i++)
		put_point("curve", curve_size[i].bytes, curve_at(c,
		    in_lines(curve_size[i].bytes)), c->h->refs);
	if (curve_nsize != 0)
		return;
	for (uint64_t n = curve_first(), by; ; n += by) {
		put_lines(c, n < end ? n : end);
		if (n >= end)
			break;
		by = 1;
		while (!opt.all_sizes && by * 2 * OCTAVE <= n)
			by *= 2;
	}
}

static void
machine(const struct curve *c)
{
	char what[64];

	if (ncache == 0)
		return;
	out_printf(out, "\n# cache name bytes lines misses ratio%s\n",
	    opt.sample < 1 ? " error" : "");
	for (unsigned i = 0; i < ncache; i++) {
		snprintf(what, sizeof what, "cache %s", caches[i].name);
		put_point(what, caches[i].bytes,
		    curve_at(c, in_lines(caches[i].bytes)), c->h->refs);
	}
}

/* ---- working sets ---- */

static void
intervals(const struct work *w)
{
	uint64_t length, at = 0;
	const struct work_level *l = work_level(w, ROWS, &length);

	out_printf(out, "\n# interval from insns refs lines%s new\n",
	    opt.sample < 1 ? "" : " pages");
	for (size_t i = 0; i < l->n; at += l->row[i++].insns) {
		const struct work_row *r = &l->row[i];

		out_printf(out, "interval %" PRIu64 " %" PRIu64 " %" PRIu64
		    " %.0f", at, r->insns, r->refs, whole(r->lines));
		if (opt.sample >= 1)
			out_printf(out, " %" PRIu64, r->pages);
		out_printf(out, " %.0f\n", whole(r->fresh));
	}
}

/* ---- functions ---- */

/* Columns of a function: references, misses of the first cache, cold; then
 * its row, by size. */
enum { REFS, MISSES, COLD, BY_SIZE };

static struct funcs *functions;
static const struct insns *insns;
static unsigned first_cache;	/* index in sizes[] */

static void
add_insn(const struct insns_at *at, int64_t *n)
{
	const struct row *r = &rows[insns_first(insns, at->block) + at->insn];
	int64_t *f;

	(void)n;
	if (refs_of(at) == 0)
		return;
	f = funcs_at(functions, at);
	f[REFS] += (int64_t)(at->times * refs_of(at)) + r->extra;
	if (r->n == NULL)
		return;
	f[COLD] += (int64_t)r->n[nsize];
	for (unsigned k = 0; k <= nsize; k++) {
		f[BY_SIZE + k] += (int64_t)r->n[k];
		if (k >= first_cache)
			f[MISSES] += (int64_t)r->n[k];
	}
}

/* The smallest size that misses at most this share of the later uses. */
static uint64_t
enough(const struct func_sum *f, double missed)
{
	double all = (double)f->n[REFS] - whole((uint64_t)f->n[COLD]);
	uint64_t sum = 0;
	unsigned k = nsize;

	while (k > 0 && whole(sum + (uint64_t)f->n[BY_SIZE + k - 1]) <=
	    missed * all)
		sum += (uint64_t)f->n[BY_SIZE + --k];
	return k == nsize ? 2 * sizes[nsize - 1].bytes : sizes[k].bytes;
}

static void
put_function(const struct func_sum *f)
{
	out_printf(out, "function %" PRId64 " %.0f %.0f %" PRIu64 " %" PRIu64
	    " %" PRIu64 " ", f->n[REFS], whole((uint64_t)f->n[MISSES]),
	    whole((uint64_t)f->n[COLD]), enough(f, 0.1), enough(f, 0.01),
	    enough(f, 0));
	funcs_put(out, f);
}

static void
by_function(struct simrun *s)
{
	char name[24];
	size_t n;

	while (first_cache + 1 < nsize && sizes[first_cache].bytes <
	    (ncache != 0 ? caches[0].bytes : 32768))
		first_cache++;
	insns = s->insns;
	functions = funcs_new(s->map, BY_SIZE + nsize + (size_t)1);
	simrun_insns(s, add_insn);
	funcs_sort(functions, MISSES);
	out_printf(out, "\n# function refs misses-%s cold to-10%% to-1%% to-0 "
	    "object name\n", size_name(sizes[first_cache].bytes, name));
	n = funcs_count(functions);
	for (size_t i = 0; i < n && i < opt.nfunction; i++)
		put_function(funcs_get(functions, i));
}

/* ---- */

static void
tell(const struct history *h)
{
	struct curve c;

	curve_make(&c, h);
	totals(&c);
	histogram(&c);
	curve(&c);
	machine(&c);
	intervals(&h->work);
	curve_free(&c);
}

void
report(struct simrun *s)
{
	out = s->out;
	out_printf(out, "# reuse distances of %s, lines of %d bytes\n",
	    !opt.code ? "data" : opt.data ? "data and code" : "code",
	    1 << opt.shift);
	if (command != NULL)
		out_printf(out, "# %s\n", command);
	for (unsigned i = 0; i < histories(); i++) {
		const struct history *h = history_of(i);

		if (opt.threads && !h->used)
			continue;
		if (opt.threads)
			out_printf(out, "\nthread %u %" PRIu64 "\n", i + 1,
			    h->tid);
		tell(h);
	}
	if (opt.nfunction != 0)
		by_function(s);
	if (s->whole)
		out_str(out, "\nend\n");
}

void
summary(const struct simrun *s)
{
	struct curve c;
	char name[24];

	(void)s;
	for (unsigned i = 0; i < histories(); i++) {
		const struct history *h = history_of(i);

		curve_make(&c, h);
		fprintf(stderr, "%" PRIu64 " references, %.0f lines of %d "
		    "bytes\n", h->refs, whole(h->lru.nline), 1 << opt.shift);
		for (unsigned k = 0; k < ncache; k++) {
			double n = curve_at(&c,
			    in_lines(caches[k].bytes)).misses;

			fprintf(stderr, "%s of %s, LRU: %.0f misses, "
			    "%.4f %%\n", caches[k].name,
			    size_name(caches[k].bytes, name), n,
			    100 * share(n, h->refs));
		}
		curve_free(&c);
	}
}
