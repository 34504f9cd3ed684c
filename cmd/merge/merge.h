/*
 * merge.h - what the parts of merge share
 */
#ifndef MERGE_H
#define MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cost.h"

struct out;

/* head.c */
extern struct cost_head first;	/* its events are the columns of all */
extern bool same_order;		/* all files have the events in this order */
extern bool strict;		/* other caches are trouble */
/*
 * A part begins: where its events are among the columns, in map; NULL: they
 * are the columns.
 */
const size_t *head_add(struct costr *, size_t *map);
bool head_has_diff(void);
/* of the sum; to: where the columns go; may some sum be negative? */
struct cost_head *head_make(struct costnames *, size_t *to, bool negative);
void remap(int64_t *to, const int64_t *n, const size_t *map);

/* total.c: a record all of whose counts are 0 */
bool is_nothing(const struct cost *);
/* add what the reader's total grew by since the last call */
void add_total(const struct costr *, const size_t *map, int64_t *seen);
extern int64_t total[COST_EVMAX];

/* scan.c: is it a plain file of Cachegrind's in canonical order? */
bool is_canonical(const char *name);

/* stream.c: the sum of such files, record by record */
enum { STREAMS = 64 };		/* files at most */
void stream(char **names, size_t n, struct out *);

#endif
