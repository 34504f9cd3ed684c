/*
 * lacks - extensions of the processor that the decoder does not know
 *
 * The program does not see them, so that it uses others instead: an instruction
 * that is not decoded is executed alone, in 60 us, and not recorded.  t/0107
 * compares this table with what the decoder does.
 */
#include <stdbool.h>

#include "code/decoding.h"

/* Zydis 4.0 is Debian 12's and Ubuntu 24.04's. */
#define BEFORE_4_1 (ZYDIS_VERSION < 0x0004000100000000)

static const struct {
	unsigned bit;		/* of cpuid's leaf 7, subleaf 1 */
	bool in_edx, lacks;	/* else in eax */
} extensions[] = {
	{ 0, false, BEFORE_4_1 },	/* SHA512 */
	{ 1, false, BEFORE_4_1 },	/* SM3 */
	{ 2, false, BEFORE_4_1 },	/* SM4 */
	{ 3, false, BEFORE_4_1 },	/* RAO-INT */
	{ 7, false, true },		/* CMPCCXADD */
	{ 21, false, BEFORE_4_1 },	/* AMX-FP16 */
	{ 23, false, BEFORE_4_1 },	/* AVX-IFMA */
	{ 4, true, BEFORE_4_1 },	/* AVX-VNNI-INT8 */
	{ 5, true, BEFORE_4_1 },	/* AVX-NE-CONVERT */
	{ 8, true, true },		/* AMX-COMPLEX */
	{ 10, true, BEFORE_4_1 },	/* AVX-VNNI-INT16 */
	{ 15, true, true },		/* USER_MSR */
	{ 19, true, true },		/* AVX10, which has more from 10.2 on */
	{ 21, true, true }		/* APX */
};

void
decode_lacks(uint32_t *eax, uint32_t *edx)
{
	unsigned i;

	*eax = *edx = 0;
	for (i = 0; i < sizeof extensions / sizeof extensions[0]; i++)
		*(extensions[i].in_edx ? edx : eax) |=
		    (uint32_t)extensions[i].lacks << extensions[i].bit;
}
