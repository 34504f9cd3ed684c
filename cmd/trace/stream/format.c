/*
 * format - turn the queue's entries into event text, in a thread of its own
 *
 * Entries come in the order in which threads handed their records over.  After
 * a buffer's bytes have been written out they are set to zero again, so that a
 * record's head is 0 until the record is whole.  At the end this finds the
 * records that were never handed over: it walks each thread's buffer from where
 * the last entry ended.
 *
 * The guest can write all that is read here: see base/trust.c.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "context/context.h"
#include "ev.h"
#include "evw.h"
#include "meter.h"
#include "out.h"
#include "stream/stream.h"
#include "stream/parts.h"
#include "prog.h"

static struct out *out;
static pthread_t thread;
static volatile bool stopping;
#define EARLY_SLEEPS 16u	/* so often we poll at the start of a run */
static unsigned nsleeps;	/* of this thread, so far */
volatile int format_lost;
static int interrupted;		/* by this signal; or 0 */
void (*format_last)(struct evw *, bool at_end);
static struct {
	uint32_t from;		/* where its next record begins */
	uint32_t buf;		/* in this buffer, + 1 */
	bool waits;		/* see interval */
	bool called;		/* its last call was told, and */
	uint64_t nr;		/* this is its number */
} slots[NSLOT];
static unsigned nwaiting;	/* of them */
static uint32_t qhead;		/* next entry to take */
#define NO_SLOT NSLOT		/* of no thread */
static uint32_t putting, ticket;	/* as a slot's, of entries of ours */
static bool burying;		/* the serving thread waits for that */
static struct own_entry {
	enum qtype type;	/* written last */
	unsigned slot;		/* of Q_MARK, or NO_SLOT */
	char *lines;
} own[NQUEUE];			/* which entries are ours, by index */
static unsigned nown;		/* how many there are */
/* Entries, and threads that wait for room to put theirs. */
#define QUEUE_MAX (NQUEUE + 2 * NSLOT + 64)
static uint32_t renewed;	/* +1: all counters are free; futex */
static uint32_t marked;		/* +1: a mark has been written; futex */

static void
futex_wake(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, 64, NULL, NULL, 0);
}

/* The flight recorder: whether more waits behind this entry than it keeps. */
static bool
is_outdated(unsigned slot)
{
	struct control *c = area.ctl;
	uint64_t bytes = 0;
	const struct qent *e;
	uint32_t i, type;

	for (i = 0; i < NQUEUE && bytes < opt->last; i++) {
		e = &c->queue[(qhead + i) % NQUEUE];
		type = __atomic_load_n(&e->type, __ATOMIC_ACQUIRE);
		if (type == Q_NONE)
			break;
		if (ONCE(e->slot) == slot && type != Q_TEXT)
			bytes += ONCE(e->to) - ONCE(e->from);
	}
	return bytes >= opt->last && opt->during == 0;
}

static unsigned frames_of;	/* the slot whose records are being written */

void
format_frame(struct evw *w, const uint32_t *values)
{
	uint64_t v[2];

	memcpy(v, values, sizeof v);
	context_frame(w, frames_of, thread_number(frames_of), v);
}

/* Write or keep the records at [from, to) of the buffers. */
static void
take_records(unsigned slot, uint32_t from, uint32_t to)
{
	const uint32_t *a = (const void *)(area.bufs + from);
	const uint32_t *b = (const void *)(area.bufs + to), *end;

	if (from == to)
		return;
	if (opt->during != 0 && !opt->kind->alone)
		b = during_records(a, b);
	if (progress_on && opt->kind->records)
		progress_records(a, b);
	if (opt->last != 0) {
		last_records(slot, thread_number(slot), a, b);
		return;
	}
	sample(a, b);
	thread_line(slot);
	if (trust_lost)
		return;
	frames_of = slot;
	end = evw_records(stream_writer, a, b);
	if (end < b && evw_error(stream_writer) != NULL)
		trust_lose(evw_error(stream_writer));
}

