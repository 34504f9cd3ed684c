/*
 * lacks - does the decoder know what the program may see that there is?
 *
 * Prints the extensions of cpuid's leaf 7, subleaf 1: "known NAME" or "lacks
 * NAME", and " wrongly" behind it where decode_lacks says the opposite of what
 * the decoder does with an instruction of it.  Then the same of vpermq, without
 * its bit W, and the references of a load of a tile.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../../cmd/trace/code/decode.h"

static const struct {
	const char *name;
	unsigned bit;
	bool in_edx;
	uint8_t code[12];
} extensions[] = {
	{ "SHA512", 0, false, { 0xc4, 0xe2, 0x7f, 0xcc, 0xca } },
	{ "SM3", 1, false, { 0xc4, 0xe2, 0x68, 0xda, 0xcb } },
	{ "SM4", 2, false, { 0xc4, 0xe2, 0x6a, 0xda, 0xcb } },
	{ "RAO-INT", 3, false, { 0x0f, 0x38, 0xfc, 0x08 } },
	{ "AVX-VNNI", 4, false, { 0xc4, 0xe2, 0x69, 0x50, 0xcb } },
	{ "AVX512-BF16", 5, false, { 0x62, 0xf2, 0x6e, 0x48, 0x52, 0xcb } },
	{ "CMPCCXADD", 7, false, { 0xc4, 0xe2, 0x71, 0xe6, 0x10 } },
	{ "AMX-FP16", 21, false, { 0xc4, 0xe2, 0x73, 0x5c, 0xc2 } },
	{ "AVX-IFMA", 23, false, { 0xc4, 0xe2, 0xe9, 0xb4, 0xcb } },
	{ "AVX-VNNI-INT8", 4, true, { 0xc4, 0xe2, 0x6b, 0x50, 0xcb } },
	{ "AVX-NE-CONVERT", 5, true, { 0xc4, 0xe2, 0x7a, 0xb1, 0x08 } },
	{ "AMX-COMPLEX", 8, true, { 0xc4, 0xe2, 0x71, 0x6c, 0xc2 } },
	{ "AVX-VNNI-INT16", 10, true, { 0xc4, 0xe2, 0x6a, 0xd2, 0xcb } },
	{ "PREFETCHI", 14, true, { 0x0f, 0x18, 0x3d } },
	{ "USER_MSR", 15, true, { 0xf2, 0x0f, 0x38, 0xf8, 0xc8 } },
	{ "AVX10", 19, true, { 0x62, 0xf5, 0x6d, 0x48, 0x58, 0xcb } },
	{ "APX", 21, true, { 0xd5, 0x10, 0x01, 0xc0 } }
};

static bool
lacks(const uint8_t code[12])
{
	struct insn in;

	return decode(&in, 0x401000, code, 12) < 0;
}

/* tileloadd 16(%rax,%rcx), %tmm1: rows begin at rax + 16, rcx from another */
static void
tell_tile(void)
{
	static const uint8_t code[12] = { 0xc4, 0xe2, 0x7b, 0x4b, 0x4c, 0x08,
	    0x10 };
	struct insn in;

	if (decode(&in, 0x401000, code, sizeof code) == 0)
		printf("tile: %u, %c %u bytes, base %u%+d, index %s\n",
		    in.nref, in.ref[0].rw, in.ref[0].size, in.ref[0].base,
		    (int)in.ref[0].disp,
		    in.ref[0].index == NOREG ? "none" : "some");
}

int
main(void)
{
	static const uint8_t odd[12] = { 0xc4, 0xe3, 0x7d, 0, 0xc0, 0 };
	static const char *const words[] = { "known", "lacks" };
	uint32_t eax, edx;

	decode_init(7);
	decode_lacks(&eax, &edx);
	for (unsigned i = 0; i < sizeof extensions / sizeof extensions[0];
	    i++) {
		uint32_t said = extensions[i].in_edx ? edx : eax;
		bool is = lacks(extensions[i].code);

		printf("%s %s%s\n", words[is], extensions[i].name,
		    (said >> extensions[i].bit & 1) == (uint32_t)is ? "" :
		    " wrongly");
	}
	printf("%s vpermq\n", words[lacks(odd)]);
	tell_tile();
	return 0;
}
