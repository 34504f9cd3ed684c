/*
 * reuse.h - the parts of reuse
 *
 * main.c	the command line, the stream's lines
 * options.c	what was asked for; the machine's caches
 * refs.c	executions become uses of lines; sift.c those of a sample, fast
 * lru.c	how far back the last use of a line is
 * count.c	distances, counted in all and by instruction
 * work.c	working sets: lines and pages touched, interval by interval
 * curve.c	misses of LRU caches of each size, with the sample's error
 * report.c	the text; plot.c the picture
 */
#ifndef REUSE_H
#define REUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ev.h"
#include "hash.h"
#include "lru.h"
#include "simrun.h"

struct out;

#define PAGE_SHIFT	12
#define MOST_SIZES	60	/* columns of costs */
#define GROUPS		16	/* of sampled lines, to tell the error */

/* ---- options.c ---- */

struct size {
	uint64_t bytes;
	const char *name;	/* "32K", or of a cache "L1" */
};

extern struct options {
	bool data, code;	/* which references */
	unsigned shift;		/* log2 of a line's bytes */
	double sample;		/* share of the lines; 1: all */
	bool threads;		/* each thread by itself */
	uint64_t interval;	/* instructions; 0: chosen */
	uint64_t nfunction;	/* how many are told */
	const char *plot;	/* a file, or NULL */
	bool all_sizes;		/* of the curve */
	bool costs;		/* costs by address, no text */
} opt;

/*
 * The sizes that misses are counted for, ascending: those of --costs, or the
 * caches', and without --costs powers of two as well.
 */
extern struct size sizes[MOST_SIZES + 4];
extern unsigned nsize;
/* The sizes of --sizes, points of the curve. */
extern struct size curve_size[MOST_SIZES];
extern unsigned curve_nsize;
/* Those of --caches, or the caches of the machine. */
extern struct size caches[8];
extern unsigned ncache;
/* How many lines fit into so many bytes? At least 1. */
uint64_t in_lines(uint64_t bytes);
/* Write a size as "32K" into buf; returns buf. */
const char *size_name(uint64_t bytes, char buf[24]);
extern const char *command;	/* that was traced, or NULL */

/* Set what --refs, --line and --sample say; die if an argument is wrong. */
void set_refs(const char *arg);
void set_line(const char *arg);
void set_sample(const char *arg);
/*
 * Read an option's list of up to `most' sizes, sort it, and keep each size
 * once; returns how many there are. Dies if the argument is wrong.
 */
unsigned read_sizes(const char *option, const char *arg, struct size *list,
    unsigned most);
/* Append a size to a list of *n; name NULL: the one by size_name. */
void add_size(struct size *list, unsigned *n, uint64_t bytes, const char *name);
/* Sort a list of n sizes, and keep each once; returns how many are left. */
unsigned unique_sizes(struct size *list, unsigned n);
/* Take the command, or a cache's size, from an H line. */
void take_head(const struct ev *);
/* When all H lines were read, set caches, unless --caches did. */
void find_caches(void);

/* ---- count.c ---- */

/* How many uses had each distance. */
struct distances {
	uint64_t near[LRU_FRONT];	/* by distance, below LRU_FRONT */
	uint64_t *far;		/* by distance, from LRU_FRONT on */
	size_t capfar;
	uint64_t cold;		/* first uses */
};

/* What an interval touched, or several; see work.c. */
struct work_row {
	uint64_t insns, refs, lines, pages, fresh;
};
struct work_level {
	struct work_row *row;
	size_t n, cap;
};
#define LEVELS	33
struct work {
	struct work_level level[LEVELS];
	struct work_row now;	/* of the interval: without lines and pages */
	uint64_t length;	/* of the finest intervals, in instructions */
	uint64_t filled;	/* of this one */
	uint32_t number;	/* of this one, from 1 */
	/* touched first, by the highest level at which that is new */
	uint64_t lines[LEVELS], pages[LEVELS];
	struct lru_line *page;	/* as in lru.h */
	unsigned shift;
	uint32_t npage;
	bool crowded;		/* there were too many: the last one goes on */
};

/* What a thread used, or without --per-thread all threads together. */
struct history {
	struct lru lru;
	struct distances distances[GROUPS];	/* only the first, if exact */
	uint64_t refs;		/* sampled or not */
	uint64_t insns;
	struct work work;
	uint64_t tid;
	bool used;
};

extern struct history *history;	/* of the running thread */
/* The history that a thread's uses belong to; a new one is empty. */
struct history *history_of(unsigned thread);
/* How many histories there are: history_of takes 0 up to this. */
unsigned histories(void);

/* Misses of an instruction. */
struct row {
	uint64_t *n;		/* by size that is the largest to miss; cold */
	int64_t extra;		/* references, more than in its executions */
};
extern struct row *rows;	/* by number of instruction */

/* With -t: what the last execution missed, for its O lines. */
extern struct sim_outcome *found;
extern unsigned nfound;

