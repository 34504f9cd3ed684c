/*
 * frag - make fragments, on request and ahead of requests, and drop them
 *
 * A FRAGMENT is one piece of code in a zone, for a block at a guest pc.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cache/cache.h"
#include "cache/kept.h"
#include "cache/parts.h"
#include "ctl.h"
#include "stream/stream.h"
#include "xlate/xlate.h"
#include "prog.h"

/* The fragment that is being made: its block, and what groups that has. */
static struct xlate making;
static struct block blk;
static struct groups grp;
static const struct kind *inside;	/* kind of fragments inside windows */

/* Components of xsave that a program of this processor stores at most. */
static uint64_t
xstate_of(enum cpu cpu)
{
	switch (cpu) {
	case CPU_V2:
		return 3;
	case CPU_V3:
		return 7;
	default:	/* not AMX: programs must ask the kernel first */
		return ~(3ull << 17);
	}
}

void
cache_start(void)
{
	inside = opt->after != 0 ? &kind_skip : opt->kind;
	window_enable(inside != &kind_skip);
	decode_init(xstate_of(opt->cpu));
	decode_again_init();
}

bool
cache_skipping(void)
{
	return inside == &kind_skip;
}

void
cache_new(void)
{
	path_forget_all();
	table_new();
	flush_new();
}

void
cache_ready(void)
{
	lookup_end();
	kept_ready();
}

/*
 * How far it is from each instruction to the next; returns the end.  Up to 7
 * bytes behind that are written, too.
 */
static uint8_t *
put_distances(uint8_t *p)
{
	unsigned i, have = 0;		/* bits that are not out yet */
	uint64_t d, bits = 0;
	app_pc next;

	for (i = 0; i < blk.n; i++) {
		next = i + 1 < blk.n ? blk.in[i + 1].pc : blk.next;
		d = next - blk.in[i].pc;
		if (d - 1 >= 15) {
			d = (d & ((1ull << PC_BITS) - 1)) << 4;
			bits |= d << have;
			have += PC_BITS;
		} else {
			bits |= d << have;
		}
		have += 4;
		memcpy(p, &bits, sizeof bits);
		p += have / 8;
		bits >>= have & ~7u;
		have %= 8;
	}
	return p + (have + 7) / 8;
}

/* What handlers look up: the map, and where each instruction was. */
static void
put_maps(struct fragmeta *m)
{
	uint8_t *from = area.maps + area.nmap, *p;

	p = map_pack(from, making.map, making.nmap, &m->nmap);
	m->map = area.nmap;
	m->pcs = (uint16_t)(p - from);
	area.nmap += (uint32_t)(put_distances(p) - from);
}

static void
put_exit(uint32_t number, const struct xexit *from, uint32_t block)
{
	unsigned n = from->n;
	struct exitmeta e = { .target = from->target, .kind = from->kind & 15,
	    .emulate = from->emulate & 15, .aux = from->aux, .block = block,
	    .n = from->n, .id = making.kind->counters ? making.cnt[n] :
	    making.id[n] };

	if (making.kind->records && n != 0)
		e.id = record_head(making.id[n], grp.used[n]);
	area.exits[number] = exit_pack(&e);
	if (area.calls != NULL)
		area.calls[number] = (struct exitcall){
			.site = n == 0 ? 0 : block_site(&blk, n)->pc,
			.sitelen = n == 0 ? 0 : block_site(&blk, n)->len,
			.landing = from->landing, .key = from->key,
			.move = from->move, .looks = from->looks,
			.refs = { making.does[n][DO_READ],
			    making.does[n][DO_WRITE] }
		};
}

static void
put_meta(struct frag *f, uint32_t code)
{
	struct fragmeta *m = &area.frags[f->zone][f->meta];
	unsigned i;

	m->pc = f->pc;
	m->code = code;
	m->exit = f->exit;
	m->block = making.def != NULL ? def_number(making.def) : NODEF;
	put_maps(m);
	for (i = 0; i < making.nexit; i++)
		put_exit(f->exit + i, &making.exit[i], m->block);
	store_publish(f->zone, f->meta + 1);
}

