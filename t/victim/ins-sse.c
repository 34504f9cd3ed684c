/*
 * ins-sse - the MMX and SSE opcodes of the old maps, with each prefix and REX,
 * on low and high registers and on memory by rax and r8
 */
#include "forms.h"

static int
is_vector_opcode(unsigned op)
{
	return (op >= 0x10 && op <= 0x17) || (op >= 0x28 && op <= 0x2f) ||
	    (op >= 0x50 && op <= 0x76) || (op >= 0x7c && op <= 0x7f) ||
	    (op >= 0xc2 && op <= 0xc6) || op >= 0xd0;
}

static void
add(unsigned map, unsigned pp, unsigned op, unsigned k)
{
	static const unsigned char prefix[] = { 0, 0x66, 0xf3, 0xf2 };
	unsigned char b[16];
	unsigned mem = k & 1, high = k >> 1 & 1;
	size_t n = 0;

	if (pp > 0)
		b[n++] = prefix[pp];
	b[n++] = (unsigned char)(0x40 | (k & 4) << 1 | (high ? 5 : 0));
	b[n++] = 0x0f;
	if (map > 1)
		b[n++] = map == 2 ? 0x38 : 0x3a;
	b[n++] = (unsigned char)op;
	b[n++] = mem ? 0x40 | 2 << 3 : 0xc0 | 2 << 3 | 1;
	b[n++] = mem ? 64 : 0x90;
	form_add(b, n);
}

int
main(void)
{
	uint64_t sum;

	if (!__builtin_cpu_supports("avx"))
		victim_skip("no AVX");
	wide = __builtin_cpu_supports("avx512bw");
	forms_begin(3 * 4 * 256 * 4);
	for (unsigned map = 1; map <= 3; map++)
		for (unsigned pp = 0; pp < 4; pp++)
			for (unsigned op = 0; op < 256; op++)
				for (unsigned k = 0; k < 4; k++)
					if (map > 1 || is_vector_opcode(op))
						add(map, pp, op, k |
						    (op & 2) << 1);
	sum = forms_run();
	victim_say("ok " VICTIM " %llx\n", (unsigned long long)sum);
	return 0;
}
