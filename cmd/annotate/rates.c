/*
 * rates - which events are misses, of which references, and their sums
 *
 * The table says of each kind of miss what it is a part of and which sum it
 * goes into, under the names that KCachegrind gives them: D1mr and D1mw are
 * misses of Dr and Dw, and parts of L1m.  A # is a digit, the same one in all
 * names.  A sum is made where a profile has two of its parts or more; where it
 * has one, that one stands for the sum.
 */
#include "annotate.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

struct rate_rule {
	const char *event;
	const char *per[3];	/* references, if the profile has them all */
	const char *sum;	/* or NULL */
};

static const struct rate_rule rules[] = {
	/* cachesim, Cachegrind, Callgrind */
	{ "I1mr", { "Ir" }, "L1m" },
	{ "D1mr", { "Dr" }, "L1m" },
	{ "D1mw", { "Dw" }, "L1m" },
	{ "ILmr", { "Ir" }, "LLm" },
	{ "DLmr", { "Dr" }, "LLm" },
	{ "DLmw", { "Dw" }, "LLm" },
	{ "LLm", { "Ir", "Dr", "Dw" }, NULL },
	/* memsim */
	{ "L#Imr", { "Ir" }, "L#m" },
	{ "L#Dmr", { "Dr" }, "L#m" },
	{ "L#Dmw", { "Dw" }, "L#m" },
	{ "L#mr", { "Ir", "Dr" }, "L#m" },
	{ "L#mw", { "Dw" }, "L#m" },
	{ "L#m", { "Ir", "Dr", "Dw" }, NULL },
	/* memsim's TLBs and walks, and TLBs as others call them */
	{ "T#Im", { "Ir" }, "T#m" },
	{ "T#Dm", { "Dr", "Dw" }, "T#m" },
	{ "T#m", { "Ir", "Dr", "Dw" }, NULL },
	{ "Iwk", { "Ir" }, "wk" },
	{ "Dwk", { "Dr", "Dw" }, "wk" },
	{ "wk", { "Ir", "Dr", "Dw" }, NULL },
	{ "ITLBm", { "Ir" }, "TLBm" },
	{ "DTLBm", { "Dr", "Dw" }, "TLBm" },
	{ "TLBm", { "Ir", "Dr", "Dw" }, NULL },
	/* branchsim */
	{ "Bcm", { "Bc" }, "Bm" },
	{ "Bim", { "Bi" }, "Bm" },
	{ "Brm", { "Br" }, "Bm" },
	{ "Bm", { "Bc", "Bi" }, NULL },
};

/* Events of memsim with rates that are no misses, and not shown first. */
static const struct rate_rule others[] = {
	{ "L#Dwb", { NULL }, NULL },
	{ "L#wb", { NULL }, NULL },
	{ "L#Dpf", { NULL }, NULL },
	{ "L#pf", { NULL }, NULL },
	{ "L#Dpu", { "L#Dpf" }, NULL },
	{ "L#pu", { "L#pf" }, NULL },
	{ "Inv", { "Dw" }, NULL },
	{ "Fsh", { "Inv" }, NULL },
};

enum {
	NRULE = sizeof rules / sizeof rules[0],
	NOTHER = sizeof others / sizeof others[0]
};

static struct rate rate[COST_EVMAX];	/* by event */

static int
find(const char *name)
{
	size_t i;

	for (i = 0; i < prof.nev; i++)
		if (!strcmp(prof.ev[i], name))
			return (int)i;
	return -1;
}

/* Does a name match?  digit: that of its #, or 0. */
static bool
matches(const char *pattern, const char *name, char *digit)
{
	for (*digit = 0; *pattern && *name; pattern++, name++) {
		if (*pattern == '#' && isdigit((unsigned char)*name))
			*digit = *name;
		else if (*pattern != *name)
			return false;
	}
	return !*pattern && !*name;
}

static const struct rate_rule *
rule_of(const char *name, char *digit)
{
	size_t i;

	for (i = 0; i < NRULE; i++)
		if (matches(rules[i].event, name, digit))
			return &rules[i];
	for (i = 0; i < NOTHER; i++)
		if (matches(others[i].event, name, digit))
			return &others[i];
	return NULL;
}

