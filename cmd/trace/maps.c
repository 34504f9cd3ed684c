/*
 * maps - what the guest has mapped executable, and the bytes there
 *
 * Read from /proc/PID/maps at the start and whenever the guest changed
 * mappings that concern code.  The stream gets `M` and `U` lines, fragments
 * of what changed are dropped.  Code is read through /proc/PID/mem, a page
 * at a time; pages of mappings that cannot be written are kept.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <htslib/khash.h>

#include "evw.h"
#include "trace.h"
#include "util.h"

struct mapping {
	uint64_t start, end, off;
	char *path;
	uint8_t write, shared;
	unsigned object;
};

KHASH_MAP_INIT_INT64(page, uint8_t *)
KHASH_MAP_INIT_STR(object, unsigned)

static struct mapping *maps;
static size_t nmaps, mapcap;
static khash_t(page) *pages;
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

static int
is_ours(uint64_t at)
{
	unsigned i;

	for (i = 0; i < NSEG; i++)
		if (at - area.boot.seg[i].addr < area.boot.seg[i].size)
			return 1;
	return at - area.blob < AREA_BLOB;
}

/* The kernel writes \012 for a newline in a path; nothing else is changed. */
static char *
path_of(char *s)
{
	size_t n = strlen(s);
	char *e;

	if (n > 0 && s[n - 1] == '\n')
		s[n - 1] = '\0';
	while (*s == ' ')
		s++;
	for (e = strstr(s, "\\012"); e != NULL; e = strstr(e, "\\012")) {
		*e = '\n';
		memmove(e + 1, e + 4, strlen(e + 4) + 1);
	}
	return s;
}

/* The executable mappings as they are now. */
static struct mapping *
read_maps(size_t *count)
{
	char name[64], *line = NULL, prot[8];
	struct mapping *v = NULL, m;
	size_t cap = 0, n = 0, linecap = 0;
	unsigned long long start, end, off;
	int at;
	FILE *f;

	snprintf(name, sizeof name, "/proc/%d/maps", (int)guest.pid);
	f = fopen(name, "r");
	*count = 0;
	if (f == NULL)
		return NULL;
	while (getline(&line, &linecap, f) > 0) {
		if (sscanf(line, "%llx-%llx %7s %llx %*s %*s%n", &start, &end,
		    prot, &off, &at) < 4 || prot[2] != 'x' || is_ours(start))
			continue;
		m.start = start;
		m.end = end;
		m.off = off;
		m.write = prot[1] == 'w';
		m.shared = prot[3] == 's';
		m.path = xstrdup(path_of(line + at));
		m.object = object_of(m.path);
		v = xgrow(v, &cap, n + 1, sizeof *v);
		v[n++] = m;
	}
	free(line);
	fclose(f);
	*count = n;
	return v;
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
tell_unmap(char *text, size_t *len, const struct mapping *m)
{
	char line[64];

	snprintf(line, sizeof line, "U %llx %llx\n",
	    (unsigned long long)m->start, (unsigned long long)m->end);
	return m->path[0] == '\0' ? text : append(text, len, line);
}

/* What the guest looks at before it asks: see touches_code there. */
static void
publish_ranges(void)
{
	struct control *c = area.ctl;
	size_t i;

	__atomic_store_n(&c->nrange, NRANGE + 1, __ATOMIC_SEQ_CST);
	for (i = 0; i < nmaps && i < NRANGE; i++) {
		c->range[i].start = maps[i].start;
		c->range[i].end = maps[i].end;
	}
	__atomic_store_n(&c->nrange, nmaps > NRANGE ? NRANGE + 1 :
	    (uint32_t)nmaps, __ATOMIC_SEQ_CST);
}

static void
forget_pages(uint64_t start, uint64_t end)
{
	khiter_t k;

	if (pages == NULL)
		return;
	for (k = kh_begin(pages); k != kh_end(pages); k++)
		if (kh_exist(pages, k) && kh_key(pages, k) < end &&
		    kh_key(pages, k) + PAGE > start) {
			free(kh_value(pages, k));
			kh_del(page, pages, k);
		}
}

static void
free_maps(struct mapping *v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		free(v[i].path);
	free(v);
}

/* 1: m is in the list as it is, and nothing in [start, end) concerns it. */
static int
stays(const struct mapping *m, const struct mapping *v, size_t n,
    uint64_t start, uint64_t end)
{
	size_t i;

	if (m->start < end && m->end > start)
		return 0;
	for (i = 0; i < n; i++)
		if (v[i].start == m->start && v[i].end == m->end &&
		    v[i].off == m->off && v[i].object == m->object)
			return 1;
	return 0;
}

void
maps_changed(uint64_t start, uint64_t end)
{
	size_t n, i, len = 0;
	struct mapping *v = read_maps(&n);
	char *text = NULL;

	for (i = 0; i < nmaps; i++)
		if (!stays(&maps[i], v, n, start, end)) {
			text = tell_unmap(text, &len, &maps[i]);
			frag_kill(maps[i].start, maps[i].end);
			forget_pages(maps[i].start, maps[i].end);
		}
	for (i = 0; i < n; i++)
		if (!stays(&v[i], maps, nmaps, start, end))
			text = tell_map(text, &len, &v[i]);
	free_maps(maps, nmaps);
	maps = v;
	nmaps = n;
	mapcap = n;
	publish_ranges();
	if (text != NULL)
		format_text(text);
}

void
maps_start(void)
{
	if (pages == NULL)
		pages = kh_init(page);
	maps_forget();
	maps_changed(0, 0);
}

/* The image is gone (exec): nothing is mapped any more. */
void
maps_forget(void)
{
	forget_pages(0, ~0ull);
	free_maps(maps, nmaps);
	maps = NULL;
	nmaps = 0;
}

static const struct mapping *
find(uint64_t at)
{
	size_t i;

	for (i = 0; i < nmaps; i++)
		if (at - maps[i].start < maps[i].end - maps[i].start)
			return &maps[i];
	return NULL;
}

int
maps_executable(app_pc pc)
{
	return find(pc) != NULL;
}

/* The page's bytes; into tmp where they must be read each time. */
static const uint8_t *
page_bytes(const struct mapping *m, uint64_t at, uint8_t *tmp)
{
	khiter_t k;
	int new;

	if (!m->write && !m->shared) {
		k = kh_get(page, pages, at);
		if (k != kh_end(pages))
			return kh_value(pages, k);
	}
	if (pread(guest.mem, tmp, PAGE, (off_t)at) != (ssize_t)PAGE)
		return NULL;
	if (m->write || m->shared)
		return tmp;
	k = kh_put(page, pages, at, &new);
	kh_value(pages, k) = xmalloc(PAGE);
	memcpy(kh_value(pages, k), tmp, PAGE);
	return kh_value(pages, k);
}

unsigned
maps_code(app_pc pc, uint8_t *buf, unsigned n)
{
	uint8_t tmp[PAGE];
	const struct mapping *m = NULL;
	const uint8_t *p;
	unsigned got = 0, k;
	uint64_t at;

	while (got < n) {
		at = pc + got;
		if (m == NULL || at >= m->end || at < m->start)
			m = find(at);
		if (m == NULL)
			break;
		p = page_bytes(m, at & ~(uint64_t)(PAGE - 1), tmp);
		if (p == NULL)
			break;
		k = PAGE - (unsigned)(at % PAGE);
		if (k > n - got)
			k = n - got;
		memcpy(buf + got, p + at % PAGE, k);
		got += k;
	}
	return got;
}
