/*
 * outcome.h - sum up what O lines tell, events(5)
 *
 * A stage that sums up takes in what stages before it (`-t`) found: as more
 * columns of its costs. Bc and Bi are not told for branches; they follow from
 * how often a branch was executed, and are columns where Bcm or Bim are told.
 */
#ifndef OUTCOME_H
#define OUTCOME_H

#include <stdint.h>

#define OUTCOME_MAX	60	/* different events */

struct outcomes;
struct evr;

struct outcomes *outcome_new(void);
/* Take an `H outcomes' value. -1: too many events, or one is malformed. */
int outcome_head(struct outcomes *, const char *value);
/* Is one of these events told already? Then the stage was there before. */
int outcome_has(const struct outcomes *, const char *const *name, unsigned n);
/* Columns, in the order in which they were named, and their names. */
unsigned outcome_columns(const struct outcomes *);
const char *outcome_name(const struct outcomes *, unsigned column);
/*
 * Take an O line's text for an instruction, which is any number that the
 * caller gives it. NULL, or what is wrong.
 */
const char *outcome_line(struct outcomes *, uint64_t insn, const char *list);
/*
 * Add an instruction's events to n[], one for each column; flow and times
 * are its flow (0: none) and how often it was executed.
 */
void outcome_add(const struct outcomes *, uint64_t insn, int flow,
    uint64_t times, int64_t *n);

#endif
