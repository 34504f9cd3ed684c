/*
 * symtable - which line table has the lines of an address
 *
 * A unit names its table in .debug_info, the largest of all sections by far; if
 * that is compressed, inflating it takes more time than all else together. But
 * since DWARF 5 a line table is complete, with all its names, and
 * .debug_aranges has the addresses of each unit. Only which table belongs to
 * which unit is in neither. Compilers and linkers leave both in the same order:
 * so if there are as many tables as units with addresses, the first table is
 * the first unit's. The first use of a table checks this: it must have rows
 * among the unit's addresses.
 *
 * Any other object is left to its units: one that is not compressed, one with
 * tables of earlier versions, code by clang, which writes no .debug_aranges.
 */
#include "symunit.h"

#include <stdlib.h>
#include <string.h>

#include "base/range.h"
#include "mem.h"

/* The bytes of a section or of a part of it that are yet to be read. */
struct rest {
	const uint8_t *p, *end;
	bool bad;		/* something was cut off */
};

static uint64_t
take(struct rest *r, unsigned size)
{
	uint64_t v = 0;

	if ((size_t)(r->end - r->p) < size) {
		r->bad = true;
		r->p = r->end;
		return 0;
	}
	memcpy(&v, r->p, size);		/* little-endian, as we are */
	r->p += size;
	return v;
}

/* A part with its length in front. The 64-bit kind, ffffffff, is too long. */
static int
take_part(struct rest *r, struct rest *part)
{
	uint64_t length = take(r, 4);

	if (r->bad || length > (uint64_t)(r->end - r->p))
		return -1;
	*part = (struct rest){ r->p, r->p + length, false };
	r->p += length;
	return 0;
}

static int
read_tables(struct sym_tables *ts)
{
	struct rest r = { 0 }, part;
	const uint8_t *start;
	size_t size, cap = 0;
	uint64_t off;

	start = sym_image_section(&ts->image, ".debug_line", &size);
	if (start == NULL)
		return -1;
	r = (struct rest){ start, start + size, false };
	while (r.p < r.end) {
		off = (uint64_t)(r.p - start);
		if (take_part(&r, &part) < 0 || take(&part, 2) != 5)
			return -1;
		ts->table = xgrow(ts->table, &cap, ts->n + 1,
		    sizeof *ts->table);
		ts->table[ts->n++] = (struct sym_table){ .off = off };
	}
	return 0;
}

/*
 * A unit's addresses: of what the linker threw away, they are where there is
 * no code. *after is the end of the last unit, as units are in order.
 */
static int
read_unit(struct sym *s, struct rest *part, uint32_t no, uint64_t *after)
{
	struct sym_tables *ts = &s->tables;
	const uint8_t *start = part->p - 4;
	uint64_t unit, lo, size;

	if (take(part, 2) != 2)
		return -1;
	unit = take(part, 4);
	if (unit < *after || take(part, 1) != 8 || take(part, 1) != 0)
		return -1;
	*after = unit + 1;
	take(part, (unsigned)(start - part->p) & 15);	/* aligned to a pair */
	while (part->p < part->end) {
		lo = take(part, 8);
		size = take(part, 8);
		if (lo == 0 && size == 0)
			break;
		lo += ts->image.bias;
		if (lo >= s->textlo && lo < s->texthi && size <= s->texthi - lo)
			range_add(&ts->ranges, lo, lo + size, no);
	}
	return part->bad ? -1 : 0;
}

static int
read_units(struct sym *s)
{
	struct sym_tables *ts = &s->tables;
	struct rest r, part;
	const uint8_t *start;
	size_t size;
	uint64_t after = 0;
	uint32_t n = 0;

	start = sym_image_section(&ts->image, ".debug_aranges", &size);
	if (start == NULL)
		return -1;
	r = (struct rest){ start, start + size, false };
	while (r.p < r.end)
		if (take_part(&r, &part) < 0 ||
		    read_unit(s, &part, n++, &after) < 0)
			return -1;
	range_done(&ts->ranges);
	return n == ts->n ? 0 : -1;
}

bool
sym_tables(struct sym *s)
{
	static const char *const wanted[] = { ".debug_line",
	    ".debug_line_str", ".debug_str", ".debug_aranges", NULL };
	static const char *const none[] = { NULL };
	static const struct sym_sections lines = { wanted, none };
	struct sym_tables *ts = &s->tables;

	if (ts->asked)
		return ts->n > 0;
	ts->asked = true;
	if (sym_image(s, &lines, &ts->image) == 0 &&
	    (read_tables(ts) < 0 || read_units(s) < 0))
		sym_tables_close(s);
	return ts->n > 0;
}

void
sym_tables_close(struct sym *s)
{
	struct sym_tables *ts = &s->tables;
	size_t i;

	for (i = 0; i < ts->n; i++)
		sym_table_free(&ts->table[i]);
	free(ts->table);
	free(ts->ranges.v);
	sym_image_close(&ts->image);
	*ts = (struct sym_tables){ .asked = true };
}
