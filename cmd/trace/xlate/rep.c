/*
 * rep - repeated string instructions: record how many rounds they do
 *
 * The count of an instruction that moves or stores is rcx before it.  One that
 * compares may end early, so its count is the difference of rcx before and
 * behind it.  In a record, the count is negative if the direction flag is set.
 *
 * Kinds with counters have two for each repeated instruction: the sum of its
 * counts, and how many of them were 0.  The count before the instruction is
 * added, and what is left of it behind one that compares taken off.  A handler
 * that finds the instruction interrupted takes off what is left, too.
 * With --rep=each the instructions that calls are measured by count so, too;
 * and in kind branches the predictor learns the rounds.
 */
#include "context/context.h"
#include "stream/stream.h"
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

/* Jump if the count is 0. */
static uint8_t *
jump_none(struct xlate *x)
{
	if (x->b->in[x->i].a32)
		emit_byte(&x->c, 0x67);
	return emit_jrcxz(&x->c);
}

/* [T+at] += register s, or 1 if s is NOREG; by register r. */
static void
add_up(struct emitter *c, int32_t at, int s, int r)
{
	emit_load(c, r, REG_T, at);
	if (s == NOREG)
		emit_lea(c, r, r, 1);
	else
		emit_lea_sib(c, r, r, s, 1, 0, 0);
	emit_store(c, REG_T, at, r);
}

/* The counters of this instruction; offset from REG_T, and word for tmp0. */
static int32_t
counters(const struct xlate *x, uint32_t *word)
{
	uint8_t does[NDO] = { 0 };
	uint32_t c;

	refs_of_round(&x->b->in[x->i], does);
	c = counter_rounds(def_id(x->def, def_length(x->def)), x->i + 1, does);
	if (context_in_limbo(x->owner)) {
		counter_hold(c);
		counter_hold(c + 1);
	}
	*word = rounds_word(c, does[DO_READ], does[DO_WRITE],
	    counts_each() || (x->kind->learns && opt->each));
	return T_COUNT + 8 * (int32_t)c;
}

/* The count, which is in tmp2, is added up. */
static void
count_rounds(struct xlate *x)
{
	struct emitter *c = &x->c;
	uint32_t word;
	int32_t at = counters(x, &word);
	int s = regs_scratch(x, 0), r = regs_scratch(x, BIT(s));
	uint8_t *none, *on;

	emit_store_simm(c, REG_T, TO(tmp0), (int32_t)word);
	emit_load(c, s, REG_T, TO(tmp2));
	none = jump_none(x);
	add_up(c, at, s, r);
	if (counts_refs())
		refs_rounds(x, s, r);
	refs_each(x, s, r);
	x->counted = true;
	mark(x, x->i, MAP_BODY, 1);
	on = emit_jmp8(c);
	x->counted = false;
	emit_patch8(none, c->p);
	mark(x, x->i, MAP_BODY, 0);
	add_up(c, at + 8, NOREG, r);
	x->counted = true;
	mark(x, x->i, MAP_BODY, 1);
	emit_patch8(on, c->p);
}

/* Behind one that may have ended early: take off what is left of the count. */
static void
uncount_rest(struct xlate *x, int s, int r)
{
	uint32_t word;
	int32_t at = counters(x, &word);

	if (x->b->in[x->i].a32)
		emit_mov32(&x->c, s, RCX);
	else
		emit_mov(&x->c, s, RCX);
	emit_not(&x->c, s);
	emit_load(&x->c, r, REG_T, at);
	emit_lea_sib(&x->c, r, r, s, 1, 1, 0);
	emit_store(&x->c, REG_T, at, r);
	if (counts_refs())
		refs_unround(x, s, r);
	refs_uneach(x, s, r);
	x->counted = false;
	mark(x, x->i + 1, MAP_BODY, 2);
}

/*
 * Before a repeated instruction: store the count into the record, and into tmp2
 * for the handler of a signal that interrupts it; or add it up.
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
	if (x->kind->counters)
		count_rounds(x);
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

	if (in->special != SP_REPCMP)
		x->counted = false;
	if (in->special != SP_REPCMP || !(x->counted ||
	    count_group(x) != NOCOUNT))
		return false;
	mark(x, x->i + 1, MAP_BODY, 2);
	regs_home(x, s);
	regs_home(x, s2);
	mark(x, x->i + 1, MAP_BODY, 2);
	if (x->counted)
		uncount_rest(x, s, s2);
	if (count_group(x) == NOCOUNT)
		return true;
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
	bool homed = rep_count(x);

	if (x->kind->learns && opt->each)
		learn_rounds(x);
	if (homed)
		regs_reload(x, BIT(RDX) | BIT(RBX));
}
