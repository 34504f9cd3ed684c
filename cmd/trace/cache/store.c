/*
 * store - hold all fragments, and the table by which the guest finds them
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cache/parts.h"
#include "ctl.h"
#include "stream/stream.h"
#include "xlate/xlate.h"
#include "mem.h"

static const struct code_piece *keptpieces;	/* the store's come first */
static uint32_t nkeptpieces;
static struct code_piece *pieces;
static size_t npieces, cappieces;
struct frag *frags;
static size_t capfrags;
static struct touched fragpages;
#define PART_ENTRIES (4 * PAGE / sizeof *area.tabfrag)
static uint64_t tableparts[TAB_NUMBER / PART_ENTRIES / 64];
uint32_t nfrag;

/* Fragments get pages as they are used. */
static void
make_room(void)
{
	if (capfrags == area.maxfrag)
		return;
	if (frags != NULL)
		munmap(frags, capfrags * sizeof *frags);
	capfrags = area.maxfrag;
	frags = xreserve(capfrags, sizeof *frags, "fragments");
	fragpages = (struct touched){ .size = capfrags * sizeof *frags };
}

struct frag *
store_new(void)
{
	xtouch(frags, &fragpages, (nfrag + 1) * sizeof *frags);
	memset(&frags[nfrag], 0, sizeof *frags);
	return &frags[nfrag];
}

void
store_pieces(struct frag *f, const struct block *b)
{
	f->npiece = (uint8_t)b->npiece;
	if (b->npiece == 0) {
		f->piece = (uint32_t)(b->next - b->pc);
		return;
	}
	f->piece = store_npieces();
	pieces = xgrow(pieces, &cappieces, npieces + f->npiece, sizeof *pieces);
	memcpy(pieces + npieces, b->piece, f->npiece * sizeof *pieces);
	npieces += f->npiece;
}

bool
store_take(int fd, off_t off, uint32_t n, const struct code_piece *p,
    uint32_t np)
{
	if (n != 0 && mmap(frags, n * sizeof *frags, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_FIXED, fd, off) == MAP_FAILED)
		return false;
	nfrag = n;
	/* the file's pages are to be copied one by one, as they change */
	fragpages.have = n * sizeof *frags;
	keptpieces = p;
	nkeptpieces = np;
	return true;
}

static const struct code_piece *
piece(uint32_t i)
{
	return i < nkeptpieces ? &keptpieces[i] : &pieces[i - nkeptpieces];
}

bool
store_piece(const struct frag *f, uint32_t i, struct code_piece *p)
{
	if (f->npiece == 0) {
		*p = (struct code_piece){ f->pc, f->pc + f->piece };
		return i == 0;
	}
	if (i < f->npiece)
		*p = *piece(f->piece + i);
	return i < f->npiece;
}

uint32_t
store_npieces(void)
{
	return nkeptpieces + (uint32_t)npieces;
}

void
store_copy_pieces(struct code_piece *to)
{
	uint32_t i;

	for (i = 0; i < store_npieces(); i++)
		to[i] = *piece(i);
}

uint64_t
store_bytes(const struct frag *f)
{
	struct code_piece p;
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; store_piece(f, i, &p); i++)
		n += p.end - p.start;
	return n;
}

bool
store_covers(const struct frag *f, uint64_t start, uint64_t end)
{
	struct code_piece p;
	uint32_t i;

	for (i = 0; store_piece(f, i, &p); i++)
		if (p.start < end && p.end > start)
			return true;
	return false;
}

unsigned
zone_for(app_pc pc)
{
	uint64_t d[2];
	unsigned z;

	for (z = 0; z < 2; z++) {
		uint64_t at = area.boot.seg[SEG_ZONE0 + z].addr;

		d[z] = pc > at ? pc - at : at - pc;
	}
	return d[1] < d[0] && area.boot.seg[SEG_ZONE1].size != 0;
}

/* Is there room in the first 1/parts of each table and zone? */
static bool
has_room(unsigned z, unsigned parts)
{
	return area.zone_used[z] + XLATE_ROOM <=
	    area.boot.seg[SEG_ZONE0 + z].size / parts &&
	    area.nmap + MAX_MAP * MAP_BYTES + MAX_INSN * PC_BYTES + 8 <=
	    area.maxmap / parts &&
	    area.nexit + MAX_EXIT <= area.maxexit / parts &&
	    area.nfrag[z] < area.maxfrag / parts &&
	    nfrag < area.tabmask / 2 / parts;
}

