/*
 * evline.h - the fields of an event stream's lines; inside lib only
 */
#ifndef EVLINE_H
#define EVLINE_H

#include "ev.h"
#include "evwhy.h"

/* Does the letter mean an entry or a log in kind calls, and not elsewhere? */
bool evline_varies(char letter);
/*
 * Parse the fields of e->line: numbers into e->num, text, with \ooo resolved,
 * into the buffer text.  Returns -1 for a malformed line; why then says what is
 * wrong, or is empty if there is no such letter.
 */
int evline_fields(struct ev *e, unsigned kind, char *text,
    char why[EV_WHY]);

/*
 * The word of a J line becomes its number, e->num[0]; what follows it, e->text,
 * and a number there e->num[1]. -1: it is malformed.
 */
int evline_mark(struct ev *);

/*
 * Resolve \ooo and append a NUL.  Returns where that NUL is, or NULL if s is
 * malformed, or has an escaped NUL while nul is false.
 */
char *evline_text(char *to, const char *s, bool nul);

/* Read decimal digits and move *s behind them; -1: none, or too many. */
int evline_decimal(const char **s, uint64_t *n);

/* The same of hexadecimal digits, behind `+' or `-' or neither, or of `.'. */
int evline_field(const char **s, uint64_t *n);

#endif
