/*
 * xlate - write a fragment: entry, instructions, exits, cold part
 *
 *	entry for indirect transfers	rcx is the target, rax is free: compare
 *					rcx with this fragment's pc
 *	entry				all registers hold the guest's values
 *	instructions			each behind the code that records it
 *	last exit
 *	cold part			side exits, then the exits' stubs
 *
 * An exit completes its record, steps REG_P and jumps: to a fragment if it is
 * linked, else to its stub, which stores the exit's number and calls the
 * runtime.
 */
#include <string.h>

#include "xlate/parts.h"

static unsigned
new_exit(struct xlate *x, unsigned kind, app_pc target, unsigned n)
{
	struct xexit *e = &x->exit[x->nexit];

	memset(e, 0, sizeof *e);
	e->kind = (uint8_t)kind;
	e->target = target;
	e->n = (uint8_t)n;
	return x->nexit++;
}

/* Entry for lookup words: rcx is the target; rax and rcx are at home. */
static void
write_lookup_entry(struct xlate *x)
{
	struct emitter *c = &x->c;
	uint64_t pc = x->b->pc + owner_key(x->owner);
	bool small = pc < 0x7fffffff;
	uint8_t *ok;

	x->homed = BIT(RAX) | BIT(RCX);
	mark(x, 0, MAP_IBL0, 0);
	if (!small)
		emit_imm(c, RAX, -pc);
	if (small)
		emit_lea(c, RCX, RCX, -(int32_t)pc);
	else
		emit_lea_sib(c, RCX, RCX, RAX, 1, 0, 0);
	mark(x, 0, MAP_IBL, 0);
	ok = emit_jrcxz(c);
	if (!small)
		emit_imm(c, RAX, pc);
	if (small)
		emit_lea(c, RCX, RCX, (int32_t)pc);
	else
		emit_lea_sib(c, RCX, RCX, RAX, 1, 0, 0);
	mark(x, 0, MAP_IBL0, 0);
	emit_jmp_mem(c, REG_T, opt->contexts != 0 || opt->windows != 0 ?
	    TO(rt_miss) : TO(rt_again));
	if (x->owner != 0)
		calls_entry(x);
	emit_patch8(ok, c->p);
	mark(x, 0, MAP_BODY, 0);
	regs_reload(x, x->homed);
}

static void
write_entry(struct xlate *x)
{
	unsigned from = emit_off(&x->c);

	if (x->by_lookup)
		write_lookup_entry(x);
	mark(x, 0, MAP_BODY, 0);
	x->entry = emit_off(&x->c);
	x->prologue = x->entry - from;
}

/* Leave by the runtime, with the exit's number. */
static void
write_leave(struct xlate *x, unsigned e)
{
	emit_store_simm(&x->c, REG_T, TO(exitno), (int32_t)(x->firstexit + e));
	emit_jmp_mem(&x->c, REG_T, TO(rt_exit));
}

/* rcx = n bytes of the guest's code at pc + off, minus those translated */
static void
compare_bytes(struct xlate *x, unsigned off, unsigned n)
{
	struct emitter *c = &x->c;
	uint64_t want = 0;
	unsigned i;

	for (i = 0; i < n; i++)
		want |= (uint64_t)x->b->code[off + i] << 8 * i;
	emit_imm(c, RCX, x->b->pc + off);
	if (n == 8)
		emit_load(c, RCX, RCX, 0);
	else if (n == 4)
		emit_load32(c, RCX, RCX, 0);
	else
		emit_load_byte(c, RCX, RCX, 0);
	emit_imm(c, RAX, -want);
	emit_lea_sib(c, RCX, RCX, RAX, 1, 0, 0);
}

/* Leave from within a comparison. */
static void
write_leave_check(struct xlate *x, unsigned e)
{
	emit_load(&x->c, RCX, REG_T, HOME(RCX));
	emit_load(&x->c, RAX, REG_T, HOME(RAX));
	write_leave(x, e);
}

