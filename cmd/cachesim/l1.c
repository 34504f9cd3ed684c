/*
 * l1 - the first-level caches
 *
 *  - Recency is a time stamp, so that a hit is a compare and a store and no
 *    list is kept in order. Of code lines even the compare needs no set: each
 *    line in the program is an object with its stamp, which is 0 while it is
 *    not in I1.
 *  - A data line is found by a hint: a table by the line's low bits says where
 *    it was last. Where the hint is wrong the set is searched.
 */
#include "cachesim.h"

#include <stdlib.h>
#include <string.h>

#include "cpu.h"
#include "mem.h"
#include "prog.h"
#include "ways.h"

struct l1 l1 = { .dtag = l1_d.tag, .dstamp = l1_d.stamp };
struct l1_d l1_d __attribute__((aligned(64)));
/* What stamps are taken from: it grows with each look-up. */
struct times l1_time;

/* I1: lines by set and way; 0 is no line. Stamps are by line. */
uint64_t *l1_istamp;
uint64_t *l1_code_line;
static uint32_t ncode_line = 1;		/* number 0 is no line */
static size_t capistamp, capline;
static uint32_t *iway;

#define NOLINE	UINT64_MAX		/* no line begins there */
static bool has_few;		/* ways for find_way16 */

/* ---- I1 ---- */

uint32_t
l1_new_line(uint64_t line)
{
	if (ncode_line == 1 << 28)
		die("more code lines than 2^28");
	l1_code_line = xgrow(l1_code_line, &capline, ncode_line + 1,
	    sizeof *l1_code_line);
	l1_code_line[ncode_line] = line;
	l1_istamp = xgrow0(l1_istamp, &capistamp, ncode_line + 1,
	    sizeof *l1_istamp);
	return ncode_line++;
}

int
l1_fetch(uint32_t n)
{
	uint32_t *way, *oldest;

	if (l1.tables)
		return table_touch(I1, l1_code_line[n]);
	if (l1_istamp[n] != 0) {
		l1_istamp[n] = ++l1_time.i;
		return 0;
	}
	way = oldest = iway + (l1_code_line[n] & (l1.isets - 1)) * l1.iassoc;
	for (uint64_t w = 1; w < l1.iassoc; w++)
		if (l1_istamp[way[w]] < l1_istamp[*oldest])
			oldest = &way[w];
	l1_istamp[*oldest] = 0;
	*oldest = n;
	l1_istamp[n] = ++l1_time.i;
	return 1;
}

/*
 * ---- D1 ----
 *
 * A set has as many places as ways, or some more, which no line ever takes:
 * their stamp is the latest for ever. So look-ups of 8 places fit.
 *
 * A hint is set where a line enters, or is found by a search: it leads to that
 * line of all with the same hint that was used last, or to the place that this
 * one has left. As all of these are of one set, if there are no more sets than
 * hints, then all others have left it before. So where the line at the place
 * has another hint, a line with this one is missing for sure (l1_is_missing).
 */

/*
 * The way of a set that has a line or, if none has, the one used longest ago:
 * 1 then.
 */
static int
find_way(const uint64_t *tag, const uint64_t *stamp, uint64_t line,
    unsigned *way)
{
	unsigned oldest = 0;

	for (unsigned w = 0; w < l1.dassoc; w++) {
		if (tag[w] == line) {
			*way = w;
			return 0;
		}
		if (stamp[w] < stamp[oldest])
			oldest = w;
	}
	*way = oldest;
	return 1;
}

#ifdef __x86_64__

__attribute__((target("avx2,bmi"), noinline))
static unsigned
oldest_way(const uint64_t *stamp)
{
	return ways_oldest(stamp);
}

/* The same for up to 16 ways, without a branch on what it finds. */
__attribute__((target("avx2,bmi")))
static int
find_way16(const uint64_t *tag, const uint64_t *stamp, uint64_t line,
    unsigned *way)
{
	unsigned m = ways_equal(tag, _mm256_set1_epi64x((long long)line));
	unsigned oldest = oldest_way(stamp);

	*way = m != 0 ? (unsigned)__builtin_ctz(m) : oldest;
	return m == 0;
}

#else
#define find_way16	find_way
#define oldest_way(s)	0
#endif

int
l1_search(uint64_t line)
{
	uint64_t at = (line & (l1.dsets - 1)) * l1.dways;
	uint64_t tag = line << l1.dshift;
	unsigned way;
	int missed = 1;

	if (has_few && l1.hints_tell && l1_is_missing(tag, l1.dshift))
		way = oldest_way(&l1.dstamp[at]);
	else
		missed = (has_few ? find_way16 : find_way)(&l1.dtag[at],
		    &l1.dstamp[at], tag, &way);
	at += way;
	l1_d.hint[line % L1_NHINT] = (uint16_t)at;
	l1.dtag[at] = tag;
	l1.dstamp[at] = ++l1_time.d;
	return missed;
}

/* ---- sets ---- */

static uint32_t *by_age;	/* the ways of a set, the newest first */
static const uint64_t *of_set;

static int
newer(const void *a, const void *b)
{
	uint64_t x = of_set[*(const uint32_t *)a];
	uint64_t y = of_set[*(const uint32_t *)b];

	return x > y ? -1 : x < y;
}

