/*
 * evpack.h - the instructions of a block in few bytes
 *
 * Inside lib, and for who has many blocks to write. ev_each tells what is
 * packed, from where evpack_each says.
 */
#ifndef EVPACK_H
#define EVPACK_H

#include <stddef.h>
#include <stdint.h>

#include "ev.h"

/* Bytes that an instruction, and each reference, may take. */
#define EVPACK_INSN	(2 + 10 + 5 + 1 + 10)
#define EVPACK_REF	(1 + 5 + 1 + 10 + 1)

/*
 * Pack an instruction with its nref references; behind is the address behind
 * the one before, or 0. i->ref, i->target and i->ngroups do not matter.
 */
uint8_t *evpack_insn(uint8_t *p, const struct ev_insn *i,
    const struct ev_ref *, uint64_t target, uint64_t behind);
void evpack_each(struct ev_each *, const uint8_t *packed, struct ev_ref *);
/* The items as a B line has them; -1: there is not enough room. */
int evpack_items(char *text, size_t room, const uint8_t *packed,
    unsigned ninsn);

#endif
