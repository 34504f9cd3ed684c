/*
 * told - tell of a block what a thread had executed when it was interrupted
 *
 * A fragment tells a block where it is left, by a record or a counter.  Where a
 * thread stops inside, a prefix of the block is told instead, for which trace
 * has an id; and of a repeated instruction the rounds that it has done.
 */
#include "contexts.h"
#include "kinds.h"
#include "queue.h"
#include "state.h"
#include "threads.h"

void
told_count_down(struct tarea *t, uint64_t n)
{
	if (window_in_p(t))
		t->p -= n;
	else
		t->left -= n;
}

/* One more, or less, for exit x, unless its counter is another's by now. */
static void
count_one(struct tarea *t, const struct exitmeta *x, int64_t times)
{
	uint32_t counter = x->id;

	told_count_down(t, x->n * (uint64_t)times);
	contexts_cost(t, x->n, x->refs, 0, times);
	if (rt.boot.countbytes == 0 || t->skips ||
	    t->renewed != __atomic_load_n(&rt.ctl->renewed, __ATOMIC_SEQ_CST))
		return;
	counters_room(t, counter + 1ull);
	*counter_at(t, counter) += (uint64_t)times;
}

/*
 * trace has counted them; and, kind cache, the record of a repeated one that
 * was cut, or is done but not told: its count may be 0.
 */
static void
tell_counted(struct tarea *t, uint64_t n, unsigned rep, uint64_t rounds)
{
	uint32_t head = (uint32_t)t->slot->ret[1];
	uint32_t countat = (uint32_t)(t->slot->ret[1] >> 32);
	uint64_t refs = t->slot->ret[0];
	unsigned size = record_size(record_nvalues(head));

	told_count_down(t, n);
	contexts_cost(t, n, (uint8_t [2]){ (uint8_t)refs,
	    (uint8_t)(refs >> 8) }, 0, 1);
	if (t->bufend == 0)
		return;
	table_empty(t);
	if (head == 0 || (rep == 1 && rounds == 0))
		return;
	contexts_tell(t, 0);
	buffer_room(t, size);
	memcpy((void *)(t->p + 4), t->vec, size - 4);
	memcpy((void *)(t->p + countat), &rounds, 8);
	*(volatile uint32_t *)t->p = head;
	t->p += size;
}

void
told_prefix(struct tarea *t, uint32_t block, const struct mapent *m,
    uint64_t rounds)
{
	uint64_t arg[4] = { block, m->n, m->rep, 0 };
	uint32_t id, step, countat, most;

	if (m->rep == 1 && rounds != 0)
		arg[1]++;
	if (t->skips) {
		t->p -= arg[1];
		return;
	}
	__atomic_store_n(&t->slot->incache, 0, __ATOMIC_SEQ_CST);
	if (ask(t, REQ_PARTIAL, arg) < 0)
		return;
	id = (uint32_t)t->slot->ret[0];
	step = t->slot->ret[1] & 0xffff;
	countat = t->slot->ret[1] >> 16 & 0xffff;
	most = (uint32_t)(t->slot->ret[1] >> 32);
	if (rt.boot.countbytes != 0) {
		tell_counted(t, arg[1], m->rep, rounds);
		return;
	}
	told_count_down(t, arg[1]);
	if (t->bufend == 0)
		return;
	if (id != 0) {
		buffer_room(t, step);
		if (m->rep != 0 && rounds != 0)
			memcpy((void *)(t->p + countat), &rounds, 8);
		*(volatile uint32_t *)t->p = record_head(id, (step - 4) / 8);
		t->p += step;
		most -= step;
	}
	if (t->p + most > t->bufend)
		most = (uint32_t)(t->bufend - t->p);
	memset((void *)t->p, 0, most);
}

void
told_exit(struct tarea *t, const struct exitmeta *x)
{
	unsigned size = record_size(record_nvalues(x->id));

	if (x->n == 0)
		return;
	if (t->bufend == 0 || rt.boot.countbytes != 0) {
		count_one(t, x, 1);
		return;
	}
	told_count_down(t, x->n);
	buffer_room(t, size);
	*(volatile uint32_t *)t->p = x->id;
	t->p += size;
}

uint64_t
rounds_left(const struct tarea *t)
{
	return t->gpr[1] > t->tmp2 ? (uint32_t)t->gpr[1] : t->gpr[1];
}

uint64_t
rounds_done(struct tarea *t, const struct mapent *m)
{
	uint64_t n;

	if (m->rep == 0 || m->rep == REP_CHECK)
		return 0;
	n = t->tmp2 - rounds_left(t);
	return t->df ? -n : n;
}

/* No counter is freed before the thread has left the cache. */
void
rounds_uncount(struct tarea *t, const struct mapent *m)
{
	uint64_t *c = counter_at(t, t->tmp0 & (NIDS - 1));

	contexts_rounds(t, m, rounds_left(t));
	if (m->kind == MAP_ROUNDS && m->counted)
		return;
	c[0] -= rounds_left(t);
	if (m->rep == 1 && t->tmp2 == 0)
		c[1]--;
}

void
rounds_settle(struct tarea *t, struct mapent *m)
{
	uint8_t rep = m->counted ? 2 : 1;

	if (m->kind != MAP_ROUNDS)
		return;
	rounds_uncount(t, m);
	m->kind = MAP_BODY;
	m->rep = rep & 3;
	m->counted = 0;
}

void
told_back(struct tarea *t, const struct exitmeta *x, unsigned n)
{
	struct mapent m;

	memset(&m, 0, sizeof m);
	m.n = (uint8_t)n;
	if (x->n == 0)
		return;
	if (t->bufend == 0 || rt.boot.countbytes != 0) {
		count_one(t, x, -1);
	} else {
		told_count_down(t, -(uint64_t)x->n);
		t->p -= record_size(record_nvalues(x->id));
		*(volatile uint32_t *)t->p = 0;
	}
	told_prefix(t, x->block, &m, 0);
}

void
state_untell(struct tarea *t, const struct exitmeta *x)
{
	told_back(t, x, x->n - 1);
}
