/*
 * keep.h - entries on disk, in a folder of the user's (--store)
 *
 * folder.c	the folder: whose it is, its entries, its size
 * sum.c	sums that any changed byte changes
 *
 * An entry is a file.  It is written under another name and renamed when it is
 * whole, so who reads one sees all of an old one or all of a new one.  Nothing
 * is locked.  What is in an entry is for its reader to check: see cache/kept.h.
 */
#ifndef KEEP_H
#define KEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Open the folder, made if it is not there; its entries may take `max` bytes.
 * False: it is not only ours, or cannot be used; a line says so.
 */
bool keep_open(const char *folder, uint64_t max);
/*
 * Open an entry to be read; -1: there is none.  *sure: since the last boot it
 * has been found right, and nothing has been written to it since then.
 */
int keep_entry(const char *name, bool *sure);
/* Note that an entry is used, and if it was found right since it was opened. */
void keep_used(int fd, bool right);
/*
 * Begin to write an entry of at most so many bytes: a descriptor; -1: it cannot
 * be written, and a warning says why.
 */
int keep_begin(uint64_t bytes);
/* Write n bytes; false: they were not all written, see errno. */
bool keep_write(int fd, const void *, size_t n);
/*
 * End the entry.  If it is whole it takes the place of any of its name, and the
 * oldest entries are removed until all fit; else it is dropped.
 */
void keep_end(int fd, const char *name, bool whole);
/* Seconds since an entry was written; -1: not known. */
int64_t keep_age(const char *name);
/* Remove an entry. */
void keep_remove(const char *name);

/* The sum of bytes, continued from that of those before them, or from 0. */
uint64_t keep_sum(uint64_t before, const void *, size_t n);

#endif
