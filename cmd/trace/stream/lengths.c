/*
 * lengths - how many instructions an execution of an id is
 */
#include "mem.h"
#include "stream/parts.h"
#include "stream/stream.h"

uint8_t *id_length;

/* As a static array it would not let us start where memory is limited. */
void
lengths_begin(void)
{
	id_length = xreserve(NIDS, sizeof *id_length, "table of lengths");
}

void
lengths_tell(uint32_t id, unsigned n)
{
	id_length[id] = (uint8_t)n;
}
