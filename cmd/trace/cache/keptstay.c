/*
 * keptstay - what can be kept, and whether that is worth an entry
 */
#include "cache/cache.h"
#include "cache/kept.h"
#include "keep/keep.h"
#include "xlate/xlate.h"

/* Is all that the fragment was made from in the object? */
static bool
is_inside(const struct frag *f, const struct kept_live *l)
{
	struct code_piece p;
	uint32_t i;

	for (i = 0; store_piece(f, i, &p); i++)
		if (p.start < l->is.start || p.end > l->is.end ||
		    p.end <= p.start)
			return false;
	return true;
}

bool
kept_is_installed(uint32_t i)
{
	return i >= kept.nfrag || kept.installed[kept.index[i].object];
}

bool
kept_is_packed(uint32_t i)
{
	return !kept_is_installed(i) || (i < kept.nfrag && def_on_shelf());
}

bool
kept_can_stay(uint32_t i)
{
	const struct frag *f = &frags[i];
	struct kept_live *l;

	if (f->stands_in || f->mode != 0 || f->owner != 0 ||
	    (opt->kind->tells && !kept_is_packed(i) &&
	    !def_can_pack(kept_block_of(f), f->pc)))
		return false;
	l = object_at(f->pc);
	return l != NULL && is_inside(f, l);
}

/*
 * Was it dropped for one along a path that cannot be kept, as it leads to
 * another object, or for one that stands in for it?  Then the next run begins
 * with this one again.
 */
static bool
gave_way(const struct frag *f)
{
	uint32_t t = table_find(key_of(f));

	if (t != 0 && frags[t - 1].on_path && kept_can_stay(t - 1))
		return false;
	return (opt->kind->paths && path_known(f->pc) && !f->remade) ||
	    (t != 0 && frags[t - 1].stands_in);
}

bool
kept_is_wanted(uint32_t i)
{
	const struct frag *f = &frags[i];

	return kept_is_installed(i) && kept_can_stay(i) &&
	    (!f->dead || gave_way(f));
}

uint64_t
kept_lookup(const struct frag *f)
{
	enum lookup_by state = lookup_state(f);

	return state == LOOKUP_NONE ? 0 : lookup_of(f) |
	    (state == LOOKUP_SECOND ? LOOKUP_IS_SECOND : 0);
}

/*
 * Few are made anew each time, if they are not kept.  To keep them takes about
 * 1 ms for each MB, so it is done once in so many seconds.
 */
bool
kept_is_time(void)
{
	return kept.head != NULL &&
	    keep_age(kept.name) > (int64_t)(kept.head->size >> 20);
}

bool
kept_may_pay(void)
{
	uint32_t new = nfrag - kept.nfrag, i;

	if (new >= KEPT_LEAST)
		return new >= kept.nfrag / 2 / KEPT_SHARE || kept_is_time();
	for (i = kept.nfrag; i < nfrag; i++)
		if (!frags[i].dead && kept_can_stay(i))
			return kept_is_time();
	return false;
}
