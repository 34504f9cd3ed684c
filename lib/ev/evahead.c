/*
 * evahead - a thread that reads a stream ahead, scans and checks its executions
 *
 * To read text and to make records of it takes a simulator a third of its time,
 * and waits for nothing that it does. So a thread of its own does that, a few
 * slots ahead: a slot has some lines, and the records of the executions that it
 * begins with. All else, as definitions, ids that the reader has yet to define,
 * and what is malformed, remains for the reader, in the order of the text.
 *
 * It takes a third more CPU time, and more where processors are far apart, for
 * what one has made comes from its cache to the other's. So a pipe of which two
 * processors have both ends is read without a thread.
 *
 * tail counts the slots that are ready, head those that the reader has used up.
 * The thread sleeps while there is no room, and is woken when a quarter of the
 * slots is free. On busy processors that takes its time; a reader that finds
 * nothing ready meanwhile makes a slot itself. Whoever makes one has the lock.
 * The reader sleeps only while the thread has the lock, and is woken when half
 * of the slots are ready, or the thread is about to wait.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "evbuf.h"
#include "mem.h"

#define NSLOT	32
#define NTEXT	8
#define PART	(64 << 10)	/* read at once */
#define FEW	1024		/* scanned bytes: leave the next ones, too */

enum end { NOT, CUT_OFF, TOO_LONG };

struct slot {
	char *p;
	size_t len;		/* whole lines; or, at the end, a part of one */
	size_t taken;		/* of it, scanned */
	size_t got;		/* bytes that were read for this and others */
	enum end end;
	ssize_t last;		/* what the last read gave */
	struct evscan scan;
};

struct evahead {
	struct in *in;
	const uint32_t *heads;	/* by id; the reader adds to it */
	struct evout_lists *lists;	/* with outcomes; or NULL */
	pthread_t thread;
	_Atomic uint32_t head, tail;
	_Atomic bool idle;	/* the reader sleeps until wakened */
	_Atomic bool full;	/* the thread does, until head is ... */
	_Atomic uint32_t until;
	sem_t ready, room;
	bool using;		/* the reader has slot head */
	struct slot slot[NSLOT];

	pthread_mutex_t making;	/* for what follows, and to add to tail */
	struct {
		char *at;	/* MAXLINE + PART, with room around it */
		uint32_t until;	/* this head: it is free */
	} text[NTEXT];
	unsigned now;		/* the text that slots are made of */
	char *p, *end;		/* its whole lines that are in no slot yet */
	size_t have;		/* bytes at end, of a line that goes on */
	size_t got;		/* read, and in no slot yet */
	bool ended;
};

/* ---- making slots ---- */

/* Scan the executions at p, with outcomes if the reader takes these. */
static void
scan(const struct evahead *a, struct slot *s, const char *p, size_t n)
{
	s->taken = 0;
	if (a->lists != NULL)
		s->taken = evout_scan(&s->scan, a->lists, p, n);
	if (s->taken == 0 && *p >= '0' && (*p < 'A' || *p > 'Z'))
		s->taken = evscan_text(&s->scan, p, n);
	if (s->taken != 0 && s->scan.malformed)
		s->taken = 0;
	if (s->taken != 0) {
		evcheck_begin(&s->scan);
		evcheck(&s->scan, a->heads);
	}
}

/*
 * The length of the next slot's lines: those scanned, and others than
 * executions behind them. Where executions are few, the reader scans.
 */
static size_t
some_lines(const struct evahead *a, struct slot *s, char *p, size_t n)
{
	char *nl, *end;

	if (n > EVSCAN_TEXT) {
		nl = memrchr(p, '\n', EVSCAN_TEXT);
		s->taken = 0;
		if (nl == NULL)
			return (size_t)((char *)memchr(p, '\n', n) + 1 - p);
		n = (size_t)(nl + 1 - p);
	}
	scan(a, s, p, n);
	if (s->taken < FEW)
		return n;
	end = p + n;
	for (p += s->taken; p < end && *p >= 'A' && *p <= 'Z'; p = nl + 1)
		nl = memchr(p, '\n', (size_t)(end - p));
	return n - (size_t)(end - p);
}

static void
add_slot(struct evahead *a, char *p, size_t n, enum end end)
{
	struct slot *s = &a->slot[a->tail % NSLOT];

	s->p = p;
	s->len = n;
	s->got = a->got;
	s->end = end;
	a->got = 0;
	a->tail++;
}

