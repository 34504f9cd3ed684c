/*
 * spare - numbers of arcs and states that the guest's threads may use
 *
 * A slot's thread gets a row of numbers, and another one when these are used.
 * What is left when the thread ends is for the next thread of the slot.
 */
#include "context/context.h"
#include "context/parts.h"
#include "ctl.h"

#define FIRST_SPARE 16u
#define MOST_SPARE 256u

static struct spare {
	uint32_t arc, end;	/* arcs: the first that is not known yet */
	uint32_t linked;	/* the first whose code was not looked for */
	uint32_t state_end;
	uint32_t n;		/* how many it got last */
} spares[NSLOT];

void
spare_forget(void)
{
	static const struct spare none;
	struct ctx_words *w;
	unsigned slot;

	for (slot = 0; slot < NSLOT; slot++) {
		if (spares[slot].end == 0)
			continue;
		spares[slot] = none;
		w = theirs_words(slot);
		w->arc = w->arc_end = w->state = w->state_end = 0;
	}
}

void
spare_learn(unsigned slot)
{
	struct spare *s = &spares[slot];
	uint32_t now;

	if (s->arc == s->end)
		return;
	now = __atomic_load_n(&theirs_words(slot)->arc, __ATOMIC_ACQUIRE);
	if (now < s->arc || now > s->end) {
		trust_lose("its calls");
		return;
	}
	for (; s->arc < now; s->arc++)
		if (!arcs_is(s->arc)) {
			trust_lose("its calls");
			return;
		}
}

uint32_t
context_made(unsigned slot, app_pc *target, uint32_t *owner)
{
	struct spare *s = &spares[slot];
	uint32_t arc = 0;

	context_lock();
	if (s->linked == s->arc)
		spare_learn(slot);
	if (s->linked < s->arc) {
		arc = s->linked++;
		*target = arcs_walk(arc)->to;
		*owner = arcs_owner(arcs_to(arc));
	}
	context_unlock();
	return arc;
}

static void
give_arcs(struct spare *s, struct ctx_words *w)
{
	uint32_t first = arcs_spare(s->n, false);

	if (first == 0)
		return;
	s->arc = s->linked = first;
	s->end = first + s->n;
	w->arc_end = s->end;
	w->arc = first;
}

static void
give_states(struct spare *s, struct ctx_words *w)
{
	uint32_t first = arcs_spare(s->n, true);

	if (first == 0)
		return;
	s->state_end = w->state_end = first + s->n;
	w->state = first;
}

void
context_spare(unsigned slot)
{
	struct spare *s = &spares[slot];
	struct ctx_words *w;

	context_lock();
	w = theirs_words(slot);
	if (s->linked == s->end) {
		s->n = s->n == 0 ? FIRST_SPARE : s->n < MOST_SPARE ? 2 * s->n :
		    MOST_SPARE;
		give_arcs(s, w);
	}
	if (s->end != 0 && ONCE(w->state) == s->state_end)
		give_states(s, w);
	context_unlock();
}
