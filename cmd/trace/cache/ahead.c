/*
 * ahead - which fragments will be wanted, so that they are made before
 *
 * They are made after a request, one at a time, while the guest goes on.  If it
 * asks meanwhile, it waits for one of them at most.
 *
 * - The LANDING of each call that a requested fragment ends with: where the
 *   call returns to, by a lookup word.  Without it the return would be a
 *   request of its own; 19 of 20 landings are executed.  They are kept in a
 *   stack, since what is called last returns first.  One of them is made at
 *   once, even if a request waits: the thread waits longer for what it calls,
 *   but need not ask for the landing, and so waits less in all.  If the landing
 *   ends with a call, that has a landing in turn.  Calls of fragments made in
 *   idle moments have none: their landings would be an eighth of gcc's
 *   fragments.
 * - What direct exits of the fragment lead to, last exit first, up to a bound.
 *
 * With contexts landings are exits of the caller's fragment.
 */
#include "cache/cache.h"
#include "cache/parts.h"
#include "find.h"

#define LANDINGS 256u		/* deeper ones are forgotten */

static struct wanted landing[LANDINGS];	/* the last at nlanding - 1 */
static unsigned nlanding;	/* modulo LANDINGS; those kept: */
static unsigned kept;
static bool due;		/* a request's answer has made a call */

/* The exits to go through. */
static struct {
	uint32_t f, i;		/* a fragment, how many of its exits are done */
	uint32_t end;		/* index that ends the work; 0: no work */
} exits;

static uint32_t gen;		/* of the code cache: what all this is about */

/* After a flush nothing is wanted. */
static void
look_for_flush(void)
{
	if (gen == area.gen)
		return;
	gen = area.gen;
	kept = 0;
	due = false;
	exits.end = 0;
}

void
ahead_call(const struct frag *f, app_pc pc)
{
	if (pc == 0 || opt->contexts != 0 || (f->mode & MODE_ONCE) ||
	    (opt->debug & DEBUG_NOLINK))
		return;
	look_for_flush();
	landing[nlanding++ % LANDINGS] =
	    (struct wanted){ pc, f->mode & MODE_OUT, 0 };
	kept += kept < LANDINGS;
}

void
ahead_begin(uint32_t first)
{
	if (opt->debug & DEBUG_NOLINK)
		return;
	look_for_flush();
	exits.f = first;
	exits.i = 0;
	exits.end = first + MAX_AHEAD;
	due = kept > 0;
}

static bool
next_landing(struct wanted *w)
{
	while (kept > 0) {
		kept--;
		*w = landing[--nlanding % LANDINGS];
		if (table_find(key_for(w->pc, w->mode, w->owner)) != 0 ||
		    !store_room(zone_for(w->pc)))
			continue;
		w->mode |= MODE_LOOKUP;
		return true;
	}
	return false;
}

static bool
next_exit(struct wanted *w)
{
	uint32_t e;

	for (; exits.f < nfrag && nfrag < exits.end; exits.f++, exits.i = 0)
		while (exits.i < frags[exits.f].nexit) {
			e = frags[exits.f].exit + frags[exits.f].nexit -
			    ++exits.i;
			w->mode = frags[exits.f].mode & MODE_OUT;
			w->owner = frags[exits.f].owner;
			w->pc = tab_key((uint64_t)link_key(e), w->mode);
			if (!link_open(e) || w->pc == 0 ||
			    table_find(link_key(e)) != 0)
				continue;
			if (!store_room(zone_for(w->pc)))
				break;
			return true;
		}
	exits.end = 0;
	return false;
}

bool
ahead_is_due(void)
{
	return due;
}

bool
ahead_due(struct wanted *w)
{
	look_for_flush();
	due = false;
	return next_landing(w);
}

bool
ahead_any(void)
{
	return exits.end != 0 || kept > 0;
}

bool
ahead_next(struct wanted *w)
{
	look_for_flush();
	return next_exit(w) || next_landing(w);
}
