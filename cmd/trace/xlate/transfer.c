/*
 * transfer - the guest's branches, jumps, calls and returns
 *
 * A conditional branch has a side exit.  A transfer inside of the block goes
 * on there, if it leads to what follows: an indirect one is compared.  The
 * block's last one leaves by the last exit.
 */
#include "xlate/parts.h"

/* The bytes that an indirect transfer pushes, or minus those that it pops. */
static uint32_t
pushed(const struct insn *in)
{
	return in->flow == FLOW_IJUMP ? 0 : in->flow == FLOW_ICALL ? 8u :
	    -(8u + in->imm);
}

void
transfer_last(struct xlate *x, unsigned kind, app_pc target)
{
	unsigned e = exit_new(x, kind, target, x->b->n);
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
	leave_by(x, e);
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

void
transfer_cond(struct xlate *x, const struct insn *in)
{
	/* taken along the path of the block, which is left if it is not */
	unsigned taken = x->b->taken[x->i];
	unsigned e = exit_new(x, EXIT_DIRECT, taken ? in->pc + in->len :
	    in->target, x->i + 1);
	unsigned cc = (in->bytes[in->opcoff] & 15u) ^ taken;

	if (x->kind->learns)
		x->exit[e].history = (int8_t)learn_begin(x);
	mark(x, x->i, MAP_BODY, 0);
	if (in->special == SP_SHORT) {
		write_short(x, in, e);
	} else if (is_bare(x)) {
		exit_align(&x->c, 2);
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
void
transfer_again(struct xlate *x, const struct insn *in)
{
	unsigned e = exit_new(x, EXIT_DIRECT, in->pc, x->i + 1);
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
push_return(struct xlate *x, const struct insn *in)
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

/*
 * An indirect transfer to rcx in the middle of a block: go on inside if it
 * leads to what follows there, else leave.
 */
static void
write_expected(struct xlate *x, const struct insn *in)
{
	app_pc expect = x->b->in[x->i + 1].pc;
	unsigned e = exit_new(x, EXIT_INDIRECT, in->pc, x->i + 1);
	uint8_t *same;

	mark(x, x->i + 1, MAP_BACK, 0);
	exit_add_rcx(x, -expect);
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
		push_return(x, in);
	write_expected(x, in);
}

/* A transfer inside the block. */
void
transfer_inner(struct xlate *x, const struct insn *in)
{
	if (in->flow == FLOW_CALL)
		push_return(x, in);
	else if (in->flow == FLOW_RET && x->b->taken[x->i])
		emit_lea(&x->c, RSP, RSP, 8);
	else if (in->flow == FLOW_RET)
		write_return(x, in);
	else if (in->flow != FLOW_JUMP)
		write_guessed(x, in);
}

/* The transfer that ends the block. */
void
transfer_end(struct xlate *x, const struct insn *in)
{
	switch (in->flow) {
	case FLOW_JUMP:
		transfer_last(x, in->special == SP_EMULATE ? EXIT_EMULATE :
		    EXIT_DIRECT, in->target);
		break;
	case FLOW_CALL:
		push_return(x, in);
		transfer_last(x, EXIT_DIRECT, in->target);
		break;
	case FLOW_ICALL:
	case FLOW_IJUMP:
		if (in->special == SP_EMULATE) {
			transfer_last(x, EXIT_EMULATE, in->pc);
			break;
		}
		regs_home(x, RCX);
		mangle_target(x, RCX);
		if (in->flow == FLOW_ICALL)
			push_return(x, in);
		transfer_last(x, EXIT_INDIRECT, 0);
		break;
	case FLOW_RET:
		if (in->special == SP_EMULATE) {
			transfer_last(x, EXIT_EMULATE, in->pc);
			break;
		}
		write_ret(x, in);
		transfer_last(x, EXIT_INDIRECT, 0);
		break;
	default:
		transfer_last(x, EXIT_SYSCALL, x->b->next);
		break;
	}
}
