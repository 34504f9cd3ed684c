/*
 * mapread - read the guest's mappings from /proc/PID/maps
 *
 * The kernel is asked for one mapping at a time, by address; where it is older
 * than 6.11 the whole file is read.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "code/mapping.h"
#include "ctl.h"
#include "mem.h"
#include "prog.h"

static int maps_fd = -1;	/* /proc/PID/maps */

void
mapread_open(void)
{
	if (!guest_reopen(&maps_fd, "maps", O_RDONLY))
		guest_lost("the program's mappings");
}

bool
mapread_is_ours(uint64_t at)
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

/*
 * A private mapping has its file's pages until it writes there.  A file of code
 * is written before it is mapped, except a file in memory, which may be mapped
 * elsewhere just to be written.
 */
static void
set_path(struct mapping *m, const char *path)
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
query(uint64_t at, uint64_t flags, struct mapping *m)
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
read_line(const char *line, struct mapping *m)
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

static struct mapping *
read_file(uint64_t start, uint64_t end, size_t *count)
{
	struct mapping *v = NULL, m;
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

struct mapping *
mapread_code(uint64_t start, uint64_t end, size_t *count)
{
	struct mapping *v = NULL, m;
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
		if (mapread_is_ours(m.start)) {
			free(m.path);
			continue;
		}
		if (m.start < start) {
			m.off += start - m.start;
			m.start = start;
		}
		if (m.end > end)
			m.end = end;
		v[k++] = m;
	}
	*count = k;
	return v;
}

bool
mapread_data(uint64_t at, struct mapping *m)
{
	return query(at, Q_READ, m) == 1;
}
