/*
 * buffer - a thread's record buffer
 *
 * Fragments store at REG_P without a check: behind each buffer lies a guard
 * page, which cannot be written.  When a store faults there, the unfinished
 * record in [P, end) and P move to a fresh buffer, and the store is repeated.
 */
#include "kinds.h"
#include "queue.h"
#include "runtime.h"

static int
take_bit(struct control *c)
{
	uint32_t free, bit;
	unsigned i;

	for (i = 0; i < NBUF / 32; i++) {
		free = __atomic_load_n(&c->freemask[i], __ATOMIC_ACQUIRE);
		while (free != 0) {
			bit = free & -free;
			if (__atomic_compare_exchange_n(&c->freemask[i], &free,
			    free & ~bit, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
				return (int)(i * 32) + __builtin_ctz(bit);
		}
	}
	return -1;
}

/*
 * A free buffer's number, up to queue_end; or -1: trace died.  A program that
 * fills buffers faster than they are read waits here.
 */
static int
take_free(struct tarea *t)
{
	struct control *c = rt.ctl;
	unsigned spins = 0;
	uint32_t seen;
	int n;

	for (;;) {
		seen = __atomic_load_n(&c->freed, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&c->nfull, __ATOMIC_SEQ_CST) < NFULL) {
			queue_begin(t);
			n = take_bit(c);
			if (n >= 0)
				return n;
			queue_end(t);
		}
		if (trace_died())
			return -1;
		if (spins++ < 40) {
			__builtin_ia32_pause();
			continue;
		}
		__atomic_store_n(&c->free_sleeps, 1, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&c->formatting_sleeps, __ATOMIC_SEQ_CST)) {
			__atomic_fetch_add(&c->qbell, 1, __ATOMIC_SEQ_CST);
			futex_wake(&c->qbell, 1);
		}
		if (__atomic_load_n(&c->freed, __ATOMIC_SEQ_CST) == seen)
			futex_wait(&c->freed, seen);
	}
}

/* Protect the page behind buffer n, unless it is: then it returns false. */
static bool
guard(unsigned n)
{
	if (__atomic_fetch_or(&rt.guarded[n / 32], 1u << n % 32,
	    __ATOMIC_SEQ_CST) >> n % 32 & 1)
		return false;
	sys3(__NR_mprotect, rt.bufs + (uint64_t)n * BUF_STRIDE + BUF_SIZE,
	    PAGE, 0);
	return true;
}

void
buffer_guard_all(void)
{
	unsigned n;

	for (n = 0; n < rt.boot.seg[SEG_BUFFERS].size / BUF_STRIDE; n++)
		guard(n);
}

/*
 * Give the thread a buffer.  If trace is gone it keeps its old one, which
 * nothing reads.  A thread that has filled one will fill the next, so a new one
 * gets all of its pages in one call.
 */
static void
take(struct tarea *t)
{
	int n = take_free(t);
	bool more = t->bufend != 0;
	uint64_t at;

	if (n < 0)
		n = t->bufend == 0 ? 0 :
		    (int)((t->bufend - BUF_SIZE - rt.bufs) / BUF_STRIDE);
	at = rt.bufs + (uint64_t)n * BUF_STRIDE;
	__atomic_fetch_add(&rt.ctl->inuse, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&t->slot->buf, (uint32_t)n + 1, __ATOMIC_SEQ_CST);
	queue_end(t);
	if (guard((unsigned)n) && more)
		sys3(__NR_madvise, at, BUF_SIZE, MADV_POPULATE_WRITE);
	t->bufend = at + BUF_SIZE;
	t->p = t->from = at;
}

#define PART_LEAST 4096u
#define PART_MOST (1u << 20)

/*
 * Of --for, a thread alone gets all that is left; of several each gets a part,
 * smaller and smaller ones, because only whole parts are known to be used.
 */
uint64_t
buffer_span(void)
{
	uint64_t n = rt.ctl->interval, left = rt.ctl->remaining;

	if (rt.ctl->skipping || left == 0)
		return n;
	if ((rt.nthread > 1 || rt.ctl->joining != 0) && left > PART_LEAST)
		left = left / 16 > PART_MOST ? PART_MOST :
		    left / 16 < PART_LEAST ? PART_LEAST : left / 16;
	return n == 0 || left < n ? left : n;
}

