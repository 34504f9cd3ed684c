/*
 * decode - bytes to struct insn, over Zydis
 *
 * Zydis tells operands, actions and where the fields of an encoding lie; here
 * this becomes register masks, memory references in the order in which they
 * happen (reads first), and the class of what needs care.
 */
#include "decode.h"

#include <string.h>

#include <Zydis/Zydis.h>

#include "shared.h"

static ZydisDecoder decoder;
static uint8_t gprof[ZYDIS_REGISTER_MAX_VALUE + 1];	/* register -> 0..15, NOREG */
static uint8_t gprsize[ZYDIS_REGISTER_MAX_VALUE + 1];	/* bits */

void
decode_init(void)
{
	ZydisRegister r, big;
	ZydisRegisterClass c;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
	    ZYDIS_STACK_WIDTH_64);
	ZydisDecoderEnableMode(&decoder, ZYDIS_DECODER_MODE_MPX, ZYAN_FALSE);
	for (r = 0; r <= ZYDIS_REGISTER_MAX_VALUE; r++) {
		c = ZydisRegisterGetClass(r);
		gprof[r] = NOREG;
		if (c != ZYDIS_REGCLASS_GPR8 && c != ZYDIS_REGCLASS_GPR16 &&
		    c != ZYDIS_REGCLASS_GPR32 && c != ZYDIS_REGCLASS_GPR64)
			continue;
		big = ZydisRegisterGetLargestEnclosing(
		    ZYDIS_MACHINE_MODE_LONG_64, r);
		gprof[r] = (uint8_t)(big - ZYDIS_REGISTER_RAX);
		gprsize[r] = (uint8_t)ZydisRegisterGetWidth(
		    ZYDIS_MACHINE_MODE_LONG_64, r);
	}
}

static int
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
		return 1;
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
	unsigned r = gprof[op->reg.value], size = gprsize[op->reg.value];

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
 * Instructions whose destination may keep its old value, or do on some
 * processors, where the tables say that they write it.
 */
static int
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
		return 1;
	default:
		return 0;
	}
}

static struct ref *
add_ref(struct insn *in, char rw, unsigned size)
{
	struct ref *r = &in->ref[in->nref++];

	memset(r, 0, sizeof *r);
	r->rw = rw;
	r->size = (uint16_t)size;
	r->base = r->index = r->bitreg = NOREG;
	r->scale = 1;
	return r;
}

static unsigned
seg_of(ZydisRegister s)
{
	return s == ZYDIS_REGISTER_FS ? 4 : s == ZYDIS_REGISTER_GS ? 5 : 0;
}

static char
rw_of(const ZydisDecodedOperand *op)
{
	int r = (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
	int w = (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;

	return r && w ? 'm' : w ? 'w' : 'r';
}

static unsigned
bytes_of(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op)
{
	if (op->size != 0)
		return op->size / 8;
	switch (zi->meta.category) {
	case ZYDIS_CATEGORY_XSAVE:
	case ZYDIS_CATEGORY_XSAVEOPT:
		return 576;
	default:
		return 8;
	}
}

static int
is_bitstring(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op)
{
	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_BT:
	case ZYDIS_MNEMONIC_BTS:
	case ZYDIS_MNEMONIC_BTR:
	case ZYDIS_MNEMONIC_BTC:
		return op[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
	default:
		return 0;
	}
}

static void
note_address(struct insn *in, const ZydisDecodedInstruction *zi,
    const ZydisDecodedOperand *op)
{
	unsigned b = gprof[op->mem.base], x = gprof[op->mem.index];

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
		in->riprel = 1;
	(void)zi;
}

static void
note_memory(struct insn *in, const ZydisDecodedInstruction *zi,
    const ZydisDecodedOperand *ops, const ZydisDecodedOperand *op)
{
	unsigned b = gprof[op->mem.base], x = gprof[op->mem.index];
	struct ref *r;
	int pushes;

	note_address(in, zi, op);
	if (op->mem.type != ZYDIS_MEMOP_TYPE_MEM || no_access(zi) ||
	    op->actions == 0 || in->nref == 3)
		return;
	r = add_ref(in, rw_of(op), bytes_of(zi, op));
	r->seg = (uint8_t)seg_of(op->mem.segment);
	r->base = (uint8_t)b;
	r->index = (uint8_t)x;
	r->scale = op->mem.scale != 0 ? op->mem.scale : 1;
	r->disp = op->mem.disp.value;
	r->a32 = zi->address_width == 32;
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
	pushes = op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
	    b == RSP;
	if (pushes) {
		r->size = zi->mnemonic == ZYDIS_MNEMONIC_CALL ||
		    zi->mnemonic == ZYDIS_MNEMONIC_RET ? 8 : r->size;
		r->disp = r->rw == 'w' ? -(int64_t)r->size : 0;
	}
	if (zi->mnemonic == ZYDIS_MNEMONIC_POP && !pushes && b == RSP)
		r->disp += zi->operand_width / 8;
	if (zi->mnemonic == ZYDIS_MNEMONIC_LEAVE)
		r->base = RBP;
	if (zi->mnemonic == ZYDIS_MNEMONIC_XLAT)
		r->form = REF_XLAT;
	if (is_bitstring(zi, ops)) {
		r->form = REF_BIT;
		r->size = 1;
		r->bitreg = gprof[ops[1].reg.value];
	}
}

/*
 * Reads come before writes; else the order of the operands stands.  But of a
 * string compare the one at rdi comes first, as Valgrind has it.
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

/* 1: programs use it only where the processor has it. */
static int
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
		return 1;
	default:
		return 0;
	}
}

