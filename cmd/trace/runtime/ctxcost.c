/*
 * ctxcost - with --contexts: costs, where a fragment was left halfway
 *
 * A fragment counts its calls, and in kind cache its instructions, reads and
 * writes.  What it has counted of an exit, a landing or a repeated instruction
 * that was interrupted is taken back here.
 */
#include "contexts.h"
#include "ctx.h"

void
contexts_uncall(struct tarea *t, uint64_t arc)
{
	ctx_count(t, arc)->calls--;
}

void
contexts_unland(struct tarea *t, const struct mapent *m)
{
	if (m->kind == MAP_LAND_IR)
		ctx_add_costs(t, ctx_top(t), true, 2, -1);
	else if (m->kind == MAP_LAND)
		ctx_add_costs(t, ctx_top(t), false, m->rep, -1);
}

void
contexts_cost(struct tarea *t, uint64_t n, const uint8_t refs[2],
    unsigned from, int64_t sign)
{
	uint64_t s = (uint64_t)sign;
	unsigned i;

	if (!ctx_has_more() || !(rt.boot.flags & BOOT_CONTEXTS) || t->skips)
		return;
	if (from == 0)
		ctx_words(t)->ir -= n * s;
	for (i = from == 0 ? 0 : from - 1; i < 2; i++)
		ctx_words(t)->refs[i] += refs[i] * s;
}

/* Of the reads and writes of these rounds, the first n. */
static void
take_refs(struct tarea *t, uint64_t rounds, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		ctx_words(t)->refs[i] -= rounds * rounds_refs(t->tmp0, i);
}

void
contexts_rounds(struct tarea *t, const struct mapent *m, uint64_t left)
{
	bool part = m->kind == MAP_ROUNDS, none = left != 0 && left == t->tmp2;

	if (!(rt.boot.flags & BOOT_CONTEXTS))
		return;
	if (ctx_has_more())
		take_refs(t, left, !part ? 2 : !m->counted ? m->rep :
		    2 - 2u * m->rep);
	if (!rounds_each(t->tmp0) || (part && !m->counted))
		return;
	/* a first round that only reads has not been added */
	left -= none && rounds_refs(t->tmp0, 1) == 0;
	if (ctx_has_more())
		ctx_words(t)->ir += left;
	else
		t->p += left;
}
