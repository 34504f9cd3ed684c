/*
 * lru - the order in which lines were last used
 *
 * The lines used last are in the front, a list in their order: most uses are
 * of one of them, and a few comparisons find it. A line that drops out of the
 * front gets a time, which counts these events, and its bit is set; when it is
 * used again the bit is cleared. Lines drop out in the order of their last
 * uses, so the lines used since the last use of a line behind the front are
 * those in the front, and those with a bit at a later time.
 *
 *	uses a b c d b, a front of two		front	bits by time
 *						b d	1 (a) 0 (b) 1 (c)
 *	b was behind c and d: distance 2
 *	next a: behind b, d, c: distance 3	a b	0 0 1 (c) 1 (d)
 *
 * Bits at later times are counted by a Fenwick tree over chunks of bits. When
 * the times run out, the bits are moved together: there are never more than
 * two to four times as many times as lines, however long the run is.
 */
#include "lru.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "hash.h"
#include "mem.h"
#include "prog.h"

#define HUGE	((size_t)2 << 20)

#define CHUNK	512		/* bits */
#define WORDS	(CHUNK / 64)

/* ---- lines by number ---- */

/*
 * Four neighbours share a line of our own memory. Large tables are best in
 * large pages, for each look-up is at another place.
 */
static struct lru_line *
new_places(size_t n)
{
	size_t bytes = n * sizeof(struct lru_line);
	void *p;

	if (bytes < HUGE)
		return xcalloc(n, sizeof(struct lru_line));
	if (posix_memalign(&p, HUGE, bytes) != 0)
		die("memory:");
	madvise(p, bytes, MADV_HUGEPAGE);
	memset(p, 0, bytes);
	return p;
}

size_t
lru_places(const struct lru *s)
{
	return (size_t)1 << (64 - s->shift);
}

/* The line's entry, or the free place where it belongs. */
static inline struct lru_line *
place(const struct lru *s, uint64_t line)
{
	size_t mask = lru_places(s) - 1;
	size_t i = ((line >> 2) * HASH_MULTIPLIER >> s->shift &
	    ~(size_t)3) | (line & 3);

	while (s->line[i].key != 0 && s->line[i].key != line + 1)
		i = (i + 1) & mask;
	return &s->line[i];
}

static void
grow(struct lru *s)
{
	struct lru_line *old = s->line;
	size_t n = lru_places(s);

	s->shift--;
	s->line = new_places(lru_places(s));
	for (size_t i = 0; i < n; i++)
		if (old[i].key != 0)
			*place(s, old[i].key - 1) = old[i];
	free(old);
}

/* ---- times ---- */

/* Add 1, or -1, to a time's chunk. */
static inline void
add(struct lru *s, uint32_t time, uint32_t by)
{
	uint32_t n = s->ntime / CHUNK;

	for (uint32_t i = time / CHUNK + 1; i <= n; i += i & -i)
		s->sum[i] += by;
}

/* How many bits are set before this time? */
static inline uint32_t
before(const struct lru *s, uint32_t time)
{
	const uint64_t *w = s->bit + time / CHUNK * WORDS;
	uint32_t n = 0;

	for (uint32_t i = time / CHUNK; i > 0; i &= i - 1)
		n += s->sum[i];
	for (; w < s->bit + time / 64; w++)
		n += (uint32_t)__builtin_popcountll(*w);
	return n + (uint32_t)__builtin_popcountll(*w &
	    (((uint64_t)1 << time % 64) - 1));
}

/* Set the first n bits, and sum them up. */
static void
set_first(struct lru *s, uint32_t n)
{
	uint32_t chunks = s->ntime / CHUNK;

	memset(s->bit, 0, s->ntime / 8);
	memset(s->bit, 0xff, n / 8);
	for (uint32_t k = n / 8 * 8; k < n; k++)
		s->bit[k / 64] |= (uint64_t)1 << k % 64;
	memset(s->sum, 0, (chunks + (size_t)1) * sizeof *s->sum);
	for (uint32_t i = 1; i <= chunks; i++) {
		uint32_t from = (i - 1) * CHUNK;

		s->sum[i] += n <= from ? 0 : n - from < CHUNK ? n - from :
		    CHUNK;
		if (i + (i & -i) <= chunks)
			s->sum[i + (i & -i)] += s->sum[i];
	}
}

