/*
 * sync - signals of SYNC_SIGS that were sent, and that the guest blocks
 *
 * Instructions raise these as well, so the kernel never blocks them while a
 * thread runs, and gives one that was sent to any thread.  A thread that blocks
 * it passes it on to another that does not, if it was for the process; else it
 * keeps it.  While a thread makes a call the kernel blocks what the guest does:
 * then what is kept, by others for the process as well, waits there, where the
 * call may look for it.
 */
#include "queue.h"
#include "runtime.h"
#include "signals.h"
#include "threads.h"

static unsigned
sync_number(int sig)
{
	return sig == SIG_ILL ? 0 : sig == SIG_TRAP ? 1 : sig == SIG_BUS ? 2 :
	    sig == SIG_FPE ? 3 : 4;
}

/* Was it sent to the process, not to the thread? */
static bool
is_for_process(const struct ksiginfo *info)
{
	return info->code != SI_TKILL;
}

void
signal_sync_keep(struct tarea *t, int sig, const struct ksiginfo *info)
{
	t->syncinfo[sync_number(sig)] = *info;
	__atomic_fetch_or(&t->syncpending, SIGBIT(sig), __ATOMIC_SEQ_CST);
	if (is_for_process(info))
		__atomic_fetch_or(&rt.synckept, SIGBIT(sig), __ATOMIC_SEQ_CST);
}

void
signal_sync_pass(struct tarea *t, int sig, const struct ksiginfo *info)
{
	if (!is_for_process(info) || !area_pass_signal(t, sig, info, false))
		signal_sync_keep(t, sig, info);
}

void
signal_sync_take(struct tarea *t, struct tarea *from, uint64_t sigs)
{
	uint64_t bit, left = from->syncpending & sigs;
	struct ksiginfo si;
	int sig;

	for (; left != 0; left &= left - 1) {
		sig = __builtin_ctzll(left) + 1;
		bit = SIGBIT(sig);
		si = from->syncinfo[sync_number(sig)];
		if (!is_for_process(&si))
			continue;
		if (__atomic_fetch_and(&from->syncpending, ~bit,
		    __ATOMIC_SEQ_CST) & bit)
			signal_sync_keep(t, sig, &si);
	}
}

void
signal_sync_leave(struct tarea *t)
{
	const struct ksiginfo *si;
	uint64_t left = t->syncpending;
	int sig;

	for (; left != 0; left &= left - 1) {
		sig = __builtin_ctzll(left) + 1;
		si = &t->syncinfo[sync_number(sig)];
		if (is_for_process(si))
			area_pass_signal(t, sig, si, true);
	}
	t->syncpending = 0;
}

/* What others have kept for the process of these is the thread's to see. */
void
signal_sync_take_all(struct tarea *t, uint64_t sigs)
{
	if (__atomic_load_n(&rt.synckept, __ATOMIC_SEQ_CST) & sigs)
		area_take_signals(t, sigs);
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
	int s;

	signal_sync_take_all(t, t->syncblocked);
	for (s = 1; t->syncpending != 0 && s <= NSIG; s++) {
		if (!(t->syncpending & SIGBIT(s)))
			continue;
		__atomic_fetch_and(&t->syncpending, ~SIGBIT(s),
		    __ATOMIC_SEQ_CST);
		/* if it were the process's again, another thread got it */
		sys4(__NR_rt_tgsigqueueinfo, t->pid, t->tid, s,
		    &t->syncinfo[sync_number(s)]);
	}
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

/* Pass on what was kept without a look at who might take it. */
static void
pass_late(struct tarea *t)
{
	uint64_t left = t->syncpending & t->syncblocked;
	const struct ksiginfo *si;
	int sig;

	t->synclate = 0;
	for (; left != 0; left &= left - 1) {
		sig = __builtin_ctzll(left) + 1;
		si = &t->syncinfo[sync_number(sig)];
		if (is_for_process(si) && area_pass_signal(t, sig, si, false))
			__atomic_fetch_and(&t->syncpending, ~SIGBIT(sig),
			    __ATOMIC_SEQ_CST);
	}
}

/* A synchronous signal that was sent, and is blocked no more. */
void
signal_sync_pending(struct tarea *t)
{
	uint64_t ready = t->syncpending & ~t->syncblocked;
	int sig;

	if (t->synclate)
		pass_late(t);
	if (ready == 0 || t->raise)
		return;
	sig = __builtin_ctzll(ready) + 1;
	__atomic_fetch_and(&t->syncpending, ~SIGBIT(sig), __ATOMIC_SEQ_CST);
	t->raised = t->syncinfo[sync_number(sig)];
	t->raise = (uint32_t)sig;
}
