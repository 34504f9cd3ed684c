/*
 * emit - is what emit.h writes what its names say?
 *
 *	emit
 *
 * Most functions, with all registers, and displacements and numbers at the
 * limits of their encodings; Zydis is the judge.  Prints each instruction that
 * is another one, and how many there were, with their bytes.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <Zydis/Zydis.h>

#include "emit.h"
#include "prog.h"

static const int32_t numbers[] = { 0, 1, -1, 127, 128, -128, -129, 0x1234,
	INT32_MAX, INT32_MIN };
#define NNUMBER (sizeof numbers / sizeof *numbers)

static uint8_t code[64];
static struct emitter c;
static uint64_t n, nbytes, nbad;
static ZydisDecoder decoder;

static int
number_of(ZydisRegister r)
{
	r = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
	return r == ZYDIS_REGISTER_NONE ? NOIDX : ZydisRegisterGetId(r);
}

/* As text: a register is number:bits, memory (base index*scale disp):bits. */
static char *
put_operand(char *p, const ZydisDecodedOperand *o)
{
	switch (o->type) {
	case ZYDIS_OPERAND_TYPE_REGISTER:
		return p + sprintf(p, " %d:%u", number_of(o->reg.value),
		    o->size);
	case ZYDIS_OPERAND_TYPE_MEMORY:
		return p + sprintf(p, " (%d %d*%u %" PRId64 "):%u",
		    number_of(o->mem.base), number_of(o->mem.index),
		    o->mem.index == ZYDIS_REGISTER_NONE ? 1 : o->mem.scale,
		    o->mem.disp.value, o->mem.type == ZYDIS_MEMOP_TYPE_AGEN ?
		    0 : o->size);
	default:
		return p + sprintf(p, " %" PRId64, o->imm.value.s);
	}
}

/* What has been written, as text; with its length, if that is not right. */
static void
read_back(char *p)
{
	ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;
	unsigned i;

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, sizeof code,
	    &in, o))) {
		strcpy(p, "no instruction");
		return;
	}
	p += sprintf(p, "%s", ZydisMnemonicGetString(in.mnemonic));
	for (i = 0; i < in.operand_count_visible; i++)
		p = put_operand(p, &o[i]);
	if (in.length != c.p - code)
		sprintf(p, ", %u bytes instead of %td", in.length, c.p - code);
}

