/*
 * ins-evex - every opcode of every EVEX map, with all prefixes, in some of the
 * forms of length, broadcast, masking and zeroing, on registers and memory
 * build: -mavx512f -mavx512bw
 */
#include "forms.h"

static uint32_t seed = 1;

static unsigned
some(unsigned n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 12) % n;
}

static void
add(unsigned map, unsigned pp, unsigned w, unsigned op)
{
	unsigned char b[12];
	unsigned high = some(2), mem = some(2);

	b[0] = 0x62;
	/* R, X, B, R' inverted: registers 2, 1 or 18, 9 (or r8, r9) */
	b[1] = (unsigned char)(map | 0xe0 | (high ? 0 : 0x10));
	if (some(2))
		b[1] &= (unsigned char)~0x20;		/* B */
	b[2] = (unsigned char)(w << 7 | (~(high ? 11u : 3u) & 15) << 3 | 4 |
	    pp);
	b[3] = (unsigned char)(some(4) << 5 | some(2) << 4 | 8 |
	    (some(2) ? 1 + some(3) : 0));
	if (b[3] & 7 && some(2))
		b[3] |= 0x80;
	b[4] = (unsigned char)op;
	b[5] = mem ? 0x40 | 2 << 3 : 0xc0 | 2 << 3 | 1;
	b[6] = mem ? 1 : 0x90;				/* disp8, scaled */
	form_add(b, 7);
}

int
main(void)
{
	static const unsigned maps[] = { 1, 2, 3, 5, 6 };
	uint64_t sum;

	if (!__builtin_cpu_supports("avx512bw"))
		victim_skip("no AVX-512");
	wide = 1;
	forms_begin(5 * 4 * 2 * 256);
	for (size_t m = 0; m < NELEM(maps); m++)
		for (unsigned pp = 0; pp < 4; pp++)
			for (unsigned op = 0; op < 256; op++)
				for (unsigned w = 0; w < 2; w++)
					add(maps[m], pp, w, op);
	sum = forms_run();
	victim_say("ok " VICTIM " %llx\n", (unsigned long long)sum);
	return 0;
}
