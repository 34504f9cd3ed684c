/*
 * predict - predictors: Cachegrind's, bimodal, gshare, perfect; return stacks
 */
#include "branchsim.h"

#include <string.h>

#include "mem.h"

uint64_t predict_history;
uint8_t predict_counter[1 << 14];
uint64_t predict_last[PREDICT_TARGETS + 1];

static void
nothing(void)
{
}

static bool
last_target(uint64_t addr, uint64_t target)
{
	uint64_t *t = &predict_last[addr % PREDICT_TARGETS];
	bool wrong = *t != target;

	*t = target;
	return wrong;
}

/* ---- states ---- */

static struct predict_state {
	uint64_t history, last[PREDICT_TARGETS];
	uint8_t counter[1 << 14];
} state[PREDICT_STATES];

static void
save(int at)
{
	struct predict_state *s = &state[at];

	s->history = predict_history;
	memcpy(s->last, predict_last, sizeof s->last);
	memcpy(s->counter, predict_counter, sizeof s->counter);
	stack_save(at);
}

static uint64_t
again(int at)
{
	const struct predict_state *s = &state[at];

	return s->history == predict_history && stack_same(at) &&
	    memcmp(s->last, predict_last, sizeof s->last) == 0 &&
	    memcmp(s->counter, predict_counter, sizeof s->counter) == 0 ?
	    UINT64_MAX : 0;
}

static void
skip(int at, uint64_t times)
{
	(void)at;
	(void)times;
}

/* ---- predictors ---- */

const struct predictor cachegrind = {
	"cachegrind", nothing, predict_cachegrind, last_target, NULL,
	false, save, again, skip
};

static bool
bimodal_cond(uint64_t addr, bool taken)
{
	return predict_bits(&predict_counter[addr & 16383], taken);
}

const struct predictor bimodal = {
	"bimodal", nothing, bimodal_cond, last_target, stack_ret,
	false, save, again, skip
};

static bool
gshare_cond(uint64_t addr, bool taken)
{
	unsigned wrong = predict_bits(&predict_counter[(addr ^
	    predict_history) & 16383], taken);

	predict_history = predict_history << 1 | taken;
	return wrong;
}

const struct predictor gshare = {
	"gshare", nothing, gshare_cond, last_target, stack_ret,
	false, save, again, skip
};

static bool
right(uint64_t addr, bool taken)
{
	(void)addr;
	(void)taken;
	return false;
}

static bool
right_target(uint64_t addr, uint64_t target)
{
	(void)addr;
	(void)target;
	return false;
}

const struct predictor perfect = {
	"perfect", nothing, right, right_target, NULL,
	false, save, again, skip
};

/* ---- return stacks ---- */

#define DEPTH	32

/* Calls beyond the depth overwrite the oldest. */
static struct return_stack {
	uint64_t addr[DEPTH];
	unsigned top;
} *stack;
static size_t capstack;

unsigned stack_thread;

static struct return_stack *
own_stack(void)
{
	if (stack_thread >= capstack)
		stack = xgrow0(stack, &capstack, stack_thread + 1,
		    sizeof *stack);
	return &stack[stack_thread];
}

void
stack_call(uint64_t behind)
{
	struct return_stack *s = own_stack();

	s->addr[s->top++ % DEPTH] = behind;
}

bool
stack_ret(uint64_t target)
{
	struct return_stack *s = own_stack();

	return s->addr[--s->top % DEPTH] != target;
}

static struct return_stack saved[PREDICT_STATES];

void
stack_save(int at)
{
	saved[at] = *own_stack();
}

bool
stack_same(int at)
{
	const struct return_stack *s = own_stack();

	return s->top % DEPTH == saved[at].top % DEPTH &&
	    memcmp(s->addr, saved[at].addr, sizeof s->addr) == 0;
}
