/*
 * decode - turn bytes into a struct insn, by Zydis
 *
 * Zydis gives operands, their actions, and where the fields of an encoding lie.
 * Here these become register masks and memory references in the order in which
 * they happen (reads first).  classify.c finds what needs special care.
 */
#include "code/decode.h"

#include <stddef.h>
#include <string.h>

#include "code/decoding.h"
#include "cpu.h"

#define TILE_ROW 64u	/* bytes of a row of an AMX tile, at most */

static ZydisDecoder decoder;

void
decode_init(uint64_t components)
{
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
	    ZYDIS_STACK_WIDTH_64);
	ZydisDecoderEnableMode(&decoder, ZYDIS_DECODER_MODE_MPX, ZYAN_FALSE);
	if (cpu_has_short_branches())
		ZydisDecoderEnableMode(&decoder,
		    ZYDIS_DECODER_MODE_AMD_BRANCHES, ZYAN_TRUE);
	operands_init(components);
}

/* Whether the memory operand is only an address, or a hint. */
static bool
no_access(const ZydisDecodedInstruction *zi)
{
	switch (zi->meta.category) {
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
	case ZYDIS_CATEGORY_PREFETCH:
	case ZYDIS_CATEGORY_PREFETCHWT1:
	case ZYDIS_CATEGORY_CLDEMOTE:
	case ZYDIS_CATEGORY_CLFLUSHOPT:
	case ZYDIS_CATEGORY_CLWB:
	case ZYDIS_CATEGORY_MPX:
		return true;
	default:
		return zi->mnemonic == ZYDIS_MNEMONIC_CLFLUSH ||
		    zi->mnemonic == ZYDIS_MNEMONIC_LEA ||
		    zi->mnemonic == ZYDIS_MNEMONIC_UMONITOR ||
		    zi->mnemonic == ZYDIS_MNEMONIC_MONITOR;
	}
}

static void
note_register(struct insn *in, const ZydisDecodedOperand *op)
{
	unsigned r = decode_gpr[op->reg.value];
	unsigned size = decode_gprbits[op->reg.value];

	if (r == NOREG)
		return;
	if (op->actions & (ZYDIS_OPERAND_ACTION_READ |
	    ZYDIS_OPERAND_ACTION_CONDREAD))
		in->rd |= BIT(r);
	if (op->actions & ZYDIS_OPERAND_ACTION_CONDWRITE)
		in->rd |= BIT(r);
	if (op->actions & (ZYDIS_OPERAND_ACTION_WRITE |
	    ZYDIS_OPERAND_ACTION_CONDWRITE)) {
		in->wr |= BIT(r);
		if (size < 32)
			in->rd |= BIT(r);
	}
	switch (op->encoding) {
	case ZYDIS_OPERAND_ENCODING_MODRM_REG:
		in->field[F_REG] = (uint8_t)r;
		break;
	case ZYDIS_OPERAND_ENCODING_MODRM_RM:
		in->field[F_RM] = (uint8_t)r;
		break;
	case ZYDIS_OPERAND_ENCODING_OPCODE:
		in->field[F_OPC] = (uint8_t)r;
		break;
	case ZYDIS_OPERAND_ENCODING_NDSNDD:
		in->field[F_VVVV] = (uint8_t)r;
		break;
	default:
		break;
	}
}

/*
 * Instructions whose destination may keep its old value, at least on some
 * processors, although Zydis's tables say that they write it.
 */
static bool
may_keep(ZydisMnemonic m)
{
	switch (m) {
	case ZYDIS_MNEMONIC_BSF:
	case ZYDIS_MNEMONIC_BSR:
	case ZYDIS_MNEMONIC_TZCNT:
	case ZYDIS_MNEMONIC_LZCNT:
	case ZYDIS_MNEMONIC_LAR:
	case ZYDIS_MNEMONIC_LSL:
	case ZYDIS_MNEMONIC_RDSSPD:
	case ZYDIS_MNEMONIC_RDSSPQ:
	case ZYDIS_MNEMONIC_SLDT:	/* the upper half */
	case ZYDIS_MNEMONIC_STR:
	case ZYDIS_MNEMONIC_SMSW:
		return true;
	default:
		return false;
	}
}

