/*
 * entry - where a fragment is entered, and whether its code is still the same
 *
 *	entry for indirect transfers	rcx is the target, rax is free: compare
 *					rcx with this fragment's pc
 *	entry				all registers hold the guest's values
 *
 * Code that may change without a sign is compared, at each entry, with the
 * bytes that were translated.  Entries are counted as well, down to 0: then
 * trace looks whether the code can be trusted instead (code/watch.c).
 */
#include "xlate/parts.h"

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

void
entry_write(struct xlate *x)
{
	unsigned from = emit_off(&x->c);

	if (x->by_lookup)
		write_lookup_entry(x);
	mark(x, 0, MAP_BODY, 0);
	x->entry = emit_off(&x->c);
	x->prologue = x->entry - from;
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
leave_check(struct xlate *x, unsigned e)
{
	emit_load(&x->c, RCX, REG_T, HOME(RCX));
	emit_load(&x->c, RAX, REG_T, HOME(RAX));
	exit_leave(x, e);
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
void
entry_check(struct xlate *x)
{
	enum sampling which = watch_sampling(x->b->pc);
	struct emitter *c = &x->c;
	uint8_t *same, *zero = NULL;
	unsigned off, n, len = (unsigned)(x->b->next - x->b->pc);
	unsigned e = exit_new(x, EXIT_STALE, x->b->pc, 0), sampled;

	regs_home(x, RAX);
	regs_home(x, RCX);
	mark(x, 0, MAP_BODY, REP_CHECK);
	if (which != SAMPLE_NONE)
		zero = count_entries(x, which);
	for (off = 0; off < len; off += n) {
		n = len - off >= 8 ? 8 : len - off >= 4 ? 4 : 1;
		compare_bytes(x, off, n);
		same = emit_jrcxz(c);
		leave_check(x, e);
		if (zero != NULL) {
			sampled = exit_new(x, EXIT_SAMPLE, x->b->pc, 0);
			x->exit[sampled].aux = which;
			emit_patch8(zero, c->p);
			leave_check(x, sampled);
			zero = NULL;
		}
		emit_patch8(same, c->p);
	}
	regs_reload(x, BIT(RAX) | BIT(RCX));
	/* a run of instructions (mangle_run) is marked only behind each */
	mark(x, 0, MAP_BODY, 0);
}
