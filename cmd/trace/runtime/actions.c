/*
 * actions - what the guest wants done with signals: its dispositions
 *
 * The kernel has them, with two exceptions: the signals that the processor
 * raises (SYNC_SIGS) are always ours, and a guest's handler is ours in its
 * stead.  So the area has all of them, shared as CLONE_SIGHAND says.
 */
#include "runtime.h"
#include "signals.h"
#include "threads.h"

static long
kernel_action(int sig, const struct ksigaction *act, struct ksigaction *old)
{
	return sys4(__NR_rt_sigaction, sig, act, old, 8);
}

/*
 * Install our handler.  SYNC_SIGS are blocked as it begins, or many that are
 * sent would each come before the last one's first instruction, and no stack
 * has room for that.  Behind a filter, which may forbid to unblock them, they
 * are not: our handlers write into the guest's memory, which may fault.
 */
void
signal_install(const struct actions *act, int sig, uint64_t flags)
{
	struct ksigaction a;

	a.handler = (uint64_t)rt_handler;
	a.flags = SA_SIGINFO | SA_ONSTACK | SA_RESTORER |
	    (flags & (SA_RESTART | SA_NOCLDSTOP | SA_NOCLDWAIT));
	a.restorer = (uint64_t)rt_restorer;
	a.mask = ALL_ASYNC;
	if (!act->unmasked)
		a.mask |= SYNC_SIGS;
	else if (SYNC_SIGS & SIGBIT(sig))
		a.flags |= SA_NODEFER;
	kernel_action(sig, &a, NULL);
}

/* The kernel has what the guest wants done with sig, unless it is ours. */
static long
give_action(const struct actions *act, int sig)
{
	const struct ksigaction *of = &act->of[sig];

	if (SYNC_SIGS & SIGBIT(sig))
		return 0;
	if (of->handler <= 1)
		return kernel_action(sig, of, NULL);
	signal_install(act, sig, of->flags);
	return 0;
}

/*
 * A thread that was killed with the lock may not have told the kernel yet: tell
 * it again.
 */
static void
lock_actions(struct tarea *t, struct actions *act)
{
	int s;

	if (!lock_take(t, &act->lock) || rt.ctl->polling)
		return;
	for (s = 1; s <= NSIG; s++)
		give_action(act, s);
}

/*
 * A filter is about to be installed (on), or was not: from now on our handlers
 * begin with SYNC_SIGS as they then need it.
 */
void
signal_filter(struct tarea *t, bool on)
{
	struct actions *act = t->act;
	int s;

	lock_actions(t, act);
	act->unmasked = on;
	for (s = 1; s <= NSIG; s++)
		if (act->of[s].handler > 1 || (SYNC_SIGS & SIGBIT(s)))
			signal_install(act, s, act->of[s].flags);
	lock_give(&act->lock);
}

/* What the guest wants done with sig, which now comes once more. */
struct ksigaction
signal_take_action(struct tarea *t, int sig)
{
	struct ksigaction *of = &t->act->of[sig], a;

	lock_actions(t, t->act);
	a = *of;
	if ((a.flags & SA_RESETHAND) && a.handler > 1) {
		of->handler = 0;
		give_action(t->act, sig);
	}
	lock_give(&t->act->lock);
	return a;
}

void
signal_boot(void)
{
	int s;

	for (s = 1; s <= NSIG; s++) {
		if (is_error(kernel_action(s, NULL, &rt.act.of[s])))
			panic("rt_sigaction is forbidden");
		if (s == SIG_TRAP && (rt.boot.flags & BOOT_NOTRAP))
			rt.act.of[s].handler = 1;
		if (rt.act.of[s].handler > 1 || (SYNC_SIGS & SIGBIT(s)))
			signal_install(&rt.act, s, rt.act.of[s].flags);
	}
}

void
signal_share_actions(struct tarea *c, const struct tarea *t)
{
	c->act = t->act;
	__atomic_fetch_add(&c->act->users, 1, __ATOMIC_SEQ_CST);
}

