/*
 * keptobjects - objects: what is mapped now, and what is kept of it
 *
 * An object is an executable mapping of a file, or the vDSO, that cannot be
 * written.  One that is mapped equals one of the entry if file and place are
 * the same, and then each page that any translation of it was made from has the
 * same bytes in the program's memory as in the entry.  If only one differs,
 * nothing that is kept of the object is used.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cache/kept.h"
#include "util.h"

#define AT_ONCE 64u		/* pages that are compared by one call */

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

static bool
is_same(const struct kept_object *a, const struct kept_object *b)
{
	return a->start == b->start && a->end == b->end && a->off == b->off &&
	    a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	    a->sec == b->sec && a->nsec == b->nsec &&
	    strcmp(a->path, b->path) == 0;
}

/* How many of the object's pages from k on lie one behind another. */
static uint32_t
run_of_pages(const struct kept_object *o, uint32_t k)
{
	const uint64_t *at = kept.number + o->number + k;
	uint32_t n = 1;

	while (n < AT_ONCE && k + n < o->npage && at[n] == at[0] + n * PAGE)
		n++;
	return n;
}

/*
 * Read the program's memory.  /proc/PID/mem copies page by page, by way of a
 * page of the kernel's, but it needs no permission any more.
 */
static bool
read_theirs(void *to, size_t n, uint64_t from)
{
	struct iovec ours = { to, n }, theirs = { (void *)from, n };

	return process_vm_readv(guest.pid, &ours, 1, &theirs, 1, 0) ==
	    (ssize_t)n || pread(guest.mem, to, n, (off_t)from) == (ssize_t)n;
}

const uint8_t *
object_page(const struct kept_object *o, uint32_t k)
{
	return (const uint8_t *)kept.part[PART_PAGES] +
	    (uint64_t)(o->number + k) * PAGE;
}

/* Has the program the bytes that its fragments were made from? */
static bool
has_bytes(const struct kept_object *o)
{
	static uint8_t theirs[AT_ONCE * PAGE];
	uint32_t k, n;

	for (k = 0; k < o->npage; k += n) {
		n = run_of_pages(o, k);
		if (!read_theirs(theirs, n * PAGE, kept.number[o->number + k])
		    || memcmp(object_page(o, k), theirs, n * PAGE) != 0)
			return false;
	}
	return true;
}

static uint32_t
find_stored(const struct kept_object *o)
{
	uint32_t i;

	for (i = 0; i < kept.nobject; i++)
		if (is_same(o, &kept.object[i]))
			return has_bytes(&kept.object[i]) ? i + 1 : 0;
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
	l.stored = find_stored(&l.is);
	live = xgrow(live, &caplive, nlive + 1, sizeof *live);
	live[nlive++] = l;
}

void
objects_changed(uint64_t start, uint64_t end)
{
	struct maps_entry e;
	size_t i, k = 0;

	for (i = 0; i < nlive; i++)
		if (live[i].is.start >= end || live[i].is.end <= start)
			live[k++] = live[i];
	nlive = k;
	for (i = 0; maps_entry(i, &e); i++)
		if (e.start < end && e.end > start)
			add_live(&e);
	for (i = 0; i < nlive; i++)
		if (live[i].stored != 0)
			kept_install(live[i].stored);
}

void
objects_begin(void)
{
	nlive = 0;
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
object_can_stay(uint32_t object)
{
	const struct kept_object *o = &kept.object[object - 1];
	size_t i;

	for (i = 0; i < nlive; i++)
		if (strcmp(live[i].is.path, o->path) == 0 ||
		    (live[i].is.start < o->end && live[i].is.end > o->start))
			return false;
	return true;
}
