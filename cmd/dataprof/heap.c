/*
 * heap - memory that is allocated, and where it was
 *
 * A block is found by its page: each page lists the blocks on it, by address.
 * Blocks of more than LARGE bytes have a list of their own. Where a block lies
 * within another one, an arena for instance, the inner one counts.
 *
 * The lines of threads come in large pieces, so memory that one thread freed
 * may be given to another before the free is told: the allocation then replaces
 * the block, and the free, whose number is lower, comes late and is left out.
 * If the memory's first allocation is told late as well, it is only counted.
 */
#include <htslib/khash.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dataprof.h"
#include "func.h"
#include "util.h"

#define LARGE	(64 * PAGE)
#define BACK	64		/* blocks within one another, at most */
#define REACH	4096		/* pages whose blocks a new one replaces */

struct block {
	uint64_t start, end;
	uint64_t number;	/* of its event */
	uint64_t time;
	uint32_t site;
	bool holds;		/* a large one that holds others */
};

/* Blocks by address. */
struct list {
	uint32_t *v;
	size_t n, cap;
};

struct open {
	bool is_open;
	uint64_t old, oldnumber, size;
	uint32_t site;
};

/* What the call of a function in a state, from a caller, makes. */
struct call_site {
	uint64_t function, caller, forgotten;
	uint32_t state, site;
};

KHASH_MAP_INIT_INT64(page, struct list)
KHASH_MAP_INIT_INT64(start, uint32_t)

static struct block *block;
static size_t nblock, capblock;
static struct list unused, large;
static khash_t(page) *pages;
static khash_t(start) *starts;		/* of blocks */
static struct heap_site *site;
static size_t nsite, capsite;
/* glibc's malloc keeps a word before each block of a site, the size. */
struct heap_header {
	bool has;
	uint32_t object;	/* of these words: 1 + its number, or 0 */
};
#define WORD	8
static struct heap_header *headers;	/* by site */
static size_t capheaders;
static uint32_t *site_of;		/* by object: 1 + its site */
static size_t capsite_of;
static struct open *opens;		/* by thread */
static size_t nopen;
static uint64_t live, peak, left;	/* bytes, as those of a site */

/* ---- lists ---- */

