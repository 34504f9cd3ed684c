/*
 * filterdata - kind cache: is a line of data in the table?
 *
 * It is where its hint says, else the cold part has rt_data search for it.  A
 * hit sets the time of the line's last use:
 *
 *	lea  8(%rdi),S; bextr T,S,I; movswq hint(T,I,2),I
 *	sub  2(T,I,8),S; cmp $64-size,S; ja cold
 *	inc  P; mov P,10(T,I,8)
 *
 * REG_T itself tells bextr which bits to take, see tarea.h.  As Intel's
 * processors take twice as long for it, there it is `pext hint_mask(T),S,I'.
 * Without BMI, and for lines of other than 64 bytes, a shift and a mask do.
 *
 * A reference at a constant distance from the one before is mostly in the same
 * line, where S is the offset of that one:
 *
 *	lea  8(S),S; cmp $64-size,S; ja cold
 *
 * Where it is not, or the one before missed and S is large, it is looked up in
 * the cold part.  A reference in the bytes of the one before needs no code.
 *
 * A comparison with the set's most recently used line would be shorter, but it
 * fails up to a seventh of the time, which no processor can predict.
 */
#include "cpu.h"
#include "look.h"
#include "xlate/filter.h"

/* ----------------------------------------------------------- instructions */

/* op reg, [T + index * 8 + 2], a line's tag: 03 add, 2b sub, 39 cmp */
static void
op_tag(struct emitter *c, unsigned op, int reg, int index)
{
	emit_bytes(c, 0x49u | (reg > 7 ? 4u : 0) | (index > 7 ? 2u : 0) |
	    op << 8 | (0x44u | (unsigned)(reg & 7) << 3) << 16 |
	    (0xc0u | (unsigned)(index & 7) << 3 | (REG_T & 7)) << 24 |
	    (uint64_t)HINT_TAG << 32, 5);
}

/* mov [T + index * 8 + 10], P: a line is used now */
static void
store_stamp(struct emitter *c, int index)
{
	emit_bytes(c, 0x4du | (index > 7 ? 2u : 0) | 0x8900u |
	    (0x44u | (REG_P & 7) << 3) << 16 |
	    (0xc0u | (unsigned)(index & 7) << 3 | (REG_T & 7)) << 24 |
	    (uint64_t)(HINT_TAG + LINE_STAMP) << 32, 5);
}

_Static_assert(TO(hint_mask) > 0 && TO(hint) > 0 && TO(hint) < 128, "a byte");

/* t = the low bits of the line number of the address in s. */
static void
line_bits(struct emitter *c, int t, int s)
{
	bool pext = cpu_is_intel() && cpu_has(BMI2, "bmi2");
	bool bextr = opt->lineshift == HINT_SHIFT && cpu_has(BMI1, "bmi");
	uint64_t regs = (t > 7 ? 0 : 0x8000u) | (uint64_t)(t & 7) << 35;

	if (pext) {		/* pext t, s, [T + disp] */
		emit_bytes(c, 0x40f50242c4u | regs | (~(uint64_t)s & 15) << 19 |
		    (REG_T & 7ull) << 32 | (uint64_t)TO(hint_mask) << 40, 6);
	} else if (bextr) {	/* bextr t, s, T */
		emit_bytes(c, 0xc0f70042c4u | regs | (s > 7 ? 0 : 0x2000u) |
		    (~(uint64_t)REG_T & 15) << 19 | (uint64_t)(s & 7) << 32, 5);
	} else {
		emit_mov32(c, t, s);
		emit_shr32(c, t, opt->lineshift);
		emit_and32_imm(c, t, TABLE_HINTS - 1);
	}
}

/* movsx reg, word [T + reg * 2 + disp] */
static void
load_hint(struct emitter *c, int reg)
{
	emit_byte(c, 0x49u | (reg > 7 ? 6 : 0));
	emit_bytes(c, 0xbf0fu | (0x44u | (unsigned)(reg & 7) << 3) << 16 |
	    (0x40u | (unsigned)(reg & 7) << 3 | (REG_T & 7)) << 24 |
	    (uint64_t)TO(hint) << 32, 5);
}

