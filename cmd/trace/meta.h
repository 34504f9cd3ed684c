/*
 * meta.h - what handlers find about a fragment: the segment `meta'
 *
 * trace writes, for each fragment, a struct fragmeta, its exits, its map and
 * the distances of its instructions; the runtime reads them when a thread
 * leaves the code cache by an exit, a fault or a signal.  The MAP says of each
 * cache address what the guest's state is there: how many instructions are
 * done, and where the registers are that the fragment uses for itself.  A fault
 * in the `add' of cmd/trace/README's fragment is at MAP_BODY with none done, so
 * the guest's pc is the fragment's.
 */
#ifndef META_H
#define META_H

#include <stdbool.h>
#include <stdint.h>

#define MAX_INSN 96u		/* instructions of a fragment */
#define COLD_INSN 48u		/* of one that follows no path */

/*
 * The two registers that fragments do not give to the guest; REG_P is the
 * guest's where nothing is recorded and nothing counted down: BOOT_FREE_P.
 */
/* records; counts: instructions to go; cache: clock; branches: history */
#define REG_P 8
#define REG_T 11	/* thread area */

/* What the runtime does at an exit of a fragment. */
enum exit_kind {
	EXIT_DIRECT,		/* go on at a known pc, and link the exit */
	EXIT_INDIRECT,		/* go on at the pc in rcx, by lookup words */
	EXIT_SYSCALL,		/* make the call, then go on at target */
	EXIT_EMULATE,		/* emulate an instruction, go on at target */
	EXIT_STALE,		/* the code is not what was translated */
	EXIT_REFUSE,		/* it cannot be translated: let go at target */
	EXIT_WINDOW,		/* a function begins or ends a window there */
	EXIT_FAULT,		/* no code there: let the processor fault */
	EXIT_SAMPLE		/* code that is compared is entered often; aux:
				 * which of samples[] */
};

enum emulated {
	EMU_CPUID = 1, EMU_XGETBV, EMU_WRFSBASE, EMU_WRGSBASE, EMU_XBEGIN,
	EMU_FLAGS, EMU_LRET, EMU_IRET,
	EMU_NATIVE,		/* the processor does it, at the guest's pc */
	EMU_FPSAVE,		/* it was executed; aux: enum fpsave */
	EMU_CLIENT,		/* a client request, of CLIENT_BYTES */
	EMU_SEGMENT		/* fs or gs was loaded */
};

/* Is it executed in the cache, so that the runtime has only to take note? */
static inline bool
emulated_inside(unsigned what)
{
	switch (what) {
	case EMU_WRFSBASE:
	case EMU_WRGSBASE:
	case EMU_FLAGS:
	case EMU_FPSAVE:
	case EMU_SEGMENT:
		return true;
	default:
		return false;
	}
}

/* How an instruction shows the address of the last x87 instruction. */
enum fpsave {
	FP_ENV = 1,		/* 4 bytes at 12 */
	FP_FXSAVE,		/* 4 bytes at 8 */
	FP_FXSAVE64,		/* 8 bytes at 8 */
	FP_XSAVE = 8		/* added: if x87 state was stored at all */
};

/*
 * A client request as valgrind.h spells it: rol $3, $13, $61, $51 of rdi, and
 * xchg of rbx with itself, which does nothing natively.  rax points to six
 * words, a request and its arguments; rdx holds the result.
 */
#define CLIENT_BYTES 19u

/* What a cache address means: what of its fragment has been done before it. */
enum map_kind {
	MAP_BODY,	/* before instruction n+1: n of them are done */
	MAP_EXIT,	/* exit taken, record not whole yet */
	MAP_COUNTED,	/* kind counts: counter stepped, REG_P not yet */
	MAP_LEFT_TMP,	/* like MAP_LEFT, but the target is in tmp1 */
	MAP_LEFT,	/* record whole, REG_P stepped; pc: exit's target */
	MAP_IBL,	/* entry: pc = rcx + fragment's pc */
	MAP_IBL0,	/* entry: pc = rcx */
	MAP_BACK,	/* behind a return inside: n are done, pc = rcx */
	MAP_BACK_LESS,	/* the same, pc = rcx + pc of instruction n */
	MAP_RETURN,	/* a return to rcx: its frame is still there */
	MAP_CALL,	/* like MAP_LEFT; the call has been counted */
	MAP_CALLED,	/* like MAP_LEFT; its frame is there */
	MAP_LAND,	/* the same, to tmp1; kind cache: of its reads and
			 * writes, the first `rep' have been added */
	MAP_LAND_IR,	/* the same; its cost has been added */
	/*
	 * Kind cache with --contexts: counter stepped, and the first `rep' of
	 * instructions, reads and writes, not --for.
	 */
	MAP_STEPPED,
	/*
	 * With --contexts, like MAP_BODY at a repeated instruction: before it,
	 * its rounds have been added to its counter, and the first `rep' of
	 * reads and writes, but not to the instructions; `counted': behind it,
	 * its rest has been taken off the counter, `rep' 1: and off the reads,
	 * but not off the instructions.
	 */
	MAP_ROUNDS,
	MAP_LEARN = MAP_LAND, MAP_LEARN_EXIT = MAP_LAND_IR  /* predictor.h */
};

