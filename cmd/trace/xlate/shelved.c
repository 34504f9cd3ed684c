/*
 * shelved - threads that stop inside blocks of the store, in kind counts
 *
 * The block's definition is only text (stream/shelf.c), and nothing knows its
 * instructions.  Where a thread stops behind some of them, by a signal or a
 * fault, these need an id: a prefix of the block's.  If the run that made the
 * entry needed it as well, the entry has a counter for it.  Else it is defined
 * by two lines here, behind the text, and gets a counter.
 */

#include <stdio.h>

#include "stream/stream.h"
#include "xlate/parts.h"
#include "khash.h"
#include "mem.h"

struct part {
	uint32_t id, counter;
};
KHASH_MAP_INIT_INT64(part, struct part)

static uint32_t first, count;	/* numbers of definitions */
static def_shelved *packed;	/* or NULL: none is on the shelf */

/* Define the id of a prefix; the shelf defines its block first. */
static void
define(uint32_t id, uint32_t block, unsigned n)
{
	char line[80];

	snprintf(line, sizeof line, "=%x\nP %x %x %x\n", block, id, block, n);
	format_text(xstrdup(line));
}

void
shelved_begin(uint32_t number, uint32_t n, def_shelved *find)
{
	first = number;
	count = n;
	packed = find;
}

const uint8_t *
shelved_packed(uint32_t number, size_t *size)
{
	return packed == NULL || number - first >= count ? NULL :
	    packed(number - first, size);
}

uint32_t
shelved_end(uint32_t number)
{
	return packed == NULL || number - first >= count ? number :
	    first + count;
}

/* The counter of the first n instructions of a block, which the entry lacks. */
static uint32_t
part_counter(uint32_t block, unsigned n)
{
	static khash_t(part) *parts;	/* by the block's id, and n */
	struct part *p;
	khiter_t k;
	int new;

	if (parts == NULL)
		parts = kh_init(part);
	k = kh_put(part, parts, (uint64_t)block << 8 | n, &new);
	p = &kh_value(parts, k);
	if (new != 0) {
		p->id = def_new_id();
		define(p->id, block, n);
	}
	if (new != 0 || !counter_is(p->counter, p->id))
		p->counter = counter_new_unregistered(p->id, n);
	return p->counter;
}

bool
shelved_part(uint32_t number, unsigned n, uint32_t *c)
{
	size_t size;
	const uint8_t *p = shelved_packed(number, &size);

	if (p == NULL || !shelf_has(def_packed_counter(p)))
		return false;
	*c = NO_COUNTER;
	if (n == 0 || n > def_packed_length(p))
		return true;
	*c = def_packed_part(p, n);
	if (!shelf_has(*c))
		*c = part_counter(shelf_id(def_packed_counter(p)), n);
	return true;
}
