/*
 * cachesim.h - the parts of cachesim
 *
 * main.c	options, the stream's lines
 * geometry.c	sizes of caches: from options, the stream, this machine
 * blocks.c	turns definitions into what the simulator runs on
 * batch.c	runs records, the short way if possible
 * short.c	the short way, which nearly all executions take
 * hot.c	machine code for those of them that come often
 * hotloop.S	the loop around that code
 * hotsearch.S	a reference that often misses
 * sites.c	which these are
 * ordered.c	the long way, in the order of events
 * repeat.c	runs many equal rounds, and leaves most of them out
 * rounds.c	runs many rounds of a record by repeat.c
 * lone.c	kind cache: single references
 * table.c	kind cache: the first-level caches behind trace's table; table.h
 * l1.c		the first-level caches
 * ll.c		the last-level cache
 * found.c	misses to pass on with -t
 * pass.c	-t: the stream's lines, and what was found
 * variant.c	write-back, prefetching, use of lines: each access in order
 * model.c	the caches for that
 * report.c	costs by address, the summary
 */
#ifndef CACHESIM_H
#define CACHESIM_H

#include <stdbool.h>
#include <stdint.h>

#include "caches.h"
#include "ev.h"
#include "simrun.h"

struct out;

/* ---- geometry.c ---- */

enum { I1, D1, LL, NCACHE };

struct geometry {
	uint64_t size;		/* bytes */
	uint64_t assoc;		/* ways */
	uint64_t line;		/* bytes */
};

extern const char *const cache_name[NCACHE];

/* Sources of a geometry. The first one that has it decides. */
void geometry_option(int cache, const char *arg);
/*
 * What cannot be read is as if it were not there.  Returns what is wrong with
 * the cache, if no option replaces it, or NULL.
 */
const char *geometry_stream(int cache, const char *value);
/* Decide on all three; dies if a cache is impossible. */
void geometry_decide(struct geometry g[NCACHE]);

/* Print those of this machine, as the options that choose them. */
void geometry_print(void);
/* Find them as Valgrind does, also where that is known to be wrong. */
extern bool geometry_as_valgrind;

/* Find the caches of the machine that answers; -1: it does not say. */
int geometry_detect(struct geometry g[NCACHE], caches_ask *);
/* Make the number of sets a power of two; true: that changed it. */
bool geometry_adjust(struct geometry *);

/* ---- blocks.c ---- */

/* Kind cache: a reference alone, or a line that leaves trace's table. */
struct lone_ref {
	union {
		uint64_t value;		/* see ev.h; of a Z: an address */
		const struct visit *visit;	/* LONE_FETCH */
	};
	struct misses *misses;	/* LONE_ENTER, LONE_FETCH */
	union {
		uint32_t size;		/* LONE_ENTER */
		uint32_t ref;		/* LONE_OTHER: in its block's */
	};
	uint8_t cache;
	uint8_t event;		/* LONE_ENTER: of a miss; the last level's is
				   next */
	uint8_t told;		/* its standing outcome: lone.c's */
};

enum lone_what { LONE_OTHER, LONE_ENTER, LONE_FETCH, LONE_LEAVE };

/*
 * What an execution needs, by id. Most need only this and the record of their
 * block; ntouch 0 marks those that take the long way (ordered.c).
 */
struct cache_unit {
	union {
		struct {
			uint64_t count;		/* executions */
			uint32_t rec;		/* where its block's record is,
						   in record[] */
			uint16_t ntouch;	/* code lines touched; or
						   HOT_UNIT: hot.c's */
			uint16_t nref;		/* references */
			union {
				uint32_t touch[2];	/* the first two lines,
							   or the only one
							   twice */
				const uint8_t *code;	/* HOT_UNIT */
			};
		};
		struct lone_ref lone;	/* ids Q and Z */
	};
	uint32_t ref;		/* where its block's references are, in
				   record_ref[] */
	uint32_t cold : 24;	/* cold_block[] */
	uint32_t what : 8;	/* enum lone_what; of a block: LONE_OTHER */
};

/*
 * A block's record, in 64-bit words: values, those of the groups first, then
 * fixed addresses.
 *
 * Its references are elsewhere. Before them, from their beginning downwards,
 * are the code lines touched from the third one on, as 32-bit numbers in
 * stamps. The ids of a block (prefixes) use both up to some reference and
 * touch.
 */
struct fastref {
	int32_t dist;		/* from ... */
	uint16_t val;		/* ... this word of the record */
	uint8_t most;		/* offset in a line that does not straddle */
	uint8_t insn;		/* the instruction that has it, or 255 */
};

