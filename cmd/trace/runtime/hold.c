/*
 * hold - delay signals so that the guest makes progress
 *
 * If signals come faster than they can be delivered, as from a timer of 10 us,
 * the next one has come whenever a handler returns, and the interrupted code
 * would never run.  So such a signal is HELD for some blocks: all asynchronous
 * signals stay blocked in the kernel, as while one is kept, and the guest runs
 * fragments that are not linked (MODE_ONCE), so that each returns to the
 * runtime.  A system call is made and then ends the delay; a call that may wait
 * is interrupted by an alarm of ours, as the signal would interrupt it.
 *
 * A timer's signal is held at once, because no program can know when exactly
 * it comes.  It only knows whether that was before a call that sets or stops
 * the timer, so behind such a call some in a row are delivered first.  Other
 * signals may have been sent while the handler ran, and must then come before
 * anything else: of these many in a row are delivered.
 */
#include <linux/time.h>

#include "runtime.h"
#include "signals.h"
#include "state.h"

#define OWED_BLOCKS 16u
#define MOST_TURNS 1000u
#define TIMER_TURNS 32u
#define ALARM_NS 50000
#define SI_TIMER (-2)
#define SIGEV_THREAD_ID 4

static bool
is_timer(int sig, const struct ksiginfo *info)
{
	return info->code == SI_TIMER || (info->code == SI_KERNEL &&
	    (sig == SIG_ALRM || sig == SIG_VTALRM || sig == SIG_PROF));
}

/*
 * Does a signal come too soon: a handler has returned, and the guest has made
 * no progress since?
 */
static bool
comes_too_soon(struct tarea *t, int sig, const struct ksiginfo *info)
{
	if (t->owed == 0)
		return false;
	if (!is_timer(sig, info))
		return ++t->turns > MOST_TURNS;
	if (t->pc != t->timerpc || t->gpr[4] != t->timersp ||
	    t->timerturns == 0)
		return true;
	t->timerturns--;
	return false;
}

/* If that was a handler: else a signal that is put back would never come. */
void
signal_owe(struct tarea *t)
{
	if (!t->handled)
		return;
	t->handled = 0;
	t->owed = OWED_BLOCKS;
	if (t->pc == t->backpc && t->gpr[4] == t->backsp)
		return;
	t->backpc = t->pc;
	t->backsp = t->gpr[4];
	t->turns = 0;
}

void
signal_called(struct tarea *t, uint64_t nr)
{
	if (t->held)
		t->owed = 0;
	/* back where handlers return to, but by a call: that is progress */
	if (nr != __NR_rt_sigreturn && t->pc == t->backpc &&
	    t->gpr[4] == t->backsp)
		t->turns = 0;
	if (nr != __NR_setitimer && nr != __NR_alarm &&
	    nr != __NR_timer_settime && nr != __NR_timer_delete)
		return;
	t->timerpc = t->pc;
	t->timersp = t->gpr[4];
	t->timerturns = TIMER_TURNS;
}

bool
signal_hold(struct tarea *t)
{
	if (!comes_too_soon(t, (int)t->pending, &t->kept))
		return false;
	t->owed--;
	t->held = t->pending;
	t->pending = 0;
	return true;
}

void
signal_unhold(struct tarea *t)
{
	if (t->held) {
		t->pending = t->held;
		t->held = 0;
	} else {
		t->owed = 0;
	}
}

bool
signal_hold_here(struct tarea *t, int sig, const struct ksiginfo *info,
    const struct kucontext *uc)
{
	if (t->held || t->owed == 0 || (SYNC_SIGS & SIGBIT(sig)) ||
	    state_advanced(t, uc) || !comes_too_soon(t, sig, info))
		return false;
	t->pending = (uint32_t)sig;
	memcpy(&t->kept, info, sizeof *info);
	t->handlermask = 0;
	return true;
}

bool
signal_hold_call(struct tarea *t, uint64_t nr)
{
	struct ksigaction a;

	if (!t->held)
		return false;
	if (rt.ctl->polling && nr != __NR_rt_sigreturn)
		return syscall_never_waits(nr);
	switch (nr) {
	case __NR_rt_sigsuspend:	/* these bring a mask of their own */
	case __NR_ppoll:
	case __NR_pselect6:
	case __NR_epoll_pwait:
	case __NR_epoll_pwait2:
	case __NR_execve:
	case __NR_execveat:
	case __NR_seccomp:
		return false;
	case __NR_prctl:
		return (uint32_t)t->gpr[7] != PR_SET_SECCOMP;
	case __NR_rt_sigaction:	/* before the signal would become deadly */
		return (uint32_t)t->gpr[7] != t->held || t->gpr[6] == 0 ||
		    rt_copy(&a, (void *)t->gpr[6], sizeof a) < 0 ||
		    a.handler != 0;
	default:
		return true;
	}
}

/*
 * Send the kept signal again: the kernel blocks it now.  It stays kept if we
 * may make no calls or the kernel refuses.
 */
void
signal_put_back(struct tarea *t)
{
	struct ksiginfo *si = &t->kept;
	long r;

	if (!t->pending || rt.ctl->polling)
		return;
	if (si->code == SI_TKILL)
		r = sys4(__NR_rt_tgsigqueueinfo, t->pid, t->tid, t->pending,
		    si);
	else
		r = sys3(__NR_rt_sigqueueinfo, t->pid, t->pending, si);
	if (r == 0)
		t->pending = 0;
}

long
signal_held_mask(struct tarea *t, uint64_t how, const uint64_t *set,
    uint64_t *was)
{
	uint64_t new = t->keptmask;

	*was = new;
	if (set == NULL)
		return 0;
	new = mask_with(how, new, *set) &
	    ~(SIGBIT(SIG_KILL) | SIGBIT(SIG_STOP));
	t->keptmask = new;
	if (!(new & SIGBIT(t->held)))
		return 0;
	signal_unhold(t);
	signal_put_back(t);
	new &= ~SYNC_SIGS;
	if (!t->pending)
		sys4(__NR_rt_sigprocmask, SIG_SETMASK, &new, NULL, 8);
	return 0;
}

bool
signal_is_alarm(const struct ksiginfo *info)
{
	return info->code == SI_TIMER && info->rest[0] == (uint64_t)blob;
}

static void
set_alarm(const struct tarea *t)
{
	static const int64_t once[4] = { 0, 0, 0, ALARM_NS };

	sys4(__NR_timer_settime, t->alarm - 1, 0, once, NULL);
}

/*
 * It came before the call waits, so it comes again. It does not repeat by
 * itself: where a signal takes longer than ALARM_NS, each would interrupt the
 * handler of the last one at its first instruction, until no stack is left.
 */
void
signal_alarm_again(const struct tarea *t)
{
	if (t->alarm != 0)
		set_alarm(t);
}

/*
 * A call that may wait, made while a held signal would end the wait: our alarm
 * ends it instead.
 */
long
signal_held_call(struct tarea *t)
{
	struct {
		uint64_t value;
		int32_t signo, notify, tid, pad[11];
	} event = { (uint64_t)blob, SIG_OURS, SIGEV_THREAD_ID,
		(int32_t)t->tid, { 0 } };
	int32_t id;
	long r;

	if (sys3(__NR_timer_create, CLOCK_MONOTONIC, &event, &id) != 0)
		return SYS_ABORTED;
	signal_install(t->act, SIG_OURS,
	    t->act->of[t->held].flags & SA_RESTART);
	t->alarm = (uint32_t)id + 1;
	set_alarm(t);
	r = guest_syscall(t, t->gpr);
	t->alarm = 0;
	sys1(__NR_timer_delete, id);
	return r;
}
