/*
 * frag - fragments by guest pc, and the links between them
 *
 * A FRAGMENT is one piece of code in a zone.  Exits that wait for a fragment
 * hang on their target's pc; when it comes they are patched, and when code
 * goes (frag_kill) they are patched back to their stubs.
 *
 * A patch is one 4-byte store within 8 aligned bytes, made when the code it
 * leads to is complete; the guest may run through it at any time.
 */
#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <htslib/khash.h>

#include "evw.h"
#include "util.h"
#include "xlate/xlate.h"

#define NODEF ~0u

struct frag {
	app_pc pc;
	uint32_t piece;		/* its pieces of code */
	uint32_t npiece;
	uint64_t entry;		/* guest address; prologue << 48 */
	uint32_t meta;		/* index in its zone's fragmeta */
	uint8_t zone, dead, mode;
	uint16_t nexit;
	uint32_t exit;		/* its first exit */
	uint32_t firstin;	/* exits linked to it: head of a list, + 1 */
};

struct link {
	uint32_t jmp;		/* zone offset of the rel32; 0: cannot be linked */
	uint32_t stub;		/* zone offset */
	uint32_t next;		/* list of who waits for, or leads to, the same */
	uint32_t to;		/* fragment it is linked to, + 1 */
	uint8_t zone;
};

KHASH_MAP_INIT_INT64(u32, uint32_t)

static struct piece *pieces;
static size_t npieces, piececap;
static struct frag *frags;
static size_t fragcap;
static uint32_t nfrag;
static struct link *links;
static size_t linkcap;
static khash_t(u32) *waiting;	/* tab_key -> first exit that waits, + 1 */
uint32_t zone_used[2];

static struct xlate x;
static struct block blk;
static struct groups grp;

void
frag_start(void)
{
	waiting = kh_init(u32);
	decode_init();
}

/* The zone nearer to the code. */
static unsigned
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

/* Where its instructions are, and where it goes on behind them. */
static void
put_pcs(struct fragmeta *m)
{
	unsigned i;

	m->pcs = area.npc;
	for (i = 0; i <= blk.n; i++)
		area.pcs[area.npc++] = (int32_t)((i < blk.n ? blk.in[i].pc :
		    blk.next) - blk.pc);
}

static void
put_meta(struct frag *f, uint32_t code)
{
	struct fragmeta *m = &area.frags[f->zone][f->meta];
	struct exitmeta *e;
	unsigned i;

	m->pc = f->pc;
	m->code = code;
	m->codelen = (uint32_t)(x.c.p - x.c.start);
	m->map = area.nmap;
	m->nmap = x.nmap;
	m->exit = f->exit;
	m->block = x.def != NULL ? def_number(x.def) : NODEF;
	memcpy(area.maps + area.nmap, x.map, x.nmap * sizeof x.map[0]);
	area.nmap += x.nmap;
	put_pcs(m);
	for (i = 0; i < x.nexit; i++) {
		e = &area.exits[f->exit + i];
		e->target = x.exit[i].target;
		e->kind = x.exit[i].kind;
		e->emulate = x.exit[i].emulate;
		e->aux = x.exit[i].aux;
		e->id = x.id[x.exit[i].n];
		e->step = (uint16_t)(4 + 8 * grp.used[x.exit[i].n]);
		e->block = m->block;
		e->n = x.exit[i].n;
		if (opt.kind == KIND_COUNTS || opt.kind == KIND_CACHE) {
			e->step = x.exit[i].n;
			e->id = x.cnt[x.exit[i].n];
		} else if (opt.kind >= KIND_NONE || e->n == 0)
			e->step = x.exit[i].n;
		else
			e->id |= (uint32_t)grp.used[x.exit[i].n] << 24;
		e->frag = nfrag;
	}
	__atomic_store_n(&area.ctl->nfrag[f->zone], f->meta + 1,
	    __ATOMIC_RELEASE);
}

/* 1: there is room for one more fragment in everything it needs. */
static int
room_for_one(unsigned z)
{
	return zone_used[z] + XLATE_ROOM <= area.boot.seg[SEG_ZONE0 + z].size &&
	    area.nmap + MAX_MAP <= area.maxmap &&
	    area.nexit + MAX_EXIT <= area.maxexit &&
	    area.npc + MAX_INSN + 1 <= area.maxpc &&
	    area.ctl->nfrag[z] < area.maxfrag &&
	    nfrag < area.ctl->tabmask / 2;
}

