/*
 * geometry - sizes of caches: from options, the stream, this machine
 *
 * The rules are Cachegrind's, so that the same machine gives the same caches:
 * the first-level caches and the last level, found by CPUID; if one of the
 * three is not to be had, all three are those of an Athlon of 2002.  But AMD's
 * processors are asked by leaf 0x8000001d first (caches.h): the older leaves
 * that Cachegrind knows tell the size of the last level for the whole package,
 * and not always its ways, which Cachegrind takes for 1 then. With
 * --caches=valgrind they are all that is asked, and read as Cachegrind does.
 */
#include "cachesim.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "num.h"
#include "prog.h"

const char *const cache_name[NCACHE] = { "I1", "D1", "LL" };

static const struct geometry fallback[NCACHE] = {
	{ 65536, 2, 64 }, { 65536, 2, 64 }, { 262144, 8, 64 }
};

static struct geometry from_option[NCACHE];	/* line 0: none */
static struct geometry from_stream[NCACHE];

bool geometry_as_valgrind;

static bool
is_power(uint64_t n)
{
	return n != 0 && (n & (n - 1)) == 0;
}

/* What is wrong with it, or NULL. */
static const char *
geometry_wrong(const struct geometry *g)
{
	if (g->size > INT_MAX || g->assoc > INT_MAX || g->line > INT_MAX)
		return "a number is too large";
	if (g->line == 0)
		return "the line size is zero";
	if (g->assoc == 0)
		return "the associativity is zero";
	if (g->size % (g->line * g->assoc) != 0 ||
	    !is_power(g->size / (g->line * g->assoc)))
		return "the number of sets is not a power of two";
	if (!is_power(g->line))
		return "the line size is not a power of two";
	if (g->line < 16)
		return "the line size is less than 16";
	if (g->size <= g->line)
		return "the size is not larger than the line size";
	if (g->assoc > g->size / g->line)
		return "the associativity is larger than size / line size";
	return NULL;
}

/* Three numbers with commas between, two of them sizes. -1: anything else. */
static int
parse(const char *s, struct geometry *g)
{
	uint64_t n[3];

	for (int i = 0; i < 3; i++)
		if (num_next(&s, i == 1 ? COUNTS : BYTES, &n[i]) < 0 ||
		    *s++ != (i == 2 ? '\0' : ','))
			return -1;
	*g = (struct geometry){ n[0], n[1], n[2] };
	return 0;
}

void
geometry_option(int cache, const char *arg)
{
	struct geometry *g = &from_option[cache];
	const char *wrong = "not size,associativity,line size";

	if (parse(arg, g) == 0)
		wrong = geometry_wrong(g);
	if (wrong != NULL)
		die("--%s=%s: %s", cache_name[cache], arg, wrong);
}

const char *
geometry_stream(int cache, const char *value)
{
	struct geometry g;

	if (parse(value, &g) < 0)
		g.line = 0;
	from_stream[cache] = g;
	if (g.line == 0 || from_option[cache].line != 0)
		return NULL;
	if (cache == LL)
		geometry_adjust(&g);
	return geometry_wrong(&g);
}

/* ---- this machine ---- */

static void
take(struct geometry *g, const struct cache_found *f)
{
	if (f != NULL)
		*g = (struct geometry){ f->size / 1024 * 1024, f->ways,
			f->line };
}

static void
each_cache(struct geometry g[NCACHE], caches_ask *ask)
{
	struct cache_found all[CACHES_MOST];
	struct caches_ends e = caches_ends(all, caches_find(all, ask));

	take(&g[I1], e.i1);
	take(&g[D1], e.d1);
	take(&g[LL], e.ll);
}

static bool
is_complete(const struct geometry g[NCACHE])
{
	return g[I1].size != 0 && g[D1].size != 0 && g[LL].size != 0;
}

static struct geometry
amd_first(uint32_t r)
{
	return (struct geometry){ (uint64_t)(r >> 24) * 1024, r >> 16 & 255,
	    r & 255 };
}

