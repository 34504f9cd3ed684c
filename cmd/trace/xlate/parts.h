/*
 * parts.h - what the files of a translation share; not for other folders
 */
#ifndef PARTS_H
#define PARTS_H

#include "tarea.h"
#include "xlate/xlate.h"

#define HOME(r) TO_GPR(r)
/* The offset of a record's value k from REG_P. */
#define VALUE(k) ((int32_t)record_size(k))

/* mark.c: from here on the code is before instruction n (from 0) ... */
void mark(struct xlate *, unsigned n, unsigned kind, unsigned rep);
/* ... or among look-ups of code, or data, see MAP_LOOKS ... */
void mark_looks(struct xlate *, bool data);
/* ... or in exit e. */
void mark_exit(struct xlate *, unsigned e, unsigned kind);
/* The same, and some of what the kind means has been done. */
void mark_part(struct xlate *, unsigned e, unsigned kind, unsigned done);
/*
 * Instructions from this one on, n of them, will be copied here as they are:
 * add what mark would behind each.
 */
void mark_run(struct xlate *, unsigned from, unsigned n);

/* regs.c: true if fragments have the register for themselves */
bool regs_stolen(unsigned reg);
/* True if the register's guest value is at home only. */
bool regs_at_home(const struct xlate *, unsigned reg);
/* Save a register's guest value at home, so that a fragment can use it. */
void regs_home(struct xlate *, int reg);
/* Reload those registers of a set that are at home. */
void regs_reload(struct xlate *, uint32_t set);
/* A scratch register that is not in avoid; its guest value is at home. */
int regs_scratch(struct xlate *, uint32_t avoid);

/*
 * A register for an instruction to use instead of a stolen one; it has that
 * one's value if the instruction reads it.  The second notes that it has been
 * stored home.
 */
int regs_instead(struct xlate *, int stolen, const struct insn *,
    uint32_t avoid);
void regs_stored(struct xlate *, int stolen, int s);
/* The registers that have such values: they are at home, but not free. */
uint32_t regs_copies(const struct xlate *);

/* entry.c: write where the fragment is entered; the comparison of its code */
void entry_write(struct xlate *);
void entry_check(struct xlate *);

/* exits.c: a new exit, behind n of the block's instructions; its number */
unsigned exit_new(struct xlate *, unsigned kind, app_pc target, unsigned n);
/* Leave by the runtime, with the exit's number. */
void exit_leave(struct xlate *, unsigned e);
/*
 * Have the displacement of a branch that is linked later, behind so many bytes
 * of opcode, lie within 8 aligned bytes; write a jmp like that, and return
 * where its displacement is.
 */
void exit_align(struct emitter *, unsigned opcode_bytes);
uint8_t *exit_jump(struct emitter *);
/* rcx += v, flags are kept; rax is used if v is wide. */
void exit_add_rcx(struct xlate *, uint64_t v);
/*
 * In rcx, the target of exit e, an indirect one, as the runtime takes it from a
 * lookup: a jump's with the owner's key; rax is used.
 */
void exit_add_key(struct xlate *, unsigned e);
/* Go by the lookup words to rcx, the target of exit e; rax is free. */
void exit_by_word(struct xlate *, unsigned e);

/* leave.c: leave by exit e, whose branch was taken; registers as in x->homed */
void leave_by(struct xlate *, unsigned e);
/* The code of side exits, out of line; the stubs of exits that are linked. */
void leave_cold(struct xlate *);
void leave_stubs(struct xlate *);

/* transfer.c: a conditional branch; another transfer inside of the block */
void transfer_cond(struct xlate *, const struct insn *);
void transfer_inner(struct xlate *, const struct insn *);
/* The transfer that ends the block; its last exit, of any kind. */
void transfer_end(struct xlate *, const struct insn *);
void transfer_last(struct xlate *, unsigned kind, app_pc target);
/* Behind a repeated comparison that has ended by its count: to it again. */
void transfer_again(struct xlate *, const struct insn *);