/* A fetch that enters one or two code lines. */
struct visit {
	uint32_t a;		/* lines ... */
	uint32_t b : 28;	/* ... 0: the first is enough */
	uint32_t len : 4;	/* of the instruction */
	uint32_t off;		/* where in the line it begins */
	uint16_t insn;
	uint16_t ref;		/* its first reference */
};

/*
 * Counts that carry: misses_all gives a whole one. One that overflows goes on
 * from MISSES_HALF.
 */
struct misses {
	uint8_t l1, ll;
};

#define MISSES_HALF ((uint8_t)0x80)

/* The rarely used part of a block. */
struct cold_block {
	struct ev_block *block;	/* kept, if it has no short way */
	struct visit *visit;	/* behind them: see cold_fetch */
	uint32_t nvisit;
	uint32_t extras;	/* a number, 0: it has none; see cold_has */
};

/* What most blocks lack. */
struct block_extras {
	int64_t *extra;		/* by reference: how many more than one per
				   execution; NULL: no reference differs */
	int64_t *rounds;	/* by instruction: fetches that Valgrind adds */
	struct lone *lone;	/* kind cache: single fetches that are no
				   visits, latest first */
};

/* The misses of a block's fetches, one for each visit of a line. */
static inline struct misses *
cold_fetch(const struct cold_block *c)
{
	return (struct misses *)(c->visit + c->nvisit);
}

/* The misses of its data, one for each reference. */
static inline struct misses *
cold_data(const struct cold_block *c)
{
	return cold_fetch(c) + c->nvisit;
}

extern struct cache_unit *unit;
extern uint64_t *record;
extern struct fastref *record_ref;
extern struct cold_block *cold_block;

/* References wider than the shortest line are cut to its size. */
extern bool cut_wide;

/* Begin without blocks; the events are those of this reader. */
void blocks_init(const struct geometry g[NCACHE], struct evr *);
/* Take a definition. NULL, or what is wrong with it. */
const char *blocks_define(const struct ev_def *, uint32_t id, unsigned kind);

/* The extras of a block, or NULL; the second makes them if need be. */
struct block_extras *cold_has(const struct cold_block *);
struct block_extras *cold_extras(struct cold_block *);
/* The fetch of instruction insn of a block whose definition is being read. */
void blocks_visit(struct visit *, const struct ev_block *, uint32_t insn);

/* ---- lone.c ---- */

/* A fetch alone. */
struct lone {
	struct lone *next;	/* of its block */
	struct visit visit;
	struct misses fetch;
};

/* log2 of the line sizes of I1 and D1; through: found[] is wanted */
void lone_init(unsigned ishift, unsigned dshift, bool through);
/* A Q or Z line was read. */
void lone_define(const struct ev_def *, uint32_t id);
/* Run records of kind cache. */
void lone_batch(struct evr *, const uint64_t *rec, const uint64_t *end);
/*
 * The same with -t: run records and pass their lines on, with standing
 * outcomes, up to one that can have others; return its address.
 */
const uint64_t *lone_pass(struct simpass *, const uint64_t *rec,
    const uint64_t *end);
/* The record's outcomes are told by themselves now. */
void lone_clear_standing(struct simrun *, const uint64_t *rec);

/* ---- table.c ---- */

/* sets, ways: of trace's table */
void table_init(int cache, const struct geometry *, uint64_t sets,
    uint64_t ways);
/* The cache is empty, and so is trace's table. */
void table_clear(int cache);
/*
 * A line enters trace's table at a place: 1 if it was missed. EV_PLACES: if it
 * is not there, at the first free one.
 */
int table_enter(int cache, uint64_t line, unsigned place);
/* A line is touched that does not enter: 1 if it was missed. */
int table_touch(int cache, uint64_t line);
/* A line leaves trace's table. */
void table_leave(int cache, uint64_t line);

/* ---- ll.c ---- */

/* Make LL, which is empty; ll_clear: it is empty again. */
void ll_init(const struct geometry *);
void ll_clear(void);
/* An access missed its first level. Count in *miss if it misses here, too. */
void ll_access(uint64_t addr, uint64_t size, uint8_t *miss);
/* Finish all accesses so far, so that their misses are counted. */
void ll_drain(void);
/* The count has just overflowed. */
void misses_carry(uint8_t *miss);
/* Add n misses. */
void misses_add(uint8_t *miss, uint64_t n);
/* The whole count. */
uint64_t misses_all(const uint8_t *miss);
/* Memory for a cache, all 0. */
void *ll_reserve(size_t n);
/* The line at a place of a set, the newest first: 1 + its number, or 0. */
uint64_t ll_set_line(uint64_t set, uint64_t way);
/* Put another line of the same set at this place. */
void ll_set_move(uint64_t set, uint64_t way, uint64_t line);

