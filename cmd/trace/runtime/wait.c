/*
 * wait - poll for an answer before we sleep
 *
 * To be woken takes longer than most answers, so we poll first.  We yield
 * between polls: trace may have no other processor than ours.  Where it serves
 * on ours (near.c) we yield at once.
 *
 * On a CROWDED processor, which other tasks want as well, a yield gives each of
 * them a slice, some ms, while a task that is woken runs soon.  So where trace
 * suspects that, or polls have been in vain, a short request is timed.  If two
 * answers take too long, with few between them, we neither poll nor yield in
 * the next requests, and trace, which reads how many are left, sleeps at once
 * too.  Then we time another one; each time that it takes too long again, twice
 * as many follow.
 */
#include <linux/time.h>

#include "queue.h"
#include "runtime.h"

#define TURNS 50u		/* yields for an answer, where trace is near */
#define LONG_NS 1000000		/* that an answer takes */
#define AWAKE_MOST 8u		/* requests from one long answer to another */
#define CROWDED_LEAST 256u	/* requests for which we sleep at once */
#define CROWDED_MOST 8192u

static long
now_ns(void)
{
	long t[2] = { 0, 0 };

	sys2(__NR_clock_gettime, CLOCK_MONOTONIC, t);
	return t[0] * 1000000000 + t[1];
}

void
wait_begin(struct waiting *w)
{
	uint32_t left = rt.ctl->crowded;

	if (rt.ctl->polling) {
		rt.ctl->crowded = 0;	/* or trace would never poll again */
		if (rt.ctl->no_yield && !rt.ctl->no_futex)
			w->polls = SPINS - SPINS / 8;
		return;
	}
	w->sleeps = left != 0;
	if (left != 0)
		rt.ctl->crowded = left - 1;
	else
		rt.nawake++;
	w->is_late = rt.ctl->settling != 0;
	/* new code may be compared with the store: longer than polls take */
	if (w->what == REQ_MAPPED)
		w->polls = SPINS - SPINS / 8;
}

/* Does the answer take some microseconds, where nothing is in the way? */
static bool
is_short(enum request what)
{
	return what == REQ_TRANSLATE || what == REQ_MOVE ||
	    what == REQ_PARTIAL || what == REQ_MISSED || what == REQ_STALE;
}

static void
yield(struct waiting *w, bool is_timed)
{
	if (is_timed && w->start == 0 && is_short(w->what) && !w->is_late &&
	    !rt.ctl->polling)
		w->start = now_ns();
	sys0(__NR_sched_yield);
}

/* Trace serves on our processor: it can do nothing until we let it. */
static bool
take_turns(struct waiting *w)
{
	if (rt.ctl->near != w->cpu + 1 || w->turns == TURNS)
		return false;
	w->turns++;
	yield(w, rt.ctl->suspect != 0);
	return true;
}

/* True: look again; false: sleep. */
bool
wait_awake(struct waiting *w)
{
	if (w->sleeps)
		return false;
	if (!rt.ctl->no_yield && take_turns(w))
		return true;
	__builtin_ia32_pause();
	if (w->polls >= SPINS_ALONE && w->polls % SPINS_YIELD == 0 &&
	    !rt.ctl->no_yield)
		yield(w, true);
	return w->polls++ < SPINS;
}

/* The answer is there. */
void
wait_end(struct waiting *w)
{
	uint32_t n = rt.next_crowded;
	bool is_long;

	if (w->start == 0 || rt.ctl->polling)
		return;
	is_long = now_ns() - w->start >= LONG_NS;
	rt.ctl->suspect = is_long;
	if (!is_long) {
		rt.next_crowded = n / 2 < CROWDED_LEAST ? CROWDED_LEAST : n / 2;
		return;
	}
	if (rt.nawake <= AWAKE_MOST) {
		n = n < CROWDED_LEAST ? CROWDED_LEAST : n;
		rt.ctl->crowded = n;
		rt.next_crowded = n < CROWDED_MOST ? n * 2 : n;
	}
	rt.nawake = 0;
}
