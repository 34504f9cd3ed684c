/*
 * filter - kind cache: the table that absorbs references
 *
 * Each thread has a table of lines for data and one for code: sets and ways,
 * the least recently used line of a set makes room.  A reference that hits it
 * also hits every such cache of as many sets and ways or more.  So only misses
 * go into the stream, each as a record of its own (Q), which names the way that
 * the line enters.  Fragments do what comes often; runtime/table.c does the
 * rest, and describes the table.
 *
 * The code in line asks whether the table holds the line.  A data line is where
 * its hint says, else the cold part has rt_data search for it; a code line is
 * there if its cell is not 0.  A hit sets the time of the line's last use:
 *
 *	lea  8(%rdi),S; bextr T,S,I; movswq hint(T,I,2),I
 *	sub  2(T,I,8),S; cmp $64-size,S; ja cold
 *	inc  P; mov P,10(T,I,8)
 *
 * REG_T itself tells bextr which bits to take, see shared.h.  As Intel's
 * processors take twice as long for it, there it is `pext hint_mask(T),S,I'.
 * Without BMI, and for lines of other than 64 bytes, a shift and a mask do.
 *
 * P is the clock, since only the runtime writes records here.  It need not tick
 * between uses whose lines are the same or in different sets: references whose
 * addresses differ by a small constant, and lines of code close to each other.
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
 *
 * Where the guest's flags are alive they are saved in rax (lahf, seto), and the
 * map says so.  References that cannot be checked in this way (repeated,
 * gathered, wider than a line) always go into the stream, after the sets that
 * they touch have been emptied.  Executions are counted by counters.
 */
#include <htslib/khash.h>

#include <string.h>

#include "cpu.h"
#include "xlate/parts.h"
#include "mem.h"

KHASH_MAP_INIT_INT64(line, uint32_t)

/* The code lines that have cells: the first has number 1. */
static uint64_t *cells;
static size_t ncells, capcells;

/* The number of a code line's cell; 0: there are no more cells. */
static uint32_t
cell_of(uint64_t line)
{
	static khash_t(line) *numbers;
	khiter_t k;
	int new;

	if (numbers == NULL)
		numbers = kh_init(line);
	k = kh_put(line, numbers, line, &new);
	if (!new)
		return kh_value(numbers, k);
	kh_value(numbers, k) = 0;
	if (ncells + 1 < CELLS) {
		cells = xgrow(cells, &capcells, ncells + 1, sizeof *cells);
		cells[ncells++] = line;
		kh_value(numbers, k) = (uint32_t)ncells;
	}
	return kh_value(numbers, k);
}

const uint64_t *
filter_cells(uint32_t *n)
{
	*n = (uint32_t)ncells;
	return cells;
}

void
filter_put_cells(const uint64_t *lines, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		cell_of(lines[i]);
}

static int32_t
cell_at(uint32_t cell)
{
	return T_CELL + 8 * (int32_t)cell;
}

/* ------------------------------------------------------------------ flags */

static void
save_flags(struct xlate *x)
{
	struct emitter *c = &x->c;

	if (x->deadflags[x->i] || x->flags_in_rax)
		return;
	regs_home(x, RAX);
	mark(x, x->i, MAP_BODY, 0);
	emit_save_flags(c);
	x->flags_in_rax = true;
	mark(x, x->i, MAP_BODY, 0);
}

static void
restore_flags(struct xlate *x)
{
	struct emitter *c = &x->c;

	if (!x->flags_in_rax)
		return;
	emit_restore_flags(c);
	x->flags_in_rax = false;
	mark(x, x->i, MAP_BODY, 0);
}

static int
scratch(struct xlate *x, uint32_t avoid)
{
	return regs_scratch(x, avoid | (x->flags_in_rax ? BIT(RAX) : 0));
}

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

/* cmp qword [T + disp], 0 */
static void
cmp_zero(struct emitter *c, int32_t disp)
{
	emit_bytes(c, 0x49u | 0x8300u | (0xb8u | (REG_T & 7)) << 16 |
	    (uint64_t)(uint32_t)disp << 24, 8);
}

