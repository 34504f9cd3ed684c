/*
 * signals.h - the guest's signals: taken, kept, held back, delivered
 *
 *	actions.c	what the guest wants done with them
 *	masks.c		which it blocks, and its alternate stack
 *	signal.c	our handler: take them, and keep them
 *	sync.c		those that instructions raise, sent and blocked
 *	hold.c		delay one until the guest has made progress
 *	deliver.c	the guest's signal frames, made and returned from
 *	rseq.c		restartable sequences, which a signal aborts
 */
#ifndef SIGNALS_H
#define SIGNALS_H

#include "runtime.h"

#pragma GCC visibility push(hidden)

/* ---- actions.c ---- */

/* The process begins: take over the kernel's dispositions. */
void signal_boot(void);
/* Install our handler for sig, with the guest's flags that the kernel needs. */
void signal_install(const struct actions *, int sig, uint64_t flags);
/* Before a filter is installed (on), or after that has failed. */
void signal_filter(struct tarea *, bool on);
/* The guest's rt_sigaction: its result. */
long signal_action(struct tarea *);
/* What the guest wants done with sig, which comes now: once if it says so. */
struct ksigaction signal_take_action(struct tarea *, int sig);
/* The guest's handlers instead of ours; all: that of SIG_OURS, too. */
void signal_restore_actions(struct tarea *, bool all);
/* That of SIG_OURS alone. */
void signal_restore_ours(const struct actions *);
/* A child shares what its parent does with signals, ... */
void signal_share_actions(struct tarea *child, const struct tarea *);
/* ... or has a copy of it; ... */
void signal_copy_actions(struct tarea *child, struct tarea *);
/* ... and the kernel has cleared its handlers, ours as well. */
void signal_clear_actions(struct tarea *);
/* Our handlers again, after that. */
void signal_install_all(struct tarea *);
/*
 * Before an exec: the kernel is to ignore and block of SYNC_SIGS what the guest
 * does.  `saved' is for signal_exec_failed, which undoes that.
 */
void signal_before_exec(struct tarea *, uint64_t saved[2]);
void signal_exec_failed(const struct tarea *, const uint64_t saved[2]);

/* ---- masks.c ---- */

/* The kernel's mask of this thread. */
void signal_set_mask(uint64_t mask);
/* A thread begins: set its stack for handlers, then the guest's mask. */
void signal_thread(struct tarea *, uint64_t mask);
/* The stack that our handlers run on. */
static inline struct kstack
our_stack(const struct tarea *t)
{
	return (struct kstack){ (uint64_t)t - T_OFF, 0, 0, T_ALTSTACK };
}

/* Does a stack pointer lie in a stack?  None does in one without bytes. */
static inline bool
is_within(const struct kstack *s, uint64_t sp)
{
	return sp > s->sp && sp - s->sp <= s->size;
}

/* Does one with `sp' use the guest's alternate stack? */
bool signal_on_stack(const struct tarea *, uint64_t sp);
/* The guest's rt_sigprocmask, sigaltstack: its result. */
long signal_mask(struct tarea *);
long signal_stack(struct tarea *);
/* Set the alternate stack, if the guest may now; else an error. */
long signal_set_stack(struct tarea *, struct kstack);
/* The guest's alternate stack becomes the kernel's. */
void signal_guest_stack(const struct tarea *);
/* After signal_restore_actions(t, true): letting go is possible again. */
void signal_ready_to_go(struct tarea *);

/* ---- signal.c ---- */

/* Our handler, and what it calls without the guest's alignment checks. */
void rt_handler(int, struct ksiginfo *, void *);
void signal_handler(int, struct ksiginfo *, void *);
/* One that was sent, with a code that faults have: less this, and its pad. */
#define SENT_CODE 1000
#define SENT_PAD 0x746e6573

static inline void
signal_unmark(struct ksiginfo *si)
{
	if (si->pad != SENT_PAD || si->code >= 0)
		return;
	si->code += SENT_CODE;
	si->pad = 0;
}

/* True: an instruction raised it; it was not sent. */
static inline bool
signal_is_fault(int sig, const struct ksiginfo *info)
{
	return (SYNC_SIGS & SIGBIT(sig)) != 0 && info->code > 0;
}