/*
 * Kind cache: look-ups in cold code, one behind another, as look.h has them:
 * of code, or if `rep' is 1 of data.  The state in each is that where it goes
 * on.  This is `counted' of MAP_BACK, which has no other use of it.
 */
#define MAP_LOOKS 1u

struct mapent {
	uint16_t off;		/* cache bytes from the fragment's start */
	uint16_t homed;		/* registers whose value is in t->gpr[] */
	uint8_t n;		/* instructions done; an exit counts its own */
	uint8_t loc;		/* low 4 bits: register with P's guest value;
				 * high: T's; itself: it is in its home */
	uint8_t exit;		/* MAP_EXIT, MAP_LEFT: number of the exit */
	uint8_t kind : 4;
	uint8_t rep : 2;	/* 1, 2: in a repeated one; or REP_CHECK */
	uint8_t flags : 1;	/* the guest's flags are in rax: lahf, seto; at
				 * a call, from MAP_LEFT_TMP on, in t->flags */
	uint8_t counted : 1;	/* a repeated one's count has been added to the
				 * counter whose number is in tmp0 */
};

/*
 * tmp0 then: the counter's number, reads and writes of a round, and if calls
 * cost each of them, or each is learnt (predictor.h).
 */
static inline uint32_t
rounds_word(uint32_t counter, unsigned reads, unsigned writes, bool each)
{
	return counter | reads << 24 | writes << 26 | (uint32_t)each << 28;
}
/* Of such a word: how many reads (i 0) or writes (i 1) a round does. */
static inline unsigned
rounds_refs(uint64_t word, unsigned i)
{
	return word >> (24 + 2 * i) & 3;
}
/* Of such a word: is each round counted? */
static inline bool
rounds_each(uint64_t word)
{
	return word >> 28 & 1;
}

#define REP_CHECK 3		/* the guest's code is being compared */

/*
 * They are kept as bytes, each as what differs from the one before it, the
 * first from MAP_BEFORE.  A byte of enum map_byte, and as many bits of the
 * offset's step as it has room for; then, for each bit that is set, in this
 * order:
 */
enum map_byte {
	MAP_STEP = 15,		/* mask: the lowest bits of the step */
	MAP_FAR = 16,		/* the next 7 bits; and MAP_FARTHER: 8 more */
	MAP_LAST = 32,		/* the last byte of struct mapent */
	MAP_MORE = 64,		/* a byte of enum map_more */
	MAP_NEXT = 128		/* nothing, n is one more; or the exit is */
};
#define MAP_FARTHER 128u
enum map_more { MAP_N = 1, MAP_LOC = 2, MAP_EXITNO = 4,
	MAP_HOMED = 8,		/* both bytes */
	MAP_TOGGLE = 16,	/* 4 bits each: two registers whose bit in
				 * `homed' changes */
	MAP_ONE = 128		/* nothing: one does; its number instead of
				 * those two bits and the next two */
};
#define MAP_ONE_SHIFT 3
#define MAP_BYTES 10u		/* at most */
#define MAP_BEFORE ((struct mapent){ .loc = REG_P | REG_T << 4 })

/* These have the n of their exit, which is not kept; the others no exit. */
static inline bool
map_has_exit(unsigned kind)
{
	return kind == MAP_EXIT || kind == MAP_LEFT;
}

/*
 * Most maps begin with the same entries, where rcx is compared with a pc, of 64
 * bits or of 31.  These are not kept: MAP_ENTRY or MAP_ENTRY31 is added to the
 * number of the others.
 */
#define MAP_ENTRY 0x8000u
#define MAP_ENTRY31 0x4000u
#define NMAP_ENTRY 5u