/* The same, but without those that a dump has taken; then set all to zero. */
static void
use_up_records(unsigned slot, uint32_t from, uint32_t to)
{
	uint32_t at = slots[slot].from;

	if (opt->last == 0 || slots[slot].buf != from / BUF_STRIDE + 1 ||
	    at < from || at > to)
		at = from;
	if (opt->last != 0 && to - at >= BUF_SIZE / 2 && is_outdated(slot))
		last_skip(slot, to - at);
	else
		take_records(slot, at, to);
	memset(area.bufs + from, 0, to - from);
}

/*
 * Make buffer n free, which was counted in *count; what was told of it, up to
 * `to', is zero already.
 */
static void
give_back(uint32_t n, uint32_t to, uint32_t *count)
{
	struct control *c = area.ctl;
	uint32_t end = n * BUF_STRIDE + BUF_SIZE;

	if (to < end)
		memset(area.bufs + to, 0,
		    end - to < REC_MAX + 64 ? end - to : REC_MAX + 64);
	__atomic_fetch_or(&c->freemask[n / 32], 1u << n % 32, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&c->freed, 1, __ATOMIC_SEQ_CST);
	__atomic_fetch_sub(count, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&c->nfull, __ATOMIC_SEQ_CST) <= NFULL_GO &&
	    __atomic_exchange_n(&c->free_sleeps, 0, __ATOMIC_SEQ_CST))
		futex_wake(&c->freed);
}

/* A thread that waits at an interval's end goes on. */
static void
answer(unsigned slot)
{
	struct slot *s = &area.ctl->slot[slot];

	__atomic_store_n(&s->state, SLOT_ANSWERED, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&s->sleeps, __ATOMIC_SEQ_CST))
		futex_wake(&s->state);
}

/*
 * Once --for's window is full, a thread that asks waits until all are let go:
 * else it would execute, and count, more.
 */
static void
interval(unsigned slot)
{
	uint64_t n = counters_tell(slot);

	if (opt->contexts != 0 && opt->kind->intervals)
		context_tell(stream_writer, slot,
		    (int64_t)ONCE(area.ctl->interval));
	if (n != 0 && opt->kind->intervals)
		evw_line(stream_writer, "I %llu", (unsigned long long)n);
	if (format_full) {
		slots[slot].waits = true;
		nwaiting++;
	} else {
		answer(slot);
	}
}

/* All that wait, since --for's window was full, go on. */
static void
answer_waiting(void)
{
	unsigned i;

	for (i = 0; i < NSLOT && nwaiting > 0; i++)
		if (slots[i].waits) {
			slots[i].waits = false;
			nwaiting--;
			answer(i);
		}
}

/* Whether these are whole words of one buffer, or none at all. */
static bool
is_in_buffer(uint32_t from, uint32_t to)
{
	uint32_t start = from / BUF_STRIDE * BUF_STRIDE;

	return (from == 0 && to == 0) || (from <= to && (from | to) % 4 == 0 &&
	    to - start <= BUF_SIZE && from < area.boot.seg[SEG_BUFFERS].size);
}

/* Whether an honest guest could have written the entry. */
static bool
is_possible(const struct qent *e)
{
	switch (e->type) {
	case Q_COUNTS:
		if (!opt->kind->counters || !counters_has(e->slot) ||
		    (!opt->kind->intervals && opt->during == 0))
			return false;
		break;
	case Q_SIGNAL:
		if (e->sig < 1 || e->sig > 64)
			return false;
		break;
	case Q_ALLOC:
		return opt->allocs && opt->kind->counters &&
		    counters_has(e->slot) && e->sig < ALLOC_VALUES &&
		    e->sig % 2 == 0;
	case Q_TIMES:
		return opt->times && e->slot < NSLOT;
	case Q_THREAD:
	case Q_RECORDS:
	case Q_SYSCALL:
	case Q_FULL:
		break;
	case Q_WINDOW:
		if (opt->windows == 0)
			return false;
		break;
	default:
		return false;
	}
	return e->slot < NSLOT && is_in_buffer(e->from, e->to);
}

/*
 * A line `=id' is a request to define the id now: its code is about to be
 * unmapped, and belongs to what is mapped when it is defined.
 */
static void
define_id(const char *digits)
{
	uint64_t id;

	if (ev_hex(&digits, &id) < 0)
		return;
	if (shelf_has_id((uint32_t)id))
		shelf_define(shelf_counter((uint32_t)id));
	else
		evw_define(stream_writer, (uint32_t)id);
}

