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
#include "cachesim.h"

#include <string.h>

#include "util.h"

struct set {
	uint32_t inside;	/* lines in the table */
	uint32_t n;		/* others */
};

struct l1_table {
	uint64_t nsets, assoc;
	uint64_t ways;		/* trace's */
	struct set *set;
	uint64_t *other;	/* by set, assoc each */
};

static struct l1_table table[NCACHE];	/* I1 and D1 */
struct table_lines table_places[NCACHE];

static void
free_all(struct table_lines *p)
{
	p->free = (p->mask + 1) * EV_PLACES;
	memset(p->line, 0xff, p->free * sizeof *p->line);
}

void
table_init(int cache, const struct geometry *g, uint64_t sets, uint64_t ways)
{
	struct table_lines *p = &table_places[cache];
	struct l1_table *t = &table[cache];

	t->assoc = g->assoc;
	t->nsets = g->size / g->line / g->assoc;
	t->ways = ways;
	t->set = xcalloc(t->nsets, sizeof *t->set);
	if (sets > t->nsets)	/* refused elsewhere */
		sets = t->nsets;
	p->mask = sets - 1;
	p->same = sets == t->nsets && ways == t->assoc;
	p->line = xmalloc(sets * EV_PLACES * sizeof *p->line);
	free_all(p);
	t->other = ll_reserve(t->nsets * t->assoc * sizeof *t->other);
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
	uint64_t at = line & (t->nsets - 1), *a = t->other + at * t->assoc;
	struct set *s = &t->set[at];

	memmove(a + 1, a, s->n * sizeof *a);
	a[0] = line;
	s->n++;
	s->inside--;
}

/* A line is not one of the others any more: 1 if it was not. */
static int
take_out(struct l1_table *t, uint64_t at, uint64_t line)
{
	struct set *s = &t->set[at];
	uint64_t *a = t->other + at * t->assoc, k = find(a, s->n, line);

	if (k == s->n)
		return 1;
	s->n--;
	memmove(a + k, a + k + 1, (s->n - k) * sizeof *a);
	return 0;
}

/*
 * A line of a full set leaves the table, and so is the first of its n others,
 * for another one, which is no other any more, or else the last one is none: 1
 * then. No branch depends on it.
 */
static inline int
swap(uint64_t *a, uint64_t n, uint64_t leaves, uint64_t enters)
{
	uint64_t missed = ~(uint64_t)0, was;

	for (uint64_t i = 0; i < n; i++) {
		was = a[i];
		a[i] = was ^ ((was ^ leaves) & missed);
		leaves = was;
		missed = was == enters ? 0 : missed;
	}
	return missed != 0;
}

static int
enter_at(struct l1_table *t, uint64_t line, uint64_t *place)
{
	uint64_t at = line & (t->nsets - 1), was = *place;
	struct set *s = &t->set[at];
	int missed;

	*place = line;
	if (was != TABLE_FREE) {
		if (s->inside + (uint64_t)s->n == t->assoc &&
		    (was & (t->nsets - 1)) == at)
			return swap(t->other + at * t->assoc, s->n, was, line);
		left(t, was);
	} else {
		table_places[t - table].free--;
	}
	missed = take_out(t, at, line);
	if (s->inside + s->n == t->assoc)
		s->n--;
	s->inside++;
	return missed;
}

int
table_enter(int cache, uint64_t line, unsigned place)
{
	struct l1_table *t = &table[cache];
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
	struct l1_table *t = &table[cache];
	uint64_t at = line & (t->nsets - 1), *a = t->other + at * t->assoc;
	uint64_t *p = table_place(cache, line, 0);
	struct set *s = &t->set[at];
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
	struct l1_table *t = &table[cache];
	uint64_t *p = table_place(cache, line, 0);
	uint64_t k = find(p, t->ways, line);

	if (k == t->ways)
		return;
	p[k] = TABLE_FREE;
	table_places[cache].free++;
	left(t, line);
}

void
table_clear(int cache)
{
	struct l1_table *t = &table[cache];

	memset(t->set, 0, t->nsets * sizeof *t->set);
	free_all(&table_places[cache]);
}