/* address.c: s = the address of r; registers in taken are not free */
void address_of(struct xlate *, const struct ref *r, int s, uint32_t taken);
/* Keep the address of the instruction's operand for the runtime. */
void address_keep(struct xlate *);

/* gather.c: the address of each element, to kind->element */
void gather(struct xlate *);

/* rep.c: around a repeated instruction, see struct kind */
void rep_before(struct xlate *);
void rep_after(struct xlate *);
/* The count of one that may end early; true: rdx and rbx went home for it. */
bool rep_count(struct xlate *);

/* record.c: store reg as the value of a group */
void record_value(struct xlate *, unsigned group, int reg);
/* Store the address of r as the group's value. */
void record_address(struct xlate *, const struct ref *r, unsigned group);
/* Kinds with records: struct kind's refer, element and tell. */
void record_refer(struct xlate *);
void record_element(struct xlate *, unsigned e, int s);
void record_tell(struct xlate *, unsigned e);

/* look.c: call rt_look with these arguments; it returns behind them. */
void look(struct emitter *, uint32_t head, uint32_t kind);
/* What t->entry has for a place in the fragment. */
uint32_t look_place(const struct emitter *, const uint8_t *at);
/* Fill up to where arguments can be, at a multiple of 4. */
void look_align(struct emitter *);
/* Call a routine, an offset from REG_T, with arguments that are there. */
void look_call(struct emitter *, int32_t routine, const uint8_t *arguments);

/* allocs.c: with --allocs */
/* At the first instruction of a function of allocations. */
void allocs_entry(struct xlate *);
/*
 * At exit e, a return: ask whether an allocation returns. Returns where the
 * branch is to the part out of line, which goes on at `on'.
 */
uint8_t *allocs_return(struct xlate *, unsigned e);
void allocs_return_cold(struct xlate *, unsigned e, uint8_t *returned,
    const uint8_t *on);

/*
 * count.c: struct kind's tell. In kind counts: step the exit's counter, and
 * what is counted down; before --after is over, and between the windows of
 * --every, only the latter; outside of other windows and in kind none, only
 * note which exit it was.
 */
void count_tell(struct xlate *, unsigned e);
void count_skip(struct xlate *, unsigned e);
void count_outside(struct xlate *, unsigned e);
/* Other kinds, with --for or --every: what is left is in t->left. */
void count_left(struct xlate *, unsigned e);
static inline bool
counts_left(void)
{
	return opt->during != 0 || opt->every != 0;
}
/* In kind cache: by a register that is at home already, if there is one. */
void count_tell_homed(struct xlate *, unsigned e);
/* In kind branches: the same, behind learn_exit. */
void count_tell_learnt(struct xlate *, unsigned e);

/* May exit e change the flags? */
static inline bool
exit_frees_flags(const struct xlate *x, unsigned e)
{
	return x->exit[e].kind == EXIT_DIRECT && !x->once &&
	    flags_dead(x->exit[e].target);
}

/* learn.c: kind branches; at the start: give each branch its counter */
void learn_start(struct xlate *);
/* Before a conditional branch: the register that will have its history. */
int learn_begin(struct xlate *);
/* Behind it, where the block goes on; s: that register. */
void learn_inside(struct xlate *, int s);
/* With --rep=each, behind a repeated instruction: rdx is used and reloaded. */
void learn_rounds(struct xlate *);
/* Map entries behind it, and at exit e: the branch has not been learnt. */
void learn_mark(struct xlate *);
void learn_mark_exit(struct xlate *, unsigned e);
/* Is exit e a branch that the predictor learns? */
bool learn_is_exit(const struct xlate *, unsigned e);
/* Learn that branch, which has been taken. */
void learn_exit(struct xlate *, unsigned e);
/* The cold code of all branches: mispredicted ones, and weak predictions. */
void learn_behind(struct xlate *);