/* Write, or keep, lines of trace's own. */
static void
write_lines(char *lines)
{
	char *nl;

	if (opt->last != 0) {
		last_lines(lines);
		return;
	}
	/* a context's function is in what is mapped when it is told */
	if (opt->contexts != 0 && (*lines == '=' || *lines == 'U'))
		context_tell_new(stream_writer);
	while ((nl = strchr(lines, '\n')) != NULL) {
		if (*lines == '=')
			define_id(lines + 1);
		else
			evw_raw(stream_writer, lines, (size_t)(nl - lines));
		lines = nl + 1;
	}
}

/* What the slot's thread has counted up to now. */
static void
tell_counts(unsigned slot)
{
	uint64_t n = counters_tell(slot);

	if (opt->contexts != 0 && n != 0) {
		thread_line(slot);
		context_tell(stream_writer, slot, 0);
	}
	if (opt->kind->intervals && n != 0)
		evw_line(stream_writer, "I %llu", (unsigned long long)n);
}

/* All that the slot's thread did before the mark is told before it. */
static void
mark(unsigned slot, char *line)
{
	if (opt->last != 0)
		return;
	if (opt->kind->counters && counters_has(slot)) {
		tell_counts(slot);
		totals_write();
	}
	thread_line(slot);
	write_lines(line);
}

/* --syscall-times: a thread is back from its last call. */
static void
call_returned(const struct qent *e)
{
	if (format_full || !slots[e->slot].called)
		return;
	slots[e->slot].called = false;
	thread_line(e->slot);
	evw_line(stream_writer, "Y %llu %llu %llu",
	    (unsigned long long)slots[e->slot].nr, (unsigned long long)e->arg,
	    (unsigned long long)e->to << 32 | e->from);
}

/* Tell the records that an entry hands over; those behind them come later. */
static void
take_handed(const struct qent *e)
{
	use_up_records(e->slot, e->from, e->to);
	slots[e->slot].from = e->to;
	slots[e->slot].buf = e->from / BUF_STRIDE + 1;
}

/* Do what an entry of the program's, or one of ours without lines, is for. */
static void
take_entry(const struct qent *e)
{
	switch (e->type) {
	case Q_THREAD:
		thread_begins(e->slot);
		slots[e->slot].buf = 0;
		slots[e->slot].called = false;
		return;
	case Q_TIMES:
		call_returned(e);
		return;
	case Q_COUNTS:
		if (opt->kind->alone)	/* kind cache has records as well */
			take_handed(e);
		interval(e->slot);
		return;
	case Q_ALLOC:
		alloc_values(e);
		return;
	case Q_LAST:
		counters_tell_all(false);
		return;
	case Q_RENEW:
		counters_tell_all(false);
		counters_renew();
		__atomic_fetch_add(&renewed, 1, __ATOMIC_SEQ_CST);
		futex_wake(&renewed);
		return;
	default:
		break;
	}
	if (!opt->kind->records && !opt->kind->alone)
		return;
	take_handed(e);
	if (e->type == Q_FULL) {
		slots[e->slot].buf = 0;
		give_back(e->from / BUF_STRIDE, e->to, &area.ctl->nfull);
	} else if (opt->kind->alone) {
		return;
	} else if (format_full) {
		return;
	} else if (opt->last != 0) {
		if (e->type != Q_RECORDS)
			last_ended(e->slot, thread_number(e->slot), e);
	} else if (e->type == Q_SYSCALL) {
		thread_line(e->slot);
		evw_line(stream_writer, "Y %llu", (unsigned long long)e->arg);
		slots[e->slot].called = true;
		slots[e->slot].nr = e->arg;
	} else if (e->type == Q_WINDOW) {
		thread_line(e->slot);
		evw_line(stream_writer, "J window");
	} else if (e->type == Q_SIGNAL) {
		thread_line(e->slot);
		evw_line(stream_writer, "K %u %llx", e->sig,
		    (unsigned long long)e->arg);
	}
}

/*
 * The runtime wakes us only when a good part of the pool is full; a short run
 * never gets there, and its readers would have nothing to do until it is over.
 * So for the first milliseconds we poll.
 */