/* The instruction that has been written is to be this; begin the next one. */
__attribute__((format(printf, 1, 2)))
static void
is(const char *fmt, ...)
{
	char want[200], got[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(want, sizeof want, fmt, ap);
	va_end(ap);
	read_back(got);
	if (strcmp(want, got) != 0 && nbad++ < 20)
		printf("%s: %s\n", want, got);
	n++;
	nbytes += (uint64_t)(c.p - code);
	memset(code, 0xcc, sizeof code);
	c.p = c.start = code;
	c.limit = code + sizeof code;
}

#define MEM	"(%d 31*1 %d)"
#define SIB	"(%d %d*%d %d)"

static void
registers(int r, int s)
{
	emit_mov(&c, r, s);
	is("mov %d:64 %d:64", r, s);
	emit_mov32(&c, r, s);
	is("mov %d:32 %d:32", r, s);
	emit_sub(&c, r, s);
	is("sub %d:64 %d:64", r, s);
	emit_movzx16(&c, r, s);
	is("movzx %d:32 %d:16", r, s);
	emit_movzx8(&c, r, s);
	is("movzx %d:64 %d:8", r, s);
	emit_movsx16(&c, r, s);
	is("movsx %d:64 %d:16", r, s);
}

static void
immediates(int r, int32_t v)
{
	emit_cmp_imm(&c, r, v);
	is("cmp %d:64 %d", r, v);
	emit_add_imm(&c, r, v);
	is("add %d:64 %d", r, v);
	emit_imm64(&c, r, (uint64_t)v << 20);
	is("mov %d:64 %" PRId64, r, (int64_t)((uint64_t)v << 20));
}

static void
loads(int r, int b, int32_t d)
{
	emit_load(&c, r, b, d);
	is("mov %d:64 " MEM ":64", r, b, d);
	emit_load32(&c, r, b, d);
	is("mov %d:32 " MEM ":32", r, b, d);
	emit_load32s(&c, r, b, d);
	is("movsxd %d:64 " MEM ":32", r, b, d);
	emit_load_byte(&c, r, b, d);
	is("movzx %d:32 " MEM ":8", r, b, d);
	emit_lea(&c, r, b, d);
	is("lea %d:64 " MEM ":0", r, b, d);
	emit_cmp_mem(&c, r, b, d);
	is("cmp %d:64 " MEM ":64", r, b, d);
	emit_store(&c, b, d, r);
	is("mov " MEM ":64 %d:64", b, d, r);
	emit_store32(&c, b, d, r);
	is("mov " MEM ":32 %d:32", b, d, r);
}

static void
memory(int b, int32_t d)
{
	emit_store_imm32(&c, b, d, 0x12345678);
	is("mov " MEM ":32 %d", b, d, 0x12345678);
	emit_store_simm(&c, b, d, -5);
	is("mov " MEM ":64 -5", b, d);
	emit_inc_mem(&c, b, d);
	is("inc " MEM ":64", b, d);
	emit_cmp_mem_imm(&c, b, d, 3);
	is("cmp " MEM ":64 3", b, d);
	emit_add_carry(&c, b, d);
	is("adc " MEM ":64 0", b, d);
	emit_add_not_carry(&c, b, d);
	is("sbb " MEM ":64 -1", b, d);
	emit_jmp_mem(&c, b, d);
	is("jmp " MEM ":64", b, d);
}

/* A base, an index, or neither. */
static void
indexed(int r, int b, int i, int s, int32_t d)
{
	emit_load_sib(&c, r, b, i, s, d);
	is("mov %d:64 " SIB ":64", r, b, i, i == NOIDX ? 1 : s, d);
	emit_lea_sib(&c, r, b, i, s, d, 0);
	is("lea %d:64 " SIB ":0", r, b, i, i == NOIDX ? 1 : s, d);
	emit_lea_sib(&c, r, b, i, s, d, 1);
	is("lea %d:32 " SIB ":0", r, b, i, i == NOIDX ? 1 : s, d);
	emit_add_to_sib(&c, b, i, s, d, r);
	is("add " SIB ":64 %d:64", b, i, i == NOIDX ? 1 : s, d, r);
}

static void
all_indexed(int r, int32_t d)
{
	int b, i, s;

	for (b = 0; b <= 16; b++)
		for (i = 0; i <= 16; i++)
			for (s = 1; s <= 8 && i != 4; s *= 2)
				indexed(r, b == 16 ? NOIDX : b,
				    i == 16 ? NOIDX : i, s, d);
}

static void
branches(void)
{
	unsigned cc;

	emit_patch32(emit_jmp32(&c), code + 60);
	is("jmp 55");
	for (cc = 0; cc < 16; cc++) {
		emit_patch32(emit_jcc32(&c, cc), code + 60);
		n++;
		if (code[0] != 0x0f || code[1] != (0x80 | cc) ||
		    code[2] != 54 || c.p != code + 6)
			nbad++;
		c.p = code;
	}
}

int
main(int argc, char **argv)
{
	unsigned k;
	int r, s;

	prog_init(argv[0]);
	if (argc != 1)
		die("usage: emit");
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
	    ZYDIS_STACK_WIDTH_64);
	memset(code, 0xcc, sizeof code);
	c.p = c.start = code;
	branches();
	for (r = 0; r < 16; r++) {
		for (s = 0; s < 16; s++)
			registers(r, s);
		for (k = 0; k < NNUMBER; k++) {
			immediates(r, numbers[k]);
			memory(r, numbers[k]);
			for (s = 0; s < 16; s++)
				loads(r, s, numbers[k]);
			if (r % 5 == 0)
				all_indexed(r, numbers[k]);
		}
	}
	printf("%" PRIu64 " instructions, %" PRIu64 " bytes, %" PRIu64
	    " wrong\n", n, nbytes, nbad);
	return nbad != 0;
}
