/*
 * places - how many frames of a thread are at each place, by a hash
 *
 * Where stacks are switched most returns find no frame to return from, and
 * would look at thousands.
 */
#include "places.h"

#include "mem.h"

#define BITS 16u

static uint32_t *
count_of(const struct walk_thread *t, uint64_t sp)
{
	return &t->places[sp / 8 * 0x9e3779b97f4a7c15u >> (64 - BITS)];
}

void
places_add(struct walk_thread *t, uint64_t sp)
{
	if (t->places != NULL)
		++*count_of(t, sp);
}

void
places_drop(struct walk_thread *t, uint64_t sp)
{
	if (t->places != NULL)
		--*count_of(t, sp);
}

void
places_move(struct walk_thread *t, size_t i, uint64_t by)
{
	struct walk_frame *f = &t->frame[i];

	places_drop(t, f->sp);
	f->sp += by;
	places_add(t, f->sp);
}

bool
places_have(struct walk_thread *t, uint64_t sp)
{
	if (t->places == NULL) {
		t->places = xcalloc((size_t)1 << BITS, sizeof *t->places);
		for (size_t i = 0; i < t->n; i++)
			places_add(t, t->frame[i].sp);
	}
	return *count_of(t, sp) != 0;
}
