/*
 * weights - weighted sums, exact until they are rounded
 *
 *	--weights=0.4,0.4	counts 1 and 1		0.8, so 1
 *
 * A weight is a number of units of 10^-18.  A product is three parts: whole
 * ones, and of the rest so many 10^-9 and so many 10^-18; negative ones have
 * negative parts.  Each part is added up in a table of its own, which has room
 * for those of 9 * 10^9 files.  All tables have the same records.
 */
#include "merge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "mem.h"
#include "prog.h"

enum { PARTS = 3, DECIMALS = 18, FAR = 1 << 30 };
static const int64_t half_scale = 1000000000;		/* 10^9 */
static const int64_t scale = 1000000000000000000;	/* 10^18 */
static struct costsum *part[PARTS];

/* Decimal digits, [digits][.digits][e[sign]digits], as units, rounded. */
static struct weight
units(const char *s, size_t len)
{
	const char *end = s + len, *e, *p;
	struct weight w = { 0, 0 };
	unsigned __int128 v = 0, one;
	long power;
	int k;

	for (e = s; e < end && *e != 'e' && *e != 'E'; e++)
		continue;
	for (p = s; p < e && *p != '.'; p++)
		continue;
	power = e < end ? strtol(e + 1, NULL, 10) : 0;
	power = power > FAR ? FAR : power;
	power += p - s - 1 + DECIMALS;
	for (p = s; p < e && power >= -1; p++) {
		if (*p == '.')
			continue;
		for (one = 1, k = 0; k < power && k < 2 * DECIMALS; k++)
			one *= 10;
		v += power < 0 ? *p >= '5' : one * (unsigned)(*p - '0');
		power--;
	}
	w.whole = (int64_t)(v / (uint64_t)scale);
	w.rest = (int64_t)(v % (uint64_t)scale);
	return w;
}

/* A number in the list that --weights has; *s goes on behind it. */
static struct weight
parse_weight(const char **s)
{
	int len = (int)strcspn(*s, ",");
	const char *from = *s + strspn(*s, " \t\n\v\f\r");
	char *end;
	long double w = strtold(*s, &end);

	from += *from == '+' || *from == '-';
	if (len == 0 || end != *s + len || isnan(w) ||
	    strncasecmp(from, "0x", 2) == 0)
		die("--weights: `%.*s' is not a number", len, *s);
	if (!(w >= 0 && w <= 1e18L))
		die("--weights: %.*s is not within 0 to 1e18", len, *s);
	*s = end + (*end == ',');
	return units(from, (size_t)(end - from));
}

struct weight *
weights_parse(const char *s, size_t n)
{
	struct weight *w = xcalloc(n, sizeof *w);
	size_t have = 1, i;

	for (i = 0; s[i] != '\0'; i++)
		have += s[i] == ',';
	if (have != n)
		die("--weights: %zu numbers for %zu files", have, n);
	for (i = 0; i < n; i++)
		w[i] = parse_weight(&s);
	return w;
}

void
weights_positions(struct costnames *nm)
{
	size_t i;

	for (i = 0; i < PARTS; i++) {
		if (!part[i])
			part[i] = costsum_new(nm, first.positions, first.nev);
		costsum_positions(part[i], first.positions);
	}
}

static int64_t
fitting(__int128 v, const char *what)
{
	if (v > INT64_MAX || v < INT64_MIN)
		die("--weights: a %s is beyond 64 bits", what);
	return (int64_t)v;
}

static void
multiply(int64_t n, const struct weight *w, int64_t *to, size_t step)
{
	__int128 rest = (__int128)n * w->rest;
	int64_t units = (int64_t)(rest % scale);

	to[0] = fitting((__int128)n * w->whole + rest / scale, "product");
	to[step] = units / half_scale;
	to[2 * step] = units % half_scale;
}

void
weights_put(const struct cost *c, const struct weight *w)
{
	int64_t n[PARTS][COST_EVMAX], count[PARTS][2] = { { 0 } };
	struct cost p = *c;
	size_t i;

	for (i = 0; c->kind != COST_SELF && i < 2; i++)
		multiply(c->count[i], w, &count[0][i], 2);
	for (i = 0; c->kind != COST_JUMP && i < first.nev; i++)
		multiply(c->n[i], w, &n[0][i], COST_EVMAX);
	for (i = 0; i < PARTS; i++) {
		p.n = n[i];
		memcpy(p.count, count[i], sizeof p.count);
		costsum_put(part[i], &p);
	}
}

/* The sum of a count's parts, rounded to the nearest; halves from 0. */
static int64_t
rounded(int64_t whole, int64_t middle, int64_t least)
{
	__int128 v = (__int128)whole * scale + (__int128)middle * half_scale +
	    least;

	return fitting((v + (v < 0 ? -scale : scale) / 2) / scale, "sum");
}

static void
round_record(struct cost *c, int64_t *n)
{
	size_t i;

	for (i = 0; c->kind != COST_SELF && i < 2; i++)
		c->count[i] = rounded(c[0].count[i], c[1].count[i],
		    c[2].count[i]);
	for (i = 0; c->kind != COST_JUMP && i < first.nev; i++)
		n[i] = rounded(c[0].n[i], c[1].n[i], c[2].n[i]);
	c->n = n;
}

void
weights_sum(struct costsum *table)
{
	struct cost c[PARTS];
	int64_t n[COST_EVMAX];
	size_t i;

	for (i = 0; i < PARTS; i++) {
		costsum_sort(part[i]);
		costsum_last(part[i]);
	}
	while (costsum_next(part[0], &c[0])) {
		for (i = 1; i < PARTS; i++)
			costsum_next(part[i], &c[i]);
		round_record(c, n);
		costsum_put(table, c);
		if (c->kind == COST_SELF)
			total_add(n);
	}
}
