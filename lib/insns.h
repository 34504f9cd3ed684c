/*
 * insns.h - the instructions of a stream: numbers, addresses, costs by address
 *
 * For programs that sum up over blocks. Blocks get numbers from 0 in order of
 * their definition, and their instructions numbers from 0 through all blocks.
 * An instruction may be in several blocks; its costs are then added up.
 */
#ifndef INSNS_H
#define INSNS_H

#include <stdbool.h>
#include <stdint.h>

#include "ev.h"

struct codename;
struct codenames;
struct costw;
struct insns;
struct objmap;

/* A table without blocks. */
struct insns *insns_new(void);
/* Add a block at its definition, by what is mapped now; returns its number. */
uint32_t insns_add(struct insns *, const struct ev_block *, struct objmap *);
/* Add a prefix: id is the first n instructions of a block. */
void insns_part(struct insns *, uint32_t block, uint32_t id, uint32_t n);
/*
 * Give the instructions of a block that are in a function's range to that
 * function, as a list of blocks says (codename.h). Call this before insns_write
 * and insns_visit.
 */
void insns_name(struct insns *, uint32_t block, struct codename *);
/* Are there names of code with lines? */
bool insns_has_lines(const struct insns *);
/* The number of a block's first instruction. */
uint64_t insns_first(const struct insns *, uint32_t block);

/* One instruction of one block, and how often it was executed. */
struct insns_at {
	uint32_t block;
	uint32_t insn;
	const struct ev_insn *i;
	const struct ev_ref *ref;	/* its references */
	uint64_t times;
	uint32_t object;	/* 1 + its number; 0: none */
	uint64_t addr;		/* link-time; without an object run-time */
	struct codename *code;	/* the function, if made at run time; or NULL */
};

/*
 * Code made at run time that has lines takes other positions in a cost file
 * than all else, so that it is written, or left out, by itself.
 */
enum insns_which { INSNS_ALL, INSNS_WITHOUT_LINES, INSNS_WITH_LINES };

struct insns_costs {
	struct costw *w;	/* NULL: only add up the total */
	enum insns_which which;
	unsigned nev;
	int64_t *total;		/* nev sums, to which all costs are added */
	/* Says how often an id was executed. */
	uint64_t (*count)(uint32_t id);
	/* Adds the costs of one instruction to n[nev]. */
	void (*add)(const struct insns_at *, int64_t *n);
};

/*
 * Write costs by object and address. Instructions that were never executed are
 * left out. Parts can be written one after the other, with one total.
 */
void insns_write(struct insns *, const struct insns_costs *, struct objmap *);
/*
 * Call add, with NULL for n, for each instruction of each block that was
 * executed, nearly in order of objects and addresses: blocks that overlap come
 * one after the other. Of the costs only count and add are used.
 */
void insns_visit(struct insns *, const struct insns_costs *);

#endif