/* Entry i of those that `which' of the two stands for. */
static inline struct mapent
map_entry(unsigned which, unsigned i)
{
	static const uint8_t off[2][NMAP_ENTRY] = {
		{ 0, 14, 30, 34, 42 }, { 0, 7, 16, 20, 28 } };
	static const uint8_t kind[NMAP_ENTRY] = { MAP_IBL0, MAP_IBL, MAP_IBL0,
		MAP_BODY, MAP_BODY };
	struct mapent m = MAP_BEFORE;

	m.off = off[which == MAP_ENTRY31][i];
	m.kind = kind[i] & 15;
	m.homed = i < 4 ? 1 << 0 | 1 << 1 : 0;	/* rax, rcx */
	return m;
}

/*
 * Behind them, for each instruction, how far the next one is, in 4 bits, the
 * low ones of a byte first; or 0 and the distance, with a sign, in PC_BITS.
 */
#define PC_BITS 48u
#define PC_BYTES 7u		/* at most */

struct exitmeta {
	uint64_t target;	/* guest pc; indirect: of the transfer itself */
	uint32_t id;		/* the head of its record; or its counter */
	uint32_t block;		/* the whole block, as in fragmeta */
	uint32_t aux;		/* operand of an emulated instruction;
				 * indirect: what to add to rsp to undo it */
	uint8_t n;		/* instructions that its id stands for */
	uint8_t kind : 4;	/* enum exit_kind */
	uint8_t emulate : 4;	/* enum emulated */
	uint8_t refs[2];	/* kind cache, --contexts: reads and writes of
				 * its instructions, those not repeated */
};

/* With --contexts, of each exit: how it leaves its context. */
struct exitcall {
	uint64_t site;		/* its last instruction */
	uint64_t landing;	/* a call: where in the cache it returns to */
	uint32_t key;		/* a call's: see struct ctx_arc */
	uint8_t sitelen;	/* bytes of its last instruction */
	uint8_t move : 7;	/* enum move */
	uint8_t looks : 1;	/* a jump whose arc the fragment looks up */
	uint8_t refs[2];	/* the exit's */
};

/* An exit as it is kept, without refs: there are several for each fragment. */
struct exitkept {
	uint32_t target[2];	/* the low half first */
	uint32_t id;
	uint32_t block : 28;	/* numbers are below 1 << ID_BITS, or NODEF */
	uint32_t emulate : 4;
	uint32_t aux : 20;	/* indirect: with a sign */
	uint32_t n : 8;
	uint32_t kind : 4;
};
_Static_assert(sizeof(struct exitkept) == 20, "there are many");

/* Pack an exit to keep it; unpack it, its refs being 0. */
static inline struct exitkept
exit_pack(const struct exitmeta *e)
{
	return (struct exitkept){ .target = { (uint32_t)e->target,
	    (uint32_t)(e->target >> 32) }, .id = e->id, .block = e->block &
	    0xfffffff, .emulate = e->emulate, .aux = e->aux & 0xfffff,
	    .n = e->n, .kind = e->kind };
}

/* Unpack it; its references are elsewhere, see exit_at. */
static inline struct exitmeta
exit_unpack(const struct exitkept *k)
{
	uint32_t sign = k->kind == EXIT_INDIRECT ? 1u << 19 : 0;

	return (struct exitmeta){ .target = k->target[0] |
	    (uint64_t)k->target[1] << 32, .id = k->id, .block = k->block,
	    .aux = (k->aux ^ sign) - sign, .n = (uint8_t)k->n,
	    .kind = k->kind & 15, .emulate = k->emulate & 15 };
}

struct fragmeta {
	uint64_t pc;
	uint32_t code;		/* from the zone's start */
	uint32_t map;		/* where its map entries are */
	uint32_t exit;		/* index of its first exit */
	uint32_t block;		/* number of its definition */
	uint16_t nmap;		/* entries that are kept, + MAP_ENTRY.. */
	uint16_t pcs;		/* its instructions' pcs, from map on */
	/* once it is in the table: */
	uint16_t entry;		/* from `code' on */
	uint8_t prologue;	/* see entry_word */
	uint8_t mode;		/* enum mode, and MODE_ONCE */
};

/*
 * The entry of a fragment, in one word: its cache address, and how many bytes
 * before that the entry for indirect transfers begins.
 */
#define ENTRY_BITS 48

/* Make such a word. */
static inline uint64_t
entry_word(uint64_t address, unsigned prologue)
{
	return address | (uint64_t)prologue << ENTRY_BITS;
}

/* The cache address of such a word. */
static inline uint64_t
entry_address(uint64_t entry)
{
	return entry & ((1ull << ENTRY_BITS) - 1);
}

/* How many bytes of code there are before that, for indirect jumps; or 0. */
static inline uint64_t
entry_prologue(uint64_t entry)
{
	return entry >> ENTRY_BITS;
}

#endif
