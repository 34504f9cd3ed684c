/*
 * rest - with --contexts: have threads leave their calls alone
 *
 * A flush brings threads out of the cache, where the runtime may yet make a
 * call for one.  Who changes the frames or the counts of a thread that has not
 * asked has all of them rest first: see struct slot in shared.h.
 */
#include <unistd.h>

#include "cache/cache.h"
#include "cache/parts.h"

#define RESTING_NS 1000000000u	/* for all of them */

static unsigned nrest;		/* rest_begin without rest_end */

void
rest_begin(void)
{
	if (opt->contexts != 0 && nrest++ == 0)
		__atomic_store_n(&area.ctl->renewing, 1, __ATOMIC_SEQ_CST);
}

void
rest_end(void)
{
	if (opt->contexts != 0 && --nrest == 0)
		__atomic_store_n(&area.ctl->renewing, 0, __ATOMIC_SEQ_CST);
}

bool
rest_is_gone(struct slot *s)
{
	pid_t tid = (pid_t)ONCE(s->tid), pid;

	if (tid <= 0)		/* a thread that has not begun yet */
		return false;
	if (guest_thread(tid) >= 0)
		return false;
	pid = guest_process(tid);
	if (pid >= 0 && !task_is_dead(pid))
		return false;
	__atomic_store_n(&s->incache, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&s->resting, 1, __ATOMIC_SEQ_CST);
	return true;
}

static bool
is_resting(const struct slot *s)
{
	return __atomic_load_n(&s->used, __ATOMIC_SEQ_CST) != SLOT_TAKEN ||
	    __atomic_load_n(&s->resting, __ATOMIC_SEQ_CST);
}

bool
rest_all(void)
{
	uint64_t begin = clock_ns();
	unsigned i, polls = 0;

	if (opt->contexts == 0)
		return true;
	for (i = 0; i < NSLOT; i++)
		while (!is_resting(&area.ctl->slot[i])) {
			if (++polls % POLLS_ALIVE == 0)
				rest_is_gone(&area.ctl->slot[i]);
			if (clock_ns() - begin > RESTING_NS || guest_ended ||
			    trust_lost)
				return false;
			if (!written_release())
				usleep(50);
		}
	return true;
}
