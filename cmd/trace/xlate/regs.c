/*
 * regs - track where the guest's registers are while a fragment is written
 *
 * A guest register is in its own hardware register, or at HOME in the thread
 * area, where the fragment saved it to use the hardware register itself.
 */
#include "xlate/parts.h"

bool
regs_stolen(unsigned r)
{
	return r == REG_T || (r == REG_P && opt_steals_p());
}

bool
regs_at_home(const struct xlate *x, unsigned r)
{
	return regs_stolen(r) || (x->homed >> r & 1);
}

/* A register gets another use: forget what it has. */
static void
forget_copy(struct xlate *x, int r)
{
	unsigned k;

	if (x->before.reg == r)
		x->before.reg = NOREG;
	for (k = 0; k < 2; k++)
		if (x->copy[k] == r)
			x->copy[k] = NOREG;
}

void
regs_home(struct xlate *x, int r)
{
	forget_copy(x, r);
	if (x->homed & BIT(r))
		return;
	emit_store(&x->c, REG_T, HOME(r), r);
	x->homed |= BIT(r);
}

void
regs_reload(struct xlate *x, uint32_t set)
{
	int r;

	for (set &= x->homed; set != 0; set &= set - 1) {
		r = __builtin_ctz(set);
		emit_load(&x->c, r, REG_T, HOME(r));
		x->homed &= ~BIT(r);
	}
}

/*
 * Of a set, one whose instructions are shortest: of the low eight, and of those
 * the highest, since rax is wanted for the flags, and rcx and rdx by others.
 */
static int
shortest(uint32_t set)
{
	uint32_t low = set & 0xff;

	return low != 0 ? 31 - __builtin_clz(low) : __builtin_ctz(set);
}

/*
 * Of a set, the one that is overwritten before it is read, and latest; where
 * there is none, the one whose next use is farthest away.
 */
static int
best_of(const struct xlate *x, uint32_t set)
{
	const struct block *b = x->b;
	uint32_t killed = 0, used;
	unsigned i;

	for (i = x->i + 1; i < b->n; i++) {
		used = (b->in[i].rd | b->in[i].wr) & set;
		if (used == 0)
			continue;
		if (used & b->in[i].kill)
			killed = used & b->in[i].kill;
		if (used == set)
			break;
		set &= ~used;
	}
	return shortest(killed != 0 ? killed : set);
}

/* Prefer a register that is at home already: of these any is as good. */
int
regs_scratch(struct xlate *x, uint32_t avoid)
{
	const struct insn *in = &x->b->in[x->i];
	uint32_t set = BIT(RSI) | BIT(RDI) | BIT(RDX) | BIT(RCX) | BIT(RAX) |
	    BIT(R10) | BIT(R9) | BIT(RBX) | BIT(R14) | BIT(R15);
	int pick;

	set &= ~(avoid | in->rd | in->wr);
	pick = set & x->homed ? shortest(set & x->homed) : best_of(x, set);
	regs_home(x, pick);
	mark(x, x->i, MAP_BODY, 0);
	return pick;
}

/* The register with a copy of the stolen one's home; NOREG: none has. */
static unsigned
copy_of(const struct xlate *x, int stolen)
{
	unsigned r = x->copy[stolen == REG_T];

	return r != NOREG && (x->homed & BIT(r)) ? r : NOREG;
}

int
regs_instead(struct xlate *x, int stolen, const struct insn *in,
    uint32_t avoid)
{
	unsigned r = copy_of(x, stolen);
	unsigned other = copy_of(x, stolen == REG_T ? REG_P : REG_T);
	int s;

	if (r != NOREG && !(BIT(r) & (avoid | in->rd | in->wr)))
		return (int)r;
	s = regs_scratch(x, avoid | (other != NOREG ? BIT(other) : 0));
	if (in->rd & BIT(stolen)) {
		emit_load(&x->c, s, REG_T, HOME(stolen));
		x->copy[stolen == REG_T] = (uint8_t)s;
	}
	return s;
}

uint32_t
regs_copies(const struct xlate *x)
{
	uint32_t set = 0;
	unsigned k;

	for (k = 0; k < 2; k++)
		if (x->copy[k] != NOREG)
			set |= BIT(x->copy[k]);
	return set;
}

void
regs_stored(struct xlate *x, int stolen, int s)
{
	x->copy[stolen == REG_T] = (uint8_t)s;
}
