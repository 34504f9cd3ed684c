/*
 * xlate - a block becomes a fragment
 *
 * The state of a translation, between its parts: xlate.c goes through the
 * block and writes exits, probe.c records references, mangle.c writes the
 * instructions themselves.
 *
 * Registers: a guest register is in its own hardware register or at HOME, in
 * the thread area, where a fragment put it to use the register.  It comes
 * back when an instruction reads it, at an exit, or never, where it is
 * overwritten first.  REG_P's and REG_T's guest values are always at home.
 */
#ifndef XLATE_H
#define XLATE_H

#include "trace.h"

struct def;
#define HOME(r) TO_GPR(r)
#define MAX_CALLS 15u	/* inside a block */
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
	struct code c;
	struct mapent map[MAX_MAP];
	unsigned nmap;
	struct xexit exit[MAX_EXIT];
	unsigned nexit;
	uint32_t id[MAX_INSN + 1];	/* that tells n instructions; 0: not asked for */
	uint32_t firstexit;	/* number of exit[0] among all */
	struct def *def;	/* frag.c's */
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

/* From here on the cache stands before instruction n (from 0) / in exit e. */
void xlate_mark(struct xlate *, unsigned n, unsigned kind, unsigned rep);
void xlate_mark_exit(struct xlate *, unsigned e, unsigned kind);
/* A register to use, its guest value at home; none of those in avoid. */
int xlate_scratch(struct xlate *, uint32_t avoid);
/* Put a register's guest value at home, so that it can be used. */
void xlate_home(struct xlate *, int reg);
/* Bring those of a set of registers back that are at home. */
void xlate_reload(struct xlate *, uint32_t set);

/* probe.c: record what instruction x->i refers to */
void probe_refs(struct xlate *);
/* Keep the address of its operand for the runtime. */
void probe_operand(struct xlate *);
void probe_rep_before(struct xlate *);
void probe_rep_after(struct xlate *);
void probe_gather(struct xlate *);
/* Tell exit e: its record's header, or its counter. */
void probe_tell(struct xlate *, unsigned e);
/* Exit e may be the end of a window. */
void probe_window(struct xlate *, unsigned e);

/* s = the address of r; those in taken are not free. */
void probe_address(struct xlate *, const struct ref *r, int s, uint32_t taken);

/* filter.c: kind cache */
void filter_refs(struct xlate *);
void filter_element(struct xlate *, unsigned e, int s);
void filter_rep(struct xlate *);
void filter_cold(struct xlate *);
/* def.c: the definition of a block just collected; NULL: it tells nothing */
struct def *def_find(const struct block *, const struct groups *);
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
/* Code was mapped or unmapped: what comes from now on gets new ids. */
void def_mappings_changed(void);

/* mangle.c: the instruction itself */
void mangle_copy(struct xlate *, unsigned rep);
/* mov reg, what the indirect transfer x->i goes to; reg is at home. */
void mangle_target(struct xlate *, int reg);

#endif