/* Count the entries of code that is compared; returns the jump if it is 0. */
static uint8_t *
count_entries(struct xlate *x, enum sampling which)
{
	int32_t at = TO(samples) + 4 * (int32_t)which;
	struct emitter *c = &x->c;
	uint8_t *zero;

	emit_load32(c, RCX, REG_T, at);
	zero = emit_jrcxz(c);
	emit_lea(c, RCX, RCX, -1);
	emit_store32(c, REG_T, at, RCX);
	return zero;
}

/* Compare code that may change with the bytes that were translated. */
static void
write_check(struct xlate *x)
{
	enum sampling which = watch_sampling(x->b->pc);
	struct emitter *c = &x->c;
	uint8_t *same, *zero = NULL;
	unsigned off, n, len = (unsigned)(x->b->next - x->b->pc);
	unsigned e = new_exit(x, EXIT_STALE, x->b->pc, 0), sampled;

	regs_home(x, RAX);
	regs_home(x, RCX);
	mark(x, 0, MAP_BODY, REP_CHECK);
	if (which != SAMPLE_NONE)
		zero = count_entries(x, which);
	for (off = 0; off < len; off += n) {
		n = len - off >= 8 ? 8 : len - off >= 4 ? 4 : 1;
		compare_bytes(x, off, n);
		same = emit_jrcxz(c);
		write_leave_check(x, e);
		if (zero != NULL) {
			sampled = new_exit(x, EXIT_SAMPLE, x->b->pc, 0);
			x->exit[sampled].aux = which;
			emit_patch8(zero, c->p);
			write_leave_check(x, sampled);
			zero = NULL;
		}
		emit_patch8(same, c->p);
	}
	regs_reload(x, BIT(RAX) | BIT(RCX));
}

/* Displacements that are patched lie within 8 aligned bytes. */
static void
align_branch(struct emitter *c, unsigned opcode_bytes)
{
	unsigned at = (unsigned)(emit_here(c) + opcode_bytes) & 7;

	if (at > 4)
		emit_nop(c, 8 - at);
}

static uint8_t *
aligned_jmp(struct emitter *c)
{
	align_branch(c, 1);
	return emit_jmp32(c);
}

/* Can exit e end a window?  Without --to, returns and indirect jumps do. */
static bool
may_end_window(const struct xlate *x, unsigned e)
{
	return opt->windows == WINDOWS_FROM && x->kind->tells &&
	    x->b->in[x->exit[e].n - 1].flow != FLOW_ICALL;
}

/* rcx += v, flags are kept; rax is used if v is wide */
static void
add_to_rcx(struct xlate *x, uint64_t v)
{
	if ((int64_t)v == (int32_t)v) {
		emit_lea(&x->c, RCX, RCX, (int32_t)v);
	} else {
		emit_imm(&x->c, RAX, v);
		emit_lea_sib(&x->c, RCX, RCX, RAX, 1, 0, 0);
	}
}

void
xlate_add_key(struct xlate *x, unsigned e)
{
	if (x->exit[e].move == MOVE_IJUMP)
		add_to_rcx(x, owner_key(x->owner));
}

/*
 * Behind a return or an indirect jump: leave by the runtime if the stack
 * pointer is above the window's.  rcx is the target, rax is free; flags are
 * kept.
 */
static void
write_window(struct xlate *x, unsigned e)
{
	struct emitter *c = &x->c;
	uint8_t *on;

	emit_store(c, REG_T, TO(tmp1), RCX);
	mark_exit(x, e, MAP_LEFT_TMP);
	emit_load(c, RAX, REG_T, TO(window));
	emit_mov(c, RCX, RSP);
	emit_not(c, RCX);
	emit_lea_sib(c, RCX, RCX, RAX, 1, 1, 0);
	emit_bswap(c, RCX);	/* the top byte: 0, or 255 if negative */
	emit_movzx8(c, RCX, RCX);
	on = emit_jrcxz(c);
	emit_load(c, RCX, REG_T, TO(tmp1));
	xlate_add_key(x, e);
	emit_jmp_mem(c, REG_T, TO(rt_miss));
	emit_patch8(on, c->p);
	emit_load(c, RCX, REG_T, TO(tmp1));
}