/*
 * With -v one of 16 pieces of work is timed, by the CPU time of this thread:
 * that takes a system call, a tenth of what it measures.  Not the first one,
 * with which the decoder begins, and all that the store has must be there.
 */
#define TIMED 16u
static uint32_t timed_from;	/* the first fragment that it made */

static uint64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* When this piece of work begins; 0: it is not timed. */
static uint64_t
work_begin(void)
{
	static unsigned n;

	if (!opt->verbose || ++n % TIMED != 0)
		return 0;
	timed_from = nfrag;
	return now_ns();
}

static void
work_end(uint64_t from)
{
	if (from == 0)
		return;
	stats.timed_ns += now_ns() - from;
	if (nfrag > timed_from)		/* else all were flushed */
		stats.timed_fragments += nfrag - timed_from;
}

/* Write the block's fragment.  If it is too large, halve the block. */
static void
write_fragment(unsigned z)
{
	for (;;) {
		groups_find(&grp, &blk, making.kind);
		making.b = &blk;
		making.g = &grp;
		making.def = def_find(&blk, &grp, making.kind, making.owner);
		if (making.def != NULL)
			def_ids(making.def, &making);
		making.c.start = making.c.p = area.seg[SEG_ZONE0 + z] +
		    area.zone_used[z];
		making.c.addr = area.boot.seg[SEG_ZONE0 + z].addr +
		    area.zone_used[z];
		making.c.limit = making.c.start + XLATE_ROOM - 1024;
		making.firstexit = area.nexit;
		if (xlate(&making))
			return;
		if (blk.n <= 1)
			die("%#llx: an instruction that is too long to "
			    "translate", (unsigned long long)blk.pc);
		blk.n /= 2;
		blk.next = blk.in[blk.n].pc;
		blk.end = EXIT_DIRECT;
	}
}

/* Collect the block at pc, along its path if it has one; -1: no code. */
static int
collect(app_pc pc, unsigned mode)
{
	const struct path *path = making.kind->paths && opt_makes_paths() ?
	    path_of(pc) : NULL;

	if (path != NULL && block_follow(&blk, pc, path) == 0)
		return 0;
	return block_collect(&blk, pc, mode);
}

/* No ids are left: the stream ends here, and the program goes on natively. */
static void
out_of_ids(void)
{
	if (area.letgo)
		return;
	warn("no more than %u different pieces of code can be told: the "
	    "program goes on natively, the stream ends here", NIDS - 1);
	stats.refused = stats.full = true;
	frag_letgo();
}

/* Make room for one fragment; false: there is none. */
static bool
make_room(unsigned z)
{
	if (!def_ids_left()) {
		out_of_ids();
		return false;
	}
	if (!counters_left(COUNTERS_MOST)) {
		frag_renew(false);
	} else if (!store_room(z)) {
		kept_warn_full();
		flush();
	}
	return counters_left(COUNTERS_MOST);	/* else the run is over */
}

/*
 * Make the fragment for pc.  Returns its index, or -1: there is no code, or all
 * threads go on natively.
 */
