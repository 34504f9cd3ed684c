/*
 * geometry - the caches that cachesim finds by CPUID
 *
 *	geometry zen4|zen1|zen-guest|phenom|core|xeon|... [valgrind]
 *
 * answers CPUID as such a machine does, and prints the three caches, or "none",
 * and LL after its adjustment.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../../cmd/cachesim/cachesim.h"
#include "prog.h"

struct leaf {
	const char *machine;
	uint32_t leaf, sub;
	struct cpuid r;		/* eax, ebx, ecx, edx */
};

#define AMD(highest)	{ highest, 0x68747541, 0x444d4163, 0x69746e65 }
#define INTEL(highest)	{ highest, 0x756e6547, 0x6c65746e, 0x49656e69 }

/* What is not here is 0. */
static const struct leaf table[] = {
	/* EPYC of family 19h: 320 MB in the package, 32 MB for each complex */
	{ "zen4", 0, 0, AMD(0x1c) },
	{ "zen4", 0x80000000, 0, AMD(0x80000021) },
	{ "zen4", 0x80000001, 0,
	    { 0xa10f11, 0x40000000, 0x4003f3, 0x2fd3fbff } },
	{ "zen4", 0x80000005, 0,
	    { 0xff48ff40, 0xff48ff40, 0x20080140, 0x20080140 } },
	{ "zen4", 0x80000006, 0,
	    { 0x5c002200, 0x6c004200, 0x4006140, 0xa009140 } },
	{ "zen4", 0x8000001d, 0, { 0x121, 0x1c0003f, 0x3f, 0 } },
	{ "zen4", 0x8000001d, 1, { 0x122, 0x1c0003f, 0x3f, 0 } },
	{ "zen4", 0x8000001d, 2, { 0x143, 0x1c0003f, 0x7ff, 2 } },
	{ "zen4", 0x8000001d, 3, { 0x4163, 0x3c0003f, 0x7fff, 1 } },
	/* Ryzen 7 1700: I1 of 64 KB and 4 ways, 8 MB for each complex */
	{ "zen1", 0, 0, AMD(0xd) },
	{ "zen1", 0x80000000, 0, AMD(0x8000001f) },
	{ "zen1", 0x80000001, 0,
	    { 0x800f11, 0x20000000, 0x35c233ff, 0x2fd3fbff } },
	{ "zen1", 0x80000005, 0,
	    { 0xff40ff40, 0xff40ff40, 0x20080140, 0x40040140 } },
	{ "zen1", 0x80000006, 0,
	    { 0x26006400, 0x66006400, 0x2006140, 0x808140 } },
	{ "zen1", 0x8000001d, 0, { 0x4121, 0x1c0003f, 0x3f, 0 } },
	{ "zen1", 0x8000001d, 1, { 0x4122, 0xc0003f, 0xff, 0 } },
	{ "zen1", 0x8000001d, 2, { 0x4143, 0x1c0003f, 0x3ff, 2 } },
	{ "zen1", 0x8000001d, 3, { 0x1c163, 0x3c0003f, 0x1fff, 1 } },
	/* the same in a guest that is not told of topology extensions */
	{ "zen-guest", 0, 0, AMD(0xd) },
	{ "zen-guest", 0x80000000, 0, AMD(0x8000001f) },
	{ "zen-guest", 0x80000001, 0, { 0x800f11, 0, 0x1c233ff, 0x2fd3fbff } },
	{ "zen-guest", 0x80000005, 0,
	    { 0xff40ff40, 0xff40ff40, 0x20080140, 0x40040140 } },
	{ "zen-guest", 0x80000006, 0,
	    { 0x26006400, 0x66006400, 0x2006140, 0x808140 } },
	{ "zen-guest", 0x8000001d, 0, { 0x4121, 0x1c0003f, 0x3f, 0 } },
	/* or that is told, but of nothing in it */
	{ "zen-empty", 0, 0, AMD(0xd) },
	{ "zen-empty", 0x80000000, 0, AMD(0x8000001f) },
	{ "zen-empty", 0x80000001, 0, { 0x800f11, 0, 0x4003f3, 0x2fd3fbff } },
	{ "zen-empty", 0x80000005, 0, { 0, 0, 0x20080140, 0x40040140 } },
	{ "zen-empty", 0x80000006, 0, { 0, 0, 0x2006140, 0x808140 } },
	/* and the last level's ways are not told: 508 MB */
	{ "zen5-empty", 0, 0, AMD(0x10) },
	{ "zen5-empty", 0x80000000, 0, AMD(0x80000021) },
	{ "zen5-empty", 0x80000001, 0, { 0xb00f21, 0, 0x4003f3, 0x2fd3fbff } },
	{ "zen5-empty", 0x80000005, 0, { 0, 0, 0x300c0140, 0x20080140 } },
	{ "zen5-empty", 0x80000006, 0, { 0, 0, 0x4006140, 0xfe09140 } },
	/* the ways of the second level, which is the last, are not told */
	{ "zen-two", 0, 0, AMD(0xd) },
	{ "zen-two", 0x80000000, 0, AMD(0x8000001f) },
	{ "zen-two", 0x80000005, 0, { 0, 0, 0x20080140, 0x40040140 } },
	{ "zen-two", 0x80000006, 0, { 0, 0, 0x2009140, 0 } },
	/* the newer leaf tells only the first level */
	{ "zen-half", 0, 0, AMD(0xd) },
	{ "zen-half", 0x80000000, 0, AMD(0x8000001f) },
	{ "zen-half", 0x80000001, 0, { 0x800f11, 0, 0x4003f3, 0x2fd3fbff } },
	{ "zen-half", 0x80000005, 0, { 0, 0, 0x20080140, 0x40040140 } },
	{ "zen-half", 0x80000006, 0, { 0, 0, 0x2006140, 0x808140 } },
	{ "zen-half", 0x8000001d, 0, { 0x4121, 0x1c0003f, 0x3f, 0 } },
	{ "zen-half", 0x8000001d, 1, { 0x4122, 0xc0003f, 0xff, 0 } },
	/* Phenom II X6: 6 MB of 48 ways */
	{ "phenom", 0, 0, AMD(6) },
	{ "phenom", 0x80000000, 0, AMD(0x8000001b) },
	{ "phenom", 0x80000001, 0,
	    { 0x100fa0, 0x10000050, 0x37ff, 0xefd3fbff } },
	{ "phenom", 0x80000005, 0,
	    { 0xff30ff10, 0xff30ff20, 0x40020140, 0x40020140 } },
	{ "phenom", 0x80000006, 0,
	    { 0x20800000, 0x42004200, 0x2008140, 0x30b140 } },
	/* Athlon 64: no third level */
	{ "athlon", 0, 0, AMD(1) },
	{ "athlon", 0x80000000, 0, AMD(0x80000018) },
	{ "athlon", 0x80000005, 0,
	    { 0xff08ff08, 0xff20ff20, 0x40020140, 0x40020140 } },
	{ "athlon", 0x80000006, 0, { 0, 0x42004200, 0x2008140, 0 } },
	{ "old-amd", 0, 0, AMD(1) },
	{ "old-amd", 0x80000000, 0, AMD(0x80000004) },
	/* Core i7-6700K: 8 MB of 16 ways */
	{ "core", 0, 0, INTEL(0x16) },
	{ "core", 4, 0, { 0x1c004121, 0x1c0003f, 0x3f, 0 } },
	{ "core", 4, 1, { 0x1c004122, 0x1c0003f, 0x3f, 0 } },
	{ "core", 4, 2, { 0x1c004143, 0xc0003f, 0x3ff, 0 } },
	{ "core", 4, 3, { 0x1c03c163, 0x3c0003f, 0x1fff, 6 } },
	/* a Xeon: 30 MB of 20 ways, 24576 sets */
	{ "xeon", 0, 0, INTEL(0xf) },
	{ "xeon", 4, 0, { 0x4121, 0x1c0003f, 0x3f, 0 } },
	{ "xeon", 4, 1, { 0x4122, 0x1c0003f, 0x3f, 0 } },
	{ "xeon", 4, 2, { 0x4143, 0x1c0003f, 0x1ff, 0 } },
	{ "xeon", 4, 3, { 0x7c163, 0x4c0003f, 0x5fff, 6 } },
	/* Core 2 Duo: the second level is the last one */
	{ "core2", 0, 0, INTEL(0xa) },
	{ "core2", 4, 0, { 0x4000121, 0x1c0003f, 0x3f, 1 } },
	{ "core2", 4, 1, { 0x4000122, 0x1c0003f, 0x3f, 1 } },
	{ "core2", 4, 2, { 0x4004143, 0x3c0003f, 0xfff, 1 } },
	{ "old-intel", 0, 0, INTEL(3) },
	{ "old-intel", 4, 0, { 0x4000121, 0x1c0003f, 0x3f, 1 } },
	/* the vendor "SomebodyElse" */
	{ "other", 0, 0, { 0x16, 0x656d6f53, 0x65736c45, 0x79646f62 } },
	{ "other", 4, 0, { 0x1c004121, 0x1c0003f, 0x3f, 0 } },
};

static const char *machine;

static struct cpuid
recorded(uint32_t leaf, uint32_t sub)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (strcmp(table[i].machine, machine) == 0 &&
		    table[i].leaf == leaf && table[i].sub == sub)
			return table[i].r;
	return (struct cpuid){ 0 };
}

int
main(int argc, char **argv)
{
	struct geometry g[NCACHE];
	int i;

	prog_init(argv[0]);
	if (argc < 2)
		die("usage: geometry machine [valgrind]");
	machine = argv[1];
	geometry_as_valgrind = argc > 2;
	if (recorded(0, 0).a == 0)
		die("%s: no such machine", machine);
	if (geometry_detect(g, recorded) < 0) {
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