uint64_t
l1_set_line(uint64_t set, uint64_t way)
{
	uint64_t tag;

	if (by_age == NULL)
		by_age = xmalloc(l1.dassoc * sizeof *by_age);
	if (way == 0) {
		of_set = &l1.dstamp[set * l1.dways];
		for (uint32_t w = 0; w < l1.dassoc; w++)
			by_age[w] = w;
		qsort(by_age, l1.dassoc, sizeof *by_age, newer);
	}
	tag = l1.dtag[set * l1.dways + by_age[way]];
	return tag == NOLINE ? 0 : (tag >> l1.dshift) + 1;
}

/* Lines have moved: hints lead to those used last. */
static void
hints_of_set(uint64_t set)
{
	uint64_t at, line;

	for (uint64_t w = l1.dassoc; w-- > 0; ) {
		at = set * l1.dways + by_age[w];
		line = l1.dtag[at] >> l1.dshift;
		l1_d.hint[line % L1_NHINT] = (uint16_t)at;
	}
}

void
l1_set_move(uint64_t set, uint64_t way, uint64_t line)
{
	if (line != 0)
		l1.dtag[set * l1.dways + by_age[way]] = (line - 1) << l1.dshift;
	if (way + 1 == l1.dassoc && l1.hints_tell)
		hints_of_set(set);
}

/* Of a set. */
static uint64_t
places(const struct geometry *g)
{
	uint64_t sets = g->size / g->line / g->assoc;
	uint64_t ways = (g->assoc + 7) / 8 * 8;

	return sets * ways <= L1_DLINES ? ways : (g->assoc + 3) / 4 * 4;
}

uint64_t
l1_ways(const struct geometry *g)
{
	return g->size / g->line / g->assoc * places(g);
}

/* Hints that nothing has set point at a tag that is not of their line. */
static void
no_hints(void)
{
	for (unsigned i = 0; i < L1_NHINT; i++)
		l1_d.hint[i] = i == 0 ? L1_DLINES : L1_DLINES + 1;
	l1_d.tag[L1_DLINES] = (uint64_t)1 << l1.dshift;
	l1_d.tag[L1_DLINES + 1] = 0;
}

static void
init_tables(const struct geometry g[NCACHE], struct evr *r)
{
	uint64_t sets, size, ways;

	ev_filter(r, &sets, &size, &ways);
	table_init(I1, &g[I1], sets, ways);
	table_init(D1, &g[D1], sets, ways);
}

static void
clear_data(void)
{
	memset(l1.dtag, 0xff, l1.dsets * l1.dways * sizeof *l1.dtag);
	if (l1.dtag == l1_d.tag)
		no_hints();
}

/* No two stamps of a set are equal: hotsearch.S takes all of the least. */
static void
order_data(void)
{
	for (uint64_t s = 0; s < l1.dsets; s++)
		for (uint64_t w = 0; w < l1.dassoc; w++)
			l1_d.stamp[s * l1.dways + w] = w;
	l1_time.d = l1.dassoc;
}

static void
init_data(const struct geometry *g)
{
	l1.dassoc = g->assoc;
	l1.dsets = g->size / g->line / l1.dassoc;
	l1.dshift = (unsigned)__builtin_ctzll(g->line);
	l1.dways = (unsigned)places(g);
	if (l1_ways(g) > L1_DLINES) {
		l1.dtag = ll_reserve((l1.dsets * l1.dways + UINT16_MAX) *
		    sizeof *l1.dtag);
		l1.dstamp = ll_reserve(l1.dsets * l1.dways *
		    sizeof *l1.dstamp);
	}
	l1.hints_tell = l1.dtag == l1_d.tag && l1.dsets <= L1_NHINT;
	clear_data();
	for (uint64_t s = 0; s < l1.dsets; s++)
		for (uint64_t w = l1.dassoc; w < l1.dways; w++)
			l1.dstamp[s * l1.dways + w] = INT64_MAX;
	if (l1.dtag == l1_d.tag)
		order_data();
}

void
l1_init(const struct geometry g[NCACHE], struct evr *r)
{
	l1.iassoc = g[I1].assoc;
	l1.ishift = (unsigned)__builtin_ctzll(g[I1].line);
	l1.isets = g[I1].size / g[I1].line / l1.iassoc;
	iway = ll_reserve(l1.isets * l1.iassoc * sizeof *iway);
	l1_istamp = xgrow0(l1_istamp, &capistamp, 1, sizeof *l1_istamp);
	l1.tables = ev_kind(r) == EV_CACHE;
	if (l1.tables)
		init_tables(g, r);
	init_data(&g[D1]);
#ifdef __x86_64__
	has_few = l1.dways <= 16 && cpu_has(AVX2, "avx2") &&
	    cpu_has(BMI1, "bmi");
#endif
}

void
l1_clear(void)
{
	if (l1.tables) {
		table_clear(I1);
		table_clear(D1);
	}
	memset(l1_istamp, 0, capistamp * sizeof *l1_istamp);
	memset(iway, 0, l1.isets * l1.iassoc * sizeof *iway);
	clear_data();
}
