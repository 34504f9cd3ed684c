/*
 * xlate - a block becomes a fragment
 *
 * xlate.c	the driver: entry, instructions, exits, cold part
 * mangle.c	the instructions themselves
 * regs.c	where the guest's registers are meanwhile; mark.c map entries
 * address.c	the address of a reference; gather.c, rep.c of many
 * kinds.c	what is told: record.c, count.c, filter.c do it
 * def.c	definitions: what blocks are in the stream
 * emit.c	machine code
 *
 * Registers: a guest register is in its own hardware register or at HOME, in
 * the thread area, where a fragment put it to use the register.  It comes
 * back when an instruction reads it, at an exit, or never, where it is
 * overwritten first.  REG_P's and REG_T's guest values are always at home.
 */
#ifndef XLATE_H
#define XLATE_H

#include "code/code.h"
#include "xlate/emit.h"

struct def;
#define MAX_EXIT (MAX_INSN + 2)
#define MAX_MAP (MAX_INSN * 16)
/* Bytes that a fragment may need at most: checked before it is begun. */
#define XLATE_ROOM 32768u

struct xexit {
	uint8_t kind;		/* enum exit_kind */
	uint8_t emulate;
	uint8_t n;		/* guest instructions told */
	uint32_t aux;
	app_pc target;
	app_pc expect;		/* a return inside went elsewhere; or 0 */
	uint32_t homed;		/* at the branch that leads there */
	uint8_t *branch;	/* displacement of that branch, or NULL */
	uint32_t jmp;		/* offset of the rel32 to link, or 0 */
	uint32_t stub;		/* offset of its way to the runtime */
};

/* A check that did not find its line goes on here (filter.c). */
enum coldkind { COLD_FETCH, COLD_DATA, COLD_WIDE };
struct cold {
	uint8_t kind, i, s, t, flags;
	uint8_t fixed;		/* data: the address is known: addr */
	uint8_t two;		/* code: two lines from addr on */
	uint16_t size;
	uint32_t id, homed;
	uint32_t cell[2];
	uint32_t behind;	/* ticks of the clock, see filter.c */
	uint64_t addr;
	uint8_t *branch[2], *back;
};
#define MAX_COLD (MAX_INSN * 4)

struct xlate {
	const struct block *b;
	const struct groups *g;
	const struct kind *kind;
	struct code c;
	struct mapent map[MAX_MAP];
	unsigned nmap;
	struct xexit exit[MAX_EXIT];
	unsigned nexit;
	uint32_t id[MAX_INSN + 1];	/* that tells n instructions; 0: not asked for */
	uint32_t firstexit;	/* number of exit[0] among all */
	struct def *def;	/* frag.c's */
	unsigned once;		/* 1: MODE_ONCE */
	unsigned prologue;	/* bytes of the entry for indirect transfers */
	unsigned i;		/* instruction being translated */
	unsigned after;		/* 1: it is done, what follows still belongs to it */
	uint32_t homed;
	uint8_t loc;		/* see struct mapent */
	uint8_t flags;		/* 1: the guest's flags are in rax */
	uint8_t deadflags[MAX_INSN + 1];	/* before each instruction */
	struct {
		uint8_t from, next;	/* between these nobody uses it */
	} use[16];
	uint64_t line;		/* of code, known to be in the table */
	unsigned ticks, tick;	/* of all its uses of lines; those so far */
	struct cold cold[MAX_COLD];
	unsigned ncold;
	uint32_t cnt[MAX_INSN + 1];	/* counter of id[n] */
	struct {
		uint8_t *at;	/* push [rip+]: displacement to patch */
		uint64_t value;
	} literal[MAX_CALLS + 1];
	unsigned nliteral;
};

/* Write the fragment at x->c; -1: MAX_MAP or XLATE_ROOM is not enough. */
int xlate(struct xlate *);

/* def.c: the definition of a block just collected; NULL: it tells nothing */
struct def *def_find(const struct block *, const struct groups *,
    const struct kind *);
/* Ask for the ids of all exits that the block can have. */
void def_ids(struct def *, struct xlate *);
uint32_t def_number(const struct def *);
/* Whose id that is; the straight block at pc, as it was made last; or NULL. */
struct def *def_of(uint32_t id);
struct def *def_at(app_pc pc);
app_pc def_pc(const struct def *);
unsigned def_length(const struct def *);
/* The id of its first n instructions, or 0. */
uint32_t def_id(const struct def *, unsigned n);
/* Another block now goes on through this one; 1: so it was, told once. */
void def_pass(struct def *);
int def_was_passed(struct def *);
/*
 * The id of reference k (from 1; 0: the fetch) of instruction i (from 0).  A
 * gather's elements have one each.  stays: its lines are in the table then.
 */
uint32_t def_ref_id(struct def *, const struct xlate *, unsigned i, unsigned k,
    int stays);
/*
 * For a thread stopped inside a block, given by its definition's number, after
 * n of its instructions: the id that tells them (0: none) and in *sizes, 16
 * bits each, bytes of its record, offset of a repeated one's count, 32: of the
 * block's.  Where there are counters: the counter, of which there must be one
 * left, or NO_COUNTER; *sizes is that of the record of a repeated instruction
 * that was cut, or 0.
 */
#define NO_COUNTER ~0u
uint32_t def_partial(uint32_t def, unsigned n, unsigned rep, uint64_t *sizes);
/* The id that tells that a line of code ('i') or data ('d') leaves. */
uint32_t def_leave_id(char which);
/* There are ids for one block more, whatever it has. */
bool def_ids_left(void);
/* Code was mapped or unmapped: what comes from now on gets new ids. */
void def_mappings_changed(void);

/* kinds.c: the kind of this name, which may have a parameter behind it */
const struct kind *kind_find(const char *name);
/* Names that can be asked for, with commas between. */
const char *kind_names(void);
/* What runs before --after is over, and outside of windows. */
extern const struct kind kind_skip, kind_outside;

#endif
