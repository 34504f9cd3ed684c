/*
 * geometry - what cachesim makes of CPUID
 *
 *	geometry intel|intel-l2|amd|zen|old-amd|other
 *
 * prints the three caches, or "none", and LL after its adjustment.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../../cmd/cachesim/cachesim.h"
#include "util.h"

static const char *which;

static struct cpuid
vendor(const char *name, uint32_t highest)
{
	struct cpuid r = { .a = highest };

	memcpy(&r.b, name, 4);
	memcpy(&r.d, name + 4, 4);
	memcpy(&r.c, name + 8, 4);
	return r;
}

static struct cpuid
leaf4(unsigned holds, unsigned level, unsigned ways, unsigned sets)
{
	return (struct cpuid){ holds | level << 5, (ways - 1) << 22 | 63,
	    sets - 1, 0 };
}

/* 32 KB, 32 KB; with -l2 256 KB and nothing behind, else 12 MB of 12288 sets */
static struct cpuid
intel(uint32_t leaf, uint32_t sub)
{
	if (leaf == 0)
		return vendor("GenuineIntel", 11);
	if (leaf == 4 && sub == 0)
		return leaf4(1, 1, 8, 64);
	if (leaf == 4 && sub == 1)
		return leaf4(2, 1, 8, 64);
	if (leaf == 4 && sub == 2)
		return leaf4(3, 2, 8, 512);
	if (leaf == 4 && sub == 3 && strcmp(which, "intel-l2") != 0)
		return leaf4(3, 3, 16, 12288);
	return (struct cpuid){ 0 };
}

static struct cpuid
amd(uint32_t leaf, uint32_t sub)
{
	(void)sub;
	if (leaf == 0)
		return vendor("AuthenticAMD", 1);
	if (leaf == 0x80000000)
		return (struct cpuid){ .a = strcmp(which, "old-amd") == 0 ?
		    0x80000004 : 0x80000008 };
	if (leaf == 0x80000005)
		return (struct cpuid){ .c = 32U << 24 | 8 << 16 | 64,
		    .d = 64U << 24 | 4 << 16 | 64 };
	if (leaf == 0x80000006 && strcmp(which, "zen") == 0)
		return (struct cpuid){ .c = 1024U << 16 | 6 << 12 | 64,
		    .d = 768U << 18 | 9 << 12 | 64 };
	if (leaf == 0x80000006)
		return (struct cpuid){ .c = 512U << 16 | 8 << 12 | 64 };
	return (struct cpuid){ 0 };
}

static struct cpuid
other(uint32_t leaf, uint32_t sub)
{
	(void)sub;
	return leaf == 0 ? vendor("SomebodyElse", 4) : (struct cpuid){ 0 };
}

int
main(int argc, char **argv)
{
	struct geometry g[NCACHE];
	int i;

	prog_init(argv[0]);
	if (argc != 2)
		die("usage: geometry machine");
	which = argv[1];
	if (geometry_detect(g, strncmp(which, "intel", 5) == 0 ? intel :
	    strcmp(which, "other") == 0 ? other : amd) < 0) {
		puts("none");
		return 0;
	}
	for (i = 0; i < NCACHE; i++)
		printf("%" PRIu64 ",%" PRIu64 ",%" PRIu64 " ", g[i].size,
		    g[i].assoc, g[i].line);
	i = geometry_adjust(&g[LL]);
	printf("%s%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", i ? "not " : "",
	    g[LL].size, g[LL].assoc, g[LL].line);
	return 0;
}
