/*
 * serve - send requests to trace, and hand records over to it
 *
 * A thread that waits for an answer polls (wait.c), then sleeps, for 100 ms at
 * a time, to see whether trace is still alive.  Behind a seccomp filter we may
 * make no system calls, so there it only polls.
 */
#include "contexts.h"
#include "queue.h"
#include "runtime.h"
#include "threads.h"

#define QUEUE_SPINS 60	/* the formatter takes longer than a translation */

void
futex_wait(uint32_t *word, uint32_t val)
{
	static const long limit[2] = { 0, 100 * 1000 * 1000 };

	if (rt.ctl->no_futex)
		__builtin_ia32_pause();
	else
		sys4(__NR_futex, word, FUTEX_WAIT, val, limit);
}

void
pause_ms(void)
{
	static const long time[2] = { 0, 1000 * 1000 };

	sys2(__NR_nanosleep, time, 0);
}

void
futex_wake(uint32_t *word, int n)
{
	if (!rt.ctl->no_futex)
		sys3(__NR_futex, word, FUTEX_WAKE, n);
}

bool
trace_died(void)
{
	return (__atomic_load_n(&rt.ctl->alive, __ATOMIC_ACQUIRE) &
	    FUTEX_OWNER_DIED) != 0;
}

static void
ring_bell(void)
{
	if (__atomic_load_n(&rt.ctl->serving_sleeps, __ATOMIC_SEQ_CST)) {
		__atomic_fetch_add(&rt.ctl->bell, 1, __ATOMIC_SEQ_CST);
		futex_wake(&rt.ctl->bell, 1);
	}
}

/*
 * The process will end now, with ctl->status.  If it has but this thread, trace
 * need not wait for that to write what is counted.  Where calls are filtered it
 * may live on.
 */
void
serve_ended(void)
{
	bool alone = __atomic_load_n(&rt.nthread, __ATOMIC_SEQ_CST) <= 1 &&
	    rt.ctl->joining == 0 && !rt.ctl->polling;

	__atomic_store_n(&rt.ctl->ended, alone ? ENDED_ALONE : ENDED,
	    __ATOMIC_SEQ_CST);
	if (alone && (rt.boot.flags & BOOT_COUNTS))
		ring_bell();
}

/* 0 and the answer in slot->ret, or -1 when trace is gone. */
int
ask(struct tarea *t, enum request what, const uint64_t *arg)
{
	struct slot *s = t->slot;
	struct waiting w = { .what = what, .cpu = this_cpu() };
	unsigned i;

	for (i = 0; i < 4; i++)
		s->arg[i] = arg[i];
	s->what = what;
	s->cpu = w.cpu;
	__atomic_store_n(&s->state, SLOT_ASKED, __ATOMIC_SEQ_CST);
	__atomic_fetch_or(&rt.ctl->want[t->slotno / 64],
	    1ull << (t->slotno % 64), __ATOMIC_SEQ_CST);
	__atomic_fetch_or(&rt.ctl->wanted, 1ull << (t->slotno / 64),
	    __ATOMIC_SEQ_CST);
	ring_bell();
	contexts_rest(t);
	wait_begin(&w);
	while (__atomic_load_n(&s->state, __ATOMIC_ACQUIRE) != SLOT_ANSWERED) {
		if (wait_awake(&w))
			continue;
		if (trace_died())
			return -1;
		__atomic_store_n(&s->sleeps, 1, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&s->state, __ATOMIC_SEQ_CST) !=
		    SLOT_ANSWERED)
			futex_wait(&s->state, SLOT_ASKED);
		__atomic_store_n(&s->sleeps, 0, __ATOMIC_SEQ_CST);
	}
	s->turns = w.turns;
	s->state = SLOT_IDLE;
	wait_end(&w);
	contexts_resume(t);
	return 0;
}

/*
 * A child that used this slot is gone, perhaps killed before it had its answer,
 * which must not be taken for one of ours.
 */
