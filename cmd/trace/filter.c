/*
 * filter - kind cache: the table that absorbs references
 *
 * Each thread has a table of lines for data and one for code: sets and ways,
 * least recently used lines make room.  What hits it hits every such cache of
 * as many sets and ways or more, so only misses go out, as records of their
 * own: first the line that leaves (Z), then the reference (Q).  What is done
 * here is what comes often; the rest is the runtime's, in runtime/table.c,
 * which also says what the table is made of.
 *
 * In line: is it the line used last in its set?
 *
 *	lea  8(%rdi),S; mov S,I; shr $6,I; and $63,I
 *	sub  last(T,I,8),S; cmp $64-size,S; ja cold
 *
 * One comparison finds another line, an empty set, and an access that goes
 * over the line's end.  In the cold part: a line that a hint finds (data), or
 * whose cell is not 0 (code), is used last from now on; all else goes to
 * rt_look.
 *
 * Where the guest's flags are alive they wait in rax (lahf, seto), and the map
 * says so.  What cannot be checked in this way (repeated, gathered, wider than
 * a line) always goes out, after the sets that it touches have been emptied.
 * Executions are counters.
 */
#include <htslib/khash.h>

#include <string.h>

#include "util.h"
#include "xlate.h"

KHASH_MAP_INIT_INT64(line, uint32_t)

static int32_t
code_slot(uint64_t line)
{
	return T_CODETAB + 4 * (int32_t)(line & (opt.sets - 1));
}

static int32_t
data_slot(uint64_t line)
{
	return T_DATATAB + 8 * (int32_t)(line & (opt.sets - 1));
}

/* Each code line has a cell, by number; 0: there are no more. */
static uint32_t
cell_of(uint64_t line)
{
	static khash_t(line) *cells;
	static uint32_t last;
	khiter_t k;
	int new;

	if (cells == NULL)
		cells = kh_init(line);
	k = kh_put(line, cells, line, &new);
	if (new)
		kh_value(cells, k) = last + 1 < CELLS ? ++last : 0;
	return kh_value(cells, k);
}

static int32_t
cell_at(uint32_t cell)
{
	return T_CELL + (int32_t)cell;
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
	emit_u32(c, 0xc0900f9f);	/* lahf; seto al */
	x->flags = 1;
	xlate_mark(x, x->i + x->after, MAP_BODY, 0);
}

static void
end(struct xlate *x)
{
	struct code *c = &x->c;

	if (!x->flags)
		return;
	emit_bytes(c, 0x9e7f04, 3);	/* add al, 7f; sahf */
	x->flags = 0;
	xlate_mark(x, x->i + x->after, MAP_BODY, 0);
}

static int
scratch(struct xlate *x, uint32_t avoid)
{
	return xlate_scratch(x, avoid | (x->flags ? BIT(RAX) : 0));
}

/* ----------------------------------------------------------- instructions */

/* and reg, imm (sign-extended); shr reg, n: both change flags */
static void
and_imm(struct code *c, int reg, int32_t v)
{
	unsigned head = (reg > 7 ? 0x49u : 0x48u) | 0x8100u |
	    (0xe0u | (unsigned)(reg & 7)) << 16;

	if (v == (int8_t)v)
		emit_bytes(c, head | 0x200u | (uint64_t)(uint8_t)v << 24, 4);
	else
		emit_bytes(c, head | (uint64_t)(uint32_t)v << 24, 7);
}

static void
shr_imm(struct code *c, int reg, unsigned n, int wide)
{
	emit_bytes(c, (wide ? 0x48u : 0x40u) | (reg > 7) | 0xc100u |
	    (0xe8u | (unsigned)(reg & 7)) << 16 | n << 24, 4);
}

static void
xor_reg(struct code *c, int reg, int with)
{
	emit_bytes(c, 0x48u | (with > 7 ? 4u : 0) | (reg > 7) | 0x3100u |
	    (0xc0u | (unsigned)(with & 7) << 3 | (unsigned)(reg & 7)) << 16, 3);
}

/*
 * op reg, [T + index * 8 + disp]: 8b load, 89 store, 03 add, 2b sub, 0b or,
 * 23 and, 39 compare
 */
static void
op_table(struct code *c, unsigned op, int reg, int index, int32_t disp)
{
	emit_bytes(c, 0x49u | (reg > 7 ? 4u : 0) | (index > 7 ? 2u : 0) |
	    op << 8 | (0x84u | (unsigned)(reg & 7) << 3) << 16 |
	    (0xc0u | (unsigned)(index & 7) << 3 | (REG_T & 7)) << 24 |
	    (uint64_t)(uint32_t)disp << 32, 8);
}

