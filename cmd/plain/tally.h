/*
 * tally.h - the sums of a run
 */
#ifndef TALLY_H
#define TALLY_H

#include "ev.h"

struct out;

/* Count calls of this function, by its name. */
void tally_open(const char *function);
/* Each line, or batch of executions. */
void tally_line(const struct evr *, const struct ev *, int letter);
/* Write the sums, at the end of the stream. */
void tally_print(struct out *);

#endif