static bool
is_early(void)
{
	return nsleeps < EARLY_SLEEPS;
}

static void
sleep_until_called(struct control *c)
{
	struct timespec t = { 0, ONCE(c->polling) || nwaiting > 0 ? 100000 :
	    is_early() ? 2000000 : 50 * 1000 * 1000 };
	uint32_t bell = __atomic_load_n(&c->qbell, __ATOMIC_SEQ_CST);

	nsleeps++;
	__atomic_store_n(&c->formatting_sleeps, 1, __ATOMIC_SEQ_CST);
	if (ONCE(c->queue[qhead % NQUEUE].type) == Q_NONE && !stopping &&
	    !trust_lost)
		syscall(SYS_futex, &c->qbell, FUTEX_WAIT, bell, &t, NULL, 0);
	__atomic_store_n(&c->formatting_sleeps, 0, __ATOMIC_SEQ_CST);
}

/* The entry has been taken: its place is free. */
static void
pass_entry(struct control *c)
{
	__atomic_store_n(&qhead, qhead + 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&c->qhead, qhead, __ATOMIC_SEQ_CST);
	if (__atomic_exchange_n(&c->qfull_sleeps, 0, __ATOMIC_SEQ_CST))
		futex_wake(&c->qhead);
}

/*
 * All of the queue's entries are taken, but the next one is not written yet.
 * The thread that took it is about to do so: lose patience if it does not.
 */
static void
check_gap(struct control *c)
{
	static struct patience p;
	uint32_t n = __atomic_load_n(&c->qtail, __ATOMIC_SEQ_CST) - qhead;

	if (n > QUEUE_MAX)
		trust_lose("its queue");
	else if (n < NQUEUE)
		p = (struct patience){ 0, 0 };
	else
		trust_wait(&p, "its queue");
}

/*
 * What we put at this index, if it is ours.  It is there before its entry in
 * the queue is: call this after that entry's type has been read.
 */
static struct own_entry
take_own(uint32_t i)
{
	struct own_entry *o = &own[i], mine = { Q_NONE, 0, NULL };
	enum qtype type = __atomic_load_n(&o->type, __ATOMIC_ACQUIRE);

	if (type == Q_NONE)
		return mine;
	mine = *o;
	*o = (struct own_entry){ Q_NONE, 0, NULL };
	__atomic_fetch_sub(&nown, 1, __ATOMIC_RELAXED);
	return mine;
}

/* Where the whole records from `from` on end. */
static uint32_t
records_end(uint32_t from, uint32_t end)
{
	uint32_t at = from, head, n;

	while (at + 4 <= end) {
		memcpy(&head, area.bufs + at, 4);
		n = record_size(record_nvalues(head));
		if (head == 0 || at + n > end)
			break;
		at += n;
	}
	return at;
}

/* The number of a thread's buffer + 1, or 0. */
static uint32_t
buffer_of(const struct slot *s)
{
	uint32_t n = __atomic_load_n(&s->buf, __ATOMIC_SEQ_CST);

	if (!ONCE(s->used) || n == 0)
		return 0;
	if (n <= area.boot.seg[SEG_BUFFERS].size / BUF_STRIDE)
		return n;
	trust_lose("a thread's buffer");
	return 0;
}

/* Tell the records in a slot's buffer that were not handed over; their end. */
static uint32_t
take_left(unsigned slot, uint32_t buf)
{
	uint32_t from, to;

	from = slots[slot].buf == buf ? slots[slot].from :
	    (buf - 1) * BUF_STRIDE;
	to = records_end(from, (buf - 1) * BUF_STRIDE + BUF_SIZE);
	use_up_records(slot, from, to);
	return to;
}

/* The slot's thread was killed: see dead.c. */
static void
bury(unsigned slot)
{
	struct slot *s = &area.ctl->slot[slot];
	uint32_t buf = buffer_of(s);

	if (opt->contexts != 0 && counters_has(slot) &&
	    thread_number(slot) != 0) {
		tell_counts(slot);
		context_end(slot);
	}
	if (ONCE(s->putting) != 0 || ONCE(s->turned) != 0)
		dead_owes();
	else if (buf != 0)
		give_back(buf - 1, take_left(slot, buf), &area.ctl->inuse);
	slots[slot].buf = 0;
	s->buf = s->turned = s->putting = s->tid = 0;
	__atomic_store_n(&s->used, SLOT_DEAD, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&area.ctl->nburied, 1, __ATOMIC_SEQ_CST);
}