static void
table_put(uint64_t key, uint64_t entry)
{
	uint32_t mask = area.ctl->tabmask, i = tab_first(key, mask);

	while (area.tab[i].pc != 0 && area.tab[i].pc != key)
		i = (i + 1) & mask;
	__atomic_store_n(&area.tab[i].entry, entry, __ATOMIC_RELEASE);
	__atomic_store_n(&area.tab[i].pc, key, __ATOMIC_RELEASE);
}

/* Index of the live fragment for a tab_key + 1, or 0. */
static uint32_t
table_find(uint64_t key)
{
	uint32_t mask = area.ctl->tabmask, i = tab_first(key, mask);

	for (; area.tab[i].pc != 0; i = (i + 1) & mask)
		if (area.tab[i].pc == key)
			return area.tab[i].entry != 0 ? area.tabfrag[i] + 1 : 0;
	return 0;
}

static void
table_note(uint64_t key, uint32_t f)
{
	uint32_t mask = area.ctl->tabmask, i = tab_first(key, mask);

	while (area.tab[i].pc != key)
		i = (i + 1) & mask;
	area.tabfrag[i] = f;
}

static uint64_t
key_of(const struct frag *f)
{
	return tab_key(f->pc, f->mode);
}

/* Where its exits lead: the same side of a window. */
static uint64_t
exit_key(const struct frag *f, app_pc target)
{
	return tab_key(target, f->mode & MODE_OUT);
}

/* ------------------------------------------------------------------ links */

static void
patch(const struct link *l, uint64_t target)
{
	struct seg *s = &area.boot.seg[SEG_ZONE0 + l->zone];
	uint8_t *at = area.seg[SEG_ZONE0 + l->zone] + l->jmp;
	int32_t d = (int32_t)(target - (s->addr + l->jmp + 4));

	__atomic_store_n((int32_t *)(void *)at, d, __ATOMIC_RELEASE);
}

/* A jump between zones is a fragment of its own: before f, nothing done. */
static uint64_t
far_jump(unsigned z, uint32_t f)
{
	struct fragmeta *m;
	struct mapent *e;
	struct code c;

	zone_used[z] = (zone_used[z] + 15) & ~15u;
	c.start = c.p = area.seg[SEG_ZONE0 + z] + zone_used[z];
	c.addr = area.boot.seg[SEG_ZONE0 + z].addr + zone_used[z];
	emit_u64(&c, frags[f].entry & 0xffffffffffffull);
	emit_patch32(emit_jmp_rip(&c), c.start);
	m = &area.frags[z][area.ctl->nfrag[z]];
	memset(m, 0, sizeof *m);
	m->pc = frags[f].pc;
	m->code = zone_used[z];
	m->map = area.nmap;
	m->nmap = 1;
	m->block = NODEF;
	m->pcs = area.npc;
	area.pcs[area.npc++] = 0;
	e = &area.maps[area.nmap++];
	memset(e, 0, sizeof *e);
	e->kind = MAP_BODY;
	e->loc = REG_P | REG_T << 4;
	zone_used[z] += 16;
	__atomic_store_n(&area.ctl->nfrag[z], area.ctl->nfrag[z] + 1,
	    __ATOMIC_RELEASE);
	return c.addr + 8;
}

/*
 * Exit e now leads to fragment f, by way of its stub's place if f lies in the
 * other zone: there a jump through a word reaches everything.
 */
static void
link_exit(uint32_t e, uint32_t f)
{
	struct link *l = &links[e];
	uint64_t to = frags[f].entry & 0xffffffffffffull;

	if (l->jmp == 0 || l->to != 0 || (opt.debug & DEBUG_NOLINK))
		return;
	if (frags[f].zone != l->zone) {
		if (!room_for_one(l->zone))
			return;
		to = far_jump(l->zone, f);
	}
	l->to = f + 1;
	l->next = frags[f].firstin;
	frags[f].firstin = e + 1;
	patch(l, to);
}

static void
link_cut(uint32_t e)
{
	struct link *l = &links[e];

	if (l->to == 0)
		return;
	l->to = 0;
	patch(l, area.boot.seg[SEG_ZONE0 + l->zone].addr + l->stub);
}

