/*
 * costderived - events that are derived from recorded ones
 *
 *	events: Ir Dr
 *	event: CEst = Ir + 10 Dr
 *	event: Twice = 2 CEst
 *
 * A formula may name events before it.  Each becomes factors of the recorded
 * events: here factor[3] is 2 20, so of the counts 7 1 Twice is 34.
 */
#include "cost.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "prog.h"

int
costderived_find(const struct cost_derived *d, const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < d->nev; i++)
		if (strlen(d->ev[i].name) == len &&
		    !memcmp(d->ev[i].name, name, len))
			return i;
	return -1;
}

/* Add k times an event to a formula's factors; false: beyond 64 bits. */
static bool
add_factors(const struct cost_derived *d, int64_t *f, size_t ev, int64_t k)
{
	int64_t v;
	size_t i;

	if (ev < d->nrec)
		return !__builtin_add_overflow(f[ev], k, &f[ev]);
	for (i = 0; i < d->nrec; i++)
		if (__builtin_mul_overflow(k, d->factor[ev][i], &v) ||
		    __builtin_add_overflow(f[i], v, &f[i]))
			return false;
	return true;
}

/* Parse "Ir + 10 Dr" or "Ir + 10*Dr" into factors; false: it is none. */
static bool
parse_formula(const struct cost_derived *d, const char *s, int64_t *f)
{
	uint64_t k;
	size_t i, len;
	int at, sign;
	char *end;

	for (i = 0; *s; i++) {
		s += strspn(s, " \t");
		sign = *s == '-' ? -1 : 1;
		if (*s == '+' || *s == '-')
			s++;
		else if (i)
			return false;
		s += strspn(s, " \t");
		k = 1;
		if (isdigit((unsigned char)*s)) {
			k = strtoull(s, &end, 10);
			s = end + strspn(end, " \t*");
		}
		len = strcspn(s, " \t+-");
		at = costderived_find(d, s, len);
		if (at < 0 || k > INT32_MAX ||
		    !add_factors(d, f, (size_t)at, sign * (int64_t)k))
			return false;
		s += len;
		s += strspn(s, " \t");
	}
	return i > 0;
}

int64_t *
costderived_event(struct cost_derived *d, const struct cost_event *e)
{
	if (d->nev == COST_EVMAX)
		return NULL;
	memset(d->factor[d->nev], 0, sizeof d->factor[0]);
	d->ev[d->nev] = *e;
	return d->factor[d->nev++];
}

void
costderived_add(struct cost_derived *d, const struct cost_head *h)
{
	const struct cost_event *e;
	int64_t *f;
	size_t i;

	if (!d->nev) {
		d->nrec = d->nev = h->nev;
		memcpy(d->ev, h->ev, h->nev * sizeof *h->ev);
	}
	for (i = 0; i < h->nderived; i++) {
		e = &h->derived[i];
		if (costderived_find(d, e->name, strlen(e->name)) >= 0)
			continue;
		f = costderived_event(d, e);
		if (!f)
			return;
		d->nev--;	/* a formula does not name its own event */
		if (parse_formula(d, e->formula, f))
			d->nev++;
		else
			warn("event %s: cannot use the formula %s", e->name,
			    e->formula);
	}
}

const int64_t *
costderived_counts(struct cost_derived *d, const int64_t *n)
{
	int64_t v, *all = d->all;
	size_t i, j;

	if (d->nev == d->nrec)
		return n;
	memcpy(all, n, d->nrec * sizeof *n);
	for (i = d->nrec; i < d->nev; i++)
		for (all[i] = 0, j = 0; j < d->nrec; j++)
			if (__builtin_mul_overflow(n[j], d->factor[i][j], &v) ||
			    __builtin_add_overflow(all[i], v, &all[i]))
				die("%s is beyond 64 bits", d->ev[i].name);
	return all;
}
