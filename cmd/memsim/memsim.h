/*
 * memsim.h - the parts of memsim
 *
 * main.c	options, the stream, costs
 * machine.c	a description becomes a struct machine
 * check.c	which descriptions are none
 * ready.c	descriptions that are ready, one of them made from cpuid
 * cache.c	one cache or TLB: look-ups and replacement
 * state.c	the machine under way
 * level.c	caches that ask each other: hits, misses
 * leave.c	lines come and leave
 * prefetch.c	next line, stride, streamer
 * hold.c	which cores hold which lines
 * cohere.c	MESI, invalidations, false sharing
 * tlb.c	pages and walks
 * units.c	blocks become lists of fetches and references
 * run.c	executions become accesses
 * turns.c	threads that take turns
 * count.c	events by instruction, columns
 * table.c	the table that -v prints
 *
 * memsim-machine(5) has the rules.
 */
#ifndef MEMSIM_H
#define MEMSIM_H

#include <stdbool.h>
#include <stdint.h>

#include "ev.h"
#include "simrun.h"

/* ---- machine.c, check.c, ready.c ---- */

enum policy { LRU, FIFO, RANDOM, TREE, BIT, SRRIP, BRRIP, DRRIP, NPOLICY };
enum content { ANY, INCLUSIVE, EXCLUSIVE };
enum prefetcher { NEXT, STRIDE, STREAMER, NPREFETCH };
enum side { CODE, DATA, BOTH };
enum page { PAGE_4K, PAGE_2M, PAGE_1G, NPAGE };

enum {
	MOST_LEVELS = 8, MOST_TLEVELS = 4, MOST_PARTS = 48, MOST_HUGE = 16,
	MOST_CORES = 64, CORES_EACH = 0
};

/* A cache or TLB, as described. */
#define MOST_LINES	((uint64_t)1 << 28)	/* of a cache */

struct part {
	char name[16];
	bool tlb;
	unsigned level;
	uint8_t side, policy, content;
	bool through, allocate, shared, full;
	uint64_t size, ways, sets;	/* 0: not given */
	uint64_t line;
	uint64_t seed;
	unsigned pages;			/* bits, by enum page */
	unsigned degree[NPREFETCH];	/* 0: none */
	unsigned entries[NPREFETCH];
	char where[80];			/* file:line, for messages */
};

/* Is a prefetcher of the cache switched on? */
static inline bool
has_prefetcher(const struct part *p)
{
	return p->degree[NEXT] + p->degree[STRIDE] + p->degree[STREAMER] != 0;
}

/* Which addresses have pages of a larger size. */
struct huge {
	uint8_t page;			/* enum page */
	bool range;			/* start to end, else a share of all */
	uint64_t share;			/* in per cent */
	uint64_t start, end;
};

struct machine {
	struct part part[MOST_PARTS];	/* in order of level and side */
	unsigned npart;
	struct huge huge[MOST_HUGE];
	unsigned nhuge;
	unsigned cores;			/* CORES_EACH: one a thread */
	uint64_t quantum;
	char where[80];			/* the last line read, or the file: for
					   what is wrong with all of it */
};

extern const char *const policy_name[NPOLICY], *const page_name[NPAGE];
extern const unsigned page_shift[NPAGE];

/*
 * Take in a line of a description, or die; where is "file:line" or an option's
 * name, for messages.
 */
void machine_line(struct machine *, const char *where, const char *text);
/* All lines of a file. */
void machine_file(struct machine *, const char *name);
/* Complete the description, and die if it makes no sense. */
void machine_check(struct machine *);
/* Print it to standard output, as lines that describe the same. */
void machine_print(const struct machine *);
/* A ready description's text by its name, or NULL. */
const char *ready_text(const char *name);

/* ---- cache.c ---- */

#define CACHE_NHINT	4096
#define CACHE_NONE	UINT32_MAX
/* Flags of an entry. */
#define CACHE_CLEAN	1	/* a write to it is more than a use */
#define CACHE_NEW	2	/* prefetched, and not used yet */
#define CACHE_FLAGS	3

