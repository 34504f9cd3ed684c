/*
 * calls - with --contexts: calls and returns count in the guest
 *
 * A call looks up its arc, by its state and site, in the thread's table, pushes
 * a frame, and goes on at the arc's code.  A return goes to the landing of the
 * frame, in the code of the call, which adds what the call took to its arc and
 * pops the frame.  Whatever is not as expected leaves by the runtime, before
 * anything is counted.
 *
 * These look at things by the flags.  A call keeps the guest's in the area, but
 * where its target is known not to look at them; code that may look takes them
 * from there.  A landing whose flags may be looked at has a longer form, which
 * does not change them.
 *
 * The store of the top frame's address is what makes a call or a return done.
 */
#include "xlate/parts.h"

#define WORD(member) (T_CTX + (int32_t)CTX_WORDS + \
    (int32_t)offsetof(struct ctx_words, member))
#define ARC(member) (T_ARCS + (counts_refs() ? (int32_t)CTX_MORE : 0) + \
    (int32_t)offsetof(struct ctx_arc, member))
#define COUNT(member) (T_CTX + (int32_t)CTX_COUNTS + \
    (int32_t)offsetof(struct ctx_count, member))
#define FRAME(member) (int32_t)offsetof(struct ctx_frame, member)

enum { CC_AE = 3, CC_E = 4, CC_NE = 5 };

/* A branch to cold code. */
static void
leave_if(struct xlate *x, unsigned e, unsigned cc)
{
	x->call[x->ncall].at = emit_jcc32(&x->c, cc);
	x->call[x->ncall].again = NULL;
	x->call[x->ncall++].exit = (uint8_t)e;
}

/* The guest's flags go into the area, if anyone may look at them. */
static void
save_flags(struct xlate *x, unsigned e, unsigned kind)
{
	struct xexit *ex = &x->exit[e];

	ex->saves = ex->kind == EXIT_INDIRECT || !flags_dead(ex->target);
	if (!ex->saves)
		return;
	emit_save_flags(&x->c);
	emit_store(&x->c, REG_T, TO(flags), RAX);
	x->flags_in_area = true;
	mark_exit(x, e, kind);
}

/* They come back from there by rax, which is at home. */
static void
load_flags(struct xlate *x)
{
	emit_load(&x->c, RAX, REG_T, TO(flags));
	emit_restore_flags(&x->c);
	x->flags_in_area = false;
}

/* rax = the arc at this place of the table; rcx = 0 if it has that key. */
static void
look_at(struct emitter *c)
{
	emit_load_sib(c, RAX, REG_T, RAX, 8, T_CTX + (int32_t)CTX_TABLE);
	emit_add_sib(c, RCX, REG_T, RAX, 4, ARC(nkey));
}

/* rax = the arc by the table, by its first or second place, or leave. */
static void
find_arc(struct xlate *x, unsigned e)
{
	struct emitter *c = &x->c;
	struct xexit *ex = &x->exit[e];

	emit_load(c, RAX, RDX, FRAME(arc));
	emit_load_sib(c, RAX, REG_T, RAX, 4, ARC(state));
	if (ex->kind == EXIT_INDIRECT)
		emit_lea_sib(c, RCX, RCX, RAX, 1, (int32_t)ex->key, 0);
	else
		emit_lea(c, RCX, RAX, (int32_t)ex->key);
	emit_mov32(c, RAX, RCX);
	emit_and32_imm(c, RAX, CTX_KEYS - 1);
	look_at(c);
	leave_if(x, e, CC_NE);
	x->call[x->ncall - 1].again = c->p;
}

/* It is not at its first place: look at the second. */
static void
find_second(struct xlate *x, uint8_t *found)
{
	struct emitter *c = &x->c;

	emit_sub_sib(c, RCX, REG_T, RAX, 4, ARC(nkey));
	emit_mov32(c, RAX, RCX);
	emit_shr32(c, RAX, CTX_KEY_SECOND);
	look_at(c);
	emit_patch32(emit_jcc32(c, CC_E), found);
}

/* Push the frame of arc rax; the top one is at rdx. */
static void
push_frame(struct xlate *x, unsigned e)
{
	struct emitter *c = &x->c;
	bool call = x->exit[e].move == MOVE_CALL;

	emit_lea(c, RCX, RDX, -(int32_t)sizeof(struct ctx_frame));
	if (!call)
		emit_load(c, RDX, RDX, FRAME(place));
	emit_store(c, RCX, FRAME(place), call ? RSP : RDX);
	emit_store(c, RCX, FRAME(arc), RAX);
	if (counts_refs())
		refs_push(x);
	else
		emit_store(c, RCX, FRAME(p), REG_P);
	emit_inc_sib(c, REG_T, RAX, 1, COUNT(calls));
	mark_exit(x, e, MAP_CALL);
	emit_store(c, REG_T, WORD(top), RCX);
	mark_exit(x, e, MAP_CALLED);
}