/* Note how a thread goes on behind exit e, where contexts are told. */
static void
find_move(struct xlate *x, unsigned e)
{
	struct xexit *ex = &x->exit[e];
	const struct insn *in;

	if (x->owner == 0 || ex->n == 0)
		return;
	in = block_site(x->b, ex->n);
	ex->move = (uint8_t)context_way(in, ex->kind == EXIT_INDIRECT ? 0 :
	    ex->target);
	if (ex->move != MOVE_NONE)
		ex->key = context_key(in->pc, ex->kind == EXIT_INDIRECT ? 0 :
		    ex->target);
}

/* May a search for paths ask where indirect exit e leads (cache/recent.c)? */
static bool
is_sampled(const struct xlate *x, unsigned e)
{
	const struct block *b = x->b;

	return x->kind->counters && x->kind->paths && opt_makes_paths() &&
	    !b->path && !b->is_volatile &&
	    block_passes(&b->in[x->exit[e].n - 1]);
}

/* To the pc in rcx, by the lookup words; rax is free. */
static void
write_lookup(struct xlate *x, unsigned e)
{
	struct emitter *c = &x->c;

	xlate_add_key(x, e);
	if (x->exit[e].move == MOVE_IJUMP)
		mark(x, 0, MAP_IBL0, 0);
	if (x->once) {
		emit_jmp_mem(c, REG_T, TO(rt_miss));
		return;
	} else if (x->exit[e].move == MOVE_CALL ||
	    x->exit[e].move == MOVE_ON) {
		calls_call(x, e, new_exit, aligned_jmp);
		return;
	} else if (x->exit[e].move == MOVE_RETURN) {
		calls_return(x);
		return;
	}
	if (is_sampled(x, e))
		emit_store(c, REG_T, T_CELL + 8 * (int32_t)((x->firstexit + e) %
		    FOLLOW_CELLS), RCX);
	emit_movzx16(c, RAX, RCX);
	emit_jmp_sib(c, REG_T, RAX, 8, x->kind->outside ?
	    T_IBL + (int32_t)IBL_SIZE : T_IBL);
}

/* Exit e has been taken; nothing else is done. */
static void
mark_taken(struct xlate *x, unsigned e)
{
	if (learn_is_exit(x, e))
		learn_mark_exit(x, e);
	else
		mark_exit(x, e, MAP_EXIT);
}

/* Write exit e: its branch has been taken, registers are as in x->homed. */
static void
write_exit(struct xlate *x, unsigned e)
{
	struct xexit *ex = &x->exit[e];
	uint32_t keep = ex->kind == EXIT_INDIRECT ? BIT(RAX) | BIT(RCX) : 0;
	struct emitter *c = &x->c;
	uint8_t *returned = NULL, *on = NULL;

	find_move(x, e);
	mark_taken(x, e);
	if (!x->kind->late)
		regs_reload(x, x->homed & ~keep);
	if (ex->kind == EXIT_INDIRECT) {
		regs_home(x, RAX);
		mark_taken(x, e);
	}
	if (x->kind->tell != NULL && ex->n != 0)
		x->kind->tell(x, e);
	if (x->kind->note != NULL && ex->n != 0)
		x->kind->note(x, e);
	mark_exit(x, e, MAP_LEFT);
	regs_reload(x, x->homed & ~keep);
	switch (ex->kind) {
	case EXIT_DIRECT:
		if (x->once)
			write_leave(x, e);
		else if (ex->move != MOVE_NONE)
			calls_call(x, e, new_exit, aligned_jmp);
		else
			ex->jmp = (uint32_t)(aligned_jmp(c) - c->start);
		break;
	case EXIT_INDIRECT:
		if (opt->allocs && x->kind->tells &&
		    x->b->in[ex->n - 1].flow == FLOW_RET) {
			returned = allocs_return(x, e);
			on = c->p;
		}
		if (may_end_window(x, e))
			write_window(x, e);
		write_lookup(x, e);
		if (returned != NULL)
			allocs_return_cold(x, e, returned, on);
		break;
	default:
		write_leave(x, e);
		break;
	}
}

