/*
 * emit - write machine code, one function for each encoding
 */
#include "emit.h"

void
emit_copy(struct emitter *c, const uint8_t *bytes, unsigned n)
{
	memcpy(c->p, bytes, n);
	c->p += n;
}

void
emit_nop(struct emitter *c, unsigned n)
{
	static const uint8_t nops[8][7] = {
		{ 0 }, { 0x90 }, { 0x66, 0x90 }, { 0x0f, 0x1f, 0x00 },
		{ 0x0f, 0x1f, 0x40, 0x00 }, { 0x0f, 0x1f, 0x44, 0x00, 0x00 },
		{ 0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00 },
		{ 0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00 }
	};
	unsigned k;

	for (; n > 0; n -= k) {
		k = n < 7 ? n : 7;
		emit_copy(c, nops[k], k);
	}
}

/* REX for an operand size of w, if any bit of it is needed. */
static void
rex(struct emitter *c, int w, int reg, int index, int base)
{
	unsigned b = 0x40u | (w ? 8u : 0) | (reg > 7 ? 4u : 0) |
	    (index != NOIDX && index > 7 ? 2u : 0) |
	    (base != NOIDX && base > 7 ? 1u : 0);

	if (b != 0x40)
		emit_byte(c, b);
}

/* ModRM, SIB and displacement for a memory operand. */
static void
mem(struct emitter *c, int reg, int base, int index, int scale, int32_t disp)
{
	unsigned r = (unsigned)(reg & 7) << 3, mod, ss;

	ss = scale == 8 ? 3 : scale == 4 ? 2 : scale == 2 ? 1 : 0;
	if (base == NOIDX) {		/* [index * scale + disp32] */
		emit_byte(c, r | 4);
		emit_byte(c, ss << 6 | (unsigned)((index == NOIDX ? 4 :
		    index) & 7) << 3 | 5);
		emit_u32(c, (uint32_t)disp);
		return;
	}
	if (disp == 0 && (base & 7) != 5)
		mod = 0;
	else if (disp >= -128 && disp < 128)
		mod = 1;
	else
		mod = 2;
	if (index != NOIDX || (base & 7) == 4) {
		emit_byte(c, mod << 6 | r | 4);
		emit_byte(c, ss << 6 | (unsigned)((index == NOIDX ? 4 :
		    index) & 7) << 3 | (unsigned)(base & 7));
	} else {
		emit_byte(c, mod << 6 | r | (unsigned)(base & 7));
	}
	if (mod == 1)
		emit_byte(c, (uint8_t)disp);
	else if (mod == 2)
		emit_u32(c, (uint32_t)disp);
}

void
emit_mem(struct emitter *c, int w, unsigned op, int reg, int base, int32_t disp)
{
	rex(c, w, reg, NOIDX, base);
	emit_byte(c, op);
	mem(c, reg, base, NOIDX, 1, disp);
}

static void
op_reg(struct emitter *c, int w, unsigned op, int reg, int rm)
{
	rex(c, w, reg, NOIDX, rm);
	if (op > 0xff)
		emit_byte(c, op >> 8);
	emit_byte(c, op & 0xff);
	emit_byte(c, 0xc0u | (unsigned)(reg & 7) << 3 | (unsigned)(rm & 7));
}

void
emit_load32(struct emitter *c, int reg, int base, int32_t disp)
{
	emit_op_mem(c, 0, 0x8b, reg, base, disp);
}

void
emit_load32s(struct emitter *c, int reg, int base, int32_t disp)
{
	emit_op_mem(c, 1, 0x63, reg, base, disp);
}

void
emit_load_byte(struct emitter *c, int reg, int base, int32_t disp)
{
	rex(c, 0, reg, NOIDX, base);
	emit_byte(c, 0x0f);
	emit_byte(c, 0xb6);
	mem(c, reg, base, NOIDX, 1, disp);
}

void
emit_store32(struct emitter *c, int base, int32_t disp, int reg)
{
	emit_op_mem(c, 0, 0x89, reg, base, disp);
}

/* The usual one, by one store: a base, an index and a short displacement. */
static void
op_sib(struct emitter *c, unsigned op, int reg, int base, int index, int scale,
    int32_t disp)
{
	unsigned b = 0x48u | (unsigned)reg >> 3 << 2 |
	    (unsigned)index >> 3 << 1 | (unsigned)base >> 3;
	unsigned mod = disp != 0 || (base & 7) == 5;

	if (base == NOIDX || index == NOIDX || disp != (int8_t)disp) {
		rex(c, 1, reg, index, base);
		emit_byte(c, op);
		mem(c, reg, base, index, scale, disp);
		return;
	}
	emit_bytes(c, b | op << 8 |
	    (mod << 6 | 4u | (unsigned)(reg & 7) << 3) << 16 |
	    ((unsigned)__builtin_ctz((unsigned)scale) << 6 |
	    (unsigned)(index & 7) << 3 | (unsigned)(base & 7)) << 24 |
	    (uint64_t)(uint8_t)disp << 32, 4 + mod);
}