/* movzx reg, word [T + reg * 2 + disp] */
static void
load_hint(struct code *c, int reg)
{
	emit_byte(c, 0x41u | (reg > 7 ? 6 : 0));
	emit_bytes(c, 0xb70fu | (0x84u | (unsigned)(reg & 7) << 3) << 16 |
	    (0x40u | (unsigned)(reg & 7) << 3 | (REG_T & 7)) << 24 |
	    (uint64_t)(uint32_t)T_HINT << 32, 8);
}

/* cmp reg, imm */
static void
cmp_imm(struct code *c, int reg, int32_t v)
{
	emit_bytes(c, (reg > 7 ? 0x49u : 0x48u) | 0x8100u |
	    (0xf8u | (unsigned)(reg & 7)) << 16 |
	    (uint64_t)(uint32_t)v << 24, 7);
}

/* movzx reg, byte [T + disp] */
static void
load_cell(struct code *c, int reg, int32_t disp)
{
	emit_bytes(c, 0x41u | (reg > 7 ? 4u : 0) | 0xb60f00u |
	    (0x80u | (unsigned)(reg & 7) << 3 | (REG_T & 7)) << 24 |
	    (uint64_t)(uint32_t)disp << 32, 8);
}

/* cmp byte [T + disp], 0 */
static void
cmp_zero(struct code *c, int32_t disp)
{
	emit_bytes(c, 0x41u | 0x8000u | (0xb8u | (REG_T & 7)) << 16 |
	    (uint64_t)(uint32_t)disp << 24, 8);
}

static void
slot_index(struct code *c, int to, int from)
{
	emit_mov32(c, to, from);
	shr_imm(c, to, opt.lineshift, 0);
	and_imm(c, to, (int32_t)opt.sets - 1);
}

static void
out_header(struct code *c, uint32_t id, unsigned ngroups)
{
	emit_store_imm32(c, REG_P, 0, id | ngroups << 24);
	emit_lea(c, REG_P, REG_P, 4 + 8 * (int32_t)ngroups);
}

/* The place in v, less `from`, is used: u is its set's order. */
static void
use_place(struct code *c, int u, int v, int32_t from)
{
	op_table(c, 0x0b, u, v, T_USE_SETS - 8 * from);
	op_table(c, 0x23, u, v, T_USE_LEAVES - 8 * from);
}

/*
 * Have the runtime look: the address is in s, which is lost.  It goes on
 * behind this, all other registers as they were.
 */
static void
look(struct xlate *x, int s, unsigned kind, uint32_t head)
{
	struct code *c = &x->c;
	uint8_t *at;

	emit_store(c, REG_T, TO_LOOK_AT, s);
	emit_byte(c, s > 7 ? 0x4c : 0x48);	/* lea s, [rip + ..] */
	emit_byte(c, 0x8d);
	emit_byte(c, 0x05u | (unsigned)(s & 7) << 3);
	at = c->p;
	emit_u32(c, 0);
	emit_store(c, REG_T, TO_LOOK_ASKED, s);
	emit_jmp_mem(c, REG_T, TO_RT_LOOK);
	emit_patch32(at, c->p);
	emit_u32(c, head);
	emit_u32(c, kind);
}

static struct cold *
new_cold(struct xlate *x, enum coldkind kind, unsigned k, int stays)
{
	struct cold *d = &x->cold[x->ncold++];

	memset(d, 0, sizeof *d);
	d->kind = (uint8_t)kind;
	d->i = (uint8_t)x->i;
	d->id = def_ref_id(x->def, x, x->i, k, stays);
	d->homed = x->homed;
	d->flags = x->flags;
	return d;
}

/* ------------------------------------------------------------- code lines */

static void
check_line(struct xlate *x, uint64_t line, uint32_t cell, uint8_t **branch)
{
	struct code *c = &x->c;

	/* cmp dword [T + slot], cell */
	emit_bytes(c, 0x41u | 0x8100u | (0xb8u | (REG_T & 7)) << 16 |
	    (uint64_t)(uint32_t)code_slot(line) << 24, 7);
	emit_u32(c, cell);
	*branch = emit_jcc32(c, 5);
}

