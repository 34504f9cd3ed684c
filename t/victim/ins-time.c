/*
 * ins-time - instructions whose result differs each time: rdtsc, rdtscp,
 * rdpid, rdrand, rdseed, cpuid; their registers, flags and order
 */
#include <cpuid.h>

#include "victim.h"

static uint64_t
tsc(void)
{
	uint32_t lo, hi;

	__asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
	return (uint64_t)hi << 32 | lo;
}

static uint64_t
tscp(uint32_t *aux)
{
	uint32_t lo, hi;

	__asm__ volatile("rdtscp" : "=a"(lo), "=d"(hi), "=c"(*aux));
	return (uint64_t)hi << 32 | lo;
}

static void
random_numbers(void)
{
	unsigned a, b, c, d;
	uint64_t v = 0, w = 0;
	unsigned char ok = 0;

	__cpuid(1, a, b, c, d);
	if (c & bit_RDRND) {
		for (int i = 0; i < 10 && !ok; i++)
			__asm__ volatile("rdrand %%r8; setc %1; mov %%r8, %0"
			    : "=r"(v), "=q"(ok) : : "r8", "cc");
		__asm__ volatile("rdrand %%r11; mov %%r11, %0" : "=r"(w)
		    : : "r11", "cc");
		CHECK(!ok || v != w);
	}
	__cpuid_count(7, 0, a, b, c, d);
	if (b & bit_RDSEED)
		__asm__ volatile("rdseed %%r8d; setc %0" : "=q"(ok)
		    : : "r8", "cc");
}

int
main(void)
{
	unsigned a, b, c, d, e, f, g, h;
	uint64_t last = tsc();
	uint32_t aux;

	for (int i = 0; i < 300; i++) {
		uint64_t now = tsc(), then = tscp(&aux);

		/* Two processors may differ by little, not by a second. */
		CHECK(now + 4000000000 > last);
		CHECK(then + 4000000000 > now);
		last = now;
		random_numbers();
		__cpuid(0, a, b, c, d);
		__asm__ volatile("xor %%eax, %%eax; cpuid"
		    : "=&a"(e), "=b"(f), "=c"(g), "=d"(h));
		CHECK(a == e && b == f && c == g && d == h);
		__cpuid_count(7, 0, a, b, c, d);
		if (c & 1u << 22) {
			uint64_t pid;

			__asm__ volatile("rdpid %%r11; mov %%r11, %0"
			    : "=r"(pid) : : "r11");
			CHECK(pid < 1 << 24);
		}
	}
	return victim_ok();
}