/* jrcxz, loop and their like, which have a displacement of 8 bits only. */
static void
write_short(struct xlate *x, const struct insn *in, unsigned e)
{
	struct emitter *c = &x->c;
	uint8_t *over;

	if (in->a32)
		emit_byte(c, 0x67);
	emit_byte(c, in->bytes[in->opcoff]);
	emit_byte(c, 2);
	x->homed &= ~(uint32_t)in->wr;
	if (x->kind->learns)
		learn_mark(x);
	else
		mark(x, x->i + 1, MAP_BODY, 0);
	over = emit_jmp8(c);
	if (x->kind->learns)
		learn_mark_exit(x, e);
	else
		mark_exit(x, e, MAP_EXIT);
	x->exit[e].branch = emit_jmp32(c);
	emit_patch8(over, c->p);
}

/* Has a side exit no code, so that the branch itself can be linked? */
static bool
is_bare(const struct xlate *x)
{
	return x->kind->tell == NULL && x->homed == 0 && !x->once &&
	    x->owner == 0;
}

static void
write_cond(struct xlate *x, const struct insn *in)
{
	/* taken along the path of the block, which is left if it is not */
	unsigned taken = x->b->taken[x->i];
	unsigned e = new_exit(x, EXIT_DIRECT, taken ? in->pc + in->len :
	    in->target, x->i + 1);
	unsigned cc = (in->bytes[in->opcoff] & 15u) ^ taken;

	if (x->kind->learns)
		x->exit[e].history = (int8_t)learn_begin(x);
	mark(x, x->i, MAP_BODY, 0);
	if (in->special == SP_SHORT) {
		write_short(x, in, e);
	} else if (is_bare(x)) {
		align_branch(&x->c, 2);
		x->exit[e].jmp = (uint32_t)(emit_jcc32(&x->c, cc) -
		    x->c.start);
	} else {
		x->exit[e].branch = emit_jcc32(&x->c, cc);
	}
	x->exit[e].homed = x->homed;
	if (x->kind->learns)
		learn_inside(x, x->exit[e].history);
	mark(x, x->i + 1, MAP_BODY, 0);
}

/*
 * Behind a comparison that was repeated: if its count is used up and its
 * condition still holds, go to it again.  The count, 0 now, ends it at once.
 */
static void
write_test(struct xlate *x, const struct insn *in)
{
	unsigned e = new_exit(x, EXIT_DIRECT, in->pc, x->i + 1);
	struct emitter *c = &x->c;
	uint8_t *failed, *none;
	unsigned cc = block_repne(in) ? 4 : 5;	/* equal, not equal */

	mark(x, x->i + 1, MAP_BODY, 0);
	regs_home(x, RCX);
	mark(x, x->i + 1, MAP_BODY, 0);
	failed = emit_jcc8(c, cc);
	emit_load(c, RCX, REG_T, TO(tmp2));
	none = emit_jrcxz(c);
	x->exit[e].branch = emit_jmp32(c);
	x->exit[e].homed = x->homed;
	emit_patch8(failed, c->p);
	emit_patch8(none, c->p);
	regs_reload(x, BIT(RCX));
}

static void
write_push_return(struct xlate *x, const struct insn *in)
{
	uint64_t ret = in->pc + in->len;

	mark(x, x->i, MAP_BODY, 0);
	if ((int64_t)ret == (int32_t)ret) {
		emit_push_imm(&x->c, (int32_t)ret);
	} else {
		x->literal[x->nliteral].at = emit_push_rip(&x->c);
		x->literal[x->nliteral++].value = ret;
	}
}

static void
write_ret(struct xlate *x, const struct insn *in)
{
	struct emitter *c = &x->c;

	regs_home(x, RCX);
	mark(x, x->i, MAP_BODY, 0);
	if (in->imm == 0) {
		emit_byte(c, 0x59);		/* pop rcx */
	} else {
		emit_load(c, RCX, RSP, 0);
		emit_lea(c, RSP, RSP, 8 + (int32_t)in->imm);
	}
}

