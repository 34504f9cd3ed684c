/*
 * classify - instructions that cannot simply be copied
 *
 * This finds where control goes, what is repeated or gathered, and what the
 * runtime must do instead of the instruction or after it.
 */
#include "code/decoding.h"
#include "cpu.h"
#include "meta.h"

#include <string.h>

/* Far transfers go through memory: an offset of 2, 4, 8 bytes, a selector. */
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
		r = decode_add_ref(in, 'w', 2u * zi->operand_width / 8);
		r->base = RSP;
		r->disp = -(int64_t)r->size;
	}
}

/* A near branch whose target has 16 bits; see cpu_has_short_branches. */
static bool
is_short_branch(const ZydisDecodedInstruction *zi)
{
	unsigned i;

	for (i = 0; i < zi->raw.prefix_count; i++)
		if (zi->raw.prefixes[i].value == 0x66)
			return !zi->raw.rex.W && cpu_has_short_branches();
	return false;
}

/* Hardly any code has one, so it is left to the processor. */
static void
classify_short(struct insn *in, const ZydisDecodedInstruction *zi)
{
	bool calls = zi->meta.category == ZYDIS_CATEGORY_CALL;
	struct ref *r;

	in->flow = calls ? FLOW_ICALL : FLOW_IJUMP;
	in->special = SP_EMULATE;
	in->emulate = EMU_NATIVE;
	for (r = in->ref; r < in->ref + in->nref; r++) {
		r->size = 2;
		if (r->rw == 'w')	/* what the call pushes */
			r->disp = -2;
	}
}

