/*
 * keptinstall - put the store's fragments into the table, and drop them
 */
#include "cache/kept.h"
#include "xlate/xlate.h"

struct kept kept;

const uint8_t *
kept_def(uint32_t i, size_t *n)
{
	const uint8_t *def = kept.part[PART_DEFS];
	uint32_t all = kept.head->n[PART_DEFS];

	if (kept.index[i].def >= all)
		return NULL;
	*n = all - kept.index[i].def;
	return def + kept.index[i].def;
}

/* Give the stream the fragment's definition; false: it has none. */
static bool
define(uint32_t i, app_pc pc)
{
	const uint8_t *p;
	size_t n;

	if (!opt->kind->tells)
		return true;
	p = kept_def(i, &n);
	return p != NULL && def_unpack(p, n, pc, kept.head->ncounter, i);
}

void
kept_install(uint32_t object)
{
	const struct kept_object *o = &kept.object[object - 1];
	const struct kept_put *p = kept.put + o->put, *end = p + o->nput;

	if (kept.installed[object])
		return;
	kept.installed[object] = true;
	table_touch(o->start, o->end, o->nput);
	for (; p < end; p++) {
		if (!define(p->frag, p->pc)) {
			frag_drop(p->frag);
			continue;
		}
		table_add(p->frag, p->pc, p->word);
		if (link_any_waits())
			link_waiting(p->frag);
		stats.kept++;
	}
}

uint32_t
kept_kill(uint64_t start, uint64_t end, kill_function kill)
{
	const struct kept_object *o = kept.object;
	uint32_t i, k;

	for (i = 1; i <= kept.nobject; i++, o++)
		for (k = 0; kept.installed[i] && o->start < end &&
		    o->end > start && k < o->nput; k++)
			kill(kept.put[o->put + k].frag, start, end);
	return kept.nfrag;
}
