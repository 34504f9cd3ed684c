/*
 * cpu - models of processors: what cpuid and xgetbv tell the program
 *
 * A C library chooses its string functions and start-up code by these answers,
 * so fixed ones make counts equal on every machine.  The models stand for the
 * levels of the x86-64 ABI:
 *
 *	v2	SSE4.2, POPCNT, CMPXCHG16B; no XSAVE
 *	v3	AVX2, BMI, FMA, F16C, MOVBE, LZCNT, ERMS; XSAVE of x87, SSE,
 *		AVX.  The values that Valgrind 3.19 shows, caches included
 *	v4	v3 and AVX-512 F, DQ, CD, BW, VL; XSAVEC
 */
#include <cpuid.h>
#include <elf.h>
#include <string.h>
#include <unistd.h>

#include "cpu.h"
#include "ctl.h"
#include "guest/guest.h"
#include "guest/parts.h"
#include "prog.h"

#define ANY ~0u

static const struct cpuidrow base[] = {
	{ 0x0, ANY, 0xd, 0x756e6547, 0x6c65746e, 0x49656e69 },
	{ 0x1, ANY, 0x306c3, 0x02100800, 0x7ffafbff, 0xbfebfbff },
	{ 0x2, ANY, 0x76036301, 0x00f0b6ff, 0, 0x00c10000 },
	{ 0x4, 0, 0x1c004121, 0x01c0003f, 0x3f, 0 },
	{ 0x4, 1, 0x1c004122, 0x01c0003f, 0x3f, 0 },
	{ 0x4, 2, 0x1c004143, 0x01c0003f, 0x1ff, 0 },
	{ 0x4, 3, 0x1c03c163, 0x03c0003f, 0x1fff, 6 },
	{ 0x5, ANY, 0x40, 0x40, 3, 0x42120 },
	{ 0x6, ANY, 0x77, 2, 9, 0 },
	{ 0x7, 0, 0, 0x427aa, 0, 0 },
	{ 0xa, ANY, 0x07300803, 0, 0, 0x603 },
	{ 0xb, 0, 1, 2, 0x100, 2 },
	{ 0xb, 1, 4, 8, 0x201, 2 },
	{ 0xb, ANY, 0, 0, 2, 2 },
	/*
	 * Room for components 5 to 7, too (0x340 without them): the dynamic
	 * loader keeps this size, and a process that goes on natively, as a
	 * child of vfork does, saves all that its processor has.
	 */
	{ 0xd, 0, 7, 0xa88, 0xa88, 0 },
	{ 0xd, 2, 0x100, 0x240, 0, 0 },
	{ 0x80000000, ANY, 0x80000008, 0, 0, 0 },
	{ 0x80000001, ANY, 0, 0, 0x21, 0x2c100800 },
	{ 0x80000002, ANY, 0x65746e49, 0x2952286c, 0x726f4320, 0x4d542865 },
	{ 0x80000003, ANY, 0x37692029, 0x3139342d, 0x20514d30, 0x20555043 },
	{ 0x80000004, ANY, 0x2e322040, 0x48473039, 0x7a, 0 },
	{ 0x80000006, ANY, 0, 0, 0x01006040, 0 },
	{ 0x80000007, ANY, 0, 0, 0, 0x100 },
	{ 0x80000008, ANY, 0x3027, 0, 0, 0 }
};
#define NBASE (sizeof base / sizeof base[0])

/* v4: components 5 to 7 of the extended state */
static const struct cpuidrow avx512[] = {
	{ 0xd, 0, 0xe7, 0xa88, 0xa88, 0 },
	{ 0xd, 1, 7, 0xa88, 0, 0 },
	{ 0xd, 5, 0x40, 0x440, 0, 0 },
	{ 0xd, 6, 0x200, 0x480, 0, 0 },
	{ 0xd, 7, 0x400, 0x680, 0, 0 }
};
#define NAVX512 (sizeof avx512 / sizeof avx512[0])

/* native: bits that the program does not see */
static struct cpuidrow hidden = { .leaf = 7, .subleaf = 1 };

int
cpu_parse(const char *name, enum cpu *cpu)
{
	static const char *const names[] = { "native", "v2", "v3", "v4" };
	unsigned i;

	for (i = 0; i < 4; i++)
		if (strcmp(name, names[i]) == 0) {
			*cpu = (enum cpu)i;
			return 0;
		}
	return -1;
}

static void
adjust(struct cpuidrow *r, enum cpu cpu)
{
	if (cpu == CPU_V2) {
		if (r->leaf == 1)
			/* SSE3 SSSE3 CX16 SSE4 POPCNT */
			r->ecx = 0x00982201;
		else if (r->leaf == 7 || r->leaf == 0xd)
			r->eax = r->ebx = r->ecx = r->edx = 0;
		else if (r->leaf == 0x80000001)
			r->ecx = 1;
	} else if (cpu == CPU_V4 && r->leaf == 7) {
		r->ebx |= 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;
	}
}

/* The first of the 64-bit processors lack what keeps the program's flags. */
static void
check_lahf(void)
{
	if (!cpu_has(LAHF64_SAHF64, "lahf_lm"))
		die("this processor has no lahf in 64-bit mode");
}

/* Die if this processor cannot do what the model promises. */
static void
check_host(enum cpu cpu)
{
	bool ok = cpu == CPU_V2 ? cpu_has(SSE4_2, "sse4.2") &&
	    cpu_has(POPCNT, "popcnt") :
	    cpu_has(AVX2, "avx2") && cpu_has(BMI2, "bmi2") &&
	    cpu_has(FMA, "fma");

	if (cpu == CPU_V4)
		ok = ok && cpu_has(AVX512F, "avx512f") &&
		    cpu_has(AVX512DQ, "avx512dq") &&
		    cpu_has(AVX512CD, "avx512cd") &&
		    cpu_has(AVX512BW, "avx512bw") &&
		    cpu_has(AVX512VL, "avx512vl");
	if (!ok)
		die("--cpu: this processor is not of level x86-64-v%d",
		    (int)cpu + 1);
}

void
cpu_hide(uint32_t eax, uint32_t edx)
{
	hidden.eax = eax;
	hidden.edx = edx;
}

void
cpu_model(enum cpu cpu)
{
	struct cpuidrow *to = (void *)(area.seg[SEG_META] +
	    area.boot.meta.cpuids);
	unsigned n = 0, i;

	check_lahf();
	area.ctl->cpu = cpu;
	if (cpu == CPU_NATIVE) {
		*to = hidden;
		area.ctl->ncpuid = 1;
		return;
	}
	check_host(cpu);
	if (cpu == CPU_V4)
		for (i = 0; i < NAVX512; i++)
			to[n++] = avx512[i];
	for (i = 0; i < NBASE; i++, n++) {
		to[n] = base[i];
		adjust(&to[n], cpu);
	}
	area.ctl->ncpuid = n;
	area.ctl->xcr0 = cpu == CPU_V2 ? 3 : cpu == CPU_V3 ? 7 : 0xe7;
}

void
cpu_auxv(uint64_t (*auxv)[2], unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		switch (auxv[i][0]) {
		case AT_SYSINFO_EHDR:
			if (!opt->vdso)
				auxv[i][0] = AT_IGNORE;
			break;
		case AT_HWCAP:
			if (opt->cpu != CPU_NATIVE)
				auxv[i][1] = base[1].edx;
			break;
		case AT_HWCAP2:
			if (opt->cpu != CPU_NATIVE)
				auxv[i][0] = AT_IGNORE;
			break;
		default:
			break;
		}
}
