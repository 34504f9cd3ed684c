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
#include "lru.h"
#include "simrun.h"
#include "util.h"

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

/* Of the costs, else powers of two; ascending. */
extern struct size sizes[MOST_SIZES + 4];
extern unsigned nsize;
/* Of the curve, if they were given. */
extern struct size curve_size[MOST_SIZES];
extern unsigned curve_nsize;
/* Of the machine. */
extern struct size caches[8];
extern unsigned ncache;
/* Bytes as lines, at least 1. */
uint64_t in_lines(uint64_t bytes);
/* "32K" */
const char *size_name(uint64_t bytes, char buf[24]);
extern const char *command;	/* that was traced, or NULL */

/* Options' arguments; these die if one is wrong. */
void set_refs(const char *arg);
void set_line(const char *arg);
void set_sample(const char *arg);
unsigned read_sizes(const char *option, const char *arg, struct size *list,
    unsigned most);
void add_size(struct size *list, unsigned *n, uint64_t bytes, const char *name);
/* Sort, and keep each once; returns how many. */
unsigned unique_sizes(struct size *list, unsigned n);
/* An H line; when all were read, set caches if no option did. */
void take_head(const struct ev *);
void find_caches(void);

/* ---- count.c ---- */

/* How many uses had a distance. */
struct distances {
	uint64_t near[LRU_FRONT];
	uint64_t *far;		/* by distance, from LRU_FRONT on */
	size_t capfar;
	uint64_t cold;		/* first uses */
};

/* Interval by interval; see work.c. */
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

/* A thread, or all. */
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
struct history *history_of(unsigned thread);
unsigned histories(void);

/* Misses of an instruction. */
struct row {
	uint64_t *n;		/* by size that is the largest to miss; cold */
	int64_t extra;		/* references, more than in its executions */
};
extern struct row *rows;	/* by number of instruction */

/* An execution's misses for the O lines. */
extern struct sim_outcome *found;
extern unsigned nfound;

void count_init(bool through);
void count_rows(uint64_t n);
extern uint64_t count_least;	/* the smallest size, in lines */
extern uint64_t count_weight;	/* rounds that the one running counts for */
/* Count n uses of a distance by an instruction; group: of the sample. */
void count_use(uint64_t insn, uint64_t distance, uint64_t n, unsigned group);
/* Distances up to this were seen. */
uint64_t count_most(const struct distances *);
uint64_t count_of(const struct distances *, uint64_t distance);

/* ---- work.c ---- */

void work_init(struct work *);
/* A line that is not in the front is used. */
void work_touch(struct history *, struct lru_line *, uint64_t line);
/* How many instructions fit into the interval? At least 1. */
uint64_t work_left(const struct work *);
/* So many were executed, with so many references. */
void work_done(struct history *, uint64_t insns, uint64_t refs);
void work_end(struct history *);
/* The finest level of at most so many intervals, and their length. */
const struct work_level *work_level(const struct work *, size_t most,
    uint64_t *length);

/* ---- refs.c ---- */

void refs_init(struct evr *, struct insns *);
const char *refs_define(uint32_t id, const struct ev_def *);
/*
 * Run rounds of a record, up to n, which have equal distances; returns how
 * many. first: the record was not run before.
 */
uint64_t refs_run(const uint64_t *rec, uint64_t n, bool first);
uint64_t refs_count(uint32_t id);
/* How many references an instruction has in each execution. */
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

/* What an id executes. */
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

static inline uint32_t
refs_hash(uint64_t line)
{
	uint64_t x = line * HASH_FIRST;

	return (uint32_t)((x ^ x >> 32) * HASH_SECOND >> 32);
}

/* Use the k-th of a unit's uses, if its lines are in the sample. */
typedef void use_fn(const struct unit *, uint32_t k, const uint64_t *value);
/* A sampled line's hash is below this. */
void sift_init(uint32_t below, use_fn *);
/* A block's values, of 0. */
uint64_t *sift_values(unsigned ngroups);
/* A block is defined, or a part of one. */
void sift_define(uint32_t id, const struct unit *, const struct use *,
    unsigned ngroups);
void sift_part(uint32_t id, const struct unit *, uint32_t block,
    unsigned ngroups);
/* How often sift ran it. */
uint64_t sift_times(uint32_t id);
/* As refs_sift, but up to the end of the interval. */
const uint64_t *sift(const struct unit *, const uint64_t *rec,
    const uint64_t *end);

/* ---- curve.c ---- */

struct point {
	uint64_t lines;		/* the cache's */
	double misses, error;	/* error: a standard error; 0 if exact */
};
/* What the whole history of a program makes of it. */
struct curve {
	const struct history *h;
	uint64_t *misses[GROUPS];	/* by distance: uses of that or more */
	uint64_t most;
};
void curve_make(struct curve *, const struct history *);
void curve_free(struct curve *);
struct point curve_at(const struct curve *, uint64_t lines);
/* Distances as they are without a sample: lines of the whole. */
uint64_t scaled(uint64_t distance);

/* ---- report.c, plot.c ---- */

void report(struct simrun *);
/* With -v: a few lines on standard error. */
void summary(const struct simrun *);
void plot(const char *file);

#endif
