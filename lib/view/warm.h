/*
 * warm.h - costs at the end of a warm-up, to be taken off those of the end
 *
 * warm_keep adds an instruction's costs to those kept, or takes them off with
 * sign -1; warm_take_off takes off what is kept. Both by its number in all
 * blocks. n has nev columns, each time the same.
 */
#ifndef WARM_H
#define WARM_H

#include <stdint.h>

struct warm;

struct warm *warm_new(unsigned nev);
void warm_keep(struct warm *, uint64_t insn, const int64_t *n, int sign);
void warm_zero(struct warm *);		/* keep nothing */
void warm_take_off(const struct warm *, uint64_t insn, int64_t *n);
/*
 * Of the rounds of a record with ninsn instructions each: how many begin
 * before *left instructions have run, which is then less by theirs.
 */
uint64_t warm_rounds(uint64_t *left, uint64_t rounds, uint64_t ninsn);

#endif
