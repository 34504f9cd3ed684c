/*
 * deliver - the guest's signal frames: made, and returned from
 *
 * A frame of the kernel's own, copied to the guest's stack with the guest's
 * registers in it; the return from our handler is turned into a jump to
 * rt_resume with the mask that the guest's handler is to run with.
 *
 * rt_sigreturn goes the other way: the guest's frame is copied, one of ours
 * beside it leads to rt_returned with the guest's mask and vector state, and
 * there the registers come from the copy.  Until that frame is used nothing
 * has changed, so a signal that comes before finds the handler still running.
 * No other system call is made: seccomp's strict mode allows none.
 */
#include "contexts.h"
#include "queue.h"
#include "runtime.h"
#include "signals.h"
#include "state.h"
#include "threads.h"

#define TRAPNO_DB 1		/* of the frame's trapno */
#define TRAPNO_GP 13

/* The copy of the guest's frame, and ours behind it. */
static struct kframe *
frames(struct tarea *t)
{
	return (struct kframe *)((uint64_t)t - T_OFF + T_FRAME);
}

/*
 * Behind a seccomp filter: no call but rt_sigreturn is sure to pass.  The
 * kernel kills where an instruction raises a signal that is blocked.
 */
static void
die_by_fault(struct tarea *t, int sig)
{
	struct kframe *f = frames(t);

	memset(f, 0, sizeof *f);
	f->uc.rip = (uint64_t)(sig == SIG_ILL ? rt_die_ill :
	    sig == SIG_TRAP ? rt_die_trap : sig == SIG_FPE ? rt_die_fpe :
	    sig == SIG_BUS ? rt_die_bus : rt_die_segv);
	f->uc.rsp = t->stack;
	f->uc.cs = CS64;
	f->uc.ss = SS64;
	f->uc.eflags = FLAGS_SET | (sig == SIG_BUS ? AC_FLAG : 0);
	f->uc.sigmask = ~0ull;
	t->pending = 0;
	rt_sigreturn(t, (uint64_t)&f->uc);
}

/* The process shall die of sig, natively. */
_Noreturn void
signal_die(struct tarea *t, int sig)
{
	static uint64_t masks[NSIG + 1];	/* where no area is any more */
	struct ksigaction dfl = { 0, 0, 0, 0 };
	uint64_t all = ~0ull, bytes = 0;

	buffer_publish(t, Q_SIGNAL, t->pc, (unsigned)sig);
	if (rt.boot.flags & BOOT_COUNTS)
		t->slot->icount = t->p;
	if (t->pid != rt.pid)		/* the program goes on */
		bytes = thread_leave(t);
	if (rt.ctl->polling && (SYNC_SIGS & SIGBIT(sig)))
		die_by_fault(t, sig);
	sys4(__NR_rt_sigaction, sig, &dfl, NULL, 8);
	sys4(__NR_rt_sigprocmask, SIG_SETMASK, &all, NULL, 8);
	masks[sig] = ~SIGBIT(sig);
	rt_thread_die((uint64_t)t - T_OFF, bytes, t->pid, t->tid, sig,
	    &masks[sig]);
}

