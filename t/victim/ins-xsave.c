/*
 * ins-xsave - the xsave family and fxsave: state saved, spoilt and restored;
 * xgetbv, and sizes as cpuid tells them
 * build: -mavx -mxsave -mxsavec -mxsaveopt
 */
#include <cpuid.h>

#include "victim.h"

static unsigned char area[16384] __attribute__((aligned(64)));

static void
set(uint64_t v)
{
	__asm__ volatile("movq %0, %%xmm3; vinsertf128 $1, %%xmm3, %%ymm3,"
	    "%%ymm3; movq %0, %%xmm14; fninit; fildll %1"
	    : : "r"(v), "m"(v) : "xmm3", "xmm14");
}

static void
check(uint64_t v)
{
	uint64_t y[4], x, st;

	__asm__ volatile("vmovdqu %%ymm3, %0; movq %%xmm14, %1; fistpll %2"
	    : "=m"(y), "=r"(x), "=m"(st));
	SAME(y[0], v);
	SAME(y[2], v);
	SAME(x, v);
	SAME(st, v);
}

#define ROUND(save, restore, v)						\
	do {								\
		memset(area, 0, sizeof area);				\
		set(v);							\
		__asm__ volatile("mov %0, %%r11; " save " (%%r11)"	\
		    : : "r"(area), "a"(7), "d"(0) : "r11", "memory");	\
		set(1);							\
		__asm__ volatile("mov %0, %%r8; " restore " (%%r8)"	\
		    : : "r"(area), "a"(7), "d"(0) : "r8", "memory",	\
		    "xmm3", "xmm14");					\
		check(v);						\
	} while (0)

int
main(void)
{
	unsigned a, b, c, d, lo, hi;
	uint64_t got;
	int has_opt, has_c;

	if (!__builtin_cpu_supports("avx"))
		victim_skip("no AVX");
	__cpuid_count(0xd, 0, a, b, c, d);
	CHECK(b <= c && c <= sizeof area);
	__asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
	CHECK((lo & 7) == 7);
	CHECK((lo & ~a) == 0);
	__cpuid_count(0xd, 1, a, b, c, d);
	has_opt = a & 1;
	has_c = a & 2;
	for (uint64_t i = 1; i < 300; i++) {
		ROUND("xsave64", "xrstor64", i * 0x1234567);
		if (has_opt)
			ROUND("xsaveopt64", "xrstor64", i * 77);
		if (has_c)
			ROUND("xsavec64", "xrstor64", i * 99);
		memset(area, 0, 512);
		__asm__ volatile("movq %0, %%xmm14; fxsave64 (%1);"
		    "pxor %%xmm14, %%xmm14; fxrstor64 (%1)"
		    : : "r"(i), "r"(area) : "xmm14", "memory");
		__asm__ volatile("movq %%xmm14, %0" : "=r"(got));
		SAME(got, i);
	}
	return victim_ok();
}
