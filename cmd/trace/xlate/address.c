/*
 * address - code that computes the address of a memory reference
 *
 * Nothing here changes the guest's flags.
 */
#include "xlate/parts.h"

/* s = base + index * scale + disp; its low 32 bits if a32 */
static void
effective(struct xlate *x, const struct ref *r, int s, uint32_t taken)
{
	struct emitter *c = &x->c;
	int base = r->base == NOREG ? NOIDX : r->base;
	int index = r->index == NOREG ? NOIDX : r->index;

	if (base == NOIDX && index == NOIDX) {	/* it may be of 64 bits */
		emit_imm(c, s, r->a32 ? (uint32_t)r->disp : (uint64_t)r->disp);
		return;
	}
	if (base != NOIDX && regs_at_home(x, (unsigned)base)) {
		emit_load(c, s, REG_T, HOME(base));
		base = s;
	}
	if (index != NOIDX && regs_at_home(x, (unsigned)index)) {
		if (base == s) {
			int s2 = regs_scratch(x, taken | BIT(s) | BIT(RAX));

			emit_load(c, s2, REG_T, HOME(index));
			index = s2;
		} else {
			emit_load(c, s, REG_T, HOME(index));
			index = s;
		}
	}
	if (index == NOIDX && base != NOIDX && r->disp == 0 && !r->a32) {
		if (base != s)
			emit_mov(c, s, base);
		return;
	}
	emit_lea_sib(c, s, base, index, r->scale, (int32_t)r->disp, r->a32);
}

/* s += the segment's base */
static void
add_segment(struct xlate *x, unsigned seg, int s, uint32_t taken)
{
	int s2 = regs_scratch(x, taken | BIT(s) | BIT(RAX));

	emit_load(&x->c, s2, REG_T, seg == 4 ? TO(fsbase) : TO(gsbase));
	emit_lea_sib(&x->c, s, s, s2, 1, 0, 0);
}

/* s = a guest register's value, wherever it is */
static void
emit_load_reg(struct xlate *x, int s, int reg)
{
	if (regs_at_home(x, (unsigned)reg))
		emit_load(&x->c, s, REG_T, HOME(reg));
	else
		emit_mov(&x->c, s, reg);
}

/* o = the bit offset in register `from`, 64 bits of it */
static void
bit_offset(struct xlate *x, int o, int from, unsigned bits)
{
	struct emitter *c = &x->c;

	if (regs_at_home(x, (unsigned)from)) {
		emit_load(c, o, REG_T, HOME(from));
		from = o;
	}
	if (bits == 16) {
		emit_movsx16(c, o, from);
		return;
	}
	emit_mov(c, o, from);
	if (bits == 64)
		return;
	emit_store(c, REG_T, TO(tmp0), o);
	emit_load32s(c, o, REG_T, TO(tmp0));
}

/*
 * The address that a bit string instruction touches: the base plus the operand
 * size times floor(bit offset / operand bits).  A shift would change the flags:
 * so scale the offset up, store it, and load it back one byte higher.
 */
static void
bit_address(struct xlate *x, const struct ref *r, int s, uint32_t taken)
{
	struct emitter *c = &x->c;
	unsigned bits = x->b->in[x->i].opsize;
	int o = regs_scratch(x, BIT(s) | taken | BIT(RAX));

	effective(x, r, s, BIT(o) | taken);
	bit_offset(x, o, r->bitreg, bits);
	emit_lea_sib(c, o, NOIDX, o, bits == 64 ? 4 : 8, 0, 0);
	if (bits == 16)
		emit_lea_sib(c, o, NOIDX, o, 2, 0, 0);
	emit_store(c, REG_T, TO(tmp0), o);
	if (bits == 64) {	/* its sign behind it, in tmp1 */
		emit_load32s(c, o, REG_T, TO(tmp0) + 4);
		emit_store(c, REG_T, TO(tmp0) + 4, o);
		emit_load(c, o, REG_T, TO(tmp0) + 1);
	} else {
		emit_load32s(c, o, REG_T, TO(tmp0) + 1);
	}
	emit_lea_sib(c, s, s, o, bits / 8, 0, r->a32);
}

/* Clear the lowest 6 bits of s, by the trick of bit_address. */
static void
line_of(struct xlate *x, int s, uint32_t taken)
{
	struct emitter *c = &x->c;
	int o = regs_scratch(x, BIT(s) | taken | BIT(RAX));

	emit_lea_sib(c, o, NOIDX, s, 4, 0, 0);
	emit_movzx8(c, o, o);		/* 4 times those bits */
	emit_lea_sib(c, o, NOIDX, o, 8, 0, 0);
	emit_lea_sib(c, o, NOIDX, o, 8, 0, 0);
	emit_store(c, REG_T, TO(tmp0), o);
	emit_load_byte(c, o, REG_T, TO(tmp0) + 1);
	emit_not(c, o);
	emit_lea_sib(c, s, s, o, 1, 1, 0);
}

void
address_of(struct xlate *x, const struct ref *r, int s, uint32_t taken)
{
	switch (r->form) {
	case REF_BIT:
		bit_address(x, r, s, taken);
		break;
	case REF_XLAT:
		emit_load_reg(x, s, RAX);
		emit_movzx8(&x->c, s, s);
		emit_lea_sib(&x->c, s, RBX, s, 1, 0, r->a32);
		break;
	default:
		effective(x, r, s, taken);
		break;
	}
	if (r->seg != 0)
		add_segment(x, r->seg, s, taken);
	if (r->form == REF_LINE)
		line_of(x, s, taken);
}

void
address_keep(struct xlate *x)
{
	const struct ref *r = &x->b->in[x->i].ref[0];
	int s = regs_scratch(x, 0);

	if (r->form == REF_STATIC)
		emit_imm(&x->c, s, (uint64_t)r->disp);
	else
		address_of(x, r, s, 0);
	emit_store(&x->c, REG_T, TO(operand), s);
}
