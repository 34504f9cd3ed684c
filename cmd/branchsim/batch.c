/*
 * batch - many executions by Cachegrind's predictor
 *
 * Simulated branches go as the program's did. A branch of our own code that
 * depended on one would be mispredicted as often as the program's was. So here
 * no branch depends on their outcomes, nor on how many an execution has.
 *
 * Executions are first made into a list of STEPS, one for each conditional
 * branch: the number of its counter, and whether it is taken. The outcomes
 * within a unit are known, so the history before each of its branches is that
 * before the unit, moved, and some known bits:
 *
 *	history before the unit	    ...0110
 *	its branches went	    1, 0, 1
 *	before the third one	    ..011010, of which 10 is known
 *
 * Eight steps are made at once, whether the unit has as many or not; those of
 * the next unit are written over what is too much. The branch that ends a unit
 * gets its outcome from the next one. Then the list goes through the counters;
 * few branches are mispredicted, so they are listed as well, and counted last.
 * Indirect branches have a list of their own.
 */
#include "branchsim.h"

#include <string.h>

#include "mem.h"

#define LANES 8u
#define FULL 512u		/* steps, and indirect branches; a power of 2 */
#define MOST 31u		/* branches within a unit */
#define TAKEN 15		/* a step's bit, beside its counter's number */

typedef uint16_t lanes __attribute__((vector_size(2 * LANES)));

/* By branch: its step, without the history before its block. */
static uint16_t *known;
static size_t capknown;

/* The lists. The first step is none. */
static uint16_t step[FULL + MOST + 1 + LANES];
static uint8_t step_place[FULL + MOST + 1 + LANES];	/* within its unit */
static uint32_t step_branch[FULL + MOST + 2];	/* of those at place 0 */
static struct indirect {
	const struct branch_unit *from, *to;
} indirect[FULL + 1];

static unsigned
step_of(const struct branch *br, uint64_t history)
{
	return predict_cell(history, br->addr & 127);
}

void
batch_define_block(uint32_t first, uint32_t n)
{
	uint64_t history = 0;

	known = xgrow0(known, &capknown, (size_t)first + n + LANES,
	    sizeof *known);
	for (uint32_t k = first; k < first + n; k++) {
		const struct branch *br = &branch[k];

		known[k] = (uint16_t)(step_of(br, history) |
		    (unsigned)br->taken << TAKEN);
		history = history << 1 | br->taken;
	}
}

/* Branch k waits at the end of the unit; it is none if it is branch 0. */
static void
waits(struct branch_unit *u, uint32_t k)
{
	const struct branch *br = &branch[k];
	bool is_cond = br->is_cond;

	u->target = br->target;
	u->behind = branch_behind(br);
	u->is_other = !is_cond;
	u->is_indirect = br->flow == 'I' || br->flow == 'X';
	u->may_take = is_cond && br->target != u->behind;
	u->assumed = is_cond && known[k] >> TAKEN;
	u->nsteps = (uint8_t)(u->ninner + is_cond);
}

void
batch_define(struct branch_unit *u)
{
	uint32_t n = u->ninner;

	u->slow = u->counts || n > MOST;
	for (uint32_t k = 0; k < n; k++)
		if (branch[u->first + k].flow != 'C')
			u->slow = true;
	waits(u, branch_last(u));
	u->once = !u->is_other && u->entry != u->target &&
	    u->entry != u->behind;
	if (u->slow)
		return;
	for (uint32_t k = 0; k < n; k++)
		u->outcomes = u->outcomes << 1 | branch[u->first + k].taken;
	u->outcomes <<= !u->is_other;
}

/* Go through the lists, n steps behind the first, and m indirect branches. */
static __attribute__((noinline)) void
learn(unsigned n, unsigned m)
{
	uint16_t wrong[FULL + MOST + 1];
	unsigned nwrong = 0, s, place;

	for (unsigned i = 1; i <= n; i++) {
		s = step[i];
		wrong[nwrong] = (uint16_t)i;
		nwrong += predict_bits(&predict_counter[s &
		    ((1u << TAKEN) - 1)], s >> TAKEN);
	}
	for (unsigned i = 0; i < nwrong; i++) {
		place = step_place[wrong[i]];
		branch_missed[step_branch[wrong[i] - place] + place]++;
	}
	for (unsigned i = 0; i < m; i++) {
		uint32_t k = branch_last(indirect[i].from);
		uint64_t pc = indirect[i].to->entry, *last;

		last = &predict_last[branch[k].addr % PREDICT_TARGETS];
		branch_missed[k] += *last != pc;
		*last = pc;
	}
}

