/*
 * blocks - memory that is allocated, by address
 *
 * A block is found by its page: each page lists the blocks on it, by address.
 * Blocks of more than LARGE bytes have a list of their own. Where a block lies
 * within another one, an arena for instance, the inner one counts.
 *
 * Mappings never overlap: a new one takes the pages that it covers from those
 * that were there, as munmap() does, for instance
 *
 *	mmap		[1000               5000)
 *	MAP_FIXED	[1000 2000)[2000 3000)[3000 5000)
 *
 * where the first and the last are parts of one mapping, which is freed with
 * the last of them.
 *
 * The lines of threads come in large pieces, so memory that one thread freed
 * may be given to another before the free is told: the allocation then replaces
 * the block, and the free, whose number is lower, comes late and is left out.
 * If the memory's first allocation is told late as well, it is only counted.
 */

#include <stdlib.h>
#include <string.h>

#include "dataprof.h"
#include "hash.h"
#include "khash.h"
#include "mem.h"

#define LARGE	(64 * PAGE)
#define BACK	64		/* blocks within one another, at most */
#define REACH	4096		/* pages whose blocks a new one replaces */
#define WORD	8		/* the C library's, before a block */

struct block {
	uint64_t start, end;
	uint64_t number;	/* of its event */
	uint64_t time;
	uint32_t site;
	uint32_t before, behind;	/* in the ring of a mapping's parts */
	bool holds;		/* a large one that holds others */
	bool empty;		/* no byte was asked for; it takes one here */
};

/* Blocks by address. */
struct list {
	uint32_t *v;
	size_t n, cap;
};

KHASH_INIT(page, uint64_t, struct list, 1, hash_address, kh_int64_hash_equal)
KHASH_INIT(start, uint64_t, uint32_t, 1, hash_address, kh_int64_hash_equal)

static struct block *block;
static size_t nblock, capblock;
static struct list unused, large;
static uint64_t largest;		/* bytes that one of `large' has had */
static struct list mapped;		/* mappings, which do not overlap */
static khash_t(page) *pages;
static khash_t(start) *starts;		/* of blocks */

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

/* Where pages are in the table, until one comes into it. */
static struct recent {
	uint64_t page;		/* + 1; 0: none */
	khint_t k;
} recent[256];

static struct list *
find_page(uint64_t page)
{
	struct recent *r = &recent[page % (sizeof recent / sizeof *recent)];

	if (r->page != page + 1)
		*r = (struct recent){ page + 1, kh_get(page, pages, page) };
	return r->k == kh_end(pages) ? NULL : &kh_val(pages, r->k);
}

static struct list *
page_list(uint64_t page, bool make)
{
	struct list *l;
	khint_t k;
	int new;

	if (pages == NULL) {
		pages = kh_init(page);
		starts = kh_init(start);
	}
	l = find_page(page);
	if (l != NULL || !make)
		return l;
	k = kh_put(page, pages, page, &new);
	kh_val(pages, k) = (struct list){ NULL, 0, 0 };
	memset(recent, 0, sizeof recent);
	return &kh_val(pages, k);
}

/* ---- blocks ---- */

