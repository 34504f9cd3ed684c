/*
 * table - kind cache: the first-level caches behind trace's table
 *
 * trace keeps a table of sets and ways itself, with the same line size as
 * these caches, no more sets and no more ways, and least recently used
 * replacement. The stream omits references whose lines are in the table. It
 * has three kinds of events: a line enters at a place of its set, and the line
 * that was there leaves; a line leaves (Z); or a reference bypasses the table,
 * whose sets have been emptied.
 *
 * Lines in the table are more recent than all others of their set, and all
 * are in the cache, since it has at least as many ways. Those that left it
 * were last used in the order in which they left. So a set consists of the
 * table's places that hold its lines, and a list of the others, newest first;
 * the last of these is replaced. With a table of 2 ways and a cache of 3:
 *
 *	a enters at 0	a -  |		missed
 *	b enters at 1	a b  |		missed
 *	c enters at 0	c b  | a	missed
 *	a enters at 1	c a  | b	hit
 *	d enters at 0	d a  | c	missed: b has made room
 *
 * If the table has as many ways as the cache, a full set of it is the whole
 * set: a line that enters is missed, and there is nothing to search.
 */
#include "table.h"

#include <string.h>

#include "mem.h"

struct l1_table l1_table[NCACHE];

static void
free_all(struct l1_table *t)
{
	t->free = (t->mask + 1) * EV_PLACES;
	memset(t->line, 0xff, t->free * sizeof *t->line);
}

void
table_init(int cache, const struct geometry *g, uint64_t sets, uint64_t ways)
{
	struct l1_table *t = &l1_table[cache];

	t->assoc = g->assoc;
	t->nsets = g->size / g->line / g->assoc;
	t->ways = ways;
	t->set = xcalloc(t->nsets, sizeof *t->set);
	if (sets > t->nsets)	/* refused elsewhere */
		sets = t->nsets;
	t->mask = sets - 1;
	t->same = sets == t->nsets && ways == t->assoc;
	t->line = xmalloc(sets * EV_PLACES * sizeof *t->line);
	free_all(t);
	t->stride = (t->assoc + 7) / 8 * 8;
	t->other = ll_reserve(t->nsets * t->stride * sizeof *t->other);
}

/* Where among the first n a line is, or n. No branch depends on where. */
static inline uint64_t
find(const uint64_t *a, uint64_t n, uint64_t line)
{
	uint64_t k = n;

	for (uint64_t i = n; i-- > 0; )
		k = a[i] == line ? i : k;
	return k;
}

/* A line leaves the table: it is now the newest of the others. */
static void
left(struct l1_table *t, uint64_t line)
{
	uint64_t at = line & (t->nsets - 1), *a = t->other + at * t->stride;
	struct table_set *s = &t->set[at];

	memmove(a + 1, a, s->n * sizeof *a);
	a[0] = line;
	s->n++;
	s->inside--;
}

/* A line is not one of the others any more: 1 if it was not. */
static int
take_out(struct l1_table *t, uint64_t at, uint64_t line)
{
	struct table_set *s = &t->set[at];
	uint64_t *a = t->other + at * t->stride, k = find(a, s->n, line);

	if (k == s->n)
		return 1;
	s->n--;
	memmove(a + k, a + k + 1, (s->n - k) * sizeof *a);
	return 0;
}

/* There may be no such place, or it may be free. */
static int
enter_at(struct l1_table *t, uint64_t line, uint64_t *place)
{
	uint64_t at = line & (t->nsets - 1), was = *place;
	struct table_set *s = &t->set[at];
	int missed;

	*place = line;
	if (table_is_full(t, line, was))
		return (int)table_swap(t->other + at * t->stride, s->n, was,
		    line);
	if (was != TABLE_FREE)
		left(t, was);
	else
		t->free--;
	missed = take_out(t, at, line);
	if (s->inside + s->n == t->assoc)
		s->n--;
	s->inside++;
	return missed;
}

int
table_enter(int cache, uint64_t line, unsigned place)
{
	struct l1_table *t = &l1_table[cache];
	uint64_t *p = table_place(cache, line, 0), k;

	if (place < t->ways)
		return enter_at(t, line, p + place);
	if (find(p, t->ways, line) < t->ways)
		return 0;
	k = find(p, t->ways, TABLE_FREE);
	return enter_at(t, line, p + (k < t->ways ? k : 0));
}

int
table_touch(int cache, uint64_t line)
{
	struct l1_table *t = &l1_table[cache];
	uint64_t at = line & (t->nsets - 1), *a = t->other + at * t->stride;
	uint64_t *p = table_place(cache, line, 0);
	struct table_set *s = &t->set[at];
	int missed;

	if (find(p, t->ways, line) < t->ways)
		return 0;
	missed = take_out(t, at, line);
	if (s->inside + s->n == t->assoc) {
		if (s->n == 0)		/* the table is no such table */
			return 1;
		s->n--;
	}
	memmove(a + 1, a, s->n * sizeof *a);
	a[0] = line;
	s->n++;
	return missed;
}

void
table_leave(int cache, uint64_t line)
{
	struct l1_table *t = &l1_table[cache];
	uint64_t *p = table_place(cache, line, 0);
	uint64_t k = find(p, t->ways, line);

	if (k == t->ways)
		return;
	p[k] = TABLE_FREE;
	t->free++;
	left(t, line);
}

void
table_clear(int cache)
{
	struct l1_table *t = &l1_table[cache];

	memset(t->set, 0, t->nsets * sizeof *t->set);
	free_all(t);
}
