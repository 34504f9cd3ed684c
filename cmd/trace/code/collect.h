/*
 * collect.h - what block.c, stub.c and follow.c share
 *
 * Others include code.h.
 */
#ifndef COLLECT_H
#define COLLECT_H

#include <stdbool.h>
#include <stdint.h>

#include "code/code.h"

#define PIECE_BYTES 256u	/* of code, read at one time */

/* stub.c */
#define STUB_LOOK 15u		/* bytes that are looked at before decoding */
/* Behind the endbr64 with which a function or a stub may begin. */
const uint8_t *stub_past_endbr(const uint8_t *code);
/* Take in n instructions that were decoded behind the block. */
void stub_append(struct block *, unsigned n);
/* With contexts: the block ends in a call or jump; add the stub it leads to. */
void stub_add(struct block *);
/*
 * A block that ends by a word that cannot change, or in a stub that goes by
 * one, leads where the word says.  A jump to a stub alone has no code, so
 * single steps could not tell the two apart.
 */
void stub_follow(struct block *);
/*
 * In kind counts the block leads where a word that cannot change says, too, but
 * a stub of linkage is a block of its own, as it is told.  Where contexts are
 * told, calls and jumps are looked at one by one.
 */
void stub_go_direct(struct block *);

#endif