struct place {
	uint64_t history;	/* with a 0 for the branch that waits */
	const struct branch_unit *open;	/* its unit */
	unsigned n, m;		/* in the lists */
};

static inline unsigned
is_taken(const struct branch_unit *open, uint64_t pc)
{
	return (open->target == pc) & open->may_take;
}

static inline bool
can_go(const struct branch_unit *open, uint64_t pc)
{
	return is_taken(open, pc) | (open->behind == pc) | open->is_other;
}

/* Add the unit's steps to the list. */
static inline struct place
execute(const struct branch_unit *u, struct place at)
{
	static const lanes move = { 1 << 7, 1 << 8, 1 << 9, 1 << 10, 1 << 11,
	    1 << 12, 1 << 13, 1 << 14 };
	unsigned taken = is_taken(at.open, u->entry);
	uint16_t h, mask = predict_cell(127, 0);
	const uint16_t *from = known + u->first;
	uint64_t place = UINT64_C(0x0706050403020100);
	lanes s;

	step[at.n] ^= (uint16_t)((taken ^ at.open->assumed) << TAKEN);
	indirect[at.m] = (struct indirect){ at.open, u };
	at.m += at.open->is_indirect;
	at.history |= taken;
	h = (uint16_t)at.history;
	memcpy(&s, from, sizeof s);
	s |= h * move & mask;
	memcpy(step + at.n + 1, &s, sizeof s);
	memcpy(step_place + at.n + 1, &place, sizeof place);
	for (unsigned i = LANES; __builtin_expect(i < u->nsteps, 0);
	    i += LANES) {
		place += LANES * UINT64_C(0x0101010101010101);
		memcpy(step + at.n + 1 + i, from + i, sizeof s);
		memcpy(step_place + at.n + 1 + i, &place, sizeof place);
	}
	step_branch[at.n + 1] = u->first;
	at.n += u->nsteps;
	at.history = at.history << u->nsteps | u->outcomes;
	at.open = u;
	return at;
}

/* The lists are empty, but for the branch that waits. It gets unit 0. */
static struct place
begin(void)
{
	struct branch_unit *u = &branch_unit[0];
	uint32_t k = branch_thread->open;
	struct place at = { predict_history, u, 0, 0 };

	u->first = k;
	u->waits = k != 0;
	waits(u, k);
	if (u->is_other)
		return at;
	step[1] = (uint16_t)step_of(&branch[k], at.history);
	step_place[1] = 0;
	step_branch[1] = k;
	u->assumed = 0;
	at.history <<= 1;
	at.n = 1;
	return at;
}

static void
end_lists(struct place at)
{
	unsigned is_cond = !at.open->is_other;

	learn(at.n - is_cond, at.m);
	predict_history = at.history >> is_cond;
	branch_thread->open = branch_last(at.open);
}

int
batch_run(const uint64_t *rec, const uint64_t *end,
    int (*record)(const uint64_t *rec))
{
	struct branch_unit *const unit = branch_unit;
	struct place at = begin();
	int r = 0;

	for (; r == 0 && rec < end; rec = ev_skip(rec)) {
		struct branch_unit *u = &unit[ev_id(*rec)];
		bool slow = u->slow | !can_go(at.open, u->entry);
		uint64_t more = 0;

		if (*rec & EV_MORE) {
			more = ev_more(rec);
			slow |= u->once | (more >= REPEAT_FIRST);
		}
		if (__builtin_expect(slow, 0)) {
			end_lists(at);
			r = record(rec);
			at = begin();
			continue;
		}
		u->count += more + 1;
		do {
			at = execute(u, at);
			if (__builtin_expect((at.n | at.m) >= FULL, 0)) {
				end_lists(at);
				at = begin();
			}
		} while (more-- > 0);
	}
	end_lists(at);
	return r;
}
