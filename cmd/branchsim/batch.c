/*
 * batch - many executions by Cachegrind's predictor
 *
 * Simulated branches go as the program's did, so a branch of ours on what
 * became of one would be mispredicted as often as the program's own. Here no
 * branch depends on them: each conditional one within a unit is a STEP that
 * takes the new counter and the misprediction from a table, and so is the
 * branch that waits for the next execution, whether it is conditional,
 * indirect or none. Steps come in groups of GROUP, filled up with such as
 * change nothing, so that the end of a loop over them is rarely a surprise.
 *
 * The outcomes within a unit are known, so the history before each of its steps
 * is that before the first one, moved, and some known bits: no step waits for
 * another.
 *
 *	history before the unit	    ...0110
 *	its branches went	    1, 0, 1
 *	before the third one	    ..011010, of which 10 is known
 */
#include "branchsim.h"

#include "util.h"

#define GROUP 2u

struct step {
	uint32_t branch;
	uint16_t next;		/* of the counter: see predict_next */
	uint16_t cell;		/* its number, without the history before */
};

static struct step *steps;
static size_t nsteps, capsteps;

/* known: the outcomes inside before it. */
static struct step
step_of(uint32_t k, uint64_t known)
{
	const struct branch *br = &branch[k];

	return (struct step){ .branch = k,
	    .next = br->taken ? PREDICT_TAKEN : PREDICT_UNTAKEN,
	    .cell = (uint16_t)predict_cell(known, br->low) };
}

void
batch_define(struct branch_unit *u)
{
	uint32_t n = u->ninner;

	u->slow = u->counts || n >= 64;
	for (uint32_t k = 0; k < n; k++)
		if (branch[u->first + k].flow != 'C')
			u->slow = 1;
	if (u->slow)
		return;
	u->step = (uint32_t)nsteps;
	steps = xgrow(steps, &capsteps, nsteps + n + GROUP - 1, sizeof *steps);
	for (uint32_t k = 0; k < n; k++) {
		steps[nsteps++] = step_of(u->first + k, u->outcomes);
		u->outcomes = u->outcomes << 1 | branch[u->first + k].taken;
	}
	for (; n % GROUP != 0; n++)
		steps[nsteps++] = (struct step){ .next = PREDICT_SAME };
}

static inline uint64_t
go_on(const struct branch_unit *u, uint64_t history)
{
	const struct step *s = steps + u->step, *end = s + u->ninner;

	for (uint64_t h = history; s < end; s += GROUP, h <<= GROUP)
#pragma GCC unroll 4
		for (unsigned i = 0; i < GROUP; i++)
			branch_missed[s[i].branch] += predict_next(
			    &predict_counter[predict_cell(h << i, 0) |
			    s[i].cell], s[i].next);
	return history << u->ninner | u->outcomes;
}

/* The branch that waited goes to pc; it is none if it is branch 0. */
static inline uint64_t
resolve(uint32_t open, uint64_t pc, uint64_t history)
{
	static const uint16_t next[] = { PREDICT_SAME, PREDICT_SAME,
	    PREDICT_UNTAKEN, PREDICT_TAKEN };
	const struct branch *br = &branch[open];
	unsigned taken = (pc == br->target) & (pc != br->behind) & br->is_cond;
	uint64_t *last = &predict_last[br->slot];
	unsigned wrong = (*last != pc) & br->is_indirect;

	*last = pc;
	wrong |= predict_next(&predict_counter[predict_cell(history, br->low)],
	    next[2 * br->is_cond + taken]);
	branch_missed[open] += wrong;
	return history + ((history + taken) & -(uint64_t)br->is_cond);
}

static inline bool
is_astray(const struct branch *br, uint64_t pc)
{
	return br->is_cond & (pc != br->target) & (pc != br->behind);
}

struct place {
	uint64_t history;
	uint32_t open;
};

/* By the way for all predictors. */
static int
slowly(const uint64_t *rec, struct place *at,
    int (*record)(const uint64_t *rec))
{
	int r;

	predict_history = at->history;
	branch_thread->open = at->open;
	r = record(rec);
	at->history = predict_history;
	at->open = branch_thread->open;
	return r;
}

int
batch_run(const uint64_t *rec, const uint64_t *end,
    int (*record)(const uint64_t *rec))
{
	struct place at = { predict_history, branch_thread->open };
	int r = 0;

	for (; r == 0 && rec < end; rec = ev_skip(rec)) {
		struct branch_unit *u = &branch_unit[ev_id(*rec)];
		uint64_t n = ev_more(rec);

		if (__builtin_expect(u->slow || n >= REPEAT_FIRST ||
		    is_astray(&branch[at.open], u->entry) || (n > 0 &&
		    is_astray(&branch[u->last], u->entry)), 0)) {
			r = slowly(rec, &at, record);
			continue;
		}
		u->count += n + 1;
		do {
			at.history = resolve(at.open, u->entry, at.history);
			at.history = go_on(u, at.history);
			at.open = u->last;
		} while (n-- > 0);
	}
	predict_history = at.history;
	branch_thread->open = at.open;
	return r;
}
