/*
 * mapping.h - what the files about mappings share
 *
 * mapread.c knows the kernel, maplist.c has what is mapped executable,
 * mapbytes.c and constants.c read it, and maps.c keeps all of them up to date.
 * Others include code.h.
 */
#ifndef MAPPING_H
#define MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code/code.h"

struct mapping {
	uint64_t start, end, off;
	uint64_t dev, ino;	/* the file's, or 0 */
	char *path;
	bool write, shared;	/* shared: what others write is seen */
	unsigned object;
};

/* mapread.c */
/* The program is another process now. */
void mapread_open(void);
/* Is it trace's memory at `at', or the kernel's? */
bool mapread_is_ours(uint64_t at);
/*
 * The executable mappings in [start, end) as they are now, cut to it, without
 * their objects; the array and each path are to be freed.
 */
struct mapping *mapread_code(uint64_t start, uint64_t end, size_t *count);
/*
 * What is mapped readable at `at', its path to be freed; false: nothing, or
 * this kernel cannot say.
 */
bool mapread_data(uint64_t at, struct mapping *);

/* maplist.c */
/* Add a mapping, where there is none; its path is copied. */
void maplist_add(const struct mapping *);
/* Take [start, end) out. */
void maplist_cut(uint64_t start, uint64_t end);
void maplist_forget(void);
/* Mapping i, from 0, by address; NULL: there are fewer. */
const struct mapping *maplist_at(size_t i);
/* The mapping that has `at'; or NULL. */
const struct mapping *maplist_find(uint64_t at);

/* mapbytes.c */
/* The bytes of the page at `at', which cannot be written; or NULL. */
const uint8_t *mapbytes_page(uint64_t at);
/* Pages in [start, end) may have other bytes. */
void mapbytes_forget(uint64_t start, uint64_t end);
/* After maps_gone: is the image gone; and there is a new one. */
bool mapbytes_gone(void);
void mapbytes_here(void);

/* constants.c */
/* Mappings in [start, end) have changed: nothing there is constant any more. */
void constants_changed(uint64_t start, uint64_t end);
void constants_forget(void);
/* Give the runtime the ranges that it must notice: see its touches_code. */
void constants_publish(void);

#endif