/* ------------------------------------------------------------------ clock */

static void
tick(struct xlate *x)
{
	/* inc P: the flags are free here */
	emit_bytes(&x->c, 0xc0ff49u | (REG_P & 7) << 16, 3);
	x->ticks = true;
	x->code.lo = x->code.hi = x->data.lo = x->data.hi = 0;
}

/* Lines first to last of code are used now. */
static void
use_code(struct xlate *x, int64_t first, int64_t last)
{
	int64_t lo = first < x->code.lo ? first : x->code.lo;
	int64_t hi = last >= x->code.hi ? last + 1 : x->code.hi;

	if (!x->ticks || (x->code.lo != x->code.hi && hi - lo > opt->sets))
		tick(x);
	if (x->code.lo == x->code.hi) {
		lo = first;
		hi = last + 1;
	}
	x->code.lo = lo;
	x->code.hi = hi;
}

/*
 * Data is used now, of so many bytes.  If it and what was used since the last
 * tick lie within as many lines as there are sets, less one, no two of them are
 * different lines of a set.
 */
static void
use_data(struct xlate *x, const struct refgroup *g, int64_t size)
{
	int64_t lo = g->off < x->data.lo ? g->off : x->data.lo;
	int64_t hi = g->off + size > x->data.hi ? g->off + size : x->data.hi;

	if (!x->ticks || (x->data.lo != x->data.hi && (!g->akin ||
	    hi - lo > (opt->sets - 1) << opt->lineshift)))
		tick(x);
	if (x->data.lo == x->data.hi) {
		lo = g->off;
		hi = lo + size;
	}
	x->data.lo = lo;
	x->data.hi = hi;
}

/* Have the runtime look at the address in s, and go on behind this code. */
static void
look_address(struct xlate *x, int s, unsigned kind, uint32_t head)
{
	emit_store(&x->c, REG_T, TO(pc), s);
	look(&x->c, head, kind);
}

/* The arguments of a look-up of lines; a fetch has more.  Returns where. */
static uint8_t *
arguments(struct xlate *x, const struct cold_check *d, unsigned kind,
    bool stays)
{
	uint8_t *at = x->c.p;

	emit_u32(&x->c, record_head(d->id, stays));
	emit_u32(&x->c, kind | look_back((int)(d->back - at)));
	return at;
}

/* The code for a check begins here. */
static void
reach(struct xlate *x, const struct cold_check *d)
{
	unsigned j;

	for (j = 0; j < 2; j++)
		if (d->branch[j] != NULL)
			emit_patch32(d->branch[j], x->c.p);
}

static struct cold_check *
new_cold(struct xlate *x, enum cold_kind kind, unsigned k, bool stays)
{
	struct cold_check *d = &x->cold[x->ncold++];

	memset(d, 0, sizeof *d);
	d->kind = (uint8_t)kind;
	d->i = (uint8_t)x->i;
	d->id = def_ref_id(x->def, x, x->i, k, stays);
	d->homed = x->homed;
	d->flags_in_rax = x->flags_in_rax;
	return d;
}

/* ------------------------------------------------------------- code lines */

/* The check of one line or two; ask: the first may be missing. */
static void
fetch_lines(struct xlate *x, struct cold_check *d, bool ask)
{
	struct emitter *c = &x->c;

	if (ask) {
		cmp_zero(c, cell_at(d->cell[0]));
		d->branch[0] = emit_jcc32(c, 4);
	}
	if (d->two) {
		cmp_zero(c, cell_at(d->cell[1]));
		d->branch[1] = emit_jcc32(c, 4);
	}
	emit_store(c, REG_T, cell_at(d->cell[0]), REG_P);
	if (d->two)
		emit_store(c, REG_T, cell_at(d->cell[1]), REG_P);
}

