/*
 * record - kinds all and blocks: each execution of a block is a record
 *
 * A fragment builds the record at REG_P: each reference stores its value, at
 * P+4, P+12, ...; the exit stores the head at P and steps P.  Nothing here
 * changes the guest's flags.
 */
#include "xlate/parts.h"

void
record_value(struct xlate *x, unsigned group, int reg)
{
	/* the record of a single reference has only that one's values */
	if (x->kind->alone)
		emit_store(&x->c, REG_T, TO(vec) + 8 * (int32_t)(group -
		    x->g->used[x->i]), reg);
	else
		emit_store(&x->c, REG_P, VALUE(group), reg);
}

void
record_address(struct xlate *x, const struct ref *r, unsigned group)
{
	int s = regs_scratch(x, 0);

	address_of(x, r, s, 0);
	record_value(x, group, s);
}

void
record_refer(struct xlate *x)
{
	const struct insn *in = &x->b->in[x->i];
	const struct refgroup *rg;
	unsigned j;
	int s;

	if (in->special == SP_GATHER) {
		if (x->kind->refs == REFS_ALL)
			gather(x);
		return;
	}
	for (j = 0; j < in->nref; j++) {
		rg = &x->g->ref[x->i][j];
		if (rg->group == NOGROUP || !rg->first)
			continue;
		if (!rg->plain) {
			record_address(x, &in->ref[j], rg->group);
		} else if (regs_at_home(x, in->ref[j].base)) {
			s = regs_scratch(x, 0);
			emit_load(&x->c, s, REG_T, HOME(in->ref[j].base));
			record_value(x, rg->group, s);
		} else {
			record_value(x, rg->group, in->ref[j].base);
		}
	}
}

void
record_element(struct xlate *x, unsigned e, int s)
{
	record_value(x, x->g->gather[x->i] + e, s);
}

void
record_tell(struct xlate *x, unsigned e)
{
	unsigned n = x->exit[e].n, k = x->g->used[n];

	emit_store_imm32(&x->c, REG_P, 0, record_head(x->id[n], k));
	emit_lea(&x->c, REG_P, REG_P, VALUE(k));
	if (opt->every != 0)
		count_left(x, e);
}
