/*
 * codename.h - the names of code made at run time, by G and L lines
 *
 * A stream tells a name after the blocks that it is of, and mostly at the end.
 * A function is a range of addresses in certain blocks: other blocks may have
 * had the same addresses at another time.
 */
#ifndef CODENAME_H
#define CODENAME_H

#include <stddef.h>
#include <stdint.h>

struct ev;
struct codenames;

struct codename_line {
	uint64_t addr;		/* from here on, up to the next one */
	const char *file;
	uint32_t line;
};

struct codename {
	uint64_t start, size;
	const char *name;
	uint32_t num;			/* from 1 */
	struct codename_line *line;	/* private: see codename_line */
	size_t nline, capline;
	size_t sorted;			/* so many of them are in order */
};

/* A table without names. */
struct codenames *codenames_new(void);
/* Take in a G or L line, but for a list of blocks, which is the caller's. */
void codenames_take(struct codenames *, const struct ev *);
/* The function with a number, from 1, that the reader has checked. */
struct codename *codename_get(const struct codenames *, uint64_t n);
/* The line of an address, or NULL. */
const struct codename_line *codename_line(struct codename *, uint64_t addr);

#endif
