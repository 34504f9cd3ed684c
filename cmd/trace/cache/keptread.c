/*
 * keptread - read an entry of the store: is it one, whole, and this image's?
 *
 * Its bytes may be any.  Nothing of them is believed but where they have the
 * sum that they were written with, and even then no part is longer than what
 * it is for.
 */
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "cache/kept.h"
#include "keep/keep.h"
#include "stream/stream.h"
#include "xlate/xlate.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

struct kept kept;

void
kept_map(const void *p, size_t n)
{
	madvise((void *)(uintptr_t)p, n, MADV_POPULATE_READ);
}

uint64_t
kept_align(uint64_t at)
{
	return (at + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

size_t
kept_part_size(unsigned part, uint32_t n)
{
	static const size_t size[NPART] = {
		[PART_KEY] = 1, [PART_OBJECTS] = sizeof(struct kept_object),
		[PART_NUMBERS] = sizeof(uint64_t),
		[PART_CELLS] = sizeof(uint64_t),
		[PART_INDEX] = sizeof(struct kept_index),
		[PART_PUTS] = sizeof(struct kept_put),
		[PART_FRAGS] = sizeof(struct frag),
		[PART_PIECES] = sizeof(struct code_piece),
		[PART_LINKS] = sizeof(struct link),
		[PART_EXITS] = sizeof(struct exitkept), [PART_MAPS] = 1,
		[PART_META0] = sizeof(struct fragmeta),
		[PART_META1] = sizeof(struct fragmeta),
		[PART_ZONE0] = 1, [PART_ZONE1] = 1, [PART_DEFS] = 1,
		[PART_COUNTS] = sizeof(struct shelf_count), [PART_TEXTS] = 1,
		[PART_SUMS] = sizeof(uint64_t)
	};

	return n * size[part];
}

/*
 * Map the file.  Its pages are ours if we write to them.  NULL: it is not one
 * of ours.
 */
static const struct kept_head *
map_file(int fd)
{
	struct kept_head *h;
	struct stat s;

	if (fstat(fd, &s) < 0 || s.st_size < (off_t)PAGE)
		return NULL;
	h = mmap(NULL, (size_t)s.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE,
	    fd, 0);
	if (h == MAP_FAILED)
		return NULL;
	if (memcmp(h->magic, KEPT_MAGIC, sizeof h->magic) == 0 &&
	    h->size == (uint64_t)s.st_size)
		return h;
	munmap(h, (size_t)s.st_size);
	return NULL;
}

/* Find the parts; false: the file has no room for them. */
static bool
find_parts(const struct kept_head *h)
{
	const char *base = (const char *)h;
	uint64_t at = PAGE, n;
	unsigned i;

	for (i = 0; i < NPART; i++, at = kept_align(at + n)) {
		n = kept_part_size(i, h->n[i]);
		if (n > h->size || at > h->size - n)
			return false;
		kept.part[i] = base + at;
	}
	return at == h->size;
}

/* Is the file as it was written? */
static bool
has_sum(const struct kept_head *h)
{
	const size_t from = offsetof(struct kept_head, size);
	uint64_t sum;
	unsigned i;

	kept_map(h, h->size);
	sum = keep_sum(0, (const char *)h + from, sizeof *h - from);
	for (i = 0; i < NPART; i++)
		sum = keep_sum(sum, kept.part[i], kept_part_size(i, h->n[i]));
	return sum == h->sum;
}

bool
kept_fits(const uint32_t n[NPART], uint32_t ncounter, uint32_t nid)
{
	return n[PART_FRAGS] <= area.maxfrag / 2 &&
	    n[PART_EXITS] <= area.maxexit / 2 &&
	    n[PART_MAPS] <= area.maxmap / 2 &&
	    n[PART_META0] <= area.maxfrag / 2 &&
	    n[PART_META1] <= area.maxfrag / 2 &&
	    n[PART_ZONE0] <= area.boot.seg[SEG_ZONE0].size / 2 &&
	    n[PART_ZONE1] <= area.boot.seg[SEG_ZONE1].size / 2 &&
	    n[PART_CELLS] < CELLS && ncounter <= area.maxcount / 2 &&
	    nid <= NIDS / 2;
}

/* Do parts that describe the same things have as many elements? */
static bool
check_sizes(const struct kept_head *h)
{
	const uint32_t *n = h->n;

	return n[PART_INDEX] == n[PART_FRAGS] &&
	    n[PART_LINKS] == n[PART_EXITS] &&
	    n[PART_NUMBERS] == n[PART_SUMS] &&
	    n[PART_COUNTS] == (def_on_shelf() ? h->ncounter : 0);
}

static bool
is_ours(const struct kept_head *h)
{
	return strlen(kept.key) == h->n[PART_KEY] &&
	    memcmp(kept.key, kept.part[PART_KEY], h->n[PART_KEY]) == 0;
}

bool
kept_open(int fd, bool *sure)
{
	const struct kept_head *h = map_file(fd);

	if (h == NULL)
		return *sure = false;
	kept.head = h;
	*sure = find_parts(h) && (*sure || has_sum(h));
	return *sure && is_ours(h) && check_sizes(h) &&
	    kept_fits(h->n, h->ncounter, h->nid);
}
