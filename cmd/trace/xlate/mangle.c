/*
 * mangle - write the guest's own instruction
 *
 * The instruction is copied, with two changes.  A PC-relative operand gets a
 * new displacement or, where that does not reach, a register that holds its
 * address.  The two stolen registers are replaced by others: the fields of the
 * encoding that name them are changed.
 */
#include <string.h>

#include "xlate/parts.h"

/* Set or clear an extension bit; VEX and EVEX keep it inverted. */
static void
put_bit(uint8_t *b, unsigned bit, int set)
{
	if (set)
		*b |= (uint8_t)(1u << bit);
	else
		*b &= (uint8_t)~(1u << bit);
}

/* which: 2 R (ModRM.reg), 1 X (index), 0 B (rm, base, opcode) */
static void
put_ext(uint8_t *bytes, const struct insn *in, unsigned which, int set)
{
	if (in->rexoff != 0xff)
		put_bit(bytes + in->rexoff, which, set);
	else if (in->vex2 && which < 2)		/* has no such bit */
		return;
	else if (in->vexoff != 0xff)
		put_bit(bytes + in->vexoff + 1, which + 5, !set);
	else if (in->evexoff != 0xff)
		put_bit(bytes + in->evexoff + 1, which + 5, !set);
}

static void
put3(uint8_t *b, unsigned shift, int reg)
{
	*b = (uint8_t)((*b & ~(7u << shift)) | (unsigned)(reg & 7) << shift);
}

static void
put_vvvv(uint8_t *bytes, const struct insn *in, int reg)
{
	uint8_t *b;

	if (in->evexoff != 0xff)
		b = bytes + in->evexoff + 2;
	else
		b = bytes + in->vexoff + (in->vex2 ? 1 : 2);
	*b = (uint8_t)((*b & ~0x78u) | (~(unsigned)reg & 15) << 3);
}

static void
put_field(uint8_t *bytes, const struct insn *in, unsigned field, int reg)
{
	switch (field) {
	case F_REG:
		put3(bytes + in->modrmoff, 3, reg);
		put_ext(bytes, in, 2, reg > 7);
		break;
	case F_RM:
		put3(bytes + in->modrmoff, 0, reg);
		put_ext(bytes, in, 0, reg > 7);
		break;
	case F_OPC:
		put3(bytes + in->opcoff, 0, reg);
		put_ext(bytes, in, 0, reg > 7);
		break;
	case F_BASE:
		put3(bytes + (in->siboff != 0xff ? in->siboff : in->modrmoff),
		    0, reg);
		put_ext(bytes, in, 0, reg > 7);
		break;
	case F_INDEX:
		put3(bytes + in->siboff, 3, reg);
		put_ext(bytes, in, 1, reg > 7);
		break;
	default:
		put_vvvv(bytes, in, reg);
		break;
	}
}

static void
replace(uint8_t *bytes, const struct insn *in, int from, int to)
{
	unsigned f;

	for (f = 0; f < NFIELD; f++)
		if (in->field[f] == from)
			put_field(bytes, in, f, to);
}

/* One of the low 8 registers, for an encoding that may have no REX. */
static int
low_scratch(struct xlate *x, uint32_t avoid)
{
	return regs_scratch(x, avoid | BIT(R9) | BIT(R10) | BIT(R14) |
	    BIT(R15));
}

/*
 * Rewrite the operand at [rip+disp32]: if reg is -1 it gets the displacement
 * disp, else it becomes [reg].  Returns the instruction's new length.
 */
static unsigned
move_riprel(uint8_t *bytes, const struct insn *in, int reg, int64_t disp)
{
	unsigned after = in->dispoff + 4u;
	int32_t d = (int32_t)disp;

	if (reg < 0) {
		memcpy(bytes + in->dispoff, &d, 4);
		return in->len;
	}
	bytes[in->modrmoff] = (uint8_t)((bytes[in->modrmoff] & 0x38) | reg);
	put_ext(bytes, in, 0, 0);
	put_ext(bytes, in, 1, 0);
	memmove(bytes + in->dispoff, bytes + after, in->len - after);
	return in->len - 4u;
}

static uint64_t
riprel_target(const struct insn *in)
{
	int32_t d;

	memcpy(&d, in->bytes + in->dispoff, 4);
	return in->pc + in->len + (uint64_t)(int64_t)d;
}

/* The registers that an instruction uses instead; -1: none. */
struct replacement {
	int p, t;		/* of REG_P and REG_T */
	int rip;		/* holds the PC-relative address */
};

static bool
reaches(const struct xlate *x, const struct insn *in)
{
	/* a few bytes may still be written before the instruction */
	int64_t d = (int64_t)(riprel_target(in) - (emit_here(&x->c) + in->len));

	return d > -0x7fff0000l && d < 0x7fff0000l && !in->a32;
}

static struct replacement
prepare(struct xlate *x, const struct insn *in)
{
	struct replacement s = { -1, -1, -1 };
	uint32_t uses = in->rd | in->wr, taken = 0;

	if (in->riprel && !reaches(x, in)) {
		s.rip = low_scratch(x, taken);
		taken |= BIT(s.rip);
		emit_imm(&x->c, s.rip, riprel_target(in));
	}
	if ((uses & BIT(REG_P)) && regs_stolen(REG_P)) {
		s.p = regs_instead(x, REG_P, in, taken);
		taken |= BIT(s.p);
	}
	if (uses & BIT(REG_T))
		s.t = regs_instead(x, REG_T, in, taken);
	return s;
}

