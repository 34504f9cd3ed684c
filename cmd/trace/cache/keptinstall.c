/*
 * keptinstall - put the store's fragments into the table, and drop them
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cache/cache.h"
#include "cache/kept.h"
#include "stream/stream.h"
#include "xlate/xlate.h"
#include "mem.h"

/* The definition of fragment i, and how many bytes there are at most. */
static const uint8_t *
definition(const struct kept *e, uint32_t i, size_t *n)
{
	const uint8_t *def = e->part[PART_DEFS];
	uint32_t at = e->index[i].def;

	*n = e->head->n[PART_DEFS] - at;
	return at < e->head->n[PART_DEFS] && def_packed_size(def + at, *n) != 0
	    ? def + at : NULL;
}

const uint8_t *
kept_def(uint32_t i, size_t *n)
{
	return definition(&kept, i, n);
}

static struct kept shelf;

void
kept_shelve(uint32_t firstid)
{
	const uint32_t *n = kept.head->n;

	kept.shelved = true;
	shelf = kept;
	shelf_take(kept.part[PART_COUNTS], n[PART_COUNTS],
	    kept.part[PART_TEXTS], n[PART_TEXTS], firstid);
}

void
kept_unshelve(void)
{
	shelf_take(NULL, 0, NULL, 0, 0);
	if (shelf.head != NULL)
		munmap((void *)(uintptr_t)shelf.head, shelf.head->size);
	free(shelf.installed);
	memset(&shelf, 0, sizeof shelf);
}

const uint8_t *
kept_shelved(uint32_t i, size_t *n)
{
	return definition(&shelf, i, n);
}

char *
kept_lines(uint64_t start, uint64_t end, char *text)
{
	const struct kept_object *o = shelf.object;
	const struct kept_put *p;
	uint32_t i, k;
	size_t n = text == NULL ? 0 : strlen(text), cap = n, some;
	const uint8_t *def;

	for (i = 1; i <= shelf.nobject; i++, o++)
		for (k = 0, p = shelf.put + o->put; shelf.installed[i] &&
		    o->start < end && o->end > start && k < o->nput; k++, p++) {
			def = kept_shelved(p->frag, &some);
			if (def == NULL ||
			    !def_packed_overlaps(def, start, end))
				continue;
			text = xgrow(text, &cap, n + 16, 1);
			n += (size_t)sprintf(text + n, "=%x\n",
			    shelf_id(def_packed_counter(def)));
		}
	return text;
}

#define MANY 1024u	/* fragments: most of the lookup's pages are written */
#define MORE 4096u	/* and most of those of second words */
#define FETCH 16u	/* so many fragments ahead: a lookup word is far */

/* Give the stream the fragment's definition; false: it has none. */
static bool
define(uint32_t i, app_pc pc)
{
	const uint8_t *p;
	size_t n;

	if (!opt->kind->tells || def_on_shelf())
		return true;
	p = kept_def(i, &n);
	return p != NULL && def_unpack(p, n, pc, kept.head->ncounter, i);
}

/* Lead to a fragment that is in the table from where that is wanted. */
static void
lead_to(const struct kept_put *p)
{
	if (p->lookup != 0)
		lookup_put(p->pc, p->lookup & ~LOOKUP_IS_SECOND,
		    p->lookup >= LOOKUP_IS_SECOND);
	if (link_any_waits())
		link_waiting(p->frag);
}

static void
install_all(const struct kept_object *o)
{
	const struct kept_put *p = kept.put + o->put, *end = p + o->nput;

	if (o->nput >= MANY)
		kept_map(area.ibl, IBL_SIZE);
	if (o->nput >= MORE)
		xtouch_all(area.ibl + 2 * IBL_WORDS, AGAIN_WORDS * 8u);
	for (; p < end; p++) {
		if (p + FETCH < end)
			lookup_fetch(p[FETCH].pc);
		if (!define(p->frag, p->pc)) {
			kept_ready();
			frag_drop(p->frag);
			continue;
		}
		table_add(p->frag, p->pc, p->word);
		lead_to(p);
		stats.kept++;
	}
}

/* Has this run made fragments in the object's place? */
static bool
has_others(const struct kept_object *o)
{
	uint32_t i;

	for (i = kept.nfrag; i < nfrag; i++)
		if (frags[i].pc - o->start < o->end - o->start)
			return true;
	return false;
}

uint32_t
kept_block_of(const struct frag *f)
{
	return area.frags[f->zone][f->meta].block;
}

/* Is it defined, or can it be?  What was in the table is. */
static bool
is_defined(const struct kept_put *p, bool was_installed)
{
	if (!was_installed)
		return define(p->frag, p->pc);
	return !opt->kind->tells || def_on_shelf() ||
	    def_can_pack(kept_block_of(&frags[p->frag]), p->pc);
}

/* Fragment f is not used; nor is it in the table, where another may be. */
static void
give_way(uint32_t f, uint32_t there)
{
	frags[f].dead = true;
	link_lost(f);
	if (there != 0)
		link_waiting(there - 1);
}

/*
 * Some of the object's fragments may be there, as when a part of it changed and
 * then became what it was.  One that this run has made stays instead.
 */
static void
install_missing(const struct kept_object *o, bool was_installed)
{
	const struct kept_put *p = kept.put + o->put, *end = p + o->nput;
	uint32_t there;

	kept_ready();
	for (; p < end; p++) {
		there = table_find(key_for(p->pc, MODE_IN, 0));
		if (there == p->frag + 1)
			continue;
		if (there != 0 || !is_defined(p, was_installed)) {
			give_way(p->frag, there);
			continue;
		}
		frags[p->frag].dead = false;
		link_revived(&frags[p->frag]);
		table_again(p->frag);
		lead_to(p);
		stats.kept += !was_installed;
	}
}

void
kept_install(uint32_t object)
{
	const struct kept_object *o = &kept.object[object - 1];
	bool was_installed = kept.installed[object];

	kept.installed[object] = true;
	table_fit(kept.nfrag);
	if (was_installed || has_others(o))
		install_missing(o, was_installed);
	else
		install_all(o);
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
