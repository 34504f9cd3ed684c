/*
 * queue - what the program's threads and trace hand to the formatting thread
 *
 * Threads of the program take places in the queue and fill them; trace's own
 * entries have their lines here, since the guest can write all that lies in the
 * queue itself: see base/trust.c.  All places are taken in order, so one that
 * is taken and not filled holds up what is behind it.
 */
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "stream/parts.h"
#include "stream/stream.h"

static uint32_t qhead;		/* next entry to take */
static uint32_t putting, ticket;	/* as a slot's, of entries of ours */
static struct own_entry own[NQUEUE];	/* which entries are ours, by index */
static unsigned nown;		/* how many there are */
static uint32_t renewed;	/* +1: all counters are free; futex */
static uint32_t marked;		/* +1: a mark has been written; futex */

void
queue_wake(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, 64, NULL, NULL, 0);
}

bool
queue_has_records(unsigned slot, uint64_t most)
{
	struct control *c = area.ctl;
	uint64_t bytes = 0;
	const struct qent *e;
	uint32_t i, type;

	for (i = 0; i < NQUEUE && bytes < most; i++) {
		e = &c->queue[(qhead + i) % NQUEUE];
		type = __atomic_load_n(&e->type, __ATOMIC_ACQUIRE);
		if (type == Q_NONE)
			break;
		if (ONCE(e->slot) == slot && type != Q_TEXT)
			bytes += ONCE(e->to) - ONCE(e->from);
	}
	return bytes >= most;
}

#define ROOM	256u	/* free places for which threads are woken */

/* Wake the threads that wait for room. */
static void
tell_room(void)
{
	struct control *c = area.ctl;

	if (!__atomic_exchange_n(&c->qfull_sleeps, 0, __ATOMIC_SEQ_CST))
		return;
	__atomic_fetch_add(&c->qroom, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &c->qroom, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/*
 * The entry has been taken: its place is free.  Where many threads wait, one of
 * them can go on with each place: so they are woken for many, or when there is
 * nothing to take.
 */
static void
pass_entry(void)
{
	__atomic_store_n(&qhead, qhead + 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&area.ctl->qhead, qhead, __ATOMIC_SEQ_CST);
	if (qhead % ROOM == 0)
		tell_room();
}

/* Entries that are in the queue, or about to be. */
static uint32_t
entries(void)
{
	return __atomic_load_n(&area.ctl->qtail, __ATOMIC_SEQ_CST) - qhead;
}

void
queue_check_gap(void)
{
	static struct patience p;
	uint32_t n = entries();

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

bool
queue_take(struct qent *copy, struct own_entry *mine)
{
	struct qent *e = &area.ctl->queue[qhead % NQUEUE];

	copy->type = __atomic_load_n(&e->type, __ATOMIC_ACQUIRE);
	if (copy->type == Q_NONE || trust_lost) {
		tell_room();
		return false;
	}
	copy->slot = ONCE(e->slot);
	copy->sig = ONCE(e->sig);
	copy->from = ONCE(e->from);
	copy->to = ONCE(e->to);
	copy->arg = ONCE(e->arg);
	*mine = take_own(qhead % NQUEUE);
	e->type = Q_NONE;
	pass_entry();
	return true;
}

/* Is the next place one that we are about to fill, or may it be? */
static bool
is_our_place(void)
{
	uint32_t n = __atomic_load_n(&putting, __ATOMIC_SEQ_CST);

	return n == PUT_BEGUN || (n > PUT_BEGUN && ticket == qhead);
}

bool
queue_pass_gap(void)
{
	struct control *c = area.ctl;
	const struct qent *e = &c->queue[qhead % NQUEUE];

	if (__atomic_load_n(&c->qtail, __ATOMIC_SEQ_CST) == qhead ||
	    is_our_place() || !dead_took(qhead) ||
	    __atomic_load_n(&e->type, __ATOMIC_SEQ_CST) != Q_NONE)
		return false;
	pass_entry();
	return true;
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
queue_ring(void)
{
	__atomic_fetch_add(&area.ctl->qbell, 1, __ATOMIC_SEQ_CST);
	queue_wake(&area.ctl->qbell);
}

void
format_text(char *lines)
{
	put(Q_TEXT, 0, lines);
}

void
format_counts(void)
{
	put(Q_LAST, 0, NULL);
	queue_ring();
}

/* Put an entry, and wait until it has been taken: until *done changes. */
static void
put_and_wait(enum qtype type, unsigned slot, char *lines, uint32_t *done)
{
	struct timespec t = { 0, 50 * 1000 * 1000 };
	uint32_t was = __atomic_load_n(done, __ATOMIC_SEQ_CST);

	put(type, slot, lines);
	queue_ring();
	while (__atomic_load_n(done, __ATOMIC_SEQ_CST) == was &&
	    !trust_lost && !guest_ended)
		syscall(SYS_futex, done, FUTEX_WAIT, was, &t, NULL, 0);
}

void
format_renew(bool calls)
{
	put_and_wait(calls ? Q_RENEW_CALLS : Q_RENEW, 0, NULL, &renewed);
}

void
format_mark(unsigned slot, char *line)
{
	put_and_wait(Q_MARK, slot, line, &marked);
}

void
format_text_now(char *lines)
{
	put_and_wait(Q_MARK, OWN_NO_SLOT, lines, &marked);
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

uint32_t
queue_head(void)
{
	return qhead;
}

bool
queue_is_empty(void)
{
	return ONCE(area.ctl->queue[qhead % NQUEUE].type) == Q_NONE;
}

uint32_t
queue_left(void)
{
	uint32_t n = entries();

	if (n > QUEUE_MAX)
		trust_lose("its queue");
	return n;
}

void
queue_pass_hole(void)
{
	if (own[qhead % NQUEUE].type != Q_NONE)
		trust_lose("an entry of its queue");
	pass_entry();
}

void
queue_reset(void)
{
	qhead = 0;
	if (nown != 0)
		forget_own();
}

/* It is done: who waits for that goes on. */
static void
done(uint32_t *word)
{
	__atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
	queue_wake(word);
}

void
queue_renewed(void)
{
	done(&renewed);
}

void
queue_marked(void)
{
	done(&marked);
}
