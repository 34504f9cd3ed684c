/*
 * emit.h - write machine code, x86-64; every encoding has a name
 *
 * Registers are hardware numbers, 0 (rax) to 15 (r15). Operands stand in
 * Intel's order, where the result comes first. A memory operand is base + disp,
 * or with "sib" in the name base + index * scale + disp, scale 1, 2, 4 or 8.
 * base, index or both may be NOIDX where the name has "sib": none. The shortest
 * displacement is taken. An immediate of a 64-bit operation is sign-extended.
 *
 * No function looks at `limit', and most write up to 7 bytes more than they
 * count: the caller makes sure that there is room.
 */
#ifndef EMIT_H
#define EMIT_H

#include <stdint.h>
#include <string.h>

struct emitter {
	uint8_t *p;		/* next byte, in our mapping */
	uint8_t *start;		/* of this piece of code */
	uint8_t *limit;		/* the caller's: where its room ends */
	uint64_t addr;		/* where start is for who runs it */
};

#define NOIDX 31

/* Where the next byte is for who runs it. */
static inline uint64_t
emit_here(const struct emitter *c)
{
	return c->addr + (uint64_t)(c->p - c->start);
}

/* How many bytes this piece of code has so far. */
static inline uint32_t
emit_off(const struct emitter *c)
{
	return (uint32_t)(c->p - c->start);
}

/* ---- bytes ---- */

/* One byte, the low 8 bits of b. */
static inline void
emit_byte(struct emitter *c, unsigned b)
{
	*c->p++ = (uint8_t)b;
}

/* Four bytes, the lowest first. */
static inline void
emit_u32(struct emitter *c, uint32_t v)
{
	memcpy(c->p, &v, 4);
	c->p += 4;
}

/* Eight bytes, the lowest first. */
static inline void
emit_u64(struct emitter *c, uint64_t v)
{
	memcpy(c->p, &v, 8);
	c->p += 8;
}

/* The low n bytes of v, n up to 8. It writes 8 bytes in any case. */
static inline void
emit_bytes(struct emitter *c, uint64_t v, unsigned n)
{
	memcpy(c->p, &v, 8);
	c->p += n;
}

/* n bytes as they are; n bytes of nops, the fewest that have this length. */
void emit_copy(struct emitter *, const uint8_t *, unsigned n);
void emit_nop(struct emitter *, unsigned n);

/* ---- what leaves the flags alone ---- */

/* mov r64, [base+disp]; mov r32; movsxd r64, dword; movzx r32, byte */
static inline void emit_load(struct emitter *, int reg, int base, int32_t disp);
void emit_load32(struct emitter *, int reg, int base, int32_t disp);
void emit_load32s(struct emitter *, int reg, int base, int32_t disp);
void emit_load_byte(struct emitter *, int reg, int base, int32_t disp);
/* mov r64, [base+index*scale+disp]; movzx r32, word */
void emit_load_sib(struct emitter *, int reg, int base, int index, int scale,
    int32_t disp);
void emit_load16_sib(struct emitter *, int reg, int base, int index, int scale,
    int32_t disp);

/* mov [base+disp], r64; of r32; mov [base+index*scale+disp], r64 */
static inline void emit_store(struct emitter *, int base, int32_t disp,
    int reg);
void emit_store32(struct emitter *, int base, int32_t disp, int reg);
void emit_store_sib(struct emitter *, int base, int index, int scale,
    int32_t disp, int reg);
/* mov dword [base+disp], imm32; mov qword, simm32 */
static inline void emit_store_imm32(struct emitter *, int base, int32_t disp,
    uint32_t);
static inline void emit_store_simm(struct emitter *, int base, int32_t disp,
    int32_t);

/* lea r64, the memory operand; a32: of 32-bit registers, to r32 */
static inline void emit_lea(struct emitter *, int reg, int base, int32_t disp);
void emit_lea_sib(struct emitter *, int reg, int base, int index, int scale,
    int32_t disp, int a32);

/* mov r64, r64; mov r32, r32 */
static inline void emit_mov(struct emitter *, int to, int from);
void emit_mov32(struct emitter *, int to, int from);
/* movzx r32, r16; movzx r64, r8 (the lowest byte); movsx r64, r16 */
void emit_movzx16(struct emitter *, int to, int from);
void emit_movzx8(struct emitter *, int to, int from);
void emit_movsx16(struct emitter *, int to, int from);
/* r64 = v: by the shortest mov; by mov r64, imm64, which has 10 bytes */
void emit_imm(struct emitter *, int reg, uint64_t v);
void emit_imm64(struct emitter *, int reg, uint64_t v);