static void
wait_for(uint32_t e, uint64_t key)
{
	khiter_t k;
	int new;

	k = kh_put(u32, waiting, key, &new);
	links[e].next = new ? 0 : kh_value(waiting, k);
	kh_value(waiting, k) = e + 1;
}

/* Fragment f has come: link who waited for it. */
static void
link_waiting(uint32_t f)
{
	khiter_t k = kh_get(u32, waiting, key_of(&frags[f]));
	uint32_t e, next;

	if (k == kh_end(waiting))
		return;
	for (e = kh_value(waiting, k); e != 0; e = next) {
		next = links[e - 1].next;
		link_exit(e - 1, f);
	}
	kh_del(u32, waiting, k);
}

static void
put_links(const struct frag *f, uint32_t code)
{
	struct link *l;
	uint32_t i, e, t;

	links = xgrow(links, &linkcap, f->exit + f->nexit, sizeof *links);
	for (i = 0; i < f->nexit; i++) {
		e = f->exit + i;
		l = &links[e];
		memset(l, 0, sizeof *l);
		l->zone = f->zone;
		if (x.exit[i].jmp == 0)
			continue;
		l->jmp = code + x.exit[i].jmp;
		l->stub = code + x.exit[i].stub;
		t = table_find(exit_key(f, x.exit[i].target));
		if (t != 0)
			link_exit(e, t - 1);
		else
			wait_for(e, exit_key(f, x.exit[i].target));
	}
}

/* -------------------------------------------------------------- fragments */

