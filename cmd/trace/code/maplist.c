/*
 * maplist - the list of what is mapped executable
 */
#include <stdlib.h>
#include <string.h>

#include "code/mapping.h"
#include "mem.h"

static struct mapping *maps;	/* by address */
static size_t nmaps, capmaps;

/* Is b what a goes on with? */
static bool
goes_on(const struct mapping *a, const struct mapping *b)
{
	return a->end == b->start && a->object == b->object &&
	    a->dev == b->dev && a->ino == b->ino && a->write == b->write &&
	    a->shared == b->shared && (a->path[0] != '/' ||
	    a->off + (a->end - a->start) == b->off);
}

/* Mapping i has grown: does it reach the next one? */
static void
join(size_t i)
{
	if (i + 1 >= nmaps || !goes_on(&maps[i], &maps[i + 1]))
		return;
	maps[i].end = maps[i + 1].end;
	free(maps[i + 1].path);
	nmaps--;
	memmove(&maps[i + 1], &maps[i + 2], (nmaps - i - 1) * sizeof *maps);
}

void
maplist_add(const struct mapping *m)
{
	size_t i;

	for (i = nmaps; i > 0 && maps[i - 1].start > m->start; i--)
		;
	if (i > 0 && goes_on(&maps[i - 1], m)) {
		maps[i - 1].end = m->end;
		join(i - 1);
		return;
	}
	if (i < nmaps && goes_on(m, &maps[i])) {
		maps[i].start = m->start;
		maps[i].off = m->off;
		return;
	}
	maps = xgrow(maps, &capmaps, nmaps + 1, sizeof *maps);
	memmove(&maps[i + 1], &maps[i], (nmaps - i) * sizeof *maps);
	maps[i] = *m;
	maps[i].path = xstrdup(m->path);
	nmaps++;
}

void
maplist_cut(uint64_t start, uint64_t end)
{
	struct mapping m, part;
	size_t i;

	for (i = 0; i < nmaps; ) {
		m = maps[i];
		if (m.start >= end || m.end <= start) {
			i++;
			continue;
		}
		memmove(&maps[i], &maps[i + 1], (nmaps - i - 1) * sizeof *maps);
		nmaps--;
		if (m.start < start) {
			part = m;
			part.end = start;
			maplist_add(&part);
			i++;
		}
		if (m.end > end) {
			part = m;
			part.off += end - m.start;
			part.start = end;
			maplist_add(&part);
			i++;
		}
		free(m.path);
	}
}

void
maplist_forget(void)
{
	size_t i;

	for (i = 0; i < nmaps; i++)
		free(maps[i].path);
	nmaps = 0;
}

const struct mapping *
maplist_at(size_t i)
{
	return i < nmaps ? &maps[i] : NULL;
}

const struct mapping *
maplist_find(uint64_t at)
{
	size_t i;

	for (i = 0; i < nmaps; i++)
		if (at - maps[i].start < maps[i].end - maps[i].start)
			return &maps[i];
	return NULL;
}

bool
maps_volatile(app_pc pc)
{
	const struct mapping *m = maplist_find(pc);

	return m != NULL && (m->write || m->shared);
}

bool
maps_private(uint64_t at, uint64_t *start, uint64_t *end)
{
	const struct mapping *m = maplist_find(at);

	if (m == NULL || !m->write || m->shared ||
	    (m->path[0] != '\0' && strncmp(m->path, "[anon:", 6) != 0))
		return false;
	*start = m->start;
	*end = m->end;
	return true;
}

bool
maps_named(app_pc pc)
{
	const struct mapping *m = maplist_find(pc);

	return m != NULL && m->path[0] != '\0';
}

bool
maps_in_file(app_pc pc)
{
	static const char deleted[] = " (deleted)";
	const struct mapping *m = maplist_find(pc);
	size_t n;

	if (m == NULL || m->path[0] != '/' || m->write || m->shared)
		return false;
	n = strlen(m->path);
	return n < sizeof deleted ||
	    strcmp(m->path + n - (sizeof deleted - 1), deleted) != 0;
}

bool
maps_entry(size_t i, struct maps_entry *e)
{
	const struct mapping *m = &maps[i];

	if (i >= nmaps)
		return false;
	*e = (struct maps_entry){ m->start, m->end, m->off, m->dev, m->ino,
	    m->path, m->write || m->shared };
	return true;
}
