/*
 * keptpaths - find paths for the next run
 *
 * Where executions are counted few paths are found while much is new, and a
 * short run is nothing else.  At its end all counts are known, and for most
 * indirect exits where they led (targets.c).  So before an entry is written,
 * blocks that ran often get fragments along their paths, with which the next
 * run begins.  They are made from the pages of code that the store has noted,
 * since the program is gone; a path that goes on in another object ends there,
 * as it could not be kept.
 *
 * Where the program often left a path for the midst of a block, another path
 * begins.  Where it seldom did, a plain fragment is made: that takes less time
 * now than a request in the next run.
 *
 * Those come first that were made first, as what is executed first mostly leads
 * to the others.  A block to which enough came by none of the paths before gets
 * one of its own.  All are found before the first fragment is made.
 */
#include "cache/cache.h"
#include "cache/kept.h"
#include "mem.h"
#include "stream/stream.h"
#include "xlate/xlate.h"

static bool
is_wanted(void)
{
	return opt->kind->counters && opt_makes_paths() && kept.on &&
	    !trust_lost && kept_may_pay();
}

void
kept_notice(void)
{
	if (targets_due() && is_wanted())
		targets_look();
}

void
kept_look(void)
{
	if (!is_wanted())
		return;
	recent_end();
	targets_end();
}

/* The same words for indirect jumps lead to the fragment that is at pc now. */
static void
lead_there(app_pc pc, enum lookup_by had)
{
	uint32_t f = table_find(key_for(pc, MODE_IN, 0));

	if (had != LOOKUP_NONE && f != 0)
		lookup_put(pc, lookup_of(&frags[f - 1]), had == LOOKUP_SECOND);
}

static app_pc *found;		/* where fragments are to be made */
static size_t nfound, capfound;

static void
add_found(app_pc pc)
{
	found = xgrow(found, &capfound, nfound + 1, sizeof *found);
	found[nfound++] = pc;
}

/* Can a path begin where this fragment does? */
static bool
is_head(const struct frag *f)
{
	return !f->dead && !f->on_path && f->mode == 0 && f->owner == 0 &&
	    object_at(f->pc) != NULL;
}

/* Make the fragment at pc, along its path if it has one. */
static void
make(app_pc pc)
{
	uint32_t f = table_find(key_for(pc, MODE_IN, 0));
	enum lookup_by had;

	if (f == 0) {
		frag_request(pc, ~0ull, MODE_IN, 0);
		return;
	}
	if (!path_known(pc))
		return;
	had = lookup_state(&frags[f - 1]);
	frag_again(pc);
	lead_there(pc, had);
}

void
kept_follow(void)
{
	struct stats was = stats;	/* which are of the run */
	uint32_t end = nfrag, i;

	if (!is_wanted())
		return;
	maps_gone();
	nfound = 0;
	for (i = kept.nfrag; i < end; i++)
		if (is_head(&frags[i]))
			search_whole(frags[i].pc, add_found);
	for (i = 0; i < nfound && store_room_kept(zone_for(found[i]));
	    i++)
		make(found[i]);
	stats = was;
}
