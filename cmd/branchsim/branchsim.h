/*
 * branchsim.h - the parts of branchsim
 *
 * main.c	options, the stream, costs
 * run.c	turns executions into branches and predicts them
 * batch.c	the same by Cachegrind's predictor, for many executions
 * tables.c	branches and units
 * sums.c	what the program has predicted itself
 * repeat.c	runs many equal rounds
 * predict.c	predictors: Cachegrind's, bimodal, gshare, perfect
 * tage.c	TAGE and ITTAGE
 */
#ifndef BRANCHSIM_H
#define BRANCHSIM_H

#include <stdbool.h>
#include <stdint.h>

#include "ev.h"
#include "simrun.h"

/* ---- predict.c, tage.c ---- */

/* Each call predicts, learns, and returns whether the prediction was wrong. */
struct predictor {
	const char *name;
	void (*init)(void);
	bool (*cond)(uint64_t addr, bool taken);
	bool (*indirect)(uint64_t addr, uint64_t target);
	/* NULL: returns are always right, and not counted */
	bool (*ret)(uint64_t target);
	bool ages;		/* it forgets, every REPEAT_AGE branches */
	/* Keep the state, with that of the return stack, as number at. */
	void (*save)(int at);
	/*
	 * How often what has happened since can happen once more, and find and
	 * do the same again. 0: it cannot, the state is another one.
	 */
	uint64_t (*again)(int at);
	/* It has happened so often. */
	void (*skip)(int at, uint64_t times);
};

#define PREDICT_STATES 4	/* that are kept */

extern uint64_t predict_history;	/* outcomes, the newest in bit 0 */
extern uint8_t predict_counter[1 << 14]; /* 0 16: not taken; 32 48: taken */
/* Targets by bits of the address; the last is that of no branch. */
#define PREDICT_TARGETS 512
extern uint64_t predict_last[PREDICT_TARGETS + 1];

/*
 * A counter of two bits has one of the values 0, 16, 32, 48. What becomes of it
 * is in a byte of NEXT, which its value gives in bits: that for a branch that
 * is not taken, and 8 bits further on that for one that is. The byte is the new
 * value, and in bit 0 whether the old one was wrong. A branch here would be as
 * hard to guess as the one that is simulated.
 */
#define PREDICT_NEXT UINT64_C(0x3021301121001100)

/* Was the counter wrong? Then it learns. */
static inline unsigned
predict_bits(uint8_t *c, unsigned taken)
{
	unsigned then = (unsigned)(PREDICT_NEXT >> (*c + 8 * taken));

	*c = then & 48;
	return then & 1;
}

/* The counter's number in Cachegrind's. */
static inline unsigned
predict_cell(uint64_t history, unsigned low)
{
	return (unsigned)(history & 127) << 7 | low;
}

/*
 * Cachegrind's: 7 bits of the address beside 7 of the history. What it counts
 * for an indirect branch is the last target of those that share 9 bits.
 */
static inline bool
predict_cachegrind(uint64_t addr, bool taken)
{
	unsigned wrong = predict_bits(&predict_counter[predict_cell(
	    predict_history, addr & 127)], taken);

	predict_history = predict_history << 1 | taken;
	return wrong;
}

extern const struct predictor cachegrind, bimodal, gshare, perfect, tage;

/* The return stack of the thread that runs, which is a small number. */
extern unsigned stack_thread;
/* A call that returns to this address. */
void stack_call(uint64_t behind);
/* A return: true if it leads elsewhere than predicted. */
bool stack_ret(uint64_t target);
/* Keep the stack as number at, of PREDICT_STATES. */
void stack_save(int at);
/* Is it the same as then, except for multiples of its size in depth? */
bool stack_same(int at);

/* ---- repeat.c ---- */

#define REPEAT_FIRST 4096	/* rounds with which it is of use */
#define REPEAT_AGE (1 << 18)

/* What is repeated. All rounds look the same to the predictor. */
struct branch_repeat {
	const struct predictor *predictor;
	int nested;		/* within a round of another one */
	void *what;
	int (*round)(void *what);	/* -1: trouble, which ends it */
	/* Keep what has been counted, at one of two levels. */
	void (*keep)(void *what, int level);
	/* Add so many times what was counted since; false: that cannot be. */
	bool (*add)(void *what, int level, uint64_t times, uint64_t rounds);
};
/* Run n rounds, or do all that they would; -1: trouble. */
int repeat(const struct branch_repeat *, uint64_t n);

/* ---- tables.c ---- */

enum branch_event { BC, BCM, BI, BIM, BR, BRM, NEVENT };

/* flow: an ev_insn's, or 'Z' for a repeated instruction */
struct branch {
	uint64_t addr;
	uint64_t target;	/* C: its target; others: the next item's */
	uint16_t insn;
	uint8_t len;		/* of the instruction */
	uint8_t flow;
	uint8_t taken;		/* C, inside its block */
	bool is_cond;		/* C, Z */
	bool free;		/* its execution does not count */
};

/* The address behind it. */
static inline uint64_t
branch_behind(const struct branch *br)
{
	return br->addr + br->len;
}

/* What only a branch Z needs: other branches happen once per execution. */
struct branch_tests {
	const struct ev_block *block;	/* kept */
	uint64_t times;		/* tests */
	uint64_t fetches;	/* beyond one per execution */
	uint32_t branch;	/* its number */
};

