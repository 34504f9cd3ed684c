/*
 * trust - the guest has written over what it shares with us
 *
 * It can write the whole memory file, by accident or not.  A thread that finds
 * an impossible value there reports it here and goes on without it; the serving
 * thread then ends the run.
 */
#include <stdatomic.h>

#include "base/base.h"
#include "prog.h"

#define PATIENCE_MS 20000u	/* how long the guest may make us wait */

_Atomic bool trust_lost;

void
trust_lose(const char *what)
{
	if (area_abandoned || atomic_exchange(&trust_lost, true))
		return;
	warn("the program has written over memory that is trace's (%s)%s; "
	    "the stream ends here", what,
	    opt->leaves || guest_ended ? "" : " and is killed");
	bell_ring();
}

/* It is stopped, or a debugger holds it: nothing can be expected of it. */
static bool
is_stopped(void)
{
	char state = task_state(guest.pid);

	return state == 'T' || state == 't';
}

bool
trust_wait(struct patience *p, const char *what)
{
	uint64_t now, step;

	if (guest_ended || trust_lost)
		return false;
	now = clock_ns() / 1000000;
	/* a long time between two calls was not spent waiting for the guest */
	step = p->last == 0 ? 0 : now - p->last;
	p->last = now;
	p->waited += step < 100 ? step : 100;
	if (p->waited < PATIENCE_MS)
		return true;
	if (is_stopped()) {
		p->waited = 0;
		return true;
	}
	trust_lose(what);
	return false;
}
