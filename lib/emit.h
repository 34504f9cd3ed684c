/*
 * emit.h - write machine code; every encoding has a name
 *
 * Registers are hardware numbers 0..15.  Memory operands are base + disp, or
 * base + index * scale + disp; the shortest displacement is taken.
 */
#ifndef EMIT_H
#define EMIT_H

#include <stdint.h>
#include <string.h>

struct emitter {
	uint8_t *p;		/* next byte, in our mapping */
	uint8_t *start;		/* of this piece of code */
	uint8_t *limit;		/* nothing may be written from here on */
	uint64_t addr;		/* where start is for who runs it */
};

#define NOIDX 31

/* Where the next byte is for who runs it. */
static inline uint64_t
emit_here(const struct emitter *c)
{
	return c->addr + (uint64_t)(c->p - c->start);
}

static inline uint32_t
emit_off(const struct emitter *c)
{
	return (uint32_t)(c->p - c->start);
}

static inline void
emit_byte(struct emitter *c, unsigned b)
{
	*c->p++ = (uint8_t)b;
}

static inline void
emit_u32(struct emitter *c, uint32_t v)
{
	memcpy(c->p, &v, 4);
	c->p += 4;
}

static inline void
emit_u64(struct emitter *c, uint64_t v)
{
	memcpy(c->p, &v, 8);
	c->p += 8;
}

/* The low n bytes of v.  It writes 8 bytes in any case. */
static inline void
emit_bytes(struct emitter *c, uint64_t v, unsigned n)
{
	memcpy(c->p, &v, 8);
	c->p += n;
}

void emit_copy(struct emitter *, const uint8_t *, unsigned n);
void emit_nop(struct emitter *, unsigned n);

/* Loads: mov r64, [base+disp]; movsxd; mov r32; movzx r32. */
void emit_load(struct emitter *, int reg, int base, int32_t disp);
void emit_load32s(struct emitter *, int reg, int base, int32_t disp);
void emit_load32(struct emitter *, int reg, int base, int32_t disp);
void emit_load_byte(struct emitter *, int reg, int base, int32_t disp);
/* Stores: mov [base+disp], r64; mov dword; mov qword, sign-extended. */
void emit_store(struct emitter *, int base, int32_t disp, int reg);
void emit_store32(struct emitter *, int base, int32_t disp, int reg);
void emit_load_sib(struct emitter *, int reg, int base, int index, int scale,
    int32_t disp);
void emit_store_sib(struct emitter *, int base, int index, int scale,
    int32_t disp, int reg);
void emit_store_imm32(struct emitter *, int base, int32_t disp, uint32_t);
void emit_store_simm(struct emitter *, int base, int32_t disp, int32_t);
void emit_lea(struct emitter *, int reg, int base, int32_t disp);
void emit_lea_sib(struct emitter *, int reg, int base, int index, int scale,
    int32_t disp, int a32);
void emit_mov(struct emitter *, int to, int from);
void emit_swap_rax(struct emitter *, int reg);	/* one of the low eight */
void emit_mov32(struct emitter *, int to, int from);
void emit_movzx16(struct emitter *, int to, int from);
void emit_movzx8(struct emitter *, int to, int from);
void emit_movsx16(struct emitter *, int to, int from);
void emit_bswap(struct emitter *, int reg);
/* The shortest mov reg, imm. */
void emit_imm(struct emitter *, int reg, uint64_t);
/* mov reg, imm64: 10 bytes */
void emit_imm64(struct emitter *, int reg, uint64_t);
void emit_not(struct emitter *, int reg);
/* These change the flags. */
void emit_cmp_imm(struct emitter *, int reg, int32_t);
void emit_shr32(struct emitter *, int reg, int n);	/* of r32 */
void emit_and32_imm(struct emitter *, int reg, uint32_t);
void emit_inc_mem(struct emitter *, int base, int32_t disp);
/* cmp reg, [base+disp]; sub reg, reg2 */
void emit_cmp_mem(struct emitter *, int reg, int base, int32_t disp);
void emit_sub(struct emitter *, int reg, int reg2);
/* add reg, [base + index * scale + disp]; the reverse; the same by 1 */
void emit_add_sib(struct emitter *, int reg, int base, int index, int scale,
    int32_t disp);
void emit_add_to_sib(struct emitter *, int base, int index, int scale,
    int32_t disp, int reg);
void emit_inc_sib(struct emitter *, int base, int index, int scale,
    int32_t disp);
/* cmp byte [base + index + disp], v; inc and dec of it */
void emit_cmp_byte(struct emitter *, int base, int index, int32_t disp,
    unsigned v);
void emit_inc_byte(struct emitter *, int base, int index, int32_t disp);
void emit_dec_byte(struct emitter *, int base, int index, int32_t disp);
/* qword [base + disp] += 1 if the carry flag is set; if it is not */
void emit_add_carry(struct emitter *, int base, int32_t disp);
void emit_add_not_carry(struct emitter *, int base, int32_t disp);
/* The arithmetic flags into rax, and back: ah, and al for the overflow flag. */
void emit_save_flags(struct emitter *);
void emit_restore_flags(struct emitter *);
/* reg &= mask, by BMI2, so that flags stay */
void emit_and_bits(struct emitter *, int reg, int mask);
/* cmp qword [base + disp], v; add reg, v; inc reg */
void emit_cmp_mem_imm(struct emitter *, int base, int32_t disp, int v);
void emit_add_imm(struct emitter *, int reg, int32_t);
void emit_inc(struct emitter *, int reg);
/* sub reg, [base + index * scale + disp] */
void emit_sub_sib(struct emitter *, int reg, int base, int index, int scale,
    int32_t disp);
/* movzx r32, word [base + index * scale + disp] */
void emit_load16_sib(struct emitter *, int reg, int base, int index, int scale,
    int32_t disp);
/* r64 = the bits of from that are in mask, by BMI2 */
void emit_pext(struct emitter *, int reg, int from, int mask);
void emit_push_imm(struct emitter *, int32_t);
/* Each returns where its displacement is, for emit_patch8 or emit_patch32. */
uint8_t *emit_jrcxz(struct emitter *);
uint8_t *emit_jcc8(struct emitter *, unsigned cc);
uint8_t *emit_jmp8(struct emitter *);
uint8_t *emit_jmp32(struct emitter *);
uint8_t *emit_call32(struct emitter *);
uint8_t *emit_jcc32(struct emitter *, unsigned cc);
/* push [rip+disp32] and jmp [rip+disp32] */
uint8_t *emit_push_rip(struct emitter *);
uint8_t *emit_jmp_rip(struct emitter *);
void emit_jmp_mem(struct emitter *, int base, int32_t disp);
void emit_jmp_sib(struct emitter *, int base, int index, int scale,
    int32_t disp);
void emit_call_sib(struct emitter *, int base, int index, int scale,
    int32_t disp);
void emit_ret(struct emitter *);
void emit_swap_rax_rsp(struct emitter *);
void emit_patch8(uint8_t *at, const uint8_t *target);
void emit_patch32(uint8_t *at, const uint8_t *target);

#endif