/* Use the lines that instruction x->i is fetched from, unless just used. */
static void
fetch(struct xlate *x)
{
	const struct insn *in = &x->b->in[x->i];
	uint64_t first = in->pc >> opt->lineshift;
	uint64_t last = (in->pc + in->len - 1) >> opt->lineshift;
	uint32_t cell[2] = { 0, 0 };
	struct cold_check *d;
	bool all;

	if (last == x->line)
		return;
	x->before.reg = NOREG;	/* a miss may empty the table */
	cell[0] = cell_of(first);
	if (last != first)
		cell[1] = cell_of(last);
	all = cell[0] != 0 && (last == first || cell[1] != 0);
	save_flags(x);
	use_code(x, (int64_t)first, (int64_t)last);
	d = new_cold(x, COLD_FETCH, 0, all);
	d->addr = in->pc;
	d->two = last != first;
	d->keep = regs_copies(x);
	if (all) {
		memcpy(d->cell, cell, sizeof cell);
		fetch_lines(x, d, first != x->line);
	} else {
		d->branch[0] = emit_jmp32(&x->c);
	}
	d->back = x->c.p;
	x->line = all ? last : ~0ull;
}

static void
cold_fetch(struct xlate *x, const struct cold_check *d)
{
	struct emitter *c = &x->c;
	uint8_t *at = arguments(x, d, LOOK_FETCH | LOOK_LINE_SIZE(1u + d->two),
	    d->cell[0] != 0);

	emit_u64(c, d->addr);
	emit_u32(c, d->cell[0]);
	if (d->two)
		emit_u32(c, d->cell[1]);
	reach(x, d);
	look_call(c, TO(rt_fetch), at);
}

/* -------------------------------------------------------------- data lines */

static unsigned
line_size(void)
{
	return 1u << opt->lineshift;
}

