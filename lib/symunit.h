/*
 * symunit.h - what sym.c, symline.c and syminline.c share
 *
 * Not for programs: see sym.h.
 */
#ifndef SYMUNIT_H
#define SYMUNIT_H

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stddef.h>
#include <stdint.h>

#include "range.h"
#include "sym.h"

struct sym_dwfl {
	Dwfl *dwfl;
	Dwfl_Module *mod;
};

/* A row of the line table; up to the next one's address. */
struct sym_row {
	uint64_t addr;
	uint32_t file;		/* index into files */
	uint32_t line;
};

/* A function, or a call that was inlined. */
struct sym_scope {
	const char *fn;
	uint64_t start;		/* its first address */
	uint64_t entry;		/* where it begins to run */
	uint32_t parent;	/* index of what is around it, or NOSCOPE */
	uint32_t line;		/* of the call */
	const char *file;	/* of the call */
};
#define NOSCOPE	UINT32_MAX

/* A compilation unit. */
struct sym_unit {
	Dwarf_Die die;
	int haslines, hasscopes;	/* laid out, below */
	struct sym_row *row;		/* file NOFILE: no line here */
	size_t nrow, lastrow;
	const char **file;
	size_t nfile;
	struct sym_scope *scope;
	size_t nscope;
	struct ranges scopes;		/* what: index into scope */
};
#define NOFILE	UINT32_MAX

struct sym {
	char *error;		/* no symbols */
	const char *lineerror;	/* no lines */
	unsigned flags;
	struct sym_dwfl *dwfl;	/* sym.c's */
	int hasunits;		/* dwarf, bias, unit: asked for */
	Dwarf *dwarf;
	uint64_t bias;		/* DWARF's addresses + bias are ours */
	uint64_t textlo, texthi;	/* code lies within */

	struct sym_fn *fn;	/* sym.c's */
	size_t nfn;
	struct ranges fns;	/* what: index into fn */
	struct sym_unit *unit;
	size_t nunit;
	struct ranges units;	/* what: index into unit */
};

/* sym.c: the unit that covers addr, or NULL */
struct sym_unit *sym_unit(struct sym *, uint64_t addr);
/* sym.c: a name as the flags want it, interned */
const char *sym_name(const struct sym *, const char *raw);
/* symline.c: file and line, or SYM_UNKNOWN and 0 */
void sym_line(struct sym *, uint64_t addr, const char **file, unsigned *line);
/* symline.c: the unit's file with this DWARF number, or SYM_UNKNOWN */
const char *sym_file(struct sym_unit *, uint64_t n);
/* syminline.c: the innermost scope at addr, or NULL */
const struct sym_scope *sym_scope(struct sym *, struct sym_unit *,
    uint64_t addr);

#endif