/* filter.c: kind cache, the members of struct kind with these names */
void filter_refer(struct xlate *);
void filter_element(struct xlate *, unsigned e, int s);
void filter_rep_before(struct xlate *);
void filter_rep_after(struct xlate *);
void filter_cold(struct xlate *);

/*
 * calls.c: with --contexts. Exit e is a call, or a jump that is one: all
 * registers hold the guest's values, but rcx the target of an indirect one.
 */
void calls_call(struct xlate *, unsigned e);
/* A return: rcx is the target, rax is free. */
void calls_return(struct xlate *);
/* Where calls enter: rax, rcx, rdx are at home; behind it rax and rcx are. */
void calls_entry(struct xlate *);
/* The code of calls that are not as expected. */
void calls_cold(struct xlate *);

/*
 * refs.c: with --contexts, instructions, reads and writes are counted; in kind
 * cache by words, which a frame keeps as of its call. s and r are registers; r
 * is free. First, step them by what exit e has done.
 */
void refs_tell(struct xlate *, unsigned e, int r);
/* A call: into the new frame, whose address is in rcx; rdx is free. */
void refs_push(struct xlate *);
/*
 * A return, whose exit is l: add what the frame at rax has cost to its arc's
 * count, at rdx, but for instructions: rax becomes their number by now, rcx
 * that at the call.
 */
void refs_pop(struct xlate *, unsigned l);
/* How many reads (n[DO_READ]) and writes one round of an instruction has. */
void refs_of_round(const struct insn *, uint8_t n[2]);
/* What the block's first instructions do, by number; NULL: nobody asks. */
const uint8_t (*refs_first_do(const struct block *))[NDO];
/*
 * --rep=each, before a repeated instruction: count as many more instructions as
 * s has rounds; s is used. Behind one that only reads: take those off that have
 * not been done, -1 - s of them.
 */
void refs_each(struct xlate *, int s, int r);
void refs_uneach(struct xlate *, int s, int r);
/* The same of the reads and writes in these rounds; s stays. */
void refs_rounds(struct xlate *, int s, int r);
void refs_unround(struct xlate *, int s, int r);
/* A gathered or scattered element's address is in s; 0: it did not happen. */
void refs_element(struct xlate *, int s);

/*
 * mangle.c: the next instructions, as long as they are copied as they are and
 * nothing else is done for them; steps x->i
 */
void mangle_run(struct xlate *);
/* The instruction itself. */
void mangle_copy(struct xlate *, unsigned rep);
/* reg = the target of the indirect transfer x->i; reg must be at home. */
void mangle_target(struct xlate *, int reg);

/* def.c: a definition by its number; false: there is none. */
struct def_told {
	uint32_t id;
	unsigned n;
	bool made;		/* some of its code is in no file */
	size_t known;		/* names that were known when it was made */
	const uint8_t *packed;
};
bool def_told(uint32_t number, struct def_told *);
uint32_t def_end(void);		/* above all numbers */

/* ids.c: a new id; the next new one is this one or a later one. */
uint32_t def_new_id(void);
void def_ids_from(uint32_t id);

/*
 * shelved.c: the definitions of n numbers, from this one on, are on the shelf;
 * find gives what is packed of one, NULL: they are not.  What is packed of a
 * number, and at most how many bytes, or NULL.
 */
void shelved_begin(uint32_t number, uint32_t n, def_shelved *find);
const uint8_t *shelved_packed(uint32_t number, size_t *size);
/* The number behind those on the shelf, if this is one of them; else this. */
uint32_t shelved_end(uint32_t number);
/*
 * A thread stopped behind n instructions of a block on the shelf: their
 * counter, or NO_COUNTER if there are not so many.  The id is that of a prefix
 * of the block, so what is told of the block's rounds is told of them.  false:
 * it is not on the shelf.
 */
bool shelved_part(uint32_t number, unsigned n, uint32_t *counter);

#endif
