/*
 * funcs.h - sums by function, for programs that write such tables
 *
 *	struct funcs *f = funcs_new(s->map, 2);
 *
 *	funcs_at(f, at)[0] += at->times;	in simrun_insns
 *	...
 *	for (size_t i = 0; i < funcs_count(f); i++)
 *		... funcs_get(f, i)->name ...
 *
 * Functions of one object that have one name are one function here, and so are
 * those of code made at run time.
 */
#ifndef FUNCS_H
#define FUNCS_H

#include <stddef.h>
#include <stdint.h>

struct funcs;
struct insns_at;
struct objmap;
struct out;

struct func_sum {
	const char *name;	/* or SYM_UNKNOWN */
	const char *object;	/* its path, or SYM_UNKNOWN */
	int64_t *n;		/* the sums */
};

/* A table without functions; the objects are those of the map. */
struct funcs *funcs_new(const struct objmap *, size_t ncolumn);
/*
 * The sums of the function that has an instruction: 0 at first, good until the
 * next call. Fast in the order of insns_visit.
 */
int64_t *funcs_at(struct funcs *, const struct insns_at *);
/* How many functions there are; one of them, from 0. */
size_t funcs_count(const struct funcs *);
const struct func_sum *funcs_get(const struct funcs *, size_t i);
/* Sort by a column, the greatest first; equal ones by name. */
void funcs_sort(struct funcs *, size_t column);
/* "object name\n": what would end the object's path is escaped. */
void funcs_put(struct out *, const struct func_sum *);

#endif
