/*
 * ins-muldiv - multiplication and division of all sizes, their operand in a
 * high register, in rax or rdx themselves, in memory by each of them
 */
#include "victim.h"

static volatile uint64_t mem[4];

static void
quad(uint64_t a, uint64_t b)
{
	uint64_t lo, hi, q, r;
	unsigned __int128 p = (unsigned __int128)a * b;
	__int128 sp = (__int128)(int64_t)a * (int64_t)b;

	__asm__("mov %3, %%r8; mul %%r8" : "=a"(lo), "=d"(hi) : "a"(a), "r"(b)
	    : "r8", "cc");
	SAME(lo, (uint64_t)p);
	SAME(hi, (uint64_t)(p >> 64));
	__asm__("mov %3, %%r11; imul %%r11" : "=a"(lo), "=d"(hi) : "a"(a),
	    "r"(b) : "r11", "cc");
	SAME(lo, (uint64_t)sp);
	SAME(hi, (uint64_t)(sp >> 64));
	mem[1] = b;
	__asm__("mov %3, %%r8; mov $1, %%r11d; mulq (%%r8, %%r11, 8)"
	    : "=a"(lo), "=d"(hi) : "a"(a), "r"(mem), "m"(mem[1])
	    : "r8", "r11", "cc");
	SAME(hi, (uint64_t)(p >> 64));
	__asm__("mul %%rax" : "=a"(lo), "=d"(hi) : "a"(a) : "cc");
	SAME(lo, a * a);
	__asm__("mov %2, %%rdx; mul %%rdx" : "+a"(a), "=&d"(hi) : "r"(b)
	    : "cc");
	SAME(a, (uint64_t)p);
	if (b == 0)
		return;
	/* The product by one factor: the other comes back. */
	__asm__("mov %4, %%r11; div %%r11" : "=a"(q), "=d"(r) : "a"(a),
	    "d"(hi), "r"(b) : "r11", "cc");
	SAME(r, 0);
	SAME(q * b, a);
	__asm__("cqto; mov %3, %%r8; sar $1, %%r8; or $1, %%r8; idiv %%r8"
	    : "=a"(q), "=&d"(r) : "a"(a >> 2), "r"(b) : "r8", "cc");
	SAME(q, (int64_t)(a >> 2) / ((int64_t)b >> 1 | 1));
	SAME(r, (int64_t)(a >> 2) % ((int64_t)b >> 1 | 1));
}

static void
smaller(uint64_t a, uint64_t b)
{
	uint64_t lo, hi;

	b |= 0x8000800080008001;
	__asm__("mov %3, %%r8; mull %%r8d" : "=a"(lo), "=d"(hi) : "a"(a),
	    "r"(b) : "r8", "cc");
	SAME(hi << 32 | lo, (uint64_t)(uint32_t)a * (uint32_t)b);
	__asm__("mov %1, %%r11; mulb %%r11b" : "+a"(a) : "r"(b) : "r11", "cc");
	lo = a;
	__asm__("mov %2, %%r8; mov $0x7f, %%edx; xor %%dx, %%dx; divw %%r8w"
	    : "+a"(a), "=&d"(hi) : "r"(b) : "r8", "cc");
	SAME(a & 0xffff, (lo & 0xffff) / (b & 0xffff));
	SAME(hi & 0xffff, (lo & 0xffff) % (b & 0xffff));
	SAME(a >> 16, lo >> 16);
	a = 0x1234;
	__asm__("mov $0x77, %%r11b; divb %%r11b" : "+a"(a) : : "r11", "cc");
	SAME(a, 0x1234 % 0x77 << 8 | 0x1234 / 0x77);
	a = 0xff00;
	__asm__("mov %%ah, %%bl; movb $0x12, %%ah; movzbl %%ah, %%ecx;"
	    "add %%cl, %%bl; movzbl %%bl, %%eax" : "+a"(a) : : "rbx", "rcx",
	    "cc");
	SAME(a, 0x11);
	__asm__("cbtw; cwtl; cltq; cqto" : "=a"(lo), "=d"(hi) : "a"(0x80ul));
	SAME(lo, (uint64_t)-128);
	SAME(hi, ~0ul);
}

int
main(void)
{
	uint64_t x = 0xfedcba987654321;

	for (int i = 0; i < 3000; i++) {
		uint64_t y;

		x = x * 6364136223846793005 + 1442695040888963407;
		y = (x ^ x >> 29) * 0x9e3779b97f4a7c15;
		quad(x, i % 7 == 0 ? y & 0xff : y);
		smaller(x, y);
	}
	return victim_ok();
}