static void
end_slot(struct evahead *a, enum end end, ssize_t last)
{
	struct slot *s = &a->slot[a->tail % NSLOT];

	s->taken = 0;
	s->last = last;
	a->ended = true;
	add_slot(a, a->end, a->have, end);
}

/* The head at which a slot can be made. */
static uint32_t
makes_at(const struct evahead *a)
{
	uint32_t room = a->tail - NSLOT + 1, next;

	if (a->p < a->end)
		return room;
	next = a->text[(a->now + 1) % NTEXT].until;
	return (int32_t)(next - room) > 0 ? next : room;
}

/* Read whole lines into the next text: 0, or the last slot is made. */
static int
read_lines(struct evahead *a)
{
	char *text, *nl;
	ssize_t n;

	a->text[a->now].until = a->tail;
	a->now = (a->now + 1) % NTEXT;
	text = memcpy(a->text[a->now].at, a->end, a->have);
	text[-1] = '\n';
	do {
		a->p = a->end = text;
		if (a->have > EVBUF_MAXLINE) {
			end_slot(a, TOO_LONG, 1);
			return -1;
		}
		n = in_ahead(a->in, text + a->have, PART);
		if (n <= 0) {
			end_slot(a, CUT_OFF, n);
			return -1;
		}
		a->got += (size_t)n;
		nl = memrchr(text + a->have, '\n', (size_t)n);
		a->have += (size_t)n;
	} while (nl == NULL);
	a->end = nl + 1;
	a->have = (size_t)(text + a->have - a->end);
	return 0;
}

static void
make_slot(struct evahead *a)
{
	struct slot *s = &a->slot[a->tail % NSLOT];
	size_t n;

	if (a->p == a->end && read_lines(a) < 0)
		return;
	n = some_lines(a, s, a->p, (size_t)(a->end - a->p));
	a->p += n;
	add_slot(a, a->p - n, n, NOT);
}

/* ---- the thread ---- */

static void
wait_for(sem_t *s)
{
	while (sem_wait(s) < 0 && errno == EINTR)
		continue;
}

static void
wake_reader(struct evahead *a)
{
	if (a->head != a->tail && atomic_exchange(&a->idle, false))
		sem_post(&a->ready);
}

static void
wait_until(struct evahead *a, uint32_t head)
{
	while ((int32_t)(a->head - head) < 0) {
		wake_reader(a);
		a->until = head;
		a->full = true;
		if ((int32_t)(a->head - head) < 0)
			wait_for(&a->room);
		a->full = false;
	}
}

/*
 * We are some slots ahead, so when we are woken the reader need not make room
 * on its processor. Whoever chose another policy than the usual one keeps it.
 */
static void
no_haste(void)
{
	static const struct sched_param none;

	if (sched_getscheduler(0) == SCHED_OTHER)
		sched_setscheduler(0, SCHED_BATCH, &none);
}

static void
unlock(void *a)
{
	pthread_mutex_unlock(&((struct evahead *)a)->making);
}

enum made { MADE, FULL, LAST };

/*
 * Make a slot, perhaps the last one, if there is room for one. Else *until is
 * the head at which there is for some; as it is not beyond the tail, the reader
 * reaches it with the slots that are ready.
 */
static enum made
make_if_room(struct evahead *a, uint32_t *until)
{
	if (a->ended)
		return LAST;
	*until = makes_at(a);
	if ((int32_t)(a->head - *until) < 0) {
		*until += NSLOT / 4;
		if ((int32_t)(a->tail - *until) < 0)
			*until = a->tail;
		return FULL;
	}
	if (a->p == a->end)
		wake_reader(a);
	make_slot(a);
	return MADE;
}

/* The same, with the lock, also where the thread is cancelled in it. */
static enum made
make_ahead(struct evahead *a, uint32_t *until)
{
	volatile enum made r;

	pthread_mutex_lock(&a->making);
	pthread_cleanup_push(unlock, a);
	r = make_if_room(a, until);
	pthread_cleanup_pop(1);
	return r;
}

