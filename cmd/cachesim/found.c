/*
 * found - the misses of the last execution, for passing the events on
 */
#include "cachesim.h"
#include "util.h"

const char *const found_name[] = { "I1mr", "ILmr", "D1mr", "DLmr", "D1mw",
    "DLmw" };
struct sim_outcome *found;
unsigned nfound;
static size_t capfound;

void
found_add(uint32_t insn, unsigned event)
{
	for (unsigned i = nfound; i > 0 && found[i - 1].insn == insn; i--)
		if (found[i - 1].event == event) {
			found[i - 1].n++;
			return;
		}
	found = xgrow(found, &capfound, nfound + 1, sizeof *found);
	found[nfound++] = (struct sim_outcome){ insn, event, 1 };
}