/* CPU time of this thread, where somebody wants to know: it is a system call. */
static uint64_t
now_ns(void)
{
	struct timespec t;

	if (!opt.verbose)
		return 0;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Write the block's fragment; shorter blocks are tried when it is too large. */
static void
write_fragment(unsigned z)
{
	for (;;) {
		groups_find(&grp, &blk);
		x.b = &blk;
		x.g = &grp;
		x.def = def_find(&blk, &grp);
		if (x.def != NULL)
			def_ids(x.def, &x);
		x.c.start = x.c.p = area.seg[SEG_ZONE0 + z] + zone_used[z];
		x.c.addr = area.boot.seg[SEG_ZONE0 + z].addr + zone_used[z];
		x.c.limit = x.c.start + XLATE_ROOM - 1024;
		x.firstexit = area.nexit;
		if (xlate(&x) == 0)
			return;
		if (blk.n <= 1)
			die("%#llx: an instruction that is too long to translate",
			    (unsigned long long)blk.pc);
		blk.n /= 2;
		blk.next = blk.in[blk.n].pc;
		blk.end = EXIT_DIRECT;
	}
}

static void
put_pieces(struct frag *f)
{
	if (blk.npiece == 0) {
		blk.piece[0].start = blk.pc;
		blk.piece[0].end = blk.next;
		blk.npiece = 1;
	}
	pieces = xgrow(pieces, &piececap, npieces + blk.npiece, sizeof *pieces);
	memcpy(pieces + npieces, blk.piece, blk.npiece * sizeof *pieces);
	f->piece = (uint32_t)npieces;
	f->npiece = blk.npiece;
	npieces += blk.npiece;
}

static uint64_t
bytes_covered(const struct frag *f)
{
	uint64_t n = 0;
	uint32_t i;

	for (i = f->piece; i < f->piece + f->npiece; i++)
		n += pieces[i].end - pieces[i].start;
	return n;
}

/* The block at pc, along its path if it has one. */
static int
collect(app_pc pc, unsigned mode)
{
	const struct path *path = hot_path(pc);

	/* what is seldom told is not worth it; and a point is an exit */
	if (mode != MODE_IN || window_at(pc, mode))
		path = NULL;
	if (path != NULL && block_follow(&blk, pc, path) == 0)
		return 0;
	return block_collect(&blk, pc, mode);
}

/* The fragment for pc, made now.  Its index, or -1: no code there. */
static int64_t
frag_new(app_pc pc, unsigned mode)
{
	unsigned z = zone_for(pc);
	uint32_t code;
	struct frag *f;

	if (!room_for_one(z))
		frag_flush();
	zone_used[z] = (zone_used[z] + 15) & ~15u;
	if (opt.kind != KIND_SKIP)
		opt.kind = mode & MODE_OUT ? KIND_OUT : opt.window;
	if (collect(pc, mode) < 0)
		return -1;
	code = zone_used[z];
	write_fragment(z);
	frags = xgrow(frags, &fragcap, nfrag + 1, sizeof *frags);
	f = &frags[nfrag];
	memset(f, 0, sizeof *f);
	f->pc = pc;
	f->mode = (uint8_t)mode;
	put_pieces(f);
	f->zone = (uint8_t)z;
	f->meta = area.ctl->nfrag[z];
	f->exit = area.nexit;
	f->nexit = (uint16_t)x.nexit;
	f->entry = (x.c.addr + x.prologue) | (uint64_t)x.prologue << 48;
	put_meta(f, code);
	area.nexit += x.nexit;
	__atomic_store_n(&area.ctl->nexit, area.nexit, __ATOMIC_RELEASE);
	zone_used[z] += (uint32_t)(x.c.p - x.c.start);
	put_links(f, code);
	table_put(key_of(f), f->entry);
	table_note(key_of(f), nfrag);
	link_waiting(nfrag);
	stats.fragments++;
	stats.insns += blk.n;
	stats.codebytes += (uint64_t)(x.c.p - x.c.start);
	stats.guestbytes += bytes_covered(f);
	return nfrag++;
}

uint64_t
frag_get(app_pc pc, unsigned mode)
{
	uint32_t f = table_find(tab_key(pc, mode));
	int64_t new;

	if (f != 0)
		return frags[f - 1].entry;
	new = frag_new(pc, mode);
	return new < 0 ? 0 : frags[new].entry;
}

/*
 * Behind a miss, what direct exits of the new fragment reach, the last first,
 * and of those made here, up to a bound: while the guest goes on, one at a time,
 * so that it waits for one at most when it asks again.
 */
static struct {
	uint32_t f, i;		/* fragment, exits of it done */
	uint32_t end;
	uint32_t gen;
} ahead;

static int
one_ahead(void)
{
	uint32_t e;

	for (; ahead.f < nfrag && ahead.f < ahead.end; ahead.f++, ahead.i = 0)
		while (ahead.i < frags[ahead.f].nexit) {
			e = frags[ahead.f].exit + frags[ahead.f].nexit -
			    ++ahead.i;
			if (links[e].jmp == 0 || links[e].to != 0 ||
			    area.exits[e].target == 0 || nfrag >= ahead.end ||
			    table_find(exit_key(&frags[ahead.f],
			    area.exits[e].target)) != 0)
				continue;
			if (!room_for_one(zone_for(area.exits[e].target)))
				break;
			frag_new(area.exits[e].target,
			    frags[ahead.f].mode & MODE_OUT);
			return 1;
		}
	ahead.end = 0;
	return 0;
}

static void
note_growth(void)
{
	unsigned z;

	for (z = 0; z < 2; z++) {
		area.grown[GROW_ZONE0 + z].used = zone_used[z];
		area.grown[GROW_FRAGS0 + z].used = area.ctl->nfrag[z] *
		    sizeof *area.frags[z];
	}
	area.grown[GROW_MAPS].used = area.nmap * sizeof *area.maps;
	area.grown[GROW_PCS].used = area.npc * sizeof *area.pcs;
	area.grown[GROW_EXITS].used = area.nexit * sizeof *area.exits;
	area_grow();
}

/* 1: made one. */
int
frag_ahead(void)
{
	uint64_t from;
	int made;

	if (ahead.end == 0 || ahead.gen != area.ctl->gen)
		return 0;
	from = now_ns();
	made = one_ahead();
	if (!made)
		note_growth();
	stats.translate_ns += now_ns() - from;
	return made;
}

uint64_t
frag_request(app_pc pc, uint64_t exitno, unsigned mode)
{
	uint32_t first = nfrag, gen = area.ctl->gen, t;
	uint64_t entry, from = now_ns();

	stats.requests++;
	entry = frag_get(pc, mode);
	if (entry != 0 && exitno != ~0ull && gen == area.ctl->gen) {
		t = table_find(tab_key(pc, mode));
		if (t != 0 && exitno < area.nexit && links[exitno].to == 0)
			link_exit((uint32_t)exitno, t - 1);
	}
	if (nfrag > first && !(opt.debug & DEBUG_NOLINK)) {
		ahead.f = first;
		ahead.i = 0;
		ahead.end = first + AHEAD;
		ahead.gen = area.ctl->gen;
	}
	stats.translate_ns += now_ns() - from;
	return entry;
}

static void
kill_one(uint32_t i)
{
	struct frag *f = &frags[i];
	uint32_t e, next, k;

	f->dead = 1;
	for (e = f->firstin; e != 0; e = next) {
		next = links[e - 1].next;
		if (links[e - 1].to == i + 1) {
			link_cut(e - 1);
			wait_for(e - 1, key_of(f));
		}
	}
	f->firstin = 0;
	table_put(key_of(f), 0);
	k = (uint32_t)(f->pc % IBL_WORDS) +
	    (f->mode & MODE_OUT ? IBL_WORDS : 0);
	if (area.ibl[k] == (f->entry & 0xffffffffffffull) - (f->entry >> 48))
		area.ibl[k] = area.miss;
}

void
frag_stale(app_pc pc, unsigned mode)
{
	uint32_t f = table_find(tab_key(pc, mode));

	if (f != 0)
		kill_one(f - 1);
}

static int
covers(const struct frag *f, uint64_t start, uint64_t end)
{
	const struct piece *p = pieces + f->piece;
	uint32_t i;

	for (i = 0; i < f->npiece; i++)
		if (p[i].start < end && p[i].end > start)
			return 1;
	return 0;
}

void
frag_kill(uint64_t start, uint64_t end)
{
	uint32_t i;

	def_mappings_changed();
	for (i = 0; i < nfrag; i++)
		if (!frags[i].dead && covers(&frags[i], start, end)) {
			hot_forget(frags[i].pc);
			kill_one(i);
		}
}

void
frag_again(app_pc pc)
{
	uint32_t f = table_find(tab_key(pc, MODE_IN));

	if (f == 0)
		return;
	kill_one(f - 1);
	frag_new(pc, MODE_IN);
}

static void
empty_lookup(void)
{
	uint32_t i, n = window_bits() != 0 ? 2 * IBL_WORDS : IBL_WORDS;

	for (i = 0; i < n; i++)
		area.ibl[i] = area.miss;
}

/*
 * Forget all fragments: nobody is in the cache any more, or the image went.
 * The table is empty already, or new; then it shall not be touched in vain.
 */
void
frag_reset(void)
{
	nfrag = 0;
	npieces = 0;
	area.nmap = area.nexit = area.npc = area.ctl->nexit = 0;
	area.ctl->nfrag[0] = area.ctl->nfrag[1] = 0;
	zone_used[0] = zone_used[1] = 0;
	empty_lookup();
	kh_clear(u32, waiting);
}

/*
 * The cache is full.  Every link and lookup is undone, so that each thread
 * leaves it at its next exit; who is outside stays there while `gen` differs
 * from what it looked up.  Then all of it can be used again.
 */
void
frag_flush(void)
{
	uint32_t e, i, s;

	stats.flushes++;
	for (e = 0; e < area.nexit; e++)
		link_cut(e);
	memset(area.tab, 0, (area.ctl->tabmask + 1ul) * sizeof *area.tab);
	__atomic_fetch_add(&area.ctl->gen, 1, __ATOMIC_SEQ_CST);
	for (i = 0; i < 2; i++) {
		empty_lookup();
		for (s = 0; s < NSLOT; s++)
			serve_quiesce(&area.ctl->slot[s]);
	}
	frag_reset();
}

void
frag_window(void)
{
	if (opt.kind != KIND_SKIP)
		return;		/* another thread was first */
	opt.kind = opt.window;
	area.ctl->interval = opt.interval;
	frag_flush();
	__atomic_store_n(&area.ctl->skipping, 0, __ATOMIC_SEQ_CST);
}

void
frag_letgo(void)
{
	__atomic_store_n(&area.ctl->letgo, 1, __ATOMIC_SEQ_CST);
	frag_flush();
	__atomic_store_n(&area.ctl->letgo, 2, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &area.ctl->letgo, FUTEX_WAKE, NSLOT, NULL, NULL, 0);
}
