/*
 * tables - branches, by block, and what an execution needs, by id
 */
#include "branchsim.h"

#include <string.h>

#include "mem.h"

struct branch *branch;
uint64_t *branch_missed;
uint32_t branch_count;
struct branch_unit *branch_unit;
struct branch_thread *branch_thread;
static struct branch_tests *tests;	/* by branch */
static uint32_t ntests;
static size_t captests;
#define NUNIT ((size_t)1 << 24)		/* ids end there */

struct branch *
branch_new(void)
{
	static size_t cap, capmissed;
	struct branch *br;

	branch = xgrow(branch, &cap, branch_count + 1, sizeof *branch);
	branch_missed = xgrow(branch_missed, &capmissed, branch_count + 1,
	    sizeof *branch_missed);
	branch_missed[branch_count] = 0;
	br = &branch[branch_count++];
	memset(br, 0, sizeof *br);
	return br;
}

void
branch_tests_new(const struct ev_block *b)
{
	tests = xgrow(tests, &captests, ntests + 1, sizeof *tests);
	tests[ntests++] = (struct branch_tests){ .block = b,
	    .branch = branch_count - 1 };
}

struct branch_tests *
branch_tests(uint32_t k)
{
	uint32_t lo = 0, hi = ntests, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (tests[mid].branch < k)
			lo = mid + 1;
		else
			hi = mid;
	}
	return tests + lo;
}

void
branch_init(void)
{
	branch_unit = xreserve(NUNIT, sizeof *branch_unit,
	    "memory for blocks");
	tests = xgrow(tests, &captests, 1, sizeof *tests);
	branch_new();
}
