/*
 * sym.h - link-time address -> function, source file, line, inlined calls
 *
 * Uses libdw. Names come from the ELF symbols of the object or its separate
 * debug file (build-id, .gnu_debuglink; compressed symbols in
 * .gnu_debugdata), lines from DWARF (.gnu_debugaltlink too). A missing debug
 * file is normal and no error: unknown names are SYM_UNKNOWN, unknown lines 0.
 *
 * Made for millions of lookups in ascending order of address: the first lookup
 * in a unit reads the unit's lines.
 *
 * All strings are interned (intern.h): compare them as pointers.
 */
#ifndef SYM_H
#define SYM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The name of an unknown function or file. */
#define SYM_UNKNOWN	"???"

/* flags */
#define SYM_DEMANGLE	1	/* names of C++, Rust, D ... as in the source */
#define SYM_BELOW_MAIN	2	/* _start and such are "(below main)" */

struct sym;

/*
 * sym.c: an object
 *
 * Never returns NULL: in an object that cannot be read all is unknown. Looks
 * for separate debug files in the folders of sym_debug_path.
 */
struct sym *sym_open(const char *path, unsigned flags);
/* Why there are no symbols, or no lines; NULL if there are. */
const char *sym_error(const struct sym *);
const char *sym_line_error(struct sym *);
/* Free it; its strings stay. */
void sym_close(struct sym *);
/* Do now the work of the first lookup of a line, or of inlined calls. */
void sym_prepare(struct sym *, bool inlines);
/*
 * Set the folders of debug files, before the first sym_open: separated by
 * colons, as for libdwfl; relative ones begin in the object's folder. NULL
 * means ".debug" and "/usr/lib/debug".
 */
void sym_debug_path(const char *path);

/*
 * sym.c, symline.c: an address
 *
 * The function is the innermost ELF symbol that covers the address, even if
 * the code was inlined from another function; without such a symbol, DWARF's
 * function. Of several symbols for the same bytes sym_find prefers the one
 * whose name without its version is shortest, then one with a version, then the
 * first in byte order.
 */
struct sym_at {
	const char *fn;
	uint64_t start, end;	/* the function's range that holds the address;
				   0, 0 if it is unknown */
	const char *file;	/* a relative one behind the unit's folder */
	unsigned line;
};

/* All of it; what is unknown is SYM_UNKNOWN, or 0. */
void sym_find(struct sym *, uint64_t addr, struct sym_at *at);
/* Find the function only: at->file and at->line are not set. */
void sym_function(struct sym *, uint64_t addr, struct sym_at *at);
/* Where the first symbol behind addr begins; UINT64_MAX: there is none. */
uint64_t sym_next(const struct sym *, uint64_t addr);

/*
 * symname.c: where the functions of a name begin, in ascending order
 *
 * Calls use() for each address. The name is the one in the file, with or
 * without its version, or the one in the source language, with or without its
 * parameters; without the arguments of templates it is all that they make. It
 * may be a pattern with * and ?. Copies that the compiler made for some of the
 * calls (.constprop, .isra) count too, but not parts of a function, and not a
 * symbol that stands for a choice among functions (ifunc).
 */
void sym_entries(struct sym *, const char *name, void (*use)(void *arg,
    uint64_t addr), void *arg);

/*
 * Calls use() for each function of this last word in a longer name, as rs::work
 * is for work: by its name in the source language without its parameters, which
 * sym_entries takes. In no order, and a name may come more than once.
 */
void sym_last_words(struct sym *, const char *word, void (*use)(void *arg,
    const char *name), void *arg);

/* Calls use() for each function, in no order, by its name in the file. */
void sym_functions(struct sym *, void (*use)(void *arg, const char *raw,
    uint64_t addr), void *arg);

/*
 * syminline.c: the calls that were inlined at an address, innermost first
 *
 * frame[0] has the place of the address; frame[i] has the function into which
 * frame[i-1] was inlined, and the place of that call. The last frame has
 * sym_find's function. Fills at most max frames, which is at least 1, and
 * returns how many: 1 if nothing is inlined here. If max is too small, those in
 * the middle are left out.
 *
 * entry is where the inlined copy of the code begins; in the last frame, where
 * the function begins. 0: not known.
 */
struct sym_frame {
	const char *fn;
	const char *file;
	unsigned line;
	uint64_t entry;
};

size_t sym_inline(struct sym *, uint64_t addr, struct sym_frame *frame,
    size_t max);

/*
 * symdata.c: data
 *
 * The variable, or thread-local variable by its offset in the object's block,
 * that covers an address. Where there is none name is NULL; start and end are
 * those of the gap, and section is the section's name, if it is in one.
 */
struct sym_data {
	const char *name;
	const char *section;
	uint64_t start, end;
	bool tls;
};

void sym_variable(struct sym *, uint64_t addr, bool tls, struct sym_data *);
/*
 * Write what a reference of so many bytes at an offset of the variable is to
 * into buf: the member, as `.next' or `[].next', or nothing if it has none; or
 * by_type, its type before that, as `struct node.next'. false: its type is not
 * known.
 */
bool sym_member(struct sym *, const struct sym_data *, uint64_t off,
    uint64_t size, bool by_type, char *buf, size_t n);

#endif