/* Bury all dead ones, each behind what it has put. */
static void
bury_all(void)
{
	bool now = __atomic_load_n(&burying, __ATOMIC_SEQ_CST);
	unsigned slot;

	dead_find(now);
	while ((slot = dead_next(qhead)) < NSLOT)
		bury(slot);
	if (now && dead_are_buried(qhead))
		__atomic_store_n(&burying, false, __ATOMIC_SEQ_CST);
}

/* Is the next place one that we are about to fill, or may it be? */
static bool
is_our_place(void)
{
	uint32_t n = __atomic_load_n(&putting, __ATOMIC_SEQ_CST);

	return n == PUT_BEGUN || (n > PUT_BEGUN && ticket == qhead);
}

/* The next place was taken by one that was killed: nobody will fill it. */
static bool
pass_gap(struct control *c)
{
	const struct qent *e = &c->queue[qhead % NQUEUE];

	if (__atomic_load_n(&c->qtail, __ATOMIC_SEQ_CST) == qhead ||
	    is_our_place() || !dead_took(qhead) ||
	    __atomic_load_n(&e->type, __ATOMIC_SEQ_CST) != Q_NONE)
		return false;
	pass_entry(c);
	return true;
}

/* Take the next entry; false: there is none. */
static bool
consume(struct control *c)
{
	struct qent *e = &c->queue[qhead % NQUEUE], copy;
	struct own_entry mine;

	copy.type = __atomic_load_n(&e->type, __ATOMIC_ACQUIRE);
	if (copy.type == Q_NONE || trust_lost)
		return false;
	copy.slot = ONCE(e->slot);
	copy.sig = ONCE(e->sig);
	copy.from = ONCE(e->from);
	copy.to = ONCE(e->to);
	copy.arg = ONCE(e->arg);
	mine = take_own(qhead % NQUEUE);
	e->type = Q_NONE;
	pass_entry(c);
	if (mine.type != Q_NONE ? mine.type != copy.type : !is_possible(&copy))
		trust_lose("an entry of its queue");
	else if (mine.type == Q_MARK && mine.slot != NO_SLOT)
		mark(mine.slot, mine.lines);
	else if (mine.lines != NULL)
		write_lines(mine.lines);
	else
		take_entry(&copy);
	if (mine.type == Q_MARK) {
		__atomic_fetch_add(&marked, 1, __ATOMIC_SEQ_CST);
		futex_wake(&marked);
	}
	free(mine.lines);
	return true;
}

/*
 * Take what running threads have not handed over yet.  A buffer that is handed
 * over meanwhile stays unchanged until we take it from the queue.
 */
static void
take_running(struct control *c)
{
	static uint32_t buf[NSLOT];
	unsigned i, tries, left;
	uint32_t tail, from;

	for (tries = 0; tries < 100; tries++) {
		tail = __atomic_load_n(&c->qtail, __ATOMIC_SEQ_CST);
		for (left = NQUEUE; left > 0 && consume(c); left--)
			;
		for (i = 0; i < NSLOT; i++)
			buf[i] = buffer_of(&c->slot[i]);
		if (qhead == tail &&
		    __atomic_load_n(&c->qtail, __ATOMIC_SEQ_CST) == tail)
			break;
	}
	for (i = 0; tries < 100 && i < NSLOT; i++) {
		if (buf[i] == 0)
			continue;
		from = slots[i].buf == buf[i] ? slots[i].from :
		    (buf[i] - 1) * BUF_STRIDE;
		slots[i].from = records_end(from, (buf[i] - 1) * BUF_STRIDE +
		    BUF_SIZE);
		slots[i].buf = buf[i];
		take_records(i, from, slots[i].from);
	}
}

/* Write the newest records into a stream of their own; all but its end. */
static void
write_last(struct out *o)
{
	evw_again(stream_writer, o);
	stream_head();
	last_dump();
}