/*
 * Flags written mean that those before are not needed, but for who handles a
 * fault; one that the processor may not know always faults.
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
	default:			/* it may mean left as it was */
		break;
	}
}

/* Only through memory: an offset of 2, 4 or 8 bytes and a selector. */
static void
classify_far(struct insn *in, const ZydisDecodedInstruction *zi)
{
	struct ref *r;

	in->flow = zi->meta.category == ZYDIS_CATEGORY_CALL ? FLOW_ICALL :
	    FLOW_IJUMP;
	in->special = SP_EMULATE;
	in->emulate = EMU_NATIVE;
	in->nref = in->nref > 1 ? 1 : in->nref;
	if (in->flow == FLOW_ICALL) {
		r = add_ref(in, 'w', 2u * zi->operand_width / 8);
		r->base = RSP;
		r->disp = -(int64_t)r->size;
	}
}

static void
classify_branch(struct insn *in, const ZydisDecodedInstruction *zi,
    const ZydisDecodedOperand *op)
{
	int direct = op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;

	if (zi->mnemonic == ZYDIS_MNEMONIC_XABORT)
		return;		/* outside of a transaction it does nothing */
	if (zi->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR) {
		classify_far(in, zi);
		return;
	}
	if (direct)
		in->target = in->pc + in->len + (uint64_t)op[0].imm.value.s;
	switch (zi->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		in->flow = FLOW_COND;
		if (zi->mnemonic == ZYDIS_MNEMONIC_XBEGIN) {
			in->flow = FLOW_JUMP;
			in->special = SP_EMULATE;
			in->emulate = EMU_XBEGIN;
		} else if (zi->opcode >= 0xe0 && zi->opcode <= 0xe3 &&
		    zi->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT) {
			in->special = SP_SHORT;
		}
		break;
	case ZYDIS_CATEGORY_CALL:
		in->flow = direct ? FLOW_CALL : FLOW_ICALL;
		break;
	default:
		in->flow = direct ? FLOW_JUMP : FLOW_IJUMP;
		break;
	}
	if (zi->operand_width == 16 && !direct)
		in->special = SP_REFUSE;
}

static void
classify_string(struct insn *in, const ZydisDecodedInstruction *zi)
{
	uint32_t moved = BIT(RDI);

	/* The tables tell of rsi and rdi as addresses only, of some. */
	if ((zi->opcode & 0xfe) == 0xa4 || (zi->opcode & 0xfe) == 0xa6)
		moved |= BIT(RSI);
	else if ((zi->opcode & 0xfe) == 0xac)
		moved = BIT(RSI);
	in->rd |= moved;
	in->wr |= moved;
	if (!(zi->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
	    ZYDIS_ATTRIB_HAS_REPZ | ZYDIS_ATTRIB_HAS_REPNE |
	    ZYDIS_ATTRIB_HAS_REPNZ)))
		return;
	switch (zi->opcode & 0xfe) {
	case 0xa4:
	case 0xaa:
	case 0xac:
		in->special = SP_REP;
		break;
	case 0xa6:
	case 0xae:
		in->special = SP_REPCMP;
		break;
	default:
		return;
	}
	in->rd |= BIT(RCX);
	in->wr |= BIT(RCX);
}