void
emit_lea_sib(struct emitter *c, int reg, int base, int index, int scale,
    int32_t disp, int a32)
{
	if (!a32) {
		op_sib(c, 0x8d, reg, base, index, scale, disp);
		return;
	}
	emit_byte(c, 0x67);
	rex(c, 0, reg, index, base);
	emit_byte(c, 0x8d);
	mem(c, reg, base, index, scale, disp);
}

void
emit_load_sib(struct emitter *c, int reg, int base, int index, int scale,
    int32_t disp)
{
	op_sib(c, 0x8b, reg, base, index, scale, disp);
}

void
emit_store_sib(struct emitter *c, int base, int index, int scale, int32_t disp,
    int reg)
{
	op_sib(c, 0x89, reg, base, index, scale, disp);
}

void
emit_swap_rax(struct emitter *c, int reg)
{
	emit_byte(c, 0x48);
	emit_byte(c, 0x90u + (unsigned)reg);	/* xchg */
}

void
emit_mov32(struct emitter *c, int to, int from)
{
	op_reg(c, 0, 0x89, from, to);
}

void
emit_movzx16(struct emitter *c, int to, int from)
{
	op_reg(c, 0, 0x0fb7, to, from);
}

void
emit_movzx8(struct emitter *c, int to, int from)
{
	op_reg(c, 1, 0x0fb6, to, from);
}

void
emit_movsx16(struct emitter *c, int to, int from)
{
	op_reg(c, 1, 0x0fbf, to, from);
}

void
emit_bswap(struct emitter *c, int reg)
{
	rex(c, 1, 0, NOIDX, reg);
	emit_byte(c, 0x0f);
	emit_byte(c, 0xc8u + (unsigned)(reg & 7));
}

void
emit_imm(struct emitter *c, int reg, uint64_t v)
{
	if (v >> 32 == 0) {
		rex(c, 0, 0, NOIDX, reg);
		emit_byte(c, 0xb8u + (unsigned)(reg & 7));
		emit_u32(c, (uint32_t)v);
	} else if ((int64_t)v == (int32_t)v) {
		op_reg(c, 1, 0xc7, 0, reg);
		emit_u32(c, (uint32_t)v);
	} else {
		emit_imm64(c, reg, v);
	}
}

void
emit_imm64(struct emitter *c, int reg, uint64_t v)
{
	rex(c, 1, 0, NOIDX, reg);
	emit_byte(c, 0xb8u + (unsigned)(reg & 7));
	emit_u64(c, v);
}

void
emit_not(struct emitter *c, int reg)
{
	op_reg(c, 1, 0xf7, 2, reg);
}

void
emit_shr32(struct emitter *c, int reg, int n)
{
	op_reg(c, 0, 0xc1, 5, reg);
	emit_byte(c, (unsigned)n);
}

void
emit_and32_imm(struct emitter *c, int reg, uint32_t v)
{
	op_reg(c, 0, 0x81, 4, reg);
	emit_u32(c, v);
}

void
emit_cmp_mem_imm(struct emitter *c, int base, int32_t disp, int v)
{
	emit_op_mem(c, 1, 0x83, 7, base, disp);
	emit_byte(c, (uint8_t)v);
}

void
emit_inc(struct emitter *c, int reg)
{
	op_reg(c, 1, 0xff, 0, reg);
}

void
emit_cmp_mem(struct emitter *c, int reg, int base, int32_t disp)
{
	emit_op_mem(c, 1, 0x3b, reg, base, disp);
}

void
emit_sub(struct emitter *c, int reg, int reg2)
{
	op_reg(c, 1, 0x29, reg2, reg);
}

void
emit_add_sib(struct emitter *c, int reg, int base, int index, int scale,
    int32_t disp)
{
	op_sib(c, 0x03, reg, base, index, scale, disp);
}

void
emit_sub_sib(struct emitter *c, int reg, int base, int index, int scale,
    int32_t disp)
{
	op_sib(c, 0x2b, reg, base, index, scale, disp);
}

void
emit_load16_sib(struct emitter *c, int reg, int base, int index, int scale,
    int32_t disp)
{
	rex(c, 0, reg, index, base);
	emit_byte(c, 0x0f);
	emit_byte(c, 0xb7);
	mem(c, reg, base, index, scale, disp);
}

void
emit_add_to_sib(struct emitter *c, int base, int index, int scale,
    int32_t disp, int reg)
{
	op_sib(c, 0x01, reg, base, index, scale, disp);
}

