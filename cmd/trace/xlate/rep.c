/*
 * rep - repeated string instructions: record how many rounds they do
 *
 * The count of an instruction that moves or stores is rcx before it.  One that
 * compares may end early, so its count is the difference of rcx before and
 * behind it.  In a record, the count is negative if the direction flag is set.
 */
#include "xlate/parts.h"

/* The group of a repeated instruction's count, or NOCOUNT. */
static unsigned
count_group(const struct xlate *x)
{
	const struct insn *in = &x->b->in[x->i];
	unsigned j;

	for (j = 0; j < in->nref; j++)
		if (x->g->ref[x->i][j].count != NOCOUNT)
			return x->g->ref[x->i][j].count;
	return NOCOUNT;
}

/* s = -s if the direction flag is set; rcx is used and reloaded. */
static void
sign_count(struct xlate *x, int s, unsigned n, unsigned rep)
{
	struct emitter *c = &x->c;
	uint8_t *forward;

	regs_home(x, RCX);
	mark(x, n, MAP_BODY, rep);
	emit_load(c, RCX, REG_T, TO(df));
	forward = emit_jrcxz(c);
	emit_not(c, s);
	emit_lea(c, s, s, 1);
	emit_patch8(forward, c->p);
	record_value(x, count_group(x), s);
	regs_reload(x, BIT(RCX));
	mark(x, n, MAP_BODY, rep);
}

/*
 * Before a repeated instruction: store the count into the record, and into tmp2
 * for the handler of a signal that interrupts it.
 */
void
rep_before(struct xlate *x)
{
	const struct insn *in = &x->b->in[x->i];
	int s = regs_scratch(x, 0);

	if (in->a32)
		emit_mov32(&x->c, s, RCX);
	else
		emit_mov(&x->c, s, RCX);
	emit_store(&x->c, REG_T, TO(tmp2), s);
	if (count_group(x) != NOCOUNT)
		sign_count(x, s, x->i, 0);
}

/*
 * Behind one that may end early: compute the count that it came to.  If true,
 * rdx and rbx are at home.
 */
bool
rep_count(struct xlate *x)
{
	const struct insn *in = &x->b->in[x->i];
	struct emitter *c = &x->c;
	const int s = RDX, s2 = RBX;

	if (in->special != SP_REPCMP || count_group(x) == NOCOUNT)
		return false;
	mark(x, x->i + 1, MAP_BODY, 2);
	regs_home(x, s);
	regs_home(x, s2);
	mark(x, x->i + 1, MAP_BODY, 2);
	if (in->a32)
		emit_mov32(c, s, RCX);
	else
		emit_mov(c, s, RCX);
	emit_not(c, s);
	emit_load(c, s2, REG_T, TO(tmp2));
	emit_lea_sib(c, s, s, s2, 1, 1, 0);
	sign_count(x, s, x->i + 1, 2);
	return true;
}

void
rep_after(struct xlate *x)
{
	if (rep_count(x))
		regs_reload(x, BIT(RDX) | BIT(RBX));
}
