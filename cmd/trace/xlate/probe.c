/*
 * probe - the code that we add: records of references, and what ran
 *
 * A record is built at REG_P: values at P+4, P+12, ... as their references
 * come, the header at P and the step of P at the exit.  Nothing here changes
 * the guest's flags, or only where they are dead.
 */
#include <string.h>

#include "xlate/xlate.h"

#define VALUE(g) (4 + 8 * (int32_t)(g))

/* Kind cache has records of references: their values begin with the first. */
static void
record(struct xlate *x, unsigned group, int reg)
{
	if (opt.kind == KIND_CACHE)
		group -= x->g->used[x->i];
	emit_store(&x->c, REG_P, VALUE(group), reg);
}

/* 1: the register's guest value is to be had at home only. */
static int
at_home(const struct xlate *x, unsigned r)
{
	return r == REG_P || r == REG_T || (x->homed >> r & 1);
}

/* s = base + index * scale + disp, 32 bits of it if a32; s2 is free too. */
static void
effective(struct xlate *x, const struct ref *r, int s, uint32_t taken)
{
	struct code *c = &x->c;
	int base = r->base == NOREG ? NOIDX : r->base;
	int index = r->index == NOREG ? NOIDX : r->index;

	if (base != NOIDX && at_home(x, (unsigned)base)) {
		emit_load(c, s, REG_T, HOME(base));
		base = s;
	}
	if (index != NOIDX && at_home(x, (unsigned)index)) {
		if (base == s) {
			int s2 = xlate_scratch(x, taken | BIT(s) | BIT(RAX));

			emit_load(c, s2, REG_T, HOME(index));
			index = s2;
		} else {
			emit_load(c, s, REG_T, HOME(index));
			index = s;
		}
	}
	emit_lea_sib(c, s, base, index, r->scale, (int32_t)r->disp, r->a32);
}

/* s += the segment's base */
static void
add_segment(struct xlate *x, unsigned seg, int s, uint32_t taken)
{
	int s2 = xlate_scratch(x, taken | BIT(s) | BIT(RAX));

	emit_load(&x->c, s2, REG_T, seg == 4 ? TO_FSBASE : TO_GSBASE);
	emit_lea_sib(&x->c, s, s, s2, 1, 0, 0);
}

/* s = a guest register's value, wherever it is */
static void
emit_load_reg(struct xlate *x, int s, int reg)
{
	if (at_home(x, (unsigned)reg))
		emit_load(&x->c, s, REG_T, HOME(reg));
	else
		emit_mov(&x->c, s, reg);
}

/*
 * The byte that a bit string instruction touches: base address plus offset /
 * 8, rounded down, without a shift: offset * 32, read back one byte higher.
 */
static void
bit_address(struct xlate *x, const struct ref *r, int s, uint32_t taken)
{
	struct code *c = &x->c;
	unsigned bits = x->b->in[x->i].opsize;
	int o = xlate_scratch(x, BIT(s) | taken | BIT(RAX)), from = r->bitreg;

	effective(x, r, s, BIT(o) | taken);
	if (at_home(x, (unsigned)from)) {
		emit_load(c, o, REG_T, HOME(from));
		from = o;
	}
	if (bits == 64)
		emit_mov(c, o, from);
	else if (bits == 16)
		emit_movsx16(c, o, from);
	else {
		emit_mov(c, o, from);
		emit_store(c, REG_T, TO_TMP0, o);
		emit_load32s(c, o, REG_T, TO_TMP0);
	}
	emit_lea_sib(c, o, NOIDX, o, 8, 0, 0);
	emit_lea_sib(c, o, NOIDX, o, 4, 0, 0);
	emit_store(c, REG_T, TO_TMP0, o);
	emit_load32s(c, o, REG_T, TO_TMP0 + 1);
	emit_lea_sib(c, s, s, o, 1, 0, 0);
}

