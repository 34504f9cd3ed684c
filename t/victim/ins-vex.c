/*
 * ins-vex - every opcode of every VEX map, with all prefixes, both lengths and
 * widths, on low and high registers and on memory by rax and r8
 */
#include "forms.h"

static void
add(unsigned map, unsigned pp, unsigned op, unsigned k)
{
	unsigned char b[12];
	unsigned mem = k & 1, high = k >> 1 & 1, w = k >> 2 & 1;

	b[0] = 0xc4;
	b[1] = (unsigned char)(map | (high ? 0x40 : 0xe0));
	b[2] = (unsigned char)(w << 7 | (~(high ? 11u : 3u) & 15) << 3 |
	    (op & 1) << 2 | pp);
	b[3] = (unsigned char)op;
	b[4] = mem ? 0x40 | 2 << 3 : 0xc0 | 2 << 3 | 1;
	b[5] = mem ? 64 : 0x90;
	form_add(b, 6);
}

int
main(void)
{
	uint64_t sum;

	if (!__builtin_cpu_supports("avx2"))
		victim_skip("no AVX2");
	wide = __builtin_cpu_supports("avx512bw");
	forms_begin(3 * 4 * 256 * 4);
	for (unsigned map = 1; map <= 3; map++)
		for (unsigned pp = 0; pp < 4; pp++)
			for (unsigned op = 0; op < 256; op++)
				for (unsigned k = 0; k < 4; k++)
					add(map, pp, op, k | (op & 2) << 1);
	sum = forms_run();
	victim_say("ok " VICTIM " %llx\n", (unsigned long long)sum);
	return 0;
}