/* SIGUSR1 asked for a dump of the flight recorder. */
static void
snapshot(struct control *c)
{
	struct out *o = last_begin();

	if (o == NULL)
		return;
	take_running(c);
	write_last(o);
	format_last(stream_writer, false);
	evw_end(stream_writer, "exit", 0);
	out_close(o);
}

static void *
run(void *arg)
{
	struct control *c = area.ctl;
	int quiet = 0, left = QUEUE_MAX;

	(void)arg;
	while (!trust_lost) {
		if (opt->last != 0 && last_asked())
			snapshot(c);
		if (progress_on && meter_due())
			progress_line(counters_now());
		if (consume(c) && (!stopping || left-- > 0)) {
			quiet = 0;
			continue;
		}
		if (stopping)
			break;
		bury_all();
		if (pass_gap(c))
			continue;
		dead_settle(qhead);
		if (ONCE(c->letgo) != LETGO_NOT)
			answer_waiting();
		check_gap(c);
		/* a reader shall not wait for lines that are ready */
		if (quiet == (is_early() ? 0 : 1) && opt->last == 0)
			evw_flush(stream_writer);
		quiet++;
		sleep_until_called(c);
	}
	return NULL;
}

/*
 * The stream cannot be written.  The program must not suffer from that: it goes
 * on natively, and meanwhile nothing waits for us.
 */
static void
lost(struct out *o, int err)
{
	if (err != EPIPE) {
		errno = err;
		warn("%s: write:", o->name);
	}
	format_lost = err;
	bell_ring();
}

void
format_start(char *const argv[], const char *name, int fd)
{
	stream_program = argv;
	sample_begin();
	if (opt->kind->counters)
		area.remaining = opt->during;
	if (!opt->kind->tells)
		out = out_open("/dev/null");
	else if (opt->last != 0)
		out = last_open(name);
	else
		out = fd < 0 ? out_open(name) : out_fd(fd, name != NULL ?
		    name : "standard output");
	if (out != NULL)
		out->failed = lost;
	stream_writer = evw_open(out);
	if (opt->last == 0)
		stream_head();
}

/* Threads of the new image will have the numbers of those that are gone. */
static void
leave_frames(void)
{
	uint32_t left;
	unsigned n;

	for (n = 1; counts_refs() && n <= threads_begun(); n++) {
		left = context_left(n);
		if (left == 0)
			continue;
		thread_line_of(n);
		evw_line(stream_writer, "X %x", left);
	}
}

/* Writes at once: the formatting thread does not run now. */
void
format_replace(char *lines)
{
	totals_define();
	if (opt->last == 0)
		format_last(stream_writer, true);
	leave_frames();
	write_lines(lines);
	free(lines);
	threads_reset();
}

/* Start the thread that consumes a new area's queue. */
void
format_begin(void)
{
	static bool again;

	stopping = false;
	if (again)
		memset(slots, 0, sizeof slots);
	again = true;
	nwaiting = 0;
	dead_reset();
	counters_begin();
	if (pthread_create(&thread, NULL, run, NULL) != 0)
		die("thread:");
}

/* Fill place t of the queue; lines are freed. */
static void
put_at(uint32_t t, enum qtype type, unsigned slot, char *lines)
{
	struct control *c = area.ctl;
	struct own_entry *o = &own[t % NQUEUE];
	uint32_t n;

	while ((n = t - __atomic_load_n(&qhead, __ATOMIC_ACQUIRE)) >= NQUEUE &&
	    n <= QUEUE_MAX && !trust_lost && !guest_ended)
		usleep(100);
	if (n >= NQUEUE || o->type != Q_NONE) {
		if (n > QUEUE_MAX || n < NQUEUE)
			trust_lose("its queue");
		free(lines);
		return;
	}
	o->slot = slot;
	o->lines = lines;
	__atomic_fetch_add(&nown, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&o->type, type, __ATOMIC_RELEASE);
	__atomic_store_n(&c->queue[t % NQUEUE].type, type, __ATOMIC_SEQ_CST);
}

/* Put an entry of our own into the queue; lines are freed. */
static void
put(enum qtype type, unsigned slot, char *lines)
{
	__atomic_store_n(&putting, PUT_BEGUN, __ATOMIC_SEQ_CST);
	ticket = __atomic_fetch_add(&area.ctl->qtail, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&putting, PUT_BEGUN + 1, __ATOMIC_SEQ_CST);
	put_at(ticket, type, slot, lines);
	__atomic_store_n(&putting, 0, __ATOMIC_SEQ_CST);
}

