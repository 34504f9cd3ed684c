/*
 * table - kind cache: caches of which trace tells only what it must
 *
 * trace keeps a table of sets and ways itself, with the same line size as
 * these caches, no more sets and no more ways, and least recently used
 * replacement.  References whose lines are in the table are not told.  What is
 * told: a line enters (a reference that stays), a line leaves (Z), or a
 * reference that has nothing to do with the table, whose sets have been
 * emptied.
 *
 * Lines in the table are more recent than all others of their set, and all
 * are in the cache, since it has as many ways.  Those that have left it were
 * last used in the order in which they left.  So a set is two lists: first the
 * lines in the table, in no order, then the others, newest first; what must
 * go is the last of them.  With a table of 2 ways, a cache of 3:
 *
 *	a enters	[a |]		missed
 *	b enters	[a b |]		missed
 *	a leaves	[b | a]
 *	c enters	[b c | a]	missed
 *	b leaves	[c | b a]
 *	a enters	[c a | b]	hit
 *	c leaves	[a | c b]
 *	d enters	[a d | c]	missed: b has made room
 */
#include "cachesim.h"

#include "util.h"

struct set {
	uint32_t n;		/* lines it has */
	uint32_t inside;	/* the first ones: in the table */
};

struct table {
	uint64_t nsets, ways;
	struct set *set;
	uint64_t *line;		/* by set, in the order above */
};

static struct table table[NCACHE];	/* I1 and D1 */

void
table_init(int cache, const struct geometry *g)
{
	struct table *t = &table[cache];

	t->ways = g->assoc;
	t->nsets = g->size / g->line / g->assoc;
	t->set = xcalloc(t->nsets, sizeof *t->set);
	t->line = ll_reserve(t->nsets * t->ways * sizeof *t->line);
}

/* Where among the first n a line is, or n. No branch depends on where. */
static inline uint32_t
find(const uint64_t *a, uint32_t n, uint64_t line)
{
	uint32_t k = n;

	for (uint32_t i = n; i-- > 0; )
		k = a[i] == line ? i : k;
	return k;
}

int
table_touch(int cache, uint64_t line, int stays)
{
	struct table *t = &table[cache];
	uint64_t at = line & (t->nsets - 1), *a = t->line + at * t->ways;
	struct set *s = &t->set[at];
	uint32_t k = find(a, s->n, line);
	int missed;

	if (k < s->inside)
		return 0;
	missed = k == s->n;
	if (missed && s->n < t->ways)
		s->n++;
	else if (missed)
		k--;
	if (s->inside == t->ways)	/* the table is no such table */
		s->inside--;
	for (; k > s->inside; k--)
		a[k] = a[k - 1];
	a[k] = line;
	if (stays)
		s->inside++;
	return missed;
}

void
table_leave(int cache, uint64_t line)
{
	struct table *t = &table[cache];
	uint64_t at = line & (t->nsets - 1), *a = t->line + at * t->ways;
	struct set *s = &t->set[at];
	uint32_t k = find(a, s->inside, line);

	if (k == s->inside)
		return;
	a[k] = a[--s->inside];
	a[s->inside] = line;
}
