/*
 * bbv.h - what the parts of bbv share
 *
 * blocks.c cuts superblocks into basic blocks, exact.c does it as exp-bbv;
 * count.c adds up executions and ends intervals, touch.c counts the regions of
 * memory, rows.c writes the vectors.
 */
#ifndef BBV_H
#define BBV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ev.h"
#include "objmap.h"
#include "out.h"

enum vector_format { FORMAT_PLAIN, FORMAT_EXP, FORMAT_PINPOINTS };

/* The last interval, which is not full, is kept if it is the only one. */
enum vector_tail { TAIL_ONLY, TAIL_KEEP, TAIL_DROP };

/* options.c */
struct bbv_options {
	enum vector_format format;
	uint64_t interval;	/* instructions */
	const char *bb_out;	/* NULL: standard output */
	const char *pc_out;	/* NULL: none */
	const char *mav_out;	/* NULL: none */
	unsigned mav_shift;	/* log2 of the bytes of a memory region */
	enum vector_tail tail;
	bool count_only;
	bool verbose;
	bool exact;		/* blocks are those of exact.c */
};
extern struct bbv_options opt;

/* ---- blocks.c ---- */

/* A basic block: all that begin at one address, however long. */
struct bb {
	uint64_t addr;
	uint64_t link;		/* the same as a link-time address */
	const struct obj *obj;	/* NULL: none */
	uint32_t id;		/* by first execution, from 1; 0: not yet */
	uint32_t ninsn, bytes;	/* of the longest one seen */
	uint64_t runs;		/* executions so far (pinpoints) */
};
extern struct bb *bbs;
extern uint32_t nbb;

/* Part of a superblock: consecutive instructions of one basic block. */
struct bb_part {
	uint32_t bb;
	uint32_t ninsn;
};

/* What an id of the stream executes. */
struct block_parts {
	uint32_t part, npart;	/* in parts[] */
	uint32_t ninsn;
	bool known;		/* its basic blocks have ids */
};
extern struct block_parts *units;	/* by the stream's id */
extern struct bb_part *parts;

/* Define a unit by its line: cut behind each flow, and at each gap. */
void blocks_define(const struct evr *, uint32_t id, struct objmap *);
/*
 * Define a unit by parts of one's own: begin one of ninsn instructions, then
 * add its parts, n instructions each.
 */
void blocks_begin(uint32_t id, uint32_t ninsn);
void blocks_part(uint32_t id, const struct ev_insn *, uint32_t n,
    struct objmap *);
/* The basic block at an address; give it an id, for it is executed. */
uint32_t blocks_find(uint64_t addr, struct objmap *);
void blocks_enter(uint32_t bb);
/* Give ids to the basic blocks of a unit when it is first executed. */
void blocks_first(struct block_parts *);

/* ---- count.c ---- */

/* A thread's interval so far. */
struct bbv_thread {
	uint64_t *n;		/* by basic block: instructions */
	size_t cap;
	uint64_t ninsn;		/* of the interval, and the last excess */
	uint64_t excess;	/* how much that is: in another row */
	uint64_t total;
	uint64_t reps, unique, fldcw;	/* exp-bbv's sums, see exact.c */
	struct exact_state *state;	/* exact.c's own */
	uint64_t nrow;
	bool marked;		/* its interval has begun */
	struct out *out, *mav;
	unsigned number;	/* from 1 */
	uint64_t *touches;	/* by memory region */
	size_t captouches;
};

/* Records of kinds all and blocks, in order. */
void count_execs(struct evr *, const struct ev *, struct bbv_thread *,
    struct objmap *);
/* Kind counts: records have no order; only the stream ends intervals. */
void count_counts(const struct ev *, struct bbv_thread *);
/* Add the units executed since the last call to the thread's blocks. */
void count_settle(struct bbv_thread *);
/*
 * The thread has ended: settle, keep or drop the last interval, which is not
 * full, and free its memory.
 */
void count_end(struct bbv_thread *);

/* ---- vector.c ---- */

/* Make room for the counts of all basic blocks. */
void vector_room(struct bbv_thread *);
/* End the interval; the next one has `rest' instructions already. */
void vector_row(struct bbv_thread *, uint64_t rest);

/* ---- touch.c: --mav ---- */

/* More regions hardly fit into memory, and a vector of them is of no use. */
#define TOUCH_MOST	((uint32_t)1 << 24)
extern bool touch_crowded;		/* there are more */

/* Are regions counted in this thread? */
bool touch_wanted(const struct bbv_thread *);
/* Touch the regions of n instructions from the first, each so many times. */
void touch_insns(struct bbv_thread *, const struct ev_def *, uint32_t first,
    uint32_t n, uint64_t times);
/* Touch the regions of 1 to n rounds that touch the same; how many rounds. */
uint64_t touch_rounds(struct bbv_thread *, const struct ev_def *,
    const uint64_t *diff, uint64_t n);

/* ---- exact.c: --format=exp-bbv ---- */

/* An M line: code of this file. */
void exact_map(uint64_t start, uint64_t end, uint64_t off, const char *path);
/* Instead of blocks_define */
void exact_define(const struct evr *, uint32_t id, struct objmap *);
/* Is an execution that of the unit's own parts? */
bool exact_is_plain(struct bbv_thread *, const struct ev_def *,
    uint32_t id);
/* Does a block that ends behind the unit go on at its beginning? */
bool exact_goes_on(uint32_t id);
/* Then: n of them were counted, all of them plain; else count one. */
void exact_counted(struct bbv_thread *, uint32_t id, uint64_t n);
void exact_walk(struct bbv_thread *, const struct ev_def *, uint32_t id,
    struct objmap *);
/* A signal: the block ends. */
void exact_break(struct bbv_thread *);

/* ---- rows.c ---- */

/* Open the thread's files, if it has any, and write what they begin with. */
void rows_open(struct bbv_thread *, const char *cmd);
/* false: its rows are not written, at most its sums. */
bool rows_wanted(const struct bbv_thread *);
/* Write the vector of an interval, and of its memory; it has just ended. */
void rows_write(struct bbv_thread *);
/* --format=pinpoints: an interval begins with this basic block. */
void rows_mark(struct bbv_thread *, uint32_t bb);
/* Write what ends the thread's files, and close them. */
void rows_close(struct bbv_thread *);
/* Write the file with a line for each block. */
void rows_blocks(void);
extern const char *stream_pid;		/* the program's, or NULL */

#endif
