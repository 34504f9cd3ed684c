/*
 * xlate.h - translate a block into a fragment
 *
 * xlate.c	the driver: entry, instructions, exits, cold part
 * entry.c	where a fragment is entered; transfer.c the guest's branches
 * exits.c	exits and their numbers; leave.c how one is left by
 * mangle.c	copies the guest's instructions
 * look.c	calls the runtime to look at something
 * allocs.c	has allocations told
 * regs.c	tracks where the guest's registers are; mark.c map entries
 * address.c	computes the address of a reference; gather.c, rep.c of many
 * kinds.c	the kinds of events, carried out by record.c, count.c, learn.c
 *		and filter.c, see filter.h
 * calls.c	calls and returns, with --contexts; refs.c what they take
 * def.c	definitions of blocks in the stream
 * defrefs.c	ids of single references; ids.c ids, given in order
 * special.c	ids of records that are no executions of blocks
 * defkept.c	definitions for the store and from it, which defpack.c packs
 * shelved.c	threads that stop in blocks of which the store has only text
 * names.c	names of code made at run time
 *
 * Registers: a guest register is either in its own hardware register or at
 * HOME, its slot in the thread area: a fragment saves it there when it needs
 * the hardware register itself.  It is reloaded when an instruction reads it
 * or at an exit, and never if an instruction overwrites it first.  The guest's
 * values of REG_P and REG_T are always at home.
 */
#ifndef XLATE_H
#define XLATE_H

#include "code/code.h"
#include "context/context.h"
#include "evw.h"
#include "emit.h"

struct def;
struct evw;
#define MAX_EXIT (MAX_INSN + 2)
#define MAX_MAP (MAX_INSN * 16)
/* Most bytes that a fragment may need; checked before it is begun. */
#define XLATE_ROOM 32768u

struct xexit {
	uint8_t kind;		/* enum exit_kind */
	uint8_t emulate;
	uint8_t n;		/* guest instructions that it reports */
	uint8_t move;		/* enum move */
	uint32_t key;		/* a call's, see struct ctx_arc */
	bool saves;		/* a call: flags are kept in the area */
	bool looks;		/* an indirect jump: an arc is looked up */
	uint64_t landing;	/* a call's: where it returns to */
	uint32_t aux;
	app_pc target;
	app_pc expect;		/* a return inside the block: where the block
				 * goes on; else 0 */
	uint32_t homed;		/* registers at home at the branch to it */
	int8_t history;		/* learn.c: the register that has it */
	uint8_t *branch;	/* displacement of that branch, or NULL */
	uint32_t jmp;		/* offset of the rel32 to link, or 0 */
	uint32_t stub;		/* offset of the code that calls the runtime */
};

/* Cold code for a check in line that misses in the table (filter.h). */
enum cold_kind { COLD_FETCH, COLD_DATA, COLD_NEAR, COLD_WIDE };
struct cold_check {
	uint8_t kind;		/* enum cold_kind */
	uint8_t i;		/* instruction */
	uint8_t s, t;		/* scratch registers */
	uint8_t ref;		/* COLD_NEAR: of the instruction's */
	bool flags_in_rax;
	bool fixed;		/* data: the address is constant: addr */
	bool two;		/* code: two lines from addr on */
	uint16_t size;
	uint32_t id, homed;
	uint32_t keep;		/* registers that have copies */
	uint32_t cell[2];
	uint64_t addr;
	uint8_t *branch[2];	/* displacements of the branches to it */
	uint8_t *back;		/* where the code in line goes on */
};
#define MAX_COLD (MAX_INSN * 8)

/* Cold code of a branch that the predictor may have to learn (learn.c). */
struct cold_learn {
	uint8_t n;		/* instructions up to it */
	uint8_t exit;		/* taken: by this exit */
	bool at_exit;
	bool taken;		/* as the predictor has it */
	bool flags_in_rax;
	int8_t s;		/* has the history */
	uint32_t homed;
	uint8_t *branch;	/* displacement of the branch to it */
	uint8_t *back;		/* where the code in line goes on */
};

