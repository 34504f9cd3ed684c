/*
 * html.h - the page's parts: html.c, htmlfn.c, htmlput.c
 */
#ifndef HTML_H
#define HTML_H

#include "annotate.h"

/* htmlput.c */
extern bool *is_shown;				/* node -> it has its details below */
void put_html(const char *);			/* text, escaped */
void put_meaning(size_t ev);			/* a title that says what it is */
void put_heads(const char *what);		/* a th for each event shown */
void put_cells(const int64_t *n);		/* a td for each; NULL: empty ones */
void put_fn(size_t node);			/* function, with a link if shown */
void put_link(size_t node);			/* the same, and its file */
const char *last_part(const char *path);	/* behind its last slash */

/* htmlfn.c: one function's callers, callees and source */
void html_gather(const bool *shown);		/* records of these nodes */
void html_function(size_t node);

#endif
