/* evline.h - the fields of an event stream's lines; inside lib only */
#ifndef EVLINE_H
#define EVLINE_H

#include "ev.h"

enum { EVLINE_WHY = 80 };

/*
 * What stands behind e->line's letter: numbers into e->num, text, with \ooo
 * resolved, into the buffer text.  -1 if it is malformed: why says so (empty:
 * there is no such letter).
 */
int evline_fields(struct ev *e, char *text, char why[EVLINE_WHY]);

/*
 * \ooo to bytes, and a NUL behind them.  Returns where that stands, or NULL
 * if s is malformed, or gives a NUL where nul is 0.
 */
char *evline_text(char *to, const char *s, int nul);

/* Decimal digits; moves *s behind them; -1 if there are none, or too many. */
int evline_decimal(const char **s, uint64_t *n);

#endif
