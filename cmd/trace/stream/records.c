/*
 * records - take the records out of the threads' buffers
 *
 * A thread hands its records over by an entry of the queue, which says where
 * they lie.  After they have been taken their bytes are set to zero again, so
 * that a record's head is 0 until the record is whole.  So those that a thread
 * never handed over can be found, too: from where its last entry ended, up to
 * the first head that is 0.
 *
 * The guest can write all that is read here: see base/trust.c.
 */
#include <string.h>

#include "context/context.h"
#include "ev.h"
#include "evw.h"
#include "stream/parts.h"
#include "stream/stream.h"

static struct {
	uint32_t from;		/* where its next record begins */
	uint32_t buf;		/* in this buffer, + 1 */
} slots[NSLOT];

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
	if (opt->last != 0 && to - at >= BUF_SIZE / 2 && opt->during == 0 &&
	    queue_has_records(slot, opt->last))
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
		queue_wake(&c->freed);
}

void
records_handed(const struct qent *e)
{
	use_up_records(e->slot, e->from, e->to);
	slots[e->slot].from = e->to;
	slots[e->slot].buf = e->from / BUF_STRIDE + 1;
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

uint32_t
records_buffer(unsigned slot)
{
	const struct slot *s = &area.ctl->slot[slot];
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

void
records_full(const struct qent *e)
{
	records_handed(e);
	slots[e->slot].buf = 0;
	give_back(e->from / BUF_STRIDE, e->to, &area.ctl->nfull);
}

void
records_begin(unsigned slot)
{
	slots[slot].buf = 0;
}

void
records_reset(void)
{
	memset(slots, 0, sizeof slots);
}

void
records_bury(unsigned slot, uint32_t buf)
{
	give_back(buf - 1, take_left(slot, buf), &area.ctl->inuse);
}

void
records_look(unsigned slot, uint32_t buf)
{
	uint32_t from = slots[slot].buf == buf ? slots[slot].from :
	    (buf - 1) * BUF_STRIDE;

	slots[slot].from = records_end(from, (buf - 1) * BUF_STRIDE +
	    BUF_SIZE);
	slots[slot].buf = buf;
	take_records(slot, from, slots[slot].from);
}

void
records_leftovers(void)
{
	bool has_some = opt->kind->records || opt->kind->alone;
	uint32_t buf;
	unsigned i, n = area_slots();

	for (i = 0; has_some && i < n && !trust_lost; i++) {
		buf = records_buffer(i);
		if (buf != 0)
			take_left(i, buf);
	}
}