/* Where in the list a block at this address belongs: behind its equals. */
static size_t
behind(const struct list *l, uint64_t start)
{
	size_t lo = 0, hi = l->n, mid;

	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (block[l->v[mid]].start <= start)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void
list_put(struct list *l, uint32_t b)
{
	size_t i = behind(l, block[b].start);

	l->v = xgrow(l->v, &l->cap, l->n + 1, sizeof *l->v);
	memmove(l->v + i + 1, l->v + i, (l->n - i) * sizeof *l->v);
	l->v[i] = b;
	l->n++;
}

static void
list_take(struct list *l, uint32_t b)
{
	size_t i = behind(l, block[b].start);

	while (i > 0 && l->v[i - 1] != b)
		i--;
	if (i == 0)
		return;
	memmove(l->v + i - 1, l->v + i, (l->n - i) * sizeof *l->v);
	l->n--;
}

static struct list *
page_list(uint64_t page, bool make)
{
	khint_t k;
	int new;

	if (pages == NULL) {
		pages = kh_init(page);
		starts = kh_init(start);
	}
	if (!make) {
		k = kh_get(page, pages, page);
		return k == kh_end(pages) ? NULL : &kh_val(pages, k);
	}
	k = kh_put(page, pages, page, &new);
	if (new < 0)
		die("pages:");
	if (new != 0)
		kh_val(pages, k) = (struct list){ NULL, 0, 0 };
	return &kh_val(pages, k);
}

/* ---- blocks ---- */

static void
each_list(uint32_t b, void (*what)(struct list *, uint32_t))
{
	uint64_t page, last = (block[b].end - 1) / PAGE;

	if (block[b].end - block[b].start > LARGE) {
		what(&large, b);
		return;
	}
	for (page = block[b].start / PAGE; page <= last; page++)
		what(page_list(page, true), b);
}

static void
grew(struct heap_site *s, uint64_t n)
{
	s->live += n;
	if (s->live > s->peak)
		s->peak = s->live;
	live += n;
	if (live > peak)
		peak = live;
}

static void
remove_block(uint32_t b)
{
	struct heap_site *s = &site[block[b].site];
	uint64_t n = block[b].end - block[b].start;
	khint_t k = kh_get(start, starts, block[b].start);

	epoch_change_pages(block[b].start, block[b].end);
	each_list(b, list_take);
	if (k != kh_end(starts) && kh_val(starts, k) == b)
		kh_del(start, starts, k);
	s->live -= n;
	live -= n;
	s->nfreed++;
	s->life += dp.time - block[b].time;
	unused.v = xgrow(unused.v, &unused.cap, unused.n + 1,
	    sizeof *unused.v);
	unused.v[unused.n++] = b;
}

/*
 * Remove what overlaps; what the new one lies within stays. true: one has a
 * higher number, so the new one was freed before that.
 */
static bool
replace(struct list *l, uint64_t start, uint64_t end, uint64_t number)
{
	const struct block *b;
	bool late = false;
	size_t i;

	for (i = l == NULL ? 0 : l->n; i-- > 0; ) {
		b = &block[l->v[i]];
		if (b->start >= end || b->end <= start ||
		    (b->start <= start && b->end >= end &&
		    b->end - b->start > end - start))
			continue;
		if (b->number > number) {
			late = true;
			continue;
		}
		remove_block(l->v[i]);
		if (i > l->n)
			i = l->n;
	}
	return late;
}

/* The large block, if any, in which a new one lies. */
static void
mark_holder(uint64_t start)
{
	size_t i = behind(&large, start), n;

	for (n = 0; i > 0 && n < BACK; n++)
		if (block[large.v[--i]].end > start)
			block[large.v[i]].holds = true;
}

static void
add_block(uint64_t start, uint64_t size, uint64_t number, uint32_t where)
{
	uint64_t page, end, pagesend;
	uint32_t b;
	khint_t k;
	bool late;
	int new;

	if (size == 0)
		size = 1;
	if (__builtin_add_overflow(start, size, &end))
		return;
	pagesend = (end - 1) / PAGE;
	site[where].number++;
	site[where].bytes += size;
	late = replace(&large, start, end, number);
	for (page = start / PAGE; page <= pagesend && page < start / PAGE +
	    REACH; page++)
		late |= replace(page_list(page, false), start, end, number);
	if (late)
		return;
	if (unused.n > 0) {
		b = unused.v[--unused.n];
	} else {
		block = xgrow(block, &capblock, nblock + 1, sizeof *block);
		b = (uint32_t)nblock++;
	}
	block[b] = (struct block){ start, end, number, dp.time, where, false };
	epoch_change_pages(start, end);
	mark_holder(start);
	k = kh_put(start, starts, start, &new);
	if (new < 0)
		die("allocations:");
	kh_val(starts, k) = b;
	each_list(b, list_put);
	grew(&site[where], size);
}

/* Of the block at start: bytes [start, start + size) are free; 0: all. */
static void
free_block(uint64_t start, uint64_t size, uint64_t number)
{
	struct block old;
	uint32_t b;
	khint_t k;

	page_list(0, false);
	k = kh_get(start, starts, start);
	if (k == kh_end(starts))
		return;
	b = kh_val(starts, k);
	if (block[b].number > number)		/* it comes late */
		return;
	old = block[b];
	remove_block(b);
	size = (size + PAGE - 1) & -(uint64_t)PAGE;
	if (size == 0 || size >= old.end - old.start)
		return;
	site[old.site].number--;	/* what is left is none of its own */
	site[old.site].nfreed--;
	site[old.site].bytes -= old.end - old.start - size;
	add_block(old.start + size, old.end - old.start - size, number,
	    old.site);
}

void
heap_exec(void)
{
	khint_t k;
	size_t i;

	page_list(0, false);
	for (k = kh_begin(pages); k != kh_end(pages); k++)
		if (kh_exist(pages, k))
			kh_val(pages, k).n = 0;
	kh_clear(start, starts);
	large.n = unused.n = nblock = 0;
	for (i = 0; i < nsite; i++) {
		site[i].left += site[i].live;
		site[i].live = 0;
	}
	left += live;
	live = 0;
	for (i = 0; i < nopen; i++)
		opens[i].is_open = false;
}

static const struct block *
block_in(const struct list *l, uint64_t addr, size_t *at)
{
	size_t i = l == NULL ? 0 : behind(l, addr), n;

	for (n = 0; i > 0 && n < BACK; n++)
		if (block[l->v[--i]].end > addr) {
			*at = i;
			return &block[l->v[i]];
		}
	return NULL;
}

bool
heap_find(uint64_t addr, bool small, struct data_place *p)
{
	uint64_t page = addr / PAGE;
	const struct list *l = small ? page_list(page, false) : &large;
	const struct block *b;
	size_t i = 0;

	b = block_in(l, addr, &i);
	if (b == NULL)
		return false;
	p->object = site[b->site].object;
	p->lo = p->hi = 0;
	p->pages = b->start % PAGE == 0 && b->end - b->start >= PAGE;
	/* unless another one lies within it */
	if (!small && !b->holds) {
		p->lo = b->start;
		p->hi = b->end;
	} else if (small && (i + 1 == l->n ||
	    block[l->v[i + 1]].start >= b->end)) {
		p->lo = b->start > page * PAGE ? b->start : page * PAGE;
		p->hi = b->end < (page + 1) * PAGE ? b->end :
		    (page + 1) * PAGE;
	}
	return true;
}

/* Does another C library than glibc, or an allocator of its own, allocate? */
static bool
is_glibc(const struct func *f)
{
	const char *path = f->ob == 0 ? "" : func_object(f->ob);
	const char *name = strrchr(path, '/') == NULL ? path :
	    strrchr(path, '/') + 1;

	return strcmp(name, "libc.so.6") == 0;
}

static bool
is_malloc(const struct func *f)
{
	static const char *const names[] = { "malloc", "calloc", "realloc",
		"aligned_alloc", "posix_memalign", "memalign", "valloc" };

	for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(f->name, names[i]) == 0)
			return true;
	return false;
}

