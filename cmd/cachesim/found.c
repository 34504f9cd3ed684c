/*
 * found - the misses of the last executions, for passing the events on
 */
#include "cachesim.h"
#include "mem.h"

const char *const found_name[] = { "I1mr", "ILmr", "D1mr", "DLmr", "D1mw",
    "DLmw" };
struct sim_outcome *found;
const uint64_t **found_of, *found_record;
unsigned nfound;
static unsigned capfound;

__attribute__((noinline))
static void
more_room(void)
{
	size_t cap = capfound, capof = capfound;

	found = xgrow(found, &cap, nfound + 1, sizeof *found);
	found_of = xgrow(found_of, &capof, nfound + 1, sizeof *found_of);
	capfound = (unsigned)(cap < capof ? cap : capof);
}

void
found_add(uint32_t insn, unsigned event)
{
	for (unsigned i = nfound; i > 0 && found[i - 1].insn == insn &&
	    found_of[i - 1] == found_record; i--)
		if (found[i - 1].event == event) {
			found[i - 1].n++;
			return;
		}
	if (nfound == capfound)
		more_room();
	found_of[nfound] = found_record;
	found[nfound++] = (struct sim_outcome){ insn, event, 1 };
}
