/*
 * signal - our handler, which takes the guest's signals and keeps them
 *
 * It is installed for all signals that the guest handles, and for those that
 * the processor raises (SYNC_SIGS), which are never blocked while code runs.
 * It runs on the area's alternate stack.  Where it finds the thread:
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
 * Is it the trap flag's signal?  Virtual machines lose the bit that says so,
 * once in a million: then it looks like a breakpoint.
 */
static bool
is_step(const struct tarea *t, int sig, const struct ksiginfo *info)
{
	if (sig == SIG_TRAP && info->code == TRAP_BRKPT)
		return t->over != 0 || t->tf || t->stepping;
	return sig == SIG_TRAP && info->code == TRAP_TRACE;
}

static bool
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
 * True: nothing more to do.
 */
static bool
alignment(struct tarea *t, int sig, const struct ksiginfo *info,
    struct kucontext *uc)
{
	bool step = is_step(t, sig, info);

	if (t->over != 0) {
		uc->eflags = (uc->eflags & ~TRAP_FLAG) | t->over;
		t->over = 0;
		if (step && !(uc->eflags & TRAP_FLAG))
			return true;
	}
	if (sig != SIG_BUS || info->code != BUS_ADRALN || !state_is_ours(uc))
		return false;
	t->over = uc->eflags & (AC_FLAG | TRAP_FLAG);
	uc->eflags = (uc->eflags & ~AC_FLAG) | TRAP_FLAG;
	return true;
}

/*
 * While the guest has its trap flag on, the real one is on in the cache, and
 * stops us behind instructions of ours, too.  True: no signal of the guest's.
 */
static bool
trap_flag(struct tarea *t, struct kucontext *uc)
{
	if (!t->tf) {		/* the guest's popf has just set it */
		t->tf = 1;
		uc->eflags &= ~TRAP_FLAG;
		return true;
	}
	return !state_advanced(t, uc);
}

static void
in_cache(struct tarea *t, int sig, struct ksiginfo *info,
    struct kucontext *uc)
{
	uint64_t ip = uc->rip, mask = signal_guest_mask(t, uc);
	bool fault = signal_is_fault(sig, info);
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
	bool own = t->stepping && !t->tf;
	bool step = is_step(t, sig, info);

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
	if (own && step) {
		signal_resume(t, uc, mask);
		return;
	}
	contexts_not_called(t);
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
 * bring_out.  A thread in the runtime looks at letgo by itself.
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
static bool
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
	return false;
}

/*
 * A thread that runs natively while others are not yet: we are on a stack of
 * its own, and there is no area.  A fault comes again, what was sent does not.
 */
static bool
is_native(int sig, struct ksiginfo *info, const struct kucontext *uc)
{
	uint64_t ip = uc->rip;

	if (sig != SIG_OURS || !rt.ctl->letgo || is_nudge(info) ||
	    signal_is_alarm(info) || ip == (uint64_t)rt_trap_insn ||
	    state_in_cache(ip) || in_runtime(ip))
		return false;
	signal_restore_ours(&rt.act);
	if (info->code <= 0)
		sys4(__NR_rt_tgsigqueueinfo, rt.pid, sys0(__NR_gettid), sig,
		    info);
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
		signal_set_mask(ALL_ASYNC);
}

void
signal_handler(int sig, struct ksiginfo *info, void *context)
{
	struct kucontext *uc = context;
	struct tarea *t = self(uc);
	uint64_t ip;
	bool fault;

	if (is_native(sig, info, uc))
		return;
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
