/*
 * keptpaths - find paths for the next run
 *
 * Where executions are counted few paths are found while much is new, and a
 * short run is nothing else.  At its end all counts are known.  So before an
 * entry is written, blocks that ran often get fragments along their paths, with
 * which the next run begins.  They are made from the pages of code that the
 * store has noted, since the program is gone; a path that goes on elsewhere
 * ends there.
 *
 * Where the program left a path, in one of its blocks, it gets a fragment, too:
 * a request of the next run takes longer than to make it now.
 *
 * Those come first that were made first, as what is executed first mostly leads
 * to the others.  A block to which enough came by none of the paths before gets
 * one of its own.
 */
#include "cache/cache.h"
#include "cache/kept.h"
#include "stream/stream.h"
#include "xlate/xlate.h"

static bool
is_wanted(void)
{
	return opt->kind->counters && opt_makes_paths() && kept.on &&
	    !trust_lost && kept_may_pay();
}

void
kept_look(void)
{
	if (is_wanted())
		recent_end();
}

/* Can a fragment be made, and all of them be kept then? */
static bool
is_room(app_pc pc)
{
	return store_room(zone_for(pc)) && nfrag + 1 < area.maxfrag / 2 &&
	    counters_used() + COUNTERS_MOST <= area.maxcount / 2;
}

/* The same words for indirect jumps lead to the fragment that is at pc now. */
static void
lead_there(app_pc pc, enum lookup_by had)
{
	uint32_t f = table_find(key_for(pc, MODE_IN, 0));

	if (had != LOOKUP_NONE && f != 0)
		lookup_put(pc, lookup_of(&frags[f - 1]), had == LOOKUP_SECOND);
}

static void
follow(uint32_t i)
{
	const struct frag *f = &frags[i];
	struct beside b;
	enum lookup_by had;
	app_pc pc;

	if (f->dead || f->on_path || f->mode != 0 || f->owner != 0 ||
	    object_at(f->pc) == NULL || !is_room(f->pc))
		return;
	pc = search_whole(f->pc, &b);
	if (pc == 0)
		return;
	had = lookup_state(f);
	frag_again(pc);
	lead_there(pc, had);
	while (b.n > 0 && is_room(b.pc[b.n - 1]))
		frag_request(b.pc[--b.n], ~0ull, MODE_IN, 0);
}

void
kept_follow(void)
{
	struct stats was = stats;	/* which are of the run */
	uint32_t end = nfrag, i;

	if (!is_wanted())
		return;
	maps_gone();
	for (i = kept.nfrag; i < end; i++)
		follow(i);
	stats = was;
}
