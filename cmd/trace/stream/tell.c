/*
 * tell - what threads have counted becomes lines of the stream, or sums
 *
 * Counts are written as they are, where there are intervals, or added up until
 * the end (totals.c); what was counted in limbo is held (held.c).
 */
#include "context/context.h"
#include "evw.h"
#include "stream/parts.h"
#include "stream/stream.h"

#define COUNT_MAX (1ull << 56)	/* no honest counter gets this far */

/*
 * What a count of v is for the costs of its thread's calls.  With --rep=each a
 * repeated instruction that writes costs its rounds and one, any other one its
 * rounds, or one if it has none.
 */
static void
add_costs(const struct counted *c, uint64_t v, uint64_t n[3])
{
	unsigned k;

	for (k = 0; k < 2 && c->what != NONE; k++)
		n[1 + k] += v * c->does[k];
	if (c->what == EXECUTIONS)
		n[0] += v * c->ninsn;
	if (!counts_each())
		return;
	if (c->what == EXECUTIONS)
		n[0] -= v * c->does[DO_REPEAT];
	else if (c->what == ROUNDS || c->does[DO_WRITE] == 0)
		n[0] += v;
}

/*
 * Take what is held of such a counter; false: nothing is.  It has been part of
 * the thread's costs, and will be again where it is counted next.
 */
static bool
take_held(unsigned slot, uint32_t id, unsigned n, unsigned what,
    struct held_count *h)
{
	uint64_t costs[3] = { 0, 0, 0 };
	unsigned i;

	if (!held_take(slot, id, n, what, h))
		return false;
	add_costs(&h->c, h->times, costs);
	for (i = 0; i < 3; i++)
		costs[i] = -costs[i];
	context_counted(slot, costs);
	return true;
}

uint64_t
counter_take_held(unsigned slot, uint32_t id, unsigned ninsn)
{
	struct held_count h;

	return take_held(slot, id, ninsn, EXECUTIONS, &h) ? h.times : 0;
}

/* Count what was held of rounds, or of executions that had none, of `block'. */
static void
add_held_rounds(unsigned slot, const struct held_count *h, uint32_t block)
{
	uint32_t c = counter_rounds(block, h->c.ninsn, h->c.does);

	counter_add(slot, c + (h->c.what == NONE), h->times);
}

void
counters_move(unsigned slot, uint32_t from, uint32_t to, unsigned n)
{
	struct held_count h;
	uint32_t c, d, i;

	for (; n > 0 && counters_has(slot); n--) {
		for (i = ROUNDS; i <= NONE && counters_left(2); i++)
			if (take_held(slot, from, n, i, &h))
				add_held_rounds(slot, &h, to);
		if (!counters_find(from, n, &c) || !counters_left(2))
			continue;
		d = counter_rounds(to, n, counter_counted(c)->does);
		for (i = 0; i < 2; i++)
			counter_add(slot, d + i, counter_take(slot, c + i));
	}
}

/* Counter i of c[] has v rounds, executions that had none, mispredictions. */
static void
tell_rounds(uint64_t *c, uint32_t i, uint64_t v)
{
	const struct counted *k = counter_counted(i);
	uint32_t block = k->id;
	unsigned n = k->ninsn;
	uint64_t done = v, none = 0;

	if (k->what == MISSES) {
		totals_add_missed(block, n, v);
		return;
	}
	if (k->what == NONE) {
		done = 0;
		none = v;
	} else {
		none = ONCE(c[i + 1]);
		if (none >= COUNT_MAX)
			trust_lose("a counter");
		c[i + 1] = 0;
	}
	if (opt->kind->intervals)
		evw_rounds(stream_writer, block, n, done, none);
	else
		totals_add_rounds(block, n, done, none);
}

/* The same of one of the store's. */
static uint64_t
tell_shelf(uint64_t *c, uint32_t i, uint64_t v)
{
	uint64_t none = 0;

	if (shelf_is_pair(i)) {
		none = ONCE(c[i + 1]);
		c[i + 1] = 0;
		if (none >= COUNT_MAX)
			trust_lose("a counter");
	}
	return shelf_tell(i, v, none);
}

/* Hold what a thread's counter i, which is v, has counted. */
static void
hold(unsigned slot, uint64_t *c, uint32_t i, uint64_t v, uint64_t costs[3])
{
	held_put(slot, &(struct held_count){ *counter_counted(i), v });
	add_costs(counter_counted(i), v, costs);
	c[i] = 0;
}

