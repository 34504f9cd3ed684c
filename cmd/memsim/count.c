/*
 * count - events by instruction; the columns
 *
 * Few instructions ever have an event. Those that have get a row of counters
 * at the first.
 */
#include "memsim.h"

#include <stdio.h>
#include <string.h>

#include "mem.h"
#include "out.h"

unsigned count_columns;
const char **count_name;
unsigned col_miss[MOST_LEVELS + 1][3];
unsigned col_written[MOST_PARTS], col_issued[MOST_PARTS],
    col_useful[MOST_PARTS];
unsigned col_tlb[MOST_TLEVELS + 1][2], col_walk[2], col_inval, col_false;
bool count_found;

static uint64_t *first;			/* instruction, by block */
static size_t capfirst;
static uint32_t *row;			/* by instruction, plus 1; 0: none */
static size_t caprow, nrow, capcounter, capname;
static int64_t *counter;

static struct found { uint64_t insn; unsigned column; uint64_t n; } *found;
static struct sim_outcome *outcome;
static size_t nfound, capfound, capoutcome;

/* ---- columns ---- */

static unsigned
column(const char *name, const char *what)
{
	char *s = xkeep(strlen(name) + strlen(what) + 1);

	strcat(strcpy(s, name), what);
	count_name = xgrow(count_name, &capname, count_columns + 1,
	    sizeof *count_name);
	count_name[count_columns] = s;
	return count_columns++;
}

static void
level_columns(const struct part *p)
{
	static const char *const what[] = { "Imr", "Dmr", "Dmw" };
	char name[8];

	snprintf(name, sizeof name, "L%u", p->level);
	for (unsigned k = 0; k < 3; k++)
		if (p->side == BOTH || p->side == (k == 0 ? CODE : DATA))
			col_miss[p->level][k] = column(name, what[k]);
}

static void
tlb_columns(const struct part *p)
{
	static const char *const miss[] = { "Im", "Dm" };
	char name[8];

	snprintf(name, sizeof name, "T%u", p->level);
	for (unsigned side = CODE; side <= DATA; side++)
		if ((p->side == BOTH || p->side == side) &&
		    col_tlb[p->level][side] == 0)
			col_tlb[p->level][side] = column(name, miss[side]);
}

/*
 * Can a line leave dirty? One for code alone can be given dirty lines by an
 * exclusive cache; one that writes through takes those of nearer caches along
 * if it is inclusive.
 */
static bool
leaves_dirty(const struct machine *m, const struct part *p)
{
	bool exclusive = false;

	for (unsigned i = 0; i < m->npart; i++)
		exclusive |= m->part[i].content == EXCLUSIVE;
	return p->content == INCLUSIVE ||
	    (!p->through && (p->side != CODE || exclusive));
}

static void
part_columns(const struct machine *m)
{
	for (unsigned i = 0; i < m->npart; i++) {
		const struct part *p = &m->part[i];

		if (p->tlb)
			continue;
		if (leaves_dirty(m, p))
			col_written[i] = column(p->name, "wb");
		if (has_prefetcher(p)) {
			col_issued[i] = column(p->name, "pf");
			col_useful[i] = column(p->name, "pu");
		}
	}
}

/* The names from one on, with blanks between. */
static const char *
names(unsigned from)
{
	size_t len = 1;
	char *s;

	for (unsigned i = from; i < count_columns; i++)
		len += strlen(count_name[i]) + 1;
	s = xkeep(len);
	for (unsigned i = from; i < count_columns; i++)
		strcat(strcat(s, i == from ? "" : " "), count_name[i]);
	return s;
}

void
count_init(const struct machine *m, struct simrun *s)
{
	static const char *const walk[] = { "Iwk", "Dwk" };

	column("Ir", "");
	column("Dr", "");
	column("Dw", "");
	for (unsigned i = 0; i < m->npart; i++)
		if (!m->part[i].tlb)
			level_columns(&m->part[i]);
	part_columns(m);
	for (unsigned i = 0; i < m->npart; i++)
		if (m->part[i].tlb)
			tlb_columns(&m->part[i]);
	for (unsigned side = CODE; side <= DATA; side++)
		for (unsigned k = 1; k <= MOST_TLEVELS; k++)
			if (col_tlb[k][side] != 0 && col_walk[side] == 0)
				col_walk[side] = column(walk[side], "");
	if (m->cores != 1) {
		col_inval = column("Inv", "");
		col_false = column("Fsh", "");
	}
	s->columns = names(0);
	s->outcomes = names(COL_FIRST);
}

/* ---- events ---- */

void
count_block(uint32_t number, uint64_t begin, uint32_t ninsn)
{
	first = xgrow(first, &capfirst, number + 1, sizeof *first);
	first[number] = begin;
	row = xgrow0(row, &caprow, begin + ninsn, sizeof *row);
}

uint64_t
count_first(uint32_t number)
{
	return first[number];
}

static void
find_event(unsigned col, int64_t n)
{
	for (size_t i = nfound; i-- > 0 && found[i].insn == now.insn; )
		if (found[i].column == col) {
			found[i].n += (uint64_t)n;
			return;
		}
	found = xgrow(found, &capfound, nfound + 1, sizeof *found);
	found[nfound++] = (struct found){ now.insn, col, (uint64_t)n };
}

void
count_event(unsigned col, int64_t n)
{
	uint32_t r = row[now.insn];

	if (r == 0) {
		row[now.insn] = r = (uint32_t)++nrow;
		counter = xgrow0(counter, &capcounter, (nrow + 1) *
		    count_columns, sizeof *counter);
	}
	counter[(size_t)r * count_columns + col] += n;
	if (count_found && col >= COL_FIRST)
		find_event(col, n);
}

void
count_add(const struct insns_at *at, int64_t *n)
{
	uint64_t insn = first[at->block] + at->insn;
	uint32_t r = insn < caprow ? row[insn] : 0;

	n[COL_IR] += (int64_t)at->times;
	for (uint32_t k = 0; k < at->i->nref; k++)
		n[at->ref[k].kind == 'w' ? COL_DW : COL_DR] +=
		    (int64_t)at->times;
	if (r == 0)
		return;
	for (unsigned k = 0; k < count_columns; k++)
		n[k] += counter[(size_t)r * count_columns + k];
}

const struct sim_outcome *
count_take(uint64_t from, unsigned *n)
{
	outcome = xgrow(outcome, &capoutcome, nfound, sizeof *outcome);
	for (size_t i = 0; i < nfound; i++)
		outcome[i] = (struct sim_outcome){ (uint32_t)(found[i].insn -
		    from), found[i].column, found[i].n };
	*n = (unsigned)nfound;
	nfound = 0;
	return outcome;
}
