/*
 * maps - what the guest has mapped executable, and the bytes there
 *
 * The mappings are read from /proc/PID/maps at the start, and again whenever
 * the guest has changed some that concern code.  Changes become `M` and `U`
 * lines, which the caller puts into the stream.  Code is read through
 * /proc/PID/mem, a page at a time; some pages of mappings that cannot be
 * written are kept.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "ctl.h"
#include "evw.h"
#include "code/code.h"
#include "khash.h"
#include "mem.h"
#include "prog.h"

struct exec_mapping {
	uint64_t start, end, off;
	uint64_t dev, ino;	/* the file's, or 0 */
	char *path;
	bool write, shared;	/* shared: what others write is seen */
	unsigned object;
};

KHASH_MAP_INIT_STR(object, unsigned)

static struct exec_mapping *maps;
static size_t nmaps, capmaps;

/* Mappings with constant words, see maps_word; they do not overlap. */
static struct code_range *fixed;
static size_t nfixed, capfixed;
/* The last mapping that was found writable, so without constant words. */
static struct code_range writable;
static bool is_gone;		/* see maps_gone */

/*
 * The pages kept, of code and of constant words: four by the low bits of their
 * numbers, since libraries' stubs, their words and their callers may have the
 * same.  page_number has 1 + the number, or 0; page_next, which of the four
 * makes room.  A run of cc1 needs 2750 different ones, and reads 5700 with 512
 * of them, 4000 with 1024, 11,000 with 128; a read takes 3 us.
 */
#define NPAGES 512u
#define NSAME 4u
static uint64_t page_number[NPAGES];
static uint8_t page_next[NPAGES / NSAME];
static uint8_t page_bytes[NPAGES][PAGE];
static struct touched_parts page_parts;
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

