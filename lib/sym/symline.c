/*
 * symline - the lines of a compilation unit
 *
 * libdw gives a unit's rows by address. A row is valid up to the next row's
 * address; of several rows for one address, the last one counts. But if that
 * has no line, which is how clang marks what it puts in front of a function,
 * the address itself has the line of the row before. The end of a sequence ends
 * its last row. Rows outside the object's code belong to code that the linker
 * removed, see symtame.c, too.
 */
#include "symunit.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/intern.h"
#include "mem.h"
#include "prog.h"

/* What libdw has read of a table. */
struct reading {
	struct sym *s;
	struct sym_table *t;
	Dwarf_Off off;
	Dwarf_Lines *lines;
	size_t n;
	int r;
};

/* The table's addresses + this are ours. */
static uint64_t
bias(const struct sym *s, const struct sym_table *t)
{
	return t->unit == NULL ? s->tables.image.bias : s->bias;
}

/* Where the table is: 0, or -1 if the unit has none. */
static int
table_offset(const struct sym_table *t, Dwarf_Off *off)
{
	Dwarf_Attribute attr;

	*off = t->off;
	return t->unit == NULL || (dwarf_attr(t->unit, DW_AT_stmt_list,
	    &attr) != NULL && dwarf_formudata(&attr, off) == 0) ? 0 : -1;
}

static void
read_table(void *arg)
{
	struct reading *a = arg;
	struct sym_table *t = a->t;
	struct sym *s = a->s;
	Dwarf *dwarf = t->unit == NULL ? s->tables.image.dwarf : s->dwarf;
	uint64_t b = bias(s, t);
	Dwarf_Off next;
	Dwarf_CU *cu = NULL;

	sym_tame(dwarf, a->off, s->textlo - b, s->texthi - b);
	if (t->unit == NULL)
		a->r = dwarf_next_lines(dwarf, a->off, &next, &cu,
		    &t->files, &t->nfile, &a->lines, &a->n);
	else if ((a->r = dwarf_getsrclines(t->unit, &a->lines, &a->n)) == 0)
		a->r = dwarf_getsrcfiles(t->unit, &t->files, &t->nfile);
}

static void
add_row(struct sym_table *t, struct sym_row row)
{
	struct sym_row *last = t->nrow > 0 ? &t->row[t->nrow - 1] : NULL;

	if (last != NULL && last->addr > row.addr)
		last = --t->nrow > 0 ? &t->row[t->nrow - 1] : NULL;
	if (last != NULL && last->addr == row.addr) {
		if (row.line != 0 || last->line == 0 || row.file == NOFILE) {
			*last = row;
			return;
		}
		row.addr++;
	}
	if (last != NULL && last->file == row.file && last->line == row.line)
		return;
	t->row[t->nrow++] = row;
}

static void
add_rows(struct sym *s, struct sym_table *t, Dwarf_Lines *lines, size_t n)
{
	Dwarf_Line *line;
	Dwarf_Files *files;
	Dwarf_Addr addr;
	size_t i, file;
	int no;
	bool end;

	t->row = xmalloc((n + 1) * sizeof *t->row);
	for (i = 0; i < n; i++) {
		line = dwarf_onesrcline(lines, i);
		if (line == NULL || dwarf_lineaddr(line, &addr) != 0 ||
		    dwarf_lineno(line, &no) != 0 ||
		    dwarf_lineendsequence(line, &end) != 0 ||
		    dwarf_line_file(line, &files, &file) != 0)
			continue;
		addr += bias(s, t);
		if (addr < s->textlo || addr > s->texthi)
			continue;
		add_row(t, (struct sym_row){ addr,
		    end ? NOFILE : (uint32_t)file, end ? 0 : (uint32_t)no });
	}
	t->row = xrealloc(t->row, (t->nrow + 1) * sizeof *t->row);
}

