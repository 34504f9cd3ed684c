/*
 * cache - the code cache: fragments by guest pc, and the links between them
 *
 * frag.c	makes fragments, on request and ahead; drops them
 * store.c	all fragments, and the table that the guest reads
 * link.c	direct exits, patched to lead to fragments
 * flush.c	all of them forgotten
 * paths.c	ways of blocks that run often; search.c finds them
 */
#ifndef CACHE_H
#define CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "code/code.h"

#define AHEAD 2u		/* fragments made for one miss, with its own, at most */

/* Once, before all others. */
void cache_start(void);
/* Before --after is over. */
bool cache_skipping(void);
/* A new image: nothing is translated yet, and no path is known. */
void cache_new(void);
/*
 * Entry of the fragment for pc, translated if need be, and exit `exitno` (or
 * ~0) linked to it; 0: no code there.  What is near follows, by frag_ahead.
 */
uint64_t frag_request(app_pc pc, uint64_t exitno, unsigned mode);
/* Make one fragment that the guest has not asked for; false: none is wanted. */
bool frag_ahead(void);
/* The code at pc is not what was translated: forget that fragment. */
void frag_stale(app_pc pc, unsigned mode);
/* The fragment for pc, if there is one, is made anew. */
void frag_again(app_pc pc);
/* Forget what covers [start, end). */
void frag_kill(uint64_t start, uint64_t end);
/* All counters are told, and can be used again. */
void frag_renew(void);
/* --after is over: from here on fragments tell what they do. */
void frag_window(void);
/* All threads are to go on natively, at their next exits. */
void frag_letgo(void);

/* Of the next id that came often: where a path was found for it, or 0. */
app_pc search_next(void);

#endif