/* What an execution needs, by id. Id 0 is batch.c's. */
struct branch_unit {
	uint64_t count;
	uint64_t entry;		/* the first instruction's address */
	uint32_t first;		/* branch[] of its block */
	uint16_t ninner;	/* branches whose outcome is known */
	bool waits : 1;		/* the branch behind them has none yet */
	bool counts : 1;	/* has a Z: needs the groups' values */
	bool tests : 1;		/* ends with a Z, which may test once more */
	/* batch.c: */
	bool slow : 1;		/* not by batch.c */
	bool once : 1;		/* it cannot run twice in a row */
	bool is_indirect;	/* what waits */
	bool is_other;		/* ... is not conditional */
	bool may_take;		/* ... goes to another place if it is taken */
	uint8_t assumed;	/* its outcome in its step */
	uint8_t nsteps;		/* conditional branches */
	uint32_t outcomes;	/* of these, the last in bit 0; 0 if it waits */
	uint64_t target, behind;	/* of what waits */
};

/* The branch that waits, or 0. */
static inline uint32_t
branch_last(const struct branch_unit *u)
{
	return u->waits ? u->first + u->ninner : 0;
}

/* A thread, as its T line names it. */
struct thread_name {
	uint64_t tid, pid;
	bool has_pid;
};

struct branch_thread {
	struct thread_name name;
	uint32_t open;		/* the branch that waits, or 0 */
};

extern struct branch *branch;	/* the first is none */
extern uint64_t *branch_missed;	/* how often each was mispredicted */
extern uint32_t branch_count;
extern struct branch_unit *branch_unit;	/* 0 at first */
extern struct branch_thread *branch_thread;	/* the one that runs */

/* There are no branches but the first, which is none. */
void branch_init(void);
/* One more, of zeros; it holds until the next call. */
struct branch *branch_new(void);
/* The tests of the newest branch, 0 so far. */
void branch_tests_new(const struct ev_block *);
/* The first tests of branch k or a later one, in the order of branches. */
struct branch_tests *branch_tests(uint32_t k);

/* ---- batch.c ---- */

/* After the n branches of a block are known. */
void batch_define_block(uint32_t first, uint32_t n);
/* After the unit's other members are known. */
void batch_define(struct branch_unit *);
/*
 * As run_batch, with Cachegrind's predictor. `record' does all executions of a
 * record, if need be by what tells of trouble.
 */
int batch_run(const uint64_t *rec, const uint64_t *end,
    int (*record)(const uint64_t *rec));

/* ---- run.c ---- */

/* What the last look found, for passing through. */
extern struct sim_outcome *found;
extern unsigned nfound;

/* rounds: each round of a repeated instruction is a branch, as in Valgrind. */
void run_init(struct evr *, const struct predictor *, bool rounds);
/* A B, P or Q line was read. */
void run_define(const struct ev_def *, uint32_t id);
/* A T line: the thread that runs from here on. */
void run_thread(unsigned thread, struct thread_name);
/*
 * Executions. -1: a branch went neither to its target nor on, and ev_bad
 * has been told.
 */
int run_batch(const uint64_t *rec, const uint64_t *end);
extern const uint64_t *run_refused;	/* if that was -1: the record */
/* Kind branches: n executions of an id. */
void run_sum(uint32_t id, uint64_t n);
/* n mispredictions of an instruction; -1: it is no branch. */
int run_missed(uint32_t block, uint32_t insn, uint64_t n);
/*
 * For passing through, one round of a record: first what became of the branch
 * before it, as run_batch (-1). found[] then has what there is to tell of the
 * thread's last execution.
 */
int run_before(const uint64_t *rec);
/* Then its own branches; found[] has what there is to tell of this one. */
void run_round(const uint64_t *rec);
/*
 * Many rounds of a record: most are left out if they are like others of which
 * there was nothing to tell.
 */
struct run_many {
	const uint64_t *rec;
	int (*one)(const uint64_t *rec);	/* -1: trouble */
	uint64_t *told;			/* what has been told; NULL: nothing */
	void (*left_out)(const uint64_t *rec, uint64_t rounds);	/* or NULL */
};
/* Run n rounds; -1: trouble. */
int run_many(struct run_many *, uint64_t n);
/* So many more executions, which were left out. */
void run_counted(const uint64_t *rec, uint64_t rounds);
/* The thread goes on at pc. */
int run_goes_on(uint64_t pc);
/* It does not, or is elsewhere when it is told of again. */
void run_stops(void);
/*
 * The same for all threads: one that stops at a branch, with what became of
 * that; false: there is no other.
 */
bool run_end(struct thread_name *);
/* The branches that threads wait at were executed when nothing counted. */
void run_forget(void);
/* How often an id was executed. */
uint64_t run_count(uint32_t id);
/*
 * Add the events of one instruction that ran so many times, in the order of
 * enum branch_event; and last the fetches beyond one for each execution.
 */
void run_costs(uint32_t block, uint32_t insn, uint64_t times, int64_t *n);

/* ---- sums.c ---- */

/* With --rep=each: rounds of repeated instructions are branches. */
void sums_init(struct evr *);
/* A B line was read. */
void sums_define(struct ev_block *);
/* An R line. */
void sums_rounds(const struct ev_block *, const struct ev *);
/* An X line; -1: the instruction is no branch. */
int sums_missed(const struct ev_block *, uint32_t insn, uint64_t n);
/* Add what a repeated instruction costs, as run_costs. */
void sums_costs(const struct insns_at *, int64_t *n);

#endif
