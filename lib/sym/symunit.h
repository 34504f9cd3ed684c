/*
 * symunit.h - what the files of sym.h share
 *
 * Not for programs: see sym.h.
 */
#ifndef SYMUNIT_H
#define SYMUNIT_H

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <stddef.h>
#include <stdint.h>

#include "base/range.h"
#include "sym.h"

/*
 * An object, or its separate debug file. To libdwfl each is a module of its
 * own: of further files of a module it would keep the descriptors.
 */
struct sym_dwfl {
	Dwfl *dwfl;
	Dwfl_Module *mod;
	Elf *elf;		/* until libdwfl has it */
	uint64_t start, end;	/* where it is loaded */
	void *file;		/* its bytes, if they are mapped, or NULL */
	size_t size;
	char *path;		/* of a debug file */
	struct sym_dwfl *debug;	/* NULL: none, or libdwfl has it */
	Elf *altelf;		/* what debug files share, by dwz */
	Dwarf *alt;
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

/* A line table. */
struct sym_table {
	Dwarf_Off off;			/* where it is in .debug_line, or */
	Dwarf_Die *unit;		/* the unit that it belongs to */
	bool checked;			/* it is the right one */
	bool laidout;			/* as below */
	struct sym_row *row;		/* file NOFILE: no line here */
	size_t nrow, lastrow;
	Dwarf_Files *files;
	const char **file;		/* NULL: not asked yet */
	size_t nfile;
};

/* A compilation unit. */
struct sym_unit {
	Dwarf_Die die;
	struct sym_table lines;
	bool hasscopes;			/* laid out, below */
	struct sym_scope *scope;
	size_t nscope;
	struct ranges scopes;		/* what: index into scope */
};
#define NOFILE	UINT32_MAX

/* Debug sections in memory, for libdw. */
struct sym_image {
	char *mem;
	size_t size;
	Elf *elf;
	Dwarf *dwarf;
	uint64_t bias;		/* its addresses + bias are ours */
};

/* Line tables without units, as many as units. */
struct sym_tables {
	bool asked;
	struct sym_image image;
	struct sym_table *table;
	size_t n;		/* 0: lines are had from units */
	struct ranges ranges;	/* of the units; what: index into table */
};

struct sym {
	char *error;		/* no symbols */
	const char *lineerror;	/* no lines */
	unsigned flags;
	struct sym_dwfl *dwfl;	/* sym.c's */
	struct sym_tables tables;
	bool hasunits;		/* image, bias, unit: asked for */
	bool lacksplit;		/* a file of split DWARF: that was said */
	bool lacklines;		/* those of some unit: that was said, too */
	struct sym_image image;	/* of dwarf, if it is not libdwfl's */
	Dwarf *dwarf;
	uint64_t bias;		/* DWARF's addresses + bias are ours */
	uint64_t textlo, texthi;	/* code lies within */
	struct sym_piece {
		uint64_t start, end;
	} init, fini;		/* the sections .init and .fini */

