/*
 * count - count executions in the guest
 *
 * Each id has a counter in the thread's area.  In kind counts REG_P holds the
 * number of instructions left, if there is an interval or a window.  The
 * guest's flags are changed only where they are known to be dead.
 */
#include "xlate/parts.h"

/*
 * Leave by the runtime if rcx, which is one less than what is left, is
 * negative; flags are kept.  Of its bytes only the highest is looked at.
 */
static void
check_rcx(struct xlate *x, unsigned e)
{
	struct emitter *c = &x->c;
	uint8_t *on;

	emit_bswap(c, RCX);
	emit_movzx8(c, RCX, RCX);
	on = emit_jrcxz(c);
	emit_load(c, RCX, REG_T, x->exit[e].kind == EXIT_INDIRECT ?
	    TO(tmp1) : HOME(RCX));
	if (x->exit[e].kind == EXIT_INDIRECT) {
		exit_add_key(x, e);
		emit_jmp_mem(c, REG_T, TO(rt_miss));
	} else {
		emit_store_simm(c, REG_T, TO(exitno),
		    (int32_t)(x->firstexit + e));
		emit_jmp_mem(c, REG_T, TO(rt_exit));
	}
	emit_patch8(on, c->p);
}

/* Where the counter of exit e's id is, from REG_T on. */
static int32_t
counter_of(const struct xlate *x, unsigned e)
{
	return T_COUNT + 8 * (int32_t)x->cnt[x->exit[e].n];
}

/* [T+at] += 1, by register r. */
static void
count_up(struct emitter *c, int32_t at, int r)
{
	emit_load(c, r, REG_T, at);
	emit_lea(c, r, r, 1);
	emit_store(c, REG_T, at, r);
}

/*
 * Store which exit this is: the runtime needs it if the target is not a
 * canonical address.  Where each exit makes a record, the runtime knows it from
 * that: see dispatch_miss.
 */
static void
note_exit(struct xlate *x, unsigned e)
{
	emit_store_simm(&x->c, REG_T, TO(exitno), (int32_t)(x->firstexit + e));
}

/* The exit is counted; subtract its instructions from REG_P. */
static void
step_p(struct xlate *x, unsigned e)
{
	if (!regs_stolen(REG_P))
		return;
	mark_exit(x, e, MAP_COUNTED);
	emit_lea(&x->c, REG_P, REG_P, -(int32_t)x->exit[e].n);
}

/*
 * count_exit for a direct exit where the guest's flags are dead:
 *
 *	incq counter(T); add $-n,P; jg on; store exitno; jmp rt_exit; on:
 */
static void
count_freely(struct xlate *x, unsigned e, bool count, bool check)
{
	struct emitter *c = &x->c;
	uint8_t *on;

	if (count)
		emit_inc_mem(c, REG_T, counter_of(x, e));
	if (!check) {
		step_p(x, e);
		mark_exit(x, e, MAP_LEFT);
		return;
	}
	if (count)
		mark_exit(x, e, MAP_COUNTED);
	emit_add_imm(c, REG_P, -(int32_t)x->exit[e].n);
	mark_exit(x, e, MAP_LEFT);
	on = emit_jcc8(c, 15);
	emit_store_simm(c, REG_T, TO(exitno), (int32_t)(x->firstexit + e));
	emit_jmp_mem(c, REG_T, TO(rt_exit));
	emit_patch8(on, c->p);
}

/*
 * Subtract the exit's instructions from REG_P.  `count`: increment the counter
 * of its id; `check`: leave by the runtime where an interval ends.
 */
static void
count_exit(struct xlate *x, unsigned e, bool count, bool check)
{
	struct emitter *c = &x->c;
	int indirect = x->exit[e].kind == EXIT_INDIRECT;
	int to = indirect ? TO(tmp1) : HOME(RCX);

	if (exit_frees_flags(x, e) && (check || count)) {
		count_freely(x, e, count, check);
		return;
	}
	if (indirect)
		note_exit(x, e);
	if (!indirect || check)
		emit_store(c, REG_T, to, RCX);
	if (!indirect) {
		x->homed |= BIT(RCX);
		mark_exit(x, e, MAP_EXIT);
	}
	if (count)
		count_up(c, counter_of(x, e), indirect ? RAX : RCX);
	step_p(x, e);
	mark_exit(x, e, indirect && check ? MAP_LEFT_TMP : MAP_LEFT);
	if (check) {
		emit_lea(c, RCX, REG_P, -1);
		check_rcx(x, e);
		emit_load(c, RCX, REG_T, to);
	} else if (!indirect) {
		emit_load(c, RCX, REG_T, to);
	}
	x->homed &= ~BIT(RCX) | (indirect ? BIT(RCX) : 0);
}

void
count_tell(struct xlate *x, unsigned e)
{
	count_exit(x, e, true, opt->interval != 0 || opt->during != 0 ||
	    opt->every != 0);
}

/*
 * Before --after is over, and between the windows of --every: count
 * instructions, report nothing.
 */
void
count_skip(struct xlate *x, unsigned e)
{
	count_exit(x, e, false, true);
}

/* Outside of windows, and in kind none: only note which exit it was. */
void
count_outside(struct xlate *x, unsigned e)
{
	if (x->exit[e].kind == EXIT_INDIRECT)
		note_exit(x, e);
}

void
count_left(struct xlate *x, unsigned e)
{
	struct emitter *c = &x->c;
	int indirect = x->exit[e].kind == EXIT_INDIRECT;
	int to = indirect ? TO(tmp1) : HOME(RCX), r = indirect ? RAX : RCX;

	mark_exit(x, e, MAP_COUNTED);
	regs_reload(x, x->homed & ~(indirect ? BIT(RAX) | BIT(RCX) : 0));
	mark_exit(x, e, MAP_COUNTED);
	emit_store(c, REG_T, to, RCX);
	if (!indirect) {
		x->homed |= BIT(RCX);
		mark_exit(x, e, MAP_COUNTED);
	}
	emit_load(c, r, REG_T, TO(left));
	emit_lea(c, r, r, -(int32_t)x->exit[e].n);
	emit_store(c, REG_T, TO(left), r);
	mark_exit(x, e, indirect ? MAP_LEFT_TMP : MAP_LEFT);
	emit_lea(c, RCX, r, -1);
	check_rcx(x, e);
	emit_load(c, RCX, REG_T, to);
	if (!indirect)
		x->homed &= ~BIT(RCX);
}

/*
 * Kind cache: increment the exit's counter; where the flags are alive, by a
 * register that is at home already, if there is one.
 */
void
count_tell_homed(struct xlate *x, unsigned e)
{
	int32_t at = counter_of(x, e);
	uint32_t free = x->homed & ~(x->exit[e].kind == EXIT_INDIRECT ?
	    BIT(RCX) : 0);
	int r = RCX;

	if (!counts_refs() && !counts_left() && exit_frees_flags(x, e)) {
		emit_inc_mem(&x->c, REG_T, at);
		return;
	}
	if (free != 0)
		r = __builtin_ctz(free);
	else
		regs_home(x, r);
	mark_exit(x, e, MAP_EXIT);
	if (x->exit[e].kind == EXIT_INDIRECT)
		note_exit(x, e);
	count_up(&x->c, at, r);
	if (counts_refs())
		refs_tell(x, e, r);
	if (counts_left())
		count_left(x, e);
}

/* Kind branches: the predictor learns first. */
void
count_tell_learnt(struct xlate *x, unsigned e)
{
	if (learn_is_exit(x, e))
		learn_exit(x, e);
	count_tell_homed(x, e);
}
