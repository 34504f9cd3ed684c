/*
 * shelved - threads that stop inside blocks of the store, in kind counts
 *
 * The block's definition is only text (stream/shelf.c), and nothing knows its
 * instructions.  Where a thread stops behind some of them, by a signal or a
 * fault, these need an id: a prefix of the block's.  If the run that made the
 * entry needed it as well, the entry has a counter for it.  Else it is defined
 * by two lines here, behind the text, and gets a counter.
 */
#include <htslib/khash.h>

#include <stdio.h>

#include "util.h"
#include "stream/stream.h"
#include "xlate/parts.h"

struct part {
	uint32_t id, counter;
};
KHASH_MAP_INIT_INT64(part, struct part)

/* Define the id of a prefix; the shelf defines its block first. */
static void
define(uint32_t id, uint32_t block, unsigned n)
{
	char line[80];

	snprintf(line, sizeof line, "=%x\nP %x %x %x\n", block, id, block, n);
	format_text(xstrdup(line));
}

uint32_t
shelved_part(const uint8_t *packed, unsigned n)
{
	static khash_t(part) *parts;	/* by the block's counter, and n */
	uint32_t whole = def_packed_counter(packed);
	uint32_t c = def_packed_part(packed, n);
	struct part *p;
	khiter_t k;
	int new;

	if (n == 0 || n > def_packed_length(packed))
		return NO_COUNTER;
	if (shelf_has(c))
		return c;
	if (parts == NULL)
		parts = kh_init(part);
	k = kh_put(part, parts, (uint64_t)shelf_id(whole) << 8 | n, &new);
	if (new < 0)
		die("counters:");
	p = &kh_value(parts, k);
	if (new != 0) {
		p->id = def_new_id();
		define(p->id, shelf_id(whole), n);
	}
	if (new != 0 || !counter_is(p->counter, p->id))
		p->counter = counter_new_unregistered(p->id, n);
	return p->counter;
}
