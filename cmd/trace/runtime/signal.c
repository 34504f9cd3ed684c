/*
 * signal - the guest's signals
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
 *
 * Delivery copies the kernel's own frame to the guest's stack, with the
 * guest's registers in it, and turns the return from our handler into a jump
 * to rt_resume with the mask that the guest's handler is to run with.
 */
#include "runtime.h"

#define TRAP_FLAG 0x100ull
#define TRAP_TRACE 2	/* si_code of a single step */

static const uint64_t all_async = ~(SYNC_SIGS | SIGBIT(SIG_KILL) |
    SIGBIT(SIG_STOP));

static void
actlock(void)
{
	while (__atomic_exchange_n(&rt.actlock, 1, __ATOMIC_ACQUIRE))
		__builtin_ia32_pause();
}

static void
actunlock(void)
{
	__atomic_store_n(&rt.actlock, 0, __ATOMIC_RELEASE);
}

static long
kernel_action(int sig, const struct ksigaction *act, struct ksigaction *old)
{
	return sys4(__NR_rt_sigaction, sig, act, old, 8);
}

static uint64_t
set_mask(uint64_t mask)
{
	uint64_t old = 0;

	sys4(__NR_rt_sigprocmask, 2, &mask, &old, 8);
	return old;
}

static void
install(int sig, uint64_t flags)
{
	struct ksigaction a;

	a.handler = (uint64_t)signal_handler;
	a.flags = SA_SIGINFO | SA_ONSTACK | SA_RESTORER |
	    (flags & (SA_RESTART | SA_NOCLDSTOP | SA_NOCLDWAIT));
	a.restorer = (uint64_t)rt_restorer;
	a.mask = all_async;
	if (SYNC_SIGS & SIGBIT(sig))
		a.flags |= SA_NODEFER;
	kernel_action(sig, &a, NULL);
}

void
signal_boot(void)
{
	int s;

	for (s = 1; s <= NSIG; s++) {
		kernel_action(s, NULL, &rt.act[s]);
		if (SYNC_SIGS & SIGBIT(s))
			install(s, 0);
	}
}

/* A thread begins: its stack for handlers, then the guest's mask. */
void
signal_thread(struct tarea *t, uint64_t mask)
{
	struct kstack st = { (uint64_t)t - T_OFF, 0, 0, T_ALTSTACK };

	sys2(__NR_sigaltstack, &st, NULL);
	t->syncblocked = mask & SYNC_SIGS;
	set_mask(mask & ~SYNC_SIGS);
}

/* The kernel's dispositions become the guest's; all: also the plain ones. */
void
signal_restore_actions(int all)
{
	int s;

	for (s = 1; s <= NSIG; s++)
		if (s != SIG_ILL && (all || rt.act[s].handler > 1 ||
		    (SYNC_SIGS & SIGBIT(s))))
			kernel_action(s, &rt.act[s], NULL);
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
		if ((SYNC_SIGS & SIGBIT(s)) && rt.act[s].handler == 1) {
			kernel_action(s, &rt.act[s], NULL);
			saved[0] |= SIGBIT(s);
		}
	saved[1] = block;
	if (block != 0)
		sys4(__NR_rt_sigprocmask, 0, &block, NULL, 8);
}

void
signal_exec_failed(const uint64_t saved[2])
{
	uint64_t unblock = saved[1];
	int s;

	for (s = 1; s <= NSIG; s++)
		if (saved[0] & SIGBIT(s))
			install(s, 0);
	if (unblock != 0)
		sys4(__NR_rt_sigprocmask, 1, &unblock, NULL, 8);
}

/* The process shall die of sig, natively. */
void
signal_die(struct tarea *t, int sig)
{
	struct ksigaction dfl = { 0, 0, 0, 0 };
	uint64_t mask = all_async & ~SIGBIT(sig);

	buffer_publish(t, Q_SIGNAL, t->pc, (unsigned)sig);
	if (rt.boot.flags & BOOT_COUNTS)
		t->slot->icount = t->p;
	kernel_action(sig, &dfl, NULL);
	set_mask(all_async);
	sys3(__NR_tgkill, rt.pid, t->tid, sig);
	set_mask(mask);
	for (;;)	/* another thread ends the process first */
		sys0(__NR_pause);
}

/* Return from our handler into the runtime, with this mask. */
static void
to_resume(struct tarea *t, struct kucontext *uc, uint64_t mask)
{
	uc->rip = (uint64_t)rt_resume;
	uc->r11 = (uint64_t)t + T_BIAS;
	uc->rsp = t->stack;
	uc->eflags = 0x202;
	uc->sigmask = mask & ~SYNC_SIGS;
	t->syncblocked = mask & SYNC_SIGS;
}

