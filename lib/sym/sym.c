/*
 * sym - link-time address -> function, source file, line
 *
 * One libdwfl session per object, reported at address 0: then libdwfl's
 * addresses are the link-time ones.
 *
 * All data becomes sorted disjoint ranges; a lookup tries the last result and
 * then searches by bisection. The ranges of functions are made when the object
 * is opened, those of units when DWARF is first needed, those of a unit's lines
 * (symline.c) and inlined calls (syminline.c) at the first lookup in the unit.
 * A unit's own ranges come from its first DIE, not from .debug_aranges, which
 * clang does not write; but see symtable.c for objects with compressed DWARF,
 * and symunit.c for DWARF 2.
 */
#include "sym.h"

#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/range.h"
#include "in.h"
#include "mem.h"
#include "symunit.h"
#include "segments.h"

#define MANY	256		/* names between two times that pages go */

struct sym_fn {
	uint64_t start, end;
	const char *raw;	/* as in the file */
	const char *name;	/* by the flags; NULL: not needed yet */
};

/* Of two names for the same bytes, is a the better one? */
static bool
prefer(const char *a, const char *b)
{
	size_t alen = strcspn(a, "@"), blen = strcspn(b, "@");

	if (alen != blen && (alen == 0 || blen == 0))
		return blen == 0;
	if (alen != blen)
		return alen < blen;
	if ((a[alen] == '@') != (b[blen] == '@'))
		return a[alen] == '@';
	return strcmp(a, b) < 0;
}

/* The order of range.c, so that range_done need not sort again. */
static int
by_range(const void *x, const void *y)
{
	const struct sym_fn *a = *(const struct sym_fn *const *)x;
	const struct sym_fn *b = *(const struct sym_fn *const *)y;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end > b->end ? -1 : a->end < b->end;
}

/* Sort, keep one name for each range, lay out. */
static void
settle_functions(struct sym *s)
{
	struct sym_fn **v = xmalloc((s->nfn + 1) * sizeof *v), *last = NULL;
	struct sym_fn *kept = xmalloc((s->nfn + 1) * sizeof *kept);
	size_t i, n = 0;

	for (i = 0; i < s->nfn; i++)
		v[i] = &s->fn[i];
	if (s->nfn > 0)
		qsort(v, s->nfn, sizeof *v, by_range);
	for (i = 0; i < s->nfn; i++) {
		if (last != NULL && by_range(&last, &v[i]) == 0) {
			if (prefer(v[i]->raw, last->raw))
				last->raw = v[i]->raw;
			continue;
		}
		last = &kept[n++];
		*last = *v[i];
	}
	free(v);
	free(s->fn);
	s->fn = kept;
	s->nfn = n;
	for (i = 0; i < n; i++)
		range_add(&s->fns, s->fn[i].start, s->fn[i].end, (uint32_t)i);
	range_done(&s->fns);
}

static void
read_functions(struct sym *s)
{
	struct sym_symbol y = sym_symbols(s);
	size_t cap = 0;

	while (sym_symbol_next(&y)) {
		if (y.raw[0] == '\0' || y.elf.st_size == 0 ||
		    (y.type != STT_FUNC && y.type != STT_GNU_IFUNC) ||
		    !sym_symbol_is_code(s, &y))
			continue;
		s->fn = xgrow(s->fn, &cap, s->nfn + 1, sizeof *s->fn);
		s->fn[s->nfn++] = (struct sym_fn){ .start = y.addr,
		    .end = y.addr + y.elf.st_size, .raw = y.raw };
	}
	settle_functions(s);
	sym_dwfl_unread(s->dwfl);
}

/* All names of a large table would keep its file's pages in memory. */
static void
name_function(struct sym *s, struct sym_fn *f)
{
	f->name = sym_name(s, f->raw);
	if (++s->nnamed % MANY == 0)
		sym_dwfl_unread(s->dwfl);
}

static void
read_text(struct sym *s, Elf *elf)
{
	GElf_Phdr ph;

	s->textlo = UINT64_MAX;
	for (size_t i = 0; segment_next_code(elf, &i, &ph); ) {
		if (ph.p_vaddr < s->textlo)
			s->textlo = ph.p_vaddr;
		if (ph.p_vaddr + ph.p_memsz > s->texthi)
			s->texthi = ph.p_vaddr + ph.p_memsz;
	}
}

/* A segment of code may begin with the file's header: skip what is no code. */
static void
skip_header(struct sym *s, Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	uint64_t lo = UINT64_MAX;

	while (elf != NULL && (scn = elf_nextscn(elf, scn)) != NULL)
		if (gelf_getshdr(scn, &sh) != NULL &&
		    sh.sh_flags & SHF_EXECINSTR && sh.sh_flags & SHF_ALLOC &&
		    sh.sh_addr >= s->textlo && sh.sh_addr < lo)
			lo = sh.sh_addr;
	if (lo < s->texthi)
		s->textlo = lo;
}

