/*
 * allocs - with --allocs: have the runtime look where memory is allocated
 *
 * A fragment that begins where a function of allocations begins calls rt_look
 * first.  Behind each return a fragment compares the stack pointer with t->open
 * and calls rt_look where the open allocation has returned.  The record of the
 * block is whole by then.  Nothing here changes the guest's flags.
 */
#include "look.h"
#include "xlate/parts.h"

void
allocs_entry(struct xlate *x)
{
	uint32_t args = BIT(RDI) | BIT(RSI) | BIT(RDX) | BIT(RCX) | BIT(R9);
	struct alloc_args a;
	int s;

	if (!x->kind->tells || !allocs_at(x->b->pc, &a))
		return;
	s = regs_scratch(x, args);
	mark(x, 0, MAP_BODY, 0);
	emit_imm(&x->c, s, x->b->pc);
	emit_store(&x->c, REG_T, TO(pc), s);
	look(&x->c, 0, LOOK_OPEN | LOOK_ARGS(alloc_bits(a)));
	mark(x, 0, MAP_BODY, 0);
}

/*
 * Exit e is a return: rcx is the target, rax is free.  Returns where the branch
 * to allocs_return_cold's code is; that comes behind the exit.
 */
uint8_t *
allocs_return(struct xlate *x, unsigned e)
{
	struct emitter *c = &x->c;
	uint8_t *returned;

	emit_store(c, REG_T, TO(tmp1), RCX);
	mark_exit(x, e, MAP_LEFT_TMP);
	emit_load(c, RAX, REG_T, TO(open));
	emit_lea_sib(c, RCX, RSP, RAX, 1, 0, 0);
	returned = emit_jrcxz(c);
	emit_load(c, RCX, REG_T, TO(tmp1));
	return returned;
}

void
allocs_return_cold(struct xlate *x, unsigned e, uint8_t *returned,
    const uint8_t *on)
{
	struct emitter *c = &x->c;

	emit_patch8(returned, c->p);
	mark_exit(x, e, MAP_LEFT_TMP);
	look(c, 0, LOOK_CLOSE);
	mark_exit(x, e, MAP_LEFT_TMP);
	emit_load(c, RCX, REG_T, TO(tmp1));
	emit_patch32(emit_jmp32(c), on);
}
