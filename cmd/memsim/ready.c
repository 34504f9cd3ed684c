/*
 * ready - descriptions that are ready, one of them made from cpuid
 *
 * Makers of processors publish sizes, ways and which level contains which, but
 * not how lines are replaced: the policies here are guesses.
 */
#include "memsim.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "caches.h"
#include "prog.h"

static const char zen4[] =
    "cache L1I size=32k ways=8 policy=tree-plru prefetch=next\n"
    "cache L1D size=32k ways=8 policy=tree-plru prefetch=stride\n"
    "cache L2 size=1M ways=8 content=inclusive prefetch=streamer\n"
    "cache L3 size=32M ways=16 policy=srrip content=exclusive shared=yes\n"
    "tlb T1I entries=64 ways=full pages=4k,2M,1G\n"
    "tlb T1D entries=72 ways=full pages=4k,2M,1G\n"
    "tlb T2I entries=512 ways=4 pages=4k,2M\n"
    "tlb T2D entries=3072 ways=24 pages=4k,2M\n"
    "cores each\n";

static const char server2023[] =
    "cache L1I size=32k ways=8 policy=tree-plru prefetch=next\n"
    "cache L1D size=48k ways=12 prefetch=stride\n"
    "cache L2 size=2M ways=16 policy=tree-plru prefetch=streamer\n"
    "cache L3 size=115200k ways=15 policy=drrip shared=yes\n"
    "tlb T1I entries=256 ways=8\n"
    "tlb T1Ihuge entries=32 ways=8 pages=2M\n"
    "tlb T1D entries=96 ways=6\n"
    "tlb T1Dhuge entries=32 ways=4 pages=2M\n"
    "tlb T1Dgiant entries=16 ways=4 pages=1G\n"
    "tlb T2 entries=2048 ways=16 pages=4k,2M\n"
    "tlb T2giant entries=1024 ways=8 pages=1G\n"
    "cores each\n";

static const char drcachesim[] =
    "cache L1I size=32k ways=8\n"
    "cache L1D size=32k ways=8 prefetch=next\n"
    "cache L2 size=8M ways=16 shared=yes\n"
    "cores 4\n";

/* ---- this machine ---- */

static char text[2000];

__attribute__((format(printf, 1, 2)))
static void
say(const char *fmt, ...)
{
	size_t len = strlen(text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + len, sizeof text - len, fmt, ap);
	va_end(ap);
}

/* Each cache; false: the processor does not say. */
static bool
caches(void)
{
	static const char *const side[] = { "", "D", "I", "" };
	struct cache_found found[CACHES_MOST];
	unsigned n = caches_find(found, caches_cpuid);

	for (unsigned i = 0; i < n; i++) {
		const struct cache_found *f = &found[i];

		say("cache L%u%s ways=%lu sets=%lu line=%lu%s%s\n", f->level,
		    side[f->holds], f->ways, f->sets, f->line,
		    f->level > 1 && f->inclusive ? " content=inclusive" : "",
		    f->level > 2 ? " shared=yes" : "");
	}
	return n != 0;
}

/* Intel's leaf 0x18. */
static void
tlbs_intel(void)
{
	static const char *const side[] = { "", "D", "I", "", "D", "D" };
	uint32_t most = caches_cpuid(0x18, 0).a;

	for (uint32_t i = 0; i <= most && i < 64; i++) {
		struct cpuid r = caches_cpuid(0x18, i);
		unsigned type = r.d & 31, level = r.d >> 5 & 7;
		unsigned ways = r.b >> 16, full = r.d >> 8 & 1;

		if (type == 0 || type > 5 || level == 0 || level > 2 ||
		    (r.b & 0xd) == 0 || r.c == 0)
			continue;
		/* loads and stores may have tables of their own */
		if (type == 5)
			continue;
		say("tlb T%u%sx%u ", level, side[type], i);
		say(full ? "entries=%u ways=full" : "entries=%u ways=%u",
		    ways * r.c, ways);
		say(" pages=%s\n", (r.b & 5) == 5 ? "4k,2M" : r.b & 1 ?
		    "4k" : r.b & 4 ? "2M" : "1G");
	}
}

static void
tlb_amd(const char *name, unsigned entries, unsigned ways, const char *page)
{
	if (entries == 0 || ways == 0)
		return;
	if (ways == CACHES_FULL || entries % ways != 0)
		say("tlb %s entries=%u ways=full pages=%s\n", name, entries,
		    page);
	else
		say("tlb %s entries=%u ways=%u pages=%s\n", name, entries,
		    ways, page);
}

/* AMD's 0x80000005 and 6; the ways of the second level are a code. */
static void
tlbs_amd(void)
{
	struct cpuid r = caches_cpuid(0x80000005, 0);

	tlb_amd("T1I", r.b & 255, r.b >> 8 & 255, "4k");
	tlb_amd("T1D", r.b >> 16 & 255, r.b >> 24, "4k");
	tlb_amd("T1Ihuge", r.a & 255, r.a >> 8 & 255, "2M");
	tlb_amd("T1Dhuge", r.a >> 16 & 255, r.a >> 24, "2M");
	r = caches_cpuid(0x80000006, 0);
	tlb_amd("T2I", r.b & 4095, caches_amd_ways(r.b >> 12), "4k");
	tlb_amd("T2D", r.b >> 16 & 4095, caches_amd_ways(r.b >> 28), "4k");
	tlb_amd("T2Ihuge", r.a & 4095, caches_amd_ways(r.a >> 12), "2M");
	tlb_amd("T2Dhuge", r.a >> 16 & 4095, caches_amd_ways(r.a >> 28), "2M");
}

static const char *
this_machine(void)
{
	text[0] = '\0';
	if (!caches())
		die("the caches of this machine cannot be found out; give "
		    "--machine");
	if (!caches_maker_is("GenuineIntel", caches_cpuid))
		tlbs_amd();
	else if (caches_cpuid(0, 0).a >= 0x18)
		tlbs_intel();
	return text;
}

const char *
ready_text(const char *name)
{
	if (strcmp(name, "this") == 0)
		return this_machine();
	if (strcmp(name, "zen4") == 0)
		return zen4;
	if (strcmp(name, "server2023") == 0)
		return server2023;
	if (strcmp(name, "drcachesim") == 0)
		return drcachesim;
	return NULL;
}