static void
write_bytes(struct xlate *x, const struct insn *in, struct replacement s)
{
	uint8_t *bytes = x->c.p;
	unsigned len = in->len;

	memcpy(bytes, in->bytes, sizeof in->bytes);
	if (s.p >= 0)
		replace(bytes, in, REG_P, s.p);
	if (s.t >= 0)
		replace(bytes, in, REG_T, s.t);
	if (in->riprel)
		len = move_riprel(bytes, in, s.rip,
		    (int64_t)(riprel_target(in) -
		    (emit_here(&x->c) + in->len)));
	x->c.p += len;
}

/* Store home what the instruction wrote instead of a stolen register. */
static void
put_back(struct xlate *x, const struct insn *in, struct replacement s)
{
	int p = s.p >= 0 && (in->wr & BIT(REG_P));
	int t = s.t >= 0 && (in->wr & BIT(REG_T));

	if (!p && !t)
		return;
	x->loc = (uint8_t)((p ? s.p : REG_P) | (t ? s.t : REG_T) << 4);
	mark(x, x->i + 1, MAP_BODY, 0);
	if (p) {
		emit_store(&x->c, REG_T, HOME(REG_P), s.p);
		x->loc = (uint8_t)(REG_P | (x->loc & 0xf0));
		mark(x, x->i + 1, MAP_BODY, 0);
	}
	if (t)
		emit_store(&x->c, REG_T, HOME(REG_T), s.t);
	x->loc = REG_P | REG_T << 4;
	if (p)
		regs_stored(x, REG_P, s.p);
	if (t)
		regs_stored(x, REG_T, s.t);
}

void
mangle_copy(struct xlate *x, unsigned rep)
{
	const struct insn *in = &x->b->in[x->i];
	struct replacement s = prepare(x, in);

	mark(x, x->i, MAP_BODY, rep);
	write_bytes(x, in, s);
	x->homed &= ~(uint32_t)in->wr;
	put_back(x, in, s);
}

/* Is it copied as it is, where these registers are not the program's? */
static inline bool
is_run(const struct xlate *x, const struct insn *in, uint32_t taken)
{
	return in->flow == FLOW_NONE && in->special == SP_NONE &&
	    !in->riprel && !((in->rd | in->wr) & taken) &&
	    (x->kind->refer == NULL || (in->nref == 0 && !x->kind->alone));
}

void
mangle_run(struct xlate *x)
{
	uint32_t taken = x->homed | BIT(REG_T) |
	    (opt_steals_p() ? BIT(REG_P) : 0);
	const struct insn *from = &x->b->in[x->i], *in = from;
	const struct insn *end = &x->b->in[x->b->n];
	uint8_t *p = x->c.p;
	unsigned n;

	for (; in < end && is_run(x, in, taken); in++) {
		memcpy(p, in->bytes, sizeof in->bytes);
		p += in->len;
	}
	n = (unsigned)(in - from);
	if (n == 0)
		return;
	mark_run(x, x->i, n);
	x->c.p = p;
	x->i += n;
}

/* Turn jmp/call m64 into mov reg, m64: the same operand, another opcode. */
static struct insn
as_load(const struct insn *in, int reg)
{
	struct insn m = *in;
	unsigned i, n = 0, rest = in->modrmoff;
	uint8_t rex = 0x48;

	if (in->rexoff != 0xff)
		rex |= in->bytes[in->rexoff] & 3;
	for (i = 0; i < in->opcoff; i++)
		if (in->bytes[i] == 0x64 || in->bytes[i] == 0x65 ||
		    in->bytes[i] == 0x67)
			m.bytes[n++] = in->bytes[i];
	m.rexoff = (uint8_t)n;
	m.bytes[n++] = rex;
	m.bytes[n++] = 0x8b;
	m.modrmoff = (uint8_t)n;
	memcpy(m.bytes + n, in->bytes + rest, in->len - rest);
	m.bytes[n] = (uint8_t)((m.bytes[n] & 0xc7) | (reg & 7) << 3);
	if (in->siboff != 0xff)
		m.siboff = (uint8_t)(n + 1);
	m.dispoff = (uint8_t)(in->dispoff - rest + n);
	m.len = (uint8_t)(n + in->len - rest);
	/* keep a PC-relative operand's address despite the new length */
	m.pc = in->pc + in->len - m.len;
	m.field[F_REG] = NOREG;
	return m;
}

void
mangle_target(struct xlate *x, int reg)
{
	const struct insn *in = &x->b->in[x->i];
	struct insn m;
	struct replacement s;

	if (in->field[F_RM] != NOREG) {
		mark(x, x->i, MAP_BODY, 0);
		if (regs_stolen(in->field[F_RM]))
			emit_load(&x->c, reg, REG_T, HOME(in->field[F_RM]));
		else
			emit_mov(&x->c, reg, in->field[F_RM]);
		return;
	}
	m = as_load(in, reg);
	m.wr = 0;
	m.rd &= (uint16_t)~BIT(RSP);
	m.rd |= in->rd & BIT(RSP);
	s = prepare(x, &m);
	mark(x, x->i, MAP_BODY, 0);
	write_bytes(x, &m, s);
}
