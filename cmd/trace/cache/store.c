/*
 * store - hold all fragments
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
	    nfrag < area.maxfrag / parts;
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
