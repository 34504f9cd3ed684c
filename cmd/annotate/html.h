/*
 * html.h - the page's parts: html.c, htmlfn.c, htmlput.c
 */
#ifndef HTML_H
#define HTML_H

#include "annotate.h"

/* htmlput.c */
extern bool *is_shown;			/* by node: the page has its details */
void put_html(const char *);			/* text, escaped */
void put_meaning(size_t ev);			/* a title: the event's name */
void put_heads(const char *what);		/* a th for each event shown */
void put_cells(const int64_t *n);		/* a td each; NULL: empty */
void put_fn(size_t node);			/* name, a link if is_shown */
void put_link(size_t node);			/* put_fn and the file */
const char *last_part(const char *path);	/* after the last slash */

/* htmlfn.c: one function's callers, callees and source */
void html_gather(const bool *shown);		/* collect their records */
void html_function(size_t node);

#endif