/* Begin, when the sizes are known. through: note misses in found. */
void count_init(bool through);
/* Have rows for n instructions. Dies if that is more than 2^32 - 1. */
void count_rows(uint64_t n);
extern uint64_t count_least;	/* the smallest size, in lines */
extern uint64_t count_weight;	/* rounds that the one running counts for */
/* Count n uses of a distance by an instruction. group: the line's, or 0. */
void count_use(uint64_t insn, uint64_t distance, uint64_t n, unsigned group);
/* The greatest distance that some use had; 0 if none had one. */
uint64_t count_most(const struct distances *);
/* How many uses had a distance. */
uint64_t count_of(const struct distances *, uint64_t distance);

/* ---- work.c ---- */

/* Begin the first interval. */
void work_init(struct work *);
/* Note the use of a line that was not in the front; lru_search found it. */
void work_touch(struct history *, struct lru_line *, uint64_t line);
/* How many instructions fit into the rest of the interval? At least 1. */
uint64_t work_left(const struct work *);
/* Add executed instructions and their references; ends a full interval. */
void work_done(struct history *, uint64_t insns, uint64_t refs);
/* End the interval, unless it is empty, and begin the next one. */
void work_end(struct history *);
/*
 * The finest level with at most `most' intervals. *length becomes the length of
 * its intervals, in instructions.
 */
const struct work_level *work_level(const struct work *, size_t most,
    uint64_t *length);

/* ---- refs.c ---- */

/* Begin; executions of this stream follow, of these instructions. */
void refs_init(struct evr *, struct insns *);
/* Take over a block or a prefix. Returns NULL, or what is wrong with it. */
const char *refs_define(uint32_t id, const struct ev_def *);
/*
 * Run rounds of a record, up to n, which have equal distances; returns how
 * many. first: the record was not run before.
 */
uint64_t refs_run(const uint64_t *rec, uint64_t n, bool first);
/* How often an id was executed. */
uint64_t refs_count(uint32_t id);
/* How many references of --refs an instruction has in each execution. */
uint64_t refs_of(const struct insns_at *);

/*
 * With a sample: run executions without repeats, up to end; returns the first
 * that is for refs_run.
 */
const uint64_t *refs_sift(const uint64_t *rec, const uint64_t *end);

/* ---- between refs.c and sift.c ---- */

struct use {
	uint64_t at;		/* added to the value, the address */
	uint32_t insn;		/* its number */
	uint16_t size;		/* less 1 */
	uint8_t group;		/* index of the value */
	uint8_t count;		/* 1 + the group of the rounds, or 0 */
};

/* What an execution of an id uses. */
struct unit {
	uint64_t times;
	uint64_t *value;	/* of its block: those of the groups, and 1 */
	uint32_t use;		/* where in uses[] */
	uint32_t nuse, ninsn;
	uint32_t nref;		/* references, with those left out */
	uint32_t same;		/* left out: fetches of the line before */
};

#define HASH_FIRST	HASH_MULTIPLIER
#define HASH_SECOND	UINT64_C(0xd6e8feb86659fd93)

/* A line's hash, which decides whether it is in the sample. */
static inline uint32_t
refs_hash(uint64_t line)
{
	uint64_t x = line * HASH_FIRST;

	return (uint32_t)((x ^ x >> 32) * HASH_SECOND >> 32);
}

/* Use the k-th of a unit's uses, if its lines are in the sample. */
typedef void use_fn(const struct unit *, uint32_t k, const uint64_t *value);
/* Begin; the lines of the sample are those whose hash is below this. */
void sift_init(uint32_t below, use_fn *);
/* New values, all 0, of a block with so many groups, and one value more. */
uint64_t *sift_values(unsigned ngroups);
/* Take over a block, and its uses. */
void sift_define(uint32_t id, const struct unit *, const struct use *,
    unsigned ngroups);
/* Take over a prefix of a block. */
void sift_part(uint32_t id, const struct unit *, uint32_t block,
    unsigned ngroups);
/* How often sift ran an id. */
uint64_t sift_times(uint32_t id);
/* As refs_sift, but up to the end of the interval. */
const uint64_t *sift(const struct unit *, const uint64_t *rec,
    const uint64_t *end);

/* ---- curve.c ---- */

struct point {
	uint64_t lines;		/* the cache's */
	double misses, error;	/* error: a standard error; 0 if exact */
};
/* How many misses a history has in a cache of each size. */
struct curve {
	const struct history *h;
	uint64_t *misses[GROUPS];	/* by distance: uses of that or more */
	uint64_t *all;		/* the same of all groups */
	uint64_t most;
};
/* Fill in the curve of a history, which must not change while it is used. */
void curve_make(struct curve *, const struct history *);
void curve_free(struct curve *);
/* The smallest cache of which a curve can tell, in lines: in a sample, > 1. */
uint64_t curve_first(void);
/* The point of a cache that holds so many lines. */
struct point curve_at(const struct curve *, uint64_t lines);
/* A distance in lines of the sample, as one in all lines. */
uint64_t scaled(uint64_t distance);

/* ---- report.c, plot.c ---- */

/* Write the text, to the simulator's output. */
void report(struct simrun *);
/* With -v: write a few lines to standard error. */
void summary(const struct simrun *);
/* Write the picture into a file. */
void plot(const char *file);

#endif
