/*
 * ins-atomic - locked instructions of all sizes, cmpxchg8b and cmpxchg16b that
 * match and do not, xchg without a lock prefix, also across a cache line
 */
#include "victim.h"

static union {
	unsigned char b[256];
	uint64_t q[32];
} mem __attribute__((aligned(64)));

static void
wide(void)
{
	uint64_t lo, hi;
	unsigned char done;

	mem.q[2] = 5;
	mem.q[3] = 6;
	lo = 5;
	hi = 6;
	__asm__ volatile("lock cmpxchg16b 16(%3); sete %2"
	    : "+a"(lo), "+d"(hi), "=q"(done) : "r"(&mem), "b"(50), "c"(60)
	    : "memory", "cc");
	CHECK(done == 1 && mem.q[2] == 50 && mem.q[3] == 60);
	__asm__ volatile("mov %3, %%r11; cmpxchg16b 16(%%r11); sete %2"
	    : "+a"(lo), "+d"(hi), "=q"(done) : "r"(&mem), "b"(1), "c"(2)
	    : "memory", "cc", "r11");
	CHECK(done == 0 && lo == 50 && hi == 60);
	__asm__ volatile("mov %3, %%r8; lock cmpxchg8b 16(%%r8); sete %2"
	    : "+a"(lo), "+d"(hi), "=q"(done) : "r"(&mem), "b"(1), "c"(2)
	    : "memory", "cc", "r8");
	CHECK(done == 0 && lo == 50 && hi == 0);
	__asm__ volatile("lock cmpxchg8b 16(%3); sete %2"
	    : "+a"(lo), "+d"(hi), "=q"(done) : "r"(&mem), "b"(1), "c"(2)
	    : "memory", "cc");
	CHECK(done == 1 && mem.q[2] == 0x200000001);
}

#define EACH(suffix, type, r)						\
	do {								\
		type v = 7, *p = (type *)(mem.b + off), old = 100;	\
		*p = 100;						\
		__asm__ volatile("lock add" suffix " $5, %0; lock sub"	\
		    suffix " $2, %0; lock inc" suffix " %0; lock dec"	\
		    suffix " %0; lock or" suffix " $0x10, %0; lock and"	\
		    suffix " $0x7f, %0; lock xor" suffix " $1, %0; lock neg" \
		    suffix " %0; lock not" suffix " %0; lock adc" suffix \
		    " $0, %0; lock sbb" suffix " $0, %0"		\
		    : "+m"(*p) : : "cc");				\
		old = (type)((((100 + 3) | 0x10) & 0x7f) ^ 1);		\
		SAME(*p, old);						\
		__asm__ volatile("lock xadd" suffix " %" r "0, %1"	\
		    : "+q"(v), "+m"(*p) : : "cc");			\
		SAME(v, old);						\
		SAME(*p, (type)(old + 7));				\
		v = 9;							\
		__asm__ volatile("xchg" suffix " %" r "0, %1"		\
		    : "+q"(v), "+m"(*p));				\
		SAME(v, (type)(old + 7));				\
		SAME(*p, 9);						\
		v = 9;							\
		__asm__ volatile("lock cmpxchg" suffix " %" r "2, %1"	\
		    : "+a"(v), "+m"(*p) : "q"((type)33) : "cc");	\
		SAME(*p, 33);						\
	} while (0)

int
main(void)
{
	for (int round = 0; round < 30; round++) {
		wide();
		for (size_t off = 0; off < 80; off += 3) {
			EACH("b", uint8_t, "b");
			EACH("w", uint16_t, "w");
			EACH("l", uint32_t, "k");
			EACH("q", uint64_t, "q");
		}
		__asm__ volatile("lock btsl $3, %0; lock btrl $0, %0;"
		    "lock btcl $31, %0" : "+m"(mem) : : "cc");
	}
	return victim_ok();
}
