/*
 * khash.h - htslib's hash tables, in memory that succeeds or ends the program
 *
 * Include this, not <htslib/khash.h>.  Then kh_init never gives NULL, kh_resize
 * does not fail, and kh_put sets *ret to 0 for a key that was there before, and
 * to more for a new one.
 */
#ifndef KHASH_H
#define KHASH_H

#include "mem.h"

#define kmalloc(size) xmalloc(size)
#define kcalloc(n, size) xcalloc(n, size)
#define krealloc(p, size) xrealloc(p, size)

#include <htslib/khash.h>

#endif