/* Add a reference to those of an event, once; false: there is no such event. */
static bool
add_per(struct rate *r, const char *pattern, char digit)
{
	char name[32], *p;
	size_t i;
	int at;

	snprintf(name, sizeof name, "%s", pattern);
	p = strchr(name, '#');
	if (p)
		*p = digit;
	at = find(name);

	for (i = 0; i < r->nper; i++)
		if ((int)r->per[i] == at)
			return true;
	if (at >= 0)
		r->per[r->nper++] = (size_t)at;
	return at >= 0;
}

/* The name of the sum that an event is a part of; empty: of none. */
static void
sum_of(size_t ev, char *name, size_t size)
{
	char digit, *p;
	const struct rate_rule *u = rule_of(prof.ev[ev], &digit);

	snprintf(name, size, "%s", u && u->sum ? u->sum : "");
	p = strchr(name, '#');
	if (p)
		*p = digit;
}

/* Add the references of an event's rule; false: some are missing. */
static bool
add_rule(struct rate *r, const struct rate_rule *u, char digit)
{
	bool all = true;
	size_t i;

	for (i = 0; i < 3 && u->per[i]; i++)
		all &= add_per(r, u->per[i], digit);
	return all;
}

/* A sum has its parts' references. */
static void
set_rate(size_t ev)
{
	struct rate *r = &rate[ev];
	const struct rate_rule *u;
	char digit, other, name[32];
	size_t i, parts = 0;
	bool all = true;

	u = rule_of(prof.ev[ev], &digit);
	memset(r, 0, sizeof *r);
	r->is_rate = u != NULL;
	r->is_miss = u >= rules && u < rules + NRULE;
	for (i = 0; u && i < prof.nrec; i++) {
		sum_of(i, name, sizeof name);
		if (strcmp(name, prof.ev[ev]))
			continue;
		all &= add_rule(r, rule_of(prof.ev[i], &other), other);
		parts++;
	}
	if (u && !parts)
		all = add_rule(r, u, digit);
	if (!all)
		r->nper = 0;
}

bool
rates_sum(size_t ev, char *name, size_t size, size_t *parts, size_t *n)
{
	char other[32];
	size_t i;

	sum_of(ev, name, size);
	*n = 0;
	for (i = 0; *name && i < prof.nrec; i++) {
		sum_of(i, other, sizeof other);
		if (!strcmp(other, name))
			parts[(*n)++] = i;
	}
	return *n > 1 && parts[0] == ev && find(name) < 0;
}

/* The sum that has an event, or the event itself. */
static size_t
whole_of(size_t ev)
{
	char name[32];

	sum_of(ev, name, sizeof name);
	return *name && find(name) >= 0 ? (size_t)find(name) : ev;
}

size_t
rates_main(size_t *ev)
{
	size_t i, k, at, n = 0;

	for (i = 0; i < prof.nev; i++)
		set_rate(i);
	for (i = 0; i < prof.nev; i++) {
		at = whole_of(i);
		for (k = 0; k < n && ev[k] != at; k++)
			continue;
		if (k == n && rate[at].is_miss && prof.total[at])
			ev[n++] = at;
	}
	return n;
}

const struct rate *
rate_of(size_t ev)
{
	return &rate[ev];
}

bool
rate_per_ref(const struct rate *r, const int64_t *n, size_t ev, double *share)
{
	double refs = 0;
	size_t i;

	for (i = 0; i < r->nper; i++)
		refs += (double)n[r->per[i]];
	*share = refs > 0 ? 100 * (double)n[ev] / refs : 0;
	return refs > 0;
}

bool
rate_per_thousand(const int64_t *n, size_t ev, double *rate_is)
{
	int ir = find("Ir");

	*rate_is = ir >= 0 && n[ir] > 0 ?
	    1000 * (double)n[ev] / (double)n[ir] : 0;
	return ir >= 0 && n[ir] > 0;
}
