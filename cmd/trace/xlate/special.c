/*
 * special - ids of records that are no executions of blocks
 */
#include "evw.h"
#include "stream/stream.h"
#include "xlate/parts.h"
#include "xlate/xlate.h"
#include "prog.h"

/* The id by which lines of code ('i') or data ('d') leave the table. */
uint32_t
def_leave_id(char which)
{
	static uint32_t id[2];
	uint32_t *p = &id[which == 'd'];

	if (*p == 0) {
		*p = def_new_id();
		if (evw_leave(stream_writer, *p, which) < 0)
			die("id %x: a definition that cannot be", *p);
	}
	return *p;
}

uint32_t
def_alloc_id(void)
{
	static uint32_t id;

	if (id == 0) {
		id = def_new_id();
		if (evw_special(stream_writer, id, ALLOC_VALUES,
		    stream_alloc) < 0)
			die("id %x: a definition that cannot be", id);
	}
	return id;
}

uint32_t
def_frame_id(void)
{
	uint32_t id = def_new_id();

	if (evw_special(stream_writer, id, 2, format_frame) < 0)
		die("id %x: a definition that cannot be", id);
	return id;
}