void
emit_inc_sib(struct emitter *c, int base, int index, int scale, int32_t disp)
{
	op_sib(c, 0xff, 0, base, index, scale, disp);
}

static void
byte_sib(struct emitter *c, unsigned op, int more, int base, int index,
    int32_t disp)
{
	rex(c, 0, 0, index, base);
	emit_byte(c, op);
	mem(c, more, base, index, 1, disp);
}

void
emit_cmp_byte(struct emitter *c, int base, int index, int32_t disp, unsigned v)
{
	byte_sib(c, 0x80, 7, base, index, disp);
	emit_byte(c, v);
}

void
emit_inc_byte(struct emitter *c, int base, int index, int32_t disp)
{
	byte_sib(c, 0xfe, 0, base, index, disp);
}

void
emit_dec_byte(struct emitter *c, int base, int index, int32_t disp)
{
	byte_sib(c, 0xfe, 1, base, index, disp);
}

void
emit_add_carry(struct emitter *c, int base, int32_t disp)
{
	emit_op_mem(c, 1, 0x83, 2, base, disp);	/* adc 0 */
	emit_byte(c, 0);
}

void
emit_add_not_carry(struct emitter *c, int base, int32_t disp)
{
	emit_op_mem(c, 1, 0x83, 3, base, disp);	/* sbb -1 */
	emit_byte(c, 0xff);
}

void
emit_save_flags(struct emitter *c)
{
	emit_u32(c, 0xc0900f9f);	/* lahf; seto al */
}

void
emit_restore_flags(struct emitter *c)
{
	emit_bytes(c, 0x9e7f04, 3);	/* add al, 7f; sahf */
}

/* pext or pdep: the bits of from, out of or into those that mask has */
static void
bits(struct emitter *c, unsigned pp, int reg, int from, int mask)
{
	emit_byte(c, 0xc4);
	emit_byte(c, 0x42u | (reg > 7 ? 0 : 0x80u) | (mask > 7 ? 0 : 0x20u));
	emit_byte(c, 0x80u | (~(unsigned)from & 15) << 3 | pp);
	emit_byte(c, 0xf5);
	emit_byte(c, 0xc0u | (unsigned)(reg & 7) << 3 | (unsigned)(mask & 7));
}

#define PEXT 2u
#define PDEP 3u

void
emit_pext(struct emitter *c, int reg, int from, int mask)
{
	bits(c, PEXT, reg, from, mask);
}

/* reg = deposit(extract(reg, mask), mask) */
void
emit_and_bits(struct emitter *c, int reg, int mask)
{
	bits(c, PEXT, reg, reg, mask);
	bits(c, PDEP, reg, reg, mask);
}

void
emit_push_imm(struct emitter *c, int32_t v)
{
	emit_byte(c, 0x68);
	emit_u32(c, (uint32_t)v);
}

uint8_t *
emit_jrcxz(struct emitter *c)
{
	emit_byte(c, 0xe3);
	emit_byte(c, 0);
	return c->p - 1;
}

uint8_t *
emit_jcc8(struct emitter *c, unsigned cc)
{
	emit_byte(c, 0x70u | cc);
	emit_byte(c, 0);
	return c->p - 1;
}

uint8_t *
emit_jmp8(struct emitter *c)
{
	emit_byte(c, 0xeb);
	emit_byte(c, 0);
	return c->p - 1;
}

uint8_t *
emit_call32(struct emitter *c)
{
	emit_byte(c, 0xe8);
	emit_u32(c, 0);
	return c->p - 4;
}

uint8_t *
emit_push_rip(struct emitter *c)
{
	emit_byte(c, 0xff);
	emit_byte(c, 0x35);
	emit_u32(c, 0);
	return c->p - 4;
}

uint8_t *
emit_jmp_rip(struct emitter *c)
{
	emit_byte(c, 0xff);
	emit_byte(c, 0x25);
	emit_u32(c, 0);
	return c->p - 4;
}

void
emit_jmp_sib(struct emitter *c, int base, int index, int scale, int32_t disp)
{
	rex(c, 0, 4, index, base);
	emit_byte(c, 0xff);
	mem(c, 4, base, index, scale, disp);
}

void
emit_call_sib(struct emitter *c, int base, int index, int scale, int32_t disp)
{
	rex(c, 0, 2, index, base);
	emit_byte(c, 0xff);
	mem(c, 2, base, index, scale, disp);
}

void
emit_ret(struct emitter *c)
{
	emit_byte(c, 0xc3);
}

void
emit_swap_rax_rsp(struct emitter *c)
{
	emit_bytes(c, 0x9448, 2);
}

void
emit_patch8(uint8_t *at, const uint8_t *target)
{
	*at = (uint8_t)(target - (at + 1));
}
