/*
 * check - complete a description, and refuse what makes no sense
 */
#include "memsim.h"

#include <string.h>

#include "prog.h"

#define MOST_COLUMNS	60

static bool
is_power(uint64_t n)
{
	return (n & (n - 1)) == 0;
}

/* Size, ways and sets from two of them. */
static void
geometry(struct part *p)
{
	uint64_t unit = p->tlb ? 1 : p->line, lines = p->size / unit;

	if (p->size != 0 && lines * unit != p->size)
		die("%s: %s: the size is no multiple of the line", p->where,
		    p->name);
	if (p->full && p->sets == 0)
		p->sets = 1;
	if (p->full && lines != 0)
		p->ways = lines / p->sets;
	if ((lines != 0) + (p->ways != 0) + (p->sets != 0) < 2)
		die("%s: %s: needs two of %s", p->where, p->name, p->tlb ?
		    "entries, ways" : "size, ways, sets");
	if (p->ways == 0)
		p->ways = lines / p->sets;
	if (p->sets == 0)
		p->sets = lines / p->ways;
	if (lines == 0 && p->sets <= MOST_LINES / p->ways)
		lines = p->sets * p->ways;
	if (lines == 0 || lines > MOST_LINES)
		die("%s: %s: more than %lu lines", p->where, p->name,
		    MOST_LINES);
	if (p->ways == 0 || p->sets == 0 || p->sets * p->ways != lines)
		die("%s: %s: %lu %s are not %lu sets of %lu ways", p->where,
		    p->name, lines, p->tlb ? "entries" : "lines", p->sets,
		    p->ways);
	p->size = lines * unit;
}

static void
check_part(struct part *p)
{
	if (!is_power(p->line))
		die("%s: %s: the line is no power of two", p->where, p->name);
	geometry(p);
	if (p->policy == TREE && !is_power(p->ways))
		die("%s: %s: tree-plru needs a power of two as ways",
		    p->where, p->name);
	if (p->content == INCLUSIVE && !p->allocate)
		die("%s: %s: inclusive, and so it must allocate", p->where,
		    p->name);
	if (p->content == EXCLUSIVE && p->through)
		die("%s: %s: exclusive, and so it must write back", p->where,
		    p->name);
	if (p->content == EXCLUSIVE && p->side != BOTH)
		die("%s: %s: exclusive, but for one side alone", p->where,
		    p->name);
	if (p->content != ANY && p->level == 1)
		die("%s: %s: no level is nearer", p->where, p->name);
}

static bool
may_ask(const struct part *a, const struct part *b)
{
	return !a->tlb && !b->tlb && a->level < b->level &&
	    (a->side == BOTH || b->side == BOTH || a->side == b->side);
}

/* The cache that part i asks, or NULL. */
static const struct part *
next_of(const struct machine *m, unsigned i)
{
	for (unsigned k = i + 1; k < m->npart; k++)
		if (may_ask(&m->part[i], &m->part[k]))
			return &m->part[k];
	return NULL;
}

/* Two caches of which the second may be asked by the first. */
static void
check_pair(const struct part *a, const struct part *b, bool directly)
{
	if (a->side == BOTH && b->side != BOTH)
		die("%s: %s: behind %s, which is for both", b->where, b->name,
		    a->name);
	if (a->shared && !b->shared)
		die("%s: %s: not shared, behind %s, which is", b->where,
		    b->name, a->name);
	if (b->content == INCLUSIVE && b->line % a->line != 0)
		die("%s: %s: inclusive, with a line that is no multiple of "
		    "that of %s", b->where, b->name, a->name);
	if (b->content != EXCLUSIVE || !directly)
		return;
	if (a->line != b->line)
		die("%s: %s: exclusive, with a line that differs from that of "
		    "%s", b->where, b->name, a->name);
	if (a->through)
		die("%s: %s: exclusive, but %s writes through", b->where,
		    b->name, a->name);
}

static void
check_cores(const struct machine *m)
{
	uint64_t line = 0;

	for (unsigned i = 0; m->cores != 1 && i < m->npart; i++) {
		const struct part *p = &m->part[i];

		if (p->tlb || p->shared)
			continue;
		if (p->line > 64)
			die("%s: %s: with more than one core lines have at "
			    "most 64 bytes", p->where, p->name);
		if (line != 0 && line != p->line)
			die("%s: %s: with more than one core all caches of "
			    "one have the same line", p->where, p->name);
		line = p->line;
	}
}

/* One table for a page size, at each level, for each side. */
static void
check_tlbs(const struct machine *m)
{
	const struct part *seen[MOST_TLEVELS + 1][2][NPAGE] = { 0 };

	for (unsigned i = 0; i < m->npart; i++)
		for (unsigned k = 0; m->part[i].tlb && k < 2 * NPAGE; k++) {
			const struct part *p = &m->part[i], **s =
			    &seen[p->level][k % 2][k / 2];

			if ((p->side != BOTH && p->side != k % 2) ||
			    (p->pages >> k / 2 & 1) == 0)
				continue;
			if (*s != NULL)
				die("%s: %s: pages of %s are in %s", p->where,
				    p->name, page_name[k / 2], (*s)->name);
			*s = p;
		}
}

static void
check_levels(const struct machine *m, bool tlb)
{
	unsigned level = 0;

	for (unsigned i = 0; i < m->npart; i++) {
		const struct part *p = &m->part[i];

		if (p->tlb != tlb)
			continue;
		if (p->level > level + 1)
			die("%s: %s: there is no level %u", p->where, p->name,
			    level + 1);
		level = p->level;
	}
	if (level == 0 && !tlb)
		die("%s: the machine has no cache", m->where);
}

static void
check_columns(const struct machine *m)
{
	unsigned n = 2 * MOST_TLEVELS + 4;

	for (unsigned i = 0; i < m->npart; i++)
		if (!m->part[i].tlb)
			n += has_prefetcher(&m->part[i]) ? 6 : 4;
	if (n > MOST_COLUMNS)
		die("%s: the machine has more than %d columns", m->where,
		    MOST_COLUMNS);
}

static void
check_sides(const struct machine *m)
{
	for (unsigned i = 0; i + 1 < m->npart; i++) {
		const struct part *a = &m->part[i], *b = a + 1;

		if (!a->tlb && !b->tlb && a->level == b->level &&
		    (a->side == BOTH || b->side == BOTH))
			die("%s: %s: level %u has %s", b->where, b->name,
			    b->level, a->name);
	}
}

void
machine_check(struct machine *m)
{
	for (unsigned i = 0; i < m->npart; i++)
		check_part(&m->part[i]);
	check_levels(m, false);
	check_levels(m, true);
	check_sides(m);
	for (unsigned i = 0; i < m->npart; i++)
		for (unsigned k = i + 1; k < m->npart; k++)
			if (may_ask(&m->part[i], &m->part[k]))
				check_pair(&m->part[i], &m->part[k],
				    next_of(m, i) == &m->part[k]);
	check_cores(m);
	check_tlbs(m);
	check_columns(m);
}