/* How use is noted; a policy in sets of many ways has a way of its own. */
enum note { NOTE_STAMP, NOTE_NONE, NOTE_TREE, NOTE_BIT, NOTE_RRIP, NOTE_MANY };

/*
 * A line lies in a slot: its set shifted, or its way. An entry is the line's
 * key plus 1, shifted by 2, with flags; 0 is an invalid way.
 */
struct cache {
	uint64_t *entry;
	uint16_t *hint;		/* where a line came or was found, by its low
				   bits */
	uint32_t *nalike;	/* how many lines with these bits there are */
	uint64_t nhint;		/* less 1 */
	uint8_t note, policy;
	unsigned wshift, keyshift;
	uint32_t ways, sets;
	uint64_t setmask;	/* 0: sets is no power of two */
	uint64_t *stamp, now;
	uint64_t *bits;		/* tree, bits: of each set */
	unsigned words;		/* of a set's bits */
	uint64_t full;		/* all ways' bits, if they are one word */
	uint64_t keep[64], away[64];	/* tree: by way */
	uint8_t *rrpv;
	uint32_t *free;		/* by set: no lower way is invalid */
	uint64_t random;
	uint32_t bimodal, duel;
	struct many *many;	/* sets of many ways */
};

/* An empty cache or TLB, as it is described. */
struct cache *cache_new(const struct part *);
/* The slot of a key, or CACHE_NONE. */
uint32_t cache_find(struct cache *, uint64_t key);
/* It will be asked for this key: get its set from memory. */
void cache_soon(const struct cache *, uint64_t key);
/* The slot for a key that is not there; what it holds, if not 0, leaves. */
uint32_t cache_place(struct cache *, uint64_t key);
/* Fill a slot that is invalid. */
void cache_fill(struct cache *, uint32_t slot, uint64_t key, unsigned flags);
/* Make a slot invalid. */
void cache_remove(struct cache *, uint32_t slot);
/* cache_touch, of sets of many ways. */
void cache_touch_many(struct cache *, uint32_t slot);

/* The key of what is in a slot. */
static inline uint64_t
cache_key(const struct cache *c, uint32_t slot)
{
	return (c->entry[slot] >> 2) - 1;
}

/* Note that what is in a slot is used. */
static inline void
cache_touch(struct cache *c, uint32_t slot)
{
	uint64_t *bits;
	unsigned way;

	switch (c->note) {
	case NOTE_STAMP:
		c->stamp[slot] = ++c->now;
		break;
	case NOTE_TREE:
		bits = &c->bits[slot >> c->wshift];
		way = slot & 63 & ((1U << c->wshift) - 1);
		*bits = (*bits & c->keep[way]) | c->away[way];
		break;
	case NOTE_BIT:
		bits = &c->bits[slot >> c->wshift];
		way = slot & 63 & ((1U << c->wshift) - 1);
		*bits |= (uint64_t)1 << way;
		if (*bits == c->full)
			*bits = (uint64_t)1 << way;
		break;
	case NOTE_RRIP:
		c->rrpv[slot] = 0;
		break;
	case NOTE_MANY:
		cache_touch_many(c, slot);
		break;
	default:
		break;
	}
}

/* ---- state.c ---- */

struct prefetch;

/* A cache in its place. */
struct node {
	struct cache *c;
	const struct part *part;
	unsigned number;	/* of the part */
	unsigned shift;		/* log2 of the line size */
	unsigned core;		/* whose it is; MOST_CORES: all cores' */
	struct node *next;	/* that it asks, or NULL: memory */
	struct node **before;	/* those that ask it, directly or not */
	unsigned nbefore;
	struct prefetch *prefetch;	/* or NULL */
	uint64_t *touched;	/* first cache of data, many cores: by slot */
	uint64_t dropped;	/* lines that left it, so far */
};

struct core {
	struct node *first[2];		/* CODE, DATA; NULL: memory */
	struct node **own;		/* its own caches */
	unsigned nown;
	struct cache *tlb[MOST_TLEVELS][2][NPAGE];
	uint64_t last[2];		/* page_4k of those looked up last */
};