/* Return from our handler into the runtime, with this mask of the guest's. */
void
signal_resume(struct tarea *t, struct kucontext *uc, uint64_t mask)
{
	uc->rip = (uint64_t)rt_resume;
	uc->r11 = (uint64_t)t + T_BIAS;
	uc->rsp = t->stack;
	uc->eflags = FLAGS_SET;
	uc->sigmask = mask & ~SYNC_SIGS;
	if (t->pending && (mask & SIGBIT(t->pending)))
		signal_put_back(t);
	if (t->pending) {		/* it comes next: nothing in between */
		t->keptmask = mask;
		uc->sigmask = ALL_ASYNC;
	}
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

/*
 * The top of the stack that the handler is to run on; on: whether that is the
 * alternate one.
 */
static uint64_t
stack_for(const struct tarea *t, const struct ksigaction *a, bool *on)
{
	uint64_t sp = t->gpr[4];
	const struct kstack *s = &t->altstack;

	/* as the kernel has it: from below what the stack pointer spares */
	*on = signal_on_stack(t, sp);
	if ((a->flags & SA_ONSTACK) && s->size != 0 &&
	    !signal_on_stack(t, sp - 128)) {
		*on = true;
		return s->sp + s->size;
	}
	return sp - 128;
}

/* Build the guest's frame; its address, or 0 where the stack takes none. */
static uint64_t
push_frame(struct tarea *t, const struct ksigaction *a,
    const struct ksiginfo *info, const struct kucontext *uc)
{
	bool on;
	uint64_t n = fp_bytes(uc->fpstate);
	uint64_t fp = (stack_for(t, a, &on) - n) & ~63ull;
	uint64_t at = ((fp - sizeof(struct kframe)) & ~15ull) - 8;
	struct kframe f;
	uint64_t *ip;

	if (on && !is_within(&t->altstack, at))	/* never below it */
		return 0;
	if (!(a->flags & SA_RESTORER))	/* where would it return to? */
		return 0;
	if (n != 0) {		/* where the x87 unit was last */
		ip = (uint64_t *)(uc->fpstate + 8);
		*ip = state_fp_pc(t, *ip);
	}
	f.restorer = a->restorer;
	memcpy(&f.uc, uc, sizeof f.uc);
	memcpy(&f.info, info, sizeof f.info);
	signal_unmark(&f.info);
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
	/* as the kernel does */
	t->rflags &= ~(X86_EFLAGS_TF | X86_EFLAGS_DF | X86_EFLAGS_RF);
	t->rflags |= FLAGS_SET;
	t->df = 0;
}

/* The guest's frame for sig from the kernel's uc; 0: its stack takes none. */
static uint64_t
frame_for(struct tarea *t, const struct ksigaction *a,
    const struct ksiginfo *info, const struct kucontext *uc, uint64_t mask)
{
	struct kucontext g;

	memcpy(&g, uc, sizeof g);
	state_put(t, &g);
	g.stack = t->altstack;
	if (t->altstack.size == 0)
		g.stack.flags |= SS_DISABLE;
	g.sigmask = g.oldmask = mask;
	return push_frame(t, a, info, &g);
}

/* No frame can be made: that is a fault which no mask keeps back. */
static void
no_frame(struct tarea *t, int sig, struct ksiginfo *info,
    struct kucontext *uc, uint64_t mask, uint64_t base)
{
	if (sig == SIG_SEGV || (base & SIGBIT(SIG_SEGV)))
		signal_die(t, SIG_SEGV);
	memset(info, 0, sizeof *info);
	info->signo = SIG_SEGV;
	info->code = SI_KERNEL;
	t->handlermask = base + 1;
	signal_deliver(t, SIG_SEGV, info, uc, mask);
}

/*
 * The guest has taken its handler back since the signal was sent: the kernel
 * does what it does by default.
 */
static void
leave_to_kernel(struct tarea *t, int sig, const struct ksiginfo *info)
{
	if (rt.ctl->polling)	/* we may make no calls */
		return;
	/* it queues no more: then it is of real time, and ends the process */
	if (sys4(__NR_rt_tgsigqueueinfo, t->pid, t->tid, sig, info) == -EAGAIN)
		signal_die(t, sig);
}

/*
 * Give the guest signal sig; its state is in the area, mask is what it had
 * blocked.  uc is a kernel's frame: where it leads to is changed.
 */
void
signal_deliver(struct tarea *t, int sig, struct ksiginfo *info,
    struct kucontext *uc, uint64_t mask)
{
	uint64_t base = t->handlermask != 0 ? t->handlermask - 1 : mask;
	struct ksigaction a;
	bool fault = info != &t->kept && signal_is_fault(sig, info);
	uint64_t frame, at;

	t->handlermask = 0;
	if (!fault && (SYNC_SIGS & base & SIGBIT(sig))) {
		signal_sync_keep(t, sig, info);
		signal_resume(t, uc, mask);
		return;
	}
	a = signal_take_action(t, sig);
	if (fault && (a.handler <= 1 || (base & SIGBIT(sig))))
		signal_die(t, sig);
	if (sig == SIG_SYS && info->code == 1)
		info->addr = t->pc;
	if (a.handler == 0 && (SYNC_SIGS & SIGBIT(sig)))
		signal_die(t, sig);
	if (a.handler <= 1) {
		if (a.handler == 0)
			leave_to_kernel(t, sig, info);
		signal_resume(t, uc, mask);
		return;
	}
	rseq_abort(t);
	frame = frame_for(t, &a, info, uc, mask);
	if (frame == 0) {
		no_frame(t, sig, info, uc, mask, base);
		return;
	}
	buffer_publish(t, Q_SIGNAL, t->pc, (unsigned)sig);
	if (t->altstack.flags & SS_AUTODISARM)
		t->altstack = (struct kstack){ 0 };
	at = t->pc;
	enter_handler(t, sig, &a, frame);
	t->handled = 1;
	contexts_step(t, MOVE_SIGNAL, at);
	base |= a.mask & ~(SIGBIT(SIG_KILL) | SIGBIT(SIG_STOP));
	if (!(a.flags & SA_NODEFER))
		base |= SIGBIT(sig);
	signal_resume(t, uc, base);
	uc->fpstate = 0;
}

void
signal_deliver_kept(struct tarea *t, struct kucontext *uc)
{
	int sig = (int)t->pending;

	t->pending = 0;
	signal_deliver(t, sig, &t->kept, uc, t->keptmask);
}

/* As if the guest's next instruction had raised it. */
void
signal_raise(struct tarea *t, int sig, int code, uint64_t addr)
{
	memset(&t->raised, 0, sizeof t->raised);
	t->raised.signo = sig;
	t->raised.code = code;
	t->raised.addr = addr;
	t->raise = (uint32_t)sig;
}

/*
 * Send the thread what it has kept once more, for the kernel to keep until the
 * guest's mask is the kernel's.
 */
static void
put_back_all(struct tarea *t)
{
	uint64_t sync = SYNC_SIGS;

	if (!rt.ctl->polling) {
		sys4(__NR_rt_sigprocmask, SIG_BLOCK, &sync, NULL, 8);
		signal_send_pending(t);
		signal_unmark(&t->kept);
		/* where no more may be queued: without what came with it */
		if (t->pending && sys4(__NR_rt_tgsigqueueinfo, t->pid, t->tid,
		    t->pending, &t->kept) != 0)
			sys2(__NR_kill, t->pid, t->pending);
	}
	t->pending = 0;
}

/*
 * Go on natively as uc says, for good, with the guest's mask and alternate
 * stack.  The kernel changes no stack that it is called on, so a copy of the
 * frame, elsewhere, is returned from.
 */
void
signal_leave(struct tarea *t, const struct kucontext *uc, uint64_t mask)
{
	struct kframe *f = frames(t);
	uint64_t fp = ((uint64_t)(f + 1) + 63) & ~63ull;

	/* others still need its handler */
	if (t->child || (__atomic_sub_fetch(&rt.nthread, 1,
	    __ATOMIC_SEQ_CST) == 0 && rt.ctl->joining == 0))
		signal_restore_ours(t->act);
	memcpy(&f->uc, uc, sizeof f->uc);
	memcpy((void *)fp, (void *)uc->fpstate, fp_bytes(uc->fpstate));
	f->uc.fpstate = uc->fpstate != 0 ? fp : 0;
	f->uc.sigmask = mask;
	f->uc.stack = t->altstack;
	if (t->altstack.size == 0)
		f->uc.stack.flags |= SS_DISABLE;
	put_back_all(t);
	rt_sigreturn(t, (uint64_t)&f->uc);
}

/* rt_trap was called for its frame. */
void
signal_trap(struct tarea *t, struct kucontext *uc)
{
	uint64_t mask = t->pending ? t->keptmask : signal_guest_mask(t, uc);
	uint64_t kept = t->handlermask;
	int sig;

	switch (t->trap) {
	case TRAP_DELIVER:
		signal_deliver_kept(t, uc);
		break;
	case TRAP_RAISE:
		sig = (int)t->raise;
		t->raise = 0;
		t->handlermask = 0;
		uc->trapno = sig == SIG_SEGV ? TRAPNO_GP : TRAPNO_DB;
		signal_deliver(t, sig, &t->raised, uc, mask);
		t->handlermask = kept;
		break;
	case TRAP_NATIVE:
		t->stepmask = mask;
		state_put(t, uc);
		uc->eflags |= TRAP_FLAG;
		uc->sigmask = ALL_ASYNC;
		break;
	case TRAP_BEGIN:
		uc->stack = our_stack(t);
		mask = t->start_mask - 1;
		t->start_mask = 0;
		signal_resume(t, uc, mask);
		break;
	case TRAP_LETGO:
		rseq_abort(t);
		state_put(t, uc);
		signal_unhold(t);
		signal_put_back(t);
		signal_leave(t, uc, (t->start_mask != 0 ? t->start_mask - 1 :
		    mask) | t->syncblocked);
		break;
	default:
		panic("a trap that nobody set");
	}
}

/* -1: the guest's frame cannot be read. */
static int
copy_frame(struct tarea *t, struct kframe *f)
{
	uint64_t fp, n, to = ((uint64_t)(f + 2) + 63) & ~63ull;

	if (rt_copy(&f->uc, (void *)t->gpr[4], sizeof f->uc) < 0)
		return -1;
	f[1].uc = f->uc;
	fp = f->uc.fpstate;
	if (fp == 0)
		return 0;
	if (rt_copy((void *)to, (void *)fp, 512) < 0)
		return -1;
	n = fp_bytes(to);
	if (n > 512 && rt_copy((void *)to, (void *)fp, n) < 0)
		return -1;
	f[1].uc.fpstate = to;
	return 0;
}

/* rt_sigreturn of the guest; comes back where it did not happen. */
long
signal_return(struct tarea *t)
{
	struct kframe *f = frames(t);
	struct kucontext *uc = &f[1].uc;
	uint64_t sync = t->syncblocked;

	if (copy_frame(t, f) < 0) {
		signal_raise(t, SIG_SEGV, SI_KERNEL, 0);
		return 0;
	}
	uc->rip = (uint64_t)rt_returned;
	uc->r11 = (uint64_t)t + T_BIAS;
	uc->rsp = t->stack;
	uc->eflags = FLAGS_SET;
	uc->cs = CS64;
	uc->ss = SS64;
	if (t->held && (f->uc.sigmask & SIGBIT(t->held))) {
		signal_unhold(t);
		signal_put_back(t);
	}
	uc->sigmask = t->held ? ALL_ASYNC : f->uc.sigmask & ~SYNC_SIGS;
	if (t->held)
		t->keptmask = f->uc.sigmask;
	uc->stack = our_stack(t);
	t->syncblocked = f->uc.sigmask & SYNC_SIGS;
	rt_sigreturn(t, (uint64_t)uc);
	t->syncblocked = sync;
	t->keptmask = (t->keptmask & ~SYNC_SIGS) | sync;
	return SYS_ABORTED;
}

/* What a frame has of flags; others stay as they are. */
#define FLAGS_RESTORED (X86_EFLAGS_CF | X86_EFLAGS_PF | X86_EFLAGS_AF |	\
    X86_EFLAGS_ZF | X86_EFLAGS_SF | X86_EFLAGS_TF | X86_EFLAGS_DF |	\
    X86_EFLAGS_OF | X86_EFLAGS_RF | X86_EFLAGS_AC)

/* Behind rt_sigreturn. */
void
signal_returned(struct tarea *t)
{
	struct kucontext *uc = &frames(t)->uc;
	uint64_t call = t->pc - 2;	/* its `syscall' */
	uint64_t kept = t->rflags & ~FLAGS_RESTORED;
	bool held = t->held != 0;

	signal_set_stack(t, uc->stack);	/* what it may not be, it is not */
	state_native(t, uc);
	t->rflags = kept | (uc->eflags & FLAGS_RESTORED);
	t->df = uc->eflags >> 10 & 1;
	signal_unhold(t);
	if (!held)	/* else the guest goes on, and the delay, too */
		signal_owe(t);
	contexts_step(t, MOVE_SIGRETURN, call);
	dispatch_resume(t);
}