/* Say once for each object that libdw cannot read a table. */
static void
say_unreadable(struct sym *s)
{
	const char *why = dwarf_errmsg(-1);

	if (!s->lacklines)
		warn("%s: libdw cannot read lines of some of the code: %s",
		    sym_dwfl_name(s->dwfl), why);
	s->lacklines = true;
}

static void
lay_out(struct sym *s, struct sym_table *t)
{
	struct reading a = { .s = s, .t = t };

	if (t->laidout)
		return;
	t->laidout = true;
	if (table_offset(t, &a.off) != 0)
		return;
	sym_with_stack(read_table, &a);
	if (a.r != 0) {
		t->nfile = 0;
		say_unreadable(s);
		return;
	}
	t->file = xcalloc(t->nfile + 1, sizeof *t->file);
	add_rows(s, t, a.lines, a.n);
}

const char *
sym_file(struct sym *s, struct sym_table *t, uint64_t no)
{
	lay_out(s, t);
	if (no >= t->nfile)
		return intern(SYM_UNKNOWN);
	if (t->file[no] == NULL)
		t->file[no] = sym_file_name(t, no);
	return t->file[no];
}

/* The last row at or before addr, or the first of all. */
static size_t
find_row(const struct sym_table *t, uint64_t addr)
{
	size_t lo = 0, hi = t->nrow, mid;

	/* the one of last time, or its next */
	if (t->lastrow < hi && t->row[t->lastrow].addr <= addr) {
		lo = t->lastrow;
		if (lo + 1 == hi || addr < t->row[lo + 1].addr)
			hi = lo + 1;
		else if (lo + 2 == hi || addr < t->row[lo + 2].addr)
			hi = ++lo + 1;
	}
	while (hi - lo > 1) {
		mid = lo + (hi - lo) / 2;
		if (t->row[mid].addr <= addr)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/* Is any code of the range the table's? */
static bool
has_row_in(const struct sym_table *t, const struct addr_range *r)
{
	size_t i = find_row(t, r->end - 1);

	if (i > 0 && t->row[i].file == NOFILE)
		i--;
	return t->nrow > 0 && t->row[i].file != NOFILE &&
	    t->row[i].addr >= r->start && t->row[i].addr < r->end;
}

/* The table that covers addr, laid out. Who has asked for units, has theirs. */
static struct sym_table *
table(struct sym *s, uint64_t addr)
{
	const struct addr_range *r;
	struct sym_unit *u;
	struct sym_table *t;

	if ((s->tables.asked || !s->hasunits) && sym_tables(s)) {
		r = range_find(&s->tables.ranges, addr);
		if (r == NULL)
			return NULL;
		t = &s->tables.table[r->what];
		lay_out(s, t);
		if (t->checked || has_row_in(t, r)) {
			t->checked = true;
			return t;
		}
		sym_tables_close(s);	/* they are in another order */
	}
	u = sym_unit(s, addr);
	if (u != NULL)
		lay_out(s, &u->lines);
	return u == NULL ? NULL : &u->lines;
}

/* NULL: there is none. */
static const struct sym_row *
row_at(struct sym *s, uint64_t addr, struct sym_table **t)
{
	const struct sym_row *r;

	*t = table(s, addr);
	if (*t == NULL || (*t)->nrow == 0)
		return NULL;
	r = (*t)->row + find_row(*t, addr);
	if (r->addr > addr || r->file == NOFILE)
		return NULL;
	(*t)->lastrow = (size_t)(r - (*t)->row);
	return r;
}

bool
sym_has_line(struct sym *s, uint64_t addr)
{
	struct sym_table *t;

	return row_at(s, addr, &t) != NULL;
}

void
sym_line(struct sym *s, uint64_t addr, const char **file, unsigned *line)
{
	struct sym_table *t;
	const struct sym_row *r = row_at(s, addr, &t);
	static const char *unknown;

	if (unknown == NULL)
		unknown = intern(SYM_UNKNOWN);
	*file = r == NULL ? unknown : sym_file(s, t, r->file);
	*line = r == NULL ? 0 : r->line;
}