/* The ways of an outer cache are a code; Cachegrind takes others for 1. */
static struct geometry
amd_outer(uint32_t r, uint64_t size)
{
	static const uint8_t ways[16] = { 1, 1, 2, 1, 4, 1, 8, 1, 16, 1, 32,
	    48, 64, 96, 128, 1 };

	return (struct geometry){ size, ways[r >> 12 & 15], r & 255 };
}

/* By the older leaves alone: one for the first level, one for the others. */
static void
amd_as_valgrind(struct geometry g[NCACHE], caches_ask *ask)
{
	struct cpuid r;

	if (ask(0x80000000, 0).a < 0x80000006)
		return;
	r = ask(0x80000005, 0);
	g[D1] = amd_first(r.c);
	g[I1] = amd_first(r.d);
	r = ask(0x80000006, 0);
	if (r.d >> 18 != 0)
		g[LL] = amd_outer(r.d, (uint64_t)(r.d >> 18) * 512 * 1024);
	else if (r.c >> 16 != 0)
		g[LL] = amd_outer(r.c, (uint64_t)(r.c >> 16) * 1024);
}

static bool
is_amd(caches_ask *ask)
{
	return caches_maker_is("AuthenticAMD", ask) ||
	    caches_maker_is("HygonGenuine", ask);
}

int
geometry_detect(struct geometry g[NCACHE], caches_ask *ask)
{
	memset(g, 0, NCACHE * sizeof *g);
	if (is_amd(ask) && geometry_as_valgrind)
		amd_as_valgrind(g, ask);
	else if (is_amd(ask) || caches_maker_is("GenuineIntel", ask))
		each_cache(g, ask);
	return is_complete(g) ? 0 : -1;
}

/* ---- the decision ---- */

bool
geometry_adjust(struct geometry *g)
{
	uint64_t sets, p = 1;

	if (g->assoc == 0 || g->line == 0)
		return false;
	sets = g->size / (g->assoc * g->line);
	if (is_power(sets)) {
		bool changed = g->size != g->line * g->assoc * sets;

		g->size = g->line * g->assoc * sets;
		return changed;
	}
	if (sets == 0)
		return false;
	while (p * 2 < sets)
		p *= 2;
	g->assoc = (g->assoc * sets * 2 + p) / (2 * p);
	g->size = g->line * g->assoc * p;
	return true;
}

void
geometry_decide(struct geometry g[NCACHE])
{
	struct geometry here[NCACHE];
	bool all = true;

	for (int i = 0; i < NCACHE; i++) {
		g[i] = from_option[i].line != 0 ? from_option[i] :
		    from_stream[i];
		all &= g[i].line != 0;
	}
	if (!all && geometry_detect(here, caches_cpuid) < 0) {
		warn("the caches of this machine cannot be found out; "
		    "those not given are of default size");
		memcpy(here, fallback, sizeof here);
	}
	for (int i = 0; i < NCACHE; i++) {
		const char *wrong;
		struct geometry was;

		if (g[i].line == 0)
			g[i] = here[i];
		was = g[i];
		if (i == LL && from_option[i].line == 0 &&
		    geometry_adjust(&g[i]))
			warn("the LL cache of %lu,%lu,%lu is simulated as "
			    "%lu,%lu,%lu", was.size, was.assoc, was.line,
			    g[i].size, g[i].assoc, g[i].line);
		wrong = geometry_wrong(&g[i]);
		if (wrong != NULL)
			die("%s cache of %lu,%lu,%lu: %s; give --%s",
			    cache_name[i], g[i].size, g[i].assoc, g[i].line,
			    wrong, cache_name[i]);
	}
}

void
geometry_print(void)
{
	struct geometry here[NCACHE];

	if (geometry_detect(here, caches_cpuid) < 0)
		memcpy(here, fallback, sizeof here);
	geometry_adjust(&here[LL]);
	for (int i = 0; i < NCACHE; i++)
		printf("--%s=%" PRIu64 ",%" PRIu64 ",%" PRIu64 "%c",
		    cache_name[i], here[i].size, here[i].assoc, here[i].line,
		    i == LL ? '\n' : ' ');
	if (fflush(stdout) != 0)
		die("standard output:");
}
