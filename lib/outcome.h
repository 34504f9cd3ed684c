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

/* No events are known yet. */
struct outcomes *outcome_new(void);
/* Add the events of an `H outcomes' value. -1: too many, or a malformed one. */
int outcome_head(struct outcomes *, const char *value);
/*
 * Is one of n events among the outcomes, because an earlier stage of the pipe
 * is a simulator like this one?
 */
bool outcome_has(const struct outcomes *, const char *const *name, unsigned n);
/* How many columns there are, in the order of the events. */
unsigned outcome_columns(const struct outcomes *);
/* The event of a column, from 0. */
const char *outcome_name(const struct outcomes *, unsigned column);
/* What an O line says: how often each event happened. */
struct outcome_list {
	unsigned n;
	struct {
		uint64_t n;
		unsigned column;
	} event[OUTCOME_MAX];
};
/*
 * Read the list of an O line from len bytes of text, behind which is a 0. It is
 * valid until the next call. If the text is malformed, the list is empty and
 * *wrong says why; else *wrong stays as it is.
 */
const struct outcome_list *outcome_text(struct outcomes *, const char *text,
    size_t len, const char **wrong);
/*
 * The list of an O line in a batch, by its number for ev_list; it is read once
 * and stays valid. NULL: it is malformed, *wrong says why.
 */
const struct outcome_list *outcome_numbered(struct outcomes *,
    const struct evr *, unsigned number, const char **wrong);
/* Add a list to an instruction, which has a number of the caller's choice. */
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
