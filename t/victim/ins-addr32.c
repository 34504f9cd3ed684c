/*
 * ins-addr32 - the address-size prefix: addresses are cut to 32 bits, in all
 * forms, also where the sum wraps, and by the pc
 */
#include "victim.h"

int
main(void)
{
	uint32_t *low = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	uint64_t base, v;

	CHECK(low != MAP_FAILED);
	for (int i = 0; i < 64; i++)
		low[i] = (uint32_t)i * 3;
	base = (uintptr_t)low | 0x7700000000000000;
	for (int round = 0; round < 300; round++) {
		__asm__ volatile("mov 12(%k1), %k0" : "=r"(v) : "r"(base));
		SAME(v, 9);
		__asm__ volatile("mov %1, %%r8; mov $0x100000005, %%r11;"
		    "mov (%%r8d, %%r11d, 4), %k0" : "=r"(v) : "r"(base)
		    : "r8", "r11");
		SAME(v, 15);
		/* base + index over 4 GB wraps */
		__asm__ volatile("mov %1, %%r11; btc $31, %%r11;"
		    "mov $0x80000010, %%r8d; mov (%%r11d, %%r8d), %k0"
		    : "=&r"(v) : "r"((uintptr_t)low) : "r8", "r11", "cc");
		SAME(v, 12);
		__asm__ volatile("incl 40(%k1); lock addl $2, 40(%k1);"
		    "pushq 40(%k1); pop %0" : "=r"(v) : "r"(base)
		    : "memory", "cc");
		SAME((uint32_t)v, 30 + 3 * (round + 1));
		__asm__ volatile("movups (%k1), %%xmm3; movups %%xmm3,"
		    "128(%k1)" : "+r"(v) : "r"(base) : "xmm3", "memory");
		SAME(low[35], 9);
		__asm__ volatile("lea 8(%k1), %0" : "=r"(v) : "r"(base));
		SAME(v, (uint32_t)((uintptr_t)low + 8));
	}
	return victim_ok();
}
