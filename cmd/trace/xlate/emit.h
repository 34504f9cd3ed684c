/*
 * emit - write machine code; every encoding has a name
 *
 * Registers are hardware numbers 0..15.  Memory operands are base + disp, or
 * base + index * scale + disp; displacements are made as short as they can be.
 */
#ifndef EMIT_H
#define EMIT_H

#include <stdint.h>
#include <string.h>

struct code {
	uint8_t *p;		/* next byte, in our mapping */
	uint8_t *start;		/* of the fragment */
	uint8_t *limit;		/* no byte may be written from here on */
	uint64_t addr;		/* what the guest calls start */
};

#define NOIDX 31

/* Guest address of the next byte. */
static inline uint64_t
emit_here(const struct code *c)
{
	return c->addr + (uint64_t)(c->p - c->start);
}

static inline uint32_t
emit_off(const struct code *c)
{
	return (uint32_t)(c->p - c->start);
}

static inline void
emit_byte(struct code *c, unsigned b)
{
	*c->p++ = (uint8_t)b;
}

static inline void
emit_u32(struct code *c, uint32_t v)
{
	memcpy(c->p, &v, 4);
	c->p += 4;
}

static inline void
emit_u64(struct code *c, uint64_t v)
{
	memcpy(c->p, &v, 8);
	c->p += 8;
}

/* The low n bytes of v; 8 are written. */
static inline void
emit_bytes(struct code *c, uint64_t v, unsigned n)
{
	memcpy(c->p, &v, 8);
	c->p += n;
}

void emit_copy(struct code *, const uint8_t *, unsigned n);
void emit_nop(struct code *, unsigned n);

void emit_load(struct code *, int reg, int base, int32_t disp);	/* mov r64, [base+disp] */
void emit_load32s(struct code *, int reg, int base, int32_t disp);	/* movsxd */
void emit_load32(struct code *, int reg, int base, int32_t disp);	/* mov r32 */
void emit_load_byte(struct code *, int reg, int base, int32_t disp);	/* movzx r32 */
void emit_store(struct code *, int base, int32_t disp, int reg);	/* mov [base+disp], r64 */
void emit_store_imm32(struct code *, int base, int32_t disp, uint32_t);	/* mov dword */
void emit_store_simm(struct code *, int base, int32_t disp, int32_t);	/* mov qword, sign-extended */
void emit_lea(struct code *, int reg, int base, int32_t disp);
void emit_lea_sib(struct code *, int reg, int base, int index, int scale, int32_t disp, int a32);
void emit_mov(struct code *, int to, int from);
void emit_mov32(struct code *, int to, int from);
void emit_movzx16(struct code *, int to, int from);
void emit_movzx8(struct code *, int to, int from);
void emit_movsx16(struct code *, int to, int from);
void emit_bswap(struct code *, int reg);
void emit_imm(struct code *, int reg, uint64_t);	/* the shortest mov reg, imm */
void emit_not(struct code *, int reg);
void emit_sar(struct code *, int reg, int n);		/* changes flags */
void emit_inc_mem(struct code *, int base, int32_t disp);	/* changes flags */
void emit_sub_imm(struct code *, int reg, int32_t);	/* changes flags */
void emit_and_bits(struct code *, int reg, int mask);	/* r32 &= mask, by BMI2 */
void emit_push_imm(struct code *, int32_t);
/* Each returns where its displacement is, for emit_patch8 or emit_patch32. */
uint8_t *emit_jrcxz(struct code *);
uint8_t *emit_jcc8(struct code *, unsigned cc);
uint8_t *emit_jmp8(struct code *);
uint8_t *emit_jmp32(struct code *);
uint8_t *emit_jcc32(struct code *, unsigned cc);
uint8_t *emit_push_rip(struct code *);			/* push [rip+disp32] */
uint8_t *emit_jmp_rip(struct code *);			/* jmp [rip+disp32] */
void emit_jmp_mem(struct code *, int base, int32_t disp);
void emit_jmp_sib(struct code *, int base, int index, int scale, int32_t disp);
void emit_patch8(uint8_t *at, const uint8_t *target);
void emit_patch32(uint8_t *at, const uint8_t *target);

#endif