bool
heap_header(uint64_t addr, uint32_t *object)
{
	uint64_t start = (addr & ~(uint64_t)(WORD - 1)) + WORD;
	struct heap_header *h;
	char name[4100];
	uint32_t s;
	khint_t k;

	page_list(0, false);
	k = kh_get(start, starts, start);
	if (k == kh_end(starts))
		return false;
	s = block[kh_val(starts, k)].site;
	headers = xgrow0(headers, &capheaders, s + (size_t)1, sizeof *h);
	h = &headers[s];
	if (!h->has)
		return false;
	if (h->object == 0) {
		snprintf(name, sizeof name, "header of %s",
		    object_at(site[s].object)->name);
		h->object = 1 + object_get(DATA_HEAP, "", name);
	}
	*object = h->object - 1;
	return true;
}

bool
heap_page(uint64_t addr)
{
	return page_list(addr / PAGE, false) != NULL;
}

/* ---- sites ---- */

static uint32_t
site_at(uint32_t object)
{
	site_of = xgrow0(site_of, &capsite_of, object + (size_t)1,
	    sizeof *site_of);
	if (site_of[object] == 0) {
		site = xgrow(site, &capsite, nsite + 1, sizeof *site);
		memset(&site[nsite], 0, sizeof *site);
		site[nsite].object = object;
		site_of[object] = (uint32_t)++nsite;
	}
	return site_of[object] - 1;
}

size_t
heap_count(void)
{
	return nsite;
}

const struct heap_site *
heap_get(size_t i)
{
	return &site[i];
}

uint64_t
heap_unfreed(void)
{
	return live + left;
}

uint64_t
heap_peak(void)
{
	return peak;
}

/* ---- calls ---- */

static struct open *
open_of(unsigned thread)
{
	opens = xgrow0(opens, &nopen, thread + (size_t)1, sizeof *opens);
	return &opens[thread];
}

bool
heap_open(unsigned thread)
{
	return thread < nopen && opens[thread].is_open;
}

static uint32_t
site_of_chain(unsigned thread, uint64_t function, uint64_t caller,
    uint32_t state)
{
	struct func_place at;
	char name[4000];
	uint32_t s;

	stack_chain(thread, function, caller, state, name, sizeof name);
	s = site_at(object_get(DATA_HEAP, "", name));
	func_place(function, &at);
	headers = xgrow0(headers, &capheaders, s + (size_t)1, sizeof *headers);
	headers[s].has = is_glibc(at.fn) && is_malloc(at.fn);
	return s;
}

/* Where calls are not followed, the state has the callers. */
static uint32_t
site_of_call(unsigned thread, uint64_t function, uint64_t caller,
    uint32_t state)
{
	static struct call_site sites[1024];
	uint64_t key = (function ^ caller << 8 ^ (uint64_t)state << 32) *
	    0x9e3779b97f4a7c15ull;
	struct call_site *s = &sites[key >> 54];

	if (dp.walks)
		return site_of_chain(thread, function, caller, state);
	if (s->function != function || s->caller != caller ||
	    s->state != state || s->forgotten != epoch.code)
		*s = (struct call_site){ function, caller, epoch.code, state,
		    site_of_chain(thread, function, caller, state) };
	return s->site;
}

static void
begin(const struct ev *e, unsigned thread)
{
	bool again = *e->text == '*';
	unsigned i = again ? 2 : 1;
	struct open *o = open_of(thread);
	uint32_t state = e->nnum > i + 3 ? (uint32_t)e->num[i + 3] : 0;

	o->is_open = true;
	o->old = again ? e->num[1] : 0;
	o->oldnumber = e->num[0];
	o->size = e->num[i + 1];
	o->site = site_of_call(thread, e->num[i], e->num[i + 2], state);
}

static void
end(const struct ev *e, unsigned thread, struct heap_made *m)
{
	struct open *o = open_of(thread);
	uint64_t at = e->num[1];

	if (!o->is_open)
		return;
	if (at != 0 && o->old != 0)
		free_block(o->old, 0, o->oldnumber);
	if (at != 0)
		add_block(at, o->size, e->num[0], o->site);
	o->is_open = false;
	*m = (struct heap_made){ at, o->size, site[o->site].object };
}

bool
heap_line(const struct ev *e, unsigned thread, struct heap_made *m)
{
	*m = (struct heap_made){ 0, 0, 0 };
	switch (*e->text) {
	case '+':
	case '*':
		begin(e, thread);
		return true;
	case '=':
		end(e, thread, m);
		return true;
	case '-':
		free_block(e->num[1], e->nnum > 2 ? e->num[2] : 0, e->num[0]);
		if (e->nnum > 2)
			images_unmapped(e->num[1], e->num[1] + e->num[2],
			    e->num[0]);
		break;
	case '@':
		images_thread(thread, e->num[1], e->num[0]);
		break;
	}
	return false;
}