/* The number of an address's page of 4k, plus 1; 0: none. */
static inline uint64_t
page_4k(uint64_t addr)
{
	return (addr >> 12) + 1;
}

extern struct core *core;		/* all of them */
extern unsigned ncore;
extern struct core *cpu;		/* that which runs */
extern const struct machine *machine;
extern bool many_cores;

/* What a part did, for the table. */
struct tally {
	uint64_t asked, missed, first;	/* accesses */
	uint64_t in, out;		/* bytes, from and to what is behind */
	uint64_t written, issued, useful, useless, back;
};
extern struct tally tally[MOST_PARTS];
extern uint64_t memory_written;		/* bytes that no cache took */

/* The access under way. */
struct access {
	uint64_t insn;		/* number of its instruction */
	uint64_t pc;
	uint64_t addr;
	uint32_t size;
	uint8_t kind;		/* 'i', 'r', 'w', 'm' */
	uint64_t asked, missed, first;	/* bits, by part */
	/* A line that the first cache is known not to have, plus 1, or 0. */
	uint64_t absent;
};
extern struct access now;

/* ---- hold.c ---- */

struct holders {
	uint64_t core;		/* bits */
	bool alone;		/* modified or exclusive */
};

struct held {
	uint64_t touched;	/* bytes, as bits */
	uint32_t copies;
};

/* A copy of a line came into a cache of a core's own. */
void hold_came(unsigned core, uint64_t line);
/* It leaves the cache. */
void hold_gone(unsigned core, uint64_t line);
/* It leaves this slot; which of its bytes the core touched is kept. */
void hold_left(struct node *, uint64_t line, uint32_t slot);
/* What a core holds of the line; NULL: it does not hold it. */
struct held *hold_of(unsigned core, uint64_t line);
/* Who holds the line; NULL: nobody. */
struct holders *hold_all(uint64_t line);
/* The bytes, as bits, that a core touched since it began to hold the line. */
uint64_t hold_touched(unsigned core, uint64_t line);

/* ---- leave.c ---- */

/* Has the cache only lines that those before it do not have? NULL: memory. */
static inline bool
is_exclusive(const struct node *n)
{
	return n != NULL && n->part->content == EXCLUSIVE;
}

/* The address of a line; of line 1: the bytes of a line. */
static inline uint64_t
line_addr(const struct node *n, uint64_t line)
{
	return line << n->shift;
}

/* Is the line in a slot to be written back when it leaves? */
static inline bool
is_dirty(const struct node *n, uint32_t slot)
{
	return (n->c->entry[slot] & CACHE_CLEAN) == 0;
}

/* A line comes in, and another leaves. */
void leave_fill(struct node *, uint64_t line, bool dirty, bool prefetched);
/* Bytes are written back to this cache, and to those behind that lack them. */
void leave_write_back(struct node *, uint64_t from, uint64_t size);
/* Only remove what is in a slot. */
void leave_drop(struct node *, uint32_t slot);
/* A line that may change places with one behind is held from here, to here. */
void leave_hold(const struct node *, uint64_t line);
void leave_let_go(const struct node *, uint64_t line);
/* An exclusive cache gives the line away if it has it: is that dirty? */
bool leave_given(struct node *, uint64_t line);

/* ---- cohere.c ---- */

/*
 * Before a core accesses bytes (as bits) of a line: invalidate others' copies
 * for a write, write them back for a read.
 */
void cohere_before(unsigned core, uint64_t line, bool write, uint64_t bytes);
/* Behind it: note who has the line alone, and the bytes that were touched. */
void cohere_after(unsigned core, uint64_t line, bool write, uint64_t bytes);

/* ---- prefetch.c ---- */

/* The prefetchers of a cache. */
struct prefetch *prefetch_new(const struct part *);
/*
 * An access looked a line up: it missed, or was the first use of a prefetched
 * one; again: the access has asked this cache before.
 */
void prefetch_train(struct node *, uint64_t line, bool missed, bool used,
    bool again);
/*
 * The access used nothing but this line of the cache, and trains its stride:
 * the same, but a line that is there anyway is not wanted.
 */
