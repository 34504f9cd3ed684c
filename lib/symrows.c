/*
 * symrows - the rows of a line table that stands alone
 *
 * libdw takes some 450 instructions for each row, most of them to put rows in
 * order that are so already: for a short run, a third of all that is done when
 * the costs are there. What a row is takes few lines; so they are read here,
 * and libdw is left the names. It reads a table's rows and names at once: to
 * spare it the rows, their length is taken from the table, which is a copy.
 *
 * A table with anything unusual in it stays as it is, for libdw.
 */
#include "symunit.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

/* How many arguments the opcodes from 1 have; others are unusual. */
static const uint8_t arguments[] = { 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 };
#define NSTANDARD	(sizeof arguments)
#define HEADER		18		/* bytes before `arguments' */

struct machine {
	const uint8_t *p, *end;
	int least, base, range;		/* of a step: address, line */
	int unusual;
	struct sym_raw now;
};

/* libdw's rows hold no more than these: column, discriminator, isa. */
enum { MAXCOLUMN = 0xffff, MAXDISCRIMINATOR = 0xffffff, MAXISA = 0xff };

static struct sym_raw *rows;
static size_t nrows, caprows;

static void
row(struct machine *m, int end)
{
	rows = xgrow(rows, &caprows, nrows + 1, sizeof *rows);
	m->now.no = (uint32_t)nrows;
	m->now.end = end;
	rows[nrows++] = m->now;
}

static uint32_t
unsigned_leb(struct machine *m, uint32_t max)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t b;

	do {
		if (m->p == m->end || shift > 28) {
			m->unusual = 1;
			return 0;
		}
		b = *m->p++;
		v |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
	} while (b & 0x80);
	if (v > max)
		m->unusual = 1;
	return (uint32_t)v;
}

static int32_t
signed_leb(struct machine *m)
{
	int64_t v = 0;
	unsigned shift = 0;
	uint8_t b;

	do {
		if (m->p == m->end || shift > 28) {
			m->unusual = 1;
			return 0;
		}
		b = *m->p++;
		v |= (int64_t)(b & 0x7f) << shift;
		shift += 7;
	} while (b & 0x80);
	if (b & 0x40)
		v -= (int64_t)1 << shift;
	if (v != (int32_t)v)
		m->unusual = 1;
	return (int32_t)v;
}

static void
reset(struct machine *m)
{
	m->now = (struct sym_raw){ .file = 1, .line = 1 };
}

static void
extended(struct machine *m)
{
	size_t left = (size_t)(m->end - m->p);
	const uint8_t *next;

	if (left < 2 || m->p[0] == 0 || m->p[0] > left - 1) {
		m->unusual = 1;
		return;
	}
	next = m->p + 1 + m->p[0];
	switch (m->p[1]) {
	case DW_LNE_end_sequence:
		row(m, 1);
		reset(m);
		m->p += 2;
		break;
	case DW_LNE_set_address:
		if (m->p[0] == 9)
			memcpy(&m->now.addr, m->p + 2, 8);
		m->p += 10;
		break;
	case DW_LNE_set_discriminator:
		m->p += 2;
		unsigned_leb(m, MAXDISCRIMINATOR);
		break;
	default:
		m->unusual = 1;
	}
	if (m->p != next)
		m->unusual = 1;
}

static void
special(struct machine *m, int op)
{
	m->now.addr += (unsigned)(op / m->range * m->least);
	m->now.line += (uint32_t)(m->base + op % m->range);
}

static void	/* table */
standard(struct machine *m, int op, int first)
{
	switch (op) {
	case 0:
		extended(m);
		break;
	case DW_LNS_copy:
		row(m, 0);
		break;
	case DW_LNS_advance_pc:
		m->now.addr += unsigned_leb(m, INT32_MAX / 255) *
		    (unsigned)m->least;
		break;
	case DW_LNS_advance_line:
		m->now.line += (uint32_t)signed_leb(m);
		break;
	case DW_LNS_set_file:
		m->now.file = unsigned_leb(m, UINT32_MAX);
		break;
	case DW_LNS_set_column:
		unsigned_leb(m, MAXCOLUMN);
		break;
	case DW_LNS_const_add_pc:
		m->now.addr += (unsigned)((255 - first) / m->range * m->least);
		break;
	case DW_LNS_set_isa:
		unsigned_leb(m, MAXISA);
		break;
	case DW_LNS_negate_stmt:
	case DW_LNS_set_basic_block:
	case DW_LNS_set_prologue_end:
	case DW_LNS_set_epilogue_begin:
		break;
	default:		/* fixed_advance_pc, and what is not known */
		m->unusual = 1;
	}
}

/* As libdw has it: an end before what begins there, else as told. */
static int
order(const void *x, const void *y)
{
	const struct sym_raw *a = x, *b = y;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	if (a->end != b->end)
		return b->end - a->end;
	return a->no < b->no ? -1 : a->no > b->no;
}

static void
put_in_order(void)
{
	size_t i;

	for (i = 1; i < nrows; i++)
		if (order(&rows[i - 1], &rows[i]) > 0) {
			qsort(rows, nrows, sizeof *rows, order);
			break;
		}
	if (nrows > 0)
		rows[nrows - 1].end = 1;
}

/* The table at `off', whose length has been checked. */
int
sym_rows(struct sym_image *im, uint64_t off, const struct sym_raw **out,
    size_t *n)
{
	size_t size;
	uint8_t *t = (uint8_t *)sym_image_section(im, ".debug_line", &size) +
	    off;
	uint32_t length, header;
	struct machine m = { 0 };
	int op, first;

	memcpy(&length, t, 4);
	if (length < HEADER + NSTANDARD - 4)
		return -1;
	memcpy(&header, t + 8, 4);
	first = t[17];
	m.least = t[12];
	m.base = (int8_t)t[15];
	m.range = t[16];
	if (t[6] != 8 || t[7] != 0 || t[13] != 1 || m.range == 0 ||
	    first != NSTANDARD + 1 || header > length - 8 ||
	    header < HEADER + NSTANDARD - 12 ||
	    memcmp(t + HEADER, arguments, NSTANDARD) != 0)
		return -1;
	m.p = t + 12 + header;
	m.end = t + 4 + length;
	nrows = 0;
	reset(&m);
	while (m.p < m.end && !m.unusual) {
		op = *m.p++;
		if (op >= first) {
			special(&m, op - first);
			row(&m, 0);
		} else {
			standard(&m, op, first);
		}
	}
	if (m.unusual)
		return -1;
	put_in_order();
	length = header + 8;
	memcpy(t, &length, 4);
	*out = rows;
	*n = nrows;
	return 0;
}