#define LL_NQUEUE	32

/* LL's tags, see ll.c. */
struct ll_sets {
	uint64_t mask;			/* sets, less 1 */
	uint64_t stride;		/* from set to set */
	uint32_t *tag;			/* NULL: plain form */
};

/* The tags of a line's set, or of the set of this number. */
static inline uint32_t *
ll_set(const struct ll_sets *s, uint64_t line)
{
	return s->tag + (line & s->mask) * s->stride;
}

/* What is between the first level and LL. */
extern struct llc {
	unsigned n;			/* queued */
	unsigned shift, bits;		/* log2 of line size, of sets */
	struct ll_sets sets;
	struct {
		uint64_t line;
		uint8_t *miss;		/* what to count at; NULL: more of this
					   access follows */
	} queue[LL_NQUEUE];
} llc;

/*
 * Queue an access at place i, if n is 1, not 0. Returns how many are queued,
 * which the caller keeps; s are llc's sets.
 */
static inline unsigned
ll_queue(const struct ll_sets *s, unsigned i, uint64_t line, uint8_t *miss,
    unsigned n)
{
	llc.queue[i].line = line;
	llc.queue[i].miss = miss;
	if (s->tag != NULL)
		__builtin_prefetch(ll_set(s, line));
	i += n;
	if (__builtin_expect(i < LL_NQUEUE, 1))
		return i;
	llc.n = i;
	ll_drain();
	return 0;
}

/* The same for whoever does not keep llc.n in a register. */
static inline void
ll_enqueue(uint64_t line, uint8_t *miss, unsigned n)
{
	llc.n = ll_queue(&llc.sets, llc.n, line, miss, n);
}

/* Is the access in one line of LL? */
static inline bool
ll_has_all(uint64_t addr, uint64_t size)
{
	uint64_t n = (uint64_t)1 << llc.shift;

	return (addr & (n - 1)) + size <= n;
}

/* Add 0 or 1 to a count, without a branch on which. */
static inline void
count_l1(uint8_t *count, unsigned missed)
{
	*count = (uint8_t)(*count + missed);
	if (__builtin_expect(*count < missed, 0))
		misses_carry(count);
}

/*
 * Count an access of one line of D1 if it missed, 0 or 1, and look it up then,
 * without a branch on that. LL's lines are as long as D1's, or longer.
 */
static inline void
ll_data(uint64_t addr, struct misses *m, unsigned missed)
{
	count_l1(&m->l1, missed);
	ll_enqueue(addr >> llc.shift, &m->ll, missed);
}

/* ---- l1.c ---- */

#define L1_DLINES	65534	/* a larger D1 knows only the long way */
#define L1_NHINT	4096

/*
 * D1 by set and way. What is behind the tags keeps a way's tag and its stamp
 * apart in the low 12 bits of their addresses, which a processor compares when
 * it looks for stores that a load must wait for.
 */
struct l1_d {
	uint16_t hint[L1_NHINT];	/* by line: where in tag */
	uint64_t tag[L1_DLINES + 2 + 256];	/* address of the line */
	uint64_t stamp[L1_DLINES];
};

struct times {
	uint64_t i, d;
};

struct l1 {
	bool tables;		/* kind cache: both are in table.c */
	uint64_t iassoc, isets;
	unsigned ishift, dshift;	/* log2 of the lines' sizes */
	uint64_t dassoc, dsets;
	unsigned dways;		/* a set's places: see l1_ways */
	bool hints_tell;	/* what is missing: see l1_is_missing */
	uint64_t *dtag, *dstamp;	/* of l1_d, or larger ones */
};

extern struct l1 l1;
extern struct l1_d l1_d;
extern uint64_t *l1_istamp;	/* by code line; 0: not in I1 */
extern uint64_t *l1_code_line;	/* by number: line */
extern struct times l1_time;