/* movsx reg, word [T + disp] */
static void
load_known_hint(struct emitter *c, int reg, uint64_t line)
{
	int32_t disp = TO(hint) + 2 * (int32_t)(line % TABLE_HINTS);

	emit_bytes(c, 0x49u | (reg > 7 ? 4u : 0) | 0xbf0f00u |
	    (0x80u | (unsigned)(reg & 7) << 3 | (REG_T & 7)) << 24 |
	    (uint64_t)(uint32_t)disp << 32, 8);
}

/* ----------------------------------------------------------------- checks */

static void
check_static(struct xlate *x, const struct ref *r, unsigned k)
{
	struct emitter *c = &x->c;
	uint64_t a = (uint64_t)r->disp, line = a >> opt->lineshift;
	uint64_t last = (a + r->size - 1) >> opt->lineshift;
	int s = check_scratch(x, 0), t = check_scratch(x, BIT(s));
	struct cold_check *d;

	d = check_new(x, r->size > line_size() ? COLD_WIDE : COLD_DATA, k,
	    r->size <= line_size());
	d->s = (uint8_t)s;
	d->t = (uint8_t)t;
	d->fixed = true;
	d->addr = a;
	d->size = r->size;
	if (last != line) {
		d->kind = COLD_WIDE;
		d->branch[0] = emit_jmp32(c);
	} else {
		load_known_hint(c, t, line);
		emit_imm(c, s, line << opt->lineshift);
		op_tag(c, 0x39, s, t);
		d->branch[0] = emit_jcc32(c, 5);
		store_stamp(c, t);
	}
	d->back = c->p;
}

/*
 * Find the line of the address in s.  Its low bits select a hint, which gives
 * an index into the table.  One comparison detects both another line there and
 * an access across the line's end.
 */
static void
find_line(struct xlate *x, struct cold_check *d)
{
	struct emitter *c = &x->c;

	line_bits(c, d->t, d->s);
	load_hint(c, d->t);
	op_tag(c, 0x2b, d->s, d->t);
	emit_cmp_imm(c, d->s, (int32_t)(line_size() - d->size));
	d->branch[0] = emit_jcc32(c, 7);
	store_stamp(c, d->t);
	d->back = c->p;
}

static void
check_data(struct xlate *x, const struct ref *r, unsigned k)
{
	struct cold_check *d;
	int s = check_scratch(x, 0), t = check_scratch(x, BIT(s));
	bool wide = r->size > line_size();

	address_of(x, r, s, BIT(t));
	d = check_new(x, wide ? COLD_WIDE : COLD_DATA, k, !wide);
	d->s = (uint8_t)s;
	d->t = (uint8_t)t;
	d->size = r->size;
	if (wide) {
		d->branch[0] = emit_jmp32(&x->c);
		d->back = x->c.p;
		return;
	}
	find_line(x, d);
	x->before.reg = (uint8_t)s;
}

/* Is the reference near the one before, which is still known? */
static bool
is_near(const struct xlate *x, const struct refgroup *g, uint32_t size)
{
	int64_t far = g->off - x->before.off;

	return g->akin && x->before.reg != NOREG &&
	    (x->homed & BIT(x->before.reg)) && size <= line_size() &&
	    far > -(int64_t)line_size() && far < (int64_t)line_size();
}

/* Is it in the bytes of the one before?  Then there is nothing to do. */
static bool
is_inside(const struct xlate *x, const struct refgroup *g, uint32_t size)
{
	return is_near(x, g, size) && g->off >= x->before.off &&
	    g->off + size <= x->before.off + x->before.size;
}

/*
 * A reference near the one before is mostly in the same line, which that one
 * has just used.
 */
