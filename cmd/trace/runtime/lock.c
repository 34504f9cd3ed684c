/*
 * lock - locks among the program's threads, which may be killed with one
 *
 * A lock is 0, or its holder's tid.  A process that shares the memory can be
 * killed alone, and then never gives its lock back.  So a thread that waits
 * long asks trace to bury the dead, and takes the lock if its holder has no
 * slot by then.
 */
#include "queue.h"
#include "runtime.h"
#include "threads.h"

#define LOCK_SPINS 20000u	/* until we ask; some hundred us */

static bool
has_slot(uint32_t tid)
{
	const struct slot *s = rt.ctl->slot;
	unsigned i;

	for (i = 0; i < NSLOT; i++)
		if (__atomic_load_n(&s[i].used, __ATOMIC_SEQ_CST) ==
		    SLOT_TAKEN && __atomic_load_n(&s[i].tid,
		    __ATOMIC_SEQ_CST) == tid)
			return true;
	return false;
}

static bool
swap(uint32_t *lock, uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(lock, &from, to, 0,
	    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

bool
lock_take(struct tarea *t, uint32_t *lock)
{
	uint64_t arg[4] = { 0, 0, 0, 0 };
	unsigned spins = 0;
	uint32_t holder;

	while (!swap(lock, 0, t->tid)) {
		__builtin_ia32_pause();
		if (++spins % LOCK_SPINS != 0 || rt.ctl->sharing == 0)
			continue;
		holder = __atomic_load_n(lock, __ATOMIC_SEQ_CST);
		if (ask(t, REQ_BURY, arg) == 0 && holder != 0 &&
		    !has_slot(holder) && swap(lock, holder, t->tid))
			return true;
	}
	return false;
}

void
lock_give(uint32_t *lock)
{
	__atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}