static uint64_t
fp_bytes(uint64_t fp)
{
	const uint32_t *sw = (const uint32_t *)(fp + 464);

	if (fp == 0)
		return 0;
	return sw[0] == 0x46505853u && sw[1] >= 512 && sw[1] < 20000 ?
	    sw[1] : 512;
}

/* The top of the stack that the handler is to run on. */
static uint64_t
stack_for(struct tarea *t, const struct ksigaction *a)
{
	uint64_t sp = t->gpr[4];
	struct kstack *s = &t->altstack;

	if ((a->flags & SA_ONSTACK) && s->size != 0 &&
	    !(sp > s->sp && sp - s->sp <= s->size))
		return s->sp + s->size;
	return sp - 128;
}

/* Build the guest's frame; its address, or 0 where the stack takes none. */
static uint64_t
push_frame(struct tarea *t, const struct ksigaction *a,
    const struct ksiginfo *info, const struct kucontext *uc)
{
	uint64_t n = fp_bytes(uc->fpstate);
	uint64_t fp = (stack_for(t, a) - n) & ~63ull;
	uint64_t at = ((fp - sizeof(struct kframe)) & ~15ull) - 8;
	struct kframe f;

	f.restorer = a->restorer;
	memcpy(&f.uc, uc, sizeof f.uc);
	memcpy(&f.info, info, sizeof f.info);
	f.uc.fpstate = n != 0 ? fp : 0;
	if ((n != 0 && rt_copy((void *)fp, (void *)uc->fpstate, n) < 0) ||
	    rt_copy((void *)at, &f, sizeof f) < 0)
		return 0;
	return at;
}

static void
enter_handler(struct tarea *t, int sig, const struct ksigaction *a,
    uint64_t frame)
{
	t->gpr[7] = (uint64_t)sig;
	t->gpr[6] = frame + offsetof(struct kframe, info);
	t->gpr[2] = frame + offsetof(struct kframe, uc);
	t->gpr[0] = 0;
	t->gpr[4] = frame;
	t->pc = a->handler;
	t->rflags &= ~0x50500ull;	/* RF AC? no: TF, DF, RF */
	t->rflags |= 0x202;
	t->df = 0;
}

/* 1: raised by an instruction, not sent. */
static int
is_fault(int sig, const struct ksiginfo *info)
{
	return (SYNC_SIGS & SIGBIT(sig)) != 0 && info->code > 0;
}

/*
 * Give the guest signal sig; its state is in the area, mask is what it had
 * blocked.  uc is a kernel's frame: where it leads to is changed.
 */
static void
deliver(struct tarea *t, int sig, struct ksiginfo *info, struct kucontext *uc,
    uint64_t mask)
{
	uint64_t base = t->handlermask != 0 ? t->handlermask - 1 : mask;
	struct ksigaction a;
	struct kucontext g;
	int fault = is_fault(sig, info);
	uint64_t frame;

	t->handlermask = 0;
	if (!fault && (SYNC_SIGS & mask & SIGBIT(sig))) {
		t->syncpending |= SIGBIT(sig);	/* sent and blocked */
		t->syncinfo = *info;
		to_resume(t, uc, mask);
		return;
	}
	actlock();
	a = rt.act[sig];
	if ((a.flags & SA_RESETHAND) && a.handler > 1) {
		rt.act[sig].handler = 0;
		if (!(SYNC_SIGS & SIGBIT(sig)))
			kernel_action(sig, &rt.act[sig], NULL);
	}
	actunlock();
	if (fault && (a.handler <= 1 || (mask & SIGBIT(sig))))
		signal_die(t, sig);
	if (sig == SIG_SYS && info->code == 1)
		info->addr = t->pc;
	if (a.handler == 0 && (SYNC_SIGS & SIGBIT(sig)))
		signal_die(t, sig);
	if (a.handler <= 1) {
		to_resume(t, uc, mask);
		return;
	}
	buffer_publish(t, Q_SIGNAL, t->pc, (unsigned)sig);
	memcpy(&g, uc, sizeof g);
	state_put(t, &g);
	g.stack = t->altstack;
	if (t->altstack.size == 0)
		g.stack.flags = SS_DISABLE;
	g.sigmask = mask;
	frame = push_frame(t, &a, info, &g);
	if (frame == 0)
		signal_die(t, SIG_SEGV);
	if (t->altstack.flags & SS_AUTODISARM)
		t->altstack.size = 0;
	enter_handler(t, sig, &a, frame);
	base |= a.mask & ~(SIGBIT(SIG_KILL) | SIGBIT(SIG_STOP));
	if (!(a.flags & SA_NODEFER))
		base |= SIGBIT(sig);
	to_resume(t, uc, base);
	uc->fpstate = 0;
}

