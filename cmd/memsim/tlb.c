/*
 * tlb - pages and walks
 */
#include "memsim.h"

#include <string.h>

#include "hash.h"

bool tlb_unified, tlb_rrip;
static bool any;

/* Is the first table of a side one that the other side uses as well? */
static bool
is_both(const struct core *c, unsigned side, unsigned g)
{
	const struct cache *first = NULL;

	for (unsigned k = 0; k < MOST_TLEVELS && first == NULL; k++)
		first = c->tlb[k][side][g];
	if (first == NULL)
		return false;
	for (unsigned k = 0; k < MOST_TLEVELS * NPAGE; k++)
		if (c->tlb[k / NPAGE][1 - side][k % NPAGE] == first)
			return true;
	return false;
}

void
tlb_core(struct core *c)
{
	for (unsigned i = 0; i < machine->npart; i++) {
		const struct part *p = &machine->part[i];
		struct cache *t;

		if (!p->tlb)
			continue;
		any = true;
		t = cache_new(p);
		tlb_rrip |= t->note == NOTE_RRIP;
		for (unsigned side = CODE; side <= DATA; side++)
			for (unsigned g = 0; g < NPAGE; g++)
				if ((p->side == BOTH || p->side == side) &&
				    p->pages >> g & 1)
					c->tlb[p->level - 1][side][g] = t;
	}
	for (unsigned g = 0; g < NPAGE; g++)
		tlb_unified |= is_both(c, CODE, g) || is_both(c, DATA, g);
}

static bool
fits(const struct huge *h, uint64_t addr)
{
	unsigned shift = page_shift[h->page];
	uint64_t page = addr >> shift, first = page << shift;

	if (h->range)
		return first >= h->start &&
		    first + (((uint64_t)1 << shift) - 1) <= h->end;
	/* hashes spread the share over all pages */
	return ((page * HASH_MULTIPLIER >> 32) * 100) >> 32 < h->share;
}

static enum page
page_of(uint64_t addr)
{
	for (unsigned i = 0; i < machine->nhuge; i++)
		if (fits(&machine->huge[i], addr))
			return machine->huge[i].page;
	return PAGE_4K;
}

/* Look a page up: bits of the levels that missed, bit 31: a walk. */
static unsigned
look_up(unsigned side, enum page g, uint64_t page)
{
	uint64_t key = page << 2 | g;
	unsigned missed = 0, level;
	uint32_t slot;
	struct cache *t;

	for (level = 0; level < MOST_TLEVELS; level++) {
		t = cpu->tlb[level][side][g];
		if (t == NULL)
			continue;
		slot = cache_find(t, key);
		if (slot != CACHE_NONE) {
			cache_touch(t, slot);
			break;
		}
		missed |= 1U << level;
	}
	for (unsigned k = 0; k < MOST_TLEVELS; k++) {
		t = cpu->tlb[k][side][g];
		if ((missed >> k & 1) == 0)
			continue;
		slot = cache_place(t, key);
		if (t->entry[slot] != 0)
			cache_remove(t, slot);
		cache_fill(t, slot, key, 0);
	}
	return level == MOST_TLEVELS && missed != 0 ? missed | 1U << 31 :
	    missed;
}

static void
tell(unsigned side, unsigned missed, unsigned walks)
{
	for (unsigned k = 0; k < MOST_TLEVELS; k++)
		if (missed >> k & 1)
			count_event(col_tlb[k + 1][side], 1);
	if (walks != 0)
		count_event(col_walk[side], walks);
}

void
tlb_access(unsigned side, uint64_t addr, uint32_t size)
{
	unsigned missed = 0, walks = 0, one;
	uint64_t left = size, in;

	if (!any) {
		cpu->last[side] = page_4k(addr);
		return;
	}
	for (; left > 0; addr += in, left -= in) {
		enum page g = page_of(addr);
		uint64_t bytes = (uint64_t)1 << page_shift[g];

		in = bytes - (addr & (bytes - 1));
		if (in > left)
			in = left;
		one = look_up(side, g, addr >> page_shift[g]);
		missed |= one & ~(1U << 31);
		walks += one >> 31;
		/* rrip notes a second use */
		cpu->last[side] = tlb_rrip && one != 0 ? 0 : page_4k(addr);
	}
	if (tlb_unified)
		cpu->last[1 - side] = 0;
	if (missed != 0)
		tell(side, missed, walks);
}