static void
check_near(struct xlate *x, unsigned j)
{
	const struct refgroup *g = &x->g->ref[x->i][j];
	const struct ref *r = &x->b->in[x->i].ref[j];
	int s = x->before.reg;
	struct cold_check *d = check_new(x, COLD_NEAR, j + 1, true);

	d->s = (uint8_t)s;
	d->ref = (uint8_t)j;
	d->size = r->size;
	d->keep = regs_copies(x);
	emit_lea(&x->c, s, s, (int32_t)(g->off - x->before.off));
	emit_cmp_imm(&x->c, s, (int32_t)(line_size() - r->size));
	d->branch[0] = emit_jcc32(&x->c, 7);
	d->back = x->c.p;
}

/* Reference j of the instruction. */
void
data_refer(struct xlate *x, unsigned j)
{
	const struct refgroup *g = &x->g->ref[x->i][j];
	const struct ref *r = &x->b->in[x->i].ref[j];
	bool fixed = r->form == REF_STATIC;
	static const struct refgroup alone;

	if (!fixed && is_inside(x, g, r->size))
		return;
	check_save_flags(x);
	check_use_data(x, fixed ? &alone : g, r->size);
	if (!fixed && is_near(x, g, r->size)) {
		check_near(x, j);
	} else {
		x->before.reg = NOREG;
		if (fixed)
			check_static(x, r, j + 1);
		else
			check_data(x, r, j + 1);
	}
	x->before.off = g->off;
	x->before.size = r->size;
}

/* -------------------------------------------------------------- cold code */

/* In another line, or the one before missed: look it up. */
static void
cold_near(struct xlate *x, const struct cold_check *d)
{
	int t;
	struct cold_check *e;

	check_reach(x, d);
	t = check_scratch(x, d->keep | BIT(d->s));
	address_of(x, &x->b->in[d->i].ref[d->ref], d->s, d->keep | BIT(t));
	e = &x->cold[x->ncold++];
	*e = *d;
	e->kind = COLD_DATA;
	e->t = (uint8_t)t;
	e->homed = x->homed;
	find_line(x, e);
	regs_reload(x, x->homed & ~d->homed);
	emit_patch32(emit_jmp32(&x->c), d->back);
}

/* The address that the check had. */
static void
cold_address(struct xlate *x, const struct cold_check *d)
{
	if (d->fixed)
		emit_imm(&x->c, d->s, d->addr);
	else if (d->kind == COLD_DATA)
		op_tag(&x->c, 0x03, d->s, d->t);
	emit_store(&x->c, REG_T, TO(pc), d->s);
}

/* In other cases than the next one's. */
static void
cold_data_arguments(struct xlate *x, const struct cold_check *d)
{
	uint8_t *at;

	look_align(&x->c);
	at = check_arguments(x, d, LOOK_DATA | LOOK_LINE_SIZE(d->size), 1);
	check_reach(x, d);
	cold_address(x, d);
	look_call(&x->c, TO(rt_look), at);
}

static void
cold_data(struct xlate *x, const struct cold_check *d)
{
	struct emitter *c = &x->c;

	if (d->size > LOOK_DATA_MOST) {
		cold_data_arguments(x, d);
		return;
	}
	check_reach(x, d);
	cold_address(x, d);
	emit_store_imm32(c, REG_T, TO(entry), look_place(c, d->back));
	emit_store_imm32(c, REG_T, TO(entry) + 4, look_data_word(d->id,
	    d->size));
	emit_jmp_mem(c, REG_T, TO(rt_data));
}

/* Larger than a line. */
static void
cold_wide(struct xlate *x, const struct cold_check *d)
{
	check_reach(x, d);
	if (d->fixed)
		emit_imm(&x->c, d->s, d->addr);
	check_look(x, d->s, LOOK_WIDE | LOOK_SIZE(d->size),
	    record_head(d->id, !d->fixed));
	emit_patch32(emit_jmp32(&x->c), d->back);
}

void
data_cold(struct xlate *x, const struct cold_check *d)
{
	if (d->kind == COLD_NEAR)
		cold_near(x, d);
	else if (d->size > line_size())
		cold_wide(x, d);
	else
		cold_data(x, d);
}
