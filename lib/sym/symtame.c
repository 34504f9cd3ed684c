/*
 * symtame - makes a line table one that libdw can read
 *
 * libdw keeps a row's column in 16 bits and its discriminator in 24, and
 * refuses all of a table that has a larger one. clang writes discriminators of
 * 32 bits for profiles by sampling (-fpseudo-probe-for-profiling), and programs
 * that write programs may make lines of any length. Nobody here asks for
 * either, so a larger one becomes 0, of as many bytes.
 *
 * What the linker threw away keeps its lines, mostly from address 0 on. Where
 * it is long it reaches addresses of code that is there; and as libdw sorts all
 * rows by address, nobody could tell them apart then. So a sequence of rows
 * that begins where there is no code is moved away as a whole.
 *
 * Both is done in memory that is ours (ELF_C_READ_MMAP_PRIVATE, or an image),
 * just before libdw reads the table; sym_dwfl_unread brings the file's bytes
 * back.
 */
#include "symunit.h"

#include <dwarf.h>
#include <string.h>

#define AWAY	((uint64_t)1 << 62)	/* no code is there */

enum { MOST_COLUMN = (1 << 16) - 1, MOST_DISCRIMINATOR = (1 << 24) - 1 };

struct bytes {
	uint8_t *p, *end;
};

/* A table: the number of operands of each opcode below base; its program. */
struct program {
	const uint8_t *operands;
	unsigned base;
	struct bytes code;
	uint64_t lo, hi;	/* where there is code */
	bool away;		/* the sequence is not of that */
};

/* 0 behind the end. */
static uint64_t
take(struct bytes *b, unsigned size)
{
	uint64_t v = 0;

	if ((size_t)(b->end - b->p) < size) {
		b->p = b->end;
		return 0;
	}
	memcpy(&v, b->p, size);		/* little-endian, as we are */
	b->p += size;
	return v;
}

static uint64_t
take_uleb(struct bytes *b)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t c;

	do {
		c = (uint8_t)take(b, 1);
		if (shift < 64)
			v |= (uint64_t)(c & 127) << shift;
		shift += 7;
	} while (c & 128);
	return v;
}

static void
tame_number(struct bytes *b, uint64_t most)
{
	uint8_t *start = b->p;

	if (take_uleb(b) <= most)
		return;
	memset(start, 128, (size_t)(b->p - start));
	b->p[-1] = 0;
}

/* The bytes of a part whose size is in front, as far as they are there. */
static struct bytes
take_part(struct bytes *b, uint64_t size)
{
	struct bytes part = *b;

	if (size < (size_t)(b->end - b->p))
		part.end = b->p + size;
	b->p = part.end;
	return part;
}

static void
tame_address(struct program *g, struct bytes *op)
{
	static const uint64_t away = AWAY;
	uint8_t *start = op->p;
	uint64_t addr = take(op, sizeof addr);

	if (op->p - start != sizeof addr)
		return;
	g->away |= addr < g->lo || addr > g->hi;
	if (g->away)
		memcpy(start, &away, sizeof away);
}

/* An extended opcode, behind its 0. */
static void
tame_extended(struct program *g)
{
	uint64_t size = take_uleb(&g->code);
	struct bytes op = take_part(&g->code, size);

	switch (take(&op, 1)) {
	case DW_LNE_end_sequence:
		g->away = false;
		break;
	case DW_LNE_set_address:
		tame_address(g, &op);
		break;
	case DW_LNE_set_discriminator:
		tame_number(&op, MOST_DISCRIMINATOR);
		break;
	}
}

static void
tame_program(struct program *g)
{
	struct bytes *b = &g->code;
	unsigned op, n;

	while (b->p < b->end) {
		op = *b->p++;
		if (op >= g->base)
			continue;
		if (op == 0)
			tame_extended(g);
		else if (op == DW_LNS_set_column)
			tame_number(b, MOST_COLUMN);
		else if (op == DW_LNS_fixed_advance_pc)
			take(b, 2);
		else
			for (n = g->operands[op]; n > 0; n--)
				take_uleb(b);
	}
}

/* The table at the beginning of these bytes. -1: it is cut off. */
static int
take_head(struct bytes b, struct program *g)
{
	unsigned offset = 4;
	uint64_t size = take(&b, 4), version;
	struct bytes head;

	if (size == 0xffffffff) {
		offset = 8;
		size = take(&b, 8);
	}
	g->code = take_part(&b, size);
	version = take(&g->code, 2);
	if (version >= 5)
		take(&g->code, 2);	/* sizes of addresses */
	size = take(&g->code, offset);
	head = take_part(&g->code, size);
	take(&head, version >= 4 ? 5 : 4);
	g->base = (unsigned)take(&head, 1);
	g->operands = head.p - 1;	/* opcode 1 is the first */
	return (size_t)(head.end - head.p) + 1 < g->base ? -1 : 0;
}

/* .debug_line, or .zdebug_line, which libdw has inflated */
static Elf_Data *
lines_section(Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	const char *name;
	size_t names;

	if (elf == NULL || elf_getshdrstrndx(elf, &names) < 0)
		return NULL;
	while ((scn = elf_nextscn(elf, scn)) != NULL)
		if (gelf_getshdr(scn, &sh) != NULL &&
		    sh.sh_type != SHT_NOBITS &&
		    (name = elf_strptr(elf, names, sh.sh_name)) != NULL &&
		    (strcmp(name, ".debug_line") == 0 ||
		    strcmp(name, ".zdebug_line") == 0))
			return elf_rawdata(scn, NULL);
	return NULL;
}

void
sym_tame(Dwarf *dwarf, Dwarf_Off off, uint64_t lo, uint64_t hi)
{
	Elf *elf = dwarf_getelf(dwarf);
	Elf_Data *data = lines_section(elf);
	const char *ident = elf_getident(elf, NULL);
	struct bytes b;
	struct program g = { .lo = lo, .hi = hi };

	if (data == NULL || data->d_buf == NULL || off >= data->d_size ||
	    ident == NULL || ident[EI_DATA] != ELFDATA2LSB)
		return;
	b.p = (uint8_t *)data->d_buf + off;
	b.end = (uint8_t *)data->d_buf + data->d_size;
	if (take_head(b, &g) == 0)
		tame_program(&g);
}
