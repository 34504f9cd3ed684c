/*
 * blocks - basic blocks, from the superblocks of a stream
 *
 * A superblock goes on behind branches that are not taken. Here it is cut
 * behind every transfer, taken or not, and where the addresses do not go on.
 * A basic block is known by where it begins: overlapping ones are different.
 * A straight run that the stream itself has in parts, because it is longer
 * than a superblock may be, is several basic blocks.
 */
#include "bbv.h"

#include <stdlib.h>
#include <string.h>

#include <htslib/khash.h>

#include "util.h"

KHASH_MAP_INIT_INT64(bb, uint32_t)

struct bb *bbs;
uint32_t nbb, maxid;
struct unit *units;
struct piece *pieces;

static size_t bbcap, unitcap, piececap;
static uint32_t npiece;
static khash_t(bb) *by_addr;

static uint32_t
find(uint64_t addr, struct objmap *map)
{
	khiter_t k;
	int new;

	if (by_addr == NULL)
		by_addr = kh_init(bb);
	k = kh_put(bb, by_addr, addr, &new);
	if (new < 0)
		die("memory:");
	if (!new)
		return kh_value(by_addr, k);
	bbs = xgrow(bbs, &bbcap, nbb + 1, sizeof *bbs);
	memset(&bbs[nbb], 0, sizeof *bbs);
	bbs[nbb].addr = addr;
	bbs[nbb].obj = objmap_find(map, addr, &bbs[nbb].link);
	kh_value(by_addr, k) = nbb;
	return nbb++;
}

static void
add_piece(struct unit *u, const struct ev_insn *first, uint32_t n,
    struct objmap *map)
{
	uint32_t b = find(first->addr, map);
	const struct ev_insn *last = first + n - 1;
	uint32_t bytes = (uint32_t)(last->addr + last->len - first->addr);

	pieces = xgrow(pieces, &piececap, npiece + 1, sizeof *pieces);
	pieces[npiece].bb = b;
	pieces[npiece++].ninsn = n;
	u->npiece++;
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
	size_t old = unitcap;
	uint32_t k, from = 0;
	struct unit *u;

	units = xgrow(units, &unitcap, (size_t)id + 1, sizeof *units);
	memset(units + old, 0, (unitcap - old) * sizeof *units);
	u = &units[id];
	u->piece = npiece;
	u->ninsn = d->n;
	for (k = 0; k < d->n; k++)
		if (k + 1 == d->n || i[k].flow != 0 ||
		    i[k + 1].addr != i[k].addr + i[k].len) {
			add_piece(u, i + from, k + 1 - from, map);
			from = k + 1;
		}
}

void
blocks_first(struct unit *u)
{
	uint32_t k;

	for (k = 0; k < u->npiece; k++)
		if (bbs[pieces[u->piece + k].bb].id == 0)
			bbs[pieces[u->piece + k].bb].id = ++maxid;
	u->known = 1;
}
