/*
 * thread - the ways in which threads and processes begin and end
 *
 * A child of fork is let go from its own copy of everything.  A child of vfork
 * gets an area, to be let go from.  Any other child that shares the memory runs
 * translated: it has its area as a thread has, and what it does is told.
 */
#include "contexts.h"
#include "kinds.h"
#include "limits.h"
#include "queue.h"
#include "runtime.h"
#include "signals.h"
#include "threads.h"

/* The child's state is its parent's, but for what clone says. */
static void
inherit(struct tarea *c, struct tarea *t, uint64_t stack, uint64_t tls,
    uint64_t flags)
{
	unsigned r;

	for (r = 0; r < 16; r++)
		c->gpr[r] = t->gpr[r];
	c->gpr[0] = 0;
	if (stack != 0)
		c->gpr[4] = stack;
	c->pc = t->pc;
	c->rflags = t->rflags;
	c->df = t->df;
	c->fsbase = flags & CLONE_SETTLS ? tls : t->fsbase;
	c->gsbase = t->gsbase;
	/* made within a window, it is in one until its end */
	c->window = t->window != 0 ? WINDOW_OPEN : 0;
	c->due = (uint64_t)window_left(t);
	c->syncblocked = t->syncblocked;
	if (flags & CLONE_VFORK)
		c->altstack = t->altstack;
	c->pid = flags & CLONE_THREAD ? t->pid : 0;
	c->slot->pid = c->pid;
	if (flags & CLONE_SIGHAND)
		signal_share_actions(c, t);
	else
		signal_copy_actions(c, t);
	/* where both are set, these are t's, and the kernel refuses the call */
	if ((flags & CLONE_CLEAR_SIGHAND) && !(flags & CLONE_SIGHAND))
		signal_clear_actions(c);
}

/* Behind a filter, which may forbid to ask for it, its parent tells it. */
static uint32_t
own_tid(const struct tarea *t)
{
	uint32_t tid;

	if (!rt.ctl->polling)
		return (uint32_t)sys0(__NR_gettid);
	while ((int32_t)(tid = __atomic_load_n(&t->slot->tid,
	    __ATOMIC_SEQ_CST)) < 0)
		__builtin_ia32_pause();
	return tid;
}

/*
 * A new thread's first step, on its own area's stack.  Behind a filter the
 * return from a trap sets its stack for handlers, and the guest's mask.
 */
void
thread_start(struct tarea *t)
{
	t->tid = own_tid(t);
	t->slot->tid = t->tid;
	if (t->pid == 0)
		t->pid = t->tid;
	signal_install_all(t);
	queue_put(t, Q_THREAD, t->tid, 0);
	buffer_first(t);
	if (rt.ctl->polling) {
		t->trap = TRAP_BEGIN;
		rt_trap(t);
	}
	signal_thread(t, t->start_mask - 1);
	t->start_mask = 0;
	dispatch_go(t, ~0ull);
	rt_enter(t);
}

/* Before a call that makes a process: will it be followed? */
static bool
will_follow(struct tarea *t)
{
	t->slot->child = CHILD_HELD;
	return (rt.boot.flags & BOOT_FOLLOW) && !rt.ctl->polling;
}

/*
 * Have the child followed.  One that was copied waits in hold() until it is;
 * where it cannot be, it is told to go on natively, and has heard that before
 * the next one is made.
 */
static void
tell_child(struct tarea *t, long pid)
{
	uint64_t arg[4] = { (uint64_t)pid, 0, 0, 0 };
	unsigned tries;

	if (ask(t, REQ_CHILD, arg) == 0 && t->slot->ret[0] == 0)
		return;
	__atomic_store_n(&t->slot->child, CHILD_NATIVE, __ATOMIC_SEQ_CST);
	futex_wake(&t->slot->child, 1);
	for (tries = 0; tries < 10 && __atomic_load_n(&t->slot->child,
	    __ATOMIC_SEQ_CST) == CHILD_NATIVE; tries++)
		futex_wait(&t->slot->child, CHILD_NATIVE);
}

/*
 * A child that was copied, until it is taken over: everything is the guest's
 * but the general registers, which are in rt.boot.  Returns where it is not.
 */