/* rt_trap was called for its frame. */
static void
trap(struct tarea *t, struct kucontext *uc)
{
	int sig = (int)t->pending;

	switch (t->trap) {
	case TRAP_DELIVER:
		t->pending = 0;
		deliver(t, sig, &t->kept, uc, t->keptmask);
		break;
	case TRAP_NATIVE:
		state_put(t, uc);
		uc->eflags |= TRAP_FLAG;
		break;
	case TRAP_LETGO:
		kernel_action(SIG_ILL, &rt.act[SIG_ILL], NULL);
		state_put(t, uc);
		uc->stack = t->altstack;
		if (t->altstack.size == 0)
			uc->stack.flags = SS_DISABLE;
		uc->sigmask = (t->start_mask != 0 ? t->start_mask - 1 :
		    t->pending ? t->keptmask : uc->sigmask) | t->syncblocked;
		break;
	default:
		panic("a trap that nobody set");
	}
}

static void
keep(struct tarea *t, int sig, const struct ksiginfo *info,
    struct kucontext *uc)
{
	uint64_t ip = uc->rip;

	if (t->pending)
		panic("a second signal while one is kept");
	t->pending = (uint32_t)sig;
	memcpy(&t->kept, info, sizeof *info);
	t->keptmask = uc->sigmask | t->syncblocked;
	t->handlermask = t->waitmask;
	uc->sigmask = all_async;
	if (ip >= (uint64_t)rt_sys_check && ip <= (uint64_t)rt_sys_insn)
		uc->rip = (uint64_t)rt_sys_abort;
}

static int
in_runtime(uint64_t ip)
{
	return ip - (uint64_t)blob < (uint64_t)(rt_text_end - blob);
}

/* A fault in code of ours is repaired, or it is a bug. */
static void
fault_in_runtime(int sig, struct kucontext *uc)
{
	if (uc->rip == (uint64_t)rt_copy_insn &&
	    (sig == SIG_SEGV || sig == SIG_BUS)) {
		uc->rip = (uint64_t)rt_copy_fault;
		return;
	}
	panic("a fault in the runtime");
}

