/*
 * ids - the ids of blocks, prefixes and references, given in order
 */
#include "xlate/parts.h"
#include "xlate/xlate.h"
#include "prog.h"

/*
 * Ids that a block may need: one for each exit, fetch, and reference or element
 * of a gather; and a reserve for threads that stop inside blocks.
 */
#define IDS_MOST (MAX_INSN * 18 + 65536)

static uint32_t next_id = 1;

bool
def_ids_left(void)
{
	uint32_t most = opt->debug & DEBUG_FEWIDS ? 1u << 17 : NIDS;

	return next_id + IDS_MOST <= most;
}

uint32_t
def_new_id(void)
{
	if (next_id >= NIDS)
		die("too many different pieces of code (%u)", next_id);
	return next_id++;
}

uint32_t
def_ids_used(void)
{
	return next_id;
}

void
def_ids_from(uint32_t id)
{
	if (next_id < id)
		next_id = id;
}
