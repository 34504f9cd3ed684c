/*
 * told - contexts and arcs as lines of the stream, and their costs
 *
 * lib/walk adds costs to arcs as frames are left.  Here they are taken from the
 * arc at once, for the thread that did it, and told at the end of an interval
 * or of the run.
 */
#include <string.h>

#include "context/context.h"
#include "context/parts.h"
#include "ctl.h"
#include "evw.h"
#include "hash.h"
#include "khash.h"
#include "mem.h"

struct charge {
	uint32_t arc;		/* its number */
	uint64_t calls;
	int64_t cost[COSTS];	/* instructions; kind cache: reads, writes */
};

KHASH_INIT(num, uint64_t, uint32_t, 1, hash_address, kh_int64_hash_equal)

/* What an A line is for. */
struct line_key {
	const struct walk_arc *arc;	/* NULL: a root */
	const struct walk_ctx *ctx;	/* which; of an arc: see callwalk.h's
					 * `within', or NULL: its caller */
};

static inline khint_t
line_hash(struct line_key k)
{
	return hash_address((uintptr_t)k.arc ^ (uintptr_t)k.ctx << 7);
}

static inline bool
line_equal(struct line_key a, struct line_key b)
{
	return a.arc == b.arc && a.ctx == b.ctx;
}

KHASH_INIT(line, struct line_key, uint32_t, 1, line_hash, line_equal)

/* By slot: charges since the last V lines, and where an arc's are, + 1. */
static struct account {
	struct charge *v;
	size_t n, cap;
	khash_t(num) *of;
	int64_t done[COSTS];	/* costs since then, in steps, */
	int64_t counted[COSTS];	/* and by counters */
} accounts[NSLOT];

static khash_t(line) *arcs;	/* to their numbers */
static struct arc_line {
	struct line_key of;
	bool written;
} *lines;			/* by number, from 1 */
static size_t narcs = 1, caplines, nwritten = 1;	/* before: written */
static const struct walk_ctx *told;	/* the last context written */

static uint32_t
number_of(const struct walk_arc *a, const struct walk_ctx *c)
{
	struct line_key key = { a, c };
	khint_t k;
	int made;

	if (arcs == NULL)
		arcs = kh_init(line);
	k = kh_put(line, arcs, key, &made);
	if (made != 0) {
		lines = xgrow(lines, &caplines, narcs + 1, sizeof *lines);
		lines[narcs] = (struct arc_line){ key, false };
		kh_val(arcs, k) = (uint32_t)narcs++;
	}
	return kh_val(arcs, k);
}

/* Add calls and the costs from one total to another; from may be NULL. */
static void
charge(struct account *acc, uint32_t arc, uint64_t calls, const int64_t *from,
    const int64_t *to)
{
	struct charge *c;
	unsigned i;
	khint_t k;
	int made;

	if (acc->of == NULL)
		acc->of = kh_init(num);
	k = kh_put(num, acc->of, arc, &made);
	if (made != 0) {
		acc->v = xgrow(acc->v, &acc->cap, acc->n + 1, sizeof *acc->v);
		acc->v[acc->n] = (struct charge){ .arc = arc };
		kh_val(acc->of, k) = (uint32_t)acc->n++;
	}
	c = &acc->v[kh_val(acc->of, k)];
	c->calls += calls;
	for (i = 0; i < walk.ncol; i++)
		c->cost[i] += to[i] - (from == NULL ? 0 : from[i]);
}

void
told_charge(const struct walk_thread *t, struct walk_arc *a,
    const struct walk_ctx *within)
{
	if (within == arc_caller(a) || (within != NULL && within->num == 0))
		within = NULL;
	charge(&accounts[t->num], number_of(a, within), a->calls, NULL,
	    a->cost);
	a->calls = 0;
	memset(a->cost, 0, walk.ncol * sizeof *a->cost);
}

