/*
 * entry - do what an entry of the queue is for
 *
 * Each of the program's entries is checked before, as the guest can write all
 * of it (base/trust.c), and is then told: records, calls, signals, counts.
 */
#include <string.h>

#include "context/context.h"
#include "ev.h"
#include "evw.h"
#include "stream/parts.h"
#include "stream/stream.h"

static struct {
	bool waits;		/* see interval */
	bool called;		/* its last call was told, and */
	uint64_t nr;		/* this is its number */
} slots[NSLOT];
static unsigned nwaiting;	/* of them */

/* A thread that waits at an interval's end goes on. */
static void
answer(unsigned slot)
{
	struct slot *s = &area.ctl->slot[slot];

	__atomic_store_n(&s->state, SLOT_ANSWERED, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&s->sleeps, __ATOMIC_SEQ_CST))
		queue_wake(&s->state);
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
	counters_interval(n);
	if (format_full) {
		slots[slot].waits = true;
		nwaiting++;
	} else {
		answer(slot);
	}
}

void
entry_answer_waiting(void)
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

bool
entry_is_possible(const struct qent *e)
{
	switch (e->type) {
	case Q_COUNTS:
		if (!opt->kind->counters || !counters_has(e->slot) ||
		    (!opt->kind->intervals && opt->during == 0))
			return false;
		break;
	case Q_ENDED:
		return e->slot < NSLOT && counters_has(e->slot);
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

void
entry_lines(char *lines)
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

/* Tell what the slot's thread has counted up to now. */
static void
tell_counts(unsigned slot)
{
	uint64_t n = counters_tell(slot);

	if (opt->contexts != 0 && n != 0) {
		thread_line(slot);
		context_tell(stream_writer, slot, 0);
	}
	counters_interval(n);
}

/* The slot's thread has ended: tell what it has counted, and free the slot. */
static void
ended(unsigned slot)
{
	struct slot *s = &area.ctl->slot[slot];
	uint32_t gone = SLOT_ENDED;

	counters_tell_ended(slot);
	thread_ends(slot);
	__atomic_store_n(&s->told, 1, __ATOMIC_SEQ_CST);
	__atomic_compare_exchange_n(&s->used, &gone, SLOT_FREE, false,
	    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

void
entry_mark(unsigned slot, char *line)
{
	if (opt->last != 0)
		return;
	if (opt->kind->counters && counters_has(slot)) {
		tell_counts(slot);
		totals_write();
	}
	thread_line(slot);
	entry_lines(line);
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

/* Tell what ended the records: a call, a signal, or that a window begins. */
static void
tell_end(const struct qent *e)
{
	if (e->type != Q_SYSCALL && e->type != Q_WINDOW && e->type != Q_SIGNAL)
		return;
	if (opt->last != 0) {
		last_ended(e->slot, thread_number(e->slot), e);
		return;
	}
	thread_line(e->slot);
	if (e->type == Q_SYSCALL) {
		evw_line(stream_writer, "Y %llu", (unsigned long long)e->arg);
		slots[e->slot].called = true;
		slots[e->slot].nr = e->arg;
	} else if (e->type == Q_WINDOW) {
		evw_line(stream_writer, "J window");
	} else {
		evw_line(stream_writer, "K %u %llx", e->sig,
		    (unsigned long long)e->arg);
	}
}

void
entry_take(const struct qent *e)
{
	switch (e->type) {
	case Q_THREAD:
		thread_begins(e->slot);
		records_begin(e->slot);
		slots[e->slot].called = false;
		return;
	case Q_ENDED:
		ended(e->slot);
		return;
	case Q_TIMES:
		call_returned(e);
		return;
	case Q_COUNTS:
		if (opt->kind->alone)	/* kind cache has records as well */
			records_handed(e);
		interval(e->slot);
		return;
	case Q_ALLOC:
		alloc_values(e);
		return;
	case Q_LAST:
		counters_tell_all(TELL_COUNTS);
		return;
	case Q_RENEW:
	case Q_RENEW_CALLS:
		counters_tell_all(e->type == Q_RENEW ? TELL_COUNTS :
		    TELL_CALLS);
		counters_renew();
		queue_renewed();
		return;
	default:
		break;
	}
	if (!opt->kind->records && !opt->kind->alone)
		return;
	if (e->type == Q_FULL)
		records_full(e);
	else
		records_handed(e);
	if (!opt->kind->alone && !format_full)
		tell_end(e);
}

bool
entry_waits(void)
{
	return nwaiting > 0;
}

void
entry_reset(void)
{
	memset(slots, 0, sizeof slots);
	nwaiting = 0;
}
