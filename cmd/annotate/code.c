/*
 * code - instructions of an object file, disassembled
 */
#include "code.h"

#include <Zydis/Zydis.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "in.h"
#include "mem.h"
#include "segments.h"

struct code_segment {		/* a loaded, executable segment */
	uint64_t addr, len;
	const unsigned char *data;
};

struct object_code {
	struct sym *sym;
	Elf *elf;
	int fd;
	struct code_segment *segment;
	size_t nsegment, cap;
	ZydisDecoder decoder;
	ZydisFormatter formatter;
};

static bool
load_segments(struct object_code *c)
{
	GElf_Ehdr eh;
	GElf_Phdr ph;
	Elf_Data *data;

	if (!gelf_getehdr(c->elf, &eh) || eh.e_machine != EM_X86_64)
		return false;
	for (size_t i = 0; segment_next_code(c->elf, &i, &ph); ) {
		if (!ph.p_filesz)
			continue;
		data = elf_getdata_rawchunk(c->elf, (int64_t)ph.p_offset,
		    ph.p_filesz, ELF_T_BYTE);
		if (!data)
			continue;
		c->segment = xgrow(c->segment, &c->cap, c->nsegment + 1,
		    sizeof *c->segment);
		c->segment[c->nsegment++] = (struct code_segment){ ph.p_vaddr,
		    data->d_size, data->d_buf };
	}
	return c->nsegment > 0;
}

static void
code_close(struct object_code *c)
{
	if (c->sym)
		sym_close(c->sym);
	if (c->elf)
		elf_end(c->elf);
	if (c->fd >= 0)
		close(c->fd);
	free(c->segment);
	free(c);
}

struct object_code *
code_open(const char *path, bool intel)
{
	static const ZydisFormatterProperty plain[] = {
		ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
		ZYDIS_FORMATTER_PROP_ADDR_PADDING_RELATIVE,
		ZYDIS_FORMATTER_PROP_DISP_PADDING,
		ZYDIS_FORMATTER_PROP_IMM_PADDING,
	};
	struct object_code *c = xcalloc(1, sizeof *c);
	size_t i;

	elf_version(EV_CURRENT);
	c->fd = in_optional(path);
	if (c->fd >= 0)
		c->elf = elf_begin(c->fd, ELF_C_READ_MMAP, NULL);
	if (!c->elf || !load_segments(c)) {
		code_close(c);
		return NULL;
	}
	in_older(path);
	c->sym = sym_open(path, SYM_DEMANGLE);
	ZydisDecoderInit(&c->decoder, ZYDIS_MACHINE_MODE_LONG_64,
	    ZYDIS_STACK_WIDTH_64);
	ZydisFormatterInit(&c->formatter, intel ? ZYDIS_FORMATTER_STYLE_INTEL :
	    ZYDIS_FORMATTER_STYLE_ATT);
	for (i = 0; i < sizeof plain / sizeof plain[0]; i++)
		ZydisFormatterSetProperty(&c->formatter, plain[i],
		    ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(&c->formatter,
	    ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
	return c;
}

struct sym *
code_sym(struct object_code *c)
{
	return c->sym;
}

bool
code_part(struct object_code *c, size_t i, uint64_t *addr, uint64_t *len)
{
	if (i >= c->nsegment)
		return false;
	*addr = c->segment[i].addr;
	*len = c->segment[i].len;
	return true;
}

static const struct code_segment *
find(const struct object_code *c, uint64_t addr)
{
	size_t i;

	for (i = 0; i < c->nsegment; i++)
		if (addr - c->segment[i].addr < c->segment[i].len)
			return &c->segment[i];
	return NULL;
}

/* Name an operand with a fixed address: " <name+0x10>". */
static void
name_target(struct object_code *c, const ZydisDecodedInstruction *insn,
    const ZydisDecodedOperand *ops, uint64_t addr, char name[static 300])
{
	struct sym_at at;
	uint64_t to;
	int i;

	name[0] = '\0';
	for (i = 0; i < insn->operand_count_visible; i++) {
		if (ops[i].type == ZYDIS_OPERAND_TYPE_REGISTER || !ZYAN_SUCCESS(
		    ZydisCalcAbsoluteAddress(insn, &ops[i], addr, &to)))
			continue;
		sym_find(c->sym, to, &at);
		if (!at.end)
			continue;
		if (to == at.start)
			snprintf(name, 300, " <%.280s>", at.fn);
		else
			snprintf(name, 300, " <%.260s+0x%" PRIx64 ">", at.fn,
			    to - at.start);
	}
}

size_t
code_insn(struct object_code *c, uint64_t addr, char *text, size_t size)
{
	const struct code_segment *p = find(c, addr);
	ZydisDecodedInstruction insn;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	char name[300];
	size_t len;

	if (!p || !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&c->decoder,
	    p->data + (addr - p->addr), p->len - (addr - p->addr), &insn, ops)))
		return 0;
	if (!ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&c->formatter, &insn,
	    ops, insn.operand_count_visible, text, size, addr, NULL)))
		return 0;
	name_target(c, &insn, ops, addr, name);
	len = strlen(text);
	snprintf(text + len, size - len, "%s", name);
	return insn.length;
}
