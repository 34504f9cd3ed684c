/*
 * calls - with --contexts: calls and returns count in the guest
 *
 * A call looks up its arc, by its state and site, in the thread's table, pushes
 * a frame, and goes on at the arc's code.  A return goes to the landing of the
 * frame, in the code of the call, which adds what the call took to its arc and
 * pops the frame.  Whatever is not as expected leaves by the runtime, before
 * anything is counted.  Nothing here changes the guest's flags.
 *
 * The store of the top frame's address is what makes a call or a return done.
 */
#include "xlate/parts.h"

#define WORD(member) (T_CTX + (int32_t)offsetof(struct ctx_words, member))
#define ARC(member) (T_ARCS + (int32_t)offsetof(struct ctx_arc, member))
#define COUNT(member) (T_CTX + (int32_t)CTX_COUNTS + \
    (int32_t)offsetof(struct ctx_count, member))
#define FRAME(member) (int32_t)offsetof(struct ctx_frame, member)

/* A branch to cold code, taken if rcx is not 0. */
static void
unless_zero(struct xlate *x, unsigned e)
{
	uint8_t *ok = emit_jrcxz(&x->c);

	x->call[x->ncall].at = emit_jmp32(&x->c);
	x->call[x->ncall++].exit = (uint8_t)e;
	emit_patch8(ok, x->c.p);
}

/*
 * rcx = 0 if the top frame, whose address is in rdx, lies above the stack
 * pointer: what it is the return address of was not overwritten.
 */
static void
check_place(struct xlate *x)
{
	struct emitter *c = &x->c;

	emit_load(c, RAX, RDX, FRAME(place));
	emit_mov(c, RCX, RSP);
	emit_not(c, RCX);
	emit_lea_sib(c, RCX, RCX, RAX, 1, 0, 0);
	emit_bswap(c, RCX);
	emit_movzx8(c, RCX, RCX);
}

/* rax = the arc by the table, rcx = 0 if it is the right one. */
static void
find_arc(struct xlate *x, unsigned e)
{
	struct emitter *c = &x->c;
	struct xexit *ex = &x->exit[e];

	emit_load(c, RAX, RDX, FRAME(arc));
	emit_load_sib(c, RAX, REG_T, RAX, 4, ARC(state));
	if (ex->kind == EXIT_INDIRECT) {
		emit_load(c, RCX, REG_T, TO(tmp1));
		emit_lea_sib(c, RCX, RCX, RAX, 1, (int32_t)ex->key, 0);
	} else {
		emit_lea(c, RCX, RAX, (int32_t)ex->key);
	}
	emit_movzx16(c, RAX, RCX);
	emit_load_sib(c, RAX, REG_T, RAX, 8, T_CTX + (int32_t)CTX_TABLE);
	emit_load_sib(c, RDX, REG_T, RAX, 4, ARC(nkey));
	emit_lea_sib(c, RCX, RCX, RDX, 1, 0, 0);
}

/* Push the frame of arc rax. */
static void
push_frame(struct xlate *x, unsigned e)
{
	struct emitter *c = &x->c;
	bool call = x->exit[e].move == MOVE_CALL;

	emit_load(c, RCX, REG_T, WORD(top));
	if (!call)
		emit_load(c, RDX, RCX, FRAME(place));
	emit_store(c, RCX, FRAME(place) - (int32_t)sizeof(struct ctx_frame),
	    call ? RSP : RDX);
	emit_lea(c, RCX, RCX, -(int32_t)sizeof(struct ctx_frame));
	emit_store(c, RCX, FRAME(arc), RAX);
	emit_store(c, RCX, FRAME(p), REG_P);
	if (call)
		x->exit[e].land = emit_lea_rip(c, RDX);
	else
		emit_load(c, RDX, REG_T, TO(more));
	emit_store(c, RCX, FRAME(landing), RDX);
	emit_load_sib(c, RDX, REG_T, RAX, 1, COUNT(calls));
	emit_lea(c, RDX, RDX, 1);
	emit_store_sib(c, REG_T, RAX, 1, COUNT(calls), RDX);
	mark_exit(x, e, MAP_CALL);
	emit_store(c, REG_T, WORD(top), RCX);
	mark_exit(x, e, MAP_CALLED);
}

