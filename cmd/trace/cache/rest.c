/*
 * rest - with --contexts: have threads leave their calls alone
 *
 * A flush brings threads out of the cache; but there the runtime may still make
 * a call for one.  So before trace changes the frames or the counts of threads
 * that have not asked for it, it waits until all threads rest: see struct slot
 * in ctl.h.
 */
#include <unistd.h>

#include "cache/cache.h"
#include "cache/parts.h"
#include "ctl.h"

#define RESTING_NS 1000000000u	/* for all of them */
#define POLLS_ALIVE 1000u	/* steps until we ask whether it is alive */

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

/*
 * The slot's thread may be a process that shared the program's memory, and was
 * killed: note that it is out of the cache and rests.
 */
static void
note_dead(struct slot *s)
{
	if (!slot_is_dead(s))
		return;
	__atomic_store_n(&s->incache, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&s->resting, 1, __ATOMIC_SEQ_CST);
}

void
rest_step(struct slot *s, unsigned *polls)
{
	if (++*polls % POLLS_ALIVE == 0)
		note_dead(s);
	else if (!written_release())
		usleep(50);
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
			if (clock_ns() - begin > RESTING_NS || guest_ended ||
			    trust_lost)
				return false;
			rest_step(&area.ctl->slot[i], &polls);
		}
	return true;
}
