/*
 * rounds.h - how often repeated string instructions went round, --rep=each
 *
 * Executions of kinds all and blocks have the count of each such instruction;
 * the other kinds have R lines, events(5). Blocks have the numbers of
 * lib/insns.h, instructions are counted from 0 in theirs.
 */
#ifndef ROUNDS_H
#define ROUNDS_H

#include <stdbool.h>

#include "ev.h"

struct rounds;

/* No rounds have been told yet; the events are those of this reader. */
struct rounds *rounds_new(struct evr *);
/* At a block's definition, its number; of a lean reader, values become ours. */
void rounds_define(struct rounds *, uint32_t block, struct ev_block *);
/* An execution of kind all or blocks; applies its fields if there is a need. */
void rounds_record(struct rounds *, uint32_t block, const uint64_t *rec);
/* Kinds counts and cache: an R line about this block. */
void rounds_line(struct rounds *, uint32_t block, const struct ev *);
/*
 * How many instructions more Valgrind counts for one that was executed so many
 * times: a repeated one once for each round and, if it writes, once for the
 * test that ends them. Of one that compares, trace --rep=each tells that test
 * as an execution without rounds.
 */
uint64_t rounds_extra(const struct rounds *, uint32_t block, uint32_t insn,
    const struct ev_insn *, const struct ev_ref *, uint64_t times);
/*
 * How many conditional branches Valgrind makes of one: a test of the count
 * before each round and, if it writes, behind the last; of one that compares,
 * also a test of that behind each round.
 */
uint64_t rounds_tests(const struct rounds *, uint32_t block, uint32_t insn,
    const struct ev_insn *, const struct ev_ref *, uint64_t times);
/* Has it been told of? */
bool rounds_has(const struct rounds *, uint32_t block, uint32_t insn);
/* Count from 0 again. */
void rounds_zero(struct rounds *);

#endif