/* The lines that instruction x->i is fetched from, where they are new. */
static void
fetch(struct xlate *x)
{
	const struct insn *in = &x->b->in[x->i];
	uint64_t first = in->pc >> opt.lineshift;
	uint64_t last = (in->pc + in->len - 1) >> opt.lineshift;
	uint32_t cell[2] = { 0, 0 };
	struct cold *d;
	int all;

	if (last == x->line)
		return;
	cell[0] = cell_of(first);
	if (last != first)
		cell[1] = cell_of(last);
	all = cell[0] != 0 && (last == first || cell[1] != 0);
	begin(x);
	d = new_cold(x, COLD_FETCH, 0, all);
	d->addr = in->pc;
	d->two = last != first;
	if (all)
		memcpy(d->cell, cell, sizeof cell);
	if (!all) {
		d->branch[0] = emit_jmp32(&x->c);
	} else {
		if (first != x->line)
			check_line(x, first, cell[0], &d->branch[0]);
		if (last != first)
			check_line(x, last, cell[1], &d->branch[1]);
	}
	d->back = x->c.p;
	x->line = all ? last : ~0ull;
}

/* The line is used last of its set. */
static void
touch_line(struct xlate *x, uint64_t line, uint32_t cell, int s, int u)
{
	struct code *c = &x->c;
	int32_t order = T_IORDER + 8 * (int32_t)(line & (opt.sets - 1));

	load_cell(c, s, cell_at(cell));
	emit_load(c, u, REG_T, order);
	use_place(c, u, s, 1);
	emit_store(c, REG_T, order, u);
	emit_store_imm32(c, REG_T, code_slot(line), cell);
}

static void
cold_fetch(struct xlate *x, const struct cold *d)
{
	struct code *c = &x->c;
	uint64_t line = d->addr >> opt.lineshift;
	uint8_t *out[2] = { NULL, NULL }, *back = NULL;
	int s = scratch(x, 0), u;

	if (d->cell[0] != 0) {
		u = scratch(x, BIT(s));
		cmp_zero(c, cell_at(d->cell[0]));
		out[0] = emit_jcc8(c, 4);
		if (d->two) {
			cmp_zero(c, cell_at(d->cell[1]));
			out[1] = emit_jcc8(c, 4);
		}
		touch_line(x, line, d->cell[0], s, u);
		if (d->two)
			touch_line(x, line + 1, d->cell[1], s, u);
		back = emit_jmp8(c);
	}
	if (out[0] != NULL)
		emit_patch8(out[0], c->p);
	if (out[1] != NULL)
		emit_patch8(out[1], c->p);
	emit_imm(c, s, d->addr);
	look(x, s, LOOK_FETCH | (1u + d->two) << 8,
	    d->id | (d->cell[0] != 0 ? 1u << 24 : 0));
	emit_u32(c, d->cell[0]);
	emit_u32(c, d->cell[1]);
	if (back != NULL)
		emit_patch8(back, c->p);
}

/* -------------------------------------------------------------- data lines */

static unsigned
line_size(void)
{
	return 1u << opt.lineshift;
}

static void
check_static(struct xlate *x, const struct ref *r, unsigned k)
{
	struct code *c = &x->c;
	uint64_t a = (uint64_t)r->disp, line = a >> opt.lineshift;
	uint64_t last = (a + r->size - 1) >> opt.lineshift;
	int s = scratch(x, 0);
	struct cold *d;

	d = new_cold(x, r->size > line_size() ? COLD_WIDE : COLD_STATIC, k,
	    r->size <= line_size());
	d->s = (uint8_t)s;
	d->fixed = 1;
	d->addr = a;
	d->size = r->size;
	if (last != line) {
		d->kind = COLD_WIDE;
		d->branch[0] = emit_jmp32(c);
	} else {
		emit_imm(c, s, line << opt.lineshift);
		/* cmp [T + slot], s */
		emit_byte(c, 0x49u | (s > 7 ? 4 : 0));
		emit_byte(c, 0x39);
		emit_byte(c, 0x80u | (unsigned)(s & 7) << 3 | (REG_T & 7));
		emit_u32(c, (uint32_t)data_slot(line));
		d->branch[0] = emit_jcc32(c, 5);
	}
	d->back = c->p;
}

static void
check_data(struct xlate *x, const struct ref *r, unsigned k)
{
	struct code *c = &x->c;
	struct cold *d;
	int s = scratch(x, 0), t = scratch(x, BIT(s));
	int wide = r->size > line_size();

	probe_address(x, r, s, BIT(t));
	d = new_cold(x, wide ? COLD_WIDE : COLD_DATA, k, !wide);
	d->s = (uint8_t)s;
	d->t = (uint8_t)t;
	d->size = r->size;
	if (wide) {
		d->branch[0] = emit_jmp32(c);
	} else {
		slot_index(c, t, s);
		op_table(c, 0x2b, s, t, T_DATATAB);
		cmp_imm(c, s, (int32_t)(line_size() - r->size));
		d->branch[0] = emit_jcc32(c, 7);
	}
	d->back = c->p;
}

