/*
 * work - working sets: lines and pages touched, interval by interval
 *
 * A line is stamped with the number of the last interval that touched it. At
 * the end of an interval the front of the history is emptied, so that the next
 * use of each line comes by here.
 *
 * How long a run will be is not known, so intervals begin short, and when there
 * are MOST of them, each two become one. Two sets of lines cannot be united by
 * their sizes. So all coarser levels are counted as well: level k has intervals
 * of 2^k finest ones. A line last touched in interval p and now in interval c
 * is new to those levels at which p and c lie in different intervals: up to
 * the highest bit in which p and c, counted from 0, differ.
 */
#include "reuse.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "mem.h"

#define SHORTEST 16384		/* instructions */
#define MOST	1024
#define CROWD	(1U << 20)	/* intervals that the user chose */

void
work_init(struct work *w)
{
	w->length = opt.interval != 0 ? opt.interval : SHORTEST;
	w->number = 1;
	w->shift = 64 - 6;
	w->page = xcalloc((size_t)1 << 6, sizeof *w->page);
}

/* ---- pages ---- */

static struct lru_line *
place(const struct work *w, uint64_t page)
{
	size_t mask = ((size_t)1 << (64 - w->shift)) - 1;
	size_t i = (page + 1) * HASH_MULTIPLIER >> w->shift;

	while (w->page[i].key != 0 && w->page[i].key != page + 1)
		i = (i + 1) & mask;
	return &w->page[i];
}

static void
grow(struct work *w)
{
	struct lru_line *old = w->page;
	size_t n = (size_t)1 << (64 - w->shift);

	w->shift--;
	w->page = xcalloc(2 * n, sizeof *w->page);
	for (size_t i = 0; i < n; i++)
		if (old[i].key != 0)
			*place(w, old[i].key - 1) = old[i];
	free(old);
}

/* The highest level at which it is new to be touched, after this stamp. */
static unsigned
highest(uint32_t stamp, uint32_t now)
{
	return stamp == 0 ? LEVELS - 1 :
	    31 - (unsigned)__builtin_clz((stamp - 1) ^ (now - 1));
}

static void
touch_page(struct work *w, uint64_t page)
{
	struct lru_line *p = place(w, page);

	if (p->key == 0) {
		p->key = page + 1;
		if (++w->npage > ((size_t)1 << (64 - w->shift)) / 8 * 5) {
			grow(w);
			p = place(w, page);
		}
	}
	if (p->stamp == w->number)
		return;
	w->pages[highest(p->stamp, w->number)]++;
	p->stamp = w->number;
}

void
work_touch(struct history *h, struct lru_line *l, uint64_t line)
{
	struct work *w = &h->work;
	uint64_t first, last;

	if (l->stamp == w->number)
		return;
	w->lines[highest(l->stamp, w->number)]++;
	w->now.fresh += l->stamp == 0;
	l->stamp = w->number;
	first = line << opt.shift >> PAGE_SHIFT;
	last = ((line << opt.shift) + (((uint64_t)1 << opt.shift) - 1)) >>
	    PAGE_SHIFT;
	for (; first <= last; first++)
		touch_page(w, first);
}

/* ---- intervals ---- */

static void
add(struct work_level *l, size_t at, const struct work_row *r)
{
	l->row = xgrow0(l->row, &l->cap, at + 1, sizeof *l->row);
	if (at >= l->n)
		l->n = at + 1;
	l->row[at].insns += r->insns;
	l->row[at].refs += r->refs;
	l->row[at].lines += r->lines;
	l->row[at].pages += r->pages;
	l->row[at].fresh += r->fresh;
}

static void
halve_stamps(struct lru_line *l, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (l[i].stamp != 0)
			l[i].stamp = (l[i].stamp - 1) / 2 + 1;
}

/* Each two intervals become one. */
static void
halve(struct history *h)
{
	struct work *w = &h->work;

	free(w->level[0].row);
	memmove(w->level, w->level + 1, (LEVELS - 1) * sizeof *w->level);
	memset(&w->level[LEVELS - 1], 0, sizeof *w->level);
	w->length *= 2;
	w->number = (w->number - 1) / 2 + 1;
	halve_stamps(h->lru.line, lru_places(&h->lru));
	halve_stamps(w->page, (size_t)1 << (64 - w->shift));
}

void
work_end(struct history *h)
{
	struct work *w = &h->work;
	unsigned levels = opt.interval != 0 ? 1 : LEVELS;

	if (w->now.insns == 0)
		return;
	for (unsigned k = LEVELS; k-- > 0; ) {
		w->now.lines += w->lines[k];
		w->now.pages += w->pages[k];
		if (k < levels)
			add(&w->level[k], k < 32 ? (w->number - 1) >> k : 0,
			    &w->now);
	}
	memset(w->lines, 0, sizeof w->lines);
	memset(w->pages, 0, sizeof w->pages);
	memset(&w->now, 0, sizeof w->now);
	lru_flush(&h->lru);
	w->filled = 0;
	w->number++;
	if (opt.interval == 0 && w->number == MOST + 1)
		halve(h);
}

uint64_t
work_left(const struct work *w)
{
	return w->crowded ? UINT64_MAX / 2 : w->length - w->filled;
}

void
work_done(struct history *h, uint64_t insns, uint64_t refs)
{
	struct work *w = &h->work;

	w->now.insns += insns;
	w->now.refs += refs;
	w->filled += insns;
	if (w->filled < w->length)
		return;
	if (w->number == CROWD)
		w->crowded = true;
	else
		work_end(h);
}

const struct work_level *
work_level(const struct work *w, size_t most, uint64_t *length)
{
	unsigned k = 0;

	if (opt.interval == 0)
		while (k + 1 < LEVELS && w->level[k].n > most)
			k++;
	*length = w->length << k;
	return &w->level[k];
}
