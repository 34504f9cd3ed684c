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
extern struct cost_head first;	/* its events are the columns of the sums */
extern bool same_order;		/* all files have the events in this order */
extern bool strict;		/* die where caches or predictors differ */
/*
 * Add the header of a part that begins.  Returns map, filled with the column
 * of each event, or NULL: the events are the columns in order.
 */
const size_t *head_add(struct costr *, size_t *map);
/* Before the first head_add of a file. */
void head_file(void);
/* Behind a file: add what was described behind its headers. */
void head_late(const struct costr *);
bool head_has_diff(void);	/* some file is a difference */
/*
 * Make the header of the sum.  to: its column for each of ours; negative: some
 * sum is below 0.
 */
struct cost_head *head_make(struct costnames *, size_t *to, bool negative);
/* to[map[i]] = n[i]; map NULL: to[i] = n[i] */
void remap(int64_t *to, const int64_t *n, const size_t *map);

/* total.c: are all counts of a record 0? */
bool is_nothing(const struct cost *);
/* Behind a file: add its total. */
void add_total(const struct costr *);
extern int64_t total[COST_EVMAX];
/* The same of counts that are no file's total. */
void total_add(const int64_t *n);

/* weights.c */
struct weight { int64_t whole, rest; };		/* rest: of 10^18 */
/* The argument of --weights: n numbers */
struct weight *weights_parse(const char *, size_t n);
/* When first.positions may have grown: let the sums have these. */
void weights_positions(struct costnames *);
/* Add a record, multiplied. */
void weights_put(const struct cost *, const struct weight *);
/* Behind the last: put the rounded sums into a table, and into the total. */
void weights_sum(struct costsum *table);

/* scan.c: is it an uncompressed file of Cachegrind's in canonical order? */
bool is_canonical(const char *name);

/* stream.c: write the sum of such files, record by record */
enum { STREAMS = 64 };		/* files at most */
void stream(char **names, size_t n, struct out *);

#endif
