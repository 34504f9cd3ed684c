/*
 * decoding - what decode.c and classify.c share
 *
 * Not for others: see decode.h.
 */
#ifndef DECODING_H
#define DECODING_H

#include <Zydis/Zydis.h>
#include <stdint.h>

#include "code/decode.h"

/* operands.c: once, before all others; as decode_init */
void operands_init(uint64_t components);
/* Bytes of the area of xsave, or of one that is compacted. */
unsigned decode_xstate(int compact);
/* A register's number, 0 to 15 or NOREG, and its bits. */
extern uint8_t decode_gpr[ZYDIS_REGISTER_MAX_VALUE + 1];
extern uint8_t decode_gprbits[ZYDIS_REGISTER_MAX_VALUE + 1];
/* One more reference, by no register yet. */
struct ref *decode_add_ref(struct insn *, char rw, unsigned size);
/* As in struct ref. */
unsigned decode_seg(ZydisRegister);

/* classify.c: flow, special, emulate, and what these need beside */
void decode_classify(struct insn *, const ZydisDecodedInstruction *,
    const ZydisDecodedOperand *);

#endif
