/*
 * cpu - what only cpuid tells
 */
#include <cpuid.h>

#include "cpu.h"

#define SIGNATURE_HYGON 0x6f677948u	/* not in all <cpuid.h> */

/* The ebx of leaf 0, which is the beginning of the maker's name. */
static unsigned
maker(void)
{
	static unsigned b;
	unsigned a, c, d;

	if (b == 0)
		__cpuid(0, a, b, c, d);
	return b;
}

bool
cpu_is_intel(void)
{
	return maker() == signature_INTEL_ebx;
}

bool
cpu_has_short_branches(void)
{
	return maker() == signature_AMD_ebx || maker() == SIGNATURE_HYGON;
}

bool
cpu_fast_pext(void)
{
	static bool asked, fast;
	unsigned a, b, c, d, family;

	if (asked)
		return fast;
	asked = true;
	if (!cpu_has(BMI2, "bmi2"))
		return false;
	__cpuid(1, a, b, c, d);
	family = (a >> 8 & 15) + (a >> 20 & 255);
	fast = cpu_is_intel() || (maker() == signature_AMD_ebx &&
	    family != 0x15 && family != 0x17);
	return fast;
}

void
cpu_sync_code(void)
{
	unsigned a = 0, b, c = 0, d;

	/* which is serializing, behind all stores before it */
	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d) : :
	    "memory");
}
