/*
 * decoding.h - what decode.c, classify.c and operands.c share
 *
 * Others include decode.h.
 */
#ifndef DECODING_H
#define DECODING_H

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stdint.h>

#include "code/decode.h"

/* operands.c: called once, before all others, by decode_init */
void operands_init(uint64_t components);
/* Bytes of the area that xsave writes, or xsavec. */
unsigned decode_xstate(bool compacted);
/* A register's number, 0 to 15 or NOREG, and its width in bits. */
extern uint8_t decode_gpr[ZYDIS_REGISTER_MAX_VALUE + 1];
extern uint8_t decode_gprbits[ZYDIS_REGISTER_MAX_VALUE + 1];
/* Add a reference, without registers yet. */
struct ref *decode_add_ref(struct insn *, char rw, unsigned size);
/* A segment as struct ref has it. */
unsigned decode_seg(ZydisRegister);

/* classify.c: set flow, special, emulate, and the members that these need */
void decode_classify(struct insn *, const ZydisDecodedInstruction *,
    const ZydisDecodedOperand *);

#endif