static void
new_times(struct lru *s, uint32_t n)
{
	free(s->bit);
	free(s->sum);
	s->ntime = n;
	s->bit = xmalloc(n / 8);
	s->sum = xmalloc((n / CHUNK + (size_t)1) * sizeof *s->sum);
}

/*
 * Move the bits together. The times of the lines become their ranks, from 1
 * on: bit 0 stands for the time of lines in the front.
 */
static void
compact(struct lru *s)
{
	uint32_t n = s->nbehind + 1, times = s->ntime;

	for (size_t i = 0; i < lru_places(s); i++)
		if (s->line[i].key != 0 && s->line[i].time != 0)
			s->line[i].time = before(s, s->line[i].time) + 1;
	while (times / 2 < n)
		times *= 2;
	if (times != s->ntime)
		new_times(s, times);
	set_first(s, n);
	s->bit[0] &= ~(uint64_t)1;
	add(s, 0, -1U);
	s->now = n;
}

/* A line drops out of the front. */
static inline void
drop(struct lru *s, uint64_t line)
{
	uint32_t t;

	if (s->now == s->ntime)
		compact(s);
	t = s->now++;
	s->bit[t / 64] |= (uint64_t)1 << t % 64;
	add(s, t, 1);
	s->nbehind++;
	place(s, line)->time = t;
}

/* A line is taken into the front; returns how many are before it. */
static inline uint32_t
take(struct lru *s, struct lru_line *l)
{
	uint32_t t = l->time;
	uint32_t later = s->nbehind - 1 - before(s, t);

	s->bit[t / 64] &= ~((uint64_t)1 << t % 64);
	add(s, t, -1U);
	s->nbehind--;
	l->time = 0;
	return later;
}

/* ---- */

/* Let the line be the first of the front; returns what drops out, if any. */
static inline uint64_t
push(struct lru *s, uint64_t line)
{
	uint64_t last = s->front[LRU_FRONT - 1];

	memmove(s->front + 1, s->front, (LRU_FRONT - 1) * sizeof line);
	s->front[0] = line;
	return last;
}

/* A line that is not in the front. */
__attribute__((noinline))
static uint64_t
behind(struct lru *s, uint64_t line, struct lru_line **found)
{
	uint64_t distance = LRU_NONE, last;
	struct lru_line *l = place(s, line);

	if (l->key != 0) {
		distance = (uint64_t)s->nfront + take(s, l);
	} else {
		if (s->nline == LRU_MOST) {
			s->full = true;
			*found = NULL;
			return LRU_NONE;
		}
		if (++s->nline > lru_places(s) / 8 * 5) {
			grow(s);
			l = place(s, line);
		}
		l->key = line + 1;
	}
	last = push(s, line);
	if (last == LRU_NONE)
		s->nfront++;
	else
		drop(s, last);
	*found = l;
	return distance;
}

uint64_t
lru_search(struct lru *s, uint64_t line, struct lru_line **found)
{
	uint64_t moved = s->front[0];

	for (unsigned i = 1; i < LRU_FRONT; i++)
		if (s->front[i] == line) {
			memmove(s->front + 1, s->front, i * sizeof moved);
			s->front[0] = line;
			*found = NULL;
			return i;
		}
	return behind(s, line, found);
}

void
lru_flush(struct lru *s)
{
	for (unsigned i = LRU_FRONT; i-- > 0; )
		if (s->front[i] != LRU_NONE)
			drop(s, s->front[i]);
	memset(s->front, 0xff, sizeof s->front);
	s->nfront = 0;
}

void
lru_init(struct lru *s)
{
	memset(s, 0, sizeof *s);
	memset(s->front, 0xff, sizeof s->front);
	s->shift = 64 - 8;
	s->line = new_places(lru_places(s));
	new_times(s, 4096);
	set_first(s, 0);
	s->now = 1;
}
