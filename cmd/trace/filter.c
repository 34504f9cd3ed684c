/*
 * filter - kind cache: the table that absorbs references
 *
 * Each thread has a table of the line last touched in each of N slots, for
 * data (the line's address) and for code (the low 32 bits of its number).
 * A reference whose lines are all there changes nothing in an LRU cache of N
 * or more sets, so only others go out, as records of their own, and enter
 * their lines:
 *
 *	lea  8(%rdi),S; mov S,I; shr $6,I; and $63,I
 *	sub  table(T,I,8),S; cmp $64-size,S; ja cold
 *
 * One comparison finds another line, an empty slot, and an access that goes
 * over the line's end.  Where the guest's flags are alive they wait in rax
 * (lahf, seto), and the map says so.  What cannot be checked in this way
 * (repeated, gathered, wider than a line) always goes out and empties the
 * data table.  Executions are counters.
 */
#include <htslib/khash.h>

#include <string.h>

#include "util.h"
#include "xlate.h"

KHASH_MAP_INIT_INT(line, uint64_t)

static khash_t(line) *lines;	/* low 32 bits of a code line -> the line */

static int32_t
code_slot(uint64_t line)
{
	return T_CODETAB + 4 * (int32_t)(line & (opt.lines - 1));
}

/* 1: another line of code has the same low bits: this one is never absorbed. */
static int
is_alias(uint64_t line)
{
	khiter_t k;
	int new;

	if (lines == NULL)
		lines = kh_init(line);
	k = kh_put(line, lines, (uint32_t)line, &new);
	if (new)
		kh_value(lines, k) = line;
	return kh_value(lines, k) != line;
}

/* ------------------------------------------------------------------ flags */

static void
begin(struct xlate *x)
{
	struct code *c = &x->c;

	if (x->deadflags[x->i + x->after] || x->flags)
		return;
	xlate_home(x, RAX);
	xlate_mark(x, x->i + x->after, MAP_BODY, 0);
	emit_byte(c, 0x9f);		/* lahf */
	emit_byte(c, 0x0f);		/* seto al */
	emit_byte(c, 0x90);
	emit_byte(c, 0xc0);
	x->flags = 1;
	xlate_mark(x, x->i + x->after, MAP_BODY, 0);
}

static void
end(struct xlate *x)
{
	struct code *c = &x->c;

	if (!x->flags)
		return;
	emit_byte(c, 0x04);		/* add al, 7f */
	emit_byte(c, 0x7f);
	emit_byte(c, 0x9e);		/* sahf */
	x->flags = 0;
	xlate_mark(x, x->i + x->after, MAP_BODY, 0);
}

static int
scratch(struct xlate *x, uint32_t avoid)
{
	return xlate_scratch(x, avoid | (x->flags ? BIT(RAX) : 0));
}

/* --------------------------------------------------------------- going out */

static struct cold *
new_cold(struct xlate *x, enum coldkind kind, unsigned k)
{
	struct cold *d = &x->cold[x->ncold++];

	memset(d, 0, sizeof *d);
	d->kind = (uint8_t)kind;
	d->i = (uint8_t)x->i;
	d->id = def_ref_id(x->def, x, x->i, k);
	d->homed = x->homed;
	d->flags = x->flags;
	return d;
}

/* and reg, imm (sign-extended); shr reg, n: both change flags */
static void
and_imm(struct code *c, int reg, int32_t v)
{
	emit_byte(c, reg > 7 ? 0x49 : 0x48);
	if (v >= -128 && v < 128) {
		emit_byte(c, 0x83);
		emit_byte(c, 0xe0u | (unsigned)(reg & 7));
		emit_byte(c, (uint8_t)v);
	} else {
		emit_byte(c, 0x81);
		emit_byte(c, 0xe0u | (unsigned)(reg & 7));
		emit_u32(c, (uint32_t)v);
	}
}

static void
shr_imm(struct code *c, int reg, unsigned n)
{
	emit_byte(c, reg > 7 ? 0x41 : 0x40);	/* 32 bits are enough */
	emit_byte(c, 0xc1);
	emit_byte(c, 0xe8u | (unsigned)(reg & 7));
	emit_byte(c, n);
}

/* op reg, [T + index * 8 + table]: 2b sub, 03 add, 89 store */
static void
op_table(struct code *c, unsigned op, int reg, int index)
{
	emit_byte(c, 0x49u | (reg > 7 ? 4 : 0) | (index > 7 ? 2 : 0));
	emit_byte(c, op);
	emit_byte(c, 0x84u | (unsigned)(reg & 7) << 3);
	emit_byte(c, 0xc0u | (unsigned)(index & 7) << 3 | (REG_T & 7));
	emit_u32(c, T_DATATAB);
}