static void
classify_branch(struct insn *in, const ZydisDecodedInstruction *zi,
    const ZydisDecodedOperand *op)
{
	bool direct = op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;

	if (zi->mnemonic == ZYDIS_MNEMONIC_XABORT)
		return;		/* outside of a transaction it does nothing */
	if (zi->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR) {
		classify_far(in, zi);
		return;
	}
	if (is_short_branch(zi)) {
		classify_short(in, zi);
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

	/* Of some, Zydis's tables have rsi and rdi only as addresses. */
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
		    decode_gpr[op[i].reg.value] == NOREG &&
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
	decode_add_ref(in, zi->meta.category == ZYDIS_CATEGORY_SCATTER ?
	    'w' : 'r', g->elemsize);
	in->ref[0].base = decode_gpr[m->mem.base];
	in->ref[0].scale = m->mem.scale;
	in->ref[0].disp = m->mem.disp.value;
	in->ref[0].seg = (uint8_t)decode_seg(m->mem.segment);
	in->ref[0].a32 = zi->address_width == 32;
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
	r = decode_add_ref(in, 'r', size);
	r->base = RSP;
}

/*
 * enter pushes rbp, then the frame pointers of all outer levels but one, one
 * after the other, and the new one.  We note one reference that reads them all,
 * and one that writes them all.
 */
static void
classify_enter(struct insn *in, const ZydisDecodedInstruction *zi,
    const ZydisDecodedOperand *op)
{
	unsigned level = op[1].imm.value.u & 31, w = zi->operand_width / 8;
	struct ref *r;

	in->nref = 0;
	in->rd |= BIT(RSP) | BIT(RBP);
	if (level > 1) {
		r = decode_add_ref(in, 'r', (level - 1) * w);
		r->base = RBP;
		r->disp = -(int64_t)r->size;
	}
	r = decode_add_ref(in, 'w', (level > 0 ? level + 1 : 1) * w);
	r->base = RSP;
	r->disp = -(int64_t)r->size;
}

/* clzero writes the line around rax. */
static void
classify_clzero(struct insn *in, const ZydisDecodedInstruction *zi)
{
	struct ref *r;

	in->nref = 0;
	in->rd |= BIT(RAX);
	r = decode_add_ref(in, 'w', 64);
	r->base = RAX;
	r->form = REF_LINE;
	r->a32 = zi->address_width == 32;
	if (zi->attributes & ZYDIS_ATTRIB_HAS_SEGMENT_FS)
		r->seg = 4;
	else if (zi->attributes & ZYDIS_ATTRIB_HAS_SEGMENT_GS)
		r->seg = 5;
}

static void
classify_return(struct insn *in, const ZydisDecodedInstruction *zi,
    const ZydisDecodedOperand *op)
{
	if (op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		in->imm = (uint16_t)op[0].imm.value.u;
	if ((zi->opcode & 0xfe) == 0xc2 && is_short_branch(zi)) {
		classify_short(in, zi);
		return;
	}
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
 * Instructions that store the address of the last x87 instruction: they store a
 * cache address, which the runtime then replaces.  aux: see enum fpsave.
 */
static void
classify_fpsave(struct insn *in,
    const ZydisDecodedInstruction *zi)	/* table */
{
	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_FNSTENV:
	case ZYDIS_MNEMONIC_FNSAVE:
		if (zi->operand_width == 16)	/* 16 bits of it only */
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

/* A load of fs or gs changes its base; of the others none is ever used. */
static bool
loads_base(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op)
{
	unsigned i;

	for (i = 0; i < zi->operand_count_visible; i++)
		if (op[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
		    decode_seg(op[i].reg.value) != 0)
			return true;
	return zi->mnemonic == ZYDIS_MNEMONIC_LFS ||
	    zi->mnemonic == ZYDIS_MNEMONIC_LGS;
}

/* What its category says; false: its name says what it is. */
static bool
classify_category(struct insn *in, const ZydisDecodedInstruction *zi,
    const ZydisDecodedOperand *op)
{
	switch (zi->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_CALL:
		classify_branch(in, zi, op);
		return true;
	case ZYDIS_CATEGORY_STRINGOP:
		classify_string(in, zi);
		return true;
	case ZYDIS_CATEGORY_GATHER:
	case ZYDIS_CATEGORY_AVX2GATHER:
	case ZYDIS_CATEGORY_SCATTER:
		if (strstr(ZydisMnemonicGetString(zi->mnemonic), "pf") == NULL)
			classify_gather(in, zi, op);
		return true;
	case ZYDIS_CATEGORY_XSAVE:
	case ZYDIS_CATEGORY_XSAVEOPT:
		if (op[0].type != ZYDIS_OPERAND_TYPE_MEMORY)
			return false;
		in->special = SP_XSTATE;
		classify_fpsave(in, zi);
		return true;
	default:
		return false;
	}
}

static void
classify_name(struct insn *in, const ZydisDecodedInstruction *zi,
    const ZydisDecodedOperand *op)	/* table */
{
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
		in->special = SP_REFUSE;
		break;
	case ZYDIS_MNEMONIC_SYSENTER:	/* AMD's has it in 32-bit code only */
	case ZYDIS_MNEMONIC_SYSEXIT:
	case ZYDIS_MNEMONIC_SYSRET:
	case ZYDIS_MNEMONIC_UIRET:
		in->flow = FLOW_IJUMP;
		in->nref = 0;
		emulated(in, EMU_NATIVE);
		break;
	case ZYDIS_MNEMONIC_SENDUIPI:	/* Linux has no user interrupts */
	case ZYDIS_MNEMONIC_INT3:
	case ZYDIS_MNEMONIC_INT1:
	case ZYDIS_MNEMONIC_HLT:
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
		in->special = SP_TRAP;
		break;
	case ZYDIS_MNEMONIC_ENTER:
		classify_enter(in, zi, op);
		break;
	case ZYDIS_MNEMONIC_CLZERO:
		classify_clzero(in, zi);
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
		in->aux = decode_gpr[op[0].reg.value] |
		    (decode_gprbits[op[0].reg.value] == 64 ? 16u : 0);
		break;
	default:
		if (loads_base(zi, op))
			emulated(in, EMU_SEGMENT);
		else
			classify_fpsave(in, zi);
		break;
	}
}

void
decode_classify(struct insn *in, const ZydisDecodedInstruction *zi,
    const ZydisDecodedOperand *op)
{
	if (!classify_category(in, zi, op))
		classify_name(in, zi, op);
}