/* The bytes that an indirect transfer pushes, or minus those that it pops. */
static uint32_t
pushed(const struct insn *in)
{
	return in->flow == FLOW_IJUMP ? 0 : in->flow == FLOW_ICALL ? 8u :
	    -(8u + in->imm);
}

static void
write_last(struct xlate *x, unsigned kind, app_pc target)
{
	unsigned e = new_exit(x, kind, target, x->b->n);
	const struct insn *in;

	if (kind == EXIT_EMULATE) {
		in = &x->b->in[x->b->n - 1];
		x->exit[e].emulate = in->emulate;
		x->exit[e].aux = in->aux;
	} else if (kind == EXIT_INDIRECT) {
		in = &x->b->in[x->b->n - 1];
		x->exit[e].target = in->pc;
		x->exit[e].aux = pushed(in);
	}
	write_exit(x, e);
}

/*
 * An indirect transfer to rcx in the middle of a block: go on inside if it
 * leads to what follows there, else leave.
 */
static void
write_expected(struct xlate *x, const struct insn *in)
{
	app_pc expect = x->b->in[x->i + 1].pc;
	unsigned e = new_exit(x, EXIT_INDIRECT, in->pc, x->i + 1);
	uint8_t *same;

	mark(x, x->i + 1, MAP_BACK, 0);
	add_to_rcx(x, -expect);
	mark(x, x->i + 1, MAP_BACK_LESS, 0);
	same = emit_jrcxz(&x->c);
	x->exit[e].branch = emit_jmp32(&x->c);
	x->exit[e].expect = expect;
	x->exit[e].aux = pushed(in);
	x->exit[e].homed = x->homed;
	emit_patch8(same, x->c.p);
	mark(x, x->i + 1, MAP_BODY, 0);
}

/* By a return: it leads to a call of the block's, or where the path says. */
static void
write_return(struct xlate *x, const struct insn *in)
{
	regs_home(x, RAX);
	write_ret(x, in);
	write_expected(x, in);
}

/* By an indirect jump or call: it leads where the path says, as a rule. */
static void
write_guessed(struct xlate *x, const struct insn *in)
{
	regs_home(x, RAX);
	regs_home(x, RCX);
	mangle_target(x, RCX);
	if (in->flow == FLOW_ICALL)
		write_push_return(x, in);
	write_expected(x, in);
}

/* A transfer inside the block. */
static void
write_inner(struct xlate *x, const struct insn *in)
{
	if (in->flow == FLOW_CALL)
		write_push_return(x, in);
	else if (in->flow == FLOW_RET && x->b->taken[x->i])
		emit_lea(&x->c, RSP, RSP, 8);
	else if (in->flow == FLOW_RET)
		write_return(x, in);
	else if (in->flow != FLOW_JUMP)
		write_guessed(x, in);
}

/* The transfer that ends the block. */
static void
write_transfer(struct xlate *x, const struct insn *in)
{
	switch (in->flow) {
	case FLOW_JUMP:
		write_last(x, in->special == SP_EMULATE ? EXIT_EMULATE :
		    EXIT_DIRECT, in->target);
		break;
	case FLOW_CALL:
		write_push_return(x, in);
		write_last(x, EXIT_DIRECT, in->target);
		break;
	case FLOW_ICALL:
	case FLOW_IJUMP:
		if (in->special == SP_EMULATE) {
			write_last(x, EXIT_EMULATE, in->pc);
			break;
		}
		regs_home(x, RCX);
		mangle_target(x, RCX);
		if (in->flow == FLOW_ICALL)
			write_push_return(x, in);
		write_last(x, EXIT_INDIRECT, 0);
		break;
	case FLOW_RET:
		if (in->special == SP_EMULATE) {
			write_last(x, EXIT_EMULATE, in->pc);
			break;
		}
		write_ret(x, in);
		write_last(x, EXIT_INDIRECT, 0);
		break;
	default:
		write_last(x, EXIT_SYSCALL, x->b->next);
		break;
	}
}

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

