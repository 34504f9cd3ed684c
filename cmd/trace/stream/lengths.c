/*
 * lengths - how many instructions an execution of an id is
 */
#include "stream/parts.h"
#include "stream/stream.h"

uint8_t id_length[NIDS];

void
lengths_tell(uint32_t id, unsigned n)
{
	id_length[id] = (uint8_t)n;
}
