/*
 * store - all fragments, and the table by which the guest finds them
 */
#include <string.h>

#include "cache/parts.h"
#include "stream/stream.h"
#include "util.h"
#include "xlate/xlate.h"

static struct piece *pieces;
static size_t npieces, piececap;
struct frag *frags;
static size_t fragcap;
uint32_t nfrag;

struct frag *
store_new(void)
{
	frags = xgrow(frags, &fragcap, nfrag + 1, sizeof *frags);
	memset(&frags[nfrag], 0, sizeof *frags);
	return &frags[nfrag];
}

void
store_pieces(struct frag *f, const struct block *b)
{
	struct piece straight = { b->pc, b->next };
	const struct piece *p = b->npiece == 0 ? &straight : b->piece;

	f->npiece = b->npiece == 0 ? 1 : b->npiece;
	f->piece = (uint32_t)npieces;
	pieces = xgrow(pieces, &piececap, npieces + f->npiece, sizeof *pieces);
	memcpy(pieces + npieces, p, f->npiece * sizeof *pieces);
	npieces += f->npiece;
}

uint64_t
store_bytes(const struct frag *f)
{
	uint64_t n = 0;
	uint32_t i;

	for (i = f->piece; i < f->piece + f->npiece; i++)
		n += pieces[i].end - pieces[i].start;
	return n;
}

bool
store_covers(const struct frag *f, uint64_t start, uint64_t end)
{
	const struct piece *p = pieces + f->piece;
	uint32_t i;

	for (i = 0; i < f->npiece; i++)
		if (p[i].start < end && p[i].end > start)
			return true;
	return false;
}

bool
store_room(unsigned z)
{
	return area.zone_used[z] + XLATE_ROOM <= area.boot.seg[SEG_ZONE0 + z].size &&
	    area.nmap + MAX_MAP <= area.maxmap &&
	    area.nexit + MAX_EXIT <= area.maxexit &&
	    area.npc + MAX_INSN + 1 <= area.maxpc &&
	    area.ctl->nfrag[z] < area.maxfrag &&
	    nfrag < area.ctl->tabmask / 2 &&
	    counters_left(COUNTERS_MOST) && def_ids_left();
}

void
store_reset(void)
{
	nfrag = 0;
	npieces = 0;
	area.nmap = area.nexit = area.npc = area.ctl->nexit = 0;
	area.ctl->nfrag[0] = area.ctl->nfrag[1] = 0;
	area.zone_used[0] = area.zone_used[1] = 0;
}

uint64_t
key_of(const struct frag *f)
{
	return tab_key(f->pc, f->mode);
}

/* The same side of a window. */
uint64_t
key_of_exit(const struct frag *f, app_pc target)
{
	return tab_key(target, f->mode & MODE_OUT);
}

void
table_put(uint64_t key, uint64_t entry)
{
	uint32_t mask = area.ctl->tabmask, i = tab_first(key, mask);

	while (area.tab[i].pc != 0 && area.tab[i].pc != key)
		i = (i + 1) & mask;
	__atomic_store_n(&area.tab[i].entry, entry, __ATOMIC_RELEASE);
	__atomic_store_n(&area.tab[i].pc, key, __ATOMIC_RELEASE);
}

uint32_t
table_find(uint64_t key)
{
	uint32_t mask = area.ctl->tabmask, i = tab_first(key, mask);

	for (; area.tab[i].pc != 0; i = (i + 1) & mask)
		if (area.tab[i].pc == key)
			return area.tab[i].entry != 0 ? area.tabfrag[i] + 1 : 0;
	return 0;
}

void
table_note(uint64_t key, uint32_t f)
{
	uint32_t mask = area.ctl->tabmask, i = tab_first(key, mask);

	while (area.tab[i].pc != key)
		i = (i + 1) & mask;
	area.tabfrag[i] = f;
}
