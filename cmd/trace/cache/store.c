/*
 * store - hold all fragments, and the table by which the guest finds them
 */
#include <stdlib.h>
#include <string.h>

#include "cache/parts.h"
#include "stream/stream.h"
#include "util.h"
#include "xlate/xlate.h"

#define SPARE 256u		/* for what is new behind the store's */

static struct code_piece *pieces;
static size_t npieces, cappieces;
struct frag *frags;
static size_t capfrags;
uint32_t nfrag;

struct frag *
store_new(void)
{
	frags = xgrow(frags, &capfrags, nfrag + 1, sizeof *frags);
	memset(&frags[nfrag], 0, sizeof *frags);
	return &frags[nfrag];
}

void
store_pieces(struct frag *f, const struct block *b)
{
	struct code_piece straight = { b->pc, b->next };
	const struct code_piece *p = b->npiece == 0 ? &straight : b->piece;

	f->npiece = b->npiece == 0 ? 1 : b->npiece;
	f->piece = (uint32_t)npieces;
	pieces = xgrow(pieces, &cappieces, npieces + f->npiece, sizeof *pieces);
	memcpy(pieces + npieces, p, f->npiece * sizeof *pieces);
	npieces += f->npiece;
}

void
store_reserve(uint32_t nf, uint32_t np)
{
	free(frags);
	free(pieces);
	capfrags = nf + 1ul + SPARE;
	cappieces = np + 1ul + SPARE;
	frags = xcalloc(capfrags, sizeof *frags);
	pieces = xcalloc(cappieces, sizeof *pieces);
	area_touch(frags, nf * sizeof *frags);
	area_touch(pieces, np * sizeof *pieces);
	nfrag = nf;
	npieces = np;
}

struct code_piece *
store_piece(uint32_t i)
{
	return pieces + i;
}

uint32_t
store_npieces(void)
{
	return (uint32_t)npieces;
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
	const struct code_piece *p = pieces + f->piece;
	uint32_t i;

	for (i = 0; i < f->npiece; i++)
		if (p[i].start < end && p[i].end > start)
			return true;
	return false;
}

bool
store_room(unsigned z)
{
	return area.zone_used[z] + XLATE_ROOM <=
	    area.boot.seg[SEG_ZONE0 + z].size &&
	    area.nmap + MAX_MAP * MAP_BYTES + MAX_INSN * PC_BYTES <=
	    area.maxmap &&
	    area.nexit + MAX_EXIT <= area.maxexit &&
	    area.nfrag[z] < area.maxfrag && nfrag < area.tabmask / 2 &&
	    counters_left(COUNTERS_MOST) && def_ids_left();
}

void
store_publish(unsigned zone, uint32_t n)
{
	area.nfrag[zone] = n;
	__atomic_store_n(&area.ctl->nfrag[zone], n, __ATOMIC_RELEASE);
}

void
store_publish_exits(uint32_t n)
{
	area.nexit = n;
	__atomic_store_n(&area.ctl->nexit, n, __ATOMIC_RELEASE);
}

void
store_reset(void)
{
	nfrag = 0;
	npieces = 0;
	area.nmap = 0;
	store_publish_exits(0);
	store_publish(0, 0);
	store_publish(1, 0);
	area.zone_used[0] = area.zone_used[1] = 0;
}

frag_key
key_for(app_pc pc, unsigned mode, uint32_t owner)
{
	return (frag_key)owner << 64 | tab_key(pc, mode);
}

frag_key
key_of(const struct frag *f)
{
	return key_for(f->pc, f->mode, f->owner);
}

/* An exit leads to the same side of a window. */
frag_key
key_of_exit(const struct frag *f, app_pc target)
{
	return key_for(target, f->mode & MODE_OUT, f->owner);
}

/*
 * The index of a key's entry, or of the free entry that it would get.  The
 * guest's table is only written here, never read.
 */
static uint32_t
table_at(frag_key key)
{
	uint32_t i = tab_first((uint64_t)key, area.tabmask), n = 0, f;

	for (; (f = area.tabfrag[i]) != 0;
	    i = tab_next((uint64_t)key, i, ++n, area.tabmask))
		if (key_of(&frags[f - 1]) == key)
			break;
	return i;
}

static void
set_owner(uint32_t i, uint32_t owner)
{
	if (area.tabowner != NULL)
		__atomic_store_n(&area.tabowner[i], owner, __ATOMIC_RELEASE);
}

static uint32_t
table_word(const struct frag *f, bool gone)
{
	return (f->meta + 1) | (f->zone == 0 ? 0 : TAB_ZONE) |
	    (gone ? TAB_GONE : 0) | tab_tag((uint64_t)key_of(f));
}

void
table_put(uint32_t number)
{
	const struct frag *f = &frags[number];
	struct fragmeta *m = &area.frags[f->zone][f->meta];
	uint32_t i = table_at(key_of(f));

	m->entry = (uint16_t)(entry_address(f->entry) -
	    area.boot.seg[SEG_ZONE0 + f->zone].addr - m->code);
	m->prologue = (uint8_t)entry_prologue(f->entry);
	m->mode = f->mode;
	area.tabfrag[i] = number + 1;
	set_owner(i, f->owner);
	__atomic_store_n(&area.tab[i], table_word(f, false), __ATOMIC_RELEASE);
}

void
table_drop(uint32_t number)
{
	uint32_t i = table_at(key_of(&frags[number]));

	__atomic_store_n(&area.tab[i], table_word(&frags[number], true),
	    __ATOMIC_SEQ_CST);
}

void
table_plain(uint32_t f)
{
	set_owner(table_at(key_of(&frags[f])), frags[f].owner | PLAIN_JUMP);
}

uint32_t
table_find(frag_key key)
{
	uint32_t f = area.tabfrag[table_at(key)];

	return f == 0 || frags[f - 1].dead ? 0 : f;
}

void
table_clear(void)
{
	size_t n = area.tabmask + 1ul;

	memset(area.tab, 0, n * sizeof *area.tab);
	if (area.tabowner != NULL)
		memset(area.tabowner, 0, n * sizeof *area.tabowner);
	memset(area.tabfrag, 0, n * sizeof *area.tabfrag);
}