/* Make I1 and D1, which are empty; l1_clear: they are empty again. */
void l1_init(const struct geometry g[NCACHE], struct evr *);
void l1_clear(void);
/* The number of a new code line. */
uint32_t l1_new_line(uint64_t line);
/* Look a code line up: 1 if it was missed. */
int l1_fetch(uint32_t n);
/* Look a data line up where its hint does not help: 1 if it was missed. */
int l1_search(uint64_t line);
/* The places of all sets of D1, with those that only fill sets up. */
uint64_t l1_ways(const struct geometry *);
/* As ll_set_line and ll_set_move, of D1; all ways of a set, from 0 on. */
uint64_t l1_set_line(uint64_t set, uint64_t way);
void l1_set_move(uint64_t set, uint64_t way, uint64_t line);

/* Look a data line up: 1 if it was missed. */
static inline int
l1_data(uint64_t line)
{
	uint16_t at = l1_d.hint[line % L1_NHINT];

	if (l1.tables)
		return table_touch(D1, line);
	if (__builtin_expect(l1.dtag[at] != line << l1.dshift, 0))
		return l1_search(line);
	l1.dstamp[at] = ++l1_time.d;
	return 0;
}

/* If hints tell: is the line with this address missing for sure? See l1.c. */
static inline bool
l1_is_missing(uint64_t addr, unsigned shift)
{
	uint64_t there = l1_d.tag[l1_d.hint[(addr >> shift) % L1_NHINT]];

	return ((there ^ addr) >> shift) % L1_NHINT != 0;
}

/* ---- found.c ---- */

enum cache_event { I1MR, ILMR, D1MR, DLMR, D1MW, DLMW };

/* By event. */
extern const char *const found_name[];
/*
 * Misses found by the last rounds or records, where passing through, and the
 * record of each: what found_record was then.
 */
extern struct sim_outcome *found;
extern const uint64_t **found_of;
extern unsigned nfound;
extern const uint64_t *found_record;
/* Add a miss of an instruction of the record that runs. */
void found_add(uint32_t insn, unsigned event);

/* ---- pass.c ---- */

/* With -t: run records, pass them on with what was found. */
void pass_records(struct simrun *, const uint64_t *rec, const uint64_t *end);

/* ---- ordered.c ---- */

/* through: found[] is wanted. */
void ordered_init(struct evr *, bool through);
/* Run an execution in the order of its events; its values are set. */
void ordered_long(uint32_t id);
/* The same, and count the execution. */
void ordered_slow(uint32_t id);
/* The instructions of a block or prefix. */
uint32_t ordered_ninsn(uint32_t id);
/* A reference has missed D1: count that, tell it, look it up in LL. */
void ordered_missed(uint32_t cold, uint32_t ref, uint64_t addr, uint64_t size);
/* Run a reference that may miss or cross the end of its line. */
void ordered_reference(uint32_t cold, uint32_t ref, uint64_t addr,
    uint64_t size);
/* Of a reference in a record. */
uint64_t ordered_size(const struct fastref *);
/*
 * Kind cache: run only reference ref of the block. Its values are set, and
 * trace's table is not concerned.
 */
void ordered_alone(const struct ev_def *, uint32_t ref);
/* The same for a fetch. */
void ordered_fetch(const struct visit *, struct misses *);

/* ---- batch.c ---- */

/* The caches are made; through: found[] is wanted. */
void batch_init(const struct geometry g[NCACHE], struct evr *, bool through);
/* Run records with all their rounds. */
void batch(const uint64_t *rec, const uint64_t *end);
/* Run n rounds of a record for -t: found[] has their misses. */
void batch_some(const uint64_t *rec, uint64_t n);
/*
 * Run records for -t, up to one that has rounds or no short way; return its
 * address. found[] has their misses.
 */
const uint64_t *batch_found(const uint64_t *rec, const uint64_t *end);
/* Finish what is in the queue. */
void batch_end(void);
/* The caches are empty again. */
void batch_clear(void);

/* ---- hot.c ---- */

#define HOT_UNIT	UINT16_MAX	/* ntouch of what has code */

/*
 * What the code calls, for a reference that its hint does not lead to, and for
 * fetch number k, of which a line is missing; the record's differences begin at
 * diff, and the call returns to from. Both return the time after that.
 */
typedef uint64_t hot_missed_fn(uint64_t ref, uint64_t now,
    const uint64_t *diff, uint64_t addr, const uint8_t *from);
typedef uint64_t hot_fetched_fn(uint64_t k, uint64_t now,
    const uint64_t *diff);

/* A reference is told by where its misses are counted, and its fastref.most. */
static inline uint64_t
hot_ref(struct misses *m, uint8_t most)
{
	return (uint64_t)(uintptr_t)m | (uint64_t)most << 56;
}

