/*
 * html.h - the page's parts
 *
 *	html.c		their order; tables of lines, functions and files
 *	htmlhead.c	head: title, policy, style; end: the script
 *	htmlfn.c	a function: callers, callees, source
 *	htmlcol.c	columns and cells
 *	htmlput.c	links, text
 *	page.css, page.js, sha256.c
 *
 * Cells have no classes for their columns: rules of style find a column by its
 * place in the row.  So a table's class says what its rows have.
 */
#ifndef HTML_H
#define HTML_H

#include "annotate.h"

enum row_form {
	FORM_RATES,	/* class r: for each event its count and its rates */
	FORM_BOTH,	/* class b: so, then counts with all that was called */
	FORM_COUNTS,	/* class c: counts */
	FORM_SOURCE	/* class s: the line's number, counts */
};

struct column {
	size_t ev;
	size_t shown;		/* its index in prof.show */
	enum column_what { COUNT, PER_THOUSAND, PER_REF, INCLUSIVE } what;
};

/* htmlcol.c: columns and cells */
unsigned rate_columns(size_t ev);	/* how many rates it has: 0 to 2 */
/* The columns of such rows, *n of them; they stay. */
const struct column *columns(enum row_form, size_t *n);
const char *column_label(const struct column *);	/* after its event */
/* An event's long name, or NULL. */
const char *meaning(size_t ev);
/* A th for each column; sorted: aria-sort of --sort's first event, or NULL. */
void put_heads(enum row_form, const char *sorted);
/* A td for each; n NULL: empty; incl: what the columns INCLUSIVE show. */
void put_cells(enum row_form, const int64_t *n, const int64_t *incl);

/* htmlput.c */
extern bool *is_shown;			/* by node: the page has its details */
void put_html(const char *);			/* text, escaped */
void put_code(const char *);	/* a source's line: its tabs stay, no CR */
void put_fn(size_t node);			/* name, a link if is_shown */
void put_link(size_t node);			/* put_fn and the file */
const char *last_part(const char *path);	/* after the last slash */

/* htmlhead.c: all up to the body's first element; all behind its last one */
void html_begin(const char *title);
void html_end(void);

/* htmlfn.c: one function's callers, callees and source */
/* Collect the records of the functions that are shown, by node. */
void html_gather(const bool *shown);
/* The rows of these lines get the names l0, l1 and so on; fn: nodes. */
void html_hot(const struct hot_line *, size_t n);
/* Write what is inside of the function's details; html_gather comes first. */
void html_function(size_t node);

#endif