	struct sym_vars *vars;	/* symdata.c's, or NULL */
	struct sym_fn *fn;	/* sym.c's */
	size_t nfn, nnamed;
	struct ranges fns;	/* what: index into fn */
	struct sym_unit *unit;
	size_t nunit;
	struct ranges units;	/* what: index into unit */
};

/* symunit.c: the units and the ranges of their code, if not yet read */
void sym_units(struct sym *);
/* The unit that covers addr, or NULL. */
struct sym_unit *sym_unit(struct sym *, uint64_t addr);
/*
 * The DIE that has the unit's functions and variables: split DWARF keeps it in
 * a file of its own. If that cannot be read, say so once; it is empty then.
 */
Dwarf_Die sym_whole_unit(struct sym *, const struct sym_unit *);
/*
 * Is a walk over DIEs and what is in them still on its way? *last is where it
 * has been, at first 0. Damaged DWARF leads out of a DIE to what is behind it,
 * which would be walked again from each DIE around.
 */
bool sym_goes_on(Dwarf_Die *, Dwarf_Off *last);
/* A name as the flags want it, interned. */
const char *sym_name(const struct sym *, const char *raw);
/* Free what a line table holds, not the table itself. */
void sym_table_free(struct sym_table *);

/*
 * symdebug.c: the object's file and separate debug files
 *
 * Is there something at name, or dir/name, that is no regular file? libdw
 * would wait for a FIFO. What is relative begins in the folder of `beside'.
 */
bool sym_is_odd(const char *beside, const char *dir, const char *name);
/* Open the object; NULL, or why not. */
const char *sym_dwfl_open(struct sym_dwfl *, const char *path);
/* Its name, for messages. */
const char *sym_dwfl_name(const struct sym_dwfl *);
/* Close and free it, with its debug files. */
void sym_dwfl_close(struct sym_dwfl *);
/* Give back the pages of its files that were read; they can be read again. */
void sym_dwfl_unread(const struct sym_dwfl *);
/* A symbol of an object's table. */
struct sym_symbol {
	const char *raw;	/* its name in the file, perhaps empty */
	uint64_t addr;		/* its link-time address */
	int type;		/* STT_FUNC ... */
	GElf_Sym elf;
	Dwfl_Module *mod;	/* private: the table, */
	int i, n;		/* and how much of it was read; */
	Elf *object;		/* then the object's dynamic ones, */
	Elf_Data *dynamic;	/* from the last to the first */
	size_t names, left;
};
/* Begin before the first symbol. */
struct sym_symbol sym_symbols(const struct sym *);
/* Go to the next symbol that is defined; false: there are no more. */
bool sym_symbol_next(struct sym_symbol *);
/* Is its address one of code? */
bool sym_symbol_is_code(const struct sym *, const struct sym_symbol *);
/* The DWARF of the object, or of its debug file; NULL: there is none. */
Dwarf *sym_dwarf(const struct sym_dwfl *, Dwarf_Addr *bias);

/*
 * symimage.c: the sections of `take' that the object has. -1 if it has one of
 * `without', if the first of `take' is missing or not compressed, or if it is
 * unusual in some other way: then libdwfl is to be asked.
 */
struct sym_sections {
	const char *const *take, *const *without;	/* up to NULL */
};
int sym_image(struct sym *, const struct sym_sections *, struct sym_image *);
/* Free it; zeros are an image that has nothing. */
void sym_image_close(struct sym_image *);
/* The section of this name, or NULL. */
const void *sym_image_section(const struct sym_image *, const char *name,
    size_t *size);

/* symtable.c: are there tables that can be had without units? */
bool sym_tables(struct sym *);
void sym_tables_close(struct sym *);

/* symline.c: file and line, or SYM_UNKNOWN and 0 */
void sym_line(struct sym *, uint64_t addr, const char **file, unsigned *line);
/* symline.c: has it a line at all? */
bool sym_has_line(struct sym *, uint64_t addr);
/* symline.c: the table's file with this DWARF number, or SYM_UNKNOWN */
const char *sym_file(struct sym *, struct sym_table *, uint64_t n);

/* symfile.c: the name of that file, interned; or SYM_UNKNOWN */
const char *sym_file_name(struct sym_table *, uint64_t n);

/*
 * symtame.c: make the line table at this offset one that libdw can read, and
 * only of code from lo to hi. Once, just before libdw reads it.
 */
void sym_tame(Dwarf *, Dwarf_Off off, uint64_t lo, uint64_t hi);

/* symstack.c: call(arg), where there is enough stack for libdw */
void sym_with_stack(void (*call)(void *), void *arg);

/* symdata.c: free the variables that were read, if any were */
void sym_vars_free(struct sym *);

/* syminline.c: the innermost scope at addr, or NULL */
const struct sym_scope *sym_scope(struct sym *, struct sym_unit *,
    uint64_t addr);

#endif
