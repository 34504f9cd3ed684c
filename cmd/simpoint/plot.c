/*
 * plot - draw a picture (SVG): which phase ran when, and how k was chosen
 *
 * From top to bottom: a band that shows the phases over time by colour; a lane
 * for each phase, in order of first appearance, with its weight and its
 * simpoint (a dark line); the score of each k tried.  If there are more
 * intervals than half pixels, they share cells: a cell of the band has the
 * colour of its most frequent phase; in a lane, its opacity is the share of the
 * phase.
 */
#include "cluster.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axis.h"
#include "mem.h"
#include "out.h"

enum {
	WIDTH = 980, LEFT = 80, RIGHT = 170,	/* pixels */
	PLOT = WIDTH - LEFT - RIGHT,
	TOP = 44, BAND = 26, GAP = 10, LANE = 20, BAR = 14,
	SCORES = 110,			/* height of the scores' chart */
	CELLS = 2 * PLOT,
};

static struct out *out;
static const struct result *res;
static size_t ncell;		/* cells of each lane */
static unsigned *in_cell;	/* k rows of ncell: intervals of the phase */
static size_t *order, nlane;	/* phase of each lane */

static size_t
cell_of(size_t i)
{
	return i * ncell / res->n;
}

static void
count_cells(void)
{
	bool *seen = xcalloc(res->k, sizeof *seen);
	size_t i;
	int c;

	ncell = res->n < CELLS ? res->n : CELLS;
	in_cell = xcalloc(res->k * ncell, sizeof *in_cell);
	order = xcalloc(res->k, sizeof *order);
	for (i = 0; i < res->n; i++) {
		c = res->lab[i];
		in_cell[(size_t)c * ncell + cell_of(i)]++;
		if (!seen[c]) {
			seen[c] = true;
			order[nlane++] = (size_t)c;
		}
	}
	free(seen);
}

/* Hues are a golden angle apart; neighbours differ in lightness, too. */
static void
put_colour(size_t lane)
{
	out_printf(out, "hsl(%d,%d%%,%d%%)", (int)fmod((double)lane * 137.508 +
	    210, 360), 62, lane % 2 ? 62 : 46);
}

static double
x_of(double interval)
{
	return LEFT + interval / (double)res->n * PLOT;
}

static double
x_of_cell(size_t cell)
{
	return LEFT + (double)cell / (double)ncell * PLOT;
}

/* where a text stands; it is put without escapes */
struct label_at {
	double x, y;
	const char *anchor;
	int size;
};

static void __attribute__((format(printf, 2, 3)))
put_text(struct label_at p, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	out_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" "
	    "font-size=\"%d\">%s</text>\n", p.x, p.y, p.anchor, p.size, text);
}

static void
put_cells(size_t from, size_t to, double y, double height)
{
	out_printf(out,
	    "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" "
	    "fill=\"", x_of_cell(from), y, x_of_cell(to) - x_of_cell(from),
	    height);
}

static size_t
most_in(size_t cell)
{
	size_t l, best = 0;

	for (l = 1; l < nlane; l++)
		if (in_cell[order[l] * ncell + cell] >
		    in_cell[order[best] * ncell + cell])
			best = l;
	return best;
}

static void
band(void)
{
	size_t from, to, lane;

	for (from = 0; from < ncell; from = to) {
		lane = most_in(from);
		for (to = from + 1; to < ncell && most_in(to) == lane; to++)
			continue;
		put_cells(from, to, TOP, BAND);
		put_colour(lane);
		out_str(out, "\"/>\n");
	}
}

static unsigned
cell_size(size_t cell)
{
	unsigned n = 0;
	size_t l;

	for (l = 0; l < nlane; l++)
		n += in_cell[order[l] * ncell + cell];
	return n;
}

/* The phase's share of a cell's intervals in tenths, rounded up. */
static unsigned
tenths(const unsigned *cells, size_t cell)
{
	unsigned n = cells[cell];

	return n ? (n * 10 + cell_size(cell) - 1) / cell_size(cell) : 0;
}

static void
lane_cells(size_t lane, double y)
{
	const unsigned *cells = in_cell + order[lane] * ncell;
	size_t from, to;
	unsigned t;

	for (from = 0; from < ncell; from = to) {
		t = tenths(cells, from);
		for (to = from + 1; to < ncell && tenths(cells, to) == t; to++)
			continue;
		if (t == 0)
			continue;
		put_cells(from, to, y + (LANE - BAR) / 2, BAR);
		put_colour(lane);
		out_printf(out, "\" fill-opacity=\"%.2f\"/>\n",
		    t == 10 ? 1 : 0.15 + 0.08 * t);
	}
}

static void
put_lane(size_t lane, double y)
{
	size_t c = order[lane];
	double x;

	out_printf(out, "<rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%d\" "
	    "fill=\"#f1f1f3\"/>\n", LEFT, y + (LANE - BAR) / 2, PLOT, BAR);
	lane_cells(lane, y);
	put_text((struct label_at){ LEFT - 8, y + 14, "end", 12 }, "phase %zu",
	    c);
	if (!(res->p[c] > 0) || res->rep[c] < 0)
		return;
	x = x_of((double)res->rep[c] + 0.5);
	out_printf(out, "<path d=\"M%.2f %.1fv%d\" stroke=\"#fff\" "
	    "stroke-width=\"5\"/>\n<path d=\"M%.2f %.1fv%d\" stroke=\"#111\" "
	    "stroke-width=\"2\"/>\n", x, y, LANE, x, y, LANE);
	put_text((struct label_at){ WIDTH - RIGHT + 8, y + 14, "start", 12 },
	    "%.1f %%, interval %ld", 100 * res->p[c], res->rep[c]);
}