/*
 * Go on at the arc's code, by a call: so the processor predicts the return.  It
 * stores the landing, at the end of the frame's word.
 */
static void
go_on(struct xlate *x, unsigned e)
{
	struct emitter *c = &x->c;

	emit_mov(c, RDX, RSP);
	emit_lea(c, RSP, RCX, FRAME(landing) + 8);
	x->homed |= RSP_IN_RDX;
	mark_exit(x, e, MAP_CALLED);
	emit_call_sib(c, REG_T, RAX, 4, ARC(code));
	x->homed &= ~RSP_IN_RDX;
	x->flags_in_area = false;
}

/*
 * A return, behind its `ret': rsp points behind the frame's landing, rax has
 * the guest's, rcx where it leads.  Then rax is the frame's address.
 */
static void
land(struct xlate *x, unsigned l)
{
	struct emitter *c = &x->c;

	x->homed = BIT(RAX) | BIT(RCX) | RSP_IN_RAX;
	mark_exit(x, l, MAP_RETURN);
	emit_store(c, REG_T, TO(tmp1), RCX);
	mark_exit(x, l, MAP_LAND);
	emit_store(c, REG_T, HOME(RDX), RDX);
	x->homed |= BIT(RDX);
	mark_exit(x, l, MAP_LAND);
	emit_swap_rax_rsp(c);
	x->homed &= ~RSP_IN_RAX;
	mark_exit(x, l, MAP_LAND);
	emit_lea(c, RAX, RAX, -FRAME(landing) - 8);
}

