/*
 * told - contexts and arcs as lines of the stream, and their costs
 *
 * lib/walk adds costs to arcs as frames are left.  Here they are taken from the
 * arc at once, for the thread that did it, and told at the end of an interval
 * or of the run.
 */
#include <htslib/khash.h>
#include <string.h>

#include "context/context.h"
#include "context/parts.h"
#include "evw.h"
#include "util.h"

struct charge {
	uint32_t arc;		/* its number */
	uint64_t calls;
	int64_t ir;
};

KHASH_MAP_INIT_INT64(num, uint32_t)

/* By slot: charges since the last V lines, and where an arc's are, + 1. */
static struct account {
	struct charge *v;
	size_t n, cap;
	khash_t(num) *of;
	uint64_t done;		/* instructions since then, in steps, */
	uint64_t counted;	/* and by counters */
} accounts[NSLOT];

static khash_t(num) *arcs;	/* address of an arc or root -> its number */
static struct arc_line {
	const struct walk_arc *arc;	/* NULL: a root */
	const struct walk_ctx *root;
} *lines;			/* by number, from 1 */
static size_t narcs = 1, caplines, nwritten = 1;
static const struct walk_ctx *told;	/* the last context written */

static uint32_t
number_of(const void *what, const struct walk_arc *a, const struct walk_ctx *c)
{
	khint_t k;
	int made;

	if (arcs == NULL)
		arcs = kh_init(num);
	k = kh_put(num, arcs, (uintptr_t)what, &made);
	if (made < 0)
		die("calls:");
	if (made != 0) {
		lines = xgrow(lines, &caplines, narcs + 1, sizeof *lines);
		lines[narcs] = (struct arc_line){ a, c };
		kh_val(arcs, k) = (uint32_t)narcs++;
	}
	return kh_val(arcs, k);
}

static void
charge(struct account *acc, uint32_t arc, uint64_t calls, int64_t ir)
{
	struct charge *c;
	khint_t k;
	int made;

	if (acc->of == NULL)
		acc->of = kh_init(num);
	k = kh_put(num, acc->of, arc, &made);
	if (made < 0)
		die("calls:");
	if (made != 0) {
		acc->v = xgrow(acc->v, &acc->cap, acc->n + 1, sizeof *acc->v);
		acc->v[acc->n] = (struct charge){ arc, 0, 0 };
		kh_val(acc->of, k) = (uint32_t)acc->n++;
	}
	c = &acc->v[kh_val(acc->of, k)];
	c->calls += calls;
	c->ir += ir;
}

void
told_charge(const struct walk_thread *t, struct walk_arc *a)
{
	charge(&accounts[t->num], number_of(a, a, NULL), a->calls, a->cost[0]);
	a->calls = 0;
	a->cost[0] = 0;
}

void
told_root(const struct walk_thread *t, const struct walk_ctx *c,
    uint64_t calls, int64_t ir)
{
	if (c->num != 0)
		charge(&accounts[t->num], number_of(c, NULL, c), calls, ir);
}

/* A run-time address of the context's function. */
static uint64_t
address_of_ctx(const struct walk_ctx *c)
{
	return c->fn->start + c->fn->places->slide;
}

static void
write_context(struct evw *w, const struct walk_ctx *c)
{
	evw_line(w, "S %x %x %x %llx", c->num, c->up == NULL ? 0 : c->up->num,
	    c->level, (unsigned long long)address_of_ctx(c));
}

static void
write_arc(struct evw *w, uint32_t n)
{
	const struct walk_arc *a = lines[n].arc;
	uint64_t site, to;

	if (a == NULL) {
		evw_line(w, "A %x 0 0 %llx %x", n, (unsigned long long)
		    address_of_ctx(lines[n].root), lines[n].root->num);
		return;
	}
	site = a->from != NULL ? a->from->seg->last :
	    a->site + a->caller->fn->places->slide;
	to = a->fn != NULL ? a->to : address_of_ctx(a->ctx);
	evw_line(w, "A %x %x %llx %llx %x", n, a->caller->num,
	    (unsigned long long)site, (unsigned long long)to, a->ctx->num);
}

static void
write_new(struct evw *w)
{
	const struct walk_ctx *c = told == NULL ? contexts : told->next;

	for (; c != NULL; c = c->next) {
		write_context(w, c);
		told = c;
	}
	for (; nwritten < narcs; nwritten++)
		write_arc(w, (uint32_t)nwritten);
}

void
context_tell_new(struct evw *w)
{
	context_lock();
	write_new(w);
	context_unlock();
}

uint32_t
context_told(struct evw *w, uint64_t arc)
{
	const struct walk_ctx *c = NULL;
	uint32_t n;

	context_lock();
	if (arcs_is(arc))
		c = arcs_ctx((uint32_t)arc);
	write_new(w);
	n = c == NULL ? 0 : c->num;
	context_unlock();
	return n;
}

void
told_done(unsigned slot, uint64_t n)
{
	accounts[slot].done += n;
}

void
context_counted(unsigned slot, uint64_t n)
{
	accounts[slot].counted += n;
}

uint64_t
told_rest(unsigned slot)
{
	struct account *acc = &accounts[slot];
	uint64_t rest = acc->counted - acc->done;

	acc->counted = acc->done = 0;
	return rest;
}

void
told_write(struct evw *w, unsigned slot)
{
	struct account *acc = &accounts[slot];
	size_t i;

	write_new(w);
	for (i = 0; i < acc->n; i++)
		if (acc->v[i].calls != 0 || acc->v[i].ir != 0)
			evw_line(w, "V %x %llx %llx", acc->v[i].arc,
			    (unsigned long long)acc->v[i].calls,
			    (unsigned long long)acc->v[i].ir);
	acc->n = 0;
	if (acc->of != NULL)
		kh_clear(num, acc->of);
}