void
format_text(char *lines)
{
	put(Q_TEXT, 0, lines);
}

static void
wake_thread(void)
{
	__atomic_fetch_add(&area.ctl->qbell, 1, __ATOMIC_SEQ_CST);
	futex_wake(&area.ctl->qbell);
}

void
format_counts(void)
{
	put(Q_LAST, 0, NULL);
	wake_thread();
}

#define BURYING_NS 1000000000u	/* one that is stopped may hold it up */

void
format_bury(void)
{
	uint64_t begin = clock_ns();

	__atomic_store_n(&burying, true, __ATOMIC_SEQ_CST);
	wake_thread();
	while (__atomic_load_n(&burying, __ATOMIC_SEQ_CST) &&
	    clock_ns() - begin < BURYING_NS && !trust_lost && !guest_ended)
		usleep(50);
}

/* Put an entry, and wait until it has been taken: until *done changes. */
static void
put_and_wait(enum qtype type, unsigned slot, char *lines, uint32_t *done)
{
	struct timespec t = { 0, 50 * 1000 * 1000 };
	uint32_t was = __atomic_load_n(done, __ATOMIC_SEQ_CST);

	put(type, slot, lines);
	wake_thread();
	while (__atomic_load_n(done, __ATOMIC_SEQ_CST) == was &&
	    !trust_lost && !guest_ended)
		syscall(SYS_futex, done, FUTEX_WAIT, was, &t, NULL, 0);
}

void
format_renew(void)
{
	put_and_wait(Q_RENEW, 0, NULL, &renewed);
}

void
format_mark(unsigned slot, char *line)
{
	put_and_wait(Q_MARK, slot, line, &marked);
}

void
format_text_now(char *lines)
{
	put_and_wait(Q_MARK, NO_SLOT, lines, &marked);
}

/* Find the records that no thread handed over, by their heads. */
static void
take_leftovers(void)
{
	bool has_some = opt->kind->records || opt->kind->alone;
	uint32_t buf;
	unsigned i;

	for (i = 0; has_some && i < NSLOT && !trust_lost; i++) {
		buf = buffer_of(&area.ctl->slot[i]);
		if (buf != 0)
			take_left(i, buf);
	}
	counters_tell_all(true);
}

/* Entries of ours that were not taken: the program has changed the queue. */
static void
forget_own(void)
{
	uint32_t i;

	for (i = 0; i < NQUEUE; i++) {
		free(own[i].lines);
		own[i] = (struct own_entry){ Q_NONE, 0, NULL };
	}
	nown = 0;
}

/* The area's threads are gone: write all that they left. */
void
format_drain(void)
{
	struct control *c = area.ctl;
	uint32_t n;

	stopping = true;
	wake_thread();
	pthread_join(thread, NULL);
	n = __atomic_load_n(&c->qtail, __ATOMIC_SEQ_CST) - qhead;
	if (n > QUEUE_MAX)
		trust_lose("its queue");
	for (; n > 0 && !trust_lost; n--) {
		if (consume(c))
			continue;
		if (own[qhead % NQUEUE].type != Q_NONE)
			trust_lose("an entry of its queue");
		pass_entry(c);	/* a thread that was killed may leave a gap */
	}
	if (!trust_lost)
		take_leftovers();
	qhead = 0;
	if (nown != 0)
		forget_own();
}

void
format_interrupted(int sig)
{
	interrupted = sig;
}

void
format_end(const char *how, int status, bool whole)
{
	if (!opt->kind->tells)
		return;
	if (opt->last != 0) {
		out = last_final(out);
		out->failed = lost;
		write_last(out);
	}
	totals_write();
	format_last(stream_writer, true);
	if (!whole) {
		evw_flush(stream_writer);
		out_flush(out);
		if (stats.full)
			out_close(out);
		else
			out_abort(out);
		return;
	}
	if (interrupted != 0)
		evw_line(stream_writer, "J interrupted %d", interrupted);
	evw_end(stream_writer, how, status);
	stats.records = evw_executions(stream_writer);
	out_close(out);
}