void
probe_address(struct xlate *x, const struct ref *r, int s, uint32_t taken)
{
	switch (r->form) {
	case REF_BIT:
		bit_address(x, r, s, taken);
		break;
	case REF_XLAT:
		emit_load_reg(x, s, RAX);
		emit_movzx8(&x->c, s, s);
		emit_lea_sib(&x->c, s, RBX, s, 1, 0, 0);
		break;
	default:
		effective(x, r, s, taken);
		break;
	}
	if (r->seg != 0)
		add_segment(x, r->seg, s, taken);
}

void
probe_operand(struct xlate *x)
{
	const struct ref *r = &x->b->in[x->i].ref[0];
	int s = xlate_scratch(x, 0);

	if (r->form == REF_STATIC)
		emit_imm(&x->c, s, (uint64_t)r->disp);
	else
		probe_address(x, r, s, 0);
	emit_store(&x->c, REG_T, TO_OPERAND, s);
}

static void
take_address(struct xlate *x, const struct ref *r, unsigned group)
{
	int s = xlate_scratch(x, 0);

	probe_address(x, r, s, 0);
	record(x, group, s);
}

void
probe_refs(struct xlate *x)
{
	const struct insn *in = &x->b->in[x->i];
	const struct refgroup *rg;
	unsigned j;
	int s;

	if (opt.kind == KIND_CACHE) {
		filter_refs(x);
		return;
	}
	if (in->special == SP_GATHER) {
		if (opt.kind == KIND_ALL)
			probe_gather(x);
		return;
	}
	if (opt.kind != KIND_ALL && opt.kind != KIND_BLOCKS)
		return;
	for (j = 0; j < in->nref; j++) {
		rg = &x->g->ref[x->i][j];
		if (rg->group == NOGROUP || !rg->first)
			continue;
		if (!rg->plain) {
			take_address(x, &in->ref[j], rg->group);
		} else if (at_home(x, in->ref[j].base)) {
			s = xlate_scratch(x, 0);
			emit_load(&x->c, s, REG_T, HOME(in->ref[j].base));
			record(x, rg->group, s);
		} else {
			record(x, rg->group, in->ref[j].base);
		}
	}
}

/* The group of a repeated instruction's count, or NOCOUNT. */
static unsigned
count_group(const struct xlate *x)
{
	const struct insn *in = &x->b->in[x->i];
	unsigned j;

	if (opt.kind == KIND_ALL || opt.kind == KIND_CACHE)
		for (j = 0; j < in->nref; j++)
			if (x->g->ref[x->i][j].count != NOCOUNT)
				return x->g->ref[x->i][j].count;
	return NOCOUNT;
}

/* s = -s if the direction flag is set; rcx is used and comes back. */
static void
sign_count(struct xlate *x, int s, unsigned n, unsigned rep)
{
	struct code *c = &x->c;
	uint8_t *forward;

	xlate_home(x, RCX);
	xlate_mark(x, n, MAP_BODY, rep);
	emit_load(c, RCX, REG_T, TO_DF);
	forward = emit_jrcxz(c);
	emit_not(c, s);
	emit_lea(c, s, s, 1);
	emit_patch8(forward, c->p);
	record(x, count_group(x), s);
	xlate_reload(x, BIT(RCX));
	xlate_mark(x, n, MAP_BODY, rep);
}

/*
 * Before a repeated instruction: the count into the record, and into tmp2 for
 * whoever interrupts it.
 */
void
probe_rep_before(struct xlate *x)
{
	const struct insn *in = &x->b->in[x->i];
	unsigned j;
	int s;

	if (opt.kind >= KIND_NONE)
		return;
	if (opt.kind == KIND_CACHE)
		for (j = 0; j < in->nref; j++)
			take_address(x, &in->ref[j], x->g->ref[x->i][j].group);
	s = xlate_scratch(x, 0);
	if (in->a32)
		emit_mov32(&x->c, s, RCX);
	else
		emit_mov(&x->c, s, RCX);
	emit_store(&x->c, REG_T, TO_TMP2, s);
	if (count_group(x) != NOCOUNT)
		sign_count(x, s, x->i, 0);
}

/* Kind cache: the record is whole. */
static void
rep_out(struct xlate *x)
{
	xlate_mark(x, x->i + 1, MAP_BODY, 2);
	filter_rep(x);
	xlate_mark(x, x->i + 1, MAP_BODY, 0);
}

