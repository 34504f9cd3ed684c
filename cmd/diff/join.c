/*
 * join - walk both tables side by side; write their difference as a profile
 */
#include "diff.h"

#include <stdio.h>
#include <string.h>

#include "mem.h"
#include "out.h"

static const int64_t none[COST_EVMAX];

bool
join_next(struct join *j, struct record_pair *p)
{
	int c;

	if (!j->begun || p->has_old)
		j->more_old = costsum_next(j->old, &j->at_old);
	if (!j->begun || p->has_new)
		j->more_new = costsum_next(j->new, &j->at_new);
	j->begun = j->more_old || j->more_new;
	if (!j->begun)
		return false;
	c = !j->more_old ? 1 : !j->more_new ? -1 :
	    cost_cmp(diff.nm, &j->at_old, &j->at_new);
	p->has_old = c <= 0;
	p->has_new = c >= 0;
	p->c = p->has_old ? j->at_old : j->at_new;
	p->old = p->has_old ? j->at_old.n : none;
	p->new = p->has_new ? j->at_new.n : none;
	memset(p->count_old, 0, sizeof p->count_old);
	memset(p->count_new, 0, sizeof p->count_new);
	if (p->has_old)
		memcpy(p->count_old, j->at_old.count, sizeof p->count_old);
	if (p->has_new)
		memcpy(p->count_new, j->at_new.count, sizeof p->count_new);
	return true;
}

bool
pair_differs(const struct record_pair *p)
{
	size_t i;

	for (i = 0; p->c.kind != COST_JUMP && i < diff.nrec; i++)
		if (p->old[i] != p->new[i])
			return true;
	return p->count_old[0] != p->count_new[0] ||
	    p->count_old[1] != p->count_new[1];
}

static const char *
joined(const char *before, const char *a, const char *b)
{
	size_t len = strlen(before) + strlen(a) + strlen(b) + 3;
	char *s = xmalloc(len);

	snprintf(s, len, "%s%s; %s", before, a, b);
	return s;
}

/* Turn a pair into a record of the difference; false: nothing changed. */
static bool
subtract(struct record_pair *p, int64_t *n)
{
	struct cost *c = &p->c;
	bool any;
	size_t i;

	c->count[0] = c->kind == COST_SELF ? 0 :
	    minus(p->count_new[0], p->count_old[0]);
	c->count[1] = c->kind != COST_JUMP ? 0 :
	    minus(p->count_new[1], p->count_old[1]);
	any = c->count[0] || c->count[1];
	for (i = 0; c->kind != COST_JUMP && i < diff.nrec; i++) {
		n[i] = minus(p->new[i], p->old[i]);
		any |= n[i] != 0;
	}
	c->n = n;
	return any;
}

void
write_profile(void)
{
	struct cost_head h;
	struct costw *w;
	struct join j = { .old = diff.old.t, .new = diff.new.t };
	struct record_pair p;
	int64_t n[COST_EVMAX];
	size_t i;

	costhead_init(&h);
	h.format = diff.cachegrind ? COST_CACHEGRIND : COST_CALLGRIND;
	h.positions = diff.positions;
	h.nev = diff.nrec;
	for (i = 0; i < diff.nrec; i++) {
		memset(&h.ev[i], 0, sizeof h.ev[i]);
		h.ev[i].name = diff.ev[i];
		n[i] = minus(diff.new.total[i], diff.old.total[i]);
	}
	h.derived = diff.events.ev + diff.nrec;
	h.nderived = diff.nev - diff.nrec;
	costhead_desc(&h, joined("Files compared:   ", diff.old.name,
	    diff.new.name));
	costset_put(&diff.settings, diff.nm, &h);
	h.cmd = joined("", diff.old.cmd, diff.new.cmd);
	w = costw_begin(out, diff.nm, &h,
	    h.positions & COST_INSTR ? COSTW_RELATIVE : 0);
	costw_total(w, n);
	while (join_next(&j, &p))
		if (subtract(&p, n))
			costw_put(w, &p.c);
	costw_end(w);
}
