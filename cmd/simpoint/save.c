/*
 * save - write the files of one clustering
 *
 * The files of simpoints ("interval cluster") and weights ("share cluster")
 * list the clusters that have a share, the heaviest until their sum is 1: none
 * that is empty, nor one whose share is lost in rounding ("-bugs mend" lists
 * that too).  The shares are those of k-means, so with a sample they are the
 * sample's.  Then a cluster may have a share although no interval is nearest to
 * its centre: its interval is -1.
 */
#include "cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "out.h"
#include "prog.h"

static char *
with_suffix(const char *name, const char *a, const char *b)
{
	char *s = xmalloc(strlen(name) + strlen(a) + strlen(b) + 1);

	stpcpy(stpcpy(stpcpy(s, name), a), b);
	return s;
}

/* Open a result with a suffixed name; "-" gets no suffix. */
static struct out *
open_suffixed(const char *name, const char *a, const char *b)
{
	char *full;
	struct out *o;

	if (strcmp(name, "-") == 0)
		return out_open(name);
	full = with_suffix(name, a, b);
	o = out_open(full);
	free(full);
	return o;
}

static void
save_chosen(const struct result *r, const bool *chosen, const char *a,
    const char *b)
{
	struct out *o;
	double sum = 0;
	size_t c;

	for (c = 0; c < r->k; c++)
		if (chosen[c])
			sum += r->p[c];
	if (opt.simpoints) {
		o = open_suffixed(opt.simpoints, a, b);
		for (c = 0; c < r->k; c++)
			if (chosen[c])
				out_printf(o, "%ld %zu\n", r->rep[c], c);
		out_close(o);
	}
	if (opt.weights) {
		o = open_suffixed(opt.weights, a, b);
		for (c = 0; c < r->k; c++)
			if (chosen[c])
				out_printf(o, "%g %zu\n", r->p[c] / sum, c);
		out_close(o);
	}
}

/* Choose the largest clusters, the later of equal ones, up to a share. */
static void
choose_largest(const struct result *r, double cover, bool *chosen)
{
	double sum = 0;
	size_t c, best;

	while (sum < cover || (opt.mend && cover >= 1)) {
		best = r->k;
		for (c = 0; c < r->k; c++)
			if (r->p[c] > 0 && !chosen[c] &&
			    (best == r->k || r->p[c] >= r->p[best]))
				best = c;
		if (best == r->k)
			break;
		chosen[best] = true;
		sum += r->p[best];
	}
}

static void
save_points(const struct result *r, const char *suffix)
{
	bool *chosen = xcalloc(r->k, sizeof *chosen);
	char cover[64];
	size_t c, lost = 0;

	choose_largest(r, 1, chosen);
	for (c = 0; c < r->k; c++)
		lost += chosen[c] && r->rep[c] < 0;
	if (lost > 0)
		warn("%zu clusters have a weight, but no interval is nearest "
		    "to them: interval -1", lost);
	save_chosen(r, chosen, "", suffix);
	if (opt.coverage < 1) {
		memset(chosen, 0, r->k * sizeof *chosen);
		choose_largest(r, opt.coverage, chosen);
		snprintf(cover, sizeof cover, ".lpt%g", opt.coverage);
		save_chosen(r, chosen, cover, suffix);
	}
	free(chosen);
}

static void
save_labels(const struct result *r, const char *suffix)
{
	struct out *o = open_suffixed(opt.labels, "", suffix);
	size_t i;

	for (i = 0; i < r->n; i++)
		out_printf(o, "%d %g\n", r->lab[i], r->dist[i]);
	out_close(o);
}

static void
save_centres(const struct matrix *m, const char *name, const char *suffix)
{
	char *full;

	full = strcmp(name, "-") == 0 ? xstrdup(name) :
	    with_suffix(name, suffix, "");
	matrix_write_text(m, full);
	free(full);
}

void
save_result(const struct result *r, const char *suffix)
{
	if (opt.simpoints || opt.weights)
		save_points(r, suffix);
	if (opt.labels)
		save_labels(r, suffix);
	if (opt.initctrs)
		save_centres(&r->init, opt.initctrs, suffix);
	if (opt.finalctrs)
		save_centres(&r->fin, opt.finalctrs, suffix);
}