/*
 * Exit e is a call, or a jump that is one: all registers hold the guest's
 * values, but rcx the target of an indirect one.
 */
void
calls_call(struct xlate *x, unsigned e)
{
	struct emitter *c = &x->c;
	bool indirect = x->exit[e].kind == EXIT_INDIRECT;

	if (!indirect) {
		emit_store(c, REG_T, HOME(RAX), RAX);
		emit_store(c, REG_T, HOME(RCX), RCX);
	} else {
		emit_store(c, REG_T, TO(tmp1), RCX);
	}
	emit_store(c, REG_T, HOME(RDX), RDX);
	x->homed |= BIT(RAX) | BIT(RCX) | BIT(RDX);
	mark_exit(x, e, indirect ? MAP_LEFT_TMP : MAP_LEFT);
	emit_load(c, RDX, REG_T, WORD(top));
	if (x->exit[e].move == MOVE_CALL) {
		check_place(x);
		unless_zero(x, e);
	}
	find_arc(x, e);
	unless_zero(x, e);
	push_frame(x, e);
	emit_jmp_sib(c, REG_T, RAX, 4, ARC(code));
}

/* Exit e is a return: rcx is the target, rax is free. */
void
calls_return(struct xlate *x)
{
	emit_load(&x->c, RAX, REG_T, WORD(top));
	emit_jmp_mem(&x->c, RAX, FRAME(landing));
}

/*
 * Where calls of this fragment enter: rax, rcx and rdx are at home.  The first
 * two are reloaded where the jump leads to, whose displacement this returns.
 */
uint8_t *
calls_entry(struct xlate *x)
{
	x->homed = BIT(RAX) | BIT(RCX) | BIT(RDX);
	x->callentry = emit_off(&x->c);
	mark(x, 0, MAP_BODY, 0);
	emit_load(&x->c, RDX, REG_T, HOME(RDX));
	x->homed &= ~BIT(RDX);
	mark(x, 0, MAP_BODY, 0);
	return emit_jmp8(&x->c);
}

/* Pop the top frame, whose address is in rax, and add up what it took. */
static void
pop_frame(struct xlate *x, unsigned e)
{
	struct emitter *c = &x->c;

	emit_load(c, RDX, RAX, FRAME(arc));
	emit_load(c, RCX, RAX, FRAME(p));
	emit_mov(c, RAX, REG_P);
	emit_not(c, RAX);
	emit_lea_sib(c, RCX, RAX, RCX, 1, 1, 0);
	emit_load_sib(c, RAX, REG_T, RDX, 1, COUNT(ir));
	emit_lea_sib(c, RAX, RAX, RCX, 1, 0, 0);
	emit_store_sib(c, REG_T, RDX, 1, COUNT(ir), RAX);
	mark_exit(x, e, MAP_LAND_IR);
	emit_load(c, RAX, REG_T, WORD(top));
	emit_lea(c, RAX, RAX, sizeof(struct ctx_frame));
	emit_store(c, REG_T, WORD(top), RAX);
}

/* The return went elsewhere, or from another frame: leave. */
static void
land_elsewhere(struct xlate *x, unsigned e)
{
	struct emitter *c = &x->c;
	uint8_t *ok = emit_jrcxz(c);

	mark_exit(x, e, MAP_LAND);
	emit_load(c, RDX, REG_T, HOME(RDX));
	x->homed &= ~BIT(RDX);
	mark_exit(x, e, MAP_LAND);
	emit_load(c, RCX, REG_T, TO(tmp1));
	emit_jmp_mem(c, REG_T, TO(rt_miss));
	x->homed |= BIT(RDX);
	emit_patch8(ok, c->p);
	mark_exit(x, e, MAP_LAND);
}

/*
 * The landing of call e: the top frame's address is in rax, where the return
 * leads in rcx.  l is the exit to behind the call.
 */
