/*
 * place.h - inside fmt-callgrind: addresses to functions, files and lines
 */
#ifndef PLACE_H
#define PLACE_H

#include <stddef.h>
#include <stdint.h>

#include "cost.h"

enum { PLACE_MOST = 64 };	/* functions inlined into each other */

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

extern struct costnames *names;
extern uint32_t unknown;	/* the name ??? */

void place_init(unsigned symflags);
/* -1: look also there for debug files. */
void place_debug_path(const char *dir);
int place_known(uint32_t name);

struct place place_find(uint32_t ob, uint64_t addr);
/* Innermost first; the last is the function itself. */
size_t place_inline(uint32_t ob, uint64_t addr, struct place_frame *);

/*
 * The function with its file, found by an address that is its own (it is called
 * there) or may be (it was executed as the function's): then UINT32_MAX if it is
 * not. Once found, it is the same ever after.
 */
uint32_t place_function(uint32_t fn, uint64_t addr, int own);
uint32_t place_as_is(uint32_t fn);	/* whose file is not looked for */

#endif