/* Is the line of the address in s where its hint says?  Else jump away. */
static uint8_t *
find_data(struct xlate *x, int s, int u, int v)
{
	struct code *c = &x->c;

	emit_mov(c, u, s);
	shr_imm(c, u, opt.lineshift, 1);
	emit_mov32(c, v, u);
	and_imm(c, v, (int32_t)TABLE_HINTS - 1);
	load_hint(c, v);
	op_table(c, 0x39, u, v, T_DTAG);
	return emit_jcc8(c, 5);
}

static void
cold_data(struct xlate *x, const struct cold *d)
{
	struct code *c = &x->c;
	int s = d->s, t = d->t, u, v;
	uint8_t *over = NULL, *other, *back;

	op_table(c, 0x03, s, t, T_DATATAB);
	u = scratch(x, BIT(s) | BIT(t));
	v = scratch(x, BIT(s) | BIT(t) | BIT(u));
	if (d->size > 1) {
		emit_lea(c, u, s, (int32_t)d->size - 1);
		xor_reg(c, u, s);
		shr_imm(c, u, opt.lineshift, 1);
		over = emit_jcc8(c, 5);
	}
	other = find_data(x, s, u, v);
	op_table(c, 0x8b, u, t, T_DORDER);
	and_imm(c, v, PLACES - 1);
	use_place(c, u, v, 0);
	op_table(c, 0x89, u, t, T_DORDER);
	and_imm(c, s, -(int32_t)line_size());
	op_table(c, 0x89, s, t, T_DATATAB);
	back = emit_jmp8(c);
	if (over != NULL)
		emit_patch8(over, c->p);
	emit_patch8(other, c->p);
	look(x, s, LOOK_DATA | (unsigned)d->size << 8, d->id | 1u << 24);
	emit_patch8(back, c->p);
}

static void
cold_static(struct xlate *x, const struct cold *d)
{
	struct code *c = &x->c;
	int s = d->s, u = scratch(x, BIT(s)), v;
	uint64_t line = d->addr >> opt.lineshift;
	int32_t order = T_DORDER + 8 * (int32_t)(line & (opt.sets - 1));
	uint8_t *other, *back;

	v = scratch(x, BIT(s) | BIT(u));
	emit_imm(c, s, d->addr);
	other = find_data(x, s, u, v);
	emit_load(c, u, REG_T, order);
	and_imm(c, v, PLACES - 1);
	use_place(c, u, v, 0);
	emit_store(c, REG_T, order, u);
	and_imm(c, s, -(int32_t)line_size());
	emit_store(c, REG_T, data_slot(line), s);
	back = emit_jmp8(c);
	emit_patch8(other, c->p);
	look(x, s, LOOK_DATA | (unsigned)d->size << 8, d->id | 1u << 24);
	emit_patch8(back, c->p);
}

/* Over a line's end at a fixed place, or larger than a line. */
static void
cold_wide(struct xlate *x, const struct cold *d)
{
	unsigned kind = d->size > line_size() ? LOOK_WIDE : LOOK_DATA;

	if (d->fixed)
		emit_imm(&x->c, d->s, d->addr);
	look(x, d->s, kind | (unsigned)d->size << 8,
	    d->id | (d->fixed && kind == LOOK_WIDE ? 0 : 1u << 24));
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
		look(x, scratch(x, 0), LOOK_ALL, 0);
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
	out_header(&x->c, def_ref_id(x->def, x, x->i, e + 1, 0), 1);
}

/*
 * Behind a repeated instruction, whose values lie at REG_P: the record goes
 * out.  The guest's flags are alive.
 */
void
filter_rep(struct xlate *x)
{
	const struct insn *in = &x->b->in[x->i];
	const struct refgroup *g = x->g->ref[x->i];
	unsigned first = x->g->used[x->i], n = in->nref;
	unsigned b = n > 1 ? g[1].group - first : 0;
	uint32_t free = ~x->homed & BIT(RDX);

	xlate_home(x, RDX);
	xlate_mark(x, x->i + 1, MAP_BODY, 2);
	look(x, RDX, LOOK_REP | LOOK_REP_BITS(n, g[0].count - first,
	    g[0].group - first, b, in->ref[0].size),
	    def_ref_id(x->def, x, x->i, 1, 0) | (n + 1) << 24);
	xlate_mark(x, x->i + 1, MAP_BODY, 0);
	xlate_reload(x, free);
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
		if (d->kind == COLD_FETCH)
			cold_fetch(x, d);
		else if (d->kind == COLD_STATIC)
			cold_static(x, d);
		else if (d->kind == COLD_DATA)
			cold_data(x, d);
		else
			cold_wide(x, d);
		xlate_reload(x, x->homed & ~d->homed);
		emit_patch32(emit_jmp32(c), d->back);
	}
	x->flags = 0;
}
