/*
 * total - how much memory there is in all, and when it was the most
 *
 * Mappings are left out.  Time is what Massif has as --time-unit=B: the bytes
 * that were allocated and freed so far, with what the allocator adds to each
 * block: a word, and what rounds it up to ALIGNMENT.  The most is with that, as
 * Massif has it.
 */
#include "dataprof.h"

#define ALIGNMENT	16u
#define WORD		8u

static struct sample now, most;

/* What an allocator adds to n bytes. */
static uint64_t
extra(uint64_t n)
{
	return (-n & (ALIGNMENT - 1)) + WORD;
}

bool
total_grows(uint64_t n)
{
	now.bytes += n;
	now.extra += extra(n);
	now.time += n + extra(n);
	if (now.bytes + now.extra <= most.bytes + most.extra)
		return false;
	most = now;
	return true;
}

void
total_shrinks(uint64_t n)
{
	now.bytes -= n;
	now.extra -= extra(n) < now.extra ? extra(n) : now.extra;
	now.time += n + extra(n);
}

void
total_exec(void)
{
	now.bytes = now.extra = 0;
}

const struct sample *
total_now(void)
{
	return &now;
}

const struct sample *
total_most(void)
{
	return &most;
}
