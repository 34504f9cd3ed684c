/*
 * model - caches that write back, prefetch, or note how their lines are used
 *
 * These are Callgrind's models beside that of Cachegrind:
 *
 *  - --simulate-wb: I1 and D1 write through, LL writes back. A write makes its
 *    lines dirty in LL, also if D1 has them. A miss that replaces a dirty line
 *    writes that back.
 *  - --simulate-hwpref: in each of 8 streams of pages the last line that
 *    missed is kept, and whether those before were its neighbours, upwards or
 *    downwards. From the third on, the line 5 further on is loaded into LL.
 *    With write-back each write is taken for a miss.
 *  - --cacheuse: a line counts the accesses to it, and notes which 32nds of it
 *    they touched. When it leaves I1 or D1, LL's line adds both to its own.
 *    Access cost is 1000 / accesses, spatial loss the bytes never touched.
 *
 * Each set is an array, the line that was used last in front. A way keeps its
 * number while it moves there: `at' names the line's place in model_use[].
 */
#include "variant.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"

struct variants variants;
struct model model[NCACHE];
struct line_use *model_use;
static const struct model_use *tell;

void
model_init(const struct geometry g[NCACHE], const struct model_use *u)
{
	uint32_t n = 0;

	tell = u;
	for (int c = 0; c < NCACHE; c++) {
		struct model *m = &model[c];
		uint64_t ways = g[c].size / g[c].line;

		m->assoc = g[c].assoc;
		m->mask = ways / m->assoc - 1;
		m->shift = (unsigned)__builtin_ctzll(g[c].line);
		m->first = n;
		m->way = xcalloc(ways, sizeof *m->way);
		n += (uint32_t)ways;
	}
	if (variants.cacheuse)
		model_use = xcalloc(n, sizeof *model_use);
	variant_clear();
}

/* ---- prefetching ---- */

static struct stream {
	uint64_t last;		/* the line that missed last */
	int run;		/* neighbours so far; < 0: downwards */
} streams[8];

static uint64_t
ways_of(const struct model *m)
{
	return (m->mask + 1) * m->assoc;
}

void
variant_clear(void)
{
	memset(streams, 0, sizeof streams);
	for (int c = 0; c < NCACHE && model[c].way != NULL; c++)
		for (uint64_t i = 0; i < ways_of(&model[c]); i++) {
			uint32_t at = model[c].first + (uint32_t)i;

			model[c].way[i] = (struct way){ .at = at };
			if (model_use != NULL)
				model_use[at] = (struct line_use){ 0 };
		}
}

/* ---- sets ---- */

/*
 * Look a line up, and put it in front. false: it was missed; if `old' is not
 * NULL, that is what was replaced.
 */
static inline bool
find(struct model *m, uint64_t line, struct way *old)
{
	struct way *w = m->way + (line & m->mask) * m->assoc;
	struct way *end = w + m->assoc, moved = *w, next;
	uint64_t tag = line + 1;

	if (w->tag == tag)
		return true;
	/* each line before it moves on by one */
	for (struct way *v = w + 1; v < end; v++) {
		next = *v;
		*v = moved;
		moved = next;
		if (moved.tag == tag) {
			*w = moved;
			return true;
		}
	}
	if (old != NULL)
		*old = moved;
	*w = (struct way){ tag, moved.at, false };
	return false;
}

static struct way *
front(const struct model *m, uint64_t line)
{
	return m->way + (line & m->mask) * m->assoc;
}

static void
prefetch(uint64_t addr)
{
	struct model *m = &model[LL];
	struct stream *s = &streams[addr >> 12 & 7];
	uint64_t line = addr >> m->shift, most = ~(uint64_t)0 >> m->shift;
	int by = line == s->last + 1 ? 1 : line + 1 == s->last ? -1 : 0;

	if (line == s->last)
		return;
	s->last = line;
	if (s->run != 0 && (by == 0 || (s->run > 0) != (by > 0)))
		by = s->run = 0;
	/* 2 stands for all more */
	if (s->run > -2 && s->run < 2)
		s->run += by;
	if (by != 0 && (s->run == 2 || s->run == -2))
		find(m, (line + (uint64_t)(int64_t)(5 * by)) & most, NULL);
}