/* True: it was the last. */
static bool
write_insn(struct xlate *x)
{
	const struct insn *in = &x->b->in[x->i];

	regs_reload(x, in->rd);
	mark(x, x->i, MAP_BODY, 0);
	if (x->kind->refer != NULL)
		x->kind->refer(x);
	regs_reload(x, in->rd);
	if (in->flow == FLOW_COND) {
		write_cond(x, in);
		return false;
	}
	if (in->flow != FLOW_NONE && x->i + 1 < x->b->n) {
		write_inner(x, in);
		return false;
	}
	if (in->flow != FLOW_NONE) {
		write_transfer(x, in);
		return true;
	}
	switch (in->special) {
	case SP_REP:
	case SP_REPCMP:
		if (x->kind->rep_before != NULL)
			x->kind->rep_before(x);
		mangle_copy(x, 1);
		x->homed &= ~(uint32_t)in->wr;
		if (x->kind->rep_after != NULL)
			x->kind->rep_after(x);
		if (block_tests(in) && x->kind->rep_before != NULL)
			write_test(x, in);
		break;
	case SP_EMULATE:
		if (in->emulate == EMU_FPSAVE)
			address_keep(x);
		if (emulated_inside(in->emulate))
			mangle_copy(x, 0);
		write_last(x, EXIT_EMULATE, x->b->next);
		return true;
	case SP_XSTATE:
		if (in->emulate == EMU_FPSAVE)
			address_keep(x);
		write_xstate(x);
		if (in->emulate != EMU_FPSAVE)
			break;
		write_last(x, EXIT_EMULATE, x->b->next);
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

/* The cold part: side exits, stubs of exits that can be linked, literals. */
static void
write_cold(struct xlate *x)
{
	struct emitter *c = &x->c;
	struct xexit *ex;
	unsigned e;

	if (x->kind->cold != NULL)
		x->kind->cold(x);
	for (e = 0; e < x->nexit; e++) {
		ex = &x->exit[e];
		if (ex->branch == NULL)
			continue;
		emit_patch32(ex->branch, c->p);
		x->homed = ex->homed;
		if (ex->expect != 0) {
			mark(x, ex->n, MAP_BACK_LESS, 0);
			add_to_rcx(x, ex->expect);
		}
		write_exit(x, e);
	}
	calls_cold(x, write_leave);
	if (x->kind->behind != NULL)
		x->kind->behind(x);
	for (e = 0; e < x->nexit; e++) {
		ex = &x->exit[e];
		if (ex->jmp == 0)
			continue;
		x->homed = 0;
		mark_exit(x, e, MAP_LEFT);
		ex->stub = emit_off(c);
		emit_patch32(c->start + ex->jmp, c->p);
		write_leave(x, e);
	}
	if (x->nliteral > 0)
		emit_nop(c, (unsigned)(-emit_here(c) & 7));
	for (e = 0; e < x->nliteral; e++) {
		emit_patch32(x->literal[e].at, c->p);
		emit_u64(c, x->literal[e].value);
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

bool
xlate(struct xlate *x)
{
	bool last = false;

	x->nmap = x->nexit = 0;
	x->homed = 0;
	x->loc = REG_P | REG_T << 4;
	x->copy[0] = x->copy[1] = NOREG;
	x->nliteral = 0;
	x->ncold = 0;
	x->nlearn = 0;
	x->ncall = 0;
	x->flags_in_rax = x->flags_in_area = x->counted = false;
	x->line = ~0ull;
	x->ticks = false;
	x->before.reg = NOREG;
	/* read by filter.c and learn.c, for flags_note_dead, by calls_entry */
	if (x->kind->late || x->kind->intervals || x->owner != 0)
		find_dead_flags(x);
	if (x->kind->learns)
		learn_start(x);
	if (x->kind->intervals && x->deadflags[0] && !x->b->is_volatile)
		flags_note_dead(x->b->pc);
	write_entry(x);
	if (x->b->is_compared && x->b->n > 0)
		write_check(x);
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
		write_last(x, x->b->end, x->b->next);
	write_cold(x);
	return x->nmap <= MAX_MAP && x->c.p <= x->c.limit;
}
