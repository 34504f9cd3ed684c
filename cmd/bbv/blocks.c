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

#include <htslib/khash.h>

#include "util.h"

KHASH_MAP_INIT_INT64(bb, uint32_t)

struct bb *bbs;
uint32_t nbb, maxid;
struct block_parts *units;
struct bb_part *parts;

static size_t capbb, capunit, cappart;
static uint32_t npart;
static khash_t(bb) *by_addr;

static uint32_t
find(uint64_t addr, struct objmap *map)
{
	khiter_t k;
	int new;		/* khash's result: < 0 no memory, 0 found */

	if (by_addr == NULL)
		by_addr = kh_init(bb);
	k = kh_put(bb, by_addr, addr, &new);
	if (new < 0)
		die("memory:");
	if (!new)
		return kh_value(by_addr, k);
	bbs = xgrow(bbs, &capbb, nbb + 1, sizeof *bbs);
	memset(&bbs[nbb], 0, sizeof *bbs);
	bbs[nbb].addr = addr;
	bbs[nbb].obj = objmap_find(map, addr, &bbs[nbb].link);
	kh_value(by_addr, k) = nbb;
	return nbb++;
}

static void
add_part(struct block_parts *u, const struct ev_insn *first, uint32_t n,
    struct objmap *map)
{
	uint32_t b = find(first->addr, map);
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
blocks_define(const struct evr *r, uint32_t id, struct objmap *map)
{
	const struct ev_def *d = ev_def(r, id);
	const struct ev_insn *i = d->block->insn;
	size_t old = capunit;
	uint32_t k, from = 0;
	struct block_parts *u;

	units = xgrow(units, &capunit, (size_t)id + 1, sizeof *units);
	memset(units + old, 0, (capunit - old) * sizeof *units);
	u = &units[id];
	u->part = npart;
	u->ninsn = d->n;
	for (k = 0; k < d->n; k++)
		if (k + 1 == d->n || i[k].flow != 0 ||
		    i[k + 1].addr != i[k].addr + i[k].len) {
			add_part(u, i + from, k + 1 - from, map);
			from = k + 1;
		}
}

void
blocks_first(struct block_parts *u)
{
	uint32_t k;

	for (k = 0; k < u->npart; k++)
		if (bbs[parts[u->part + k].bb].id == 0)
			bbs[parts[u->part + k].bb].id = ++maxid;
	u->known = true;
}
