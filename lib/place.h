/*
 * place.h - of costs: addresses to functions, files and lines
 *
 * sym.h for all objects of a cost file at once, with its names as the cost
 * file's.
 */
#ifndef PLACE_H
#define PLACE_H

#include <stddef.h>
#include <stdint.h>

#include "cost.h"

enum { PLACE_MOST = 64 };	/* functions inlined into each other */

struct places;

struct place {
	uint32_t file;		/* names */
	uint32_t line;
};

/* A function whose code is at an address, inlined there or not. */
struct place_frame {
	uint32_t fn, file;	/* names */
	uint32_t line;		/* of the code, or of the inlined call there */
	uint64_t entry;		/* of the inlined code; 0: not known */
};

struct places *places_new(struct costnames *, unsigned symflags);
/* Look there for debug files, too. Before all else. */
void place_debug_path(const char *dir);
/* Is it a name at all, and not ???? */
int place_known(const struct places *, uint32_t name);

struct place place_find(struct places *, uint32_t ob, uint64_t addr);
/* Innermost first, at most PLACE_MOST; the last is the function itself. */
size_t place_inline(struct places *, uint32_t ob, uint64_t addr,
    struct place_frame *);

/*
 * The function with its file, found by an address that is its own (it is called
 * there) or may be (it was executed as the function's): then UINT32_MAX if it is
 * not. Once found, it is the same ever after.
 */
uint32_t place_function(struct places *, uint32_t fn, uint64_t addr, int own);
/* The function as the input has it. */
uint32_t place_as_is(struct places *, uint32_t fn);

#endif
