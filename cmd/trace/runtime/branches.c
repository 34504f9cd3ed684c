/*
 * branches - kind branches: what a fragment has not learnt when it is left
 *
 * Fragments teach the thread's predictor (xlate/learn.c).  Where a signal finds
 * a thread between a branch and the end of that, the rest is done here, before
 * the handler's own branches.  A misprediction found here is counted by trace,
 * which knows the counter.
 *
 * With --rep=each all rounds of repeated instructions are learnt here.
 */
#include "kinds.h"
#include "queue.h"
#include "runtime.h"
#include "threads.h"

static struct predictor *
predictor_of(struct tarea *t)
{
	return (struct predictor *)((uint64_t)t + T_BIAS +
	    (uint64_t)(int64_t)T_PREDICTOR);
}

/* The history is t->clock.  True: it was mispredicted, which is not counted. */
static bool
conditional(struct tarea *t, uint64_t pc, bool taken, unsigned done)
{
	uint8_t *c = &predictor_of(t)->counter[predictor_row(pc) +
	    (t->clock & 254)];
	bool missed = done == 0 && taken != (*c >= 2);

	if (done < 2 && taken && *c < 3)
		++*c;
	if (done < 2 && !taken && *c > 0)
		--*c;
	t->clock = 2 * t->clock + 2 * taken;
	return missed;
}

static bool
indirect(struct tarea *t, uint64_t pc, uint64_t target, unsigned done)
{
	uint64_t *last = &predictor_of(t)->target[pc % 512];
	bool missed = done < 2 && *last != target;

	if (*last != target)
		predictor_of(t)->was = *last;
	*last = target;
	return missed;
}

/* After so many outcomes alike all others are predicted and change nothing. */
#define ALIKE (7 + 3u)

/*
 * Valgrind makes a loop of it: one branch tests the count before each round.
 * In one that compares another tests the comparison, behind each round.
 */
unsigned
branches_rounds(struct tarea *t, uint64_t pc, uint64_t n, bool goes_on)
{
	bool writes = rounds_refs(t->tmp0, 1) != 0;
	unsigned taken = n < ALIKE ? (unsigned)n : ALIKE, missed = 0;

	if (!writes && n != 0)
		taken = 2 * taken - 1;
	for (; taken > 0; taken--)
		missed += conditional(t, pc, true, 0);
	return missed + conditional(t, pc, !writes && n != 0 && goes_on, 0);
}

void
branches_look(struct tarea *t, const uint32_t asked[2], uint64_t rcx)
{
	bool zero = t->rflags >> 6 & 1, repne = asked[1] >> 8;
	/* with an address size of 32 bits the upper half does not count */
	uint64_t left = rcx > t->tmp2 ? (uint32_t)rcx : rcx;
	unsigned missed;

	missed = branches_rounds(t, t->pc, t->tmp2 - left, zero != repne);
	if (missed == 0)
		return;
	counters_room(t, asked[0] + 1ull);
	*counter_at(t, asked[0]) += missed;
}

bool
branches_settle(struct tarea *t, struct kucontext *uc, struct mapent *m,
    const struct exitmeta *x, uint64_t pc)
{
	bool exit = m->kind == MAP_LEARN_EXIT, taken = m->counted;
	unsigned done = m->rep;

	if (!(rt.boot.flags & BOOT_BRANCHES) ||
	    (!exit && m->kind != MAP_LEARN))
		return false;
	m->kind = exit ? MAP_EXIT : MAP_BODY;
	m->rep = m->counted = 0;
	if (!exit || x->kind != EXIT_INDIRECT)
		return conditional(t, pc, taken, done);
	if (done != 0)
		uc->rcx = uc->rax;
	return indirect(t, pc, uc->rcx, done);
}

void
branches_leave(struct tarea *t)
{
	if (!(rt.boot.flags & BOOT_BRANCHES))
		return;
	memcpy(&rt.ctl->kept.predictor, predictor_of(t),
	    sizeof(struct predictor));
	rt.ctl->kept.history = t->clock;
}

void
branches_begin(struct tarea *t)
{
	if (!(rt.boot.flags & BOOT_BRANCHES))
		return;
	memcpy(predictor_of(t), &rt.ctl->kept.predictor,
	    sizeof(struct predictor));
	t->clock = rt.ctl->kept.history & ~1ull;
}

/* The thread counts as outside of the cache. */
void
branches_missed(struct tarea *t, uint32_t block, unsigned n, unsigned missed)
{
	uint64_t arg[4] = { block, n, missed, 0 };

	ask(t, REQ_MISSED, arg);
}

void
branches_undo(struct tarea *t, const struct exitmeta *x)
{
	struct predictor *p = predictor_of(t);

	if (!(rt.boot.flags & BOOT_BRANCHES) || t->skips)
		return;
	p->target[x->target % 512] = p->was;
	branches_missed(t, x->block, x->n, 0);
}