struct xlate {
	const struct block *b;
	const struct groups *g;
	const struct kind *kind;
	struct emitter c;
	struct mapent map[MAX_MAP];
	unsigned nmap;
	struct xexit exit[MAX_EXIT];
	unsigned nexit;
	uint32_t id[MAX_INSN + 1];	/* of the first n instructions, or 0 */
	uint32_t firstexit;	/* number of exit[0] among all exits */
	struct def *def;	/* set by frag.c */
	bool was_listed;	/* it has had ids of references before */
	uint32_t owner;		/* with --contexts; else 0 */
	unsigned callentry;	/* offset of the entry for calls */
	struct {
		uint8_t *at;	/* displacement of a branch out of a call */
		uint8_t *again;	/* what is found goes on there; or NULL */
		uint8_t exit;
	} call[4 * MAX_EXIT];
	unsigned ncall;
	bool once;		/* MODE_ONCE */
	bool by_lookup;		/* MODE_LOOKUP */
	unsigned entry;		/* offset of the entry */
	unsigned prologue;	/* bytes before it for lookup words, or 0 */
	unsigned i;		/* instruction being translated */
	uint32_t homed;		/* set of the registers at home */
	uint8_t loc;		/* see struct mapent */
	/* registers with copies of REG_P's, REG_T's homes; or NOREG: none */
	uint8_t copy[2];
	bool flags_in_rax;	/* the guest's flags are saved there */
	bool flags_in_area;	/* or there: see struct mapent */
	bool counted;		/* see struct mapent */
	/* before each instruction: all flags are written before any read */
	bool deadflags[MAX_INSN + 1];
	uint64_t line;		/* code line known to be in the table */
	/* since the clock's last tick, uses lie from lo up to hi (exclusive) */
	struct {
		int64_t lo, hi;	/* equal: there were none */
	} code, data;		/* lines; bytes, as `off' of references */
	bool ticks;		/* the clock has ticked in this block */
	struct {		/* the reference before, if it was looked up */
		uint8_t reg;	/* has its offset in its line, or is larger
				 * than a line; at home; NOREG: there is none */
		int64_t off;	/* see struct refgroup */
		uint32_t size;
	} before;
	struct cold_check cold[MAX_COLD];
	unsigned ncold;
	struct cold_learn learn[2 * MAX_INSN];
	unsigned nlearn;
	uint32_t missed[MAX_INSN];	/* counters of mispredictions */
	uint32_t cnt[MAX_INSN + 1];	/* counter of id[n] */
	/* with --contexts: of the first n instructions */
	uint8_t does[MAX_INSN + 1][NDO];
	struct {
		uint8_t *at;	/* push [rip+]: displacement to patch */
		uint64_t value;
	} literal[MAX_CALLS + 1];
	unsigned nliteral;
};

/* Write the fragment at x->c; false: it exceeds MAX_MAP or XLATE_ROOM. */
bool xlate(struct xlate *);
/* Write the landing of frames that jumps push (calls.c). */
void calls_more(struct xlate *);
/*
 * mark.c: put map entries where the runtime reads them, and how many are kept
 * into *kept; returns their end.
 */
uint8_t *map_pack(uint8_t *, const struct mapent *, unsigned n, uint16_t *kept);

/*
 * def.c: the definition of a block just collected; NULL: the block is empty or
 * its kind has no definitions
 */
struct def *def_find(const struct block *, const struct groups *,
    const struct kind *, uint32_t owner);
/* Make the ids of all exits that the block can have. */
void def_ids(struct def *, struct xlate *);
/* The definition's number, by which fragments and exits name it. */
uint32_t def_number(const struct def *);
/* The definition that an id belongs to; NULL: none. */
struct def *def_of(uint32_t id);
/* The latest definition of the straight block at pc; NULL: none. */
struct def *def_at(app_pc pc);
/* The pc of its first instruction, and how many instructions it has. */
app_pc def_pc(const struct def *);
unsigned def_length(const struct def *);
/* The id of its first n instructions, or 0. */
uint32_t def_id(const struct def *, unsigned n);
/* In kinds with counters: its counter, or NO_COUNTER. */
uint32_t def_counter(const struct def *, unsigned n);
/* Note that another block's path now runs through this one. */
void def_pass(struct def *);
/* Was that noted?  The note is removed, and the block's samples are halved. */
bool def_was_passed(struct def *);
/*
 * Requests to define the blocks in this range that are not yet, for
 * format_text; to be freed. NULL: there are none.
 */
char *def_lines(uint64_t start, uint64_t end);
/* Code was mapped or unmapped: blocks translated from now on get new ids. */
void def_mappings_changed(void);
/* The reads and writes of its first n instructions: low byte, and the next. */
uint64_t def_refs(uint32_t def, unsigned n);
/*
 * The code that a slot's thread has run for an owner in limbo was another's:
 * move its counts.  The thread waits for us.  false: for the rest there are
 * less than DEF_COUNTERS counters.
 */
#define DEF_COUNTERS (2 * MAX_INSN + 2)
bool def_move(unsigned slot, uint32_t limbo, uint32_t owner);

/*
 * defrefs.c: the id of reference k (from 1; 0: the fetch) of instruction i
 * (from 0).  A gather's elements have one each.  stays: the table holds its
 * lines then.
 */
uint32_t def_ref_id(struct def *, const struct xlate *, unsigned i, unsigned k,
    bool stays);

