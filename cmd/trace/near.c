/*
 * near - serve on the processor of the thread that asks
 *
 * While code is new, a thread of the program and we take turns: either waits
 * while the other works.  On two processors both burn time, one of them in
 * vain, and all that is asked and made goes from one's cache to the other's.
 * So after a number of requests from one processor we stay on it, and who waits
 * yields.  A change of turns is a yield, 0.5 us or more; nobody has to be
 * woken.
 *
 * Where no other task wants the second processor two that poll are faster: to
 * make a fragment takes little longer than a change of turns.  In kinds that
 * record readers are such tasks; others show themselves (base/rivals.c), and
 * from time to time we poll again, to see whether they are gone.
 *
 * We leave when no request comes for some turns, before we sleep, and when what
 * comes is no request for code.  The kernel may take the thread elsewhere; then
 * it polls as ever, and we follow after as many requests.
 *
 * A yield is in vain where the kernel lets the thread that yielded run on,
 * since the other one has had more time so far.  We see that by a thread that
 * needs many turns for its answers, and give up for good.  We also give up
 * where a yield is dear: some kernels flush what the processor has predicted or
 * translated at each.  Polling burns the time of an answer, 3 to 10 us, in
 * vain, so a change of turns to and fro may cost as much.
 *
 * On a crowded processor nobody takes turns: see runtime/wait.c, which we tell
 * when a yield has taken so long that it may be one.
 */
#include <sched.h>

#include "base/base.h"
#include "trace.h"

#define STREAK 16u		/* requests from one processor */
#define TRIAL 64u		/* requests after which turns are judged */
#define TURNS_MOST 4u		/* for one request, on average */
#define TURNS_COUNTED 50u	/* of one request: the program may say more */
#define TURNS_SERVING 4u	/* for the next request */
#define YIELD_MOST 1000000u	/* ns, or others want the processor as well */
#define TURN_MOST 5000u		/* ns from a yield to the next request */
#define REQUESTS_MOST 16384u	/* then we see whether there are rivals still */

static bool useless;
static uint32_t cpu;		/* where we are, + 1; 0: anywhere */
static uint32_t last;		/* where the last request came from, */
static unsigned streak;		/* and how many before it */
static unsigned trial, taken;	/* requests on trial, and their turns */
static bool rivals;		/* others want the processors, */
static unsigned served;		/* requests in turns since that was seen */
static uint64_t least = UINT64_MAX; /* ns from a yield to the next request */
static cpu_set_t usual;		/* where we may be */
static bool slow;		/* the last yield was, see YIELD_MOST */

static void
stay_on(uint32_t on)
{
	cpu_set_t only;

	if (on >= CPU_SETSIZE ||
	    sched_getaffinity(0, sizeof usual, &usual) < 0 ||
	    !CPU_ISSET(on, &usual))
		return;
	CPU_ZERO(&only);
	CPU_SET(on, &only);
	if (sched_setaffinity(0, sizeof only, &only) < 0)
		return;
	cpu = on + 1;
	trial = taken = 0;
	area.ctl->near = cpu;
}

/* Whether turns are taken as they should be. */
static bool
judge(uint32_t turns)
{
	taken += turns < TURNS_COUNTED ? turns : TURNS_COUNTED;
	if (++trial < TRIAL)
		return true;
	useless = taken > trial * TURNS_MOST || (least != UINT64_MAX &&
	    least > TURN_MOST && CPU_COUNT(&usual) > 1);
	trial = taken = 0;
	return !useless;
}

/* Are turns better than that both poll? */
static bool
may_pay(void)
{
	if (opt->kind->records)
		return true;
	rivals = rivals || rivals_seen();
	return rivals;
}

/* After many turns they may not be: it is time to poll, and see. */
static bool
is_trial_due(void)
{
	if (!rivals || ++served < REQUESTS_MOST)
		return false;
	served = 0;
	rivals = false;
	return true;
}

void
near_asked(uint32_t on, uint32_t turns)
{
	if (useless)
		return;
	if (cpu != 0 && (on != cpu - 1 || ONCE(area.ctl->no_yield) ||
	    ONCE(area.ctl->crowded) != 0 || !judge(turns) ||
	    is_trial_due()))
		near_leave();
	if (cpu != 0 || useless)
		return;
	streak = on == last ? streak + 1 : 0;
	last = on;
	if (streak >= STREAK && !ONCE(area.ctl->no_yield) &&
	    ONCE(area.ctl->crowded) == 0 && may_pay())
		stay_on(on);
}

bool
near_yield(bool (*is_wanted)(void))
{
	uint64_t start = clock_ns(), took;
	bool wanted;

	sched_yield();
	wanted = is_wanted();
	took = clock_ns() - start;
	slow = took > YIELD_MOST;
	if (slow)
		area.ctl->suspect = 1;
	if (cpu != 0 && wanted && took < least)
		least = took;
	return wanted;
}

bool
near_is_slow(void)
{
	return slow;
}

bool
near_turns(bool (*is_wanted)(void))
{
	unsigned i;

	if (cpu == 0)
		return false;
	for (i = 0; i < TURNS_SERVING; i++)
		if (near_yield(is_wanted))
			return true;
	near_leave();
	return false;
}

void
near_leave(void)
{
	streak = 0;
	if (cpu == 0)
		return;
	cpu = 0;
	area.ctl->near = 0;
	sched_setaffinity(0, sizeof usual, &usual);
	rivals_forget();
}
