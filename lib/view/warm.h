/*
 * warm.h - costs at the end of a warm-up, to be taken off those of the end
 *
 * Instructions go by their number in all blocks (insns.h). Each n has nev
 * counts.
 */
#ifndef WARM_H
#define WARM_H

#include <stdint.h>

struct warm;

/* Nothing is kept yet. */
struct warm *warm_new(unsigned nev);
/* Add an instruction's costs to those kept; with sign -1, take them off. */
void warm_keep(struct warm *, uint64_t insn, const int64_t *n, int sign);
/* Keep nothing. */
void warm_zero(struct warm *);
/* Take what is kept of an instruction off n. */
void warm_take_off(const struct warm *, uint64_t insn, int64_t *n);
/*
 * Of the rounds of a record with ninsn instructions each: how many begin
 * before *left instructions have run, which is then less by theirs.
 */
uint64_t warm_rounds(uint64_t *left, uint64_t rounds, uint64_t ninsn);

#endif
