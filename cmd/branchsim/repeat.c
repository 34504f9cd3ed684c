/*
 * repeat - run many equal rounds, and leave most of them out
 *
 * Rounds with the same branches and outcomes bring a predictor, sooner or
 * later, to a state to which PERIOD rounds bring it back; from there on all
 * PERIOD rounds find the same mispredictions, and what they count is added as
 * often as they fit in. 32 is the depth of return stacks, in which a round may
 * move by any number of places; all else comes to rest at each round's end.
 *
 * TAGE forgets at times, which makes a second level: there the period is one
 * in which it has forgotten a whole number of times, and rounds in between are
 * gone through by the first level.
 *
 * A state is a few hundred kilobytes, and few lines have so many rounds that
 * it pays to look: it is done after FIRST rounds, then after twice as many.
 */
#include "branchsim.h"

static const struct {
	uint64_t first, period;
} level[] = {
	{ REPEAT_FIRST, 32 },
	{ 4 * REPEAT_AGE, REPEAT_AGE },
};

static int go_on(const struct branch_repeat *, uint64_t n, int l);

/* Run n rounds by the level below. */
static int
below(const struct branch_repeat *r, uint64_t n, int l)
{
	if (l > 0)
		return go_on(r, n, l - 1);
	for (; n > 0; n--)
		if (r->round(r->what) < 0)
			return -1;
	return 0;
}

/* One period; returns how many more of it have been added, -1: trouble. */
static int64_t
period(const struct branch_repeat *r, uint64_t most, int l)
{
	int at = r->nested * 2 + l;
	uint64_t times;

	r->predictor->save(at);
	r->keep(r->what, l);
	if (below(r, level[l].period, l) < 0)
		return -1;
	times = r->predictor->again(at);
	if (times > most)
		times = most;
	if (times == 0 ||
	    !r->add(r->what, l, times, times * level[l].period))
		return 0;
	r->predictor->skip(at, times);
	return (int64_t)times;
}

static int
go_on(const struct branch_repeat *r, uint64_t n, int l)
{
	uint64_t wait = level[l].first, each = level[l].period;
	int64_t times;

	while (n / 2 > wait + each) {
		if (below(r, wait, l) < 0)
			return -1;
		n -= wait + each;
		times = period(r, n / each, l);
		if (times < 0)
			return -1;
		n -= (uint64_t)times * each;
		/* the obstacle is near and will soon be over */
		wait = times == 0 ? 2 * wait : 2 * each;
	}
	return below(r, n, l);
}

int
repeat(const struct branch_repeat *r, uint64_t n)
{
	return go_on(r, n, r->predictor->ages);
}
