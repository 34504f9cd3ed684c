/*
 * decode.h - one guest instruction: what the translator needs to know of it
 */
#ifndef DECODE_H
#define DECODE_H

#include <stdbool.h>
#include <stdint.h>

typedef uint64_t app_pc;

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13,
	R14, R15, NOREG = 31 };
#define BIT(r) (1u << (r))

enum flow {
	FLOW_NONE, FLOW_COND, FLOW_JUMP, FLOW_CALL, FLOW_IJUMP, FLOW_ICALL,
	FLOW_RET, FLOW_SYSCALL
};

/*
 * Why an instruction cannot simply be copied, beside control flow, PC-relative
 * operands and registers that the fragment uses for itself.
 */
enum special {
	SP_NONE,
	SP_SHORT,	/* jrcxz, loop: it has only the short form */
	SP_REP,		/* rep movs, stos, lods: count known before */
	SP_REPCMP,	/* repe/repne cmps, scas: count known after */
	SP_STD, SP_CLD,
	SP_GATHER,	/* gather or scatter: a reference for each element */
	SP_EMULATE,	/* the runtime does it, or acts after it: emulate */
	SP_XSTATE,	/* xsave, xrstor: with --cpu the model's components */
	SP_TRAP,	/* int3 and such: copied, ends its fragment */
	SP_REFUSE	/* the program must go on natively */
};

enum refform {
	REF_PLAIN,	/* base + index * scale + disp, in segment */
	REF_STATIC,	/* at disp */
	REF_BIT,	/* bit string: the operand-sized unit of the bit */
	REF_LINE,	/* the aligned 64 bytes around base */
	REF_XLAT	/* rbx + al */
};

struct ref {
	char rw;		/* r, w or m */
	uint8_t form;
	uint8_t base, index;	/* guest registers or NOREG */
	uint8_t scale;
	uint8_t seg;		/* 0, else register number 4 (fs) or 5 (gs) */
	bool a32;		/* the address is cut to 32 bits */
	uint8_t bitreg;		/* REF_BIT: register with the offset */
	uint16_t size;		/* bytes */
	bool locked;		/* atomic for other processors */
	int64_t disp;
};

/* Fields of the encoding that can name a general register. */
enum { F_REG, F_RM, F_OPC, F_VVVV, F_BASE, F_INDEX, NFIELD };

struct gather {
	uint8_t nelem, elemsize, idxsize;	/* idxsize, elemsize in bytes */
	uint8_t vindex;		/* number of the index vector */
	uint8_t vlen;		/* bytes of the index vector */
	uint8_t mask;		/* AVX2: vector; EVEX: k register */
	bool evex;
};

/*
 * What lies between `len' and `ref' is the same for all instructions with the
 * same bytes but displacement and immediate, so template.c keeps that together.
 */
struct insn {
	app_pc pc, target;
	uint8_t bytes[16];
	uint32_t aux;		/* operand of an emulated instruction */
	uint16_t imm;		/* of ret */
	uint8_t emulate;	/* enum emulated, or 0 */
	bool a32;		/* address-size prefix */

	uint8_t len;
	uint8_t flow;		/* enum flow */
	uint8_t special;	/* enum special */
	uint8_t nref;
	bool riprel;		/* its memory operand is PC-relative */
	uint8_t opsize;		/* bits of the operands */
	/* the effect: register effdst = effsrc + effdisp, unless NOREG */
	uint8_t effdst, effsrc;
	int32_t effdisp;
	uint16_t fread, fkill;	/* arithmetic flags read; always written */
	uint16_t rd, wr;	/* general registers read, written */
	uint16_t kill;		/* written whole, not read */
	uint16_t mnemonic;
	uint8_t field[NFIELD];	/* register in that field, or NOREG */
	uint8_t prefixlen;	/* legacy prefixes and REX/VEX/EVEX */
	bool vex2;		/* VEX of two bytes */
	uint8_t rexoff, vexoff, evexoff;	/* 0xff: none */
	uint8_t opcoff, modrmoff, siboff, dispoff, displen;

	struct ref ref[3];
	struct gather gather;
};

#define MAX_LEN 15u	/* bytes of an instruction */

#define ARITH_FLAGS 0x8d5u	/* CF PF AF ZF SF OF */

/* Called once.  components: those of xsave's that programs use at most. */
void decode_init(uint64_t components);

/*
 * Decode the instruction at bytes (n of them can be read, all from pc on; at
 * most MAX_LEN are).  0, or -1: not an instruction, or it needs more than n
 * bytes.
 */
int decode(struct insn *, app_pc pc, const uint8_t *bytes, unsigned n);

/*
 * The same, fast for instructions like an earlier one (template.c).  Its init
 * is called once, behind decode_init.
 */
void decode_again_init(void);
int decode_again(struct insn *, app_pc pc, const uint8_t *bytes, unsigned n);

/*
 * Prefetch what decode_again will need for the instructions from bytes on, n
 * bytes at most, as far as they were decoded before.
 */
void decode_prefetch(const uint8_t *bytes, unsigned n);
/*
 * Decode up to `most' instructions from pc on, as long as they were prefetched
 * and neither transfer control nor are special; returns how many.
 */
unsigned decode_run(struct insn *, app_pc pc, const uint8_t *bytes,
    unsigned most);

/* The instruction's length in bytes; 1 if it is none. */
unsigned decode_length(const uint8_t *bytes, unsigned n);

/*
 * The bits of cpuid's leaf 7, subleaf 1, for extensions that decode() does not
 * know (lacks.c).
 */
void decode_lacks(uint32_t *eax, uint32_t *edx);

/* Write its name and operands into buf, for messages. */
void decode_text(const uint8_t *bytes, unsigned n, app_pc pc, char *buf,
    unsigned size);

#endif
