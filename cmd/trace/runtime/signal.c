/*
 * signal - the guest's signals: taken, kept, and what it asks about them
 *
 * The kernel holds the guest's dispositions and mask, with two exceptions:
 * the signals that the processor raises (SYNC_SIGS) are always ours and never
 * blocked, and a guest's handler is ours in its stead.  Our handler runs on
 * the area's alternate stack.  Where it finds the thread:
 *
 *	in the cache      the map tells the guest's state: delivered at once
 *	at the trap       we asked for a frame: deliver, let go, or go native
 *	entering          all state is at home: delivered at once
 *	at a native pc    a jump to where no code is: the state is in the frame
 *	in the runtime    kept, all blocked, until dispatch_go looks
 */
#include "contexts.h"
#include "queue.h"
#include "runtime.h"
#include "signals.h"
#include "state.h"
#include "threads.h"

static long
kernel_action(int sig, const struct ksigaction *act, struct ksigaction *old)
{
	return sys4(__NR_rt_sigaction, sig, act, old, 8);
}

static uint64_t
set_mask(uint64_t mask)
{
	uint64_t old = 0;

	sys4(__NR_rt_sigprocmask, SIG_SETMASK, &mask, &old, 8);
	return old;
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

/* Who was killed with the lock may have told the kernel, or not yet. */
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

/* A thread begins: its stack for handlers, then the guest's mask. */
void
signal_thread(struct tarea *t, uint64_t mask)
{
	struct kstack st = { (uint64_t)t - T_OFF, 0, 0, T_ALTSTACK };

	if (is_error(sys2(__NR_sigaltstack, &st, NULL)))
		panic("sigaltstack is forbidden");
	t->syncblocked = mask & SYNC_SIGS;
	set_mask(mask & ~SYNC_SIGS);
}

/*
 * The kernel's dispositions become the guest's; all: also SIG_OURS,
 * which letting go needs.
 */
void
signal_restore_actions(struct tarea *t, int all)
{
	const struct ksigaction *of = t->act->of;
	int s;

	for (s = 1; s <= NSIG; s++)
		if ((all || s != SIG_OURS) && (of[s].handler > 1 ||
		    (SYNC_SIGS & SIGBIT(s))))
			kernel_action(s, &of[s], NULL);
}

/* The guest's alternate stack becomes the kernel's. */
void
signal_guest_stack(const struct tarea *t)
{
	struct kstack st = t->altstack;

	if (st.size == 0)
		st.flags = (st.flags & SS_AUTODISARM) | SS_DISABLE;
	sys2(__NR_sigaltstack, &st, NULL);
}

/* After signal_restore_actions(1): letting go is possible again. */
void
signal_ready_to_go(struct tarea *t)
{
	struct kstack st = { (uint64_t)t - T_OFF, 0, 0, T_ALTSTACK };

	sys2(__NR_sigaltstack, &st, NULL);
	signal_install(t->act, SIG_OURS, 0);
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

/* A signal that comes in our handler, whose mask is not the guest's. */
static bool
is_nested(const struct tarea *t, const struct kucontext *uc)
{
	return uc->rsp - ((uint64_t)t - T_OFF) <= T_ALTSTACK;
}

static void
keep(struct tarea *t, int sig, const struct ksiginfo *info,
    struct kucontext *uc)
{
	uint64_t ip = uc->rip;

	if (t->pending || is_nested(t, uc)) {
		if (!(SYNC_SIGS & SIGBIT(sig)))
			panic("a second signal while one is kept");
		signal_sync_keep(t, sig, info);
		t->synclate = 1;
		return;
	}
	t->pending = (uint32_t)sig;
	memcpy(&t->kept, info, sizeof *info);
	t->keptmask = uc->sigmask | t->syncblocked;
	t->handlermask = t->waitmask;
	uc->sigmask = ALL_ASYNC;
	if (ip >= (uint64_t)rt_sys_check && ip <= (uint64_t)rt_sys_insn)
		uc->rip = (uint64_t)rt_sys_abort;
	if (ip >= (uint64_t)rt_ret_check && ip <= (uint64_t)rt_ret_insn)
		uc->rip = (uint64_t)rt_ret_abort;
	if (ip > (uint64_t)rt_look_check && ip < (uint64_t)rt_look_end)
		uc->rip = (uint64_t)rt_look_check;
	if (ip > (uint64_t)rt_line_check && ip < (uint64_t)rt_line_end)
		uc->rip = (uint64_t)rt_line_check;
}

/* A signal was kept while the table was looked at: it comes now. */
static void
looked(struct tarea *t, struct kucontext *uc)
{
	uc->rip = t->look_ret;
	uc->eflags = t->rflags;		/* the trap leaves some undefined */
	state_take(t, uc);
	signal_deliver_kept(t, uc);
}

/*
 * 1: the trap flag's signal.  Virtual machines lose the bit that says so, once
 * in a million: then it looks like a breakpoint.
 */
static int
is_step(const struct tarea *t, int sig, const struct ksiginfo *info)
{
	if (sig == SIG_TRAP && info->code == TRAP_BRKPT)
		return t->over != 0 || t->tf || t->stepping;
	return sig == SIG_TRAP && info->code == TRAP_TRACE;
}

static int
in_runtime(uint64_t ip)
{
	return ip - (uint64_t)blob < (uint64_t)(rt_text_end - blob);
}

/* A fault in code of ours is repaired, or it is a bug. */
static void
fault_in_runtime(struct tarea *t, int sig, struct kucontext *uc)
{
	uint64_t ip = uc->rip, mask;

	if ((ip == (uint64_t)rt_copy_insn || ip == (uint64_t)rt_cpuid_insn) &&
	    (sig == SIG_SEGV || sig == SIG_BUS)) {
		uc->rip = (uint64_t)rt_copy_fault;
	} else if (sig == SIG_SEGV && (ip == (uint64_t)rt_returned ||
	    ip == (uint64_t)rt_ret_bad)) {
		/* the guest's frame was none; registers may be from it */
		mask = signal_guest_mask(t, uc);
		signal_unhold(t);
		signal_raise(t, SIG_SEGV, SI_KERNEL, 0);
		if (ip == (uint64_t)rt_ret_bad)
			signal_resume(t, uc, mask);
	} else {
		panic_fault(ip, uc->cr2, uc->rsp);
	}
}

/*
 * Alignment checks are the guest's, and records are not aligned: an
 * instruction of ours that was stopped by them is done alone, without them.
 * 1: nothing more to do.
 */
static int
alignment(struct tarea *t, int sig, const struct ksiginfo *info,
    struct kucontext *uc)
{
	int step = is_step(t, sig, info);

	if (t->over != 0) {
		uc->eflags = (uc->eflags & ~TRAP_FLAG) | t->over;
		t->over = 0;
		if (step && !(uc->eflags & TRAP_FLAG))
			return 1;
	}
	if (sig != SIG_BUS || info->code != BUS_ADRALN || !state_is_ours(uc))
		return 0;
	t->over = uc->eflags & (AC_FLAG | TRAP_FLAG);
	uc->eflags = (uc->eflags & ~AC_FLAG) | TRAP_FLAG;
	return 1;
}

/*
 * While the guest has its trap flag on, the real one is on in the cache, and
 * stops us behind instructions of ours, too.  1: no signal of the guest's.
 */
static int
trap_flag(struct tarea *t, struct kucontext *uc)
{
	if (!t->tf) {		/* the guest's popf has just set it */
		t->tf = 1;
		uc->eflags &= ~TRAP_FLAG;
		return 1;
	}
	return !state_advanced(t, uc);
}

static void
in_cache(struct tarea *t, int sig, struct ksiginfo *info,
    struct kucontext *uc)
{
	uint64_t ip = uc->rip, mask = signal_guest_mask(t, uc);
	int fault = signal_is_fault(sig, info);
	enum contexts_fault frames;

	if (sig == SIG_SEGV && fault && buffer_guard(t, info->addr)) {
		buffer_full(t, uc);
		if (trace_died()) {
			state_take(t, uc);
			signal_unhold(t);
			signal_resume(t, uc, mask);
		}
		return;
	}
	if (sig == SIG_SEGV && fault) {
		if (counters_fault(t, info->addr))
			return;
		frames = contexts_fault(t, info->addr);
		if (frames == CONTEXTS_ROOM)
			return;
		if (frames == CONTEXTS_FULL) {
			state_take(t, uc);
			signal_resume(t, uc, mask);
			return;
		}
	}
	if (alignment(t, sig, info, uc) || (is_step(t, sig, info) &&
	    trap_flag(t, uc)))
		return;
	if (signal_hold_here(t, sig, info, uc)) {
		state_take(t, uc);
		signal_resume(t, uc, mask);
		return;
	}
	state_take(t, uc);
	signal_unhold(t);
	if (fault && sig != SIG_SEGV && sig != SIG_BUS && info->addr == ip)
		info->addr = t->pc;
	signal_deliver(t, sig, info, uc, mask);
}

/* 32-bit code from here on: the process goes on natively. */
static void
foreign(struct tarea *t, struct kucontext *uc, uint64_t mask)
{
	uint64_t arg[4] = { SAY_32BIT, uc->rip, 0, 0 };

	ask(t, REQ_SAY, arg);
	before_letting_go(t);
	if (!t->tf)
		uc->eflags &= ~TRAP_FLAG;
	signal_leave(t, uc, mask);
}

/* The processor knew an instruction that trace does not: have it say so. */
static void
was_unknown(struct tarea *t)
{
	uint64_t arg[4] = { SAY_UNKNOWN, t->unknown, 0, 0 };

	ask(t, REQ_SAY, arg);
}

/* Where the guest's pc is the real one: no code there, or one instruction. */
static void
at_native(struct tarea *t, int sig, struct ksiginfo *info,
    struct kucontext *uc)
{
	uint64_t mask = t->stepping ? t->stepmask : signal_guest_mask(t, uc);
	/* the trap flag is ours, not the guest's */
	int own = t->stepping && !t->tf;
	int step = is_step(t, sig, info);

	if (uc->cs != CS64) {
		foreign(t, uc, mask);
		return;
	}
	state_native(t, uc);
	t->df = uc->eflags >> 10 & 1;
	t->stepping = 0;
	signal_unhold(t);
	if (own)
		t->rflags &= ~TRAP_FLAG;
	if (t->told.n != 0 && !step)
		state_untell(t, &t->told);
	t->told.n = 0;
	if (step && t->unknown != 0)
		was_unknown(t);
	t->unknown = 0;
	if (own && step)
		signal_resume(t, uc, mask);
	else
		signal_deliver(t, sig, info, uc, mask);
}

/* Go on in the runtime, not in the cache. */
static void
leave_cache(struct tarea *t, struct kucontext *uc)
{
	uint64_t mask = signal_guest_mask(t, uc);

	alignment(t, 0, NULL, uc);
	state_take(t, uc);
	signal_unhold(t);
	signal_resume(t, uc, mask);
}

/*
 * A thread that lets the process go wants all out of the cache: see
 * bring_out.  Who is in the runtime comes by there.
 */
static void
nudged(struct tarea *t, struct kucontext *uc)
{
	uint64_t ip = uc->rip, mask = signal_guest_mask(t, uc);

	__atomic_fetch_sub(&rt.ctl->nudges, 1, __ATOMIC_SEQ_CST);
	if (state_in_cache(ip)) {
		leave_cache(t, uc);
	} else if (ip >= (uint64_t)rt_enter_go && ip < (uint64_t)rt_enter_end) {
		signal_resume(t, uc, mask);
	}
}

/*
 * Is it a nudge?  Where the user has as many signals queued as are allowed
 * (RLIMIT_SIGPENDING), the kernel loses what it was sent with, and tells of a
 * sender without a number.
 */
static bool
is_nudge(const struct ksiginfo *info)
{
	if (info->code == SI_QUEUE)
		return info->rest[0] == (uint64_t)blob;
	return info->code == SI_USER && info->addr == 0 &&
	    __atomic_load_n(&rt.ctl->nudges, __ATOMIC_SEQ_CST) != 0;
}

/*
 * Behind a system call of ours: what comes there was sent, though it may have a
 * fault's code, for a handler can send on what it was given.
 */
static int
is_behind_call(uint64_t ip)
{
	const uint8_t *p = (const uint8_t *)ip;

	return p[-2] == 0x0f && p[-1] == 0x05;
}

/*
 * Where to go on instead of in rt_again, which enters the cache without a look
 * at what came: rt_miss has one.
 */
static uint64_t
out_of_again(uint64_t ip)
{
	if (ip < (uint64_t)rt_again || ip >= (uint64_t)rt_again_end)
		return ip;
	return ip < (uint64_t)rt_again_saved ? (uint64_t)rt_miss :
	    (uint64_t)rt_again_miss;
}

/*
 * What a child sends as it ends may be any signal, with a code that faults have
 * as well.  But a fault tells an address, where it was or that it was about.
 * Until the guest gets it such a signal has another code.
 */
static void
mark_sent(int sig, struct ksiginfo *info, const struct kucontext *uc)
{
	uint64_t at = sig == SIG_SEGV || sig == SIG_BUS ? uc->cr2 : uc->rip;

	if (!(SYNC_SIGS & SIGBIT(sig)) || info->code < CLD_FIRST ||
	    info->code > CLD_LAST || info->addr == at || info->addr == 0)
		return;
	info->code -= SENT_CODE;
	info->pad = SENT_PAD;
}

/* SIG_OURS: false, it is not ours this time. */
static bool
ours(struct tarea *t, const struct ksiginfo *info, struct kucontext *uc)
{
	uint64_t ip = uc->rip;

	if (is_nudge(info)) {
		nudged(t, uc);
		return true;
	}
	if (signal_is_alarm(info)) {
		if (ip == (uint64_t)rt_sys_insn)
			uc->rip = (uint64_t)rt_sys_abort;
		else
			signal_alarm_again(t);
		return true;
	}
	if (!rt.ctl->letgo || ip == (uint64_t)rt_trap_insn ||
	    state_in_cache(ip) || in_runtime(ip))
		return false;
	/* a thread that runs natively while others are not yet */
	kernel_action(SIG_OURS, &t->act->of[SIG_OURS], NULL);
	return true;
}

/* The guest's trap flag was on in the runtime: t->tf has it. */
static void
stepped(struct kucontext *uc)
{
	uint64_t ip = uc->rip;

	if ((ip < (uint64_t)rt_enter_go || ip >= (uint64_t)rt_enter_end) &&
	    (ip < (uint64_t)rt_look_check || ip > (uint64_t)rt_look_trap))
		uc->eflags &= ~TRAP_FLAG;
}

/* A handler of ours has begun, which may fault: see signal_install. */
static void
unmask(const struct tarea *t, const struct kucontext *uc)
{
	if (!t->act->unmasked && !is_nested(t, uc))
		set_mask(ALL_ASYNC);
}

void
signal_handler(int sig, struct ksiginfo *info, void *context)
{
	struct kucontext *uc = context;
	struct tarea *t = self(uc);
	uint64_t ip;
	int fault;

	unmask(t, uc);
	mark_sent(sig, info, uc);
	ip = uc->rip = out_of_again(uc->rip);
	fault = signal_is_fault(sig, info);
	if (sig == SIG_OURS && ours(t, info, uc))
		return;
	if (state_in_cache(ip)) {
		in_cache(t, sig, info, uc);
		if (t->synclate && state_in_cache(uc->rip))
			leave_cache(t, uc);
	} else if (ip == (uint64_t)rt_trap_insn && fault) {
		signal_trap(t, uc);
	} else if (ip == (uint64_t)rt_look_trap && fault) {
		looked(t, uc);
	} else if (is_step(t, sig, info) && in_runtime(ip) &&
	    !is_behind_call(ip)) {
		stepped(uc);
	} else if (ip >= (uint64_t)rt_enter_go && ip < (uint64_t)rt_enter_end) {
		t->slot->incache = 0;
		signal_deliver(t, sig, info, uc, uc->sigmask | t->syncblocked);
	} else if (!in_runtime(ip)) {
		at_native(t, sig, info, uc);
	} else if (fault && !is_behind_call(ip)) {
		fault_in_runtime(t, sig, uc);
	} else {
		keep(t, sig, info, uc);
	}
}

static int
bad_signal(uint64_t sig)
{
	return sig < 1 || sig > NSIG;
}

/* rt_sigaction(sig, act, old, size) */
long
signal_action(struct tarea *t)
{
	uint64_t sig = (uint32_t)t->gpr[7], act = t->gpr[6], old = t->gpr[2];
	struct ksigaction new, was, *of = &t->act->of[sig];
	long r = 0;

	if (t->gpr[10] != 8 || bad_signal(sig))
		return -EINVAL;
	if (act != 0 && (sig == SIG_KILL || sig == SIG_STOP))
		return -EINVAL;
	if (act != 0 && rt_copy(&new, (void *)act, sizeof new) < 0)
		return -EFAULT;
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
		if (how == SIG_BLOCK)
			sync |= new;
		else
			sync = how == SIG_UNBLOCK ? sync & ~new : new;
		sync &= SYNC_SIGS;
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

static bool
is_on_stack(const struct tarea *t)
{
	const struct kstack *s = &t->altstack;
	uint64_t sp = t->gpr[4];

	return !(s->flags & SS_AUTODISARM) && s->size != 0 && sp > s->sp &&
	    sp - s->sp <= s->size;
}

long
signal_set_stack(struct tarea *t, struct kstack new)
{
	uint32_t mode = new.flags & ~SS_AUTODISARM;

	if (is_on_stack(t))
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
	bool on = is_on_stack(t);
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
