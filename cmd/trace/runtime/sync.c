/*
 * sync - signals of SYNC_SIGS that were sent, and that the guest blocks
 *
 * Instructions raise these as well, so the kernel never blocks them while a
 * thread runs, and gives one that was sent to any thread.  A thread that blocks
 * it keeps it, and nobody else sees it pending: see PITFALLS.  While a thread
 * makes a call the kernel blocks what the guest does: then what the thread has
 * kept waits there, where the call may look for it.
 */
#include "queue.h"
#include "runtime.h"
#include "signals.h"

static unsigned
sync_number(int sig)
{
	return sig == SIG_ILL ? 0 : sig == SIG_TRAP ? 1 : sig == SIG_BUS ? 2 :
	    sig == SIG_FPE ? 3 : 4;
}

/* As the kernel does, of several that are alike the first stays. */
void
signal_sync_keep(struct tarea *t, int sig, const struct ksiginfo *info)
{
	if (t->syncpending & SIGBIT(sig))
		return;
	t->syncinfo[sync_number(sig)] = *info;
	__atomic_fetch_or(&t->syncpending, SIGBIT(sig), __ATOMIC_SEQ_CST);
}

/* Take what is kept of a signal; false: it is not. */
static bool
take(struct tarea *t, int sig, struct ksiginfo *si)
{
	if (!(__atomic_fetch_and(&t->syncpending, ~SIGBIT(sig),
	    __ATOMIC_SEQ_CST) & SIGBIT(sig)))
		return false;
	*si = t->syncinfo[sync_number(sig)];
	return true;
}

/*
 * Send it again, to whom it was sent.  But to the process only its first thread
 * may send what looks as if it were from elsewhere.
 */
static void
send_again(const struct tarea *t, int sig, struct ksiginfo *si)
{
	signal_unmark(si);
	if (si->code == SI_TKILL ||
	    sys3(__NR_rt_sigqueueinfo, t->pid, sig, si) != 0)
		sys4(__NR_rt_tgsigqueueinfo, t->pid, t->tid, sig, si);
}

void
signal_sync_leave(struct tarea *t)
{
	struct ksiginfo si;
	int s;

	if (rt.ctl->polling)	/* we may make no calls */
		return;
	for (s = 1; t->syncpending != 0 && s <= NSIG; s++) {
		if (!take(t, s, &si) || si.code == SI_TKILL)
			continue;
		signal_unmark(&si);
		if (sys3(__NR_rt_sigqueueinfo, t->pid, s, &si) != 0)
			sys2(__NR_kill, t->pid, s);
	}
}

/*
 * Signals of SYNC_SIGS come before all others that are pending.  That makes a
 * difference where they end the process, so these do so before the kernel
 * delivers others: sync are those that are blocked from now on.
 */
void
signal_sync_die(struct tarea *t, uint64_t sync)
{
	uint64_t ready = t->syncpending & ~sync;
	int sig;

	for (; ready != 0; ready &= ready - 1) {
		sig = __builtin_ctzll(ready) + 1;
		if (t->act->of[sig].handler == 0)
			signal_die(t, sig);
	}
}

/* What was sent and is blocked: to the kernel again, which blocks it now. */
void
signal_send_pending(struct tarea *t)
{
	struct ksiginfo si;
	int s;

	for (s = 1; t->syncpending != 0 && s <= NSIG; s++)
		if (take(t, s, &si))
			send_again(t, s, &si);
}

/* They wait in the kernel, where our handler is: it does not drop them. */
void
signal_take_ignored(const struct tarea *t, uint64_t blocked)
{
	static const uint64_t at_once[2];	/* a timespec */
	uint64_t set = blocked &
	    __atomic_load_n(&t->syncignored, __ATOMIC_SEQ_CST);

	while (set != 0 &&
	    sys4(__NR_rt_sigtimedwait, &set, NULL, at_once, 8) > 0)
		;
}

/* A synchronous signal that was sent, and is blocked no more. */
void
signal_sync_pending(struct tarea *t)
{
	uint64_t ready = t->syncpending & ~t->syncblocked;
	int sig;

	t->synclate = 0;
	if (ready == 0 || t->raise)
		return;
	sig = __builtin_ctzll(ready) + 1;
	if (take(t, sig, &t->raised))
		t->raise = (uint32_t)sig;
}
