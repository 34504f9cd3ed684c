/*
 * htmlhead - the page's head, with its style, and its end, with its script
 *
 * The style ends with rules that depend on the profile: which cells are an
 * event's, to hide them, and to name them in narrow windows, where rows wrap.
 * The policy lets the browser use this style and this script, by their hashes,
 * and nothing else, so what names contain cannot run, load or send anything.
 */
#include "html.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "out.h"
#include "prog.h"
#include "sha256.h"

/* Embed a file as a string. */
#define TEXT_OF(name, path)						\
	__asm__(".pushsection .rodata\n"				\
	    #name ":\n.incbin \"" path "\"\n"				\
	    ".byte 0\n.popsection\n");					\
	extern const char name[] __attribute__((visibility("hidden")))

TEXT_OF(page_css, "cmd/annotate/page.css");
TEXT_OF(page_js, "cmd/annotate/page.js");

struct text {
	char *s;
	size_t len;
	FILE *f;
};

static void
text_begin(struct text *t)
{
	t->f = open_memstream(&t->s, &t->len);
	if (!t->f)
		die("out of memory");
}

static void
text_end(struct text *t)
{
	if (fclose(t->f))
		die("out of memory");
}

/* Add a file's text without the tabs that begin lines and without // lines. */
static void
add_file(struct text *t, const char *s)
{
	size_t len;

	for (; *s; s += len + (s[len] == '\n')) {
		s += strspn(s, "\t");
		len = strcspn(s, "\n");
		if (len && strncmp(s, "//", 2))
			fprintf(t->f, "%.*s\n", (int)len, s);
	}
}

/* ---- rules for columns ---- */

static const char *const classes[] = { "r", "b", "c", "s" };

/* Hide the columns of the event shown i, or if it is nshow the rates. */
static void
hide(struct text *t, size_t i)
{
	const struct column *v;
	char where[24];
	size_t n, k;
	int form;

	if (i < prof.nshow)
		snprintf(where, sizeof where, ".x%zu", i);
	else
		strcpy(where, ".xr");
	fprintf(t->f, "%s .hide", where);
	for (form = FORM_RATES; form <= FORM_SOURCE; form++) {
		v = columns(form, &n);
		for (k = 0; k < n; k++)
			if (i < prof.nshow ? v[k].shown == i :
			    v[k].what == PER_THOUSAND || v[k].what == PER_REF)
				fprintf(t->f, ",%s .%s tr>:nth-child(%zu)",
				    where, classes[form],
				    k + 1 + (form == FORM_SOURCE));
	}
	fputs("{display:none}\n", t->f);
}

/* Counts have room behind them, where their percentages hang. */
static void
pad(struct text *t)
{
	const struct column *v;
	size_t n, k;
	int form;

	fprintf(t->f, ":root{--percent:%s}\n", opt.percs ? "4.6em" : ".5em");
	fputs(".pad", t->f);
	for (form = FORM_RATES; form <= FORM_BOTH; form++) {
		v = columns(form, &n);
		for (k = 0; k < n; k++)
			if (v[k].what == COUNT || v[k].what == INCLUSIVE)
				fprintf(t->f, ",.%s td:nth-child(%zu)",
				    classes[form], k + 1);
	}
	fputs("{padding-right:var(--percent)}\n", t->f);
}

/* A string of style; a name can have any byte. */
static void
add_string(struct text *t, const char *s)
{
	for (; *s; s++)
		fprintf(t->f, isalnum((unsigned char)*s) ||
		    (unsigned char)*s >= 0x80 || *s == ' ' ? "%c" : "\\%x ",
		    (unsigned char)*s);
}

/* Name the cells where rows wrap. */
static void
label(struct text *t)
{
	const struct column *v;
	size_t n, k;
	int form;

	for (form = FORM_RATES; form <= FORM_SOURCE; form++) {
		v = columns(form, &n);
		for (k = 0; k < n; k++) {
			fprintf(t->f, ".%s td:nth-child(%zu)::before{content:"
			    "\"", classes[form],
			    k + 1 + (form == FORM_SOURCE));
			add_string(t, prof.ev[v[k].ev]);
			add_string(t, column_label(&v[k]));
			fputs(" \"}\n", t->f);
		}
	}
}

/*
 * Rows of tables wrap in windows of fewer pixels than they need at first; the
 * file has NARROW in this place.
 */
static void
add_style(struct text *t)
{
	const char *at = strstr(page_css, "NARROW");
	unsigned need = 480;
	char *css = xstrdup(page_css);
	size_t i;

	for (i = 0; i < prof.nmain; i++)
		need += 140 * (1 + (graph.arcs.n > 0)) +
		    75 * rate_columns(prof.main[i]);
	css[at - page_css] = '\0';
	pad(t);
	add_file(t, css);
	fprintf(t->f, "%upx", need);
	add_file(t, at + strlen("NARROW"));
	label(t);
	fputs("}\n", t->f);
	for (i = 0; i <= prof.nshow; i++)
		hide(t, i);
	free(css);
}

/* ---- the head ---- */

static struct text style, script;

static void
put_policy(void)
{
	out_str(out, "<meta http-equiv=\"Content-Security-Policy\" "
	    "content=\"default-src 'none'; base-uri 'none'; "
	    "form-action 'none'; style-src 'sha256-");
	out_str(out, sha256_base64(style.s, style.len));
	out_str(out, "'; script-src 'sha256-");
	out_str(out, sha256_base64(script.s, script.len));
	out_str(out, "'\">\n");
}

/* The classes of the body hide what is not shown at first. */
static void
put_body(void)
{
	const char *before = "";
	size_t i, k;

	out_str(out, "<body class=\"");
	for (i = 0; i < prof.nshow; i++) {
		for (k = 0; k < prof.nmain; k++)
			if (prof.main[k] == prof.show[i])
				break;
		if (k < prof.nmain)
			continue;
		out_printf(out, "%sx%zu", before, i);
		before = " ";
	}
	out_str(out, "\">\n");
}

void
html_begin(const char *title)
{
	text_begin(&style);
	add_style(&style);
	text_end(&style);
	text_begin(&script);
	add_file(&script, page_js);
	text_end(&script);
	out_str(out, "<!DOCTYPE html>\n<html lang=en>\n<head>\n"
	    "<meta charset=\"utf-8\">\n");
	put_policy();
	out_str(out, "<meta name=viewport content=\"width=device-width\">\n"
	    "<title>");
	put_html(title);
	out_str(out, " - costs</title>\n<style>");
	out_write(out, style.s, style.len);
	out_str(out, "</style>\n</head>\n");
	put_body();
}

void
html_end(void)
{
	out_str(out, "<script>");
	out_write(out, script.s, script.len);
	out_str(out, "</script>\n</body>\n</html>\n");
}
