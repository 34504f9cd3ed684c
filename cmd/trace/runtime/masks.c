/*
 * masks - the guest's signal mask, and its alternate stack
 *
 * The kernel has the mask, but for SYNC_SIGS, which it never blocks while code
 * runs; the alternate stack that it has is ours, and the guest's is kept.
 */
#include "runtime.h"
#include "signals.h"

void
signal_set_mask(uint64_t mask)
{
	sys4(__NR_rt_sigprocmask, SIG_SETMASK, &mask, NULL, 8);
}

/* A thread begins: its stack for handlers, then the guest's mask. */
void
signal_thread(struct tarea *t, uint64_t mask)
{
	struct kstack st = our_stack(t);

	if (is_error(sys2(__NR_sigaltstack, &st, NULL)))
		panic("sigaltstack is forbidden");
	t->syncblocked = mask & SYNC_SIGS;
	signal_set_mask(mask & ~SYNC_SIGS);
}

void
signal_guest_stack(const struct tarea *t)
{
	struct kstack st = t->altstack;

	if (st.size == 0)
		st.flags = (st.flags & SS_AUTODISARM) | SS_DISABLE;
	sys2(__NR_sigaltstack, &st, NULL);
}

void
signal_ready_to_go(struct tarea *t)
{
	struct kstack st = our_stack(t);

	sys2(__NR_sigaltstack, &st, NULL);
	signal_install(t->act, SIG_OURS, 0);
}

/* rt_sigprocmask(how, set, old, size): the kernel's, but for SYNC_SIGS. */
long
signal_mask(struct tarea *t)
{
	uint64_t how = (uint32_t)t->gpr[7], set = t->gpr[6], old = t->gpr[2];
	uint64_t new = 0, was = 0, sync = t->syncblocked, regs[16];
	long r;

	if (t->gpr[10] != 8)
		return -EINVAL;
	if (set != 0) {
		if (rt_copy(&new, (void *)set, 8) < 0)
			return -EFAULT;
		if (how > SIG_SETMASK)
			return -EINVAL;
		sync = mask_with(how, sync, new) & SYNC_SIGS;
		new &= ~SYNC_SIGS;
	}
	if (set != 0)
		signal_sync_die(t, sync);
	memcpy(regs, t->gpr, sizeof regs);
	regs[6] = set != 0 ? (uint64_t)&new : 0;
	regs[2] = (uint64_t)&was;
	r = t->held ? signal_held_mask(t, how, set != 0 ? &new : NULL, &was) :
	    guest_syscall(t, regs);
	if (r < 0)
		return r;
	was = (was & ~SYNC_SIGS) | t->syncblocked;
	if (set != 0) {
		t->syncblocked = sync;
		if (t->pending || t->held)
			t->keptmask = (t->keptmask & ~SYNC_SIGS) | sync;
	}
	if (old != 0 && rt_copy((void *)old, &was, 8) < 0)
		return -EFAULT;
	return 0;
}

/* One that is disarmed while it is in use never counts as in use. */
bool
signal_on_stack(const struct tarea *t, uint64_t sp)
{
	return !(t->altstack.flags & SS_AUTODISARM) &&
	    is_within(&t->altstack, sp);
}

long
signal_set_stack(struct tarea *t, struct kstack new)
{
	uint32_t mode = new.flags & ~SS_AUTODISARM;

	if (signal_on_stack(t, t->gpr[4]))
		return -EPERM;
	if (mode != 0 && mode != SS_DISABLE && mode != SS_ONSTACK)
		return -EINVAL;
	if (mode == SS_DISABLE)
		new.sp = new.size = 0;
	else if (new.size < rt.boot.minframe)
		return -ENOMEM;
	new.flags &= SS_AUTODISARM | SS_ONSTACK;
	t->altstack = new;
	return 0;
}

/* sigaltstack(new, old): ours is the kernel's, the guest's is kept here. */
long
signal_stack(struct tarea *t)
{
	struct kstack new, was = t->altstack;
	bool on = signal_on_stack(t, t->gpr[4]);
	long r;

	if (t->gpr[7] != 0) {
		if (rt_copy(&new, (void *)t->gpr[7], sizeof new) < 0)
			return -EFAULT;
		r = signal_set_stack(t, new);
		if (r != 0)
			return r;
	}
	if (t->gpr[6] != 0) {
		was.flags = (was.flags & SS_AUTODISARM) |
		    (was.size == 0 ? SS_DISABLE : on ? SS_ONSTACK : 0);
		was.pad = 0;
		if (rt_copy((void *)t->gpr[6], &was, sizeof was) < 0)
			return -EFAULT;
	}
	return 0;
}
