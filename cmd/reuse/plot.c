/*
 * plot - draw the curve, and the working sets over time: an SVG
 *
 * Both axes of the curve are logarithmic: sizes from a line to that which holds
 * all, ratios from that of the smallest to that of first uses. Dashed lines
 * are the machine's caches. A sample's curve has a band of two standard errors
 * to each side. The working set is the size of all lines, and of all pages,
 * that an interval touched. Threads have colours of their own.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axis.h"
#include "mem.h"
#include "out.h"
#include "reuse.h"

enum {
	WIDTH = 900, LEFT = 80, RIGHT = 30,	/* pixels */
	PLOT = WIDTH - LEFT - RIGHT,
	TOP = 76, CURVE = 300,
	GAP = 96, WORK = 180, FOOT = 62,
	HEIGHT = TOP + CURVE + GAP + WORK + FOOT,
	POINTS = 16,			/* of the curve, from a size to twice */
	MOST_THREADS = 8
};

static const char *const colours[MOST_THREADS] = { "#1f5fa8", "#c44e22",
	"#2e8b57", "#8a4fa3", "#a8861f", "#b03060", "#3a9aa8", "#555555" };

static struct out *out;

/* A scale of one axis: values to pixels. */
struct scale {
	double lo, hi;		/* of the values, or of their logarithms */
	double from, to;	/* pixels */
	bool log;
};

static double
pixel(const struct scale *s, double v)
{
	if (s->log)
		v = log2(v);
	v = s->hi > s->lo ? (v - s->lo) / (s->hi - s->lo) : 0;
	return s->from + fmin(fmax(v, 0), 1) * (s->to - s->from);
}