/* xchg rax, r64, which is one of the low eight; xchg rax, rsp */
void emit_swap_rax(struct emitter *, int reg);
void emit_swap_rax_rsp(struct emitter *);
/* bswap r64; not r64 */
void emit_bswap(struct emitter *, int reg);
void emit_not(struct emitter *, int reg);
/* pext r64, from, mask: the bits of from that mask has, side by side; BMI2 */
void emit_pext(struct emitter *, int reg, int from, int mask);
/* reg &= mask, all 64 bits, by pext and pdep of BMI2 */
void emit_and_bits(struct emitter *, int reg, int mask);
/* push simm32 */
void emit_push_imm(struct emitter *, int32_t);

/*
 * The arithmetic flags into rax: OF becomes al, the others ah. And back, which
 * leaves rax destroyed.
 */
void emit_save_flags(struct emitter *);
void emit_restore_flags(struct emitter *);

/* ---- what sets the flags ---- */

/* cmp r64, simm32; cmp r64, [base+disp]; cmp qword [base+disp], simm8 */
static inline void emit_cmp_imm(struct emitter *, int reg, int32_t);
void emit_cmp_mem(struct emitter *, int reg, int base, int32_t disp);
void emit_cmp_mem_imm(struct emitter *, int base, int32_t disp, int v);
/* cmp byte [base+index+disp], v; inc of that byte; dec */
void emit_cmp_byte(struct emitter *, int base, int index, int32_t disp,
    unsigned v);
void emit_inc_byte(struct emitter *, int base, int index, int32_t disp);
void emit_dec_byte(struct emitter *, int base, int index, int32_t disp);

/* add r64, simm32; inc r64; sub r64, r64 (reg -= reg2) */
static inline void emit_add_imm(struct emitter *, int reg, int32_t);
void emit_inc(struct emitter *, int reg);
void emit_sub(struct emitter *, int reg, int reg2);
/* shr r32, n; and r32, imm32 */
void emit_shr32(struct emitter *, int reg, int n);
void emit_and32_imm(struct emitter *, int reg, uint32_t);
/* add r64, [base+index*scale+disp]; sub of the same */
void emit_add_sib(struct emitter *, int reg, int base, int index, int scale,
    int32_t disp);
void emit_sub_sib(struct emitter *, int reg, int base, int index, int scale,
    int32_t disp);
/* inc qword [base+disp]; add [base+index*scale+disp], r64; inc of that qword */
static inline void emit_inc_mem(struct emitter *, int base, int32_t disp);
void emit_add_to_sib(struct emitter *, int base, int index, int scale,
    int32_t disp, int reg);
void emit_inc_sib(struct emitter *, int base, int index, int scale,
    int32_t disp);
/* qword [base+disp] += 1 if the carry flag is set: adc; if it is not: sbb */
void emit_add_carry(struct emitter *, int base, int32_t disp);
void emit_add_not_carry(struct emitter *, int base, int32_t disp);

/* ---- transfers ---- */

/*
 * Each of these returns where its displacement is, to be set by emit_patch8 or,
 * those with 32 and of rip, by emit_patch32. cc is the processor's number of a
 * condition, 4 for jz. The last two are push [rip+disp32], jmp [rip+disp32].
 */
uint8_t *emit_jrcxz(struct emitter *);
uint8_t *emit_jcc8(struct emitter *, unsigned cc);
uint8_t *emit_jmp8(struct emitter *);
static inline uint8_t *emit_jmp32(struct emitter *);
uint8_t *emit_call32(struct emitter *);
static inline uint8_t *emit_jcc32(struct emitter *, unsigned cc);
uint8_t *emit_push_rip(struct emitter *);
uint8_t *emit_jmp_rip(struct emitter *);
/*
 * Set the displacement at `at', so that it leads to target; both in our
 * mapping. Of one byte target must be at most 127 bytes ahead or 128 behind.
 */
void emit_patch8(uint8_t *at, const uint8_t *target);
static inline void emit_patch32(uint8_t *at, const uint8_t *target);

/* jmp qword [base+disp]; jmp, call qword [base+index*scale+disp]; ret */
static inline void emit_jmp_mem(struct emitter *, int base, int32_t disp);
void emit_jmp_sib(struct emitter *, int base, int index, int scale,
    int32_t disp);