bool
store_room(unsigned z)
{
	return has_room(z, 1) && counters_left(COUNTERS_MOST) &&
	    def_ids_left();
}

bool
store_room_kept(unsigned z)
{
	return store_room(z) && has_room(z, 2) &&
	    nfrag + 1 < area.maxfrag / 2 &&
	    counters_used() + COUNTERS_MOST <= area.maxcount / 2;
}

/* Tell the guest a number of ours, by a word that only we write. */
static void
publish(uint32_t *word, uint32_t *ours, uint32_t n)
{
	*ours = n;
	__atomic_store_n(word, n, __ATOMIC_RELEASE);
}

/* The same; had the guest written there, our last number would be gone. */
static void
publish_next(uint32_t *word, uint32_t *ours, uint32_t n)
{
	if (ONCE(*word) != *ours)
		trust_lose("its control words");
	publish(word, ours, n);
}

void
store_publish(unsigned zone, uint32_t n)
{
	publish_next(&area.ctl->nfrag[zone], &area.nfrag[zone], n);
}

void
store_publish_exits(uint32_t n)
{
	publish_next(&area.ctl->nexit, &area.nexit, n);
}

void
store_reset(void)
{
	make_room();
	nfrag = 0;
	npieces = 0;
	nkeptpieces = 0;
	area.nmap = 0;
	memset(tableparts, 0, sizeof tableparts);
	publish(&area.ctl->nexit, &area.nexit, 0);
	publish(&area.ctl->nfrag[0], &area.nfrag[0], 0);
	publish(&area.ctl->nfrag[1], &area.nfrag[1], 0);
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

/* Parts first to last of both tables get their pages, each in one call. */
static void
parts_use(uint32_t first, uint32_t last)
{
	const size_t n = (last - first + 1) * PART_ENTRIES;
	uint32_t i;

	for (i = first; i <= last; i++)
		tableparts[i / 64] |= 1ull << i % 64;
	area_touch(&area.tabfrag[first * PART_ENTRIES], n *
	    sizeof *area.tabfrag);
	area_touch(&area.tab[first * PART_ENTRIES], n * sizeof *area.tab);
}

/* The entry at i is used. */
static void
table_use(uint32_t i)
{
	uint32_t part = i / PART_ENTRIES;

	if ((tableparts[part / 64] >> part % 64 & 1) == 0)
		parts_use(part, part);
}

/*
 * The index of a key's entry, or of the free entry that it would get.  The
 * guest's table is only written here, never read.
 */
static uint32_t
table_at(frag_key key)
{
	uint32_t i = tab_first((uint64_t)key, area.tabmask), n = 0, f;
	uint32_t owner = (uint32_t)(key >> 64);

	for (;;) {
		table_use(i);
		f = area.tabfrag[i];
		if (f == 0 || key_of(&frags[f - 1]) == key)
			return i;
		i = tab_next((uint64_t)key, owner, i, ++n, area.tabmask);
	}
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
	    (gone ? TAB_GONE : 0) | tab_tag(tab_key(f->pc, f->mode), f->owner);
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

uint32_t
table_word_of(uint32_t f)
{
	return table_word(&frags[f], false);
}

void
table_add(uint32_t f, app_pc pc, uint32_t word)
{
	uint64_t key = tab_key(pc, MODE_IN);
	uint32_t i = tab_first(key, area.tabmask), n = 0;

	for (table_use(i); area.tabfrag[i] != 0; table_use(i))
		i = tab_next(key, 0, i, ++n, area.tabmask);
	area.tabfrag[i] = f + 1;
	__atomic_store_n(&area.tab[i], word, __ATOMIC_RELEASE);
}

void
table_touch(uint64_t start, uint64_t end, uint32_t n)
{
	uint32_t from = tab_first(start, area.tabmask);
	uint64_t most = area.tabmask - from, k = (end - start) >> 5;

	if (k > most)
		k = most;
	if (k == 0 || n / 2 < k * sizeof *area.tab / PAGE)
		return;
	parts_use(from / PART_ENTRIES, (uint32_t)(from + k - 1) / PART_ENTRIES);
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
