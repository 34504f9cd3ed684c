/*
 * evpack.h - the instructions of a block, packed into few bytes
 *
 * For lib, and for programs that write many blocks. evpack_each starts an
 * iteration over packed instructions, as ev_each does over a block's.
 */
#ifndef EVPACK_H
#define EVPACK_H

#include <stddef.h>
#include <stdint.h>

#include "ev.h"

/* The most bytes that an instruction and each reference take. */
#define EVPACK_INSN	(16 + 2 + 10 + 5 + 1 + 10)
#define EVPACK_REF	(1 + 1 + 5 + 1 + 10 + 1)

/*
 * Pack an instruction with its nref references and return the end. behind is
 * the end address of the instruction before, or 0. Ignores i->ref, i->target
 * and i->ngroups.
 */
uint8_t *evpack_insn(uint8_t *p, const struct ev_insn *i,
    const struct ev_ref *, uint64_t target, uint64_t behind);
/* Before that: pack the instruction's bytes, so that the stream tells them. */
uint8_t *evpack_code(uint8_t *p, const uint8_t *code, unsigned len);
void evpack_each(struct ev_each *, const uint8_t *packed, struct ev_ref *);
/* Write the items of a B line: how many bytes; -1: there is not enough room. */
int evpack_items(char *text, size_t room, const uint8_t *packed,
    unsigned ninsn);

#endif
