/*
 * predictor.h - kind branches: a thread's predictor, Cachegrind's
 *
 * Fragments teach it (xlate/learn.c), and the runtime does where one has been
 * interrupted; see events(5) for what it predicts.
 *
 * Kind branches has no contexts, so two kinds of map entries have the numbers
 * of theirs: MAP_LEARN and MAP_LEARN_EXIT are like MAP_BODY and MAP_EXIT, but
 * the last branch has not been learnt.  Conditional: `counted' if it was taken;
 * `rep' 1: its misprediction has been counted, 2: and its counter stepped.
 * Indirect: `rep' 1: its target is in rax, 2: and its misprediction counted.
 *
 * With --rep=each each round of a repeated string instruction is a branch to
 * itself, as in Valgrind.  Behind such an instruction fragments call rt_look
 * with LOOK_ROUNDS and the counter of its mispredictions; its pc is in t->pc,
 * its count in tmp2.  MAP_LEARN, `rep' 3: its rounds have not been learnt.
 */
#ifndef PREDICTOR_H
#define PREDICTOR_H

#include <stddef.h>
#include <stdint.h>

#include "tarea.h"

#define LEARN_ROUNDS 3u		/* MAP_LEARN: `rep' */

struct predictor {
	uint8_t counter[1u << 14];	/* of two bits */
	uint64_t target[512];		/* by low bits of a branch's address */
	uint64_t was;			/* the target replaced last */
};

/* It is where kind cache has its table, of which REG_T gives the place. */
#define T_PREDICTOR ((int32_t)T_TABLE - (int32_t)T_PTR)
#define TO_PREDICTOR(member) \
	(T_PREDICTOR + (int32_t)offsetof(struct predictor, member))

/* An exec leaves it to the new image. */
struct kept_predictor {
	struct predictor predictor;
	uint64_t history;
};

/*
 * The history is REG_P, twice, so that its lowest bit is 0.  The counter of a
 * branch after outcomes that are in the low byte of that: its address from
 * here on.
 */
static inline uint32_t
predictor_row(uint64_t pc)
{
	return (uint32_t)(pc & 126) << 7 | (pc & 1);
}

#endif