void emit_call_sib(struct emitter *, int base, int index, int scale,
    int32_t disp);
void emit_ret(struct emitter *);

/* ---- in line: what is written most, cheap where operands are known ---- */

/*
 * An opcode of a byte, with reg, or what it takes in reg's place, and the
 * memory operand [base+disp]; w: REX.W.  emit_mem writes any byte by byte,
 * emit_op_mem those with a displacement and no SIB by one store.
 */
void emit_mem(struct emitter *, int w, unsigned op, int reg, int base,
    int32_t disp);
static inline __attribute__((always_inline)) void
emit_op_mem(struct emitter *c, int w, unsigned op, int reg, int base,
    int32_t disp)
{
	unsigned rex = (w ? 0x48u : 0x40u) | (unsigned)reg >> 3 << 2 |
	    (unsigned)base >> 3;
	unsigned mod = disp == (int8_t)disp ? 1 : 2, n = mod == 1 ? 3 : 6;
	uint64_t bytes = op | (mod << 6 | (unsigned)(reg & 7) << 3 |
	    (unsigned)(base & 7)) << 8 | (uint64_t)(uint32_t)disp << 16;

	if ((base & 7) == 4 || disp == 0)
		emit_mem(c, w, op, reg, base, disp);
	else if (rex != 0x40)
		emit_bytes(c, bytes << 8 | rex, n + 1);
	else
		emit_bytes(c, bytes, n);
}

static inline void
emit_load(struct emitter *c, int reg, int base, int32_t disp)
{
	emit_op_mem(c, 1, 0x8b, reg, base, disp);
}

static inline void
emit_store(struct emitter *c, int base, int32_t disp, int reg)
{
	emit_op_mem(c, 1, 0x89, reg, base, disp);
}

static inline void
emit_store_imm32(struct emitter *c, int base, int32_t disp, uint32_t v)
{
	emit_op_mem(c, 0, 0xc7, 0, base, disp);
	emit_u32(c, v);
}

static inline void
emit_store_simm(struct emitter *c, int base, int32_t disp, int32_t v)
{
	emit_op_mem(c, 1, 0xc7, 0, base, disp);
	emit_u32(c, (uint32_t)v);
}

static inline void
emit_lea(struct emitter *c, int reg, int base, int32_t disp)
{
	emit_op_mem(c, 1, 0x8d, reg, base, disp);
}

static inline void
emit_inc_mem(struct emitter *c, int base, int32_t disp)
{
	emit_op_mem(c, 1, 0xff, 0, base, disp);
}

static inline void
emit_jmp_mem(struct emitter *c, int base, int32_t disp)
{
	emit_op_mem(c, 0, 0xff, 4, base, disp);
}

static inline void
emit_mov(struct emitter *c, int to, int from)
{
	emit_bytes(c, 0xc08948u | (unsigned)from >> 3 << 2 |
	    (unsigned)to >> 3 | (unsigned)(from & 7) << 19 |
	    (unsigned)(to & 7) << 16, 3);
}

/* One of add, or, ..., cmp, by its number, of r64 and simm32. */
static inline void
emit_op_imm(struct emitter *c, unsigned which, int reg, int32_t v)
{
	unsigned op = v == (int8_t)v ? 0x83 : 0x81;

	emit_bytes(c, 0x48u | (unsigned)reg >> 3 | op << 8 |
	    (0xc0u | which << 3 | (unsigned)(reg & 7)) << 16 |
	    (uint64_t)(uint32_t)v << 24, op == 0x83 ? 4 : 7);
}

static inline void
emit_cmp_imm(struct emitter *c, int reg, int32_t v)
{
	emit_op_imm(c, 7, reg, v);
}

static inline void
emit_add_imm(struct emitter *c, int reg, int32_t v)
{
	emit_op_imm(c, 0, reg, v);
}

static inline uint8_t *
emit_jmp32(struct emitter *c)
{
	emit_bytes(c, 0xe9, 5);
	return c->p - 4;
}

static inline uint8_t *
emit_jcc32(struct emitter *c, unsigned cc)
{
	emit_bytes(c, 0x800fu | cc << 8, 6);
	return c->p - 4;
}

static inline void
emit_patch32(uint8_t *at, const uint8_t *target)
{
	int32_t d = (int32_t)(target - (at + 4));

	memcpy(at, &d, 4);
}

#endif