void
ask_settle(struct tarea *t)
{
	struct slot *s = t->slot;

	while (__atomic_load_n(&s->state, __ATOMIC_ACQUIRE) == SLOT_ASKED &&
	    !trace_died())
		futex_wait(&s->state, SLOT_ASKED);
	s->state = SLOT_IDLE;
}

static void
wake_formatter(void)
{
	if (!__atomic_load_n(&rt.ctl->formatting_sleeps, __ATOMIC_SEQ_CST))
		return;
	__atomic_fetch_add(&rt.ctl->qbell, 1, __ATOMIC_SEQ_CST);
	futex_wake(&rt.ctl->qbell, 1);
}

static bool
has_room(struct control *c, uint32_t ticket)
{
	return ticket - __atomic_load_n(&c->qhead, __ATOMIC_SEQ_CST) < NQUEUE;
}

/* Wait until the ring has room for this ticket; -1: trace died. */
static int
queue_room(struct control *c, uint32_t ticket)
{
	unsigned spins = 0;
	uint32_t seen;

	while (!has_room(c, ticket)) {
		wake_formatter();
		if (spins++ < QUEUE_SPINS) {
			__builtin_ia32_pause();
			continue;
		}
		/* in this order, or a change of qroom would be missed */
		seen = __atomic_load_n(&c->qroom, __ATOMIC_SEQ_CST);
		__atomic_store_n(&c->qfull_sleeps, 1, __ATOMIC_SEQ_CST);
		if (!has_room(c, ticket))
			futex_wait(&c->qroom, seen);
		if (trace_died())
			return -1;
	}
	return 0;
}

/*
 * Take n places.  The slot says which, and before that we do: who is killed
 * must not leave places that nobody knows of (stream/dead.c).
 */
static uint32_t
take_places(struct tarea *t, unsigned n)
{
	struct slot *s = t->slot;
	uint32_t ticket;

	queue_begin(t);
	ticket = __atomic_fetch_add(&rt.ctl->qtail, n, __ATOMIC_SEQ_CST);
	__atomic_store_n(&s->ticket, ticket, __ATOMIC_RELEASE);
	__atomic_store_n(&s->putting, PUT_BEGUN + n, __ATOMIC_RELEASE);
	return ticket;
}

/* Fill the thread's place once there is room; false: trace died. */
static bool
fill(struct tarea *t, uint32_t ticket, const struct qent *with)
{
	struct qent *e = &rt.ctl->queue[ticket % NQUEUE];

	if (queue_room(rt.ctl, ticket) < 0)
		return false;
	e->slot = (uint16_t)t->slotno;
	e->sig = with->sig;
	e->from = with->from;
	e->to = with->to;
	e->arg = with->arg;
	__atomic_store_n(&e->type, with->type, __ATOMIC_SEQ_CST);
	return true;
}

/* The thread's records since the last time, and what ended them. */
static struct qent
records_until(const struct tarea *t, enum qtype type, uint64_t arg,
    unsigned sig)
{
	struct qent e = { .type = type, .sig = (uint16_t)sig, .arg = arg };

	if (t->bufend != 0) {
		e.from = (uint32_t)(t->from - rt.bufs);
		e.to = (uint32_t)(t->p - rt.bufs);
	}
	return e;
}

/* As queue_put, up to queue_end. */
static void
put(struct tarea *t, enum qtype type, uint64_t arg, unsigned sig)
{
	struct control *c = rt.ctl;
	uint32_t ticket = take_places(t, 1);
	struct qent e = records_until(t, type, arg, sig);

	if (!fill(t, ticket, &e))
		return;
	t->from = t->p;
	if (ticket - c->qhead >= NQUEUE / 4 ||
	    c->nfull >= NFULL_WAKE)
		wake_formatter();
}

/*
 * Hand over the thread's records since the last time, and the event that ended
 * them.  Wake the formatter only when the queue or the buffers are a good part
 * full.
 */
void
queue_put(struct tarea *t, enum qtype type, uint64_t arg, unsigned sig)
{
	put(t, type, arg, sig);
	queue_end(t);
}