static void
write_landing(struct xlate *x, unsigned e, unsigned l)
{
	struct emitter *c = &x->c;
	app_pc ret = x->exit[l].target;

	emit_patch32(x->exit[e].land, c->p);
	x->exit[e].landing = emit_here(c);
	x->homed = BIT(RAX) | BIT(RCX);
	mark_exit(x, l, MAP_RETURN);
	emit_store(c, REG_T, TO(tmp1), RCX);
	mark_exit(x, l, MAP_LAND);
	emit_store(c, REG_T, HOME(RDX), RDX);
	x->homed |= BIT(RDX);
	mark_exit(x, l, MAP_LAND);
	emit_imm(c, RDX, -ret);
	emit_lea_sib(c, RCX, RCX, RDX, 1, 0, 0);
	emit_lea_sib(c, RCX, RSP, RCX, 8, -8, 0);
	emit_not(c, RCX);
	emit_load(c, RDX, RAX, FRAME(place));
	emit_lea_sib(c, RCX, RCX, RDX, 1, 1, 0);
	land_elsewhere(x, l);
	pop_frame(x, l);
	mark_exit(x, l, MAP_LEFT);
	regs_reload(x, x->homed);
	mark_exit(x, l, MAP_LEFT);
}

/* The landings of the fragment's calls. */
void
calls_landings(struct xlate *x, unsigned (*new_exit)(struct xlate *,
    unsigned kind, app_pc target, unsigned n), uint8_t *(*jump)
    (struct emitter *))
{
	const struct insn *in;
	unsigned e, l, n = x->nexit;

	for (e = 0; e < n; e++) {
		if (x->exit[e].land == NULL)
			continue;
		in = block_site(x->b, x->exit[e].n);
		l = new_exit(x, EXIT_DIRECT, in->pc + in->len, 0);
		write_landing(x, e, l);
		x->exit[l].jmp = (uint32_t)(jump(&x->c) - x->c.start);
	}
}

/* Where calls that are not as expected leave. */
void
calls_cold(struct xlate *x, void (*leave)(struct xlate *, unsigned e))
{
	struct emitter *c = &x->c;
	unsigned k, e;

	for (k = 0; k < x->ncall; k++) {
		e = x->call[k].exit;
		emit_patch32(x->call[k].at, c->p);
		x->homed = BIT(RAX) | BIT(RCX) | BIT(RDX);
		mark_exit(x, e, x->exit[e].kind == EXIT_INDIRECT ?
		    MAP_LEFT_TMP : MAP_LEFT);
		emit_load(c, RDX, REG_T, HOME(RDX));
		x->homed &= ~BIT(RDX);
		if (x->exit[e].kind == EXIT_INDIRECT) {
			mark_exit(x, e, MAP_LEFT_TMP);
			emit_load(c, RCX, REG_T, TO(tmp1));
			emit_jmp_mem(c, REG_T, TO(rt_miss));
			continue;
		}
		mark_exit(x, e, MAP_LEFT);
		emit_load(c, RCX, REG_T, HOME(RCX));
		x->homed &= ~BIT(RCX);
		mark_exit(x, e, MAP_LEFT);
		emit_load(c, RAX, REG_T, HOME(RAX));
		x->homed &= ~BIT(RAX);
		mark_exit(x, e, MAP_LEFT);
		leave(x, e);
	}
}

/*
 * A fragment of its own: the landing of a frame that a jump pushed.  It pops
 * it, and goes on at the landing of the frame below.
 */
void
calls_more(struct xlate *x)
{
	struct emitter *c = &x->c;

	x->homed = BIT(RAX) | BIT(RCX);
	mark(x, 0, MAP_RETURN, 0);
	emit_store(c, REG_T, TO(tmp1), RCX);
	mark(x, 0, MAP_LAND, 0);
	emit_store(c, REG_T, HOME(RDX), RDX);
	x->homed |= BIT(RDX);
	mark(x, 0, MAP_LAND, 0);
	pop_frame(x, 0);
	mark(x, 0, MAP_LAND, 0);
	emit_load(c, RDX, REG_T, HOME(RDX));
	x->homed &= ~BIT(RDX);
	mark(x, 0, MAP_LAND, 0);
	emit_load(c, RCX, REG_T, TO(tmp1));
	emit_jmp_mem(c, RAX, FRAME(landing));
}