/* ---- two levels ---- */

static unsigned
last_level(uint64_t addr, uint64_t size, bool write)
{
	struct model *m = &model[LL];
	uint64_t line = addr >> m->shift, most = ~(uint64_t)0 >> m->shift;
	uint64_t off = addr & (((uint64_t)1 << m->shift) - 1);
	unsigned got = 0;
	struct way old;

	for (uint64_t n = (off + size - 1) >> m->shift; ; n--) {
		if (!find(m, line, &old))
			got |= LL_MISSED | (old.dirty ? LL_WROTE_BACK : 0);
		front(m, line)->dirty |= write;
		if (n == 0)
			return got;
		line = (line + 1) & most;
	}
}

unsigned
model_access(int cache, uint64_t addr, uint64_t size, bool write)
{
	struct model *m = &model[cache];
	uint64_t line = addr >> m->shift, most = ~(uint64_t)0 >> m->shift;
	uint64_t off = addr & (((uint64_t)1 << m->shift) - 1);
	bool dirties = write && variants.wb, missed = false;

	for (uint64_t n = (off + size - 1) >> m->shift; ; n--) {
		missed |= !find(m, line, NULL);
		if (n == 0)
			break;
		line = (line + 1) & most;
	}
	if (variants.hwpref && (missed || dirties))
		prefetch(addr);
	if (missed)
		return L1_MISSED | last_level(addr, size, dirties);
	if (dirties)
		last_level(addr, size, true);
	return 0;
}

/* ---- use of lines ---- */

/* A line leaves: what its use was worth. */
static void
lost(const struct model *m, uint32_t at)
{
	const struct line_use *u = &model_use[at];
	uint64_t unused = 32 - (unsigned)__builtin_popcount(u->parts);

	tell->lost(at, m == &model[LL], 1000 / u->count,
	    (unused << m->shift) >> 5);
	if (m == &model[LL])
		return;
	model_use[u->below].parts |= u->parts;
	model_use[u->below].count += u->count;
}

/* A line of a first-level cache was missed: bring it in. */
static unsigned
load(struct model *m, uint64_t line)
{
	struct model *below = &model[LL];
	uint32_t at = front(m, line)->at;
	unsigned got = L1_MISSED;

	if (model_use[at].count != 0)
		lost(m, at);
	tell->loaded(at);
	if (!find(below, line, NULL)) {
		uint32_t second = front(below, line)->at;

		if (model_use[second].count != 0)
			lost(below, second);
		model_use[second] = (struct line_use){ 0 };
		tell->loaded(second);
		got |= LL_MISSED;
	}
	model_use[at] = (struct line_use){ .below = front(below, line)->at };
	return got;
}

unsigned
model_uses(int cache, uint64_t addr, uint64_t size, uint64_t times)
{
	struct model *m = &model[cache];
	uint64_t line = addr >> m->shift, most = ~(uint64_t)0 >> m->shift;
	uint64_t mask = ((uint64_t)1 << m->shift) - 1, off = addr & mask;
	uint64_t to = off + size - 1;
	unsigned got = 0;
	struct line_use *u;

	for (;; to -= mask + 1) {
		if (!find(m, line, NULL))
			got |= load(m, line);
		u = &model_use[front(m, line)->at];
		u->count += times;
		u->parts |= model_parts(m->shift, off,
		    to < mask ? to : mask);
		if (to <= mask)
			return got;
		off = 0;
		line = (line + 1) & most;
	}
}

void
model_flush(void)
{
	for (int c = 0; c < NCACHE; c++)
		for (uint64_t i = 0; i < ways_of(&model[c]); i++) {
			uint32_t at = model[c].first + (uint32_t)i;

			if (model_use[at].count != 0)
				lost(&model[c], at);
		}
}
