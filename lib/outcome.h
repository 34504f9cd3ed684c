/*
 * outcome.h - sum up O lines, events(5)
 *
 * The last simulator of a pipe adds the outcomes that stages before it (`-t`)
 * found to its costs, as more columns. No O line holds Bc or Bi: these are how
 * often a branch was executed, and become columns if Bcm or Bim are outcomes.
 */
#ifndef OUTCOME_H
#define OUTCOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OUTCOME_MAX	60	/* different events */

struct outcomes;
struct evr;

struct outcomes *outcome_new(void);
/* Add the events of an `H outcomes' value. -1: too many, or a malformed one. */
int outcome_head(struct outcomes *, const char *value);
/* Is one of these events an outcome already, of an earlier stage like ours? */
bool outcome_has(const struct outcomes *, const char *const *name, unsigned n);
/* How many columns there are, in the order of the events; and their names. */
unsigned outcome_columns(const struct outcomes *);
const char *outcome_name(const struct outcomes *, unsigned column);
/* What an O line tells. */
struct outcome_list {
	unsigned n;
	struct {
		uint64_t n;
		unsigned column;
	} event[OUTCOME_MAX];
};
/* Of a text; if it is wrong an empty one, and *wrong is set. Until the next. */
const struct outcome_list *outcome_text(struct outcomes *, const char *text,
    size_t len, const char **wrong);
/* Of an O line in a batch, ev_list, which is read once; NULL: *wrong. */
const struct outcome_list *outcome_numbered(struct outcomes *,
    const struct evr *, unsigned number, const char **wrong);
/* Add it to an instruction, for which the caller chooses any number. */
void outcome_put(struct outcomes *, uint64_t insn, const struct outcome_list *);
/*
 * Add an instruction's events to n[], one for each column. flow is its flow
 * (0: none), times how often it was executed.
 */
void outcome_add(const struct outcomes *, uint64_t insn, int flow,
    uint64_t times, int64_t *n);
/* Forget what was added up so far. */
void outcome_zero(struct outcomes *);

#endif