static void
time_axis(double y)
{
	double step = fmax(1, axis_step((double)res->n, 10)), i, x;

	out_printf(out, "<path d=\"M%d %.1fh%d\" stroke=\"#777\"/>\n", LEFT, y,
	    PLOT);
	for (i = 0; i <= (double)res->n; i += step) {
		x = x_of(i);
		out_printf(out, "<path d=\"M%.1f %.1fv5\" stroke=\"#777\"/>\n",
		    x, y);
		put_text((struct label_at){ x, y + 18, "middle", 11 }, "%.0f",
		    i);
	}
	put_text((struct label_at){ LEFT - 12, y + 18, "end", 11 }, "interval");
}

struct scale {
	double lo, hi, most;	/* scores; the highest k */
	double y;		/* of the top */
};

static double
x_of_k(const struct scale *s, size_t k)
{
	return LEFT + PLOT * (double)k / (s->most + 1);
}

static void
put_score(const struct scale *s, size_t r)
{
	double bic = runs[r].best->bic, x, y;

	if (!isfinite(bic))
		return;
	x = x_of_k(s, runs[r].k);
	y = s->y + SCORES * (s->hi - bic) / (s->hi - s->lo);
	out_printf(out,
	    "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%d\" fill=\"%s\"/>\n", x, y,
	    r == res->run ? 6 : 4, r == res->run ? "#c22" : "#456");
	if (r == res->run)
		put_text((struct label_at){ x, y > s->y + SCORES - 24 ? y - 12 :
		    y + 26, "middle", 12 }, "k = %zu", runs[r].k);
}

/* Put the values of k below the chart, where there is room. */
static void
score_axis(const struct scale *s)
{
	double x, last = -100;
	size_t k, r;

	for (k = 1; k <= (size_t)s->most; k++) {
		for (r = 0; r < nruns && runs[r].k != k; r++)
			continue;
		x = x_of_k(s, k);
		if (r == nruns || x - last < 22)
			continue;
		put_text((struct label_at){ x, s->y + SCORES + 15, "middle",
		    11 }, "%zu", k);
		last = x;
	}
	put_text((struct label_at){ LEFT - 12, s->y + SCORES + 15, "end", 11 },
	    "k");
}

static void
find_scale(struct scale *s)
{
	size_t r;
	double b;

	s->lo = INFINITY;
	s->hi = -INFINITY;
	s->most = 0;
	for (r = 0; r < nruns; r++) {
		b = runs[r].best->bic;
		s->most = fmax(s->most, (double)runs[r].k);
		if (!isfinite(b))
			continue;
		s->lo = fmin(s->lo, b);
		s->hi = fmax(s->hi, b);
	}
}

/* The score of each k, and a line at the threshold in their range. */
static void
scores(double y)
{
	struct scale s = { .y = y };
	double at;
	size_t r;

	find_scale(&s);
	if (!(s.hi > s.lo))
		return;
	put_text((struct label_at){ LEFT, y - 12, "start", 12 },
	    "score (BIC) of each k; chosen: the smallest k above the line");
	at = y + SCORES * (1 - opt.bicthreshold);
	out_printf(out, "<rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%d\" "
	    "fill=\"none\" stroke=\"#bbb\"/>\n<path d=\"M%d %.1fh%d\" "
	    "stroke=\"#c22\" stroke-dasharray=\"5 4\"/>\n", LEFT, y, PLOT,
	    SCORES, LEFT, at, PLOT);
	put_text((struct label_at){ LEFT - 8, y + 8, "end", 11 }, "%.4g", s.hi);
	put_text((struct label_at){ LEFT - 8, y + SCORES, "end", 11 }, "%.4g",
	    s.lo);
	score_axis(&s);
	for (r = 0; r < nruns; r++)
		if (r != res->run)
			put_score(&s, r);
	put_score(&s, res->run);
}

/* The title, with the sum of all values, usually instructions. */
static void
title(const struct fv *f)
{
	static const char *const unit[] = { "", " k", " M", " G", " T", " P" };
	double all = 0;
	size_t i;

	for (i = 0; i < res->n && f->sum; i++)
		all += f->sum[i];
	for (i = 0; all >= 10000 && i < 5; i++)
		all /= 1000;
	if (f->sum)
		put_text((struct label_at){ LEFT, 24, "start", 16 },
		    "%zu phases in %zu intervals, %.4g%s counts in all", nlane,
		    res->n, all, unit[i]);
	else
		put_text((struct label_at){ LEFT, 24, "start", 16 },
		    "%zu phases in %zu intervals", nlane, res->n);
}

void
plot_write(const struct result *r, const struct fv *f)
{
	double y = TOP + BAND + GAP, height;
	size_t l;

	res = r;
	count_cells();
	height = y + (double)nlane * LANE + 40;
	if (nruns > 1)
		height += 40 + SCORES + 30;
	out = out_open(opt.plot);
	out_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" "
	    "width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d %.0f\" "
	    "font-family=\"sans-serif\" fill=\"#222\">\n"
	    "<rect width=\"%d\" height=\"%.0f\" fill=\"#fff\"/>\n",
	    WIDTH, height, WIDTH, height, WIDTH, height);
	title(f);
	put_text((struct label_at){ LEFT - 8, TOP + 18, "end", 12 }, "all");
	band();
	for (l = 0; l < nlane; l++, y += LANE)
		put_lane(l, y);
	time_axis(y + 4);
	if (nruns > 1)
		scores(y + 70);
	out_str(out, "</svg>\n");
	out_close(out);
}