static void __attribute__((format(printf, 4, 5)))
label(double x, double y, const char *how, const char *fmt, ...)
{
	char text[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	out_printf(out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, how);
	for (const char *p = text; *p != '\0'; p++)
		out_xml(out, *p);
	out_str(out, "</text>\n");
}

#define MIDDLE	"text-anchor=\"middle\""
#define END	"text-anchor=\"end\""
#define START	"text-anchor=\"start\""

static void
rule(double x1, double y1, double x2, double y2)
{
	out_printf(out, "<path class=\"g\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", x1,
	    y1, x2, y2);
}

static void
frame(double y, double height)
{
	out_printf(out, "<rect class=\"f\" x=\"%d\" y=\"%.1f\" width=\"%d\" "
	    "height=\"%.1f\"/>\n", LEFT, y, PLOT, height);
}

/* ---- all threads' histories ---- */

static struct curve *curves;
static const struct history **shown;
static unsigned nshown;

static void
choose(void)
{
	shown = xcalloc(histories() + 1, sizeof *shown);
	curves = xcalloc(histories() + 1, sizeof *curves);
	for (unsigned i = 0; i < histories() && nshown < MOST_THREADS; i++) {
		const struct history *h = history_of(i);

		if (h->refs == 0)
			continue;
		curve_make(&curves[nshown], h);
		shown[nshown++] = h;
	}
}

static double
ratio(const struct curve *c, double misses)
{
	return misses / (double)c->h->refs;
}

/* ---- the curve ---- */

/* The sizes, in bytes, and the ratios that all curves have. */
static void
find_scales(struct scale *x, struct scale *y)
{
	double all = (double)(curve_first() << opt.shift) * 2, hi = 0, lo = 1;

	for (unsigned i = 0; i < nshown; i++) {
		const struct curve *c = &curves[i];
		uint64_t end = scaled(c->most) + 1;

		all = fmax(all, (double)end * (1 << opt.shift) * 1.5);
		hi = fmax(hi, ratio(c, curve_at(c, curve_first()).misses));
		lo = fmin(lo, ratio(c, curve_at(c, end).misses));
	}
	for (unsigned i = 0; i < ncache; i++)
		if ((double)caches[i].bytes < all * 256)
			all = fmax(all, (double)caches[i].bytes * 1.5);
	lo = fmax(lo, 1e-9);
	hi = fmax(hi, lo * 10);
	*x = (struct scale){
	    log2((double)(curve_first() << opt.shift)), log2(all),
	    LEFT, LEFT + PLOT, true };
	*y = (struct scale){ log2(pow(10, floor(log10(lo)))),
	    log2(fmin(1, hi * 1.2)), TOP + CURVE, TOP, true };
}

static void
curve_axes(const struct scale *x, const struct scale *y)
{
	char name[24];

	for (double k = ceil(x->lo); k <= x->hi; k++) {
		double at = pixel(x, exp2(k));

		rule(at, TOP, at, TOP + CURVE);
		if ((int)k % 2 == 0)
			label(at, TOP + CURVE + 16, MIDDLE, "%s",
			    size_name((uint64_t)exp2(k), name));
	}
	for (double v = 1; log2(v) >= y->lo - 0.01; v /= 10) {
		if (log2(v) <= y->hi) {
			rule(LEFT, pixel(y, v), LEFT + PLOT, pixel(y, v));
			label(LEFT - 8, pixel(y, v) + 4, END, "%g %%", 100 * v);
		}
		for (unsigned k = 2; k <= 5; k += 3) {
			double w = v / 10 * k, at = pixel(y, w);

			if (log2(w) < y->lo || log2(w) > y->hi)
				continue;
			rule(LEFT, at, LEFT + PLOT, at);
			if (y->hi - y->lo < 14)
				label(LEFT - 8, at + 4, END, "%g %%", 100 * w);
		}
	}
	frame(TOP, CURVE);
	label(LEFT + PLOT / 2.0, TOP + CURVE + 36, MIDDLE,
	    "size of an LRU cache, bytes (lines of %d)", 1 << opt.shift);
	out_printf(out, "<text transform=\"translate(18 %d) rotate(-90)\" %s>"
	    "miss ratio</text>\n", TOP + CURVE / 2, MIDDLE);
}

/* Lines of cache at one pixel after another. */
static uint64_t
lines_at(const struct scale *x, unsigned k)
{
	double bytes = exp2(x->lo + (double)k / POINTS);

	return (uint64_t)fmax(1, bytes / (1 << opt.shift) + 0.5);
}

static void
put_curve(const struct scale *x, const struct scale *y, unsigned i)
{
	const struct curve *c = &curves[i];
	unsigned n = (unsigned)((x->hi - x->lo) * POINTS) + 1;
	uint64_t last = 0;
	double down = TOP;

	out_printf(out, "<path class=\"c\" stroke=\"%s\" d=\"", colours[i]);
	for (unsigned k = 0; k <= n; k++) {
		uint64_t lines = lines_at(x, k);
		double at = pixel(x, (double)lines * (1 << opt.shift));

		if (lines == last)
			continue;
		down = pixel(y, fmax(1e-12, ratio(c,
		    curve_at(c, lines).misses)));
		/* a cache of fewer lines misses as many as one of `last' */
		if (last == 0)
			out_printf(out, "M%.1f %.1f", at, down);
		else
			out_printf(out, "H%.1fV%.1f", at, down);
		last = lines;
	}
	out_printf(out, "H%d\"/>\n", LEFT + PLOT);
}

/* Two standard errors above the curve, and back below it. */
static void
put_band(const struct scale *x, const struct scale *y, unsigned i)
{
	const struct curve *c = &curves[i];
	int n = (int)((x->hi - x->lo) * POINTS) + 1;

	if (opt.sample >= 1)
		return;
	out_printf(out, "<path fill=\"%s\" fill-opacity=\"0.18\" d=\"",
	    colours[i]);
	for (int k = 0; k <= 2 * n; k++) {
		unsigned at = (unsigned)(k <= n ? k : 2 * n - k);
		struct point p = curve_at(c, lines_at(x, at));

		out_printf(out, "%c%.1f %.1f", k == 0 ? 'M' : 'L', pixel(x,
		    (double)p.lines * (1 << opt.shift)), pixel(y, fmax(1e-12,
		    ratio(c, p.misses + (k <= n ? 2 : -2) * p.error))));
	}
	out_str(out, "Z\"/>\n");
}

static void
put_caches(const struct scale *x)
{
	char name[24];
	struct point p;
	double at;

	for (unsigned i = 0; i < ncache; i++) {
		if (log2((double)caches[i].bytes) > x->hi ||
		    log2((double)caches[i].bytes) < x->lo)
			continue;
		at = pixel(x, (double)caches[i].bytes);
		p = curve_at(&curves[0], in_lines(caches[i].bytes));
		out_printf(out, "<path class=\"m\" d=\"M%.1f %dV%d\"/>\n", at,
		    TOP - 4, TOP + CURVE);
		if (strcmp(caches[i].name, size_name(caches[i].bytes, name)) ==
		    0)
			name[0] = '\0';
		label(at, TOP - 22, MIDDLE, "%s%s%s", caches[i].name,
		    name[0] == '\0' ? "" : " ", name);
		if (nshown == 1)
			label(at, TOP - 8, MIDDLE, "%.3g %%",
			    100 * ratio(&curves[0], p.misses));
	}
}

static void
put_names(void)
{
	for (unsigned i = 0; nshown > 1 && i < nshown; i++) {
		double y = TOP + 18 + 16 * i;

		out_printf(out, "<path class=\"c\" stroke=\"%s\" "
		    "d=\"M%d %.1fh20\"/>\n", colours[i],
		    LEFT + PLOT - 130, y - 4);
		label(LEFT + PLOT - 104, y, START, "thread %llu",
		    (unsigned long long)shown[i]->tid);
	}
}

/* ---- working sets ---- */

static double
size_of_lines(const struct work_row *r)
{
	return (double)r->lines / opt.sample * (1 << opt.shift);
}

static double
size_of_pages(const struct work_row *r)
{
	return (double)r->pages * (1 << PAGE_SHIFT);
}

#define COLUMNS	512

static void
work_scales(struct scale *x, struct scale *y)
{
	double insns = 1, bytes = 1;

	for (unsigned i = 0; i < nshown; i++) {
		uint64_t length;
		const struct work_level *l = work_level(&shown[i]->work,
		    COLUMNS, &length);

		insns = fmax(insns, (double)shown[i]->insns);
		for (size_t k = 0; k < l->n; k++) {
			bytes = fmax(bytes, size_of_lines(&l->row[k]));
			if (opt.sample >= 1 && nshown == 1)
				bytes = fmax(bytes, size_of_pages(&l->row[k]));
		}
	}
	*x = (struct scale){ 0, insns, LEFT, LEFT + PLOT, false };
	*y = (struct scale){ 0, bytes * 1.08, TOP + CURVE + GAP + WORK,
	    TOP + CURVE + GAP, false };
}

/* Choose a unit: the largest of which v has one or more. */
static const char *
unit(double v, double k, const char *const *names, double *one)
{
	*one = 1;
	while (names[1] != NULL && v >= *one * k) {
		*one *= k;
		names++;
	}
	return *names;
}

static void
work_axes(const struct scale *x, const struct scale *y)
{
	static const char *const counts[] = { "", "thousand ", "million ",
		"billion ", NULL };
	static const char *const bytes[] = { "bytes", "KiB", "MiB", "GiB",
		"TiB", NULL };
	double one, step, bottom = y->from;
	const char *name = unit(x->hi, 1000, counts, &one);

	step = axis_step(x->hi / one, 10);
	for (double v = 0; v * one <= x->hi; v += step)
		label(pixel(x, v * one), bottom + 16, MIDDLE, "%g", v);
	label(LEFT + PLOT / 2.0, bottom + 36, MIDDLE, "time, %sinstructions",
	    name);
	name = unit(y->hi, 1024, bytes, &one);
	step = axis_step(y->hi / one, 5);
	for (double v = 0; v * one <= y->hi; v += step) {
		rule(LEFT, pixel(y, v * one), LEFT + PLOT, pixel(y, v * one));
		label(LEFT - 8, pixel(y, v * one) + 4, END, "%g", v);
	}
	frame(y->to, y->from - y->to);
	out_printf(out, "<text transform=\"translate(18 %.0f) rotate(-90)\" %s>"
	    "working set, %s</text>\n", (y->from + y->to) / 2, MIDDLE, name);
}

static void
put_steps(const struct scale *x, const struct scale *y, unsigned i,
    double (*size)(const struct work_row *))
{
	uint64_t length, at = 0;
	const struct work_level *l = work_level(&shown[i]->work, COLUMNS,
	    &length);

	out_printf(out, "<path class=\"c%s\" stroke=\"%s\" d=\"",
	    size == size_of_pages ? " p" : "", colours[i]);
	for (size_t k = 0; k < l->n; k++) {
		out_printf(out, "%s%.1f %.1f", k == 0 ? "M" : "L",
		    pixel(x, (double)at), pixel(y, size(&l->row[k])));
		at += l->row[k].insns;
		out_printf(out, "H%.1f", pixel(x, (double)at));
	}
	out_str(out, "\"/>\n");
}

static void
work_sets(void)
{
	struct scale x, y;
	uint64_t length, longest = 0;
	double legend;

	work_scales(&x, &y);
	work_axes(&x, &y);
	legend = y.to - 8;
	for (unsigned i = 0; i < nshown; i++) {
		work_level(&shown[i]->work, COLUMNS, &length);
		longest = length > longest ? length : longest;
	}
	label(LEFT, legend, START, "touched in each %llu instructions%s: lines "
	    "(solid)%s", (unsigned long long)longest,
	    nshown == 1 ? "" : ", or fewer in short threads", nshown == 1 &&
	    opt.sample >= 1 ? ", whole pages of 4096 bytes (dotted)" : "");
	for (unsigned i = 0; i < nshown; i++) {
		put_steps(&x, &y, i, size_of_lines);
		if (nshown == 1 && opt.sample >= 1)
			put_steps(&x, &y, i, size_of_pages);
	}
}

/* ---- */

static void
head(void)
{
	out_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" "
	    "width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n",
	    WIDTH, HEIGHT, WIDTH, HEIGHT);
	out_str(out, "<style>text{font:12px sans-serif;fill:#222}"
	    ".g{stroke:#e4e4e8;stroke-width:1}"
	    ".f{fill:none;stroke:#888}"
	    ".c{fill:none;stroke-width:1.8}"
	    ".p{stroke-dasharray:1 3;stroke-linecap:round}"
	    ".b{font-weight:bold}"
	    ".m{stroke:#b00;stroke-dasharray:5 4}</style>\n");
	out_printf(out, "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
	    WIDTH, HEIGHT);
	label(LEFT, 24, "class=\"b\"", "Reuse of %s%s%.90s",
	    !opt.code ? "data" : opt.data ? "data and code" : "code",
	    command != NULL ? ": " : "", command != NULL ? command : "");
	if (opt.sample < 1)
		label(LEFT + PLOT, 24, END, "sample of %g %% of the lines",
		    100 * opt.sample);
}

void
plot(const char *file)
{
	struct scale x, y;

	choose();
	out = out_open(file);
	head();
	if (nshown == 0)
		label(LEFT, TOP, START, "no references");
	if (nshown != 0) {
		find_scales(&x, &y);
		curve_axes(&x, &y);
		for (unsigned i = 0; i < nshown; i++)
			put_band(&x, &y, i);
		for (unsigned i = 0; i < nshown; i++)
			put_curve(&x, &y, i);
		put_caches(&x);
		put_names();
		work_sets();
	}
	out_str(out, "</svg>\n");
	out_close(out);
}