static void
each_list(uint32_t b, void (*what)(struct list *, uint32_t))
{
	uint64_t page, last = (block[b].end - 1) / PAGE;
	uint64_t size = block[b].end - block[b].start;

	if (size > LARGE) {
		if (size > largest)
			largest = size;
		what(&large, b);
		return;
	}
	for (page = block[b].start / PAGE; page <= last; page++)
		what(page_list(page, true), b);
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

/* Into all that finds it. */
static void
put_in(uint32_t b)
{
	khint_t k;
	int new;

	epoch_change_pages(block[b].start, block[b].end);
	mark_holder(block[b].start);
	k = kh_put(start, starts, block[b].start, &new);
	kh_val(starts, k) = b;
	each_list(b, list_put);
	if (site_get(block[b].site)->maps)
		list_put(&mapped, b);
}

static void
take_out(uint32_t b)
{
	khint_t k = kh_get(start, starts, block[b].start);

	epoch_change_pages(block[b].start, block[b].end);
	each_list(b, list_take);
	if (site_get(block[b].site)->maps)
		list_take(&mapped, b);
	if (k != kh_end(starts) && kh_val(starts, k) == b)
		kh_del(start, starts, k);
}

/* A block without an address yet, alone in its ring. */
static uint32_t
new_block(void)
{
	uint32_t b;

	if (unused.n > 0) {
		b = unused.v[--unused.n];
	} else {
		block = xgrow(block, &capblock, nblock + 1, sizeof *block);
		b = (uint32_t)nblock++;
	}
	block[b] = (struct block){ .before = b, .behind = b };
	return b;
}

static void
remove_block(uint32_t b)
{
	struct block *p = &block[b];

	take_out(b);
	site_shrinks(p->site, p->empty ? 0 : p->end - p->start);
	if (p->behind == b)
		site_frees(p->site, dp.time - p->time);
	block[p->before].behind = p->behind;
	block[p->behind].before = p->before;
	unused.v = xgrow(unused.v, &unused.cap, unused.n + 1,
	    sizeof *unused.v);
	unused.v[unused.n++] = b;
}

/* Another part of what b is a part of. */
static void
add_part(uint32_t b, uint64_t start, uint64_t end)
{
	uint32_t part = new_block(), next = block[b].behind;

	block[part] = block[b];
	block[part].start = start;
	block[part].end = end;
	block[part].before = b;
	block[b].behind = block[next].before = part;
	put_in(part);
}

/* Bytes [start, end) of a block are free; what is left stays. */
static void
cut_block(uint32_t b, uint64_t start, uint64_t end)
{
	struct block was = block[b];
	bool head = start > was.start, tail = end < was.end;	/* stay */

	if (!head && !tail) {
		remove_block(b);
		return;
	}
	take_out(b);
	site_shrinks(was.site, (tail ? end : was.end) -
	    (head ? start : was.start));
	if (head)
		block[b].end = start;
	else
		block[b].start = end;
	put_in(b);
	if (head && tail)
		add_part(b, end, was.end);
}

uint64_t
block_pages_end(uint64_t start, uint64_t size)
{
	uint64_t end;

	if (__builtin_add_overflow(start, size, &end) ||
	    end > UINT64_MAX - PAGE)
		return UINT64_MAX;
	return page_start(end + PAGE - 1);
}

/*
 * Event `number' takes these bytes from the mappings. true: one has a higher
 * number, and keeps them.
 */
static bool
unmap(uint64_t start, uint64_t end, uint64_t number)
{
	size_t i = behind(&mapped, end - 1);
	bool late = false;
	uint32_t b;

	while (i > 0) {
		b = mapped.v[--i];
		if (block[b].end <= start)
			break;
		if (block[b].number > number)
			late = true;
		else
			cut_block(b, start, end);
	}
	return late;
}

/*
 * Remove what overlaps; what the new one lies within stays. true: one has a
 * higher number, so the new one was freed before that.
 */
static bool
replace(struct list *l, uint64_t start, uint64_t end, uint64_t number)
{
	uint64_t reach = l == &large ? largest : LARGE;
	const struct block *b;
	bool late = false;
	size_t i;

	for (i = l == NULL ? 0 : behind(l, end - 1); i-- > 0; ) {
		b = &block[l->v[i]];
		if (b->start < start && start - b->start >= reach)
			break;
		if (b->end <= start || (b->start <= start && b->end >= end &&
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

void
block_add(uint64_t start, uint64_t size, uint64_t number, uint32_t site)
{
	uint64_t page, end, pagesend, asked = size;
	uint32_t b;
	bool late;

	if (size == 0)
		size = 1;
	if (__builtin_add_overflow(start, size, &end))
		return;
	pagesend = (end - 1) / PAGE;
	site_allocates(site, asked);
	late = site_get(site)->maps &&
	    unmap(start, block_pages_end(start, size), number);
	late |= replace(&large, start, end, number);
	for (page = start / PAGE; page <= pagesend && page < start / PAGE +
	    REACH; page++)
		late |= replace(page_list(page, false), start, end, number);
	if (late)
		return;
	b = new_block();
	block[b].start = start;
	block[b].end = end;
	block[b].number = number;
	block[b].time = dp.time;
	block[b].site = site;
	block[b].empty = asked == 0;
	put_in(b);
	site_grows(site, asked);
}

void
block_free(uint64_t start, uint64_t size, uint64_t number)
{
	uint64_t end = size == 0 ? UINT64_MAX : block_pages_end(start, size);
	khint_t k;

	page_list(0, false);
	if (size != 0)
		unmap(start, end, number);
	k = kh_get(start, starts, start);
	if (k == kh_end(starts))
		return;
	if (block[kh_val(starts, k)].number <= number)	/* else it comes late */
		cut_block(kh_val(starts, k), start, end);
}

void
block_exec(void)
{
	khint_t k;

	page_list(0, false);
	for (k = kh_begin(pages); k != kh_end(pages); k++)
		if (kh_exist(pages, k))
			kh_val(pages, k).n = 0;
	kh_clear(start, starts);
	large.n = mapped.n = unused.n = nblock = 0;
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
block_find(uint64_t addr, bool small, struct data_place *p)
{
	uint64_t page = addr / PAGE;
	const struct list *l = small ? page_list(page, false) : &large;
	const struct block *b;
	size_t i = 0;

	b = block_in(l, addr, &i);
	if (b == NULL)
		return false;
	p->object = site_get(b->site)->object;
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

bool
block_header(uint64_t addr, uint32_t *object)
{
	uint64_t start = (addr & ~(uint64_t)(WORD - 1)) + WORD;
	khint_t k;

	page_list(0, false);
	k = kh_get(start, starts, start);
	return k != kh_end(starts) &&
	    site_header(block[kh_val(starts, k)].site, object);
}

bool
block_page(uint64_t addr)
{
	return page_list(addr / PAGE, false) != NULL;
}
