/*
 * format - turn the queue's entries into event text, in a thread of its own
 *
 * Entries come in the order in which threads handed their records over.  This
 * is the thread, from a stream's beginning to its end: queue.c gives it the
 * entries, entry.c does what each of them is for, and records.c finds the
 * records, at the end also those that were never handed over.
 *
 * The guest can write all that is read here: see base/trust.c.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
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
static bool is_begun;		/* there is that thread */
static _Atomic bool stopping;
#define EARLY_SLEEPS 16u	/* so often we poll at the start of a run */
static unsigned nsleeps;	/* of this thread, so far */
_Atomic int format_lost;
static int interrupted;		/* by this signal; or 0 */
void (*format_last)(struct evw *, bool at_end);
static bool burying;		/* the serving thread waits for that */

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
	struct timespec t = { 0, ONCE(c->no_futex) || entry_waits() ? 100000 :
	    is_early() ? 2000000 : 50 * 1000 * 1000 };
	uint32_t bell = __atomic_load_n(&c->qbell, __ATOMIC_SEQ_CST);

	nsleeps++;
	__atomic_store_n(&c->formatting_sleeps, 1, __ATOMIC_SEQ_CST);
	if (queue_is_empty() && !stopping && !trust_lost)
		syscall(SYS_futex, &c->qbell, FUTEX_WAIT, bell, &t, NULL, 0);
	__atomic_store_n(&c->formatting_sleeps, 0, __ATOMIC_SEQ_CST);
}

/* The slot's thread was killed: see dead.c. */
static void
bury(unsigned slot)
{
	struct slot *s = &area.ctl->slot[slot];
	uint32_t buf = records_buffer(slot);

	if (counters_has(slot))
		counters_tell_ended(slot);
	if (counters_has(slot) && opt->contexts != 0 &&
	    thread_number(slot) != 0)
		context_end(slot);
	if (ONCE(s->putting) != 0 || ONCE(s->turned) != 0)
		dead_owes();
	else if (buf != 0)
		records_bury(slot, buf);
	records_begin(slot);
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
	while ((slot = dead_next(queue_head())) < NSLOT)
		bury(slot);
	if (now && dead_are_buried(queue_head()))
		__atomic_store_n(&burying, false, __ATOMIC_SEQ_CST);
}

/* Take the next entry; false: there is none. */
static bool
consume(void)
{
	struct own_entry mine;
	struct qent e;

	if (!queue_take(&e, &mine))
		return false;
	if (mine.type != Q_NONE ? mine.type != e.type : !entry_is_possible(&e))
		trust_lose("an entry of its queue");
	else if (mine.type == Q_MARK && mine.slot != OWN_NO_SLOT)
		entry_mark(mine.slot, mine.lines);
	else if (mine.lines != NULL)
		entry_lines(mine.lines);
	else
		entry_take(&e);
	if (mine.type == Q_MARK)
		queue_marked();
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
	uint32_t tail;

	for (tries = 0; tries < 100; tries++) {
		tail = __atomic_load_n(&c->qtail, __ATOMIC_SEQ_CST);
		for (left = NQUEUE; left > 0 && consume(); left--)
			;
		for (i = 0; i < NSLOT; i++)
			buf[i] = records_buffer(i);
		if (queue_head() == tail &&
		    __atomic_load_n(&c->qtail, __ATOMIC_SEQ_CST) == tail)
			break;
	}
	for (i = 0; tries < 100 && i < NSLOT; i++)
		if (buf[i] != 0)
			records_look(i, buf[i]);
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
		if (consume() && (!stopping || left-- > 0)) {
			quiet = 0;
			continue;
		}
		if (stopping)
			break;
		bury_all();
		if (queue_pass_gap())
			continue;
		dead_settle(queue_head());
		if (ONCE(c->letgo) != LETGO_NOT)
			entry_answer_waiting();
		queue_check_gap();
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
	lengths_begin();
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
	if (opt->kind->tells)	/* or fail, before the program runs */
		evw_reserve(stream_writer);
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
	entry_lines(lines);
	free(lines);
	threads_reset();
}

/* Start the thread that consumes a new area's queue. */
void
format_begin(void)
{
	static bool again;

	stopping = false;
	if (again) {
		records_reset();
		entry_reset();
	}
	again = true;
	dead_reset();
	counters_begin();
	if (pthread_create(&thread, NULL, run, NULL) != 0)
		die("thread:");
	is_begun = true;
}

#define BURYING_NS 1000000000u	/* one that is stopped may hold it up */

void
format_bury(void)
{
	uint64_t begin = clock_ns();

	__atomic_store_n(&burying, true, __ATOMIC_SEQ_CST);
	queue_ring();
	while (__atomic_load_n(&burying, __ATOMIC_SEQ_CST) &&
	    clock_ns() - begin < BURYING_NS && !trust_lost && !guest_ended)
		usleep(50);
}

/* The area's threads are gone: write all that they left. */
void
format_drain(void)
{
	uint32_t n;

	if (!is_begun)
		return;
	is_begun = false;
	stopping = true;
	queue_ring();
	pthread_join(thread, NULL);
	for (n = queue_left(); n > 0 && !trust_lost; n--)
		if (!consume())
			queue_pass_hole();
	if (!trust_lost) {
		records_leftovers();
		counters_tell_all(TELL_LAST);
	}
	queue_reset();
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