/* Why the thread records nothing, if it does not; so what REG_P is. */
static void
set_skips(struct tarea *t, enum skips skips)
{
	t->skips = skips;
	t->p_at = (uint64_t)(int64_t)(p_is_kept() && skips == SKIP_NONE ?
	    TO(clock) : TO(p));
}

/* A thread begins to record: now, after --after, or in its windows. */
void
buffer_first(struct tarea *t)
{
	set_skips(t, rt.ctl->skipping ? SKIP_AFTER : SKIP_NONE);
	t->bufend = 0;
	t->p = t->left = buffer_span();
	if (t->skips)
		return;
	if (rt.ctl->off || (rt.ctl->windows & ~WINDOWS_REQUESTS &&
	    t->window == 0))
		buffer_aside(t);
	else if (rt.bufs != 0)
		take(t);
	window_first(t);
}

/*
 * The thread leaves its window: put its buffer aside, since fragments outside
 * of windows have none.
 */
void
buffer_aside(struct tarea *t)
{
	t->aside.bufend = t->bufend;
	t->aside.from = t->from;
	t->aside.p = t->p;
	t->bufend = 0;
	set_skips(t, SKIP_OUT);
}

void
buffer_back(struct tarea *t)
{
	set_skips(t, SKIP_NONE);
	t->bufend = t->aside.bufend;
	t->from = t->aside.from;
	t->p = t->aside.p;
}

bool
buffer_guard(struct tarea *t, uint64_t addr)
{
	return t->bufend != 0 && addr >= t->bufend && addr < t->bufend + PAGE;
}

/*
 * Before a call that may block: with very many threads, give the buffer back,
 * so that no sleeping thread occupies one. buffer_awake undoes it.
 */
void
buffer_asleep(struct tarea *t)
{
	bool out = t->skips == SKIP_OUT;
	uint64_t p = t->p;

	if (rt.ctl->inuse < NBUF / 2)
		return;
	if (out)
		buffer_back(t);
	if (t->bufend != 0)
		queue_buffer(t);
	t->bufend = 0;
	if (out) {
		buffer_aside(t);
		t->p = p;
	}
}

void
buffer_awake(struct tarea *t)
{
	if (t->bufend == 0 && rt.bufs != 0 && !t->skips)
		take(t);
}

/*
 * Kind cache with several threads: the lines of this thread's table leave
 * before the records of another thread.
 */
static void
turn_table(struct tarea *t)
{
	uint64_t from = t->from, to = t->p;

	if (rt.ctl->inuse >= NBUF / 2) {	/* wait with no more than one */
		queue_buffer(t);
		take(t);
		table_empty(t);
		return;
	}
	__atomic_store_n(&t->slot->turned, t->slot->buf, __ATOMIC_SEQ_CST);
	take(t);
	table_empty(t);
	queue_turn(t, from, to);
}

/* Take a new buffer and move the unfinished record at p there. */
static void
turn(struct tarea *t)
{
	uint8_t part[REC_MAX + 8];	/* the old one may be zeroed at once */
	uint64_t n = t->bufend - t->p;

	if (n > REC_MAX)
		n = REC_MAX;
	memcpy(part, (void *)t->p, n);
	if (rt.nthread > 1 && rt.boot.sets != 0) {
		turn_table(t);
	} else {
		queue_buffer(t);
		take(t);
	}
	memcpy((void *)t->p, part, n);
}

/* The store at uc hit the guard page. */
void
buffer_full(struct tarea *t, struct kucontext *uc)
{
	t->p = uc->r8;
	turn(t);
	uc->r8 = t->p;
}

/* Make room for n bytes that the runtime itself will write at p. */
void
buffer_room(struct tarea *t, uint64_t n)
{
	if (t->bufend != 0 && t->p + n > t->bufend)
		turn(t);
}

void
buffer_publish(struct tarea *t, enum qtype type, uint64_t arg, unsigned sig)
{
	if (t->skips)
		return;
	if (rt.nthread > 1 && t->bufend != 0)
		table_empty(t);
	if (type == Q_RECORDS && t->from == t->p)
		return;
	queue_put(t, type, arg, sig);
}
