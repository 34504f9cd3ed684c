/*
 * maps - keep up with what the guest has mapped executable
 *
 * The mappings are read from /proc/PID/maps at the start, and again whenever
 * the guest has changed some that concern code.  Changes become `M' and `U'
 * lines, which the caller puts into the stream.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/mapping.h"
#include "evw.h"
#include "khash.h"
#include "mem.h"

KHASH_MAP_INIT_STR(object, unsigned)

static khash_t(object) *objects;

static unsigned
object_of(const char *path)
{
	khiter_t k;
	int new;

	if (objects == NULL)
		objects = kh_init(object);
	k = kh_put(object, objects, path, &new);
	if (new) {
		kh_key(objects, k) = xstrdup(path);
		kh_value(objects, k) = kh_size(objects);
	}
	return kh_value(objects, k);
}

static char *
append(char *text, size_t *len, const char *line)
{
	size_t n = strlen(line);

	text = xrealloc(text, *len + n + 1);
	memcpy(text + *len, line, n + 1);
	*len += n;
	return text;
}

static char *
tell_map(char *text, size_t *len, const struct mapping *m)
{
	char *esc, *line;
	size_t n;

	if (m->path[0] == '\0')		/* memory without a name: no object */
		return text;
	esc = xmalloc(4 * strlen(m->path) + 1);
	evw_escape(esc, m->path, 0);
	n = strlen(m->path) * 4 + 128;
	line = xmalloc(n);
	snprintf(line, n, "M %x %llx %llx %llx %s\n", m->object,
	    (unsigned long long)m->start, (unsigned long long)m->end,
	    (unsigned long long)m->off, esc);
	text = append(text, len, line);
	free(esc);
	free(line);
	return text;
}

static char *
tell_unmap(char *text, size_t *len, const struct mapping *m, uint64_t start,
    uint64_t end)
{
	char line[64];

	snprintf(line, sizeof line, "U %llx %llx\n",
	    (unsigned long long)start, (unsigned long long)end);
	return m->path[0] == '\0' ? text : append(text, len, line);
}

/* Tell what goes out of the list with [start, end). */
static char *
tell_unmapped(char *text, size_t *len, uint64_t start, uint64_t end)
{
	const struct mapping *m;
	size_t i;

	for (i = 0; (m = maplist_at(i)) != NULL; i++)
		if (m->start < end && m->end > start)
			text = tell_unmap(text, len, m,
			    m->start < start ? start : m->start,
			    m->end > end ? end : m->end);
	return text;
}

static char *
tell_mapped(char *text, size_t *len, uint64_t start, uint64_t end)
{
	struct mapping *v;
	size_t n, i;

	v = mapread_code(start, end, &n);
	for (i = 0; i < n; i++) {
		v[i].object = object_of(v[i].path);
		window_mapped(v[i].start, v[i].end, v[i].off, v[i].path);
		allocs_mapped(v[i].start, v[i].end, v[i].off, v[i].path);
		text = tell_map(text, len, &v[i]);
		maplist_add(&v[i]);
		free(v[i].path);
	}
	free(v);
	return text;
}

char *
maps_changed(uint64_t start, uint64_t end)
{
	char *text = NULL;
	size_t len = 0;

	mapbytes_forget(start, end);
	constants_changed(start, end);
	text = tell_unmapped(text, &len, start, end);
	maplist_cut(start, end);
	window_unmapped(start, end);
	allocs_unmapped(start, end);
	text = tell_mapped(text, &len, start, end);
	constants_publish();
	return text;
}

char *
maps_start(void)
{
	mapread_open();
	maps_forget();
	return maps_changed(0, ~0ull);
}

void
maps_forget(void)
{
	mapbytes_forget(0, ~0ull);
	mapbytes_here();
	maplist_forget();
	constants_forget();
}

bool
maps_missed(app_pc pc, uint64_t *start, uint64_t *end)
{
	uint64_t from = 0, to = ~0ull;
	const struct mapping *m;
	struct mapping *v;
	size_t n, i;
	bool found = false;

	for (i = 0; (m = maplist_at(i)) != NULL && m->start <= pc; i++)
		from = m->end;
	if (m != NULL)
		to = m->start;
	if (from > pc)
		return false;
	v = mapread_code(from, to, &n);
	for (i = 0; i < n; i++) {
		if (pc - v[i].start < v[i].end - v[i].start) {
			*start = v[i].start;
			*end = v[i].end;
			found = true;
		}
		free(v[i].path);
	}
	free(v);
	return found;
}