void
signal_handler(int sig, struct ksiginfo *info, void *context)
{
	struct kucontext *uc = context;
	struct tarea *t = self(uc);
	uint64_t ip = uc->rip, mask = uc->sigmask | t->syncblocked;
	int fault = is_fault(sig, info);

	if (state_in_cache(ip)) {
		if (sig == SIG_SEGV && fault && buffer_guard(t, info->addr)) {
			buffer_full(t, uc);
			return;
		}
		state_take(t, uc);
		if (fault && sig != SIG_SEGV && sig != SIG_BUS &&
		    info->addr == ip)
			info->addr = t->pc;
		deliver(t, sig, info, uc, mask);
	} else if (ip == (uint64_t)rt_trap_insn && fault) {
		trap(t, uc);
	} else if (ip >= (uint64_t)rt_enter_go && ip < (uint64_t)rt_enter_end) {
		t->slot->incache = 0;
		deliver(t, sig, info, uc, mask);
	} else if (in_runtime(ip)) {
		if (fault)
			fault_in_runtime(sig, uc);
		else
			keep(t, sig, info, uc);
	} else {
		state_native(t, uc);
		t->df = uc->eflags >> 10 & 1;
		if (t->stepping && !(t->stepping & 2))
			t->rflags &= ~TRAP_FLAG;
		if (t->stepping && sig == SIG_TRAP && info->code == TRAP_TRACE)
			to_resume(t, uc, mask);
		else
			deliver(t, sig, info, uc, mask);
		t->stepping = 0;
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
	uint64_t sig = t->gpr[7], act = t->gpr[6], old = t->gpr[2];
	struct ksigaction new, was;
	long r = 0;

	if (t->gpr[10] != 8 || bad_signal(sig))
		return -22;
	if (act != 0 && (sig == SIG_KILL || sig == SIG_STOP))
		return -22;
	if (act != 0 && rt_copy(&new, (void *)act, sizeof new) < 0)
		return -14;
	actlock();
	was = rt.act[sig];
	if (act != 0) {
		new.mask &= ~(SIGBIT(SIG_KILL) | SIGBIT(SIG_STOP));
		rt.act[sig] = new;
		if (SYNC_SIGS & SIGBIT(sig))
			;
		else if (new.handler > 1)
			install((int)sig, new.flags);
		else
			r = kernel_action((int)sig, &new, NULL);
	}
	actunlock();
	if (r == 0 && old != 0 && rt_copy((void *)old, &was, sizeof was) < 0)
		return -14;
	return r;
}

/* rt_sigprocmask(how, set, old, size): the kernel's, but for SYNC_SIGS. */
long
signal_mask(struct tarea *t)
{
	uint64_t how = t->gpr[7], set = t->gpr[6], old = t->gpr[2];
	uint64_t new = 0, was = 0, sync = t->syncblocked, regs[16];
	long r;

	if (t->gpr[10] != 8)
		return -22;
	if (set != 0) {
		if (rt_copy(&new, (void *)set, 8) < 0)
			return -14;
		if (how > 2)
			return -22;
		if (how == 0)
			sync |= new;
		else
			sync = how == 1 ? sync & ~new : new;
		sync &= SYNC_SIGS;
		new &= ~SYNC_SIGS;
	}
	memcpy(regs, t->gpr, sizeof regs);
	regs[6] = set != 0 ? (uint64_t)&new : 0;
	regs[2] = (uint64_t)&was;
	r = rt_guest_syscall(t, regs);
	if (r < 0)
		return r;
	was |= t->syncblocked;
	if (set != 0) {
		t->syncblocked = sync;
		if (t->pending)
			t->keptmask = (t->keptmask & ~SYNC_SIGS) | sync;
	}
	if (old != 0 && rt_copy((void *)old, &was, 8) < 0)
		return -14;
	return 0;
}

/* A synchronous signal that was sent, and is blocked no more: keep it. */
void
signal_sync_pending(struct tarea *t)
{
	uint64_t ready = t->syncpending & ~t->syncblocked, mask = 0;

	if (ready == 0 || t->pending)
		return;
	mask = set_mask(all_async);
	if (!t->pending) {
		t->pending = (uint32_t)__builtin_ctzll(ready) + 1;
		t->syncpending &= ~SIGBIT(t->pending);
		t->kept = t->syncinfo;
		t->kept.signo = (int32_t)t->pending;
		t->keptmask = mask | t->syncblocked;
		t->handlermask = 0;
	}
}

/* sigaltstack(new, old): ours is the kernel's, the guest's is kept here. */
long
signal_stack(struct tarea *t)
{
	struct kstack new, was = t->altstack;
	uint64_t sp = t->gpr[4];
	int on = was.size != 0 && sp > was.sp && sp - was.sp <= was.size;

	if (t->gpr[7] != 0) {
		if (rt_copy(&new, (void *)t->gpr[7], sizeof new) < 0)
			return -14;
		if (on && !(was.flags & SS_AUTODISARM))
			return -1;
		if ((new.flags & ~SS_AUTODISARM) != 0 &&
		    (new.flags & ~SS_AUTODISARM) != SS_DISABLE &&
		    (new.flags & ~SS_AUTODISARM) != SS_ONSTACK)
			return -22;
		if (new.flags & SS_DISABLE)
			new.sp = new.size = 0;
		else if (new.size < rt.boot.minframe)
			return -12;
		new.flags &= SS_AUTODISARM;
		t->altstack = new;
	}
	if (t->gpr[6] != 0) {
		was.flags = was.size == 0 ? SS_DISABLE :
		    (was.flags & SS_AUTODISARM) | (on ? SS_ONSTACK : 0);
		was.pad = 0;
		if (rt_copy((void *)t->gpr[6], &was, sizeof was) < 0)
			return -14;
	}
	return 0;
}

static void
take_frame(struct tarea *t, struct kucontext *uc)
{
	state_native(t, uc);
	t->df = uc->eflags >> 10 & 1;
	if (uc->stack.flags & SS_DISABLE)
		t->altstack.size = 0;
	else
		t->altstack = uc->stack;
	t->altstack.flags &= SS_AUTODISARM;
	uc->stack.sp = (uint64_t)t - T_OFF;
	uc->stack.flags = 0;
	uc->stack.size = T_ALTSTACK;
}

/* rt_sigreturn: on a copy of the guest's frame that leads to rt_resume. */
void
signal_return(struct tarea *t)
{
	struct kframe *f = (struct kframe *)((uint64_t)t - T_OFF + T_FRAME + 56);
	uint64_t mask = all_async, fp, to, n;

	if (rt_copy(&f->uc, (void *)t->gpr[4], sizeof f->uc) < 0)
		signal_die(t, SIG_SEGV);
	fp = f->uc.fpstate;
	to = ((uint64_t)(f + 1) + 63) & ~63ull;
	if (fp != 0) {
		if (rt_copy((void *)to, (void *)fp, 512) < 0)
			signal_die(t, SIG_SEGV);
		n = fp_bytes(to);
		if (n > 512 && rt_copy((void *)to, (void *)fp, n) < 0)
			signal_die(t, SIG_SEGV);
		f->uc.fpstate = to;
	}
	mask = set_mask(mask);
	(void)mask;
	take_frame(t, &f->uc);
	if (t->pending)
		t->keptmask = f->uc.sigmask;
	to_resume(t, &f->uc, f->uc.sigmask);
	if (t->pending)
		f->uc.sigmask = all_async;
	rt_sigreturn((uint64_t)&f->uc);
}