/* After one that may end early: the count that it came to. */
void
probe_rep_after(struct xlate *x)
{
	const struct insn *in = &x->b->in[x->i];
	struct code *c = &x->c;
	int s, s2;

	if (in->special == SP_REP && opt.kind == KIND_CACHE)
		rep_out(x);
	if (in->special != SP_REPCMP || count_group(x) == NOCOUNT)
		return;
	xlate_mark(x, x->i + 1, MAP_BODY, 2);
	s = RDX;
	s2 = RBX;
	xlate_home(x, s);
	xlate_home(x, s2);
	xlate_mark(x, x->i + 1, MAP_BODY, 2);
	if (in->a32)
		emit_mov32(c, s, RCX);
	else
		emit_mov(c, s, RCX);
	emit_not(c, s);
	emit_load(c, s2, REG_T, TO_TMP2);
	emit_lea_sib(c, s, s, s2, 1, 1, 0);
	sign_count(x, s, x->i + 1, 2);
	if (opt.kind == KIND_CACHE)
		rep_out(x);
	xlate_reload(x, BIT(s) | BIT(s2));
}

/* ---------------------------------------------------- gather and scatter */

/* vmovdqu [T+disp], vector v, of vlen bytes */
static void
store_vector(struct code *c, int32_t disp, unsigned v, unsigned vlen, int evex)
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

/* kmov: the low 16 (or 8) bits of mask register k into r32 */
static void
load_mask(struct code *c, int r, unsigned k)
{
	emit_byte(c, 0xc5);
	emit_byte(c, r > 7 ? 0x78 : 0xf8);
	emit_byte(c, 0x93);
	emit_byte(c, 0xc0u | (unsigned)(r & 7) << 3 | k);
}

/*
 * rcx = 0 if element e is held back.  AVX2: the sign of its mask element;
 * EVEX: bit e of the mask, which lies in tmp0 as bits e+7.. of byte strings.
 */
static void
test_element(struct xlate *x, const struct gather *g, unsigned e)
{
	struct code *c = &x->c;
	int32_t at = TO_VEC + 64 + (int32_t)(e * g->elemsize) + g->elemsize - 1;

	if (g->evex)
		at = TO_VEC + 64 + (int32_t)e;
	/* movzx ecx, byte [T+at] */
	emit_byte(c, 0x41);
	emit_byte(c, 0x0f);
	emit_byte(c, 0xb6);
	emit_byte(c, 0x80u | RCX << 3 | (REG_T & 7));
	emit_u32(c, (uint32_t)at);
	if (g->evex)
		return;
	/* the top bit alone: 0..127 -> 0 by reading bit 7 of 2 * it, byte 1 */
	emit_lea_sib(c, RCX, NOIDX, RCX, 2, 0, 0);
	/* movzx ecx, ch */
	emit_byte(c, 0x0f);
	emit_byte(c, 0xb6);
	emit_byte(c, 0xcd);
}

/*
 * The mask's bits as bytes at VEC+64, without changing flags: bit e comes to
 * the top of a byte by scaling, and a byte is read where it ended.
 */
static void
spread_mask(struct xlate *x, const struct gather *g, int s)
{
	struct code *c = &x->c;
	unsigned e, k;

	for (e = 0; e < g->nelem; e++) {
		load_mask(c, RCX, g->mask);
		/* bit e to bit 16: up by 16 - e, then byte 2 without its rest */
		for (k = e; k < 16; k++)
			emit_lea_sib(c, RCX, RCX, RCX, 1, 0, 0);
		emit_store(c, REG_T, TO_TMP0, RCX);
		/* movzx ecx, byte [T+tmp0+2]: bits e.. ; keep bit 0: *128, ch */
		emit_byte(c, 0x41);
		emit_byte(c, 0x0f);
		emit_byte(c, 0xb6);
		emit_byte(c, 0x40u | RCX << 3 | (REG_T & 7));
		emit_byte(c, TO_TMP0 + 2);
		/* cl = bit0 * 128 alone: times 128, low byte */
		for (k = 0; k < 7; k++)
			emit_lea_sib(c, RCX, RCX, RCX, 1, 0, 0);
		emit_byte(c, 0x41);	/* mov [T+..], cl */
		emit_byte(c, 0x88);
		emit_byte(c, 0x80u | RCX << 3 | (REG_T & 7));
		emit_u32(c, TO_VEC + 64 + e);
	}
	(void)s;
}