void
told_root(const struct walk_thread *t, const struct walk_ctx *c,
    const int64_t *from, const int64_t *to)
{
	if (c->num != 0)
		charge(&accounts[t->num], number_of(NULL, c), 0, from, to);
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
	const struct walk_arc *a = lines[n].of.arc;
	const struct walk_ctx *caller;
	uint64_t site, to;

	lines[n].written = true;
	if (a == NULL) {
		evw_line(w, "A %x 0 0 %llx %x", n, (unsigned long long)
		    address_of_ctx(lines[n].of.ctx), lines[n].of.ctx->num);
		return;
	}
	caller = arc_caller(a);
	site = arc_from(a) != NULL ? seg_last(arc_from(a)->seg) :
	    arc_site(a) + caller->fn->places->slide;
	to = arc_from(a) != NULL ? a->to : address_of_ctx(a->ctx);
	if (lines[n].of.ctx == NULL)
		evw_line(w, "A %x %x %llx %llx %x", n, caller->num,
		    (unsigned long long)site, (unsigned long long)to,
		    a->ctx->num);
	else
		evw_line(w, "A %x %x %llx %llx %x %x", n, caller->num,
		    (unsigned long long)site, (unsigned long long)to,
		    a->ctx->num, lines[n].of.ctx->num);
}

/* Write the contexts up to this one; NULL: all. */
static void
write_contexts(struct evw *w, const struct walk_ctx *last)
{
	const struct walk_ctx *c = told == NULL ? contexts : told->next;

	for (; c != NULL && (last == NULL || c->num <= last->num);
	    c = c->next) {
		write_context(w, c);
		told = c;
	}
}

static void
write_new(struct evw *w)
{
	write_contexts(w, NULL);
	for (; nwritten < narcs; nwritten++)
		if (!lines[nwritten].written)
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
	if (c != NULL)
		told_context(w, c);
	n = c == NULL ? 0 : c->num;
	context_unlock();
	return n;
}

uint32_t
told_number(struct evw *w, const struct walk_arc *a, const struct walk_ctx *c)
{
	uint32_t n = number_of(a, a != NULL ? NULL : c);

	if (lines[n].written)
		return n;
	told_context(w, a != NULL ? a->ctx : c);
	if (a != NULL)
		told_context(w, arc_caller(a));
	write_arc(w, n);
	return n;
}

/*
 * Later contexts may be of objects whose M lines are still to come: they wait
 * in the queue, as the records that this context was made for did.
 */
void
told_context(struct evw *w, const struct walk_ctx *c)
{
	if (told == NULL || told->num < c->num)
		write_contexts(w, c);
}

void
told_done(unsigned slot, const int64_t n[COSTS])
{
	unsigned i;

	for (i = 0; i < walk.ncol; i++)
		accounts[slot].done[i] += n[i];
}

void
context_counted(unsigned slot, const uint64_t n[3])
{
	unsigned i;

	for (i = 0; i < walk.ncol; i++)
		accounts[slot].counted[i] += (int64_t)n[i];
}

void
told_rest(unsigned slot, int64_t n[COSTS])
{
	struct account *acc = &accounts[slot];
	unsigned i;

	for (i = 0; i < walk.ncol; i++) {
		n[i] = acc->counted[i] - acc->done[i];
		acc->counted[i] = acc->done[i] = 0;
	}
}

static void
write_costs(struct evw *w, const struct charge *c)
{
	unsigned long long calls = c->calls, ir = (uint64_t)c->cost[0];

	if (walk.ncol == 1)
		evw_line(w, "V %x %llx %llx", c->arc, calls, ir);
	else
		evw_line(w, "V %x %llx %llx %llx %llx", c->arc, calls, ir,
		    (unsigned long long)c->cost[1],
		    (unsigned long long)c->cost[2]);
}

static bool
has_cost(const struct charge *c)
{
	for (unsigned i = 0; i < walk.ncol; i++)
		if (c->cost[i] != 0)
			return true;
	return false;
}

void
told_write(struct evw *w, unsigned slot)
{
	struct account *acc = &accounts[slot];
	size_t i;

	write_new(w);
	for (i = 0; i < acc->n; i++)
		if (acc->v[i].calls != 0 || has_cost(&acc->v[i]))
			write_costs(w, &acc->v[i]);
	acc->n = 0;
	if (acc->of != NULL)
		kh_clear(num, acc->of);
}