/* ---- sync.c ---- */

/* One of SYNC_SIGS was sent and is blocked: keep it. */
void signal_sync_keep(struct tarea *, int sig, const struct ksiginfo *);
/* The thread ends: what it has kept for the process goes to another. */
void signal_sync_leave(struct tarea *);
/* If one that is kept is blocked no longer, raise it. */
void signal_sync_pending(struct tarea *);
/* Send all that are kept to the kernel again, which blocks them now. */
void signal_send_pending(struct tarea *);
/* Behind the call: take those from the kernel that are ignored by now. */
void signal_take_ignored(const struct tarea *, uint64_t blocked);
/* `sync' is to be blocked: if one that is kept ends the process, end it. */
void signal_sync_die(struct tarea *, uint64_t sync);

/* ---- hold.c ---- */

/* Hold the kept signal for one more block, if it comes too soon. */
bool signal_hold(struct tarea *);
/* The block is done: a held signal is kept again. */
void signal_unhold(struct tarea *);
/* Keep a signal that comes in the cache too soon; false: deliver it. */
bool signal_hold_here(struct tarea *, int sig, const struct ksiginfo *,
    const struct kucontext *);
/* Before a call: does the held signal stay held while the call is made? */
bool signal_hold_call(struct tarea *, uint64_t nr);
/* A call was made: signals that it sent come before anything else is done. */
void signal_called(struct tarea *, uint64_t nr);
/* After a return from a frame: from here on signals can come too soon. */
void signal_owe(struct tarea *);
/* Send the kept signal again: the kernel blocks it now. */
void signal_put_back(struct tarea *);
/* Make a call that may wait, which an alarm of ours ends: its result. */
long signal_held_call(struct tarea *);
/* Was the signal sent by such an alarm? */
bool signal_is_alarm(const struct ksiginfo *);
/* Let it come once more, while the call has not ended. */
void signal_alarm_again(const struct tarea *);
/* rt_sigprocmask while a signal is held: the kernel's mask differs. */
long signal_held_mask(struct tarea *, uint64_t how, const uint64_t *set,
    uint64_t *was);

/* The guest's signal mask where uc interrupted it. */
static inline uint64_t
signal_guest_mask(const struct tarea *t, const struct kucontext *uc)
{
	return t->held ? t->keptmask : uc->sigmask | t->syncblocked;
}

/* ---- deliver.c ---- */

/* The thread's process ends by the signal. */
_Noreturn void signal_die(struct tarea *, int sig);

/*
 * Give the guest signal sig; its state is in the area, mask is what it had
 * blocked.  uc, a kernel's frame, then leads to the handler.
 */
void signal_deliver(struct tarea *, int sig, struct ksiginfo *,
    struct kucontext *, uint64_t mask);
/* The same of the signal that is kept. */
void signal_deliver_kept(struct tarea *, struct kucontext *);
/* rt_trap was called for a frame: do what t->trap says. */
void signal_trap(struct tarea *, struct kucontext *);
/* Go on natively as uc says, for good, with the guest's mask and stack. */
void signal_leave(struct tarea *, const struct kucontext *, uint64_t mask);
/* Have our handler return into the runtime, with this mask of the guest's. */
void signal_resume(struct tarea *, struct kucontext *, uint64_t mask);
/* As if the guest's next instruction had raised sig: dispatch_go does. */
void signal_raise(struct tarea *, int sig, int code, uint64_t addr);
/* The guest's rt_sigreturn; comes back where it did not happen. */
long signal_return(struct tarea *);
/* It happened: the guest's state is in the copy of its frame. */
void signal_returned(struct tarea *);

/* ---- rseq.c ---- */

/* Note those that trace has found, once faults can be taken. */
void rseq_boot(void);
/* Of a thread with t->rseq: which sequence it is in, or was. */
void rseq_learn(const struct tarea *);
/* The guest's pc lies in a sequence: it becomes where that is aborted. */
void rseq_abort(struct tarea *);
/* The guest's rseq: its result. */
long rseq_call(struct tarea *);

#pragma GCC visibility pop
#endif