/* A thread's counter i, which is v; adds up what that is. */
static void
tell_counter(unsigned slot, uint64_t *c, uint32_t i, uint64_t v, uint64_t *n,
    uint64_t costs[3])
{
	const struct counted *k = counter_counted(i);

	c[i] = 0;
	if (v >= COUNT_MAX)
		trust_lose("a counter");
	if (opt->kind->intervals)
		thread_line(slot);
	if (trust_lost)
		return;
	if (shelf_has(i)) {
		*n += tell_shelf(c, i, v);
		return;
	}
	add_costs(k, v, costs);
	if (!counts_executions(k)) {
		if (k->what == ROUNDS)
			add_costs(k + 1, ONCE(c[i + 1]), costs);
		tell_rounds(c, i, v);
		return;
	}
	if (k->what == UNREGISTERED)
		evw_exec(stream_writer, k->id, 0, NULL, v - 1);
	else if (opt->kind->intervals)
		evw_count(stream_writer, k->id, v);
	else
		totals_add(k->id, v);
	*n += v * k->ninsn;
}

/* Kind cache adds counts up for the end.  The counters are zero afterwards. */
uint64_t
counters_tell(unsigned slot)
{
	uint32_t i, end, max = counters_used();
	uint64_t *c = counters_of(slot), v;
	uint64_t costs[3] = { 0, 0, 0 };	/* Ir, reads, writes */
	uint64_t n = 0;

	if (opt->contexts != 0)
		context_tell_new(stream_writer);
	for (i = 0; counters_next(slot, &i, &end, max); i = end)
		for (; i < end && !trust_lost; i++) {
			v = ONCE(c[i]);
			if (v == 0)
				continue;
			if (!shelf_has(i) && counter_counted(i)->holds)
				hold(slot, c, i, v, costs);
			else
				tell_counter(slot, c, i, v, &n, costs);
		}
	if (trust_lost)
		return 0;
	during_counted(n);
	progress_counted(n);
	if (opt->contexts != 0)
		context_counted(slot, costs);
	return n;
}

/* How many instructions an execution that a counter counts has. */
static unsigned
length_of(uint32_t c)
{
	const struct counted *k = counter_counted(c);

	if (shelf_has(c))
		return shelf_length(c);
	return counts_executions(k) ? k->ninsn : 0;
}

uint64_t
counters_now(void)
{
	uint32_t max = counters_used(), c;
	struct counter_run r = { 0, 0, 0, NULL };
	uint64_t n = 0;

	while (counters_next_run(&r, max))
		for (c = r.from; c < r.end; c++)
			n += ONCE(r.v[c]) * length_of(c);
	return n;
}

/* Tell what is held of a thread that will not run any more. */
static uint64_t
tell_held(unsigned slot)
{
	struct held_count h;
	uint64_t n = 0;

	while (held_any(slot, &h) && take_held(slot, h.c.id, h.c.ninsn,
	    h.c.what, &h)) {
		if (!counters_left(2)) {
			n += counters_tell(slot);
			counters_renew();
		}
		if (h.c.what == EXECUTIONS)
			counter_add(slot, counter_new(h.c.id, h.c.ninsn,
			    h.c.does), h.times);
		else
			add_held_rounds(slot, &h, h.c.id);
	}
	return n + counters_tell(slot);
}

/* The thread rests. */
static void
tell_contexts(unsigned slot)
{
	thread_line(slot);
	context_tell(stream_writer, slot, 0);
}

/* Of threads that have ended; the next interval is theirs, too. */
static uint64_t carried;

void
counters_interval(uint64_t n)
{
	n += carried;
	carried = 0;
	if (n != 0 && opt->kind->intervals)
		evw_line(stream_writer, "I %llu", (unsigned long long)n);
}

void
counters_tell_ended(unsigned slot)
{
	if (thread_number(slot) == 0)
		return;
	carried += counters_tell(slot);
	if (opt->contexts != 0) {
		carried += tell_held(slot);
		tell_contexts(slot);
	}
	if (opt->interval != 0)
		counters_interval(0);
}

void
counters_tell_all(enum tell what)
{
	unsigned i, callers = opt->contexts != 0 && what != TELL_COUNTS ?
	    counters_slots() : 0;
	uint64_t n = 0;

	for (i = 0; i < counters_slots() && !trust_lost; i++)
		if (thread_number(i) != 0)
			n += counters_tell(i);
	for (i = 0; i < callers && !trust_lost; i++)
		if (thread_number(i) != 0) {
			if (what == TELL_LAST)
				n += tell_held(i);
			tell_contexts(i);
		}
	counters_interval(n);
}