static void
slot_index(struct code *c, int to, int from)
{
	emit_mov32(c, to, from);
	shr_imm(c, to, opt.lineshift);
	and_imm(c, to, (int32_t)opt.lines - 1);
}

static void
cmp_imm(struct code *c, int reg, int32_t v)
{
	emit_byte(c, reg > 7 ? 0x49 : 0x48);
	emit_byte(c, 0x81);
	emit_byte(c, 0xf8u | (unsigned)(reg & 7));
	emit_u32(c, (uint32_t)v);
}

static void
out_header(struct code *c, uint32_t id, unsigned ngroups)
{
	emit_store_imm32(c, REG_P, 0, id | ngroups << 24);
	emit_lea(c, REG_P, REG_P, 4 + 8 * (int32_t)ngroups);
}

/* All slots of the data table empty; s is free, flags are not kept. */
static void
empty_table(struct xlate *x, int s)
{
	struct code *c = &x->c;
	uint8_t *again;

	emit_imm(c, s, opt.lines);
	again = c->p;
	/* mov qword [T + s*8 + table - 8], EMPTY */
	emit_byte(c, 0x49u | (s > 7 ? 2 : 0));
	emit_byte(c, 0xc7);
	emit_byte(c, 0x84);
	emit_byte(c, 0xc0u | (unsigned)(s & 7) << 3 | (REG_T & 7));
	emit_u32(c, T_DATATAB - 8);
	emit_u32(c, 0x80000000u);
	emit_sub_imm(c, s, 1);
	emit_byte(c, 0x75);			/* jnz */
	emit_byte(c, (uint8_t)(again - (c->p + 1)));
}

/* ------------------------------------------------------------- code lines */

static void
check_line(struct xlate *x, uint64_t line, struct cold *d, unsigned which)
{
	struct code *c = &x->c;

	/* cmp dword [T + slot], low bits of the line's number */
	emit_byte(c, 0x41);
	emit_byte(c, 0x81);
	emit_byte(c, 0xb8u | (REG_T & 7));
	emit_u32(c, (uint32_t)code_slot(line));
	emit_u32(c, (uint32_t)line);
	d->branch[which] = emit_jcc32(c, 5);
}

/* The lines that instruction x->i is fetched from, where they are new. */
static void
fetch(struct xlate *x)
{
	const struct insn *in = &x->b->in[x->i];
	uint64_t first = in->pc >> opt.lineshift;
	uint64_t last = (in->pc + in->len - 1) >> opt.lineshift;
	struct cold *d;

	if (last == x->line)
		return;
	begin(x);
	d = new_cold(x, COLD_FETCH, 0);
	d->line[0] = first;
	d->line[1] = last;
	if (is_alias(first) || is_alias(last)) {
		d->kind = COLD_ALIAS;
		d->branch[0] = emit_jmp32(&x->c);
	} else {
		if (first != x->line)
			check_line(x, first, d, 0);
		if (last != first)
			check_line(x, last, d, 1);
	}
	d->back = x->c.p;
	x->line = last;
}

static void
cold_fetch(struct xlate *x, const struct cold *d)
{
	struct code *c = &x->c;
	unsigned i;

	out_header(c, d->id, 0);
	for (i = 0; i < 2; i++)
		emit_store_imm32(c, REG_T, code_slot(d->line[i]),
		    d->kind == COLD_ALIAS ? ~(uint32_t)d->line[i] :
		    (uint32_t)d->line[i]);
}

/* -------------------------------------------------------------- data lines */

static void
check_static(struct xlate *x, const struct ref *r, unsigned k)
{
	struct code *c = &x->c;
	uint64_t a = (uint64_t)r->disp, line = a >> opt.lineshift;
	uint64_t last = (a + r->size - 1) >> opt.lineshift;
	int s = scratch(x, 0);
	struct cold *d = new_cold(x, COLD_STATIC, k);
	unsigned i;

	d->s = (uint8_t)s;
	d->line[0] = line;
	d->line[1] = last;
	for (i = 0; i < (last != line ? 2 : 1); i++) {
		emit_imm(c, s, d->line[i] << opt.lineshift);
		/* cmp [T + slot], s */
		emit_byte(c, 0x49u | (s > 7 ? 4 : 0));
		emit_byte(c, 0x39);
		emit_byte(c, 0x80u | (unsigned)(s & 7) << 3 | (REG_T & 7));
		emit_u32(c, T_DATATAB + 8 * (uint32_t)(d->line[i] &
		    (opt.lines - 1)));
		d->branch[i] = emit_jcc32(c, 5);
	}
	d->back = c->p;
}