void
signal_copy_actions(struct tarea *c, struct tarea *t)
{
	lock_actions(t, t->act);
	memcpy(c->ownact.of, t->act->of, sizeof c->ownact.of);
	lock_give(&t->act->lock);
	c->ownact.unmasked = t->act->unmasked;
	c->ownact.users = 1;
	c->act = &c->ownact;
}

/* As the kernel does: what is ignored stays so. */
void
signal_clear_actions(struct tarea *t)
{
	int s;

	for (s = 1; s <= NSIG; s++)
		if (t->act->of[s].handler > 1)
			memset(&t->act->of[s], 0, sizeof t->act->of[s]);
	t->cleared = 1;
}

void
signal_install_all(struct tarea *t)
{
	int s;

	for (s = 1; t->cleared && s <= NSIG; s++)
		if (SYNC_SIGS & SIGBIT(s))
			signal_install(t->act, s, 0);
	t->cleared = 0;
}

/*
 * The kernel's dispositions become the guest's; all: also SIG_OURS,
 * which letting go needs.
 */
void
signal_restore_actions(struct tarea *t, bool all)
{
	const struct ksigaction *of = t->act->of;
	int s;

	for (s = 1; s <= NSIG; s++)
		if ((all || s != SIG_OURS) && (of[s].handler > 1 ||
		    (SYNC_SIGS & SIGBIT(s))))
			kernel_action(s, &of[s], NULL);
}

void
signal_restore_ours(const struct actions *act)
{
	kernel_action(SIG_OURS, &act->of[SIG_OURS], NULL);
}

/*
 * exec resets handlers by itself, but what the guest ignores or blocks of
 * the synchronous signals must be so in the kernel too.
 */
void
signal_before_exec(struct tarea *t, uint64_t saved[2])
{
	uint64_t block = t->syncblocked;
	int s;

	saved[0] = 0;
	for (s = 1; s <= NSIG; s++)
		if ((SYNC_SIGS & SIGBIT(s)) && t->act->of[s].handler == 1) {
			kernel_action(s, &t->act->of[s], NULL);
			saved[0] |= SIGBIT(s);
		}
	saved[1] = block;
	if (block != 0)
		sys4(__NR_rt_sigprocmask, SIG_BLOCK, &block, NULL, 8);
	signal_send_pending(t);
}

void
signal_exec_failed(const struct tarea *t, const uint64_t saved[2])
{
	uint64_t unblock = saved[1];
	int s;

	for (s = 1; s <= NSIG; s++)
		if (saved[0] & SIGBIT(s))
			signal_install(t->act, s, 0);
	if (unblock != 0)
		sys4(__NR_rt_sigprocmask, SIG_UNBLOCK, &unblock, NULL, 8);
}

static bool
bad_signal(uint64_t sig)
{
	return sig < 1 || sig > NSIG;
}

/* rt_sigaction(sig, act, old, size) */
long
signal_action(struct tarea *t)
{
	uint64_t sig = (uint32_t)t->gpr[7], act = t->gpr[6], old = t->gpr[2];
	struct ksigaction new, was, *of;
	long r = 0;

	if (t->gpr[10] != 8)
		return -EINVAL;
	if (act != 0 && rt_copy(&new, (void *)act, sizeof new) < 0)
		return -EFAULT;
	if (bad_signal(sig) ||
	    (act != 0 && (sig == SIG_KILL || sig == SIG_STOP)))
		return -EINVAL;
	of = &t->act->of[sig];
	lock_actions(t, t->act);
	was = *of;
	if (act != 0) {
		new.mask &= ~(SIGBIT(SIG_KILL) | SIGBIT(SIG_STOP));
		new.flags &= SA_KNOWN;
		*of = new;
		if (new.handler == 1)
			area_drop_waiting(t, SYNC_SIGS & SIGBIT(sig));
		r = give_action(t->act, (int)sig);
	}
	lock_give(&t->act->lock);
	if (r == 0 && old != 0 && rt_copy((void *)old, &was, sizeof was) < 0)
		return -EFAULT;
	return r;
}
