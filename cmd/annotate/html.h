/*
 * html.h - the page's parts: html.c, htmlfn.c
 */
#ifndef HTML_H
#define HTML_H

#include "annotate.h"

/* html.c */
void put_html(const char *);			/* text, escaped */
void put_heads(const char *what);		/* a th for each event shown */
void put_cells(const int64_t *n);		/* a td for each; NULL: empty ones */
void put_link(size_t node);			/* function, with a link if shown, and file */

/* htmlfn.c: one function's callers, callees and source */
void html_gather(const bool *shown);		/* records of these nodes */
void html_function(size_t node);

#endif