static void
cold_static(struct xlate *x, const struct cold *d)
{
	struct code *c = &x->c;
	unsigned i;

	out_header(c, d->id, 0);
	for (i = 0; i < 2; i++) {
		emit_imm(c, d->s, d->line[i] << opt.lineshift);
		emit_store(c, REG_T, T_DATATAB + 8 * (int32_t)(d->line[i] &
		    (opt.lines - 1)), d->s);
	}
}

static void
check_data(struct xlate *x, const struct ref *r, unsigned k)
{
	struct code *c = &x->c;
	struct cold *d;
	int s = scratch(x, 0), t = scratch(x, BIT(s));

	probe_address(x, r, s, BIT(t));
	d = new_cold(x, r->size > 1u << opt.lineshift ? COLD_WIDE : COLD_DATA,
	    k);
	d->s = (uint8_t)s;
	d->t = (uint8_t)t;
	d->size = r->size;
	if (d->kind == COLD_WIDE) {
		d->branch[0] = emit_jmp32(c);
	} else {
		slot_index(c, t, s);
		op_table(c, 0x2b, s, t);
		cmp_imm(c, s, (1 << opt.lineshift) - (int32_t)r->size);
		d->branch[0] = emit_jcc32(c, 7);
	}
	d->back = c->p;
}

static void
cold_data(struct xlate *x, const struct cold *d)
{
	struct code *c = &x->c;
	int32_t mask = -(1 << opt.lineshift);

	if (d->kind == COLD_DATA)
		op_table(c, 0x03, d->s, d->t);
	emit_store(c, REG_P, 4, d->s);
	out_header(c, d->id, 1);
	if (d->kind == COLD_WIDE) {
		empty_table(x, d->s);
		return;
	}
	and_imm(c, d->s, mask);
	op_table(c, 0x89, d->s, d->t);
	if (d->size == 1)
		return;
	emit_load(c, d->s, REG_P, -8);
	emit_lea(c, d->s, d->s, (int32_t)d->size - 1);
	slot_index(c, d->t, d->s);
	and_imm(c, d->s, mask);
	op_table(c, 0x89, d->s, d->t);
}

/* ----------------------------------------------------------------- outside */

void
filter_refs(struct xlate *x)
{
	const struct insn *in = &x->b->in[x->i];
	unsigned j;

	fetch(x);
	if (in->special == SP_GATHER) {
		begin(x);
		probe_gather(x);
		end(x);
		return;
	}
	if (in->special == SP_REP || in->special == SP_REPCMP) {
		end(x);
		return;
	}
	for (j = 0; j < in->nref; j++) {
		begin(x);
		if (in->ref[j].form == REF_STATIC)
			check_static(x, &in->ref[j], j + 1);
		else
			check_data(x, &in->ref[j], j + 1);
	}
	end(x);
}

/* A gathered element's address, or 0, is in s. */
void
filter_element(struct xlate *x, unsigned e, int s)
{
	emit_store(&x->c, REG_P, 4, s);
	out_header(&x->c, def_ref_id(x->def, x, x->i, e + 1), 1);
}

/* What went out without a check touched who knows which lines. */
void
filter_empty(struct xlate *x)
{
	int live = !x->deadflags[x->i + x->after] && !x->flags, s;

	if (live)
		begin(x);
	s = scratch(x, 0);
	empty_table(x, s);
	if (live)
		end(x);
}

/* Behind a repeated instruction whose values lie at REG_P. */
void
filter_rep(struct xlate *x)
{
	const struct insn *in = &x->b->in[x->i];

	out_header(&x->c, def_ref_id(x->def, x, x->i, 1), in->nref + 1u);
}

/* The cold parts of all checks. */
void
filter_cold(struct xlate *x)
{
	struct code *c = &x->c;
	const struct cold *d;
	unsigned i, j;

	for (i = 0; i < x->ncold; i++) {
		d = &x->cold[i];
		x->i = d->i;
		x->homed = d->homed;
		x->flags = d->flags;
		xlate_mark(x, d->i, MAP_BODY, 0);
		for (j = 0; j < 2; j++)
			if (d->branch[j] != NULL)
				emit_patch32(d->branch[j], c->p);
		if (d->kind == COLD_FETCH || d->kind == COLD_ALIAS)
			cold_fetch(x, d);
		else if (d->kind == COLD_STATIC)
			cold_static(x, d);
		else
			cold_data(x, d);
		emit_patch32(emit_jmp32(c), d->back);
	}
	x->flags = 0;
}
