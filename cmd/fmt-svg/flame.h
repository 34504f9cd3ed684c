/*
 * flame.h - inside fmt-svg
 *
 *	main.c	options
 *	frames.c	collapsed stacks to a tree
 *	draw.c	the tree to a picture
 *	flame.css, flame.js	what makes the picture answer
 */
#ifndef FLAME_H
#define FLAME_H

#include <stddef.h>
#include <stdint.h>

struct out;

/* A function on top of another one. */
struct frame {
	const char *name;
	uint64_t n;		/* in it and what it called */
	uint64_t old;		/* the same of the run compared with */
	uint32_t up;		/* or NONE */
	uint32_t first, next;	/* on top of this one; beside it; by name */
	uint32_t depth;
};

#define NONE	UINT32_MAX

/* frame[0] is under all of them. */
extern struct frame *frame;
extern size_t nframe;
extern int compared;		/* there were two counts */

/* Read a file (NULL: standard input) into the tree, in order of names. */
void frames_read(const char *file);

struct picture {
	const char *title;
	const char *what;	/* is counted */
	unsigned width;		/* pixels */
	double least;		/* frames less wide are left out */
	int down;		/* the first function is at the top */
};

void draw(struct out *, const struct picture *);

#endif
