/*
 * draw - draw the tree of frames
 *
 * A frame's width is what it and its callees spent.  Callees stand side by side
 * on top of their caller, sorted by name; the free space behind them is what
 * the caller spent itself.  A colour depends on the name alone, so a function
 * has the same colour in all pictures; in comparisons red is more, blue less.
 */
#include "flame.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "out.h"
#include "util.h"

enum { ROW = 17, MARGIN = 10, HEAD = 48, FOOT = 34 };
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
	char *p = buf[which ^= 1] + 31;
	int k = 0;

	*p = '\0';
	do {
		if (k++ % 3 == 0 && k > 1)
			*--p = ',';
		*--p = (char)('0' + n % 10);
	} while ((n /= 10) != 0);
	return p;
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
	unsigned pale;		/* 80, strong, to 235, unchanged */

	if (f == frame) {
		out_str(out, "#ddd");
	} else if (!compared) {
		out_printf(out, "#%02x%02x%02x", 205 + h % 50,
		    70 + (h >> 8) % 150, 20 + (h >> 16) % 50);
	} else {
		more = (double)f->n - (double)f->old;
		most = (double)(f->n > f->old ? f->n : f->old);
		pale = 235 - (unsigned)(155 * (more < 0 ? -more : more) /
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

static void
label(const char *name, double w)
{
	size_t most = w < 6 ? 0 : (size_t)((w - 6) / EM);

	if (most < 3)
		return;
	if (length(name) <= most) {
		text(name, SIZE_MAX);
		return;
	}
	text(name, prefix(name, most - 2));
	out_str(out, "..");
}

static void
box(const struct flame *f, double x)
{
	double w = (double)f->n * scale;
	unsigned y = pic->down ? HEAD + f->depth * ROW :
	    height - FOOT - (f->depth + 1) * ROW;

	out_str(out, "<g class=\"f\" data-name=\"");
	text(f->name, SIZE_MAX);
	out_str(out, "\"><title>");
	info(f);
	out_printf(out, "</title><rect x=\"%.3f\" y=\"%u\" width=\"%.3f\" "
	    "height=\"%d\" fill=\"", x, y, w, ROW - 1);
	colour(f);
	out_printf(out, "\"/><text x=\"%.2f\" y=\"%u\">", x + 3, y + 12);
	label(f->name, w);
	out_str(out, "</text></g>\n");
}

/* Draw all frames, a caller before its callees. */
static void
boxes(void)
{
	static double *x;	/* by depth: left edge of the next frame */
	uint32_t f = 0, deepest = 0;

	for (size_t i = 0; i < nframe; i++)
		if (frame[i].depth > deepest)
			deepest = frame[i].depth;
	x = xmalloc((deepest + 2) * sizeof *x);
	x[0] = MARGIN;
	while (f != NONE) {
		const struct flame *p = &frame[f];
		double w = (double)p->n * scale;

		if (w >= pic->least || f == 0)
			box(p, x[p->depth]);
		x[p->depth + 1] = x[p->depth];
		x[p->depth] += w;
		if (p->first != NONE && w >= pic->least) {
			f = p->first;
			continue;
		}
		while (frame[f].next == NONE && frame[f].up != NONE)
			f = frame[f].up;
		f = frame[f].next;
	}
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

void
draw(struct out *o, const struct picture *p)
{
	unsigned deepest = 0;

	out = o;
	pic = p;
	scale = (double)(p->width - 2 * MARGIN) /
	    (double)(frame->n > 0 ? frame->n : 1);
	for (size_t i = 0; i < nframe; i++)
		if (frame[i].depth > deepest &&
		    (double)frame[i].n * scale >= p->least)
			deepest = frame[i].depth;
	height = HEAD + (deepest + 1) * ROW + FOOT;
	out_printf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	    "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" "
	    "width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\" "
	    "data-down=\"%d\">\n", p->width, height, p->width, height,
	    p->down);
	out_printf(out, "<style>\n%s</style>\n", flame_css);
	out_printf(out, "<rect width=\"100%%\" height=\"100%%\" "
	    "fill=\"#fdfdfb\"/>\n");
	words("title", "", p->width / 2, 24, p->title);
	words("back", "hidden", MARGIN, 24, "Reset zoom");
	words("find", "hidden", p->width - MARGIN - 50, 24, "Search");
	words("info", "", MARGIN, height - 12, "");
	words("found", "", p->width - MARGIN, height - 12, "");
	boxes();
	out_printf(out, "<script><![CDATA[\n%s]]></script>\n</svg>\n",
	    flame_js);
}
