/*
 * sums - kind branches: what the program's own predictor found
 *
 * W lines say how often each id was executed, X lines how often a branch of a
 * block was mispredicted, R lines how often a repeated instruction went round.
 * With --rep=each such an instruction is a branch, too, of which there is only
 * the R line.
 */
#include "branchsim.h"

#include "khash.h"
#include "rounds.h"

KHASH_MAP_INIT_INT64(missed, uint64_t)

static struct rounds *rounds;		/* with --rep=each */
static khash_t(missed) *missed;		/* of repeated instructions */

void
sums_init(struct evr *r)
{
	rounds = rounds_new(r);
	missed = kh_init(missed);
}

void
sums_define(struct ev_block *b)
{
	if (rounds != NULL)
		rounds_define(rounds, simrun_number(b), b);
}

void
sums_rounds(const struct ev_block *b, const struct ev *e)
{
	if (rounds != NULL)
		rounds_line(rounds, simrun_number(b), e);
}

static uint64_t
key(uint32_t block, uint32_t insn)
{
	return (uint64_t)block << 32 | insn;
}

int
sums_missed(const struct ev_block *b, uint32_t insn, uint64_t n)
{
	uint32_t block = simrun_number(b);
	khiter_t k;
	int new;

	if (run_missed(block, insn, n) == 0)
		return 0;
	if (rounds == NULL || !rounds_has(rounds, block, insn))
		return -1;
	k = kh_put(missed, missed, key(block, insn), &new);
	if (new != 0)
		kh_value(missed, k) = 0;
	kh_value(missed, k) += n;
	return 0;
}

void
sums_costs(const struct insns_at *at, int64_t *n)
{
	khiter_t k;

	if (rounds == NULL || !rounds_has(rounds, at->block, at->insn))
		return;
	n[NEVENT] += (int64_t)rounds_extra(rounds, at->block, at->insn, at->i,
	    at->ref, at->times);
	n[BC] += (int64_t)rounds_tests(rounds, at->block, at->insn, at->i,
	    at->ref, at->times);
	k = kh_get(missed, missed, key(at->block, at->insn));
	if (k != kh_end(missed))
		n[BCM] += (int64_t)kh_value(missed, k);
}