/* Hand the buffer over for good. */
void
queue_buffer(struct tarea *t)
{
	queue_begin(t);
	__atomic_fetch_sub(&rt.ctl->inuse, 1, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&rt.ctl->nfull, 1, __ATOMIC_SEQ_CST);
	put(t, Q_FULL, 0, 0);
	__atomic_store_n(&t->slot->buf, 0, __ATOMIC_SEQ_CST);
	queue_end(t);
}

/* Kind counts: hand over what --allocs tells; only its own words, in order. */
void
queue_values(struct tarea *t, const uint64_t v[ALLOC_VALUES])
{
	uint32_t ticket = take_places(t, ALLOC_VALUES / 2);
	unsigned i;

	for (i = 0; i < ALLOC_VALUES; i += 2, ticket++)
		if (!fill(t, ticket, &(struct qent){ .type = Q_ALLOC,
		    .sig = (uint16_t)i, .arg = v[i],
		    .from = (uint32_t)v[i + 1],
		    .to = (uint32_t)(v[i + 1] >> 32) }))
			return;
	queue_end(t);
	if (ticket - rt.ctl->qhead >= NQUEUE / 4)
		wake_formatter();
}

/* How long the thread's last system call took. */
void
queue_times(struct tarea *t, uint64_t wall, uint64_t cpu)
{
	uint32_t ticket = take_places(t, 1);

	if (!fill(t, ticket, &(struct qent){ .type = Q_TIMES, .arg = wall,
	    .from = (uint32_t)cpu, .to = (uint32_t)(cpu >> 32) }))
		return;
	queue_end(t);
	if (ticket - rt.ctl->qhead >= NQUEUE / 4)
		wake_formatter();
}

/*
 * Kind cache with several threads: hand over a full buffer's bytes from..to
 * and the contents of the thread's new buffer in one step, so that no other
 * thread's records come in between.
 */
void
queue_turn(struct tarea *t, uint64_t from, uint64_t to)
{
	struct control *c = rt.ctl;
	struct qent full = { .type = Q_FULL, .from = (uint32_t)(from - rt.bufs),
		.to = (uint32_t)(to - rt.bufs) };
	struct qent rest = records_until(t, Q_RECORDS, 0, 0);
	uint32_t ticket;

	queue_begin(t);
	__atomic_fetch_sub(&c->inuse, 1, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&c->nfull, 1, __ATOMIC_SEQ_CST);
	ticket = take_places(t, 2);
	if (!fill(t, ticket, &full) || !fill(t, ticket + 1, &rest))
		return;
	t->from = t->p;
	__atomic_store_n(&t->slot->turned, 0, __ATOMIC_SEQ_CST);
	queue_end(t);
	if (c->nfull >= NFULL_WAKE)
		wake_formatter();
}

void
queue_ended(struct tarea *t)
{
	queue_put(t, Q_ENDED, 0, 0);
	wake_formatter();
	slot_ended(t->slot);
}

/*
 * An interval of kind counts has ended, or a part of what --for leaves.  Wait
 * until trace has read the counters.
 */
void
queue_interval(struct tarea *t)
{
	struct slot *s = t->slot;
	unsigned spins = 0;

	__atomic_store_n(&s->state, SLOT_ASKED, __ATOMIC_SEQ_CST);
	queue_put(t, Q_COUNTS, 0, 0);
	wake_formatter();
	while (__atomic_load_n(&s->state, __ATOMIC_ACQUIRE) != SLOT_ANSWERED) {
		if (spins++ < QUEUE_SPINS) {
			__builtin_ia32_pause();
			continue;
		}
		__atomic_store_n(&s->sleeps, 1, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&s->state, __ATOMIC_SEQ_CST) !=
		    SLOT_ANSWERED)
			futex_wait(&s->state, SLOT_ASKED);
		__atomic_store_n(&s->sleeps, 0, __ATOMIC_SEQ_CST);
		if (trace_died())
			break;
	}
	s->state = SLOT_IDLE;
}
