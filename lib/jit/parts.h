/*
 * parts.h - inside the readers of names of code made at run time
 */
#ifndef JIT_PARTS_H
#define JIT_PARTS_H

#include <stdbool.h>

#include "jit.h"

#define JIT_DUMPS	8		/* files */
#define JIT_PIECES	(4u << 20)	/* pieces of code, of all files */
#define JIT_TEXT	((size_t)1 << 28)	/* bytes of names and lines */

/* A file that grows. */
struct jit_file {
	int fd;
	uint64_t at;		/* read up to here */
	bool bad;		/* nothing more is to be read */
	uint32_t number;	/* of a dump, from 1 */
	uint64_t shift;		/* of addresses in line records */
	/* the record of lines for the code record that follows; or NULL */
	char *lines;
	size_t nlines;		/* bytes */
	uint64_t nentry;
	uint64_t line_code;	/* they are of code at this address */
};

struct jit {
	struct jit_file map, dump[JIT_DUMPS];
	uint32_t ndump;
	struct jit_code *code;
	size_t ncode, capcode;
	size_t text;		/* bytes of names and lines */
	/* for jit_find: pieces by start, and the highest end up to each */
	uint32_t *order;
	uint64_t *reach;
	size_t norder;
};

/* table.c: add a piece; its name is cut at len. false: there are too many. */
bool jit_add(struct jit *, struct jit_code, const char *name, size_t len);
/* table.c: memory for text; NULL: there is too much. */
void *jit_text(struct jit *, size_t n);
/* table.c: read n bytes at an offset; false: they are not there (yet). */
bool jit_read(const struct jit_file *, uint64_t at, void *, size_t n);

/*
 * perfmap.c, jitdump.c: read what was added to the map, to a dump. A dump that
 * is not what it should be, or is over, becomes bad.
 */
void perfmap_poll(struct jit *);
void jitdump_poll(struct jit *, struct jit_file *);

#endif
