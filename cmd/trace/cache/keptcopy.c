/*
 * keptcopy - bring the parts of an entry to where they belong
 *
 * Tables that the program only reads are mapped from the file, here and there.
 * Code and the ends of these tables are copied to the memory file, aside: until
 * kept_ready() nobody may read or write there.
 */
#include <sys/mman.h>
#include <sys/uio.h>

#include "cache/kept.h"
#include "prog.h"

off_t
kept_offset(unsigned part)
{
	return (off_t)((const char *)kept.part[part] -
	    (const char *)kept.head);
}

/*
 * Map the first n bytes of a part of the META segment from the file, here, and
 * there once the program runs.
 */
static bool
map_part(unsigned part, uint8_t *to, size_t n, int fd)
{
	if (mmap(to, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd,
	    kept_offset(part)) == MAP_FAILED)
		return false;
	area.boot.stored[area.boot.nstored++] = (struct stored){
	    (uint64_t)(to - area.seg[SEG_META]), n,
	    (uint64_t)kept_offset(part) };
	return true;
}

/* The memory file instead of all that was mapped. */
static void
unmap_parts(void)
{
	const struct segment *seg = &area.boot.seg[SEG_META];
	const struct stored *s = area.boot.stored;

	for (; area.boot.nstored > 0; area.boot.nstored--, s++)
		if (mmap(area.seg[SEG_META] + s->at, s->size, PROT_READ |
		    PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
		    area.fd, (off_t)(seg->off + s->at)) == MAP_FAILED)
			die("memory shared with the program:");
}

/* What is copied to the memory file while we go on. */
static struct aside copies;
static struct aside_part copied[NSTORED + 2];	/* tables, zones */
static struct iovec bytes[NSTORED + 2];
static unsigned ncopied;

/* Let a part be copied to its place there, but for the first bytes. */
static void
copy(unsigned part, unsigned seg, const void *to, size_t but)
{
	bytes[ncopied] = (struct iovec){
	    (char *)(uintptr_t)kept.part[part] + but,
	    kept_part_size(part, kept.head->n[part]) - but };
	copied[ncopied] = (struct aside_part){ &bytes[ncopied], 1,
	    area.boot.seg[seg].off + but +
	    (uint64_t)((const uint8_t *)to - area.seg[seg]) };
	ncopied++;
}

void
kept_ready(void)
{
	if (!aside_end(&copies))
		die("code of the store, to memory shared with the program:");
}

/*
 * Put the tables that the program only reads to their places: mapped, but for
 * the last page, which goes on with what is new.
 */
static bool
put_tables(int fd)
{
	static const unsigned part[NSTORED] = { PART_META0, PART_META1,
		PART_EXITS, PART_MAPS };
	void *to[NSTORED] = { area.frags[0], area.frags[1], area.exits,
		area.maps };
	size_t n;
	unsigned i;

	for (i = 0; i < NSTORED; i++) {
		n = kept_part_size(part[i], kept.head->n[part[i]]) / PAGE *
		    PAGE;
		if (area.boot.storedfd < 0)
			n = 0;
		if (n > 0 && !map_part(part[i], to[i], n, fd))
			return false;
		copy(part[i], SEG_META, to[i], n);
	}
	return true;
}

bool
kept_put_parts(int fd)
{
	ncopied = 0;
	if (!put_tables(fd))
		return false;
	copy(PART_ZONE0, SEG_ZONE0, area.seg[SEG_ZONE0], 0);
	copy(PART_ZONE1, SEG_ZONE1, area.seg[SEG_ZONE1], 0);
	aside_begin(&copies, area.fd, copied, ncopied);
	return true;
}

void
kept_take_back(void)
{
	aside_end(&copies);
	unmap_parts();
}
