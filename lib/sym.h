/*
 * sym.h - link-time address -> function, source file, line, inlined calls
 *
 * Over libdw. Names come from the ELF symbols of the object or its separate
 * debug file (build-id, .gnu_debuglink; compressed symbols in
 * .gnu_debugdata), lines from DWARF (.gnu_debugaltlink too). A missing debug
 * file is normal, so nothing here dies for want of one: what is not known is
 * SYM_UNKNOWN and line 0.
 *
 * Made for millions of questions in ascending order of address: a unit's
 * lines are laid out when it is first asked about.
 *
 * All strings are interned (intern.h): compare them as pointers.
 */
#ifndef SYM_H
#define SYM_H

#include <stddef.h>
#include <stdint.h>

/* The name of what has none. */
#define SYM_UNKNOWN	"???"

/* flags */
#define SYM_DEMANGLE	1	/* C++, Rust, D and others as they were written */
#define SYM_BELOW_MAIN	2	/* _start and such are "(below main)" */

struct sym;

/*
 * sym.c: an object
 *
 * Never NULL: an object that cannot be read knows nothing. Looks for separate
 * debug files in the folders of sym_debug_path.
 */
struct sym *sym_open(const char *path, unsigned flags);
/* Why there are no symbols, lines; NULL if there are. */
const char *sym_error(const struct sym *);
const char *sym_line_error(struct sym *);
void sym_close(struct sym *);
/* Do now what the first question for a line, or for inlined calls, would. */
void sym_prepare(struct sym *, int inlines);
/*
 * Colon-separated, before the first sym_open, as libdwfl has it: relative
 * ones are beside the object. NULL: ".debug" and "/usr/lib/debug".
 */
void sym_debug_path(const char *path);

/*
 * sym.c, symline.c: an address
 *
 * The function is the ELF symbol that covers the address, the innermost one,
 * also where its code was inlined from elsewhere; DWARF's if no symbol does.
 * Of several symbols for the same bytes: the shortest without its version,
 * then one with a version, then the first in byte order.
 */
struct sym_at {
	const char *fn;
	uint64_t start, end;	/* the function's part that holds the address;
				   0, 0 if it is unknown */
	const char *file;	/* with the compilation's folder, if relative */
	unsigned line;
};

void sym_find(struct sym *, uint64_t addr, struct sym_at *at);
/* The function alone: at->file and at->line stay as they are. */
void sym_function(struct sym *, uint64_t addr, struct sym_at *at);

/*
 * symname.c: where the functions of a name begin, in ascending order
 *
 * Calls use() for each address. A name is as in the file, with or without its
 * version, or as it was written in the source language, with or without its
 * parameters. Also a copy that the compiler made for some of the
 * calls (.constprop, .isra), but not what is only a part of a function, and
 * not a symbol that stands for a choice among functions (ifunc).
 */
void sym_entries(struct sym *, const char *name, void (*use)(void *arg,
    uint64_t addr), void *arg);

/*
 * syminline.c: the calls that were inlined at an address, innermost first
 *
 * frame[0] is where the address is; frame[i] the function that frame[i-1] was
 * inlined into, and the place of that call. The last is sym_find's function.
 * Fills at most max, which is at least 1, and returns how many: 1 if nothing
 * is inlined here. Inner frames are left out where max is too small.
 *
 * Each time that a function was inlined its code has an entry; the last frame's
 * is where the function starts. 0: not known.
 */
struct sym_frame {
	const char *fn;
	const char *file;
	unsigned line;
	uint64_t entry;
};

size_t sym_inline(struct sym *, uint64_t addr, struct sym_frame *frame,
    size_t max);

#endif
