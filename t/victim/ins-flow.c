/*
 * ins-flow - every conditional branch, set and move with all flags; jrcxz,
 * jecxz and the loops, with both address sizes; jump tables
 */
#include "victim.h"

#define CONDITIONS(f)							\
	f(0, "o") f(1, "no") f(2, "b") f(3, "ae") f(4, "e") f(5, "ne")	\
	f(6, "be") f(7, "a") f(8, "s") f(9, "ns") f(10, "p") f(11, "np") \
	f(12, "l") f(13, "ge") f(14, "le") f(15, "g")

/* Bit i of the result: condition i holds, as jcc, setcc and cmovcc say. */
#define TRY(i, cc)							\
	__asm__ volatile("push %3; popf; j" cc " 1f; jmp 2f;"		\
	    "1: bts $" #i ", %0; 2: set" cc " %b2; pushf;"		\
	    "cmov" cc " %4, %1; pop %5"					\
	    : "+r"(jumps), "=&r"(move), "=&q"(set), "+r"(flags)		\
	    : "r"((uint32_t)1), "r"(flags), "1"((uint32_t)0) : "cc");	\
	sets |= (uint32_t)(set & 1) << i;				\
	moves |= move << i;

static uint32_t
expected(uint64_t f)
{
	uint32_t cf = f & 1, pf = f >> 2 & 1, zf = f >> 6 & 1;
	uint32_t sf = f >> 7 & 1, of = f >> 11 & 1;
	uint32_t yes[8] = { of, cf, zf, cf | zf, sf, pf, sf ^ of,
	    zf | (sf ^ of) };
	uint32_t all = 0;

	for (int i = 0; i < 16; i++)
		all |= (yes[i / 2] ^ (i & 1)) << i;
	return all;
}

static void
conditions(void)
{
	static const uint64_t bits[] = { 1, 4, 0x10, 0x40, 0x80, 0x800 };

	for (unsigned k = 0; k < 64; k++) {
		uint64_t flags = 0x202;
		uint32_t jumps = 0, sets = 0, moves = 0, move;
		unsigned set = 0;

		for (int b = 0; b < 6; b++)
			if (k >> b & 1)
				flags |= bits[b];
		CONDITIONS(TRY)
		SAME(jumps, expected(flags));
		SAME(sets, expected(flags));
		SAME(moves, expected(flags));
	}
}

static void
loops(void)
{
	uint64_t n, rcx;

	for (uint64_t k = 1; k < 20; k++) {
		rcx = k;
		n = 0;
		__asm__ volatile("1: inc %0; loop 1b" : "+r"(n), "+c"(rcx)
		    : : "cc");
		SAME(n, k);
		rcx = k | 0x500000000;
		n = 0;
		__asm__ volatile("1: inc %0; addr32 loop 1b" : "+r"(n),
		    "+c"(rcx) : : "cc");
		SAME(n, k);
		SAME(rcx, 0);
		rcx = 30;
		n = 0;
		__asm__ volatile("1: inc %0; cmp %2, %0; loopne 1b" : "+r"(n),
		    "+c"(rcx) : "r"(k) : "cc");
		SAME(n, k);
		SAME(rcx, 30 - k);
		rcx = 30;
		n = 0;
		__asm__ volatile("1: inc %0; mov %0, %%rax; cmp %2, %0;"
		    "setb %%al; cmp $1, %%al; loope 1b"
		    : "+r"(n), "+c"(rcx) : "r"(k) : "rax", "cc");
		SAME(n, k);
	}
	for (uint64_t k = 0; k < 4; k++) {
		rcx = k / 2 << 32 | k % 2;
		n = 0;
		__asm__ volatile("stc; jrcxz 1f; bts $0, %0; 1: stc;"
		    "jecxz 2f; bts $1, %0; 2: nop"
		    : "+r"(n), "+c"(rcx) : : "cc");
		SAME(n, (rcx != 0) | (uint64_t)((uint32_t)rcx != 0) << 1);
	}
	/* None of them touches the flags. */
	__asm__ volatile("mov $3, %%ecx; stc; 1: loop 1b; setc %b0;"
	    "movzbl %b0, %k0" : "=q"(n) : : "rcx", "cc");
	SAME(n, 1);
}

static uint64_t
tables(uint64_t x)
{
	static const void *const labels[] = { &&a, &&b, &&c, &&d, &&e };
	uint64_t sum = 0;

	for (int i = 0; i < 40; i++) {
		goto *labels[(x >> i) % NELEM(labels)];
a:		sum += 1; continue;
b:		sum ^= 0x55; continue;
c:		sum *= 3; continue;
d:		sum -= 7; continue;
e:		sum = sum << 1 | 1;
	}
	return sum;
}

static uint64_t
branches(uint64_t x)
{
	uint64_t sum = 0;

	for (int i = 0; i < 40; i++)
		switch ((x >> i) % 5) {
		case 0:
			sum += 1;
			break;
		case 1:
			sum ^= 0x55;
			break;
		case 2:
			sum *= 3;
			break;
		case 3:
			sum -= 7;
			break;
		default:
			sum = sum << 1 | 1;
		}
	return sum;
}

int
main(void)
{
	uint64_t x = 0x123456789abcdef;

	for (int i = 0; i < 50; i++) {
		conditions();
		loops();
		x = x * 6364136223846793005 + 1442695040888963407;
		SAME(tables(x), branches(x));
	}
	return victim_ok();
}