/* Pop the top frame, whose address is in rax, and add up what it took. */
static void
pop_frame(struct xlate *x, unsigned e)
{
	struct emitter *c = &x->c;

	emit_load(c, RDX, RAX, FRAME(arc));
	if (counts_refs()) {
		refs_pop(x, e);
	} else {
		emit_load(c, RCX, RAX, FRAME(p));
		emit_mov(c, RAX, REG_P);
	}
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

/* The same by the flags. */
static void
pop_frame_fast(struct xlate *x, unsigned e)
{
	struct emitter *c = &x->c;

	if (counts_refs()) {
		pop_frame(x, e);
		return;
	}
	emit_load(c, RDX, RAX, FRAME(arc));
	emit_load(c, RCX, RAX, FRAME(p));
	emit_sub(c, RCX, REG_P);
	emit_add_to_sib(c, REG_T, RDX, 1, COUNT(ir), RCX);
	mark_exit(x, e, MAP_LAND_IR);
	emit_lea(c, RAX, RAX, sizeof(struct ctx_frame));
	emit_store(c, REG_T, WORD(top), RAX);
}

/* rcx is not 0: it went elsewhere, or from another frame; leave. */
static void
land_if_zero(struct xlate *x, unsigned e)
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
 * rcx = 0 if the return was from the top frame, at rax, and to `target'; 0: to
 * wherever.  Here, too, the flags are what they were at the return.
 */
static void
compare_landing(struct emitter *c, app_pc target)
{
	if (target != 0) {
		emit_imm(c, RDX, -target);
		emit_lea_sib(c, RCX, RCX, RDX, 1, 0, 0);
		emit_lea_sib(c, RCX, RSP, RCX, 8, -8, 0);
	} else {
		emit_lea(c, RCX, RSP, -8);
	}
	emit_not(c, RCX);
	emit_load(c, RDX, RAX, FRAME(place));
	emit_lea_sib(c, RCX, RCX, RDX, 1, 1, 0);
}

/* The landing of call e.  l is the exit to behind the call. */
static void
write_landing(struct xlate *x, unsigned e, unsigned l)
{
	struct emitter *c = &x->c;

	x->exit[e].landing = emit_here(c);
	land(x, l);
	compare_landing(&x->c, x->exit[l].target);
	land_if_zero(x, l);
	if (flags_dead(x->exit[l].target))
		pop_frame_fast(x, l);
	else
		pop_frame(x, l);
	mark_exit(x, l, MAP_LEFT);
	regs_reload(x, x->homed);
	mark_exit(x, l, MAP_LEFT);
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
	const struct insn *in = block_site(x->b, x->exit[e].n);
	unsigned l;

	if (!indirect) {
		emit_store(c, REG_T, HOME(RAX), RAX);
		emit_store(c, REG_T, HOME(RCX), RCX);
	} else {
		emit_store(c, REG_T, TO(tmp1), RCX);
	}
	emit_store(c, REG_T, HOME(RDX), RDX);
	x->homed |= BIT(RAX) | BIT(RCX) | BIT(RDX);
	mark_exit(x, e, indirect ? MAP_LEFT_TMP : MAP_LEFT);
	save_flags(x, e, indirect ? MAP_LEFT_TMP : MAP_LEFT);
	emit_load(c, RDX, REG_T, WORD(top));
	if (x->exit[e].move == MOVE_CALL) {
		/* what it is the return address of was not overwritten? */
		emit_cmp_mem(c, RSP, RDX, FRAME(place));
		leave_if(x, e, CC_AE);
	}
	find_arc(x, e);
	push_frame(x, e);
	go_on(x, e);
	if (x->exit[e].move != MOVE_CALL) {
		x->homed = BIT(RAX) | BIT(RCX) | RSP_IN_RAX;
		mark_exit(x, e, MAP_RETURN);
		emit_jmp_mem(c, REG_T, TO(more));
		return;
	}
	l = exit_new(x, EXIT_DIRECT, in->pc + in->len, 0);
	write_landing(x, e, l);
	x->exit[l].jmp = (uint32_t)(exit_jump(c) - c->start);
}

void
calls_return(struct xlate *x)
{
	emit_mov(&x->c, RAX, RSP);
	emit_load(&x->c, RSP, REG_T, WORD(top));
	x->homed |= RSP_IN_RAX;
	mark(x, 0, MAP_RETURN, 0);
	emit_ret(&x->c);
	x->homed &= ~RSP_IN_RAX;
}

/*
 * Where calls of this fragment enter: rax, rcx and rdx are at home.  Behind it
 * rax and rcx still are.
 */
void
calls_entry(struct xlate *x)
{
	x->homed = BIT(RAX) | BIT(RCX) | BIT(RDX) | RSP_IN_RDX;
	x->callentry = emit_off(&x->c);
	x->flags_in_area = !x->deadflags[0];
	mark(x, 0, MAP_CALLED, 0);
	emit_mov(&x->c, RSP, RDX);
	x->homed &= ~RSP_IN_RDX;
	mark(x, 0, MAP_CALLED, 0);
	if (x->flags_in_area)
		load_flags(x);
	mark(x, 0, MAP_BODY, 0);
	emit_load(&x->c, RDX, REG_T, HOME(RDX));
	x->homed &= ~BIT(RDX);
}

/* A call that is not as expected leaves; a jump may be none. */
static void
leave_call(struct xlate *x, unsigned e)
{
	struct emitter *c = &x->c;
	bool indirect = x->exit[e].kind == EXIT_INDIRECT;
	unsigned kind = indirect ? MAP_LEFT_TMP : MAP_LEFT;

	if (x->flags_in_area)
		load_flags(x);
	mark_exit(x, e, kind);
	emit_load(c, RDX, REG_T, HOME(RDX));
	x->homed &= ~BIT(RDX);
	mark_exit(x, e, kind);
	if (indirect) {
		emit_load(c, RCX, REG_T, TO(tmp1));
		if (x->exit[e].looks)
			exit_by_word(x, e);
		else
			emit_jmp_mem(c, REG_T, TO(rt_miss));
		return;
	}
	emit_load(c, RCX, REG_T, HOME(RCX));
	x->homed &= ~BIT(RCX);
	mark_exit(x, e, MAP_LEFT);
	emit_load(c, RAX, REG_T, HOME(RAX));
	x->homed &= ~BIT(RAX);
	mark_exit(x, e, MAP_LEFT);
	exit_leave(x, e);
}

/* Where calls that are not as expected leave. */
void
calls_cold(struct xlate *x)
{
	unsigned k, e;

	for (k = 0; k < x->ncall; k++) {
		e = x->call[k].exit;
		emit_patch32(x->call[k].at, x->c.p);
		x->homed = BIT(RAX) | BIT(RCX) | BIT(RDX);
		x->flags_in_area = x->exit[e].saves;
		mark_exit(x, e, x->exit[e].kind == EXIT_INDIRECT ?
		    MAP_LEFT_TMP : MAP_LEFT);
		if (x->call[k].again != NULL)
			find_second(x, x->call[k].again);
		leave_call(x, e);
	}
}

/*
 * A fragment of its own: the landing of a frame that a jump pushed.  It pops
 * it, and goes on at the landing of the frame below.  A return from elsewhere
 * on the stack leaves no frame: that is a jump.
 */
void
calls_more(struct xlate *x)
{
	struct emitter *c = &x->c;

	land(x, 0);
	compare_landing(c, 0);
	land_if_zero(x, 0);
	pop_frame(x, 0);
	mark(x, 0, MAP_LAND, 0);
	emit_load(c, RDX, REG_T, HOME(RDX));
	x->homed &= ~BIT(RDX);
	mark(x, 0, MAP_LAND, 0);
	emit_load(c, RCX, REG_T, TO(tmp1));
	emit_swap_rax_rsp(c);
	x->homed |= RSP_IN_RAX;
	mark(x, 0, MAP_LAND, 0);
	emit_ret(c);
}
