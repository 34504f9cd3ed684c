/*
 * filtercode - kind cache: is a line of code in the table?
 *
 * It is if its cell is not 0: the time of its last use.  Lines have the numbers
 * of their cells from their first translation on.
 */

#include <string.h>

#include "khash.h"
#include "look.h"
#include "mem.h"
#include "xlate/filter.h"

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

/* cmp qword [T + disp], 0 */
static void
cmp_zero(struct emitter *c, int32_t disp)
{
	emit_bytes(c, 0x49u | 0x8300u | (0xb8u | (REG_T & 7)) << 16 |
	    (uint64_t)(uint32_t)disp << 24, 8);
}

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

void
fetch_check(struct xlate *x)
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
	check_save_flags(x);
	check_use_code(x, (int64_t)first, (int64_t)last);
	d = check_new(x, COLD_FETCH, 0, all);
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

void
fetch_cold(struct xlate *x, const struct cold_check *d)
{
	struct emitter *c = &x->c;
	uint8_t *at = check_arguments(x, d, LOOK_FETCH |
	    LOOK_LINE_SIZE(1u + d->two), d->cell[0] != 0);

	emit_u64(c, d->addr);
	emit_u32(c, d->cell[0]);
	if (d->two)
		emit_u32(c, d->cell[1]);
	check_reach(x, d);
	look_call(c, TO(rt_fetch), at);
}