static void
hold(struct tarea *t)
{
	struct boot *b = &rt.boot;
	uint32_t *child = &t->slot->child;
	unsigned r;

	signal_guest_stack(t);
	sys2(__NR_prctl, PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	signal_restore_actions(t, true);
	for (r = 0; r < 16; r++)
		b->at.gpr[r] = t->gpr[r];
	b->at.pc = t->pc;
	b->at.rflags = (t->rflags & ~X86_EFLAGS_DF) | t->df << 10;
	b->at.fsbase = t->fsbase;
	b->at.gsbase = t->gsbase;
	b->at.sigmask = (t->start_mask - 1) | t->syncblocked;
	b->at.window = t->window;
	b->at.due = (uint64_t)window_left(t);
	__atomic_fetch_or(&b->flags, BOOT_HELD, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(child, __ATOMIC_SEQ_CST) == CHILD_HELD &&
	    !rt.ctl->letgo && !trace_died())
		futex_wait(child, CHILD_HELD);
	__atomic_store_n(child, CHILD_GONE, __ATOMIC_SEQ_CST);
	futex_wake(child, 1);
	signal_ready_to_go(t);
}

/*
 * A child process goes on natively.  One that shares its parent's memory, or
 * that its parent waits for, is followed from its exec on, seen by ptrace.
 */
static void __attribute__((noreturn))
go_natively(struct tarea *t)
{
	uint64_t arg[4] = { 0, 1, 0, 0 };

	t->bufend = 0;
	t->child = 1;
	if (!rt.ctl->polling)
		limits_give_back();
	if (t->shares) {
		arg[0] = (uint64_t)sys0(__NR_getpid);
		sys2(__NR_prctl, PR_SET_PTRACER, PR_SET_PTRACER_ANY);
		ask(t, REQ_CHILD, arg);
		contexts_rest(t);	/* from here on natively */
	}
	signal_install_all(t);	/* the trap needs ours */
	signal_restore_actions(t, false);
	t->trap = TRAP_LETGO;
	rt_trap(t);
}

/* One that shares memory has its parent's stack for handlers until now. */
void
thread_child(struct tarea *t)
{
	struct kstack st = our_stack(t);

	sys2(__NR_sigaltstack, &st, NULL);
	go_natively(t);
}

struct clone_call {
	uint64_t flags, stack, tls;
	uint64_t second;	/* the call's second argument; of clone3 */
	uint64_t size;		/* what the kernel gets instead */
	struct clone_args args;
	uint64_t more[21];	/* what newer kernels may take */
	bool is3;
};

/* Is the memory of zeros?  1 or 0; or EFAULT. */
static long
is_zero(uint64_t at, uint64_t end)
{
	uint64_t words[8], or, n;
	unsigned i;

	for (; at < end; at += n) {
		n = end - at < sizeof words ? end - at : sizeof words;
		memset(words, 0, sizeof words);
		if (rt_copy(words, (void *)at, n) < 0)
			return -EFAULT;
		for (i = 0, or = 0; i < 8; i++)
			or |= words[i];
		if (or != 0)
			return 0;
	}
	return 1;
}

/*
 * clone3 takes arguments of up to a page: what a kernel does not know has to be
 * 0, and more than we have room for none knows.  1: the kernel has the answer.
 */
static long
read_args(struct tarea *t, struct clone_call *h)
{
	const uint64_t most = sizeof h->args + sizeof h->more;
	const uint64_t top = 1ull << (rt.boot.addrbits - 1);
	uint64_t at = t->gpr[7];
	long zero;

	if (h->size < 64 || h->size > PAGE)
		return 1;
	zero = h->size <= most ? 1 : is_zero(at + most, at + h->size);
	if (zero != 1)
		return zero == 0 ? -E2BIG : zero;
	h->size = h->size < most ? h->size : most;
	if (rt_copy(&h->args, (void *)at, h->size) < 0)
		return -EFAULT;
	return (h->args.stack == 0) != (h->args.stack_size == 0) ||
	    h->args.stack >= top || h->args.stack_size > top - h->args.stack;
}

/* What the call asks for; negative: an error to give back. */
static long
read_call(struct tarea *t, struct clone_call *h)
{
	long r = 0;

	memset(h, 0, sizeof *h);
	h->second = h->size = t->gpr[6];
	if (t->gpr[0] == __NR_vfork)
		h->flags = CLONE_VM | CLONE_VFORK | SIG_CHLD;
	else if (t->gpr[0] == __NR_fork)
		h->flags = SIG_CHLD;
	else if (t->gpr[0] == __NR_clone) {
		h->flags = (uint32_t)t->gpr[7];	/* the kernel's view */
		h->stack = t->gpr[6];
		h->tls = t->gpr[8];
	} else {
		h->is3 = true;
		r = read_args(t, h);
		h->flags = h->args.flags;
		h->stack = h->args.stack + h->args.stack_size;
		h->tls = h->args.tls;
	}
	return r;
}

/* Have all buried that were killed. */
static void
bury(struct tarea *t)
{
	uint64_t arg[4] = { 0, 0, 0, 0 };

	if (rt.ctl->sharing != 0)
		ask(t, REQ_BURY, arg);
}

#define BURY_EACH 64u	/* processes that share the memory */

/* An area for a child; or for a process that shares the memory. */
static struct tarea *
child_new(struct tarea *t, bool is_process)
{
	static uint32_t n;
	uint32_t most = rt.ctl->sharing;
	struct tarea *c;

	if (is_process && __atomic_fetch_add(&n, 1, __ATOMIC_SEQ_CST) %
	    BURY_EACH == BURY_EACH - 1)
		bury(t);
	area_free_dead(t);
	c = area_new(0);
	if (c == NULL) {
		bury(t);
		area_free_dead(t);
		c = area_new(0);
	}
	if (c != NULL && is_process)
		while (most <= c->slotno && !__atomic_compare_exchange_n(
		    &rt.ctl->sharing, &most, c->slotno + 1, 0,
		    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			;
	return c;
}

#define CLONE_STACK 16384u	/* of a child that clone3 makes */

/* clone3's arguments: the child begins on its area's stack.  Their address. */
static uint64_t
stack_args(struct clone_call *h, const struct tarea *c)
{
	h->args.stack = (uint64_t)c - T_OFF + T_STACK_TOP - CLONE_STACK;
	h->args.stack_size = CLONE_STACK;
	return (uint64_t)&h->args;
}

static long
clone_thread(struct tarea *t, struct clone_call *h, uint64_t mask)
{
	bool is_process = !(h->flags & CLONE_THREAD) || t->pid != rt.pid;
	struct tarea *c = child_new(t, is_process);
	uint64_t arg = t->gpr[7];
	uint32_t none;
	struct slot *s;
	long r;

	if (c == NULL)
		return -EAGAIN;
	s = c->slot;
	none = s->tid;
	inherit(c, t, h->stack, h->tls, h->flags);
	c->gpr[6] = h->second;
	c->start_mask = mask + 1;
	if (h->is3)
		arg = stack_args(h, c);
	table_empty(t);
	buffer_publish(t, Q_RECORDS, 0, 0);
	if (rt.nthread == 2)
		dispatch_share(t);
	r = rt_clone_thread(t, c, arg);
	if (r < 0)
		area_free(t, c);
	else	/* it may be killed before it knows, or have ended */
		__atomic_compare_exchange_n(&s->tid, &none, (uint32_t)r, 0,
		    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return r;
}

/*
 * A child that runs natively needs handlers of its own: it puts the guest's in
 * the place of ours, which would be its parent's, too.
 */
static void
own_handlers(struct tarea *t, struct clone_call *h)
{
	if (!(h->flags & CLONE_SIGHAND) || (h->flags & CLONE_CLEAR_SIGHAND))
		return;
	h->flags &= ~(uint64_t)CLONE_SIGHAND;
	h->args.flags &= ~(uint64_t)CLONE_SIGHAND;
	if (!h->is3)
		t->gpr[7] &= ~(uint64_t)CLONE_SIGHAND;
}

/* A child with this memory but a process of its own. */
static long
clone_sharing(struct tarea *t, struct clone_call *h, uint64_t mask)
{
	struct tarea *c = child_new(t, false);
	uint64_t saved[2] = { t->gpr[6], t->gpr[7] };
	long r;

	if (c == NULL)
		return -EAGAIN;
	own_handlers(t, h);
	inherit(c, t, h->stack, h->tls, h->flags);
	c->gpr[6] = h->second;
	c->start_mask = mask + 1;
	c->shares = (uint64_t)will_follow(t);
	if (h->is3)
		t->gpr[7] = stack_args(h, c);
	else if (t->gpr[0] == __NR_clone)
		t->gpr[6] = c->stack;
	contexts_rest(t);
	r = rt_clone_vfork(t, c);
	contexts_resume(t);
	t->gpr[6] = saved[0];
	t->gpr[7] = saved[1];
	if (r < 0 || (h->flags & CLONE_VFORK))
		area_free(t, c);
	return r;
}

/*
 * A child with a copy of this memory.  With CLONE_VFORK we sleep until it execs
 * or ends, so it cannot wait to be taken over: it is followed from its exec on.
 */
static long
clone_copying(struct tarea *t, struct clone_call *h, uint64_t mask)
{
	bool follow = will_follow(t), sleeps = (h->flags & CLONE_VFORK) != 0;
	uint64_t gpr[16];
	long r;

	memcpy(gpr, t->gpr, sizeof gpr);
	/* the child stays on this stack's copy until it is let go */
	if (h->is3) {
		h->args.stack = h->args.stack_size = 0;
		gpr[7] = (uint64_t)&h->args;
	} else {
		gpr[6] = 0;
	}
	if (sleeps)
		contexts_rest(t);
	r = sys_guest(gpr[0], gpr);
	if (r != 0 && sleeps) {
		ask_settle(t);
		contexts_resume(t);
	}
	if (r > 0 && follow && !sleeps)
		tell_child(t, r);
	if (r != 0)
		return r;
	t->held = 0;
	t->gpr[0] = 0;
	t->gpr[1] = t->pc;
	t->gpr[6] = h->second;
	if (h->stack != 0)
		t->gpr[4] = h->stack;
	if (h->flags & CLONE_SETTLS)
		t->fsbase = h->tls;
	if (h->flags & CLONE_CLEAR_SIGHAND)
		signal_clear_actions(t);
	t->start_mask = mask + 1;
	if (follow && !sleeps)
		hold(t);
	t->shares = follow && sleeps;
	go_natively(t);
}

/* fork, vfork, clone, clone3; the result for the parent's rax. */
long
thread_clone(struct tarea *t)
{
	struct clone_call h;
	uint64_t all = ~SYNC_SIGS, mask = 0;
	long r = read_call(t, &h);

	if (r == 1)
		return guest_syscall(t, t->gpr);
	if (r < 0)
		return r;
	/* where we block it, the kernel wakes another thread with it: EINTR */
	if (t->act->of[SIG_CHLD].handler <= 1)
		all &= ~SIGBIT(SIG_CHLD);
	sys4(__NR_rt_sigprocmask, SIG_SETMASK, &all, &mask, 8);
	if (t->held)
		mask = t->keptmask & ~SYNC_SIGS;
	t->gpr[6] = h.size;
	if (t->pending)
		r = SYS_ABORTED;
	else if ((h.flags & CLONE_THREAD) ||
	    ((h.flags & CLONE_VM) && !(h.flags & CLONE_VFORK)))
		r = clone_thread(t, &h, mask);
	else if (h.flags & CLONE_VM)
		r = clone_sharing(t, &h, mask);
	else
		r = clone_copying(t, &h, mask);
	t->gpr[6] = h.second;
	if (!t->pending && !t->held)
		sys4(__NR_rt_sigprocmask, SIG_SETMASK, &mask, NULL, 8);
	return r;
}

/* It hands over what it has; true: no other thread is left. */
static bool
hand_over(struct tarea *t)
{
	uint64_t all = ~0ull;

	if (!rt.ctl->polling)
		sys4(__NR_rt_sigprocmask, SIG_SETMASK, &all, NULL, 8);
	signal_unhold(t);
	signal_put_back(t);
	if (t->skips == SKIP_OUT)
		buffer_back(t);
	contexts_step(t, MOVE_END, t->pc);
	table_empty(t);
	if (t->bufend != 0)
		queue_buffer(t);
	t->bufend = 0;
	contexts_rest(t);
	signal_sync_leave(t);
	area_forget(t, t->slotno);
	return __atomic_sub_fetch(&rt.nthread, 1, __ATOMIC_SEQ_CST) == 0;
}

/*
 * Behind a filter no call of ours is sure to pass, so the memory stays.  The
 * slot has another thread only once its counts are told as this one's.
 */
static uint64_t
give_slot_back(struct tarea *t)
{
	if (rt.boot.countbytes != 0 && !trace_died())
		queue_ended(t);
	else
		slot_free(t->slot);
	if (rt.ctl->polling)
		return 0;
	limits_move(0);
	return area_to_free(t);
}

uint64_t
thread_leave(struct tarea *t)
{
	hand_over(t);
	return give_slot_back(t);
}

void
thread_exit(struct tarea *t, long nr, long status)
{
	uint64_t bytes;

	if (hand_over(t)) {
		rt.ctl->status = (uint32_t)(status & 0xff) << 8;
		serve_ended();
		sys1(nr, status);
	}
	bytes = give_slot_back(t);
	while (rt.ctl->polling)
		sys1(nr, status);
	rt_thread_exit((uint64_t)t - T_OFF, bytes, status, nr);
}
