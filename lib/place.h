/*
 * place.h - the functions, files and lines of addresses in costs
 *
 * Uses sym.h for all objects of a cost file; names are the cost file's.
 */
#ifndef PLACE_H
#define PLACE_H

#include <stdbool.h>
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

/* Names come from, and go to, this table; the flags are those of sym.h. */
struct places *places_new(struct costnames *, unsigned symflags);
/*
 * A program's options about places: in its list PLACE_OPTIONS, for getopt.h,
 * and where it knows none of an option, place_option, before all else.  False:
 * it is not one of these.
 */
enum { PLACE_EXTRA = 512, PLACE_INLINE };
#define PLACE_OPTIONS							\
	{ "extra-debuginfo-path", required_argument, NULL, PLACE_EXTRA }, \
	{ "inline", optional_argument, NULL, PLACE_INLINE }
bool place_option(int c, const char *arg, bool *inlines);
/* Is the name neither empty nor ??? */
bool place_known(const struct places *, uint32_t name);
/* Begin to read an object, which will be asked for lines, or inlined calls. */
void place_prepare(struct places *, uint32_t ob, bool inlines);

/* File and line of an object's link-time address; or SYM_UNKNOWN, 0. */
struct place place_find(struct places *, uint32_t ob, uint64_t addr);
/* The function that has the address, even if its code was inlined there. */
struct place_frame place_symbol(struct places *, uint32_t ob, uint64_t addr);
/* Innermost first, at most PLACE_MOST; the last is the function itself. */
size_t place_inline(struct places *, uint32_t ob, uint64_t addr,
    struct place_frame *);

/*
 * The function with its file, found by an address. own: the address is the
 * function's, because it is called there; else it was executed as the
 * function's, and the result is UINT32_MAX if it is another's. Later calls
 * return the same function for any address.
 */
uint32_t place_function(struct places *, uint32_t fn, uint64_t addr, bool own);
/* The function as it is in the input. */
uint32_t place_as_is(struct places *, uint32_t fn);

#endif
