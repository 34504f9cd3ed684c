/*
 * draw - draw the tree of frames
 *
 * A frame's width is what it and its callees spent.  Callees stand side by side
 * on top of their caller, sorted by name; the free space behind them is what
 * the caller spent itself.  A colour depends on the name alone, so a function
 * has the same colour in all pictures; in comparisons red is more, blue less,
 * and labels have signs.  Black letters have a contrast of 4.5 on every colour.
 *
 * Neighbours that are too narrow to be seen become one gray box.
 */
#include "flame.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "num.h"
#include "out.h"

enum { ROW = 17, MARGIN = 10, HEAD = 72, FOOT = 30 };
enum { MANY = 10000 };		/* frames drawn, unless --min-width says it */
#define EM	7.23		/* width of a letter */

/* Embed a file as a string. */
#define EMBED(name, file) \
	__asm__(".section .rodata\n.balign 8\n" #name ":\n.incbin \"" file \
	    "\"\n.byte 0\n.previous\n"); \
	extern const char name[] __attribute__((visibility("hidden")))
EMBED(flame_css, "cmd/fmt-svg/flame.css");
EMBED(flame_js, "cmd/fmt-svg/flame.js");

static struct out *out;
static const struct picture *pic;
static unsigned height;
static double scale;		/* pixels for a count of one */
static double least;		/* width of the narrowest frame drawn */
static size_t nsmall;		/* frames that are not drawn by themselves */

/* The length that the first byte of a UTF-8 character announces; 0: none. */
static size_t
announced(unsigned char c)
{
	if (c < 0x80)
		return 1;
	if (c < 0xc2 || c >= 0xf5)
		return 0;
	return c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

/* Bytes of the character at s; 0: XML allows no such character. */
static size_t
character(const char *s)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t n = announced(*p), i;

	if (*p < 0x20 || *p == 0x7f)
		return 0;
	for (i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	/* overlong, a surrogate, above U+10FFFF, or U+FFFE and U+FFFF */
	if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) ||
	    (*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] > 0x8f) ||
	    (*p == 0xef && p[1] == 0xbf && p[2] > 0xbd))
		return 0;
	return n;
}

static void
text(const char *s, size_t n)
{
	size_t k;

	for (; n > 0 && *s != '\0'; s += k, n -= k < n ? k : n) {
		k = character(s);
		if (k == 1) {
			out_xml(out, *s);
			continue;
		}
		out_write(out, k == 0 ? "?" : s, k + (k == 0));
		k += k == 0;
	}
}

/* Bytes of the first `chars' characters of UTF-8. */
static size_t
prefix(const char *s, size_t chars)
{
	size_t n = 0;

	for (; s[n] != '\0'; n++)
		if (((unsigned char)s[n] & 0xc0) != 0x80 && chars-- == 0)
			break;
	return n;
}