static int64_t
frag_new(app_pc pc, unsigned mode, uint32_t owner)
{
	unsigned z = zone_for(pc);
	uint32_t code;
	struct frag *f;

	if (!make_room(z))
		return -1;
	area.zone_used[z] = (area.zone_used[z] + 15) & ~15u;
	making.kind = inside == &kind_skip || !(mode & MODE_OUT) ? inside :
	    opt->every != 0 ? &kind_between : &kind_outside;
	making.once = (mode & MODE_ONCE) != 0;
	making.by_lookup = (mode & MODE_LOOKUP) != 0 || opt->contexts != 0;
	mode &= MODE_ALL;
	making.owner = making.kind->tells ? owner : 0;
	if (collect(pc, mode) < 0)
		return -1;
	code = area.zone_used[z];
	write_fragment(z);
	if (opt->debug & DEBUG_DUMP)
		dump_fragment(&making, z);
	f = store_new();
	f->pc = pc;
	f->mode = (uint8_t)mode;
	f->owner = owner;
	f->on_path = blk.path;
	store_pieces(f, &blk);
	if (blk.is_volatile)
		written_note(nfrag, &blk);
	f->zone = (uint8_t)z;
	f->meta = area.nfrag[z];
	f->exit = area.nexit;
	f->nexit = (uint8_t)making.nexit;
	f->called = (int16_t)((int)making.callentry - (int)making.entry);
	f->entry = entry_word(making.c.addr + making.entry, making.prologue);
	put_meta(f, code);
	store_publish_exits(area.nexit + making.nexit);
	area.zone_used[z] += (uint32_t)(making.c.p - making.c.start);
	link_exits(f, &making, code);
	table_put(nfrag);
	link_waiting(nfrag);
	stats.fragments++;
	stats.insns += blk.n;
	stats.codebytes += (uint64_t)(making.c.p - making.c.start);
	stats.guestbytes += store_bytes(f);
	return nfrag++;
}

/* Can a lookup word lead there? */
static bool
has_lookup(uint32_t f)
{
	return entry_prologue(frags[f].entry) != 0;
}

/*
 * The entry of the fragment for pc, made if there is none, or again if it lacks
 * an entry for lookup words that the mode asks for; 0: no code.
 */
static uint64_t
frag_get(app_pc pc, unsigned mode, uint32_t owner)
{
	uint32_t f = table_find(key_for(pc, mode & MODE_ALL, owner));
	bool stands_in = false;
	int64_t new;

	if (f != 0 && (!(mode & MODE_LOOKUP) || has_lookup(f - 1)))
		return frags[f - 1].entry;
	if (f != 0) {
		frag_drop(f - 1);
		stands_in = frags[f - 1].stands_in;
		frags[f - 1].remade = true;
		stats.again++;
	}
	new = frag_new(pc, mode, owner);
	if (new < 0)
		return 0;
	frags[new].stands_in = stands_in;
	ahead_call(&frags[new], block_landing(&blk));
	return frags[new].entry;
}

static void
note_growth(void)
{
	unsigned z;

	for (z = 0; z < 2; z++) {
		area.grown[GROW_ZONE0 + z].used = area.zone_used[z];
		area.grown[GROW_FRAGS0 + z].used = area.nfrag[z] *
		    sizeof *area.frags[z];
	}
	area.grown[GROW_MAPS].used = area.nmap;
	area.grown[GROW_EXITS].used = area.nexit * sizeof *area.exits;
	area.grown[GROW_CALLS].used = area.calls == NULL ? 0 :
	    area.nexit * sizeof *area.calls;
	area_grow();
}

/*
 * Make the next of those wanted; false: there is none, or no room for it.
 * is_sure: it will be executed, so where its call returns to is wanted, too.
 */
static bool
make(bool (*next)(struct wanted *), bool is_sure)
{
	uint64_t from = work_begin();
	struct wanted w;
	bool made = next(&w);
	int64_t f = made ? frag_new(w.pc, w.mode, w.owner) : -1;

	if (f >= 0 && is_sure)
		ahead_call(&frags[f], block_landing(&blk));
	work_end(from);
	return made;
}

bool
frag_landing(void)
{
	return ahead_is_due() && make(ahead_due, true);
}

bool
frag_ahead(void)
{
	if (!ahead_any())
		return false;
	if (make(ahead_next, false))
		return true;
	note_growth();
	return false;
}

/* Calls by an arc will find the fragment for a key. */
static void
link_arc(uint64_t arc, frag_key key)
{
	uint32_t t = table_find(key);
	struct frag *f;

	if (t == 0)
		return;
	f = &frags[t - 1];
	if (context_link(arc, f->pc, f->owner, entry_address(f->entry) +
	    (uint64_t)(int64_t)f->called, f->firstarc))
		f->firstarc = (uint32_t)arc;
}

void
frag_called(uint32_t arc, app_pc pc, uint32_t owner)
{
	if (arc != 0)
		link_arc(arc, key_for(pc, MODE_IN, owner));
}