void prefetch_used(struct node *, uint64_t line);
/* What it asked for, until prefetch_waiting is set to 0. */
struct wanted {
	struct node *n;
	uint64_t line;
};
extern struct wanted *prefetch_wanted;
extern unsigned prefetch_waiting;

/* ---- level.c ---- */

/* Build the machine, with one core. */
void level_init(const struct machine *);
/* More cores, up to n. */
void level_cores(unsigned n);
/* The access that `now' describes. */
void level_access(void);
/* What an access asked for, once it is done. */
void level_prefetch(void);

/* ---- tlb.c ---- */

/* A first table serves both sides; some table's policy is an rrip. */
extern bool tlb_unified, tlb_rrip;
/* Give a core its TLBs. */
void tlb_core(struct core *);
/* An access of cpu, to other pages than the last one. */
void tlb_access(unsigned side, uint64_t addr, uint32_t size);

/* ---- run.c ---- */

/* The machine is built. */
void run_init(struct simrun *);
/* Run records with all their rounds. */
void run_batch(const uint64_t *rec, const uint64_t *end);
/* One of a record's rounds. */
void run_round(const uint64_t *rec);
/*
 * After a round: how many of n more were as that one, and need not be run?
 * Those in which no address moves, if all lines were found in first caches.
 */
uint64_t run_skip(const uint64_t *rec, uint64_t n);
/* Was nothing done but to use lines in first caches, since asked last? */
bool run_was_quiet(void);
/* And does it change nothing to use the same ones once more? */
bool run_settled(void);
/* Count n executions more with these values, of which nothing is looked up. */
void run_again(uint32_t id, uint64_t *value, uint64_t n);
/*
 * Only count a record with its rounds and set its block's values; returns those
 * of the first round, and a 0.
 */
const uint64_t *run_apply(const uint64_t *rec);
/* The core of this thread runs from here on. */
void run_on(unsigned thread);
/* An execution with these values. */
void run_values(uint32_t id, uint64_t *value);

/* ---- turns.c ---- */

/* The machine is built; thread 0 runs. */
void turns_init(struct simrun *);
/* This thread runs from here on, by a T line or NULL. */
void turns_thread(unsigned number, const struct ev *);
/* Executions of it. */
void turns_batch(const uint64_t *rec, const uint64_t *end);
/* Run all that has been added. */
void turns_run(void);

/* ---- count.c ---- */

enum { COL_IR, COL_DR, COL_DW, COL_FIRST };

/* The columns of the machine: "Ir Dr Dw L1Imr ..."; those for O lines. */
void count_init(const struct machine *, struct simrun *);
extern unsigned count_columns;
extern const char **count_name;
/* Columns of parts, or 0: none. */
extern unsigned col_miss[MOST_LEVELS + 1][3];	/* fetch, read, write */
extern unsigned col_written[MOST_PARTS], col_issued[MOST_PARTS],
    col_useful[MOST_PARTS];
extern unsigned col_tlb[MOST_TLEVELS + 1][2], col_walk[2], col_inval,
    col_false;
/* A block, and the number of its first instruction in all blocks. */
void count_block(uint32_t number, uint64_t first, uint32_t ninsn);
/* That number. */
uint64_t count_first(uint32_t number);
/* An event of the instruction now.insn. */
void count_event(unsigned column, int64_t n);
/* Add an instruction's costs to n: struct simulator's add. */
void count_add(const struct insns_at *, int64_t *n);
extern bool count_found;	/* set with -t: keep what is found */
/*
 * Take what was found since the last call, in order of instructions, which are
 * counted from `first' on; *n: how many outcomes that are.
 */
const struct sim_outcome *count_take(uint64_t first, unsigned *n);

/* ---- table.c ---- */

extern bool table_wanted;
/* Was this line never looked up there before? Notes it. */
bool table_first(unsigned part, uint64_t line);
/* Print the table to standard error. */
void table_print(const struct simrun *);
/* As in struct simulator. */
void table_forget(struct simrun *);
void table_idle(struct simrun *, bool idle);

#endif
