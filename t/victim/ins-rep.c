/*
 * ins-rep - string instructions of all sizes in both directions, with counts
 * of zero, one and many, and with 32-bit addresses and counts
 */
#include "victim.h"

static unsigned char *src, *dst;	/* below 4 GB */

static void
fill(void)
{
	for (int i = 0; i < 2 * PAGE; i++) {
		src[i] = (unsigned char)(i * 13 + 5);
		dst[i] = (unsigned char)(i * 7);
	}
}

#define MOVS(insn, size)						\
	do {								\
		unsigned char *s = src + 512, *d = dst + 512, *s0, *d0;	\
		uint64_t n = count;					\
		fill();							\
		__asm__ volatile("rep " insn : "+S"(s), "+D"(d),	\
		    "+c"(n) : : "memory");				\
		CHECK(s == src + 512 + count * size);			\
		CHECK(d == dst + 512 + count * size && n == 0);		\
		CHECK(memcmp(dst + 512, src + 512, count * size) == 0);	\
		CHECK(*d == (unsigned char)((d - dst) * 7));		\
		s0 = s = src + 3000, d0 = d = dst + 3000;		\
		n = count;						\
		__asm__ volatile("std; rep " insn "; cld" : "+S"(s),	\
		    "+D"(d), "+c"(n) : : "memory");			\
		CHECK(s == s0 - count * size && d == d0 - count * size); \
		CHECK(memcmp(d + size, s + size, count * size) == 0);	\
	} while (0)

#define STOS(insn, size, pattern)					\
	do {								\
		unsigned char *d = dst + 256;				\
		uint64_t n = count, a = pattern;			\
		fill();							\
		__asm__ volatile("rep " insn : "+D"(d), "+c"(n)		\
		    : "a"(a) : "memory");				\
		CHECK(d == dst + 256 + count * size);			\
		for (uint64_t i = 0; i < count * size; i++)		\
			SAME(dst[256 + i], a >> (i % size * 8) & 0xff);	\
		CHECK(*d == (unsigned char)((d - dst) * 7));		\
	} while (0)

#define LODS(insn, size, mask)						\
	do {								\
		unsigned char *s = src + 100;				\
		uint64_t n = count, a = 0, want = 0;			\
		__asm__ volatile("rep " insn : "+S"(s), "+c"(n),	\
		    "+a"(a) : : "memory");				\
		CHECK(s == src + 100 + count * size);			\
		if (count > 0)						\
			memcpy(&want, s - size, size);			\
		SAME(a & mask, want);					\
	} while (0)

static void
sizes(uint64_t count)
{
	MOVS("movsb", 1);
	MOVS("movsw", 2);
	MOVS("movsl", 4);
	MOVS("movsq", 8);
	STOS("stosb", 1, 0x5a);
	STOS("stosw", 2, 0x1234);
	STOS("stosl", 4, 0x89abcdef);
	STOS("stosq", 8, 0x0123456789abcdef);
	LODS("lodsb", 1, 0xff);
	LODS("lodsw", 2, 0xffff);
	LODS("lodsl", 4, 0xffffffff);
	LODS("lodsq", 8, ~0ul);
}

/* edi, esi and ecx count; what is above them does not, and is cleared. */
static void
narrow(uint64_t count)
{
	uint64_t s = (uintptr_t)src | 0xab00000000;
	uint64_t d = (uintptr_t)dst | 0xcd00000000;
	uint64_t n = count | 0xef00000000;

	fill();
	__asm__ volatile("addr32 rep movsw" : "+S"(s), "+D"(d), "+c"(n)
	    : : "memory");
	CHECK(memcmp(src, dst, 2 * count) == 0);
	SAME((uint32_t)s, (uintptr_t)src + 2 * count);
	SAME((uint32_t)d, (uintptr_t)dst + 2 * count);
	SAME((uint32_t)n, 0);
	if (count > 0) {
		SAME(s >> 32, 0);
		SAME(d >> 32, 0);
	}
}

/* Overlapping by one: the first byte spreads. */
static void
spread(void)
{
	unsigned char *s = dst, *d = dst + 1;
	uint64_t n = 300;

	fill();
	dst[0] = 0x77;
	__asm__ volatile("rep movsb" : "+S"(s), "+D"(d), "+c"(n) : : "memory");
	for (int i = 0; i <= 300; i++)
		SAME(dst[i], 0x77);
	/* Without repetition, and from a segment. */
	s = src;
	d = dst;
	__asm__ volatile("movsb; movsw; movsl; movsq; lodsb; stosb"
	    : "+S"(s), "+D"(d) : : "rax", "memory");
	CHECK(s == src + 16 && d == dst + 16);
	CHECK(memcmp(src, dst, 16) == 0);
}

static __thread char by_segment[64];

static void
segment(void)
{
	char *s = by_segment - (uintptr_t)__builtin_thread_pointer();
	char *d = (char *)dst;
	uint64_t n = 64;

	memset(by_segment, 0x31, 64);
	__asm__ volatile("rep movsb %%fs:(%%rsi), %%es:(%%rdi)"
	    : "+S"(s), "+D"(d), "+c"(n) : : "memory");
	CHECK(memcmp(dst, by_segment, 64) == 0);
}

int
main(void)
{
	static const uint64_t counts[] = { 0, 1, 2, 3, 15, 16, 17, 100, 200 };

	src = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	CHECK((void *)src != MAP_FAILED);
	dst = src + 2 * PAGE;
	for (size_t i = 0; i < NELEM(counts); i++) {
		sizes(counts[i]);
		narrow(counts[i]);
	}
	spread();
	segment();
	return victim_ok();
}