static bool
is_ours(uint64_t at)
{
	unsigned i;

	/* nor is the vsyscall page the program's: the kernel emulates it */
	if (at >= 1ull << 63)
		return true;
	for (i = 0; i < NSEG; i++)
		if (at - area.boot.seg[i].addr < area.boot.seg[i].size)
			return true;
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

/* From linux/fs.h of 6.11: query one mapping by address. */
struct query {
	uint64_t size, flags, addr;
	uint64_t start, end, vma_flags, page_size, offset, inode;
	uint32_t major, minor, name_size, build_id_size;
	uint64_t name, build_id;
};
#define QUERY _IOWR('f', 17, struct query)
enum { Q_READ = 1, Q_WRITE = 2, Q_EXEC = 4, Q_SHARED = 8, Q_OR_NEXT = 16 };

static int maps_fd = -1;	/* /proc/PID/maps, for queries */

/*
 * A private mapping has its file's pages until it writes there.  Who writes a
 * file of code does so before it is mapped, but for a file in memory, which
 * may be mapped elsewhere just to be written.
 */
static void
set_path(struct exec_mapping *m, const char *path)
{
	static const char memory[] = "/memfd:";

	m->path = xstrdup(path);
	if (strncmp(path, memory, sizeof memory - 1) == 0)
		m->shared = true;
}

/*
 * Find the mapping at `at'; Q_EXEC | Q_OR_NEXT: the executable one there or
 * behind.  1: found, 0: none, -1: this kernel cannot say.
 */
static int
query(uint64_t at, uint64_t flags, struct exec_mapping *m)
{
	char name[4096];
	struct query q;

	memset(&q, 0, sizeof q);
	q.size = sizeof q;
	q.flags = flags;
	q.addr = at;
	q.name = (uintptr_t)name;
	q.name_size = sizeof name;
	name[0] = '\0';
	if (ioctl(maps_fd, QUERY, &q) < 0)
		return errno == ENOENT ? 0 : -1;
	m->start = q.start;
	m->end = q.end;
	m->off = q.offset;
	m->dev = makedev(q.major, q.minor);
	m->ino = q.inode;
	m->write = (q.vma_flags & Q_WRITE) != 0;
	m->shared = (q.vma_flags & Q_SHARED) != 0;
	set_path(m, q.name_size == 0 ? "" : name);
	return 1;
}

/* Read a line of /proc/PID/maps; false: it is not executable. */
static bool
read_line(const char *line, struct exec_mapping *m)
{
	unsigned long long start, end, off, ino;
	unsigned major, minor;
	char prot[8], *copy;
	int at;

	if (sscanf(line, "%llx-%llx %7s %llx %x:%x %llu%n", &start, &end, prot,
	    &off, &major, &minor, &ino, &at) < 7 || prot[2] != 'x')
		return false;
	copy = xstrdup(line + at);
	m->start = start;
	m->end = end;
	m->off = off;
	m->dev = makedev(major, minor);
	m->ino = ino;
	m->write = prot[1] == 'w';
	m->shared = prot[3] == 's';
	set_path(m, path_of(copy));
	free(copy);
	return true;
}

static struct exec_mapping *
read_file(uint64_t start, uint64_t end, size_t *count)
{
	struct exec_mapping *v = NULL, m;
	size_t cap = 0, n = 0, linecap = 0;
	char *line = NULL;
	FILE *f;

	f = fdopen(dup(maps_fd), "r");
	if (f == NULL)
		die("the program's mappings:");
	rewind(f);
	while (getline(&line, &linecap, f) > 0)
		if (read_line(line, &m) && m.start < end && m.end > start) {
			v = xgrow(v, &cap, n + 1, sizeof *v);
			v[n++] = m;
		}
	free(line);
	fclose(f);
	*count = n;
	return v;
}

/* The executable mappings in [start, end) as they are now, cut to it. */
static struct exec_mapping *
read_maps(uint64_t start, uint64_t end, size_t *count)
{
	struct exec_mapping *v = NULL, m;
	size_t cap = 0, n = 0, i, k = 0;
	uint64_t at = start;
	int r = 0;

	while (at < end && (r = query(at, Q_EXEC | Q_OR_NEXT, &m)) == 1 &&
	    m.start < end) {
		v = xgrow(v, &cap, n + 1, sizeof *v);
		v[n++] = m;
		at = m.end;
	}
	if (r < 0)
		v = read_file(start, end, &n);
	for (i = 0; i < n; i++) {
		m = v[i];
		if (is_ours(m.start)) {
			free(m.path);
			continue;
		}
		if (m.start < start) {
			m.off += start - m.start;
			m.start = start;
		}
		if (m.end > end)
			m.end = end;
		m.object = object_of(m.path);
		v[k++] = m;
	}
	*count = k;
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
tell_map(char *text, size_t *len, const struct exec_mapping *m)
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
tell_unmap(char *text, size_t *len, const struct exec_mapping *m)
{
	char line[64];

	snprintf(line, sizeof line, "U %llx %llx\n",
	    (unsigned long long)m->start, (unsigned long long)m->end);
	return m->path[0] == '\0' ? text : append(text, len, line);
}

/* Give the runtime the ranges that it must notice: see its touches_code. */
static void
publish_ranges(void)
{
	struct control *c = area.ctl;
	size_t i, n = nmaps + nfixed;

	__atomic_store_n(&c->nrange, NRANGE + 1, __ATOMIC_SEQ_CST);
	for (i = 0; i < n && i < NRANGE; i++)
		c->range[i] = i < nmaps ? (struct code_range){ maps[i].start,
		    maps[i].end } : fixed[i - nmaps];
	area.nrange = n > NRANGE ? NRANGE + 1 : (uint32_t)n;
	__atomic_store_n(&c->nrange, area.nrange, __ATOMIC_SEQ_CST);
}

static void
forget_pages(uint64_t start, uint64_t end)
{
	unsigned i;

	for (i = 0; i < NPAGES; i++)
		if (page_number[i] > start / PAGE &&
		    page_number[i] - 1 <= (end - 1) / PAGE)
			page_number[i] = 0;
	pages_forget(start, end);
}

/* Is b what a goes on with? */
static bool
goes_on(const struct exec_mapping *a, const struct exec_mapping *b)
{
	return a->end == b->start && a->object == b->object &&
	    a->dev == b->dev && a->ino == b->ino && a->write == b->write &&
	    a->shared == b->shared && (a->path[0] != '/' ||
	    a->off + (a->end - a->start) == b->off);
}

static void
add(const struct exec_mapping *m)
{
	size_t i;

	for (i = nmaps; i > 0 && maps[i - 1].start > m->start; i--)
		;
	if (i > 0 && goes_on(&maps[i - 1], m)) {
		maps[i - 1].end = m->end;
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

/* Take [start, end) out of the list, and append U lines to text. */
static char *
cut(char *text, size_t *len, uint64_t start, uint64_t end)
{
	struct exec_mapping m, part;
	size_t i;

	for (i = 0; i < nmaps; ) {
		m = maps[i];
		if (m.start >= end || m.end <= start) {
			i++;
			continue;
		}
		memmove(&maps[i], &maps[i + 1], (nmaps - i - 1) * sizeof *maps);
		nmaps--;
		part = m;
		part.start = m.start < start ? start : m.start;
		part.end = m.end > end ? end : m.end;
		text = tell_unmap(text, len, &part);
		if (m.start < start) {
			part = m;
			part.end = start;
			add(&part);
			i++;
		}
		if (m.end > end) {
			part = m;
			part.off += end - m.start;
			part.start = end;
			add(&part);
			i++;
		}
		free(m.path);
	}
	return text;
}

static void
add_fixed(uint64_t start, uint64_t end)
{
	if (start >= end)
		return;
	fixed = xgrow(fixed, &capfixed, nfixed + 1, sizeof *fixed);
	fixed[nfixed++] = (struct code_range){ start, end };
}

/* Nothing in [start, end) is constant any more. */
static void
cut_fixed(uint64_t start, uint64_t end)
{
	struct code_range r;
	size_t i;

	for (i = 0; i < nfixed; ) {
		r = fixed[i];
		if (r.start >= end || r.end <= start) {
			i++;
			continue;
		}
		fixed[i] = fixed[--nfixed];
		add_fixed(r.start, r.start < start ? start : r.start);
		add_fixed(end < r.end ? end : r.end, r.end);
	}
}

char *
maps_changed(uint64_t start, uint64_t end)
{
	struct exec_mapping *v;
	char *text = NULL;
	size_t n, i, len = 0;

	forget_pages(start, end);
	writable.end = writable.start;
	text = cut(text, &len, start, end);
	cut_fixed(start, end);
	window_unmapped(start, end);
	allocs_unmapped(start, end);
	v = read_maps(start, end, &n);
	for (i = 0; i < n; i++) {
		window_mapped(v[i].start, v[i].end, v[i].off, v[i].path);
		allocs_mapped(v[i].start, v[i].end, v[i].off, v[i].path);
		text = tell_map(text, &len, &v[i]);
		add(&v[i]);
		free(v[i].path);
	}
	free(v);
	publish_ranges();
	return text;
}

char *
maps_start(void)
{
	char name[64];

	if (maps_fd >= 0)
		close(maps_fd);
	snprintf(name, sizeof name, "/proc/%d/maps", (int)guest.pid);
	maps_fd = open(name, O_RDONLY | O_CLOEXEC);
	if (maps_fd < 0)
		die("%s:", name);
	maps_forget();
	return maps_changed(0, ~0ull);
}

void
maps_forget(void)
{
	size_t i;

	forget_pages(0, ~0ull);
	for (i = 0; i < nmaps; i++)
		free(maps[i].path);
	nmaps = nfixed = 0;
	is_gone = false;
}

void
maps_gone(void)
{
	is_gone = true;
}

static const struct exec_mapping *
find(uint64_t at)
{
	size_t i;

	for (i = 0; i < nmaps; i++)
		if (at - maps[i].start < maps[i].end - maps[i].start)
			return &maps[i];
	return NULL;
}

bool
maps_missed(app_pc pc, uint64_t *start, uint64_t *end)
{
	uint64_t from = 0, to = ~0ull;
	struct exec_mapping *v;
	size_t n, i;
	bool found = false;

	for (i = 0; i < nmaps && maps[i].start <= pc; i++)
		from = maps[i].end;
	if (i < nmaps)
		to = maps[i].start;
	if (from > pc)
		return false;
	v = read_maps(from, to, &n);
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

bool
maps_volatile(app_pc pc)
{
	const struct exec_mapping *m = find(pc);

	return m != NULL && (m->write || m->shared);
}

bool
maps_private(uint64_t at, uint64_t *start, uint64_t *end)
{
	const struct exec_mapping *m = find(at);

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
	const struct exec_mapping *m = find(pc);

	return m != NULL && m->path[0] != '\0';
}

bool
maps_in_file(app_pc pc)
{
	static const char deleted[] = " (deleted)";
	const struct exec_mapping *m = find(pc);
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
	const struct exec_mapping *m = &maps[i];

	if (i >= nmaps)
		return false;
	*e = (struct maps_entry){ m->start, m->end, m->off, m->dev, m->ino,
	    m->path, m->write || m->shared };
	return true;
}

/* The page's bytes, as they are kept. */
static const uint8_t *
kept_page(uint64_t at)
{
	unsigned set = (unsigned)(at / PAGE % (NPAGES / NSAME));
	unsigned k;

	for (k = set * NSAME; k < (set + 1) * NSAME; k++)
		if (page_number[k] == at / PAGE + 1)
			return page_bytes[k];
	if (is_gone)
		return pages_find(at);
	k = set * NSAME + page_next[set]++ % NSAME;
	page_number[k] = 0;
	xtouch_at(page_bytes, sizeof page_bytes, &page_parts, k * PAGE);
	if (pread(guest.mem, page_bytes[k], PAGE, (off_t)at) != (ssize_t)PAGE)
		return NULL;
	page_number[k] = at / PAGE + 1;
	pages_note(at, page_bytes[k]);
	return page_bytes[k];
}

/* The page's bytes; they are in tmp if they must be read each time. */
static const uint8_t *
bytes_of(const struct exec_mapping *m, uint64_t at, uint8_t *tmp)
{
	if (!m->write && !m->shared)
		return kept_page(at);
	return !is_gone && pread(guest.mem, tmp, PAGE, (off_t)at) ==
	    (ssize_t)PAGE ? tmp : NULL;
}

unsigned
maps_code(app_pc pc, uint8_t *buf, unsigned n)
{
	uint8_t tmp[PAGE];
	const struct exec_mapping *m = NULL;
	const uint8_t *p;
	unsigned got = 0, k;
	uint64_t at;

	while (got < n) {
		at = pc + got;
		if (m == NULL || at >= m->end || at < m->start)
			m = find(at);
		if (m == NULL)
			break;
		p = bytes_of(m, at & ~(uint64_t)(PAGE - 1), tmp);
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

/* Can it be read, and nobody write there, nor the kernel?  *m: the mapping. */
static bool
is_constant(uint64_t at, struct exec_mapping *m)
{
	bool named;

	if (is_gone || is_ours(at) || query(at, Q_READ, m) != 1)
		return false;
	named = m->path[0] == '/' || m->path[0] == '\0';
	free(m->path);
	if (m->write)
		writable = (struct code_range){ m->start, m->end };
	return named && !m->write && !m->shared;
}

/* Does the word at `at' lie in a mapping that is constant from here on? */
static bool
find_fixed(uint64_t at)
{
	struct exec_mapping m, now;
	size_t i;

	for (i = 0; i < nfixed; i++)
		if (at - fixed[i].start < fixed[i].end - fixed[i].start)
			return true;
	if (at - writable.start < writable.end - writable.start ||
	    !is_constant(at, &m))
		return false;
	cut_fixed(m.start, m.end);
	add_fixed(m.start, m.end);
	publish_ranges();
	/* calls are noticed now, but for one before, of all or of a part */
	if (!is_constant(at, &now))
		now.start = now.end = m.end;
	cut_fixed(m.start, now.start);
	cut_fixed(now.end, m.end);
	return now.start < now.end;
}

bool
maps_data(uint64_t at, uint64_t *word)
{
	return !is_gone && !is_ours(at) && pread(guest.mem, word, sizeof *word,
	    (off_t)at) == (ssize_t)sizeof *word;
}

bool
maps_word(uint64_t at, uint64_t *word)
{
	const uint8_t *bytes;

	if (at % sizeof *word != 0 || !find_fixed(at))
		return false;
	bytes = kept_page(at & ~(uint64_t)(PAGE - 1));
	if (bytes != NULL)
		memcpy(word, bytes + at % PAGE, sizeof *word);
	return bytes != NULL;
}
