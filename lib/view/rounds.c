/*
 * rounds - how often repeated string instructions went round
 */
#include "rounds.h"

#include <stdlib.h>

#include "mem.h"
#include "sum.h"

#define NOGROUP	UINT32_MAX
#define MOST	(INT64_MAX / 8)	/* of rounds: sums with others fit */

/* A repeated instruction: the sum of its counts, and how many were 0. */
struct repeated {
	uint32_t insn;
	uint32_t count;		/* group of its count, or NOGROUP: R lines */
	uint64_t rounds, none;
};

/* Those of a block. */
struct repeats {
	struct repeated *of;
	size_t n, cap;
};

struct rounds {
	struct evr *events;
	struct repeats *block;
	size_t nblock;
};

struct rounds *
rounds_new(struct evr *events)
{
	struct rounds *r = xcalloc(1, sizeof *r);

	r->events = events;
	return r;
}

static struct repeated *
find(const struct repeats *b, uint32_t insn)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->of[i].insn == insn)
			return &b->of[i];
	return NULL;
}

static struct repeated *
add(struct repeats *b, uint32_t insn, uint32_t count)
{
	b->of = xgrow(b->of, &b->cap, b->n + 1, sizeof *b->of);
	b->of[b->n] = (struct repeated){ .insn = insn, .count = count };
	return &b->of[b->n++];
}

void
rounds_define(struct rounds *r, uint32_t number, struct ev_block *b)
{
	struct repeats *to;

	r->block = xgrow0(r->block, &r->nblock, number + 1UL,
	    sizeof *r->block);
	to = &r->block[number];
	if (!(ev_kind(r->events) & (EV_ALL | EV_BLOCKS)))
		return;
	for (uint32_t k = 0; k < b->ninsn; k++) {
		const struct ev_insn *i = &b->insn[k];

		for (uint32_t j = i->ref; j < (uint32_t)i->ref + i->nref; j++)
			if (b->ref[j].count != 0 && find(to, k) == NULL)
				add(to, k, b->ref[j].count - 1U);
	}
	if (to->n != 0 && b->value == NULL)
		b->value = xcalloc(b->ngroups, sizeof *b->value);
}

/* ---- kinds all and blocks ---- */

/* Count an execution's rounds, for as many executions like it. */
static void
count(struct repeats *b, const struct ev_def *d, uint64_t executions)
{
	for (size_t i = 0; i < b->n && b->of[i].insn < d->n; i++) {
		uint64_t v = d->block->value[b->of[i].count];

		v = (int64_t)v < 0 ? -v : v;
		if (v > MOST / executions)
			sum_beyond();
		sum_count(&b->of[i].rounds, v * executions, MOST);
		b->of[i].none += v == 0 ? executions : 0;
	}
}

/* Does a count differ from round to round of a `*'? */
static bool
changes(const struct repeats *b, const struct ev_def *d, const uint64_t *diff)
{
	for (size_t i = 0; i < b->n && b->of[i].insn < d->n; i++)
		if (diff[b->of[i].count] != 0)
			return true;
	return false;
}

void
rounds_record(struct rounds *r, uint32_t number, const uint64_t *rec)
{
	struct repeats *b = &r->block[number];
	const struct ev_def *d;
	uint64_t n = 1 + ev_more(rec);

	if (b->n == 0)
		return;
	d = ev_def(r->events, ev_id(*rec));
	if (!changes(b, d, rec + 1)) {
		count(b, d, n);
		return;
	}
	while (n-- > 0) {
		ev_apply(d, rec + 1);
		count(b, d, 1);
	}
}

/* ---- kinds counts and cache ---- */

void
rounds_line(struct rounds *r, uint32_t number, const struct ev *e)
{
	struct repeats *b = &r->block[number];
	struct repeated *p = find(b, (uint32_t)e->num[1] - 1);

	if (p == NULL)
		p = add(b, (uint32_t)e->num[1] - 1, NOGROUP);
	sum_count(&p->rounds, e->num[2], MOST);
	sum_count(&p->none, e->num[3], MOST);
}

/* ---- */

static bool
writes(const struct ev_insn *i, const struct ev_ref *ref)
{
	for (unsigned k = 0; k < i->nref; k++)
		if (ref[k].kind != 'r')
			return true;
	return false;
}

uint64_t
rounds_extra(const struct rounds *r, uint32_t number, uint32_t insn,
    const struct ev_insn *i, const struct ev_ref *ref, uint64_t times)
{
	const struct repeated *p = find(&r->block[number], insn);

	if (p == NULL)
		return 0;
	return writes(i, ref) ? p->rounds : p->rounds - (times - p->none);
}

uint64_t
rounds_tests(const struct rounds *r, uint32_t number, uint32_t insn,
    const struct ev_insn *i, const struct ev_ref *ref, uint64_t times)
{
	const struct repeated *p = find(&r->block[number], insn);

	if (p == NULL)
		return 0;
	return writes(i, ref) ? p->rounds + times : 2 * p->rounds + p->none;
}

bool
rounds_has(const struct rounds *r, uint32_t number, uint32_t insn)
{
	return find(&r->block[number], insn) != NULL;
}

void
rounds_zero(struct rounds *r)
{
	for (size_t k = 0; k < r->nblock; k++)
		for (size_t i = 0; i < r->block[k].n; i++) {
			r->block[k].of[i].rounds = 0;
			r->block[k].of[i].none = 0;
		}
}