uint64_t
frag_request(app_pc pc, uint64_t exitno, unsigned mode, uint32_t owner)
{
	frag_key key = key_for(pc, mode & MODE_ALL, owner);
	uint32_t first = nfrag, gen = area.gen, t;
	uint64_t entry, from = work_begin();

	entry = frag_get(pc, mode, owner);
	if (entry != 0 && exitno < area.nexit && gen == area.gen &&
	    link_key((uint32_t)exitno) == key) {
		t = table_find(key);
		if (t != 0 && link_open((uint32_t)exitno))
			link_exit((uint32_t)exitno, t - 1);
	}
	if (entry != 0 && owner != 0 && exitno != ~0ull && (exitno & CALLED))
		link_arc(exitno & ~CALLED, key);
	if (nfrag > first)
		ahead_begin(first);
	work_end(from);
	return entry;
}

void
frag_stale(app_pc pc, unsigned mode, uint32_t owner)
{
	uint32_t f = table_find(key_for(pc, mode, owner));

	if (f != 0)
		frag_drop(f - 1);
}

void
frag_plain(app_pc pc, uint32_t owner)
{
	uint32_t f = table_find(key_for(pc, MODE_IN, owner));

	if (f == 0 && frag_new(pc, MODE_IN, owner) >= 0)
		f = table_find(key_for(pc, MODE_IN, owner));
	if (f != 0)
		table_plain(f - 1);
}

/* The fragment that has the exit, of those that there are. */
static struct frag *
frag_of_exit(uint32_t exitno)
{
	uint32_t lo = 0, hi = nfrag, mid;

	while (hi - lo > 1) {
		mid = lo + (hi - lo) / 2;
		if (frags[mid].exit <= exitno)
			lo = mid;
		else
			hi = mid;
	}
	return &frags[lo];
}

/* Its code is to look for arcs: drop it, so that it is made anew. */
void
frag_jumps(uint64_t exitno)
{
	struct exitcall c;
	struct frag *f;

	if (exitno >= area.nexit || nfrag == 0)
		return;
	f = frag_of_exit((uint32_t)exitno);
	c = *(volatile struct exitcall *)&area.calls[exitno];
	if (f->dead || c.looks || c.move != MOVE_IJUMP ||
	    !store_covers(f, c.site, c.site + 1))
		return;
	context_jump_called(c.site);
	frag_drop((uint32_t)(f - frags));
}

static void
kill_covered(uint32_t i, uint64_t start, uint64_t end)
{
	if (frags[i].dead || !store_covers(&frags[i], start, end))
		return;
	path_forget(frags[i].pc);
	frag_drop(i);
}

void
frag_kill(uint64_t start, uint64_t end)
{
	uint32_t i;

	def_mappings_changed();
	for (i = kept_kill(start, end, kill_covered); i < nfrag; i++)
		kill_covered(i, start, end);
}

void
frag_again(app_pc pc)
{
	uint32_t f = table_find(key_for(pc, MODE_IN, 0));
	bool stands_in;
	int64_t new;

	if (f == 0)
		return;
	stands_in = kept_is_shelved(f - 1);
	frag_drop(f - 1);
	new = frag_new(pc, MODE_IN | (has_lookup(f - 1) ? MODE_LOOKUP : 0), 0);
	if (new >= 0)
		frags[new].stands_in = stands_in;
}

bool
frag_renew(bool calls)
{
	bool rest;

	rest_begin();
	flush();
	rest = rest_all();
	__atomic_fetch_add(&area.ctl->renewed, 1, __ATOMIC_SEQ_CST);
	format_renew(calls && rest && opt->contexts != 0);
	rest_end();
	return rest;
}

void
frag_window(void)
{
	if (inside != &kind_skip)
		return;		/* another thread was first */
	inside = opt->kind;
	window_enable(true);
	area.ctl->interval = opt->interval;
	flush();
	__atomic_store_n(&area.ctl->skipping, 0, __ATOMIC_SEQ_CST);
}
