/*
 * gather - compute the address of each element of a gather or scatter
 */
#include "xlate/parts.h"

/* vmovdqu [T+disp], vector v, of vlen bytes */
static void
store_vector(struct emitter *c, int32_t disp, unsigned v, unsigned vlen,
    int evex)
{
	unsigned l = vlen == 64 ? 2 : vlen == 32 ? 1 : 0;

	if (evex) {		/* vmovdqu32 */
		emit_byte(c, 0x62);
		emit_byte(c, 0x41u | (v & 8 ? 0 : 0x80) |
		    (v & 16 ? 0 : 0x10));
		emit_byte(c, 0x7e);
		emit_byte(c, 0x08u | l << 5);
	} else {
		emit_byte(c, 0xc4);
		emit_byte(c, 0x41u | (v & 8 ? 0 : 0x80));
		emit_byte(c, 0x7au | l << 2);
	}
	emit_byte(c, 0x7f);
	emit_byte(c, 0x80u | (v & 7) << 3 | (REG_T & 7));
	emit_u32(c, (uint32_t)disp);
}

/* kmovw: the low 16 bits of mask register k into r32 */
static void
load_mask(struct emitter *c, int r, unsigned k)
{
	emit_byte(c, 0xc5);
	emit_byte(c, r > 7 ? 0x78 : 0xf8);
	emit_byte(c, 0x93);
	emit_byte(c, 0xc0u | (unsigned)(r & 7) << 3 | k);
}

/*
 * rcx = 0 if the mask excludes element e.  AVX2: the sign of its mask element;
 * EVEX: bit e of the mask, as a byte that spread_mask stored.
 */
static void
test_element(struct xlate *x, const struct gather *g, unsigned e)
{
	struct emitter *c = &x->c;
	int32_t at = TO(vec) + 64 + (int32_t)(e * g->elemsize) +
	    g->elemsize - 1;

	if (g->evex)
		at = TO(vec) + 64 + (int32_t)e;
	/* movzx ecx, byte [T+at] */
	emit_byte(c, 0x41);
	emit_byte(c, 0x0f);
	emit_byte(c, 0xb6);
	emit_byte(c, 0x80u | RCX << 3 | (REG_T & 7));
	emit_u32(c, (uint32_t)at);
	if (g->evex)
		return;
	/* keep the top bit alone: double it and take byte 1 */
	emit_lea_sib(c, RCX, NOIDX, RCX, 2, 0, 0);
	/* movzx ecx, ch */
	emit_byte(c, 0x0f);
	emit_byte(c, 0xb6);
	emit_byte(c, 0xcd);
}

/*
 * Store the mask's bits as bytes at VEC+64, without changing flags: scale bit e
 * up to the lowest bit of a byte, and load that byte.
 */
static void
spread_mask(struct xlate *x, const struct gather *g)
{
	struct emitter *c = &x->c;
	unsigned e, k;

	for (e = 0; e < g->nelem; e++) {
		load_mask(c, RCX, g->mask);
		/* double it 16 - e times: bit e becomes bit 16 */
		for (k = e; k < 16; k++)
			emit_lea_sib(c, RCX, RCX, RCX, 1, 0, 0);
		emit_store(c, REG_T, TO(tmp0), RCX);
		/* movzx ecx, byte [T+tmp0+2]: bits from e on */
		emit_byte(c, 0x41);
		emit_byte(c, 0x0f);
		emit_byte(c, 0xb6);
		emit_byte(c, 0x40u | RCX << 3 | (REG_T & 7));
		emit_byte(c, TO(tmp0) + 2);
		/* times 128: only bit 0 remains in cl */
		for (k = 0; k < 7; k++)
			emit_lea_sib(c, RCX, RCX, RCX, 1, 0, 0);
		emit_byte(c, 0x41);	/* mov [T+..], cl */
		emit_byte(c, 0x88);
		emit_byte(c, 0x80u | RCX << 3 | (REG_T & 7));
		emit_u32(c, TO(vec) + 64 + e);
	}
}

/* The address of element e, or 0 if the mask excludes it. */
static void
gather_element(struct xlate *x, const struct gather *g, unsigned e, int s)
{
	const struct ref *r = &x->b->in[x->i].ref[0];
	struct emitter *c = &x->c;
	int32_t at = TO(vec) + (int32_t)(e * g->idxsize);
	uint8_t *skip;
	int base = r->base == NOREG ? NOIDX : r->base;

	test_element(x, g, e);
	emit_imm(c, s, 0);
	skip = emit_jrcxz(c);
	if (g->idxsize == 8)
		emit_load(c, s, REG_T, at);
	else
		emit_load32s(c, s, REG_T, at);
	if (base != NOIDX && (regs_at_home(x, (unsigned)base) || base == RCX)) {
		emit_load(c, RCX, REG_T, HOME(base));
		base = RCX;
	}
	emit_lea_sib(c, s, base, s, r->scale, (int32_t)r->disp, r->a32);
	if (r->seg != 0) {
		emit_load(c, RCX, REG_T, r->seg == 4 ? TO(fsbase) : TO(gsbase));
		emit_lea_sib(c, s, s, RCX, 1, 0, 0);
	}
	emit_patch8(skip, c->p);
	x->kind->element(x, e, s);
}

void
gather(struct xlate *x)
{
	const struct gather *g = &x->b->in[x->i].gather;
	int s = regs_scratch(x, BIT(RCX) | BIT(RAX));
	unsigned e;

	regs_home(x, RCX);
	mark(x, x->i, MAP_BODY, 0);
	store_vector(&x->c, TO(vec), g->vindex, g->vlen, g->evex);
	if (g->evex)
		spread_mask(x, g);
	else
		store_vector(&x->c, TO(vec) + 64, g->mask,
		    (unsigned)g->nelem * g->elemsize > 16 ? 32 : 16, 0);
	for (e = 0; e < g->nelem; e++)
		gather_element(x, g, e, s);
	regs_reload(x, BIT(RCX));
}
