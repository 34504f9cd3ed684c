/*
 * smc-jit - a small compiler: thousands of functions are generated, run, and
 * overwritten by others, in one area that is written and executed
 */
#include "victim.h"

enum { SIZE = 64 * PAGE };

static unsigned char *area, *at;

static void
emit(const void *bytes, size_t n)
{
	memcpy(at, bytes, n);
	at += n;
}

static void
emit_op(uint32_t r)
{
	uint32_t imm = r >> 8;

	switch (r % 4) {
	case 0:
		emit("\x05", 1);		/* add $imm, %eax */
		emit(&imm, 4);
		break;
	case 1:
		emit("\x35", 1);		/* xor $imm, %eax */
		emit(&imm, 4);
		break;
	case 2:
		emit("\x6b\xc0\x05", 3);	/* imul $5, %eax, %eax */
		break;
	case 3:
		emit("\x85\xc0\x79\x02\xf7\xd8", 6); /* js: neg %eax */
		break;
	}
}

static uint32_t
interpret(uint32_t r, uint32_t x)
{
	switch (r % 4) {
	case 0:
		return x + (r >> 8);
	case 1:
		return x ^ r >> 8;
	case 2:
		return x * 5;
	default:
		return (int32_t)x < 0 ? -x : x;
	}
}

int
main(void)
{
	uint32_t seed = 1;

	area = at = map_pages(SIZE / PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
	for (int k = 0; k < 8000; k++) {
		uint32_t (*f)(void), want = (uint32_t)k;
		uint32_t first = want;

		if (at > area + SIZE - 512)
			at = area;
		f = (uint32_t (*)(void))at;
		emit("\xb8", 1);
		emit(&first, 4);
		for (int i = 0; i < 12; i++) {
			seed = seed * 1664525 + 1013904223;
			emit_op(seed >> 4);
			want = interpret(seed >> 4, want);
		}
		emit("\xc3", 1);
		SAME(f(), want);
		SAME(f(), want);
	}
	return victim_ok();
}