/*
 * defkept.c: for a thread that stopped inside a block after n of its
 * instructions; def is the number of the block's definition.  Returns the id of
 * these instructions (0: none), and in *sizes: bits 0..15 the bytes of its
 * record, 16..31 the offset of a repeated instruction's count, from 32 the
 * bytes of the whole block's record.  With counters it returns the counter
 * instead (one must be left), or NO_COUNTER, and *sizes describes the record of
 * a repeated instruction that was interrupted, or is 0.
 */
#define NO_COUNTER ~0u
uint32_t def_partial(uint32_t def, unsigned n, unsigned rep, uint64_t *sizes);
/* --store: can a definition be kept, and is it that of the block at pc? */
bool def_can_pack(uint32_t number, app_pc pc);
#define REFS_PACKED 1024u	/* references with ids, at most */
#define DEF_PACKED_MOST (TEXT_MOST + 64 + 4 * 8 * (MAX_INSN + 1) + \
	REFS_PACKED * (4 + sizeof(struct evw_ref)))
/*
 * Pack it into at most DEF_PACKED_MOST bytes, with the numbers that are in its
 * code: counters if the kind has them, and ids if they are fixed.  Returns how
 * many bytes that are; 0: it cannot be packed.
 */
size_t def_pack(uint32_t number, app_pc pc, uint8_t *);
struct shelf_count;
/* Finds what is packed of definition i, in at most *n bytes; NULL: nothing. */
typedef const uint8_t *def_shelved(uint32_t i, size_t *n);
/*
 * Reserve numbers for n definitions that def_unpack will make; returns the
 * first.  New definitions get ids from `ids' on.  With a function, these are on
 * the shelf (stream/shelf.c) instead: it is called when one is asked for.
 */
uint32_t def_reserve(uint32_t n, uint32_t ids, def_shelved *);
/*
 * Make such a definition, the number'th of them, of what n bytes begin with;
 * counters are below ncounter.  false: it is not believed.
 */
bool def_unpack(const uint8_t *, size_t n, app_pc pc, uint32_t ncounter,
    uint32_t number);

/* defpack.c: are the kind's definitions put on the shelf? */
bool def_on_shelf(void);
/* Does the code have ids?  They are then the same in the next run. */
bool def_ids_are_fixed(void);
/*
 * The bytes of the packed definition that n bytes begin with; 0: it is none.
 * The functions that follow are for what this has accepted.
 */
size_t def_packed_size(const uint8_t *, size_t n);
/* Its items. */
const uint8_t *def_packed_items(const uint8_t *from);
/* How many instructions it has. */
unsigned def_packed_length(const uint8_t *from);
#define TEXT_ROOM 65536u
/* The text of its items, in TEXT_ROOM bytes; returns its length, or -1. */
int def_packed_text(const uint8_t *from, char *text);
/* Set what its counters count; its text is at `at' of all on the shelf. */
void def_packed_counts(const uint8_t *from, size_t n, uint32_t at,
    struct shelf_count *);
/* The counter of all its instructions. */
uint32_t def_packed_counter(const uint8_t *from);
/* Is some of its code in [start, end)?  If it is straight: its beginning. */
bool def_packed_overlaps(const uint8_t *from, uint64_t start, uint64_t end);
/* The counter of the first n instructions, or NO_COUNTER. */
uint32_t def_packed_part(const uint8_t *from, unsigned n);

/* filtercode.c: the *n lines of code that have cells, by number. */
const uint64_t *filter_cells(uint32_t *n);
/* Give cells to the store's lines, before any other line has one. */
void filter_put_cells(const uint64_t *lines, uint32_t n);

/* special.c: the id of records: a line of code ('i') or data ('d') leaves. */
uint32_t def_leave_id(char which);
/* The id of records of --allocs. */
uint32_t def_alloc_id(void);
/* That of records that say which calls a thread has made or left. */
uint32_t def_frame_id(void);

/* ids.c: true if enough ids are left for any one block. */
bool def_ids_left(void);
/* The id after all that were given. */
uint32_t def_ids_used(void);

/*
 * names.c: the names of code made at run time, for blocks of this image that
 * have been written; another image begins after that, unless it is not at_end.
 */
void names_tell(struct evw *, bool at_end);

/*
 * learn.c: the counter of mispredictions of instruction n, from 1, of a
 * definition's block; one must be left. false: there is no such instruction.
 */
bool learn_counter(uint32_t def, unsigned n, uint32_t *counter);

/* kinds.c: the kind of this name; a parameter may follow the name */
const struct kind *kind_find(const char *name);
/* The names that -e takes, separated by commas. */
const char *kind_names(void);
/* The kinds of code before --after is over and outside of windows. */
extern const struct kind kind_skip, kind_outside, kind_between;

#endif