static bool
is_xstate(const ZydisDecodedInstruction *zi)
{
	return zi->meta.category == ZYDIS_CATEGORY_XSAVE ||
	    zi->meta.category == ZYDIS_CATEGORY_XSAVEOPT;
}

static bool
is_xrstor(const ZydisDecodedInstruction *zi)
{
	return zi->mnemonic == ZYDIS_MNEMONIC_XRSTOR ||
	    zi->mnemonic == ZYDIS_MNEMONIC_XRSTOR64;
}

static char
rw_of(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op)
{
	bool r = (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
	bool w = (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;

	if (is_xstate(zi))	/* the tables mix in its registers' actions */
		return is_xrstor(zi) ? 'r' : 'w';
	return r && w ? 'm' : w ? 'w' : 'r';
}

/* By a lock prefix, or without one: as Valgrind has it, cmpxchg8b, too. */
static bool
is_locked(const ZydisDecodedInstruction *zi, const struct ref *r)
{
	return r->rw == 'm' && (zi->attributes & ZYDIS_ATTRIB_HAS_LOCK ||
	    zi->mnemonic == ZYDIS_MNEMONIC_XCHG ||
	    zi->mnemonic == ZYDIS_MNEMONIC_CMPXCHG8B ||
	    zi->mnemonic == ZYDIS_MNEMONIC_CMPXCHG16B);
}

/*
 * f3 90 with REX.B exchanges r8 and rax, as without the prefix: Zydis takes it
 * for pause.
 */
static void
mend_pause(struct insn *in, const ZydisDecodedInstruction *zi)
{
	if (zi->mnemonic != ZYDIS_MNEMONIC_PAUSE || zi->raw.rex.B == 0)
		return;
	in->rd = in->wr = BIT(RAX) | BIT(8);
	in->field[F_OPC] = 8;
}

static unsigned
bytes_of(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op)
{
	if (is_xstate(zi))
		return decode_xstate(zi->mnemonic == ZYDIS_MNEMONIC_XSAVEC ||
		    zi->mnemonic == ZYDIS_MNEMONIC_XSAVEC64);
	return op->size != 0 ? op->size / 8 : 8;
}

static bool
is_bitstring(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op)
{
	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_BT:
	case ZYDIS_MNEMONIC_BTS:
	case ZYDIS_MNEMONIC_BTR:
	case ZYDIS_MNEMONIC_BTC:
		return op[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
	default:
		return false;
	}
}

/*
 * Where a short address has no base but a displacement, and REX.B is set, Zydis
 * says the opposite: r13d, and none.
 */
static void
mend_base(const ZydisDecodedInstruction *zi, ZydisDecodedOperand *op)
{
	if (op->encoding != ZYDIS_OPERAND_ENCODING_MODRM_RM ||
	    !(zi->attributes & ZYDIS_ATTRIB_HAS_SIB) ||
	    zi->raw.modrm.mod != 0 || zi->raw.sib.base != 5)
		return;
	op->mem.base = ZYDIS_REGISTER_NONE;
	op->mem.disp.value = zi->raw.disp.value;
}

static void
note_address(struct insn *in, const ZydisDecodedOperand *op)
{
	unsigned b = decode_gpr[op->mem.base], x = decode_gpr[op->mem.index];

	if (b != NOREG)
		in->rd |= BIT(b);
	if (x != NOREG)
		in->rd |= BIT(x);
	if (op->encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM) {
		in->field[F_BASE] = (uint8_t)b;
		in->field[F_INDEX] = (uint8_t)x;
	}
	if (op->mem.base == ZYDIS_REGISTER_RIP ||
	    op->mem.base == ZYDIS_REGISTER_EIP)
		in->riprel = true;
}

/* The address as it is written: what is it made of? */
static void
note_form(const struct insn *in, struct ref *r, const ZydisDecodedOperand *op)
{
	unsigned b = decode_gpr[op->mem.base], x = decode_gpr[op->mem.index];

	r->seg = (uint8_t)decode_seg(op->mem.segment);
	r->base = (uint8_t)b;
	r->index = (uint8_t)x;
	r->scale = op->mem.scale != 0 ? op->mem.scale : 1;
	r->disp = op->mem.disp.value;
	if (op->mem.base == ZYDIS_REGISTER_RIP ||
	    op->mem.base == ZYDIS_REGISTER_EIP) {
		r->disp = (int64_t)(in->pc + in->len + (uint64_t)r->disp);
		r->form = REF_STATIC;
	} else if (b == NOREG && x == NOREG && r->seg == 0) {
		r->form = REF_STATIC;
	}
	if (r->a32 && r->form == REF_STATIC)
		r->disp = (uint32_t)r->disp;
	if (r->seg != 0)
		r->form = REF_PLAIN;
}

/*
 * A tile is loaded and stored by rows, whose distance is the index register.
 * Only the first row is noted.
 */
static void
note_tile(struct ref *r, const ZydisDecodedInstruction *zi)
{
	if (zi->meta.category != ZYDIS_CATEGORY_AMX_TILE || r->index == NOREG)
		return;
	r->index = NOREG;
	r->scale = 1;
	r->size = TILE_ROW;
}

/* push and such: what the operand does not say of the stack's place. */
static void
note_stack(struct ref *r, const ZydisDecodedInstruction *zi,
    const ZydisDecodedOperand *op)
{
	bool pushes = op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
	    r->base == RSP;

	if (pushes) {
		r->a32 = false;		/* the prefix is not for the stack */
		r->size = zi->mnemonic == ZYDIS_MNEMONIC_CALL ||
		    zi->mnemonic == ZYDIS_MNEMONIC_RET ? 8 : r->size;
		r->disp = r->rw == 'w' ? -(int64_t)r->size : 0;
	}
	if (zi->mnemonic == ZYDIS_MNEMONIC_POP && !pushes && r->base == RSP)
		r->disp += zi->operand_width / 8;
	if (zi->mnemonic == ZYDIS_MNEMONIC_LEAVE) {
		r->base = RBP;
		r->a32 = false;
	}
}

static void
note_memory(struct insn *in, const ZydisDecodedInstruction *zi,
    const ZydisDecodedOperand *ops, const ZydisDecodedOperand *op)
{
	struct ref *r;

	note_address(in, op);
	if (op->mem.type != ZYDIS_MEMOP_TYPE_MEM || no_access(zi) ||
	    op->actions == 0 || in->nref == 3)
		return;
	r = decode_add_ref(in, rw_of(zi, op), bytes_of(zi, op));
	r->a32 = zi->address_width == 32;
	r->locked = is_locked(zi, r);
	note_form(in, r, op);
	note_tile(r, zi);
	note_stack(r, zi, op);
	if (zi->mnemonic == ZYDIS_MNEMONIC_XLAT)
		r->form = REF_XLAT;
	if (is_bitstring(zi, ops)) {
		r->form = REF_BIT;
		r->size = zi->operand_width / 8;
		r->bitreg = decode_gpr[ops[1].reg.value];
	}
}

/*
 * Put reads before writes, and otherwise keep the order of the operands.  But
 * of a string compare the read at rdi comes first, as in Valgrind.
 */
static void
sort_refs(struct insn *in, const ZydisDecodedInstruction *zi)
{
	struct ref tmp;
	unsigned i, j;

	if (zi->meta.category == ZYDIS_CATEGORY_STRINGOP && in->nref == 2 &&
	    in->ref[1].rw == 'r') {
		tmp = in->ref[0];
		in->ref[0] = in->ref[1];
		in->ref[1] = tmp;
	}
	for (i = 1; i < in->nref; i++)
		for (j = i; j > 0 && in->ref[j - 1].rw == 'w' &&
		    in->ref[j].rw != 'w'; j--) {
			tmp = in->ref[j];
			in->ref[j] = in->ref[j - 1];
			in->ref[j - 1] = tmp;
		}
}

static void
note_layout(struct insn *in, const ZydisDecodedInstruction *zi)
{
	unsigned i;

	in->rexoff = in->vexoff = in->evexoff = 0xff;
	in->prefixlen = 0;
	for (i = 0; i < zi->raw.prefix_count; i++)
		in->prefixlen++;
	if (zi->attributes & ZYDIS_ATTRIB_HAS_REX)
		in->rexoff = zi->raw.rex.offset;
	if (zi->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX ||
	    zi->encoding == ZYDIS_INSTRUCTION_ENCODING_XOP) {
		in->vexoff = zi->encoding == ZYDIS_INSTRUCTION_ENCODING_XOP ?
		    zi->raw.xop.offset : zi->raw.vex.offset;
		in->vex2 = zi->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX &&
		    zi->raw.vex.size == 2;
	} else if (zi->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX) {
		in->evexoff = zi->raw.evex.offset;
	}
	in->modrmoff = zi->attributes & ZYDIS_ATTRIB_HAS_MODRM ?
	    zi->raw.modrm.offset : 0xff;
	in->siboff = zi->attributes & ZYDIS_ATTRIB_HAS_SIB ?
	    zi->raw.sib.offset : 0xff;
	in->dispoff = zi->raw.disp.offset;
	in->displen = zi->raw.disp.size / 8;
	in->opcoff = in->modrmoff != 0xff ? in->modrmoff - 1 :
	    in->len - (uint8_t)(zi->raw.imm[0].size / 8) -
	    (uint8_t)(zi->raw.imm[1].size / 8) - in->displen - 1;
}

/* Extensions that programs use only where the processor has them. */
static bool
is_common(ZydisISAExt ext)
{
	switch (ext) {
	case ZYDIS_ISA_EXT_BASE:
	case ZYDIS_ISA_EXT_LONGMODE:
	case ZYDIS_ISA_EXT_SSE:
	case ZYDIS_ISA_EXT_SSE2:
	case ZYDIS_ISA_EXT_SSE4:
	case ZYDIS_ISA_EXT_AVX:
	case ZYDIS_ISA_EXT_BMI1:
	case ZYDIS_ISA_EXT_BMI2:
		return true;
	default:
		return false;
	}
}

/*
 * Flags that an instruction writes need not be kept before it, unless it faults
 * and a handler sees them.  An instruction that the processor may lack could
 * always fault, so it counts as writing none.
 */
static void
note_flags(struct insn *in, const ZydisDecodedInstruction *zi)
{
	const ZydisAccessedFlags *f = zi->cpu_flags;

	in->fread = in->fkill = 0;
	if (f == NULL)
		return;
	in->fread = f->tested & ARITH_FLAGS;
	if (!is_common(zi->meta.isa_ext))
		return;
	in->fkill = (f->modified | f->set_0 | f->set_1) & ARITH_FLAGS;
	switch (zi->meta.category) {
	case ZYDIS_CATEGORY_SHIFT:
	case ZYDIS_CATEGORY_ROTATE:	/* a count of 0 leaves all flags */
	case ZYDIS_CATEGORY_STRINGOP:	/* so does rep with rcx 0 */
		in->fkill = 0;
		break;
	case ZYDIS_CATEGORY_LOGICAL:	/* undefined means cleared: AF */
		in->fkill |= f->undefined & ARITH_FLAGS;
		break;
	default:		/* undefined may mean unchanged */
		break;
	}
}

static void
effect(struct insn *in, unsigned dst, unsigned src, int64_t disp)
{
	if (disp != (int32_t)disp || dst == NOREG || src == NOREG)
		return;
	in->effdst = (uint8_t)dst;
	in->effsrc = (uint8_t)src;
	in->effdisp = (int32_t)disp;
}

/* Note which register becomes another plus a constant. */
static void
note_effect(struct insn *in, const ZydisDecodedInstruction *zi,
    const ZydisDecodedOperand *op)	/* table */
{
	unsigned d = NOREG, s = NOREG, w = zi->operand_width / 8;
	bool imm = op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;

	in->effdst = NOREG;
	if (op[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    decode_gprbits[op[0].reg.value] == 64)
		d = decode_gpr[op[0].reg.value];
	if (op[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    decode_gprbits[op[1].reg.value] == 64)
		s = decode_gpr[op[1].reg.value];
	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_ADD:
		if (imm)
			effect(in, d, d, op[1].imm.value.s);
		break;
	case ZYDIS_MNEMONIC_SUB:
		if (imm)
			effect(in, d, d, -op[1].imm.value.s);
		break;
	case ZYDIS_MNEMONIC_INC:
		effect(in, d, d, 1);
		break;
	case ZYDIS_MNEMONIC_DEC:
		effect(in, d, d, -1);
		break;
	case ZYDIS_MNEMONIC_MOV:
		effect(in, d, s, 0);
		break;
	case ZYDIS_MNEMONIC_LEA:
		if (op[1].mem.index == ZYDIS_REGISTER_NONE &&
		    zi->address_width == 64 && !in->riprel)
			effect(in, d, decode_gpr[op[1].mem.base],
			    op[1].mem.disp.value);
		break;
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_PUSHFQ:
		effect(in, RSP, RSP, -(int64_t)w);
		break;
	case ZYDIS_MNEMONIC_POP:
		if (d != RSP)
			effect(in, RSP, RSP, w);
		break;
	case ZYDIS_MNEMONIC_POPFQ:
		effect(in, RSP, RSP, w);
		break;
	case ZYDIS_MNEMONIC_LEAVE:
		effect(in, RSP, RBP, 8);
		break;
	case ZYDIS_MNEMONIC_CALL:
		effect(in, RSP, RSP, -8);
		break;
	case ZYDIS_MNEMONIC_RET:
		effect(in, RSP, RSP, 8 + in->imm);
		break;
	default:
		break;
	}
}

int
decode(struct insn *in, app_pc pc, const uint8_t *bytes, unsigned n)
{
	ZydisDecodedInstruction zi;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	unsigned i;

	if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, bytes, n, &zi, op)))
		return -1;
	switch (zi.meta.isa_ext) {	/* not of any x86-64 that runs Linux */
	case ZYDIS_ISA_EXT_KNC:
	case ZYDIS_ISA_EXT_KNCE:
	case ZYDIS_ISA_EXT_KNCV:
		return -1;
	default:
		break;
	}
	memset(in, 0, offsetof(struct insn, ref));
	memset(in->field, NOREG, sizeof in->field);
	in->pc = pc;
	in->len = zi.length;
	memcpy(in->bytes, bytes, zi.length);
	in->mnemonic = (uint16_t)zi.mnemonic;
	in->a32 = zi.address_width == 32;
	in->opsize = zi.operand_width;
	for (i = 0; i < zi.operand_count; i++) {
		if (op[i].type == ZYDIS_OPERAND_TYPE_REGISTER)
			note_register(in, &op[i]);
		if (op[i].type != ZYDIS_OPERAND_TYPE_MEMORY)
			continue;
		mend_base(&zi, &op[i]);
		note_memory(in, &zi, op, &op[i]);
	}
	mend_pause(in, &zi);
	sort_refs(in, &zi);
	note_layout(in, &zi);
	note_flags(in, &zi);
	decode_classify(in, &zi, op);
	note_effect(in, &zi, op);
	if (may_keep(zi.mnemonic))
		in->rd |= in->wr;
	in->kill = in->wr & ~in->rd;
	return 0;
}

unsigned
decode_length(const uint8_t *bytes, unsigned n)
{
	ZydisDecodedInstruction zi;

	return ZYAN_FAILED(ZydisDecoderDecodeInstruction(&decoder, NULL, bytes,
	    n, &zi)) ? 1 : zi.length;
}

void
decode_text(const uint8_t *bytes, unsigned n, app_pc pc, char *buf,
    unsigned size)
{
	ZydisDecodedInstruction zi;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisFormatter f;

	buf[0] = '\0';
	ZydisFormatterInit(&f, ZYDIS_FORMATTER_STYLE_INTEL);
	if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, bytes, n, &zi, op)) ||
	    ZYAN_FAILED(ZydisFormatterFormatInstruction(&f, &zi, op,
	    zi.operand_count_visible, buf, size, pc, NULL)))
		strncpy(buf, "unknown instruction", size - 1);
	buf[size - 1] = '\0';
}
