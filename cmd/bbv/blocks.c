/*
 * blocks - basic blocks, from the superblocks of a stream
 *
 * A superblock continues behind branches that are not taken.  It is cut here
 * behind every transfer, taken or not, and where the next instruction is not
 * the next in memory.  Its first address identifies a basic block: overlapping
 * blocks are different.  A straight run that is longer than the largest
 * superblock comes in several, and becomes several basic blocks.
 */
#include "bbv.h"

#include <stdlib.h>
#include <string.h>

#include "khash.h"
#include "mem.h"

KHASH_MAP_INIT_INT64(bb, uint32_t)

struct bb *bbs;
uint32_t nbb;
static uint32_t maxid;
struct block_parts *units;
struct bb_part *parts;

static size_t capbb, capunit, cappart;
static uint32_t npart;
static khash_t(bb) *by_addr;

uint32_t
blocks_find(uint64_t addr, struct objmap *map)
{
	khiter_t k;
	int new;

	if (by_addr == NULL)
		by_addr = kh_init(bb);
	k = kh_put(bb, by_addr, addr, &new);
	if (!new)
		return kh_value(by_addr, k);
	bbs = xgrow(bbs, &capbb, nbb + 1, sizeof *bbs);
	memset(&bbs[nbb], 0, sizeof *bbs);
	bbs[nbb].addr = addr;
	bbs[nbb].obj = objmap_find(map, addr, &bbs[nbb].link);
	kh_value(by_addr, k) = nbb;
	return nbb++;
}

void
blocks_part(uint32_t id, const struct ev_insn *first, uint32_t n,
    struct objmap *map)
{
	struct block_parts *u = &units[id];
	uint32_t b = blocks_find(first->addr, map);
	const struct ev_insn *last = first + n - 1;
	uint32_t bytes = (uint32_t)(last->addr + last->len - first->addr);

	parts = xgrow(parts, &cappart, npart + 1, sizeof *parts);
	parts[npart].bb = b;
	parts[npart++].ninsn = n;
	u->npart++;
	if (bbs[b].ninsn < n) {
		bbs[b].ninsn = n;
		bbs[b].bytes = bytes;
	}
}

void
blocks_begin(uint32_t id, uint32_t ninsn)
{
	units = xgrow0(units, &capunit, (size_t)id + 1, sizeof *units);
	units[id].part = npart;
	units[id].ninsn = ninsn;
}

void
blocks_define(const struct evr *r, uint32_t id, struct objmap *map)
{
	const struct ev_def *d = ev_def(r, id);
	const struct ev_insn *i = d->block->insn;
	uint32_t k, from = 0;

	blocks_begin(id, d->n);
	for (k = 0; k < d->n; k++)
		if (k + 1 == d->n || i[k].flow != 0 ||
		    i[k + 1].addr != i[k].addr + i[k].len) {
			blocks_part(id, i + from, k + 1 - from, map);
			from = k + 1;
		}
}

void
blocks_enter(uint32_t bb)
{
	if (bbs[bb].id == 0)
		bbs[bb].id = ++maxid;
}

void
blocks_first(struct block_parts *u)
{
	uint32_t k;

	for (k = 0; k < u->npart; k++)
		blocks_enter(parts[u->part + k].bb);
	u->known = true;
}
