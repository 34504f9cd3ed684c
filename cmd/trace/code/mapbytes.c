/*
 * mapbytes - the bytes of code, and constant words
 *
 * They are read through /proc/PID/mem, a page at a time; some pages of mappings
 * that cannot be written are kept.
 */
#include <string.h>
#include <unistd.h>

#include "code/mapping.h"
#include "mem.h"

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

void
mapbytes_forget(uint64_t start, uint64_t end)
{
	unsigned i;

	for (i = 0; i < NPAGES; i++)
		if (page_number[i] > start / PAGE &&
		    page_number[i] - 1 <= (end - 1) / PAGE)
			page_number[i] = 0;
	pages_forget(start, end);
}

void
maps_gone(void)
{
	is_gone = true;
}

void
mapbytes_here(void)
{
	is_gone = false;
}

bool
mapbytes_gone(void)
{
	return is_gone;
}

const uint8_t *
mapbytes_page(uint64_t at)
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
bytes_of(const struct mapping *m, uint64_t at, uint8_t *tmp)
{
	if (!m->write && !m->shared)
		return mapbytes_page(at);
	return !is_gone && pread(guest.mem, tmp, PAGE, (off_t)at) ==
	    (ssize_t)PAGE ? tmp : NULL;
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
			m = maplist_find(at);
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

bool
maps_data(uint64_t at, uint64_t *word)
{
	return !is_gone && !mapread_is_ours(at) && pread(guest.mem, word,
	    sizeof *word, (off_t)at) == (ssize_t)sizeof *word;
}