static void
check_static(struct xlate *x, const struct ref *r, unsigned k)
{
	struct emitter *c = &x->c;
	uint64_t a = (uint64_t)r->disp, line = a >> opt->lineshift;
	uint64_t last = (a + r->size - 1) >> opt->lineshift;
	int s = scratch(x, 0), t = scratch(x, BIT(s));
	struct cold_check *d;

	d = new_cold(x, r->size > line_size() ? COLD_WIDE : COLD_DATA, k,
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
	int s = scratch(x, 0), t = scratch(x, BIT(s));
	bool wide = r->size > line_size();

	address_of(x, r, s, BIT(t));
	d = new_cold(x, wide ? COLD_WIDE : COLD_DATA, k, !wide);
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
	struct cold_check *d = new_cold(x, COLD_NEAR, j + 1, true);

	d->s = (uint8_t)s;
	d->ref = (uint8_t)j;
	d->size = r->size;
	d->keep = regs_copies(x);
	emit_lea(&x->c, s, s, (int32_t)(g->off - x->before.off));
	emit_cmp_imm(&x->c, s, (int32_t)(line_size() - r->size));
	d->branch[0] = emit_jcc32(&x->c, 7);
	d->back = x->c.p;
}

/* In another line, or the one before missed: look it up. */
static void
cold_near(struct xlate *x, const struct cold_check *d)
{
	int t;
	struct cold_check *e;

	reach(x, d);
	t = scratch(x, d->keep | BIT(d->s));
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
	at = arguments(x, d, LOOK_DATA | LOOK_LINE_SIZE(d->size), 1);
	reach(x, d);
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
	reach(x, d);
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
	reach(x, d);
	if (d->fixed)
		emit_imm(&x->c, d->s, d->addr);
	look_address(x, d->s, LOOK_WIDE | LOOK_SIZE(d->size),
	    record_head(d->id, !d->fixed));
	emit_patch32(emit_jmp32(&x->c), d->back);
}

/* ----------------------------------------------------------------- outside */

/* Reference j of the instruction. */
static void
refer(struct xlate *x, unsigned j)
{
	const struct refgroup *g = &x->g->ref[x->i][j];
	const struct ref *r = &x->b->in[x->i].ref[j];
	bool fixed = r->form == REF_STATIC;
	static const struct refgroup alone;

	if (!fixed && is_inside(x, g, r->size))
		return;
	save_flags(x);
	use_data(x, fixed ? &alone : g, r->size);
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

void
filter_refer(struct xlate *x)
{
	const struct insn *in = &x->b->in[x->i];
	unsigned j;

	fetch(x);
	if (in->special == SP_GATHER) {
		x->before.reg = NOREG;
		save_flags(x);
		look(&x->c, 0, LOOK_ALL);
		gather(x);
		restore_flags(x);
		return;
	}
	if (in->special == SP_REP || in->special == SP_REPCMP) {
		x->before.reg = NOREG;
		restore_flags(x);
		return;
	}
	for (j = 0; j < in->nref; j++)
		refer(x, j);
	restore_flags(x);
}

/*
 * The address of a gathered element is in s; 0: it is masked out.  The table is
 * empty.
 */
void
filter_element(struct xlate *x, unsigned e, int s)
{
	const struct ref *r = &x->b->in[x->i].ref[0];

	if (counts_refs())
		refs_element(x, s);
	look_address(x, s, LOOK_WIDE | LOOK_SIZE(r->size),
	    record_head(def_ref_id(x->def, x, x->i, e + 1, false), 1));
}

void
filter_rep_before(struct xlate *x)
{
	const struct insn *in = &x->b->in[x->i];
	unsigned j;

	for (j = 0; j < in->nref; j++)
		record_address(x, &in->ref[j], x->g->ref[x->i][j].group);
	rep_before(x);
}

/*
 * Behind a repeated instruction, whose values lie in vec: write its record.
 * The guest's flags are alive.
 */
static void
rep_out(struct xlate *x)
{
	const struct insn *in = &x->b->in[x->i];
	const struct refgroup *g = x->g->ref[x->i];
	unsigned first = x->g->used[x->i], n = in->nref;
	unsigned b = n > 1 ? g[1].group - first : 0, j;

	mark(x, x->i + 1, MAP_BODY, 2);
	look(&x->c, record_head(def_ref_id(x->def, x, x->i, 1, false), n + 1),
	    LOOK_REP | LOOK_REP_BITS(n, g[0].count - first,
	    g[0].group - first, b, in->ref[0].size));
	for (j = 1; j <= 2; j++)
		emit_u32(&x->c, j > n ? 0 : record_head(def_ref_id(x->def, x,
		    x->i, j, true), 1));
	mark(x, x->i + 1, MAP_BODY, 0);
}

void
filter_rep_after(struct xlate *x)
{
	bool early = rep_count(x);

	rep_out(x);
	mark(x, x->i + 1, MAP_BODY, 0);
	if (early)
		regs_reload(x, BIT(RDX) | BIT(RBX));
}

/* Is its cold code nothing but a look-up, whose length handlers know? */
static bool
only_looks(const struct cold_check *d)
{
	return d->kind == COLD_FETCH || (d->kind == COLD_DATA && !d->fixed &&
	    d->size <= LOOK_DATA_MOST);
}

/* Any other cold code has a map entry of its own. */
static void
write_other(struct xlate *x, const struct cold_check *d)
{
	x->i = d->i;
	x->homed = d->homed;
	x->flags_in_rax = d->flags_in_rax;
	mark(x, d->i, MAP_BODY, 0);
	if (d->kind == COLD_NEAR)
		cold_near(x, d);
	else if (d->size > line_size())
		cold_wide(x, d);
	else
		cold_data(x, d);
}

/* Write the cold code of all checks. */
void
filter_cold(struct xlate *x)
{
	const struct cold_check *d;
	unsigned i;

	for (i = 0; i < x->ncold; i++)
		if (!only_looks(&x->cold[i]))
			write_other(x, &x->cold[i]);
	look_align(&x->c);
	mark_looks(x, false);
	for (d = x->cold; d < x->cold + x->ncold; d++)
		if (d->kind == COLD_FETCH)
			cold_fetch(x, d);
	mark_looks(x, true);
	for (d = x->cold; d < x->cold + x->ncold; d++)
		if (d->kind != COLD_FETCH && only_looks(d))
			cold_data(x, d);
	x->flags_in_rax = false;
}
