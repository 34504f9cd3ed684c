/*
 * segments.h - the segments of an object file that are loaded
 *
 *	GElf_Phdr ph;
 *
 *	for (size_t i = 0; segment_next_code(elf, &i, &ph); )
 *		... ph.p_vaddr ...
 */
#ifndef SEGMENTS_H
#define SEGMENTS_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Set *ph to the next program header of type PT_LOAD, from number *i on, and *i
 * behind it; false: there is none, elf is NULL, or it cannot be read.
 */
bool segment_next(Elf *, size_t *i, GElf_Phdr *);
/* The same of those that can be executed. */
bool segment_next_code(Elf *, size_t *i, GElf_Phdr *);

#endif
