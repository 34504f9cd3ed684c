/*
 * operands - registers and references, as decode.c and classify.c note them
 */
#include <string.h>

#include "code/decoding.h"

uint8_t decode_gpr[ZYDIS_REGISTER_MAX_VALUE + 1];
uint8_t decode_gprbits[ZYDIS_REGISTER_MAX_VALUE + 1];

void
operands_init(void)
{
	ZydisRegister r, big;
	ZydisRegisterClass c;

	for (r = 0; r <= ZYDIS_REGISTER_MAX_VALUE; r++) {
		c = ZydisRegisterGetClass(r);
		decode_gpr[r] = NOREG;
		if (c != ZYDIS_REGCLASS_GPR8 && c != ZYDIS_REGCLASS_GPR16 &&
		    c != ZYDIS_REGCLASS_GPR32 && c != ZYDIS_REGCLASS_GPR64)
			continue;
		big = ZydisRegisterGetLargestEnclosing(
		    ZYDIS_MACHINE_MODE_LONG_64, r);
		decode_gpr[r] = (uint8_t)(big - ZYDIS_REGISTER_RAX);
		decode_gprbits[r] = (uint8_t)ZydisRegisterGetWidth(
		    ZYDIS_MACHINE_MODE_LONG_64, r);
	}
}

struct ref *
decode_add_ref(struct insn *in, char rw, unsigned size)
{
	struct ref *r = &in->ref[in->nref++];

	memset(r, 0, sizeof *r);
	r->rw = rw;
	r->size = (uint16_t)size;
	r->base = r->index = r->bitreg = NOREG;
	r->scale = 1;
	return r;
}

unsigned
decode_seg(ZydisRegister s)
{
	return s == ZYDIS_REGISTER_FS ? 4 : s == ZYDIS_REGISTER_GS ? 5 : 0;
}
