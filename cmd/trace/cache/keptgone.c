/*
 * keptgone - objects that were unmapped before the end of the run
 *
 * A program may close a library, as php does with its extensions.  What was
 * made of it is dropped then, but the next run can have it, as if the run had
 * ended before: which fragments there were, and the sums of the pages that they
 * were made from, is noted here.  Nobody else uses what a fragment has, so that
 * is still there at the end.
 *
 * Of objects that come and go several times the richest is kept.
 */
#include <stdlib.h>
#include <string.h>

#include "cache/kept.h"
#include "mem.h"

static struct kept_gone *gone;
static size_t ngone, capgone;

static void
forget(struct kept_gone *g)
{
	free(g->put);
	free(g->pages.number);
	free(g->pages.sum);
}

void
gone_forget(void)
{
	while (ngone > 0)
		forget(&gone[--ngone]);
}

/* Its fragments. */
static void
note_fragments(struct kept_gone *g)
{
	const struct kept_object *o = &g->is;
	const struct frag *f;
	uint32_t i;

	g->is.nput = 0;
	for (i = 0; i < nfrag; i++) {
		f = &frags[i];
		if (f->pc - o->start >= o->end - o->start ||
		    !kept_is_wanted(i))
			continue;
		g->put = xgrow(g->put, &g->capput, g->is.nput + 1ul,
		    sizeof *g->put);
		g->put[g->is.nput++] = (struct kept_put){ .pc = f->pc,
		    .lookup = kept_lookup(f), .frag = i };
	}
}

/* Put it into the place of an equal one, if that has less, or behind all. */
static void
add(struct kept_gone *g)
{
	size_t i;

	for (i = 0; i < ngone && !object_is_same(&gone[i].is, &g->is); i++)
		;
	if (i < ngone && gone[i].is.nput > g->is.nput) {
		forget(g);
		return;
	}
	if (i < ngone) {
		forget(&gone[i]);
		memmove(gone + i, gone + i + 1, (--ngone - i) * sizeof *gone);
	}
	gone = xgrow(gone, &capgone, ngone + 1, sizeof *gone);
	gone[ngone++] = *g;
}

static void
note(const struct kept_live *l)
{
	struct kept_gone g = { .is = l->is };

	note_fragments(&g);
	if (g.is.nput == 0)
		return;
	bytes_list(&g.pages, &g.is, 0);
	add(&g);
}

void
gone_note(uint64_t start, uint64_t end)
{
	const struct kept_live *l;
	uint32_t i;

	for (i = 0; (l = object_live(i)) != NULL; i++)
		if (l->is.start >= start && l->is.end <= end)
			note(l);
}

const struct kept_gone *
gone_object(uint32_t i)
{
	return i < ngone ? &gone[i] : NULL;
}

static bool
overlap(const struct kept_object *a, const struct kept_object *b)
{
	return a->start < b->end && a->end > b->start;
}

/* The last one in a place is kept. */
bool
gone_can_stay(uint32_t i)
{
	size_t k;

	for (k = i + 1ul; k < ngone; k++)
		if (overlap(&gone[k].is, &gone[i].is))
			return false;
	return object_is_free(&gone[i].is);
}

bool
object_can_stay(uint32_t object)
{
	const struct kept_object *o = &kept.object[object - 1];
	size_t i;

	for (i = 0; i < ngone; i++)
		if (strcmp(gone[i].is.path, o->path) == 0 ||
		    overlap(&gone[i].is, o))
			return false;
	return object_is_free(o);
}
