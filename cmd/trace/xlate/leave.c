/*
 * leave - how a fragment is left by an exit
 *
 * The exit completes its record, steps REG_P and jumps: to a fragment if it is
 * linked, else to its stub, which stores the exit's number and calls the
 * runtime.  An indirect one goes by the lookup words, or as a call or return.
 */
#include "ctl.h"
#include "xlate/parts.h"

/* Can exit e end a window?  Without --to, returns and indirect jumps do. */
static bool
may_end_window(const struct xlate *x, unsigned e)
{
	return opt->windows == WINDOWS_FROM && x->kind->tells &&
	    x->b->in[x->exit[e].n - 1].flow != FLOW_ICALL;
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
	exit_add_key(x, e);
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
	ex->looks = ex->move == MOVE_IJUMP && !x->once &&
	    context_jump_calls(in->pc);
}

/* To the pc in rcx; rax is free. */
static void
write_lookup(struct xlate *x, unsigned e)
{
	const struct xexit *ex = &x->exit[e];

	if (x->once) {
		exit_add_key(x, e);
		if (ex->move == MOVE_IJUMP)
			mark(x, 0, MAP_IBL0, 0);
		emit_jmp_mem(&x->c, REG_T, TO(rt_miss));
	} else if (ex->move == MOVE_CALL || ex->move == MOVE_ON || ex->looks) {
		calls_call(x, e);
	} else if (ex->move == MOVE_RETURN) {
		calls_return(x);
	} else {
		exit_by_word(x, e);
	}
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

/* Exit e is an indirect one: rcx is the target, rax is free. */
static void
write_indirect(struct xlate *x, unsigned e)
{
	uint8_t *returned = NULL, *on = NULL;

	if (opt->allocs && x->kind->tells &&
	    x->b->in[x->exit[e].n - 1].flow == FLOW_RET) {
		returned = allocs_return(x, e);
		on = x->c.p;
	}
	if (may_end_window(x, e))
		write_window(x, e);
	write_lookup(x, e);
	if (returned != NULL)
		allocs_return_cold(x, e, returned, on);
}

/* Write exit e: its branch has been taken, registers are as in x->homed. */
void
leave_by(struct xlate *x, unsigned e)
{
	struct xexit *ex = &x->exit[e];
	uint32_t keep = ex->kind == EXIT_INDIRECT ? BIT(RAX) | BIT(RCX) : 0;

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
			exit_leave(x, e);
		else if (ex->move != MOVE_NONE)
			calls_call(x, e);
		else
			ex->jmp = (uint32_t)(exit_jump(&x->c) -
			    x->c.start);
		break;
	case EXIT_INDIRECT:
		write_indirect(x, e);
		break;
	default:
		exit_leave(x, e);
		break;
	}
}

void
leave_cold(struct xlate *x)
{
	struct xexit *ex;
	unsigned e;

	for (e = 0; e < x->nexit; e++) {
		ex = &x->exit[e];
		if (ex->branch == NULL)
			continue;
		emit_patch32(ex->branch, x->c.p);
		x->homed = ex->homed;
		if (ex->expect != 0) {
			mark(x, ex->n, MAP_BACK_LESS, 0);
			exit_add_rcx(x, ex->expect);
		}
		leave_by(x, e);
	}
}

void
leave_stubs(struct xlate *x)
{
	struct emitter *c = &x->c;
	struct xexit *ex;
	unsigned e;

	for (e = 0; e < x->nexit; e++) {
		ex = &x->exit[e];
		if (ex->jmp == 0)
			continue;
		x->homed = 0;
		mark_exit(x, e, MAP_LEFT);
		ex->stub = emit_off(c);
		emit_patch32(c->start + ex->jmp, c->p);
		exit_leave(x, e);
	}
}
