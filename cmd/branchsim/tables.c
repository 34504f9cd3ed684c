/*
 * tables - branches, by block, and what an execution needs, by id
 */
#include "branchsim.h"

#include <string.h>

#include "util.h"

struct branch *branch;
uint64_t *branch_missed;
uint32_t branch_count;
struct branch_unit *branch_unit;
struct branch_thread *branch_thread;

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

struct branch_unit *
branch_unit_new(uint32_t id)
{
	static size_t cap;
	size_t old = cap;

	branch_unit = xgrow(branch_unit, &cap, (size_t)id + 1,
	    sizeof *branch_unit);
	memset(branch_unit + old, 0, (cap - old) * sizeof *branch_unit);
	return &branch_unit[id];
}
