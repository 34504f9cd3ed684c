/*
 * parts - what the parts of the code cache share; not for other folders
 */
#ifndef CACHE_PARTS_H
#define CACHE_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "code/code.h"

/* ------------------------------------------------------------------- store.c */

#define NODEF ~0u		/* fragmeta.block: it tells nothing */
#define COUNTERS_MOST (2 * MAX_EXIT)	/* that a fragment needs, and shorter ones */

struct frag {
	app_pc pc;
	uint32_t piece;		/* its pieces of code */
	uint32_t npiece;
	uint64_t entry;		/* guest address; prologue << ENTRY_BITS */
	uint32_t meta;		/* index in its zone's fragmeta */
	uint8_t zone, dead, mode;
	uint16_t nexit;
	uint32_t exit;		/* its first exit */
	uint32_t firstin;	/* exits linked to it: head of a list, + 1 */
};
extern struct frag *frags;
extern uint32_t nfrag;

/* Room for frags[nfrag]. */
struct frag *store_new(void);
/* Its pieces of code, for it is made of more than one. */
void store_pieces(struct frag *, const struct block *);
/* Bytes of code that it was made of. */
uint64_t store_bytes(const struct frag *);
/* Some of its code is in [start, end). */
bool store_covers(const struct frag *, uint64_t start, uint64_t end);
/* There is room for one more fragment in everything it needs. */
bool store_room(unsigned zone);
/* Forget all fragments. */
void store_reset(void);

/* Its key in the table; the key of what its exits lead to. */
uint64_t key_of(const struct frag *);
uint64_t key_of_exit(const struct frag *, app_pc target);
/* Fragment f into the table by key, which the guest reads; entry 0: it is gone. */
void table_put(uint32_t f, uint64_t entry);
/* Index of the live fragment for a key + 1, or 0. */
uint32_t table_find(uint64_t key);
/* Empty it. */
void table_clear(void);
/* A zone has so many in the guest's list; so many exits are in theirs. */
void store_told(unsigned zone, uint32_t n);
void store_told_exits(uint32_t n);

/* -------------------------------------------------------------------- link.c */

struct xlate;
/* The exits of a new fragment, whose code is at `code` of its zone. */
void link_exits(const struct frag *, const struct xlate *, uint32_t code);
/* Exit e leads to fragment f, if it can. */
void link_exit(uint32_t e, uint32_t f);
/* Exit e leads to its stub. */
void link_cut(uint32_t e);
/* Exit e can be linked, and is not. */
bool link_open(uint32_t e);
/* The key of what exit e leads to. */
uint64_t link_key(uint32_t e);
/* Fragment f has come: link the exits that wait for it. */
void link_waiting(uint32_t f);
/* Fragment f is gone: what led to it waits for its pc. */
void link_lost(uint32_t f);
void link_reset(void);

/* ------------------------------------------------------------------- flush.c */

/* Forget all fragments, once no thread is in one. */
void flush(void);
/* Begin with none: for a new image, or when no thread is in one. */
void flush_new(void);

/* ------------------------------------------------------------------- paths.c */

bool path_known(app_pc pc);
void path_put(app_pc pc, const struct path *);
/* The path for the fragment at pc, or NULL. */
const struct path *path_of(app_pc pc);
void path_forget(app_pc pc);
void path_forget_all(void);

/* -------------------------------------------------------------------- dump.c */

/* To standard error, if --debug=dump asks for its pc. */
void dump_fragment(const struct xlate *, unsigned zone);

#endif