static size_t
length(const char *s)
{
	size_t n = 0;

	for (; *s != '\0'; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

/* A number with commas between thousands; two results may be in use. */
static const char *
commas(uint64_t n)
{
	static char buf[2][32];
	static int which;

	return num_commas_u64(buf[which ^= 1], n);
}

/* ---- colours ---- */

static uint32_t
hash(const char *s)
{
	uint32_t h = 2166136261u;

	for (; *s != '\0'; s++)
		h = (h ^ (unsigned char)*s) * 16777619u;
	return h ^ h >> 15;
}

static void
colour(const struct flame *f)
{
	uint32_t h = hash(f->name);
	double more, most;
	unsigned pale;		/* 105, strong, to 235, unchanged */

	if (f == frame) {
		out_str(out, "#ddd");
	} else if (!compared) {
		out_printf(out, "#%02x%02x%02x", 205 + h % 50,
		    75 + (h >> 8) % 145, 20 + (h >> 16) % 50);
	} else {
		more = (double)f->n - (double)f->old;
		most = (double)(f->n > f->old ? f->n : f->old);
		pale = 235 - (unsigned)(130 * (more < 0 ? -more : more) /
		    (most > 0 ? most : 1));
		out_printf(out, more > 0 ? "#ff%02x%02x" : more < 0 ?
		    "#%02x%02xff" : "#eeeeee", pale, pale);
	}
}

/* ---- frames ---- */

static void
info(const struct flame *f)
{
	double all = frame->n > 0 ? (double)frame->n : 1;

	text(f->name, SIZE_MAX);
	out_printf(out, ": %s ", commas(f->n));
	text(pic->what, SIZE_MAX);
	out_printf(out, ", %.2f%%", 100 * (double)f->n / all);
	if (compared)
		out_printf(out, "; before %s, %s%s", commas(f->old),
		    f->n < f->old ? "-" : "+",
		    commas(f->n < f->old ? f->old - f->n : f->n - f->old));
}

/* What a comparison adds to a label: " +25%", " new", or nothing. */
static void
change(const struct flame *f, char *text, size_t size)
{
	double percent = f->old == 0 ? 0 :
	    100 * ((double)f->n - (double)f->old) / (double)f->old;

	if (!compared || f->n == f->old)
		snprintf(text, size, "%s", "");
	else if (f->old == 0)
		snprintf(text, size, " new");
	else
		snprintf(text, size, percent > -10 && percent < 10 ?
		    " %+.1f%%" : " %+.0f%%", percent);
}

static void
label(const char *name, const char *after, double x, double y, double w)
{
	size_t most = w < 6 ? 0 : (size_t)((w - 6) / EM);

	if (most < 3)
		return;
	out_printf(out, "<text x=\"%.2f\" y=\"%.0f\">", x + 3, y + 12);
	if (length(name) + strlen(after) <= most) {
		text(name, SIZE_MAX);
		out_str(out, after);
	} else if (length(name) <= most) {
		text(name, SIZE_MAX);
	} else {
		text(name, prefix(name, most - 2));
		out_str(out, "..");
	}
	out_str(out, "</text>");
}

static unsigned
top_of(const struct flame *f)
{
	return pic->down ? HEAD + f->depth * ROW :
	    height - FOOT - (f->depth + 1) * ROW;
}

static void
box(const struct flame *f, double x)
{
	double w = (double)f->n * scale;
	unsigned y = top_of(f);
	char after[32];

	change(f, after, sizeof after);
	out_str(out, "<g class=\"f\" data-name=\"");
	text(f->name, SIZE_MAX);
	if (*after != '\0')
		out_printf(out, "\" data-change=\"%s", after);
	out_str(out, "\"><title>");
	info(f);
	out_printf(out, "</title><rect x=\"%.3f\" y=\"%u\" width=\"%.3f\" "
	    "height=\"%d\" fill=\"", x, y, w, ROW - 1);
	colour(f);
	out_str(out, "\"/>");
	label(f->name, after, x, y, w);
	out_str(out, "</g>\n");
}

static double
width_of(const struct flame *f)
{
	return (double)f->n * scale;
}

static bool
is_small(uint32_t f)
{
	return f != 0 && frame[f].n > 0 && width_of(&frame[f]) < least;
}

/* Draw f and the small frames behind it as one; returns the last of them. */
static uint32_t
merge(uint32_t f, double x)
{
	uint64_t sum = 0;
	size_t n = 0;
	uint32_t first = f, last = f;
	double all = frame->n > 0 ? (double)frame->n : 1;

	for (; f != NONE && (is_small(f) || frame[f].n == 0);
	    f = frame[f].next) {
		sum += frame[f].n;
		n += frame[f].n > 0;
		last = f;
	}
	if ((double)sum * scale < least || n < 2)
		return last;
	out_printf(out, "<g class=\"f s\" data-name=\"(%zu small)\"><title>"
	    "%zu small frames: %s ", n, n, commas(sum));
	text(pic->what, SIZE_MAX);
	out_printf(out, ", %.2f%%</title><rect x=\"%.3f\" y=\"%u\" "
	    "width=\"%.3f\" height=\"%d\"/>", 100 * (double)sum / all, x,
	    top_of(&frame[first]), (double)sum * scale, ROW - 1);
	out_str(out, "</g>\n");
	return last;
}

/* The frame behind f and all that is on top of it; NONE: f is the last. */
static uint32_t
behind(uint32_t f)
{
	while (frame[f].next == NONE && frame[f].up != NONE)
		f = frame[f].up;
	return frame[f].next;
}

/* Draw all frames, a caller before its callees. */
static void
boxes(double *x)		/* by depth: left edge of the next frame */
{
	uint32_t f = 0, last;

	x[0] = MARGIN;
	while (f != NONE) {
		const struct flame *p = &frame[f];

		if (is_small(f)) {
			last = merge(f, x[p->depth]);
			for (; f != last; f = frame[f].next)
				x[p->depth] += width_of(&frame[f]);
			x[p->depth] += width_of(&frame[last]);
			f = behind(last);
			continue;
		}
		/* without counts it may be higher than x is long */
		if (p->n > 0 || f == 0) {
			box(p, x[p->depth]);
			x[p->depth + 1] = x[p->depth];
			x[p->depth] += width_of(p);
		}
		f = p->first != NONE && p->n > 0 ? p->first : behind(f);
	}
}

/* ---- which frames ---- */

static int
by_width(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x > y ? -1 : x < y;
}

/* A tenth of a pixel, or more if too many frames have that. */
static double
choose_least(void)
{
	double width = 0.1;
	uint64_t *v = xmalloc((nframe + 1) * sizeof *v);
	size_t n = 0;

	for (size_t i = 0; i < nframe; i++)
		if (width_of(&frame[i]) >= width)
			v[n++] = frame[i].n;
	if (n > MANY) {
		qsort(v, n, sizeof *v, by_width);
		width = (double)v[MANY] * scale * 1.0000001;
	}
	free(v);
	return width;
}

/* The depth of the uppermost box: a small frame may be in one, too. */
static unsigned
drawn_depth(void)
{
	unsigned deepest = 0;

	for (size_t i = 0; i < nframe; i++)
		if (frame[i].depth > deepest && frame[i].n > 0 &&
		    !is_small((uint32_t)i))
			deepest = frame[i].depth;
	for (size_t i = 0; i < nframe; i++)
		if (frame[i].depth == deepest + 1 && frame[i].n > 0)
			return deepest + 1;
	return deepest;
}

/* How many counts of the run before are in stacks that are gone. */
static uint64_t
gone(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < nframe; i++)
		if (frame[i].n == 0 && frame[i].old > 0 &&
		    (frame[i].up == NONE || frame[frame[i].up].n > 0))
			sum += frame[i].old;
	return sum;
}

/* ---- around them ---- */

static void
words(const char *id, const char *class, unsigned x, unsigned y, const char *s)
{
	out_printf(out, "<text id=\"%s\" class=\"%s\" x=\"%u\" y=\"%u\">", id,
	    class, x, y);
	text(s, SIZE_MAX);
	out_str(out, "</text>\n");
}

/* What the picture does not show. */
static void
note(void)
{
	uint64_t lost = compared ? gone() : 0;

	out_printf(out, "<text id=\"note\" x=\"%u\" y=\"%u\">", MARGIN, 42);
	if (nsmall > 0)
		out_printf(out, "%s frames narrower than %.2g of %u pixels are "
		    "merged into gray ones. ", commas(nsmall), least,
		    pic->width);
	if (lost > 0) {
		out_printf(out, "%s ", commas(lost));
		text(pic->what, SIZE_MAX);
		out_printf(out, " of before are in stacks that are gone.");
	}
	out_str(out, "</text>\n");
}

static void
head(void)
{
	out_printf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	    "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" "
	    "width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\" "
	    "data-down=\"%d\" lang=\"en\">\n<title>", pic->width, height,
	    pic->width, height, pic->down);
	text(pic->title, SIZE_MAX);
	out_printf(out, "</title>\n<style>\n%s</style>\n<rect id=\"paper\" "
	    "width=\"100%%\" height=\"100%%\"/>\n", flame_css);
	words("title", "", pic->width / 2, 22, pic->title);
	words("back", "hidden", MARGIN, 62, "Reset zoom");
	words("find", "hidden", pic->width - MARGIN - 50, 62, "Search");
	words("info", "", MARGIN, height - 10, "");
	words("found", "", pic->width - MARGIN, height - 10, "");
}

void
draw(struct out *o, const struct picture *p)
{
	unsigned deepest = 0;
	double *x;

	out = o;
	pic = p;
	nsmall = 0;
	scale = (double)(p->width - 2 * MARGIN) /
	    (double)(frame->n > 0 ? frame->n : 1);
	least = p->least < 0 ? choose_least() : p->least;
	for (size_t i = 0; i < nframe; i++) {
		if (frame[i].depth > deepest && frame[i].n > 0)
			deepest = frame[i].depth;
		nsmall += is_small((uint32_t)i);
	}
	x = xmalloc((deepest + 2) * sizeof *x);
	height = HEAD + (drawn_depth() + 1) * ROW + FOOT;
	head();
	boxes(x);
	note();
	out_printf(out, "<script><![CDATA[\n%s]]></script>\n</svg>\n",
	    flame_js);
	free(x);
}
