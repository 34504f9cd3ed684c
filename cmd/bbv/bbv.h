/*
 * bbv - what its parts share
 *
 * blocks.c knows basic blocks and what of them an execution is; count.c adds
 * executions up and says where intervals end; rows.c writes.
 */
#ifndef BBV_H
#define BBV_H

#include <stddef.h>
#include <stdint.h>

#include "ev.h"
#include "objmap.h"
#include "out.h"

enum format { FORMAT_PLAIN, FORMAT_EXP, FORMAT_PINPOINTS };

/* options.c */
struct options {
	enum format format;
	uint64_t interval;	/* instructions */
	const char *bb_out;	/* NULL: standard output */
	const char *pc_out;	/* NULL: none */
	const char *mav_out;	/* NULL: none */
	unsigned mav_shift;	/* log2 of what is one place in memory */
	int keep_tail;
	int count_only;
};
extern struct options opt;

/* ---- blocks.c ---- */

/* A basic block: where it begins, wherever it was seen to end. */
struct bb {
	uint64_t addr;
	uint64_t link;		/* in its object's terms */
	const struct obj *obj;	/* NULL: none */
	uint32_t id;		/* by first execution, from 1; 0: not yet */
	uint32_t ninsn, bytes;	/* of the longest that was seen */
	uint64_t runs;		/* executions so far (pinpoints) */
};
extern struct bb *bbs;
extern uint32_t nbb, maxid;

/* Part of an execution: instructions in a row of one basic block. */
struct piece {
	uint32_t bb;
	uint32_t ninsn;
};

/* What an id of the stream is. */
struct unit {
	uint32_t piece, npiece;	/* in pieces[] */
	uint32_t ninsn;
	uint32_t known;		/* its blocks have ids */
};
extern struct unit *units;
extern struct piece *pieces;

void blocks_define(const struct evr *, uint32_t id, struct objmap *);
/* Give ids to the blocks of a unit that is executed for the first time. */
void blocks_first(struct unit *);

/* ---- count.c ---- */

/* A thread's interval so far. */
struct thread {
	uint64_t *n;		/* by block: instructions */
	size_t cap;
	uint64_t ninsn;		/* of the interval; exp-bbv: less what it takes off */
	uint64_t total;
	uint64_t nrow;
	int marked;		/* its interval has begun */
	struct out *out, *mav;
	unsigned number;	/* from 1 */
	uint64_t *lines;	/* by place: touches */
	size_t linecap;
};

/* Records of kinds all and blocks, in order. */
void count_execs(const struct evr *, const struct ev *, struct thread *);
/* Kind counts: no order, and no end of an interval but the stream's. */
void count_counts(const struct ev *, struct thread *);
/* Units executed since the last time go to the thread's blocks. */
void count_settle(struct thread *);
/* The interval ends here. */
void count_row(struct thread *, uint64_t rest);
/* The thread's last interval, which is not full. */
void count_tail(struct thread *);
/* It is over: that, and its memory is given back. */
void count_end(struct thread *);

/* ---- rows.c ---- */

void rows_open(struct thread *, const char *cmd);
/* 0: its rows go nowhere, only its sums are told. */
int rows_wanted(const struct thread *);
void rows_write(struct thread *);
void rows_mark(struct thread *, uint32_t bb);
void rows_close(struct thread *);
/* The file with a line for each block. */
void rows_blocks(void);
/* %p, %q{VAR}, %% in a file's name; pid of the stream's program, or NULL. */
char *rows_name(const char *pattern, const char *pid);
extern const char *stream_pid;

#endif
