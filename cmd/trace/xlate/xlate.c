/*
 * xlate - write a fragment: entry, instructions, exits, cold part
 *
 *	entry				see entry.c
 *	instructions			each behind the code that records it
 *	last exit			see leave.c
 *	cold part			side exits, then the exits' stubs
 */
#include "xlate/defs.h"
#include "xlate/parts.h"

/*
 * xsave and its like.  Under --cpu, cpuid reports fewer components than the
 * processor has: mask out the others, whose bytes the program made no room for.
 */
static void
write_xstate(struct xlate *x)
{
	int mask;

	if (opt->cpu != CPU_V3 && opt->cpu != CPU_V4) {
		mangle_copy(x, 0);
		return;
	}
	regs_home(x, RAX);
	regs_home(x, RDX);
	mask = regs_scratch(x, BIT(R9) | BIT(R10) | BIT(R14) | BIT(R15));
	emit_imm(&x->c, mask, opt->cpu == CPU_V3 ? 7 : 0xe7);
	emit_and_bits(&x->c, RAX, mask);
	emit_imm(&x->c, RDX, 0);
	mangle_copy(x, 0);
	mark(x, x->i + 1, MAP_BODY, 0);
	regs_reload(x, BIT(RAX) | BIT(RDX));
}

/* An instruction with a rep prefix. */
static void
write_repeated(struct xlate *x, const struct insn *in)
{
	if (x->kind->rep_before != NULL)
		x->kind->rep_before(x);
	mangle_copy(x, 1);
	x->homed &= ~(uint32_t)in->wr;
	if (x->kind->rep_after != NULL)
		x->kind->rep_after(x);
	if (block_tests(in) && x->kind->rep_before != NULL)
		transfer_again(x, in);
}

/* An instruction that is no transfer.  True: it was the last. */
static bool
write_plain(struct xlate *x, const struct insn *in)
{
	switch (in->special) {
	case SP_REP:
	case SP_REPCMP:
		write_repeated(x, in);
		break;
	case SP_EMULATE:
		if (in->emulate == EMU_FPSAVE)
			address_keep(x);
		if (emulated_inside(in->emulate))
			mangle_copy(x, 0);
		transfer_last(x, EXIT_EMULATE, x->b->next);
		return true;
	case SP_XSTATE:
		if (in->emulate == EMU_FPSAVE)
			address_keep(x);
		write_xstate(x);
		if (in->emulate != EMU_FPSAVE)
			break;
		transfer_last(x, EXIT_EMULATE, x->b->next);
		return true;
	case SP_STD:
	case SP_CLD:
		mangle_copy(x, 0);
		emit_store_simm(&x->c, REG_T, TO(df), in->special == SP_STD);
		break;
	default:
		mangle_copy(x, 0);
		break;
	}
	return false;
}

/* True: it was the last. */
static bool
write_insn(struct xlate *x)
{
	const struct insn *in = &x->b->in[x->i];

	if (x->homed & in->rd) {	/* else the last entry says so */
		regs_reload(x, in->rd);
		mark(x, x->i, MAP_BODY, 0);
	}
	if (x->kind->refer != NULL)
		x->kind->refer(x);
	regs_reload(x, in->rd);
	if (in->flow == FLOW_COND) {
		transfer_cond(x, in);
		return false;
	}
	if (in->flow != FLOW_NONE && x->i + 1 < x->b->n) {
		transfer_inner(x, in);
		return false;
	}
	if (in->flow != FLOW_NONE) {
		transfer_end(x, in);
		return true;
	}
	return write_plain(x, in);
}

/* The cold part: side exits, stubs of exits that can be linked, literals. */
static void
write_cold(struct xlate *x)
{
	struct emitter *c = &x->c;
	unsigned i;

	if (x->kind->cold != NULL)
		x->kind->cold(x);
	leave_cold(x);
	calls_cold(x);
	if (x->kind->behind != NULL)
		x->kind->behind(x);
	leave_stubs(x);
	if (x->nliteral > 0)
		emit_nop(c, (unsigned)(-emit_here(c) & 7));
	for (i = 0; i < x->nliteral; i++) {
		emit_patch32(x->literal[i].at, c->p);
		emit_u64(c, x->literal[i].value);
	}
}

/* The flags that are alive where the block is left to a pc. */
static uint32_t
live_at(const struct xlate *x, app_pc pc)
{
	return x->kind->late && !x->once && flags_dead(pc) ? 0 : ARITH_FLAGS;
}

/* The flags that are alive before instruction i, if `live' are behind it. */
static uint32_t
live_before(const struct xlate *x, unsigned i, uint32_t live)
{
	const struct insn *in = &x->b->in[i];
	bool last = i + 1 == x->b->n;

	if (in->special >= SP_EMULATE)
		return ARITH_FLAGS;	/* they are visible, or kept */
	switch (in->flow) {
	case FLOW_NONE:
		if (block_tests(in))
			live = ARITH_FLAGS;
		return (live & ~in->fkill) | in->fread;
	case FLOW_COND:
		return live | in->fread | live_at(x, x->b->taken[i] ?
		    in->pc + in->len : in->target);
	case FLOW_JUMP:
	case FLOW_CALL:
		return last ? live_at(x, in->target) : live;
	default:
		return ARITH_FLAGS;
	}
}

/* Before which instructions are the flags dead: written before any read? */
static void
find_dead_flags(struct xlate *x)
{
	const struct block *b = x->b;
	uint32_t live = live_at(x, b->next);
	unsigned i;

	x->deadflags[b->n] = false;
	for (i = b->n; i-- > 0; ) {
		live = live_before(x, i, live);
		x->deadflags[i] = live == 0;
	}
}

/* Nothing has been written. */
static void
begin(struct xlate *x)
{
	x->nmap = x->nexit = 0;
	x->homed = 0;
	x->loc = REG_P | REG_T << 4;
	x->copy[0] = x->copy[1] = NOREG;
	x->nliteral = 0;
	x->ncold = 0;
	x->was_listed = x->def != NULL && def_more_of(x->def)->nref > 0;
	x->nlearn = 0;
	x->ncall = 0;
	x->flags_in_rax = x->flags_in_area = x->counted = false;
	x->line = ~0ull;
	x->ticks = false;
	x->before.reg = NOREG;
}

bool
xlate(struct xlate *x)
{
	bool last = false;

	begin(x);
	/* read by filter.c and learn.c, for flags_note_dead, by calls_entry */
	if (x->kind->late || x->kind->intervals || x->owner != 0)
		find_dead_flags(x);
	if (x->kind->learns)
		learn_start(x);
	if (x->kind->intervals && x->deadflags[0] && !x->b->is_volatile)
		flags_note_dead(x->b->pc);
	entry_write(x);
	if (x->b->is_compared && x->b->n > 0)
		entry_check(x);
	if (opt->allocs)
		allocs_entry(x);
	for (x->i = 0; x->i < x->b->n; x->i++) {
		mangle_run(x);
		if (x->i == x->b->n)
			break;
		last = write_insn(x);
		if (last)
			break;
		x->homed &= ~(uint32_t)x->b->in[x->i].wr;
		mark(x, x->i + 1, MAP_BODY, 0);
	}
	if (!last)
		transfer_last(x, x->b->end, x->b->next);
	write_cold(x);
	return x->nmap <= MAX_MAP && x->c.p <= x->c.limit;
}
