/*
 * area - the memory file between the guest and us, and where its parts lie
 *
 * Our mapping has all of it readable and writable; the guest maps each part
 * with the rights that it needs, at the addresses that guest/places.c chose.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "alloc.h"
#include "base/base.h"
#include "callctx.h"
#include "ctl.h"
#include "mem.h"
#include "meta.h"
#include "prog.h"

struct area area;

/* Heads of records: see struct boot. */
static uint32_t leave[2], alloc, frame;

#define GROW_FIRST (16u << 10)	/* twice as much each time, up to */
#define GROW_STEP (128u << 10)

static uint64_t
to_pages(uint64_t n)
{
	return (n + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

void
area_ids(uint32_t code, uint32_t data, uint32_t of_frames)
{
	leave[0] = record_head(code, 1);
	leave[1] = record_head(data, 1);
	frame = record_head(of_frames, 2);
}

/* Kind branches: the last image's. */
static struct kept_predictor kept;

void
area_alloc_id(uint32_t id)
{
	alloc = record_head(id, ALLOC_VALUES);
}

/*
 * How many threads at one time there is room for counters of.  With --contexts
 * a thread has 700 MB, and programs with ThreadSanitizer want all mappings in
 * the last 1.5 TB of the address space.
 */
static uint64_t
threads_most(unsigned shrink)
{
	if (shrink == 0)
		return opt->contexts != 0 ? 1024 : NSLOT;
	return (opt->contexts != 0 ? 256u : 1024u) >> shrink;
}

/*
 * Where address space costs nothing, there is a counter for each possible id.
 * Counters get pages only when they are used.
 */
static void
counter_sizes(unsigned shrink)
{
	struct boot *b = &area.boot;

	if (!opt->kind->counters)
		return;
	area.maxcount = shrink == 0 ? NIDS : (1u << 20) >> shrink / 2;
	if (opt->debug & DEBUG_FEWCOUNTS)
		area.maxcount = 512;
	b->ncount = area.maxcount;
	b->countbytes = 8ull * (CELLS + area.maxcount);
	if (opt->contexts != 0) {
		b->countbytes = 8ull * (CELLS + NIDS) + CTX_BYTES +
		    (counts_refs() ? CTX_MORE : 0);
		b->seg[SEG_ARCS].size = ARCS_MOST * sizeof(struct ctx_arc) +
		    STATES_MOST * sizeof(struct ctx_state) +
		    sizeof(struct ctx_heads);
	}
	b->seg[SEG_COUNTERS].size = threads_most(shrink) * b->countbytes;
	b->flags |= BOOT_COUNTS;
}

/* What trace tells of fragments, map entries, exits and cpuid. */
static void
meta_sizes(void)
{
	struct boot *b = &area.boot;

	b->meta.frags[0] = 0;
	b->meta.frags[1] =
	    to_pages((uint64_t)area.maxfrag * sizeof(struct fragmeta));
	b->meta.maps = 2 * b->meta.frags[1];
	b->meta.exits = b->meta.maps + to_pages(area.maxmap);
	b->meta.calls = b->meta.exits +
	    to_pages((uint64_t)area.maxexit * sizeof(struct exitkept));
	b->meta.cpuids = b->meta.calls + (opt->contexts == 0 ? 0 :
	    to_pages((uint64_t)area.maxexit * sizeof(struct exitcall)));
	b->seg[SEG_META].size = b->meta.cpuids +
	    to_pages(NCPUID * sizeof(struct cpuidrow));
}

/* What the runtime is to know of our options. */
static void
boot_options(void)
{
	struct boot *b = &area.boot;

	if (opt->follow)
		b->flags |= BOOT_FOLLOW;
	if (opt->leaves)
		b->flags |= BOOT_ATTACHED;
	if (opt->contexts != 0)
		b->flags |= BOOT_CONTEXTS;
	if (!opt_steals_p())
		b->flags |= BOOT_FREE_P;
	if (opt->times)
		b->flags |= BOOT_TIMES;
	if (opt->kind->learns)
		b->flags |= BOOT_BRANCHES;
	if (opt->allocs)
		b->flags |= BOOT_ALLOCS;
	b->alloc = alloc;
	b->every = opt->every;
	b->span = opt->span;
	if (opt->kind->alone) {
		b->flags |= BOOT_CACHE;
		b->sets = opt->sets;
		b->ways = opt->ways;
		b->lineshift = opt->lineshift;
		b->leave[0] = leave[0];
		b->leave[1] = leave[1];
		b->frame = frame;
	}
}

/* Lay out the memory file; each step of shrink halves what can be halved. */
void
area_sizes(unsigned shrink)
{
	struct boot *b = &area.boot;
	/* room for large programs, since an entry of the store takes half */
	unsigned twice = shrink != 0 ? 1 : 2;
	/* kind cache needs more code and map entries for each fragment */
	unsigned more = shrink == 0 && opt->kind->alone ? 2 * twice : twice;
	uint64_t zone = ((uint64_t)more * (64u << 20)) >> shrink, off = 0;
	unsigned i;

	memset(b, 0, sizeof *b);
	b->storedfd = -1;
	area.maxfrag = (twice * (TAB_NUMBER / 4)) >> shrink;
	area.maxmap = (more * (20u << 20)) >> shrink;
	area.maxexit = (twice * (1u << 20)) >> shrink;
	if (opt->debug & DEBUG_TINY)
		zone = 256u << 10;
	b->seg[SEG_CONTROL].size = to_pages(sizeof(struct control));
	b->seg[SEG_TABLE].size = (uint64_t)TAB_ROOM(area.maxfrag) *
	    (sizeof *area.tab + (opt->contexts == 0 ? 0 :
	    sizeof *area.tabowner));
	b->seg[SEG_IBL].size = IBL_ALL;
	meta_sizes();
	b->seg[SEG_BUFFERS].size = opt->kind->records ||
	    opt->kind->alone ? (uint64_t)(NBUF >> shrink) * BUF_STRIDE : 0;
	b->seg[SEG_ZONE0].size = b->seg[SEG_ZONE1].size = zone;
	boot_options();
	counter_sizes(shrink);
	for (i = 0; i < NSEG; i++) {
		b->seg[i].off = off;
		off += b->seg[i].size;
	}
}

static void
map_segments(int fd)
{
	struct boot *b = &area.boot;
	void *old;
	unsigned i;

	for (i = 0; i < NSEG; i++) {
		old = i == SEG_CONTROL ? area.seg[i] : NULL;
		area.seg[i] = NULL;
		if (b->seg[i].size == 0)
			continue;
		area.seg[i] = mmap(old, b->seg[i].size, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_NORESERVE | (old != NULL ? MAP_FIXED : 0),
		    fd, (off_t)b->seg[i].off);
		if (area.seg[i] == MAP_FAILED)
			die("memory shared with the program:");
	}
}

static void
start_growing(unsigned which, const void *base, uint64_t size)
{
	struct grown *g = &area.grown[which];

	g->base = base;
	g->size = size;
	g->used = g->made = 0;
	g->step = GROW_FIRST / 2;
}

static void
start_growing_all(void)
{
	unsigned i;

	for (i = 0; i < 2; i++) {
		start_growing(GROW_ZONE0 + i, area.seg[SEG_ZONE0 + i],
		    area.boot.seg[SEG_ZONE0 + i].size);
		start_growing(GROW_FRAGS0 + i, area.frags[i],
		    area.maxfrag * sizeof *area.frags[i]);
	}
	start_growing(GROW_MAPS, area.maps, area.maxmap);
	start_growing(GROW_EXITS, area.exits,
	    area.maxexit * sizeof *area.exits);
	start_growing(GROW_CALLS, area.calls, area.calls == NULL ? 0 :
	    area.maxexit * sizeof *area.calls);
}

/*
 * One call for many pages costs less than a fault for each, and it saves the
 * guest its faults on neighbouring pages.
 */
void
area_grow(void)
{
	struct grown *g;
	uint64_t n;

	for (g = area.grown; g < area.grown + NGROW; g++) {
		/* what is used has its pages: it was taken from the store */
		if (g->used > g->made)
			g->made = g->used & ~(uint64_t)(PAGE - 1);
		if (g->used + g->step / 2 <= g->made || g->made == g->size)
			continue;
		g->step = g->step < GROW_STEP ? 2 * g->step : GROW_STEP;
		n = g->size - g->made < g->step ? g->size - g->made : g->step;
		xtouch_all((void *)(uintptr_t)(g->base + g->made), n);
		g->made += n;
	}
}

/*
 * The guest learns of our death by a word with our thread's number, like that
 * of a robust mutex: the kernel marks it when the thread ends.  We give the
 * kernel a list of our own, because libc's would go through the mutex.
 */
static void
mark_alive(uint32_t *word)
{
	static struct robust_list node;
	static struct robust_list_head list;

	node.next = &list.list;
	list.list.next = &node;
	list.futex_offset = (char *)word - (char *)&node;
	area.alive = (uint32_t)gettid();
	__atomic_store_n(word, area.alive, __ATOMIC_SEQ_CST);
	if (syscall(SYS_set_robust_list, &list, sizeof list) < 0)
		die("set_robust_list:");
}

static void
size_area(int fd, uint64_t size)
{
	if (memfile_size(fd, size) == 0)
		return;
	if (errno == EFBIG)
		die("the memory shared with the program is a file, %u MB long "
		    "though nearly empty: longer than the hard limit allows "
		    "(ulimit -Hf)", (unsigned)(size >> 20));
	die("memory shared with the program:");
}

/* Where the parts of the mapped segments are. */
static void
find_parts(void)
{
	const struct boot *b = &area.boot;

	area.ctl = (struct control *)(void *)area.seg[SEG_CONTROL];
	area.tab = (uint32_t *)(void *)area.seg[SEG_TABLE];
	area.tabowner = opt->contexts == 0 ? NULL :
	    area.tab + TAB_ROOM(area.maxfrag);
	area.ibl = (uint64_t *)(void *)area.seg[SEG_IBL];
	area.frags[0] = (struct fragmeta *)(void *)(area.seg[SEG_META] +
	    b->meta.frags[0]);
	area.frags[1] = (struct fragmeta *)(void *)(area.seg[SEG_META] +
	    b->meta.frags[1]);
	area.maps = area.seg[SEG_META] + b->meta.maps;
	area.exits = (struct exitkept *)(void *)(area.seg[SEG_META] +
	    b->meta.exits);
	area.calls = opt->contexts == 0 ? NULL : (struct exitcall *)(void *)
	    (area.seg[SEG_META] + b->meta.calls);
	area.bufs = area.seg[SEG_BUFFERS];
	area.arcs = (struct ctx_arc *)(void *)area.seg[SEG_ARCS];
	area.states = (struct ctx_state *)(void *)(area.seg[SEG_ARCS] +
	    ARCS_MOST * sizeof(struct ctx_arc));
	area.heads = (struct ctx_heads *)(void *)(area.states + STATES_MOST);
}

/* The control segment, as the runtime finds it. */
static void
begin_control(uint64_t skip)
{
	uint64_t i;

	if (opt->kind->learns)
		memcpy(&area.ctl->kept, &kept, sizeof kept);
	memset(area.ctl->freemask, 0, sizeof area.ctl->freemask);
	for (i = 0; i < area.boot.seg[SEG_BUFFERS].size / BUF_STRIDE; i++)
		area.ctl->freemask[i / 32] |= 1u << i % 32;
	area.ctl->skipping = skip != 0;
	area.ctl->interval = skip != 0 ? skip : opt->interval;
	area.ctl->remaining = area.remaining;
	area.ctl->windows = opt->windows;
	area.ctl->off = opt->off;
	area.ctl->nwindow = opt->every != 0 && opt->first == 0;
	area.ctl->nolink = (opt->debug & DEBUG_NOLINK) != 0;
	mark_alive(&area.ctl->alive);
}

void
area_open(int fd, uint64_t skip)
{
	struct boot *b = &area.boot;
	uint64_t end = b->seg[NSEG - 1].off + b->seg[NSEG - 1].size;

	area.fd = fd;
	size_area(fd, end + AREA_BLOB);
	/* without seals the program could cut it short under us: SIGBUS */
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW |
	    F_SEAL_SEAL) < 0)
		die("seals of the memory shared with the program:");
	map_segments(fd);
	find_parts();
	if (area.seg[SEG_COUNTERS] != NULL)
		madvise(area.seg[SEG_COUNTERS], b->seg[SEG_COUNTERS].size,
		    MADV_DONTDUMP);
	start_growing_all();
	area.nmap = area.nexit = 0;
	area.letgo = LETGO_NOT;
	area.gen = area.nrange = 0;
	area.nfrag[0] = area.nfrag[1] = 0;
	begin_control(skip);
}

