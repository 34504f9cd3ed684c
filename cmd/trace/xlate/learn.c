/*
 * learn - kind branches: a predictor learns each branch where it runs
 *
 * Each thread has Cachegrind's predictor: 16384 counters of two bits, by 7 bits
 * of a branch's address and the outcomes of the last 7 conditional branches;
 * and 512 targets of indirect branches, by 9 bits of the address.  Only sums
 * are told: executions, as kind counts does, and how often each branch was
 * mispredicted, in a counter of its own.
 *
 * The history is REG_P: each outcome moves it to the left, by an instruction
 * that keeps the flags.  It is kept twice as large as it is, so that its low
 * byte is 7 outcomes and a 0, where the lowest bit of the address fits.  Most
 * counters have come to their end, 0 or 3, and stay there.  So the code in line
 * does not change the counter; for `jne there', which is not taken:
 *
 *	movzx s, r8b			the history, before the branch
 *	jne  exit
 *	cmpb $0, row(T,s)
 *	jne  cold
 *   1: lea  (r8,r8), r8
 *
 * and in cold, where the carry flag is set if `not taken' was predicted:
 *
 *	cmpb $2, row(T,s)
 *	sbbq $-1, missed(T)		1 more, unless it is set
 *	decb row(T,s)
 *	jmp  1b
 *
 * The exit has the same for a branch that is taken, with 3 and adc, inc, and
 * lea 2(r8,r8), r8.  Where flags are alive, they are saved in rax.
 *
 * A signal may find a thread behind a branch, before it has been learnt: map
 * entries say what is left to do, and the runtime does that
 * (runtime/branches.c).  Code outside of windows leaves the predictor alone.
 *
 * With --rep=each the runtime also learns the rounds of repeated instructions:
 * behind one the fragment calls it.
 */
#include "look.h"
#include "predictor.h"
#include "stream/stream.h"
#include "xlate/parts.h"

_Static_assert(T_TABLE + sizeof(struct predictor) <= T_SIZE, "predictor");

/* Does the predictor learn it? */
static bool
is_learnt(const struct insn *in)
{
	return in->flow == FLOW_COND || in->flow == FLOW_IJUMP ||
	    in->flow == FLOW_ICALL || (opt->each &&
	    (in->special == SP_REP || in->special == SP_REPCMP));
}

void
learn_start(struct xlate *x)
{
	uint8_t n[MAX_INSN];
	unsigned i, count = 0;

	for (i = 0; i < x->b->n; i++) {
		x->missed[i] = count;
		if (is_learnt(&x->b->in[i]))
			n[count++] = (uint8_t)(i + 1);
	}
	if (count == 0)
		return;
	x->missed[0] = counters_missed(def_id(x->def, def_length(x->def)), n,
	    count);
	for (i = 1; i < x->b->n; i++)
		x->missed[i] += x->missed[0];
}

/* The counter of mispredictions of the block's nth instruction, from 1. */
static int32_t
missed_at(const struct xlate *x, unsigned n)
{
	return T_COUNT + 8 * (int32_t)x->missed[n - 1];
}

/* The branch's counters, from REG_T on. */
static int32_t
row_of(const struct xlate *x, unsigned n)
{
	return TO_PREDICTOR(counter) +
	    (int32_t)predictor_row(x->b->in[n - 1].pc);
}

/* The code is behind branch d; `done' as in predictor.h. */
static void
mark_learn(struct xlate *x, const struct cold_learn *d, unsigned done)
{
	x->counted = d->taken;
	if (d->at_exit)
		mark_part(x, d->exit, MAP_LEARN_EXIT, done);
	else
		mark(x, d->n, MAP_LEARN, done);
	x->counted = false;
}

/* Does the branch go to its target?  The place behind it is none. */
static bool
goes_to(const struct insn *in, app_pc pc)
{
	return pc == in->target && pc != in->pc + in->len;
}

/* May the flags be read behind instruction x->i? */
static bool
flags_alive_behind(const struct xlate *x)
{
	if (x->i + 1 < x->b->n)
		return !x->deadflags[x->i + 1];
	return x->once || !flags_dead(x->b->next);
}

int
learn_begin(struct xlate *x)
{
	int s = regs_scratch(x, BIT(RAX));

	emit_movzx8(&x->c, s, REG_P);
	return s;
}

/* The branch has been taken, or not; its history is in d->s. */
static void
learn(struct xlate *x, struct cold_learn d, bool flags_alive)
{
	struct emitter *c = &x->c;

	mark_learn(x, &d, 0);
	if (flags_alive) {
		regs_home(x, RAX);
		mark_learn(x, &d, 0);
		emit_save_flags(c);
		x->flags_in_rax = true;
		mark_learn(x, &d, 0);
	}
	emit_cmp_byte(c, REG_T, d.s, row_of(x, d.n), d.taken ? 3 : 0);
	d.branch = emit_jcc32(c, 5);
	d.back = c->p;
	d.homed = x->homed;
	d.flags_in_rax = x->flags_in_rax;
	x->learn[x->nlearn++] = d;
	mark_learn(x, &d, 2);
	emit_lea_sib(c, REG_P, REG_P, REG_P, 1, d.taken ? 2 : 0, 0);
	if (!flags_alive)
		return;
	if (d.at_exit)
		mark_exit(x, d.exit, MAP_EXIT);
	else
		mark(x, d.n, MAP_BODY, 0);
	emit_restore_flags(c);
	x->flags_in_rax = false;
}