static void
read_pieces(struct sym *s, Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	size_t names;
	const char *name;

	if (elf == NULL || elf_getshdrstrndx(elf, &names) < 0)
		return;
	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		if (gelf_getshdr(scn, &sh) == NULL ||
		    (name = elf_strptr(elf, names, sh.sh_name)) == NULL)
			continue;
		if (strcmp(name, ".init") == 0)
			s->init = (struct sym_piece){ sh.sh_addr,
			    sh.sh_addr + sh.sh_size };
		else if (strcmp(name, ".fini") == 0)
			s->fini = (struct sym_piece){ sh.sh_addr,
			    sh.sh_addr + sh.sh_size };
	}
}

struct sym *
sym_open(const char *path, unsigned flags)
{
	struct sym *s = xcalloc(1, sizeof *s);
	Dwarf_Addr bias = 0;
	const char *why;
	Elf *elf;

	s->flags = flags;
	s->dwfl = xcalloc(1, sizeof *s->dwfl);
	why = sym_dwfl_open(s->dwfl, path);
	if (why != NULL) {
		s->error = xstrdup(why);
		s->lineerror = s->error;
		return s;
	}
	elf = dwfl_module_getelf(s->dwfl->mod, &bias);
	read_text(s, elf);
	skip_header(s, elf);
	read_pieces(s, elf);
	read_functions(s);
	if (s->nfn == 0)
		s->error = xstrdup("no symbols of functions");
	return s;
}

const char *
sym_error(const struct sym *s)
{
	return s->error;
}

const char *
sym_line_error(struct sym *s)
{
	if (!s->hasunits && !sym_tables(s))
		sym_units(s);
	return s->lineerror;
}

void
sym_close(struct sym *s)
{
	struct sym_unit *u;

	for (u = s->unit; u < s->unit + s->nunit; u++) {
		sym_table_free(&u->lines);
		free(u->scope);
		free(u->scopes.v);
	}
	free(s->unit);
	free(s->units.v);
	free(s->fn);
	free(s->fns.v);
	sym_vars_free(s);
	sym_tables_close(s);
	sym_image_close(&s->image);
	sym_dwfl_close(s->dwfl);
	free(s->error);
	free(s);
}

void
sym_prepare(struct sym *s, bool inlines)
{
	if (!s->hasunits && (inlines || !sym_tables(s)))
		sym_units(s);
}

/*
 * .init and .fini are made of pieces of many files, which no compiler calls a
 * function. Nearly every object runs them, and to ask its units costs
 * megabytes.
 */
static bool
in_pieces(const struct sym *s, uint64_t addr)
{
	return addr - s->init.start < s->init.end - s->init.start ||
	    addr - s->fini.start < s->fini.end - s->fini.start;
}

/* The function of an address that no symbol covers, by DWARF. */
static void
dwarf_function(struct sym *s, uint64_t addr, struct sym_at *at)
{
	struct sym_unit *u;
	const struct sym_scope *sc;
	const struct addr_range *r;

	/*
	 * Code without a line, such as the linkage table, is in no function.
	 * The line tables say so without the units, which cost far more.
	 */
	if (!s->hasunits && sym_tables(s) && !sym_has_line(s, addr))
		return;
	u = sym_unit(s, addr);
	if (u == NULL || (sc = sym_scope(s, u, addr)) == NULL)
		return;
	r = range_find(&u->scopes, addr);
	while (sc->parent != NOSCOPE)
		sc = &u->scope[sc->parent];
	at->fn = sc->fn;
	at->start = sc->start <= addr ? sc->start : r->start;
	at->end = r->end;
}

void
sym_function(struct sym *s, uint64_t addr, struct sym_at *at)
{
	const struct addr_range *r = range_find(&s->fns, addr);
	static const char *unknown;
	struct sym_fn *f;

	if (unknown == NULL)
		unknown = intern(SYM_UNKNOWN);
	at->fn = unknown;
	at->start = at->end = 0;
	if (r != NULL) {
		f = &s->fn[r->what];
		if (f->name == NULL)
			name_function(s, f);
		at->fn = f->name;
		at->start = f->start;
		at->end = r->end;
	} else if (!in_pieces(s, addr)) {
		dwarf_function(s, addr, at);
	}
}

uint64_t
sym_next(const struct sym *s, uint64_t addr)
{
	return range_next(&s->fns, addr);
}

void
sym_find(struct sym *s, uint64_t addr, struct sym_at *at)
{
	sym_function(s, addr, at);
	sym_line(s, addr, &at->file, &at->line);
}

size_t
sym_inline(struct sym *s, uint64_t addr, struct sym_frame *frame, size_t max)
{
	struct sym_unit *u = sym_unit(s, addr);
	const struct sym_scope *sc = NULL, *p;
	struct sym_at at;
	const char *file;
	unsigned line;
	size_t depth = 1, i = 0, passed = 0;

	sym_find(s, addr, &at);
	if (u != NULL)
		sc = sym_scope(s, u, addr);
	for (p = sc; p != NULL && p->parent != NOSCOPE;
	    p = &u->scope[p->parent])
		depth++;
	file = at.file;
	line = at.line;
	for (; sc != NULL && sc->parent != NOSCOPE;
	    sc = &u->scope[sc->parent], depth--) {
		if (passed++ < max / 2 || depth <= max - max / 2)
			frame[i++] = (struct sym_frame){ sc->fn, file, line,
			    sc->entry };
		file = sc->file;
		line = sc->line;
	}
	frame[i++] = (struct sym_frame){ at.fn, file, line, at.start };
	return i;
}
