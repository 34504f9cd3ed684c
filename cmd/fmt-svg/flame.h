/*
 * flame.h - what the parts of fmt-svg share
 *
 *	main.c			options
 *	frames.c		reads collapsed stacks into a tree
 *	draw.c			draws the tree
 *	flame.css, flame.js	zoom, search, keyboard inside the picture
 */
#ifndef FLAME_H
#define FLAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct out;

/* A frame: a function on top of its caller. */
struct flame {
	const char *name;
	uint64_t n;		/* counts of it and its callees */
	uint64_t old;		/* the same in the run compared with */
	uint32_t up;		/* its caller, or NONE */
	uint32_t first;		/* its first callee by name, or NONE */
	uint32_t next;		/* its caller's next callee, or NONE */
	uint32_t depth;
};

#define NONE	UINT32_MAX

/* frame[0] is the bottom of all stacks. */
extern struct flame *frame;
extern size_t nframe;
extern bool compared;		/* there are counts of another run */

/* Read a file (NULL: standard input) into the tree, sorted by name. */
void frames_read(const char *file);
/* The same of two files, each with the counts of one run. */
void frames_compare(const char *old, const char *new);

struct picture {
	const char *title;
	const char *what;	/* the name of the counts */
	unsigned width;		/* pixels */
	double least;		/* merge narrower frames; < 0: choose */
	bool down;		/* the first function is at the top */
};

/* Write all frames, as an SVG document. */
void draw(struct out *, const struct picture *);

#endif
