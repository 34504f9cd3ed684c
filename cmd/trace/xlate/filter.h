/*
 * filter.h - kind cache: what filter.c and its files share
 *
 *	filter.c	an instruction's references; the order of cold code
 *	filtercode.c	checks of lines of code
 *	filterdata.c	checks of lines of data
 *	filtercheck.c	what both need: flags, the clock, cold code
 *
 * A check asks whether a line is in the thread's table.  If it is not, its cold
 * code calls the runtime, and goes on behind the check.
 */
#ifndef FILTER_H
#define FILTER_H

#include "xlate/parts.h"

/* Bytes of a line of the cache. */
static inline unsigned
line_size(void)
{
	return 1u << opt->lineshift;
}

/* ---- filtercheck.c ---- */

/* Put the guest's flags into rax, where they are alive; and take them back. */
void check_save_flags(struct xlate *);
void check_restore_flags(struct xlate *);
/* A scratch register, not in avoid, nor rax while it has the flags. */
int check_scratch(struct xlate *, uint32_t avoid);
/* Lines first to last of code are used now: let the clock tick, if need be. */
void check_use_code(struct xlate *, int64_t first, int64_t last);
/* The same of so many bytes of data. */
void check_use_data(struct xlate *, const struct refgroup *, int64_t size);
/* Have the runtime look at the address in s, and go on behind this code. */
void check_look(struct xlate *, int s, unsigned kind, uint32_t head);
/*
 * The cold code of a check at x->i, to be completed by the caller; k: of which
 * reference, from 1, or 0: of the fetch. stays: its line is in the table after
 * it.
 */
struct cold_check *check_new(struct xlate *, enum cold_kind, unsigned k,
    bool stays);
/* That code begins here: patch the branches to it. */
void check_reach(struct xlate *, const struct cold_check *);
/* The arguments of a look-up of lines; a fetch has more.  Returns where. */
uint8_t *check_arguments(struct xlate *, const struct cold_check *,
    unsigned kind, bool stays);

/* ---- filtercode.c ---- */

/* Use the lines that instruction x->i is fetched from, unless just used. */
void fetch_check(struct xlate *);
/* Write the cold code of such a check. */
void fetch_cold(struct xlate *, const struct cold_check *);

/* ---- filterdata.c ---- */

/* Use the line of reference j of instruction x->i. */
void data_refer(struct xlate *, unsigned j);
/* Write the cold code of such a check. */
void data_cold(struct xlate *, const struct cold_check *);

#endif