/* The misses that hot_ref put together with a number; and that number. */
static inline struct misses *
hot_misses(uint64_t ref)
{
	return (struct misses *)(uintptr_t)(ref << 8 >> 8);
}

static inline unsigned
hot_most(uint64_t ref)
{
	return ref >> 56;
}

/* How often a unit has run before code is made; UINT64_MAX: none is. */
extern uint64_t hot_after;

/* For lines of 64 bytes in D1; eight: hotsearch.S may use AVX-512. */
void hot_init(hot_missed_fn *, hot_fetched_fn *, bool eight);
/* Make code for a unit with so many groups, if there is room for it. */
void hot_make(uint32_t id, unsigned ngroups);
/*
 * Run the record at p, whose unit has code, and those behind it. Returns the
 * first one that is not done: its unit has no code, or most rounds, or more,
 * follow the first.
 */
const uint64_t *hot_run(const uint64_t *p, const uint64_t *end, uint64_t most);

/*
 * Search for what a reference needs without a branch, or follow its hint again,
 * where a call of hot_missed_fn returns to from. The caller sees to it that the
 * processor runs what was written (cpu_sync_code).
 */
void hot_search(const uint8_t *from, bool on);

/* ---- sites.c ---- */

/*
 * A reference whose code calls from there has missed 128 times more; its unit
 * has been executed so often.
 */
void sites_missed(const uint8_t *from, uint64_t executions);
/* So many 64-bit words of records have run. */
void sites_ran(size_t words);

/* ---- short.c ---- */

/*
 * Choose the ways that fit the caches and the processor, once l1 is set up.
 * through: with -t, each miss is to be told.
 */
void short_init(const struct geometry g[NCACHE], bool through);
/*
 * Run records up to one that has no short way, or more than `most` rounds;
 * return its address.
 */
const uint64_t *short_batch(const uint64_t *rec, const uint64_t *end,
    uint64_t most);

/* ---- repeat.c ---- */

#define REPEAT_FIRST 64		/* fewer rounds are not worth it */

struct repeat_ref {
	uint64_t addr;		/* in the next round */
	uint64_t size;
	uint64_t by;		/* it moves, from round to round */
	uint64_t value;		/* if 0, it does not happen */
	bool is_value;
};

struct cache_repeat {
	int nested;		/* within a round of another one */
	struct repeat_ref *ref;	/* code lines, too, for what may move */
	size_t nref;
	struct misses *misses;	/* what rounds may count */
	size_t nmisses;
	struct cold_block *cold;	/* its extra counts, too; or NULL */
	void *what;
	/* Go through n rounds; or do all else that they do. */
	void (*rounds)(struct cache_repeat *, uint64_t n);
	void (*left_out)(struct cache_repeat *, uint64_t n);
};

/* The caches are made. */
void repeat_init(const struct geometry g[NCACHE]);
/* With moving references, fewer rounds than these all run. */
uint64_t repeat_least(void);
void repeat(struct cache_repeat *, uint64_t n);
/* The same if no reference moves; ref may be unset. */
void repeat_alike(struct cache_repeat *, uint64_t n);

/* ---- variant.c ---- */

extern struct variants {
	bool wb, hwpref, cacheuse;	/* options */
	uint32_t widest;	/* references are cut to this size */
} variants;

/* Is any of these options given? Then model.c runs all, nothing else does. */
static inline bool
variant_is_on(void)
{
	return variants.wb || variants.hwpref || variants.cacheuse;
}

/* As simulator's begin, define (what is wrong), batch, end, count and add. */
void variant_init(struct simrun *, const struct geometry g[NCACHE],
    bool each);
const char *variant_define(struct simrun *, uint32_t id,
    const struct ev_def *);
void variant_batch(struct simrun *, const uint64_t *rec, const uint64_t *end);
void variant_end(struct simrun *);
/* A line says that the id was executed n times more. */
void variant_executed(uint32_t id, uint64_t n);
uint64_t variant_count(uint32_t id);
void variant_add(const struct insns_at *, int64_t *n);
/* Empty all caches; what was in them has no cost. */
void variant_clear(void);

/* ---- rounds.c ---- */

typedef void rounds_fn(const uint64_t *rec, uint64_t n);
/* Run all rounds of a record; fn runs some of them one by one. */
void rounds_record(struct evr *, const uint64_t *rec, rounds_fn *fn);
/* Are all differences of a record 0? */
bool rounds_alike(const uint64_t *rec);

#endif