static void
classify_gather(struct insn *in, const ZydisDecodedInstruction *zi,
    const ZydisDecodedOperand *op)
{
	struct gather *g = &in->gather;
	const ZydisDecodedOperand *m = op, *v = NULL;
	unsigned i, k;

	for (i = 0; i < zi->operand_count; i++)
		if (op[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			m = &op[i];
	for (i = 0; i < zi->operand_count_visible; i++)
		if (op[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    gprof[op[i].reg.value] == NOREG &&
		    ZydisRegisterGetClass(op[i].reg.value) !=
		    ZYDIS_REGCLASS_MASK)
			v = &op[i];
	in->special = SP_GATHER;
	g->evex = zi->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
	g->vindex = (uint8_t)ZydisRegisterGetId(m->mem.index);
	g->vlen = (uint8_t)(ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64,
	    m->mem.index) / 8);
	/* opcode bit 0: 64-bit indices; W: 64-bit elements */
	g->idxsize = zi->opcode & 1 ? 8 : 4;
	g->elemsize = (uint8_t)(m->element_size / 8);
	k = g->vlen / g->idxsize;
	g->nelem = (uint8_t)k;
	if (v != NULL && v->size / 8 / g->elemsize < k)
		g->nelem = (uint8_t)(v->size / 8 / g->elemsize);
	g->mask = g->evex ? (uint8_t)ZydisRegisterGetId(zi->avx.mask.reg) :
	    (uint8_t)(v != NULL ? ZydisRegisterGetId(v->reg.value) : 0);
	in->nref = 0;
	add_ref(in, zi->meta.category == ZYDIS_CATEGORY_SCATTER ? 'w' : 'r',
	    g->elemsize);
	in->ref[0].base = gprof[m->mem.base];
	in->ref[0].scale = m->mem.scale;
	in->ref[0].disp = m->mem.disp.value;
	in->ref[0].seg = (uint8_t)seg_of(m->mem.segment);
	in->ref[0].a32 = zi->address_width == 32;
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

/* Which register becomes another plus a constant. */
static void
note_effect(struct insn *in, const ZydisDecodedInstruction *zi,
    const ZydisDecodedOperand *op)	/* table */
{
	unsigned d = NOREG, s = NOREG, w = zi->operand_width / 8;
	int imm = op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;

	in->effdst = NOREG;
	if (op[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    gprsize[op[0].reg.value] == 64)
		d = gprof[op[0].reg.value];
	if (op[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    gprsize[op[1].reg.value] == 64)
		s = gprof[op[1].reg.value];
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
			effect(in, d, gprof[op[1].mem.base],
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

static void
emulated(struct insn *in, unsigned what)
{
	in->special = SP_EMULATE;
	in->emulate = (uint8_t)what;
}

static void
stack_read(struct insn *in, unsigned size)
{
	struct ref *r;

	in->nref = 0;
	r = add_ref(in, 'r', size);
	r->base = RSP;
}

static void
classify_return(struct insn *in, const ZydisDecodedInstruction *zi,
    const ZydisDecodedOperand *op)
{
	if (op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		in->imm = (uint16_t)op[0].imm.value.u;
	if (zi->operand_width == 16) {
		in->special = SP_REFUSE;
		return;
	}
	in->flow = FLOW_RET;
	if ((zi->opcode & 0xfe) != 0xca)
		return;
	emulated(in, EMU_LRET);
	in->aux = zi->operand_width / 8u | (uint32_t)in->imm << 4;
	stack_read(in, 2u * zi->operand_width / 8);
}

/*
 * Instructions that show where the last one of the x87 unit was: its address
 * is ours until the runtime has looked.  aux: see enum fpsave.
 */
static void
classify_fpsave(struct insn *in, const ZydisDecodedInstruction *zi)	/* table */
{
	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_FNSTENV:
	case ZYDIS_MNEMONIC_FNSAVE:
		if (zi->operand_width == 16)	/* shows 16 bits of it only */
			return;
		in->aux = FP_ENV;
		break;
	case ZYDIS_MNEMONIC_FXSAVE:
		in->aux = FP_FXSAVE;
		break;
	case ZYDIS_MNEMONIC_FXSAVE64:
		in->aux = FP_FXSAVE64;
		break;
	case ZYDIS_MNEMONIC_XSAVE:
	case ZYDIS_MNEMONIC_XSAVEC:
	case ZYDIS_MNEMONIC_XSAVEOPT:
		in->aux = FP_XSAVE | FP_FXSAVE;
		break;
	case ZYDIS_MNEMONIC_XSAVE64:
	case ZYDIS_MNEMONIC_XSAVEC64:
	case ZYDIS_MNEMONIC_XSAVEOPT64:
		in->aux = FP_XSAVE | FP_FXSAVE64;
		break;
	default:
		return;
	}
	in->emulate = EMU_FPSAVE;
	if (in->special == SP_NONE)
		in->special = SP_EMULATE;
}

static void
classify(struct insn *in, const ZydisDecodedInstruction *zi,
    const ZydisDecodedOperand *op)	/* table */
{
	switch (zi->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_CALL:
		classify_branch(in, zi, op);
		return;
	case ZYDIS_CATEGORY_STRINGOP:
		classify_string(in, zi);
		return;
	case ZYDIS_CATEGORY_GATHER:
	case ZYDIS_CATEGORY_AVX2GATHER:
	case ZYDIS_CATEGORY_SCATTER:
		if (strstr(ZydisMnemonicGetString(zi->mnemonic), "pf") == NULL)
			classify_gather(in, zi, op);
		return;
	case ZYDIS_CATEGORY_XSAVE:
	case ZYDIS_CATEGORY_XSAVEOPT:
		if (op[0].type == ZYDIS_OPERAND_TYPE_MEMORY) {
			in->special = SP_XSTATE;
			classify_fpsave(in, zi);
			return;
		}
		break;
	default:
		break;
	}
	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_RET:
		classify_return(in, zi, op);
		break;
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
		in->flow = FLOW_RET;
		in->nref = 0;
		emulated(in, EMU_IRET);
		in->aux = zi->mnemonic == ZYDIS_MNEMONIC_IRETQ ? 8 : 4;
		stack_read(in, 5u * in->aux);
		break;
	case ZYDIS_MNEMONIC_SYSCALL:
		in->flow = FLOW_SYSCALL;
		break;
	case ZYDIS_MNEMONIC_INT:	/* 80: the calls of 32-bit programs */
		in->special = op[0].imm.value.u == 0x80 ? SP_REFUSE : SP_TRAP;
		break;
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_SYSENTER:
	case ZYDIS_MNEMONIC_SYSEXIT:
	case ZYDIS_MNEMONIC_SYSRET:
	case ZYDIS_MNEMONIC_UIRET:
	case ZYDIS_MNEMONIC_SENDUIPI:
		in->special = SP_REFUSE;
		break;
	case ZYDIS_MNEMONIC_INT3:
	case ZYDIS_MNEMONIC_INT1:
	case ZYDIS_MNEMONIC_HLT:
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
		in->special = SP_TRAP;
		break;
	case ZYDIS_MNEMONIC_STD:
		in->special = SP_STD;
		break;
	case ZYDIS_MNEMONIC_CLD:
		in->special = SP_CLD;
		break;
	case ZYDIS_MNEMONIC_POPF:
	case ZYDIS_MNEMONIC_POPFQ:
		emulated(in, EMU_FLAGS);
		break;
	case ZYDIS_MNEMONIC_CPUID:
		emulated(in, EMU_CPUID);
		break;
	case ZYDIS_MNEMONIC_XGETBV:
		emulated(in, EMU_XGETBV);
		break;
	case ZYDIS_MNEMONIC_WRFSBASE:
	case ZYDIS_MNEMONIC_WRGSBASE:
		emulated(in, zi->mnemonic == ZYDIS_MNEMONIC_WRFSBASE ?
		    EMU_WRFSBASE : EMU_WRGSBASE);
		in->aux = gprof[op[0].reg.value] |
		    (gprsize[op[0].reg.value] == 64 ? 16u : 0);
		break;
	default:
		classify_fpsave(in, zi);
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
	switch (zi.meta.isa_ext) {	/* of a processor that runs no Linux */
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
		else if (op[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			note_memory(in, &zi, op, &op[i]);
	}
	sort_refs(in, &zi);
	note_layout(in, &zi);
	note_flags(in, &zi);
	classify(in, &zi, op);
	note_effect(in, &zi, op);
	if (may_keep(zi.mnemonic))
		in->rd |= in->wr;
	in->kill = in->wr & ~in->rd;
	return 0;
}

int
decode_known(const uint8_t *bytes, unsigned n, app_pc pc)
{
	struct insn in;

	return decode(&in, pc, bytes, n) == 0;
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
