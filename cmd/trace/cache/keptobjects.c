/*
 * keptobjects - objects: what is mapped now, and what is kept of it
 *
 * An object is an executable mapping of a file, or the vDSO, that cannot be
 * written.  One that is mapped equals one of the entry if file and place are
 * the same, and then each page that any translation of it was made from has the
 * same bytes in the program's memory as then (keptbytes.c).  If only one
 * differs, nothing that is kept of the object is used.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/kept.h"
#include "cache/parts.h"
#include "mem.h"

static struct kept_live *live;
static size_t nlive, caplive;

/* The file's identity, as the program sees it; false: it has none. */
static bool
identify(struct kept_object *o)
{
	char name[64 + sizeof o->path];
	struct stat s;

	if (strcmp(o->path, "[vdso]") == 0)
		return true;
	snprintf(name, sizeof name, "/proc/%d/root%s", (int)guest.pid,
	    o->path);
	if (o->path[0] != '/' || stat(name, &s) < 0 || !S_ISREG(s.st_mode))
		return false;
	o->dev = s.st_dev;
	o->ino = s.st_ino;
	o->size = (uint64_t)s.st_size;
	o->sec = (uint64_t)s.st_mtim.tv_sec;
	o->nsec = (uint64_t)s.st_mtim.tv_nsec;
	return true;
}

bool
object_is_same(const struct kept_object *a, const struct kept_object *b)
{
	return a->start == b->start && a->end == b->end && a->off == b->off &&
	    a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	    a->sec == b->sec && a->nsec == b->nsec &&
	    strcmp(a->path, b->path) == 0;
}

/* The bytes of a process that ends are gone: they differ from nothing. */
static bool
is_ending(void)
{
	uint8_t byte;

	return pread(guest.mem, &byte, 1, (off_t)area.blob) != 1;
}

static uint32_t
find_stored(const struct kept_object *o, const struct maps_entry *e)
{
	uint32_t i;

	for (i = 0; i < kept.nobject &&
	    !object_is_same(o, &kept.object[i]); i++)
		;
	if (i == kept.nobject)
		return 0;
	if (bytes_are_same(&kept.object[i], e))
		return i + 1;
	if (is_ending())
		kept.on = false;	/* the entry stays as it is */
	return 0;
}

static void
add_live(const struct maps_entry *e)
{
	struct kept_live l;

	memset(&l, 0, sizeof l);
	l.is.start = e->start;
	l.is.end = e->end;
	l.is.off = e->off;
	if (e->is_volatile || strlen(e->path) >= sizeof l.is.path)
		return;
	strcpy(l.is.path, e->path);
	if (!identify(&l.is))
		return;
	l.stored = find_stored(&l.is, e);
	live = xgrow(live, &caplive, nlive + 1, sizeof *live);
	live[nlive++] = l;
}

static bool
is_live(const struct maps_entry *e)
{
	size_t i;

	for (i = 0; i < nlive; i++)
		if (live[i].is.start == e->start && live[i].is.end == e->end)
			return true;
	return false;
}

static bool
is_mapped(const struct kept_object *o)
{
	struct maps_entry e;
	size_t i;

	for (i = 0; maps_entry(i, &e); i++)
		if (e.start == o->start && e.end == o->end)
			return true;
	return false;
}

/* Is it another one now, in part, or as a part of what came beside it? */
static bool
has_changed(const struct kept_object *o, uint64_t start, uint64_t end)
{
	return (o->start < end && o->end > start) ||
	    ((o->start == end || o->end == start) && !is_mapped(o));
}

/* Drop what has changed; widen the range to all of it. */
static void
drop_live(uint64_t *start, uint64_t *end)
{
	uint64_t from = *start, to = *end;
	const struct kept_object *o;
	size_t i, k = 0;

	for (i = 0; i < nlive; i++) {
		o = &live[i].is;
		if (!has_changed(o, from, to)) {
			live[k++] = live[i];
			continue;
		}
		*start = o->start < *start ? o->start : *start;
		*end = o->end > *end ? o->end : *end;
	}
	nlive = k;
}

void
objects_changed(uint64_t start, uint64_t end)
{
	struct maps_entry e;
	size_t i, first;

	drop_live(&start, &end);
	first = nlive;
	for (i = 0; maps_entry(i, &e); i++)
		if (e.start < end && e.end > start && !is_live(&e))
			add_live(&e);
	lookup_end();	/* which may have begun with the image */
	for (i = first; i < nlive; i++)
		if (live[i].stored != 0)
			kept_install(live[i].stored);
}

void
objects_begin(void)
{
	nlive = 0;
	bytes_begin();
	objects_changed(0, ~0ull);
}

struct kept_live *
object_at(uint64_t pc)
{
	size_t i;

	for (i = 0; i < nlive; i++)
		if (pc - live[i].is.start < live[i].is.end - live[i].is.start)
			return &live[i];
	return NULL;
}

struct kept_live *
object_live(uint32_t i)
{
	return i < nlive ? &live[i] : NULL;
}

bool
object_is_free(const struct kept_object *o)
{
	size_t i;

	for (i = 0; i < nlive; i++)
		if (strcmp(live[i].is.path, o->path) == 0 ||
		    (live[i].is.start < o->end && live[i].is.end > o->start))
			return false;
	return true;
}
