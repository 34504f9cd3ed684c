/*
 * operands - registers and references, for decode.c and classify.c
 */
#include <cpuid.h>
#include <string.h>

#include "code/decoding.h"

uint8_t decode_gpr[ZYDIS_REGISTER_MAX_VALUE + 1];
uint8_t decode_gprbits[ZYDIS_REGISTER_MAX_VALUE + 1];

#define XSTATE_LEAF 0xd
#define XSTATE_MIN 576u		/* x87, SSE, and the header */

static uint64_t components;	/* that xsave may store */
static unsigned xstate[2];	/* bytes: standard, compacted; 0: not yet */

/*
 * How far the enabled components reach, as cpuid has it.  A virtual machine
 * takes 10 us for each look, and few programs use xsave.
 */
static void
xstate_init(void)
{
	uint32_t a, b, c, d, i, lo = 0, hi = 0;

	xstate[0] = xstate[1] = XSTATE_MIN;
	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
		return;
	__asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
	components &= (uint64_t)hi << 32 | lo;
	for (i = 2; i < 63; i++) {
		if (!(components >> i & 1) ||
		    !__get_cpuid_count(XSTATE_LEAF, i, &a, &b, &c, &d))
			continue;
		if (b + a > xstate[0])
			xstate[0] = b + a;
		if (c & 2)
			xstate[1] = (xstate[1] + 63) & ~63u;
		xstate[1] += a;
	}
}

unsigned
decode_xstate(bool compacted)
{
	if (xstate[0] == 0)
		xstate_init();
	return xstate[compacted];
}

void
operands_init(uint64_t those)
{
	ZydisRegister r, big;
	ZydisRegisterClass c;

	components = those;
	xstate[0] = 0;

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
