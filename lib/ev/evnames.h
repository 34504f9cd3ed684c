/*
 * evnames.h - names of code made at run time: G and L lines; inside lib only
 */
#ifndef EVNAMES_H
#define EVNAMES_H

#include "ev.h"
#include "evwhy.h"

struct evdef;

struct evnames {
	uint32_t n;		/* functions so far */
	uint32_t *ids;		/* blocks of the last line, by number */
	size_t capids;
};

/* Free what it holds; it begins as zeros. */
void evnames_close(struct evnames *);
/*
 * Check a line whose fields are parsed, and read the blocks that it lists.
 * Returns -1 and says what is wrong in why.
 */
int evnames_line(struct evnames *, const struct evdef *, struct ev *,
    char why[EV_WHY]);

#endif
