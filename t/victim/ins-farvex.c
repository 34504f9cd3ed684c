/*
 * ins-farvex - every opcode of every VEX map, and of EVEX's, on memory by the pc
 * that is out of reach of an engine's code; first sources low and high
 */
#define FORMS_AT 0x32000000	/* in reach of the buffer, far from libraries */
#include "forms.h"

/* The operand by the pc, behind n bytes, register 2 beside it. */
static void
finish(unsigned char *b, size_t n)
{
	int32_t disp = (int32_t)(BUFFER_AT + BUFFER + 64 -
	    (int64_t)(uintptr_t)(form_end + n + 5));

	b[n] = 2 << 3 | 5;
	memcpy(b + n + 1, &disp, 4);
	form_add(b, n + 5);
}

/* What VEX and EVEX have alike: W, the first source inverted, pp. */
static unsigned char
middle(unsigned w, unsigned source, unsigned pp)
{
	return (unsigned char)(w << 7 | (~source & 15) << 3 | pp);
}

static void
add_short(unsigned pp, unsigned op, unsigned source)
{
	unsigned char b[12] = { 0xc5, (unsigned char)(middle(1, source, pp) |
	    (op & 1) << 2), (unsigned char)op };

	finish(b, 3);
}

static void
add_long(unsigned map, unsigned pp, unsigned op, unsigned source)
{
	unsigned char b[12] = { 0xc4, (unsigned char)(map | 0xe0),
	    (unsigned char)(middle(op & 1, source, pp) | (op & 2) << 1),
	    (unsigned char)op };

	finish(b, 4);
}

static void
add_evex(unsigned map, unsigned pp, unsigned op, unsigned source)
{
	unsigned char b[12] = { 0x62, (unsigned char)(map | 0xf0),
	    (unsigned char)(middle(op & 1, source, pp) | 4),
	    (unsigned char)((op & 2) << 5 | 8), (unsigned char)op };

	finish(b, 5);
}

int
main(void)
{
	static const unsigned sources[] = { 1, 5, 8, 11 };
	uint64_t sum;

	if (!__builtin_cpu_supports("avx2"))
		victim_skip("no AVX2");
	wide = __builtin_cpu_supports("avx512bw");
	forms_begin(7 * 4 * 256 * 4);
	for (unsigned pp = 0; pp < 4; pp++)
		for (unsigned op = 0; op < 256; op++)
			for (size_t i = 0; i < NELEM(sources); i++) {
				add_short(pp, op, sources[i]);
				for (unsigned map = 1; map <= 3; map++) {
					add_long(map, pp, op, sources[i]);
					if (wide)
						add_evex(map, pp, op,
						    sources[i]);
				}
			}
	sum = forms_run();
	victim_say("ok " VICTIM " %llx\n", (unsigned long long)sum);
	return 0;
}
