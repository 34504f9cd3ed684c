/*
 * symline - the lines of a compilation unit
 *
 * libdw gives a unit's rows by address. A row is good up to the next one's
 * address; where several have one address, the last of them is. But if that
 * has no line, as clang tells of what it puts in front of a function, the
 * address itself has the line of the row before. The end of a sequence ends its
 * last row. Rows outside the object's code are from what the linker threw away.
 */
#include "symunit.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "intern.h"
#include "util.h"

static const char *unknown;

/* A relative name with the folder of the compilation, as libdw has left it. */
static const char *
join(struct sym_unit *u, const char *name)
{
	Dwarf_Attribute attr;
	const char *dir = NULL, *r;
	char *path;

	if (name == NULL || *name == '\0')
		return unknown;
	if (name[0] != '/' &&
	    dwarf_attr(&u->die, DW_AT_comp_dir, &attr) != NULL)
		dir = dwarf_formstring(&attr);
	if (dir == NULL || *dir == '\0')
		return intern(name);
	path = xmalloc(strlen(dir) + strlen(name) + 2);
	strcpy(path, dir);
	strcat(path, "/");
	strcat(path, name);
	r = intern(path);
	free(path);
	return r;
}

const char *
sym_file(struct sym_unit *u, uint64_t n)
{
	Dwarf_Files *files;
	size_t count, i;

	if (unknown == NULL)
		unknown = intern(SYM_UNKNOWN);
	if (u->file == NULL) {
		if (dwarf_getsrcfiles(&u->die, &files, &count) != 0)
			return unknown;
		u->file = xcalloc(count, sizeof *u->file);
		u->nfile = count;
		for (i = 0; i < count; i++)
			u->file[i] = join(u, dwarf_filesrc(files, i, NULL,
			    NULL));
	}
	return n < u->nfile ? u->file[n] : unknown;
}

static void
add_row(struct sym_unit *u, size_t *cap, struct sym_row row)
{
	struct sym_row *last = u->nrow > 0 ? &u->row[u->nrow - 1] : NULL;

	if (last != NULL && last->addr > row.addr)
		last = &u->row[--u->nrow - 1];
	if (last != NULL && last->addr == row.addr) {
		if (row.line != 0 || last->line == 0 || row.file == NOFILE) {
			*last = row;
			return;
		}
		row.addr++;
	}
	if (last != NULL && last->file == row.file && last->line == row.line)
		return;
	u->row = xgrow(u->row, cap, u->nrow + 1, sizeof *u->row);
	u->row[u->nrow++] = row;
}

static void
lay_out(struct sym *s, struct sym_unit *u)
{
	Dwarf_Lines *lines;
	Dwarf_Line *line;
	Dwarf_Files *files;
	Dwarf_Addr addr;
	size_t n, i, file, cap = 0;
	int no;
	bool end;

	u->haslines = 1;
	if (dwarf_getsrclines(&u->die, &lines, &n) != 0)
		return;
	for (i = 0; i < n; i++) {
		line = dwarf_onesrcline(lines, i);
		if (line == NULL || dwarf_lineaddr(line, &addr) != 0 ||
		    dwarf_lineno(line, &no) != 0 ||
		    dwarf_lineendsequence(line, &end) != 0 ||
		    dwarf_line_file(line, &files, &file) != 0)
			continue;
		addr += s->bias;
		if (addr < s->textlo || addr > s->texthi)
			continue;
		add_row(u, &cap, (struct sym_row){ addr,
		    end ? NOFILE : (uint32_t)file, end ? 0 : (uint32_t)no });
	}
}

void
sym_line(struct sym *s, uint64_t addr, const char **file, unsigned *line)
{
	struct sym_unit *u = sym_unit(s, addr);
	size_t lo = 0, hi, mid;

	if (unknown == NULL)
		unknown = intern(SYM_UNKNOWN);
	*file = unknown;
	*line = 0;
	if (u == NULL)
		return;
	if (!u->haslines)
		lay_out(s, u);
	/* the last row at or before addr: the one of last time, or its next */
	hi = u->nrow;
	if (u->lastrow < hi && u->row[u->lastrow].addr <= addr) {
		lo = u->lastrow;
		if (lo + 1 == hi || addr < u->row[lo + 1].addr)
			hi = lo + 1;
		else if (lo + 2 == hi || addr < u->row[lo + 2].addr)
			hi = ++lo + 1;
	}
	while (hi - lo > 1) {
		mid = lo + (hi - lo) / 2;
		if (u->row[mid].addr <= addr)
			lo = mid;
		else
			hi = mid;
	}
	if (hi == lo || u->row[lo].addr > addr || u->row[lo].file == NOFILE)
		return;
	u->lastrow = lo;
	*file = sym_file(u, u->row[lo].file);
	*line = u->row[lo].line;
}