/* Each element's address, or 0 where the mask holds it back. */
static void
gather_element(struct xlate *x, const struct gather *g, unsigned e, int s)
{
	const struct ref *r = &x->b->in[x->i].ref[0];
	struct code *c = &x->c;
	int32_t at = TO_VEC + (int32_t)(e * g->idxsize);
	uint8_t *skip;
	int base = r->base == NOREG ? NOIDX : r->base;

	test_element(x, g, e);
	emit_imm(c, s, 0);
	skip = emit_jrcxz(c);
	if (g->idxsize == 8)
		emit_load(c, s, REG_T, at);
	else
		emit_load32s(c, s, REG_T, at);
	if (base != NOIDX && (at_home(x, (unsigned)base) || base == RCX)) {
		emit_load(c, RCX, REG_T, HOME(base));
		base = RCX;
	}
	emit_lea_sib(c, s, base, s, r->scale, (int32_t)r->disp, r->a32);
	if (r->seg != 0) {
		emit_load(c, RCX, REG_T, r->seg == 4 ? TO_FSBASE : TO_GSBASE);
		emit_lea_sib(c, s, s, RCX, 1, 0, 0);
	}
	emit_patch8(skip, c->p);
	if (opt.kind == KIND_CACHE)
		filter_element(x, e, s);
	else
		record(x, x->g->gather[x->i] + e, s);
}

void
probe_gather(struct xlate *x)
{
	const struct gather *g = &x->b->in[x->i].gather;
	int s = xlate_scratch(x, BIT(RCX) | BIT(RAX));
	unsigned e;

	xlate_home(x, RCX);
	xlate_mark(x, x->i, MAP_BODY, 0);
	store_vector(&x->c, TO_VEC, g->vindex, g->vlen, g->evex);
	if (g->evex)
		spread_mask(x, g, s);
	else
		store_vector(&x->c, TO_VEC + 64, g->mask,
		    (unsigned)g->nelem * g->elemsize > 16 ? 32 : 16, 0);
	for (e = 0; e < g->nelem; e++)
		gather_element(x, g, e, s);
	xlate_reload(x, BIT(RCX));
}

/* -------------------------------------------------------- telling an exit */

/* jump to the exit's way out if REG_P is used up; flags are kept */
static void
check_interval(struct xlate *x, unsigned e)
{
	struct code *c = &x->c;
	uint8_t *on;

	emit_mov(c, RCX, REG_P);
	emit_bswap(c, RCX);
	emit_movzx8(c, RCX, RCX);
	on = emit_jrcxz(c);
	emit_load(c, RCX, REG_T, x->exit[e].kind == EXIT_INDIRECT ?
	    TO_TMP1 : HOME(RCX));
	if (x->exit[e].kind == EXIT_INDIRECT) {
		emit_jmp_mem(c, REG_T, TO_RT_MISS);
	} else {
		emit_store_simm(c, REG_T, TO_EXITNO,
		    (int32_t)(x->firstexit + e));
		emit_jmp_mem(c, REG_T, TO_RT_EXIT);
	}
	emit_patch8(on, c->p);
}

/* [T+at] += 1, by register r. */
static void
count_up(struct code *c, int32_t at, int r)
{
	emit_load(c, r, REG_T, at);
	emit_lea(c, r, r, 1);
	emit_store(c, REG_T, at, r);
}

/*
 * Which exit it was, for an address that none can be.  Where each exit makes
 * a record that is known without: see the runtime's dispatch_miss.
 */
static void
note_exit(struct xlate *x, unsigned e)
{
	emit_store_simm(&x->c, REG_T, TO_EXITNO, (int32_t)(x->firstexit + e));
}

