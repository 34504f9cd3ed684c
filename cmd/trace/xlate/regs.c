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

	set &= x->homed;
	for (r = 0; set != 0; r++, set >>= 1)
		if (set & 1) {
			emit_load(&x->c, r, REG_T, HOME(r));
			x->homed &= ~BIT(r);
		}
}

/*
 * The next instruction that uses r, or the block's end.  The result is kept:
 * it mostly holds for the following instructions too.
 */
static unsigned
next_use(struct xlate *x, int r)
{
	const struct block *b = x->b;
	unsigned i = x->use[r].next;

	if (x->use[r].from <= x->i && x->i < i)
		return i;
	for (i = x->i + 1; i < b->n; i++)
		if ((b->in[i].rd | b->in[i].wr) & BIT(r))
			break;
	x->use[r].from = (uint8_t)x->i;
	x->use[r].next = (uint8_t)i;
	return i;
}

/* How well r suits: overwritten before it is read, then used late. */
static unsigned
score(struct xlate *x, int r)
{
	const struct block *b = x->b;
	unsigned i = next_use(x, r), s = 1 + i - x->i;

	return i < b->n && (b->in[i].kill & BIT(r)) ? s + 100 : s;
}

/*
 * Prefer a register that is at home already, then one that is overwritten
 * before it is read again, then the one whose next use is farthest away.
 */
int
regs_scratch(struct xlate *x, uint32_t avoid)
{
	static const uint8_t may[] = {
		RSI, RDI, RDX, RCX, RAX, R10, R9, RBX, R14, R15
	};
	const struct insn *in = &x->b->in[x->i];
	uint32_t set = BIT(RSI) | BIT(RDI) | BIT(RDX) | BIT(RCX) | BIT(RAX) |
	    BIT(R10) | BIT(R9) | BIT(RBX) | BIT(R14) | BIT(R15);
	unsigned k, s, best = 0;
	int pick = -1;

	set &= ~(avoid | in->rd | in->wr);
	if (set & x->homed)
		set &= x->homed;
	if (set != 0 && (set & (set - 1)) == 0)
		pick = __builtin_ctz(set);
	for (k = 0; k < sizeof may && (pick < 0 || best > 0); k++)
		if ((set & BIT(may[k])) && (s = score(x, may[k])) > best) {
			best = s;
			pick = may[k];
		}
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
