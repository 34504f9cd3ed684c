/*
 * parts - what the parts of a translation share; not for other folders
 */
#ifndef PARTS_H
#define PARTS_H

#include "xlate/xlate.h"

#define HOME(r) TO_GPR(r)
/* Where value k of a record is, from REG_P. */
#define VALUE(k) ((int32_t)record_size(k))

/* mark.c: from here on the cache stands before instruction n (from 0) ... */
void mark(struct xlate *, unsigned n, unsigned kind, unsigned rep);
/* ... or in exit e. */
void mark_exit(struct xlate *, unsigned e, unsigned kind);

/* regs.c: its guest value is to be had at home only */
bool regs_at_home(const struct xlate *, unsigned reg);
/* Put a register's guest value at home, so that it can be used. */
void regs_home(struct xlate *, int reg);
/* Bring those of a set of registers back that are at home. */
void regs_reload(struct xlate *, uint32_t set);
/* A register to use, its guest value at home; none of those in avoid. */
int regs_scratch(struct xlate *, uint32_t avoid);

/* address.c: s = the address of r; those in taken are not free */
void address_of(struct xlate *, const struct ref *r, int s, uint32_t taken);
/* Keep the address of the instruction's operand for the runtime. */
void address_keep(struct xlate *);

/* gather.c: the address of each element, to kind->element */
void gather(struct xlate *);

/* rep.c: around a repeated instruction, see struct kind */
void rep_before(struct xlate *);
void rep_after(struct xlate *);
/* The count of one that may end early; true: rdx and rbx are at home. */
bool rep_count(struct xlate *);

/* record.c: the value of a group is in reg */
void record_value(struct xlate *, unsigned group, int reg);
/* The group's value is the address of r. */
void record_address(struct xlate *, const struct ref *r, unsigned group);
void record_refer(struct xlate *);
void record_element(struct xlate *, unsigned e, int s);
void record_tell(struct xlate *, unsigned e);

/* count.c: kind counts, before --after is over, outside of windows ... */
void count_tell(struct xlate *, unsigned e);
void count_skip(struct xlate *, unsigned e);
void count_outside(struct xlate *, unsigned e);
/* ... and by a register that is at home anyhow, if there is one. */
void count_tell_homed(struct xlate *, unsigned e);

/* filter.c: kind cache */
void filter_refer(struct xlate *);
void filter_element(struct xlate *, unsigned e, int s);
void filter_rep_before(struct xlate *);
void filter_rep_after(struct xlate *);
void filter_cold(struct xlate *);

/* mangle.c: the instruction itself */
void mangle_copy(struct xlate *, unsigned rep);
/* mov reg, what the indirect transfer x->i goes to; reg is at home. */
void mangle_target(struct xlate *, int reg);

#endif