/* The branch x->i, where the block goes on. */
static struct cold_learn
inside(const struct xlate *x, int s)
{
	app_pc next = x->i + 1 < x->b->n ? x->b->in[x->i + 1].pc : x->b->next;

	return (struct cold_learn){ .n = (uint8_t)(x->i + 1), .s = (int8_t)s,
		.taken = goes_to(&x->b->in[x->i], next) };
}

/* The branch that exit e is taken by. */
static struct cold_learn
at_exit(const struct xlate *x, unsigned e)
{
	const struct xexit *ex = &x->exit[e];
	const struct insn *in = &x->b->in[ex->n - 1];

	return (struct cold_learn){ .n = ex->n, .at_exit = true,
		.exit = (uint8_t)e, .s = ex->history,
		.taken = in->flow == FLOW_COND && goes_to(in, ex->target) };
}

void
learn_mark(struct xlate *x)
{
	struct cold_learn d = inside(x, 0);

	mark_learn(x, &d, 0);
}

void
learn_mark_exit(struct xlate *x, unsigned e)
{
	struct cold_learn d = at_exit(x, e);

	mark_learn(x, &d, 0);
}

void
learn_inside(struct xlate *x, int s)
{
	learn(x, inside(x, s), flags_alive_behind(x));
}

void
learn_rounds(struct xlate *x)
{
	const struct insn *in = &x->b->in[x->i];
	struct emitter *c = &x->c;

	mark(x, x->i + 1, MAP_LEARN, LEARN_ROUNDS);
	regs_home(x, RDX);
	mark(x, x->i + 1, MAP_LEARN, LEARN_ROUNDS);
	emit_imm(c, RDX, in->pc);
	emit_store(c, REG_T, TO(pc), RDX);
	look(c, x->missed[x->i], LOOK_ROUNDS | (uint32_t)block_repne(in) << 8);
	mark(x, x->i + 1, MAP_BODY, 0);
	regs_reload(x, BIT(RDX));
}

/* The branch that exit e is taken by, or that it is; NULL: it is none. */
static const struct insn *
branch_of(const struct xlate *x, unsigned e)
{
	const struct xexit *ex = &x->exit[e];
	const struct insn *in;

	if (!x->kind->learns || ex->n == 0)
		return NULL;
	in = &x->b->in[ex->n - 1];
	if (ex->kind == EXIT_DIRECT ? in->flow == FLOW_COND &&
	    ex->branch != NULL : ex->kind == EXIT_INDIRECT &&
	    in->flow != FLOW_RET)
		return in;
	return NULL;
}

bool
learn_is_exit(const struct xlate *x, unsigned e)
{
	return branch_of(x, e) != NULL;
}

/*
 * An indirect branch: rcx is its target, rax is free; the flags are kept. The
 * target is in rax while rcx is used, 0 if it was predicted.
 */
static void
learn_target(struct xlate *x, unsigned e, const struct insn *in)
{
	int32_t target = TO_PREDICTOR(target) + 8 * (int32_t)(in->pc & 511);
	int32_t missed = missed_at(x, x->exit[e].n);
	struct emitter *c = &x->c;
	uint8_t *same;

	emit_load(c, RAX, REG_T, target);
	emit_not(c, RAX);
	emit_lea_sib(c, RAX, RAX, RCX, 1, 1, 0);
	emit_swap_rax(c, RCX);
	mark_part(x, e, MAP_LEARN_EXIT, 1);
	same = emit_jrcxz(c);
	emit_load(c, RCX, REG_T, target);
	emit_store(c, REG_T, TO_PREDICTOR(was), RCX);
	emit_load(c, RCX, REG_T, missed);
	emit_lea(c, RCX, RCX, 1);
	emit_store(c, REG_T, missed, RCX);
	mark_part(x, e, MAP_LEARN_EXIT, 2);
	emit_store(c, REG_T, target, RAX);
	emit_patch8(same, c->p);
	mark_part(x, e, MAP_LEARN_EXIT, 1);
	emit_mov(c, RCX, RAX);
	mark_exit(x, e, MAP_EXIT);
}

void
learn_exit(struct xlate *x, unsigned e)
{
	const struct insn *in = branch_of(x, e);

	if (in->flow == FLOW_COND)
		learn(x, at_exit(x, e), !exit_frees_flags(x, e));
	else
		learn_target(x, e, in);
	mark_exit(x, e, MAP_EXIT);
}

void
learn_behind(struct xlate *x)
{
	struct emitter *c = &x->c;
	const struct cold_learn *d;
	int32_t row, missed;
	unsigned i;

	for (i = 0; i < x->nlearn; i++) {
		d = &x->learn[i];
		row = row_of(x, d->n);
		missed = missed_at(x, d->n);
		emit_patch32(d->branch, c->p);
		x->homed = d->homed;
		x->flags_in_rax = d->flags_in_rax;
		mark_learn(x, d, 0);
		emit_cmp_byte(c, REG_T, d->s, row, 2);
		if (d->taken)
			emit_add_carry(c, REG_T, missed);
		else
			emit_add_not_carry(c, REG_T, missed);
		mark_learn(x, d, 1);
		if (d->taken)
			emit_inc_byte(c, REG_T, d->s, row);
		else
			emit_dec_byte(c, REG_T, d->s, row);
		mark_learn(x, d, 2);
		emit_patch32(emit_jmp32(c), d->back);
	}
	x->flags_in_rax = false;
}

bool
learn_counter(uint32_t def, unsigned n, uint32_t *counter)
{
	struct def_told t;

	if (!def_told(def, &t) || n == 0 || n > t.n)
		return false;
	if (!counters_find_missed(t.id, n, counter))
		*counter = counters_missed(t.id, &(uint8_t){ (uint8_t)n }, 1);
	return true;
}
