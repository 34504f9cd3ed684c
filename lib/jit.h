/*
 * jit.h - names of code made at run time, as runtimes write them
 *
 *	/tmp/perf-PID.map	a line for each piece of code: `start size name'
 *	jit-PID.dump		jitdump: records with name, bytes and lines
 *
 * Both grow while the program runs, and it writes them, or anyone: nothing in
 * them is trusted. What is malformed is left out, and sizes are bounded.
 */
#ifndef JIT_H
#define JIT_H

#include <stddef.h>
#include <stdint.h>

struct jit;

/* From this address on, up to the next one's, code is of this line. */
struct jit_line {
	uint64_t addr;
	const char *file;
	uint32_t line;
};

struct jit_code {
	uint64_t start, size;
	const char *name;
	const struct jit_line *line;	/* in ascending order of address */
	uint32_t nline;
	/* private: a dump's code bytes */
	uint32_t dump;			/* 1 + its number; 0: of a map */
	uint64_t bytes;			/* where in the file */
};

#define JIT_NONE	SIZE_MAX
#define JIT_NAME	4095	/* bytes of a name; the rest is cut */

/* A reader without files. */
struct jit *jit_new(void);
/* Free it, and close its files; pieces and their names are gone. */
void jit_free(struct jit *);
/*
 * Read a map, or one more dump, from now on. Returns 0, and the descriptor is
 * jit's; -1: there is a map already, or there are too many dumps.
 */
int jit_open_map(struct jit *, int fd);
int jit_open_dump(struct jit *, int fd);
/* Read what was added to the files; returns how many pieces are known. */
size_t jit_poll(struct jit *);
/* A piece by its index, below what jit_poll returned. */
const struct jit_code *jit_get(const struct jit *, size_t);
/*
 * Which piece holds the n bytes of code that ran at addr, or JIT_NONE. In dumps
 * it is one with (almost) these bytes. Maps do not have them: there it is
 * the last one of the first `known', those that jit_poll had read when the
 * code was first seen, or else the first one behind them.
 */
size_t jit_find(struct jit *, uint64_t addr, const uint8_t *code, size_t n,
    size_t known);

#endif