void
area_letgo(enum letgo how)
{
	area.letgo = how;
	__atomic_store_n(&area.ctl->letgo, how, __ATOMIC_SEQ_CST);
}

static bool
was_refused(void)
{
	return stats.refused || stats.refused_exec;
}

bool
area_is_left(void)
{
	return area.letgo != LETGO_NOT ||
	    (was_refused() && ONCE(area.ctl->letgo) != LETGO_NOT);
}

bool
area_is_intact(void)
{
	const struct control *c = area.ctl;

	return ONCE(c->alive) == area.alive &&
	    (ONCE(c->letgo) == area.letgo || was_refused()) &&
	    ONCE(c->gen) == area.gen && ONCE(c->nrange) == area.nrange &&
	    ONCE(c->nexit) == area.nexit &&
	    ONCE(c->tabmask) == area.tabmask &&
	    ONCE(c->nfrag[0]) == area.nfrag[0] &&
	    ONCE(c->nfrag[1]) == area.nfrag[1] &&
	    ONCE(c->windows) == opt->windows;
}

unsigned
area_slots(void)
{
	uint32_t n = __atomic_load_n(&area.ctl->nslot, __ATOMIC_SEQ_CST);

	return n < NSLOT ? n : NSLOT;
}

uint64_t
area_missed(void)
{
	uint64_t n = 0;
	unsigned i;

	for (i = 0; i < area_slots(); i++)
		n += ONCE(area.ctl->slot[i].nmissed);
	return n;
}

_Atomic bool area_abandoned;

void
area_abandon(void)
{
	area_abandoned = true;
	__atomic_store_n(&area.ctl->alive, FUTEX_OWNER_DIED,
	    __ATOMIC_SEQ_CST);
}

void
area_close(void)
{
	unsigned i;

	if (opt->verbose)	/* else its pages are not looked at */
		stats.missed += area_missed();
	stats.windows += ONCE(area.ctl->nwindow);
	area_letgo(LETGO_NOW);
	if (opt->kind->learns)
		memcpy(&kept, &area.ctl->kept, sizeof kept);
	/* a vforked child may ask on behalf of the old image */
	__atomic_store_n(&area.ctl->alive, FUTEX_OWNER_DIED,
	    __ATOMIC_SEQ_CST);
	/* a handler or a thread may ring the bell of the control at any time */
	for (i = 0; i < NSEG; i++)
		if (i != SEG_CONTROL && area.seg[i] != NULL)
			munmap(area.seg[i], area.boot.seg[i].size);
	close(area.fd);
}