static void *
read_ahead(void *arg)
{
	struct evahead *a = arg;
	uint32_t until = 0;

	no_haste();
	for (;;) {
		switch (make_ahead(a, &until)) {
		case MADE:
			if (a->tail - a->head >= NSLOT / 2)
				wake_reader(a);
			break;
		case FULL:
			wait_until(a, until);
			break;
		case LAST:
			wake_reader(a);
			return NULL;
		}
	}
}

/* ---- the reader ---- */

/* For the reader, the thread, and who writes the stream into a pipe. */
static bool
has_processors(const struct in *in)
{
	int others = in_size(in) != 0 ? 1 : 2;
	cpu_set_t set;

	return sched_getaffinity(0, sizeof set, &set) == 0 &&
	    CPU_COUNT(&set) > others;
}

/* Signals are for the reader's thread. */
static int
start(struct evahead *a)
{
	sigset_t all, was;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	r = pthread_create(&a->thread, NULL, read_ahead, a);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	return r;
}

static void
let_go(struct evahead *a)
{
	for (unsigned i = 0; i < NTEXT; i++)
		free(a->text[i].at - EVSCAN_BEFORE);
	pthread_mutex_destroy(&a->making);
	sem_destroy(&a->ready);
	sem_destroy(&a->room);
	free(a);
}

struct evahead *
evahead_begin(struct in *in, const uint32_t *heads, struct evout_lists *lists,
    const char *line, size_t n)
{
	const size_t room = EVSCAN_BEFORE + EVBUF_MAXLINE + PART +
	    EVSCAN_BEHIND;
	struct evahead *a;

	if (n > EVBUF_MAXLINE || !in_may_ahead(in) || !has_processors(in))
		return NULL;
	a = xcalloc(1, sizeof *a);
	a->in = in;
	a->heads = heads;
	a->lists = lists;
	for (unsigned i = 0; i < NTEXT; i++) {
		/* half of the room is for long lines, and mostly untouched */
		a->text[i].at = xcalloc(1, room);
		memset(a->text[i].at, '\n', EVSCAN_BEFORE);
		a->text[i].at += EVSCAN_BEFORE;
	}
	a->p = a->end = memcpy(a->text[0].at, line, n);
	a->have = n;
	pthread_mutex_init(&a->making, NULL);
	sem_init(&a->ready, 0, 0);
	sem_init(&a->room, 0, 0);
	if (start(a) == 0)
		return a;
	let_go(a);
	return NULL;
}

void
evahead_end(struct evahead *a)
{
	pthread_cancel(a->thread);
	pthread_join(a->thread, NULL);
	let_go(a);
}

static void
use_up(struct evahead *a)
{
	a->using = false;
	a->head++;
	if (a->full && (int32_t)(a->head - a->until) >= 0 &&
	    atomic_exchange(&a->full, false))
		sem_post(&a->room);
}

/* Nothing is ready, so all slots are free. */
static bool
make_own(struct evahead *a)
{
	bool may;

	if (pthread_mutex_trylock(&a->making) != 0)
		return false;
	may = !a->ended && a->head == a->tail;
	if (may)
		make_slot(a);
	pthread_mutex_unlock(&a->making);
	return may;
}

static struct slot *
wait_for_slot(struct evahead *a)
{
	while (a->head == a->tail) {
		if (make_own(a))
			break;
		a->idle = true;
		if (a->head == a->tail)
			wait_for(&a->ready);
		a->idle = false;
	}
	a->using = true;
	return &a->slot[a->head % NSLOT];
}

int
evahead_fill(struct evbuf *b)
{
	struct evahead *a = b->ahead;
	struct slot *s = &a->slot[a->head % NSLOT];

	if (!a->using || s->end == NOT) {
		if (a->using)
			use_up(a);
		s = wait_for_slot(a);
		if (s->got != 0)
			in_took(b->in, (ssize_t)s->got);
		if (s->end == CUT_OFF)
			in_took(b->in, s->last);
	}
	b->p = b->lines = s->p;
	b->end = s->p + s->len;
	if (s->end != NOT)
		return s->end == TOO_LONG ? -1 : 0;
	b->lines = b->end;
	return 1;
}

struct evscan *
evahead_scanned(const struct evbuf *b, size_t *taken)
{
	struct slot *s = &b->ahead->slot[b->ahead->head % NSLOT];

	if (!b->ahead->using || b->p != s->p)
		return NULL;
	*taken = s->taken;
	return s->taken == 0 ? NULL : &s->scan;
}