/*
 * Kind cache: one more for the exit's counter, by a register that is at home
 * anyhow, if there is one.
 */
static void
count_plain(struct xlate *x, unsigned e)
{
	int32_t at = T_COUNT + 8 * (int32_t)x->cnt[x->exit[e].n];
	uint32_t free = x->homed & ~(x->exit[e].kind == EXIT_INDIRECT ?
	    BIT(RCX) : 0);
	int r = RCX;

	if (free != 0)
		r = __builtin_ctz(free);
	else
		xlate_home(x, r);
	xlate_mark_exit(x, e, MAP_EXIT);
	if (x->exit[e].kind == EXIT_INDIRECT)
		note_exit(x, e);
	count_up(&x->c, at, r);
}

/* One more for the counter of the exit's id. */
static void
count_exit(struct xlate *x, unsigned e)
{
	struct code *c = &x->c;
	int32_t at = T_COUNT + 8 * (int32_t)x->cnt[x->exit[e].n];
	int indirect = x->exit[e].kind == EXIT_INDIRECT;
	int to = indirect ? TO_TMP1 : HOME(RCX);
	int check = opt.interval != 0 || opt.kind == KIND_SKIP;

	if (indirect)
		note_exit(x, e);
	if (!indirect || check)
		emit_store(c, REG_T, to, RCX);
	if (!indirect) {
		x->homed |= BIT(RCX);
		xlate_mark_exit(x, e, MAP_EXIT);
	}
	if (opt.kind == KIND_COUNTS)
		count_up(c, at, indirect ? RAX : RCX);
	xlate_mark_exit(x, e, MAP_COUNTED);
	emit_lea(c, REG_P, REG_P, -(int32_t)x->exit[e].n);
	xlate_mark_exit(x, e, indirect && check ? MAP_LEFT_TMP : MAP_LEFT);
	if (check) {
		check_interval(x, e);
		emit_load(c, RCX, REG_T, to);
	} else if (!indirect) {
		emit_load(c, RCX, REG_T, to);
	}
	x->homed &= ~BIT(RCX) | (indirect ? BIT(RCX) : 0);
}

/*
 * Behind a return or an indirect jump: out by the runtime if the stack pointer
 * is above the window's.  rcx is the target, rax is free, flags are kept.
 */
void
probe_window(struct xlate *x, unsigned e)
{
	struct code *c = &x->c;
	uint8_t *on;

	emit_store(c, REG_T, TO_TMP1, RCX);
	xlate_mark_exit(x, e, MAP_LEFT_TMP);
	emit_load(c, RAX, REG_T, TO_WINDOW);
	emit_mov(c, RCX, RSP);
	emit_not(c, RCX);
	emit_lea_sib(c, RCX, RCX, RAX, 1, 1, 0);
	emit_bswap(c, RCX);		/* the top byte: 0, or of a negative one */
	emit_movzx8(c, RCX, RCX);
	on = emit_jrcxz(c);
	emit_load(c, RCX, REG_T, TO_TMP1);
	emit_jmp_mem(c, REG_T, TO_RT_MISS);
	emit_patch8(on, c->p);
	emit_load(c, RCX, REG_T, TO_TMP1);
}

void
probe_tell(struct xlate *x, unsigned e)
{
	unsigned n = x->exit[e].n, k = x->g->used[n];

	if (opt.kind == KIND_NONE || n == 0)
		return;
	if (opt.kind == KIND_OUT) {
		if (x->exit[e].kind == EXIT_INDIRECT)
			note_exit(x, e);
		return;
	}
	if (opt.kind == KIND_SKIP) {
		count_exit(x, e);
		return;
	}
	if (opt.kind == KIND_CACHE) {
		count_plain(x, e);
		return;
	}
	if (opt.kind == KIND_COUNTS) {
		count_exit(x, e);
		return;
	}
	emit_store_imm32(&x->c, REG_P, 0, x->id[n] | k << 24);
	emit_lea(&x->c, REG_P, REG_P, VALUE(k));
}
