/*
 * cpu - what only cpuid tells
 */
#include <cpuid.h>

#include "cpu.h"

bool
cpu_is_intel(void)
{
	static bool asked, intel;
	unsigned a, b = 0, c, d;

	if (!asked) {
		__cpuid(0, a, b, c, d);
		intel = b == signature_INTEL_ebx;
		asked = true;
	}
	return intel;
}

#define SIGNATURE_HYGON 0x6f677948u	/* ebx; not in all <cpuid.h> */

bool
cpu_has_short_branches(void)
{
	static bool asked, has;
	unsigned a, b = 0, c, d;

	if (!asked) {
		__cpuid(0, a, b, c, d);
		has = b == signature_AMD_ebx || b == SIGNATURE_HYGON;
		asked = true;
	}
	return has;
}

bool
cpu_fast_pext(void)
{
	static bool asked, fast;
	unsigned a, b = 0, c, d, family;

	if (asked)
		return fast;
	asked = true;
	if (!cpu_has(BMI2, "bmi2"))
		return false;
	__cpuid(0, a, b, c, d);
	__cpuid(1, a, c, c, d);
	family = (a >> 8 & 15) + (a >> 20 & 255);
	fast = b == signature_INTEL_ebx || (b == signature_AMD_ebx &&
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
