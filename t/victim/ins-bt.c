/*
 * ins-bt - bit strings in memory: offsets far beyond the operand, negative
 * ones, in 16, 32 and 64 bits; registers take them modulo their size
 */
#include "victim.h"

static unsigned char bits[4 * PAGE];

#define TRY(insn, type, r, off)						\
	({								\
		unsigned char c_;					\
		type *mid_ = (type *)(bits + 2 * PAGE);			\
		type off_ = (type)(off);				\
		__asm__ volatile("mov %1, %%r8; mov %q2, %%r11;"	\
		    insn " %%r11" r ", (%%r8); setc %0"			\
		    : "=q"(c_) : "r"(mid_), "r"(off_)			\
		    : "r8", "r11", "memory", "cc");			\
		c_;							\
	})

static unsigned
bit_at(intptr_t off)
{
	intptr_t byte = off >> 3;

	return bits[2 * PAGE + byte] >> (off & 7) & 1;
}

int
main(void)
{
	for (intptr_t off = -60000; off <= 60000; off += 997) {
		memset(bits, 0, sizeof bits);
		SAME(TRY("bts", uint64_t, "", off), 0);
		SAME(bit_at(off), 1);
		SAME(TRY("bt", uint32_t, "d", off), 1);
		SAME(TRY("btc", uint32_t, "d", off), 1);
		SAME(bit_at(off), 0);
		SAME(TRY("lock btc", uint64_t, "", off), 0);
		if (off >= -32768 && off < 32768) {
			SAME(TRY("btr", uint16_t, "w", off), 1);
			SAME(bit_at(off), 0);
			SAME(TRY("lock bts", uint16_t, "w", off), 0);
		}
		SAME(TRY("btr", uint64_t, "", off), 1);
		for (size_t i = 0; i < sizeof bits; i++)
			CHECK(bits[i] == 0);
	}
	for (uint64_t i = 0; i < 200; i++) {
		uint64_t v = 0;
		unsigned char c;

		__asm__ volatile("bts %2, %0; bt %2, %0; setc %1" : "+&r"(v),
		    "=q"(c) : "r"(i) : "cc");
		SAME(v, 1ul << (i & 63));
		SAME(c, 1);
	}
	return victim_ok();
}
