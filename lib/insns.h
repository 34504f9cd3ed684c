/*
 * insns.h - the instructions of a stream: numbers, places, costs by address
 *
 * For programs that sum up over blocks. Blocks get numbers from 0 in order of
 * their definition, and their instructions numbers from 0 through all blocks.
 * An instruction may be in several blocks; in the costs it is one.
 */
#ifndef INSNS_H
#define INSNS_H

#include <stdint.h>

#include "ev.h"

struct cost_head;
struct costw;
struct insns;
struct objmap;

struct insns *insns_new(void);
/*
 * Take a block as it is defined, with what is mapped now; returns its number
 * and sets *first to that of its first instruction.
 */
uint32_t insns_add(struct insns *, const struct ev_block *, struct objmap *,
    uint64_t *first);
uint64_t insns_count(const struct insns *);
const struct ev_block *insns_block(const struct insns *, uint32_t block);

/* The first n instructions of a block, from `first' on, ran so many times. */
void insns_ran(struct insns *, uint64_t first, uint32_t n, uint64_t times);
/* After all of these: how often each ran, by number. */
const uint64_t *insns_times(struct insns *);

/*
 * Write costs by object and address, or only total them up where w is NULL.
 * add adds the costs of one instruction of one block, by its number of all,
 * to n[nev]. Those that never ran are left out.
 */
struct insns_costs {
	struct costw *w;
	unsigned nev;
	int64_t *total;
	void (*add)(uint32_t block, uint32_t insn, uint64_t number,
	    int64_t *n);
};
void insns_write(struct insns *, const struct insns_costs *, struct objmap *);

#endif
