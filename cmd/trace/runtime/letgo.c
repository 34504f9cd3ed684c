/*
 * letgo - have threads go on natively, with all state as the guest set it
 *
 * A thread is let go where it is a child's that is not traced, where trace has
 * died, or where the program cannot be followed any further.  Other threads may
 * still be in the cache by then, and need our handlers there: the first that is
 * let go brings them out of it.
 */
#include "queue.h"
#include "runtime.h"
#include "signals.h"

#define ROUNDS_OTHERS 50u	/* a second or more: they may be dead */

/*
 * Send the slot's thread our signal; false: it cannot be brought out, since it
 * has ended.  A dead process takes signals until its parent has waited for it.
 */
static bool
nudge(const struct slot *s, struct ksiginfo *si, unsigned round)
{
	uint32_t pid = slot_pid(s->pid, s->tid);
	struct control *c = rt.ctl;

	if (pid != rt.pid && round >= ROUNDS_OTHERS)
		return false;
	__atomic_fetch_add(&c->nudges, 1, __ATOMIC_SEQ_CST);
	if (sys4(__NR_rt_tgsigqueueinfo, pid, s->tid, SIG_OURS, si) == 0)
		return true;
	__atomic_fetch_sub(&c->nudges, 1, __ATOMIC_SEQ_CST);
	return false;
}

/*
 * All threads shall go on natively, and trace will not flush the cache, or has
 * died: bring them out of the cache by a signal.  Threads in a system call must
 * not be disturbed.
 */
static void
bring_out(void)
{
	struct control *c = rt.ctl;
	struct ksiginfo si;
	unsigned i, n, tries, round = 0;

	memset(&si, 0, sizeof si);
	si.signo = SIG_OURS;
	si.code = SI_QUEUE;
	si.rest[0] = (uint64_t)blob;
	__atomic_store_n(&c->letgo, LETGO_SOON, __ATOMIC_SEQ_CST);
	do {
		for (i = n = 0; i < NSLOT && !c->polling; i++) {
			if (c->slot[i].used != SLOT_TAKEN || !__atomic_load_n(
			    &c->slot[i].incache, __ATOMIC_SEQ_CST))
				continue;
			if (nudge(&c->slot[i], &si, round))
				n++;
		}
		/* one that has ended takes none */
		for (tries = 0; tries < 20 && __atomic_load_n(&c->nudges,
		    __ATOMIC_SEQ_CST) > 0; tries++)
			pause_ms();
		round++;
	} while (n > 0);
	__atomic_store_n(&c->letgo, LETGO_NOW, __ATOMIC_SEQ_CST);
	futex_wake(&c->letgo, NSLOT);
}

/*
 * The thread is about to go on natively: publish its last records, and install
 * the guest's handlers instead of ours, except that of SIG_OURS.
 */
void
before_letting_go(struct tarea *t)
{
	uint32_t letgo;

	if (t->skips == SKIP_OUT)
		buffer_back(t);
	if (t->bufend != 0 && !trace_died())
		buffer_publish(t, Q_RECORDS, 0, 0);
	/* wait until no thread in the cache needs a handler of ours */
	while ((letgo = __atomic_load_n(&rt.ctl->letgo, __ATOMIC_ACQUIRE)) !=
	    LETGO_NOW)
		if ((letgo == LETGO_NOT || trace_died()) &&
		    !__atomic_exchange_n(&rt.bringing, 1, __ATOMIC_SEQ_CST))
			bring_out();
		else
			futex_wait(&rt.ctl->letgo, letgo);
	signal_restore_actions(t, false);
	if (rt.boot.flags & BOOT_ATTACHED)
		__atomic_store_n(&t->slot->used, SLOT_LET_GO, __ATOMIC_SEQ_CST);
}

/* The thread goes on natively, for good. */
void
let_go(struct tarea *t)
{
	before_letting_go(t);
	signal_install(t->act, SIG_OURS, 0);	/* see is_native */
	t->trap = TRAP_LETGO;
	rt_trap(t);
}
