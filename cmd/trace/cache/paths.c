/*
 * paths - the known paths of blocks, by their first pc
 */
#include "cache/parts.h"
#include "khash.h"

KHASH_MAP_INIT_INT64(path, struct path)

static khash_t(path) *paths;

bool
path_known(app_pc pc)
{
	return paths != NULL && kh_get(path, paths, pc) != kh_end(paths);
}

void
path_put(app_pc pc, const struct path *p)
{
	khiter_t k;
	int new;

	if (paths == NULL)
		paths = kh_init(path);
	k = kh_put(path, paths, pc, &new);
	kh_value(paths, k) = *p;
}

void
path_forget(app_pc pc)
{
	khiter_t k;

	if (paths == NULL)
		return;
	k = kh_get(path, paths, pc);
	if (k != kh_end(paths))
		kh_del(path, paths, k);
}

void
path_forget_all(void)
{
	if (paths != NULL)
		kh_clear(path, paths);
}

/*
 * For tests: an arbitrary path of the greatest length.  Indirect transfers lead
 * by their words, or wrongly to the path's head.
 */
static const struct path *
any_path(app_pc pc)
{
	static struct path p;
	unsigned i;

	p.ninsn = MAX_INSN;
	p.taken = pc * 0x9e3779b97f4a7c15ull;
	p.nto = MAX_GUESSES;
	for (i = 0; i < MAX_GUESSES; i++)
		p.to[i] = p.taken >> (32 + i) & 1 ? pc : 0;
	return &p;
}

const struct path *
path_of(app_pc pc)
{
	khiter_t k;

	if (opt->debug & DEBUG_LONG)
		return any_path(pc);
	if (paths == NULL)
		return NULL;
	k = kh_get(path, paths, pc);
	return k == kh_end(paths) ? NULL : &kh_value(paths, k);
}
