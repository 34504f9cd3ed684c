/*
 * runtime.h - the part of trace that runs inside the guest
 *
 * It is freestanding: no libc, general registers only, no relocations.  Each
 * thread's data is in its `struct tarea`; data that the process shares is in
 * `rt` and in the control segment.  While the guest's own code runs, in the
 * cache, only the signal handlers of the runtime are active.
 *
 * A thread is in the cache, in the runtime (on the area's runtime stack), or
 * in a handler (on the area's alternate stack, asynchronous signals blocked).
 */
#ifndef RUNTIME_H
#define RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../shared.h"
#include "kernel.h"

/* Else the compiler would load addresses from a table of absolute ones. */
#pragma GCC visibility push(hidden)

/*
 * The signal that our traps raise, and that brings threads out of the cache.
 * Of all synchronous signals a division error is the cheapest, and the rarest
 * in programs: a hypervisor may intercept undefined instructions, breakpoints
 * and single steps first.
 */
#define SIG_OURS SIG_FPE

/*
 * Why a thread records nothing.  Its p then counts instructions down, or is
 * unused.
 */
enum skips { SKIP_NONE, SKIP_AFTER, SKIP_OUT };

enum trap { TRAP_NONE, TRAP_DELIVER, TRAP_RAISE, TRAP_LETGO, TRAP_NATIVE,
	TRAP_BEGIN };

/* Kind cache: a thread's lines, see table.c. */
struct line_table {
	struct line {
		uint64_t tag;		/* its address, or NO_LINE */
		uint64_t stamp;		/* 0: free */
	} data[TABLE_LINES];
	uint64_t itag[TABLE_LINES];
	uint32_t icell[TABLE_LINES];	/* 0: free */
	uint32_t n;			/* lines in it */
};
#define LOOK_ROOM 64u	/* bytes: more than a leaving line and a reference */

/* --contexts: how a thread gets to its pc. */
struct moving {
	uint64_t site, sp, landing;
	uint32_t key;
	uint8_t move, sitelen;
	bool indirect;
};

/* What a process has done with signals: the guest's, not the kernel's. */
struct actions {
	struct ksigaction of[NSIG + 1];
	uint32_t lock;		/* lock.c */
	uint32_t users;		/* threads */
};

/* A thread's area; REG_T points 2 bytes before fsbase. */
struct tarea {
	TAREA_HEAD		/* of tarea.h */
	uint32_t pending;	/* number of the kept signal, or 0 */
	uint32_t trap;		/* enum trap: why rt_trap was called */
	struct slot *slot;
	uint32_t slotno;
	uint32_t tid;
	uint32_t pid;		/* rt.pid, or a process's that shares memory */
	uint32_t cleared;	/* 1: its handlers, and ours, are gone */
	struct actions *act;	/* rt.act, or that of such a process's first */
	struct actions ownact;
	uint64_t keptmask;	/* the guest's mask when it came */
	struct ksiginfo kept;
	struct kstack altstack;	/* the guest's */
	uint64_t syncblocked;	/* synchronous signals that the guest blocks */
	uint64_t bufend;	/* its buffer's guard page; 0: no buffer */
	uint64_t from;		/* records are published up to this address */
	uint64_t start_mask;	/* a new thread's, + 1 */
	uint64_t skips;		/* enum skips: why nothing is recorded */
	uint64_t past;		/* MODE_PAST applies at this pc, or 0 */
	struct {		/* bufend, from, p while outside of windows */
		uint64_t bufend, from, p;
	} aside;
	uint64_t stepping;	/* it does one instruction natively */
	uint64_t stepmask;	/* the guest's mask; all are blocked then */
	uint64_t unknown;	/* its pc, if trace cannot decode it */
	struct exitmeta told;	/* its exit; n is 0 if it was not recorded */
	uint64_t waitmask;	/* mask of the call while it waits, + 1 */
	uint64_t handlermask;	/* kept signal: the mask its handler adds to */
	uint64_t syncpending;	/* those of SYNC_SIGS sent while blocked;
				 * another thread may clear a bit */
	uint64_t syncignored;	/* those ignored since its last call began */
	struct ksiginfo syncinfo[NSYNC];	/* of each of them */
	uint32_t gen;		/* of the cache when it was entered last */
	uint32_t tf;		/* the guest's trap flag, in the cache */
	uint64_t trapped;	/* pc of the last trap under it, or 0 */
	uint64_t over;		/* flags to restore after our own instruction */
	uint32_t raise;		/* signal for dispatch_go to raise, or 0 */
	struct ksiginfo raised;
	uint64_t child;		/* 1: a process of its own, let go at once */
	uint64_t rseq;		/* the guest's struct rseq, or 0 */
	uint64_t rseqsig;
	uint64_t shares;	/* 1: such a process in its parent's memory */
	uint32_t held;		/* hold.c: number of the held signal, or 0 */
	uint32_t owed;		/* blocks to execute before the next signal */
	uint32_t turns;		/* handlers that returned to one pc in a row */
	uint64_t backpc, backsp;	/* that pc and stack pointer */
	uint64_t timerpc, timersp;	/* behind the last call for a timer */
	uint32_t timerturns;	/* how many more handlers may return there */
	struct moving moving;
	struct {		/* where it began, and whose code that is */
		uint64_t pc;
		uint32_t owner;
	} root;
	uint64_t narc, nframe;	/* arcs' counts, frames that are accessible */
	uint32_t unlinked;	/* calls by arcs without code */
	uint64_t ncount;	/* counters that can be accessed */
	uint32_t renewed;	/* ctl->renewed when it entered the cache */
	struct {		/* what t->open stands for, see allocs.c */
		uint64_t fn, ret, ptr;
		uint64_t taken;	/* bytes of the old memory; 0: all */
		uint64_t tp;	/* the thread pointer told last */
		uint32_t args;
	} opened;
};

struct rt {
	struct boot boot;
	struct control *ctl;
	const uint32_t *tab;
	const uint32_t *tabowner;	/* of its entries; NULL: all are 0 */
	uint64_t *ibl;
	struct fragmeta *frags[2];
	const uint8_t *maps;
	const struct exitkept *exits;
	const struct exitcall *calls;	/* of exits; NULL: no --contexts */
	struct cpuidrow *cpuids;
	uint64_t bufs;		/* address of the first buffer */
	struct ctx_arc *arcs;
	struct ctx_state *states;
	struct ctx_heads *heads;
	uint32_t guarded[NBUF / 32];	/* bit n: buffer n has its guard page */
	uint64_t zone[2], zonesize[2];
	/* the address of a place of a look-up, less what t->entry has, by the
	 * sign of that */
	uint64_t place[2];
	struct actions act;
	uint32_t nthread;
	uint32_t bringing;	/* 1: a thread brings all out of the cache */
	uint32_t pid;
	uint32_t ready;		/* other threads may join */
	uint32_t nawake;	/* requests that polled since a long answer */
	uint32_t next_crowded;	/* ctl->crowded the next time */
};
extern struct rt rt;

/* True: REG_P is not stolen.  The assembler keeps it in t->p nevertheless. */
static inline bool
p_is_guests(void)
{
	return (rt.boot.flags & BOOT_FREE_P) != 0;
}

/* Has the thread something of its own in REG_P while it is told? */
static inline bool
p_is_kept(void)
{
	return (rt.boot.flags & (BOOT_CACHE | BOOT_BRANCHES)) != 0;
}

/* ---- entry.S, look.S ---- */

/* Out of the cache: at an exit; where lookup words did not lead on; */
void rt_exit(void);
void rt_miss(void);
/* where a first lookup word led elsewhere: the second may lead on; */
void rt_again(void);
/* at a call whose target has no code; at a return without a landing. */
void rt_called(void);
void rt_return(void);
/* What fragments call for a look-up: any; the usual ones of kind cache; */
void rt_look(void);
void rt_look_data(void);
void rt_look_fetch(void);
/* and these where calling contexts are told. */
void rt_told_data(void);
void rt_told_fetch(void);
/* Into the cache at t->entry, with the guest's state in the area. */
void rt_enter(struct tarea *) __attribute__((noreturn));
/* Where a handler of ours returns to instead of what it interrupted. */
void rt_resume(void);
/* How our handlers return to the kernel: sigaction's restorer. */
void rt_restorer(void);
/* Raise SIG_OURS: its handler does what t->trap says. */
void rt_trap(struct tarea *) __attribute__((noreturn));
/*
 * Make a system call of the guest's, with its registers: what the kernel has
 * answered, or SYS_ABORTED, because a signal came before it was made.
 */
long rt_guest_syscall(struct tarea *, const uint64_t gpr[16]);
/* The same, and meanwhile the thread rests: see contexts_rest. */
long guest_syscall(struct tarea *, const uint64_t gpr[16]);
/* Call a function of the guest's natively, on its stack: its result. */
uint64_t rt_call(struct tarea *, uint64_t function, const uint64_t arg[4]);
/* clone and clone3 for a thread, which begins on the child's area's stack. */
long rt_clone_thread(struct tarea *, struct tarea *child, uint64_t arg1);
/* The same for a process that shares our memory, on the stack of `on'. */
long rt_clone_vfork(struct tarea *, struct tarea *on);
int rt_copy(void *to, const void *from, size_t n);	/* -1: a fault */
int rt_cpuid(uint32_t leaf, uint32_t sub, uint32_t to[4]);	/* the same */
/* Return from the signal frame at sp; comes back only if that cannot be. */
long rt_sigreturn(struct tarea *, uint64_t sp);
/* Unmap the thread's own area, and end by system call nr with this status. */
void rt_thread_exit(uint64_t area, uint64_t size, long status, long nr)
    __attribute__((noreturn));
/* The same, but die of a signal that is blocked until `mask' is set. */
void rt_thread_die(uint64_t area, uint64_t size, uint32_t pid, uint32_t tid,
    int sig, const uint64_t *mask) __attribute__((noreturn));
/* Places in the code of these, where handlers treat a thread by itself. */
extern char blob[], rt_text_end[], rt_enter_go[], rt_enter_end[];
extern char rt_exit_end[], rt_trap_insn[];
extern char rt_again_saved[], rt_again_end[], rt_again_miss[];
extern char rt_look_check[], rt_look_end[], rt_look_trap[];
extern char rt_line_check[], rt_line_end[];
extern char rt_sys_check[], rt_sys_insn[], rt_sys_abort[];
extern char rt_copy_insn[], rt_cpuid_insn[], rt_copy_fault[];
extern char rt_ret_check[], rt_ret_insn[], rt_ret_bad[], rt_ret_abort[];
extern char rt_returned[];
extern char rt_die_ill[], rt_die_trap[], rt_die_fpe[], rt_die_bus[];
extern char rt_die_segv[];
#define SYS_ABORTED (-10000l)

/* ---- boot.c: a process, or a thread that is there, begins ---- */

/*
 * The first thread of a process: the guest's state is in rt.boot.  Every
 * asynchronous signal is blocked until the first look at them.
 */
void boot_process(void) __attribute__((noreturn));
/* Another thread of a process that ran before, with this state. */
void boot_thread(const struct guest_state *) __attribute__((noreturn));

/* ---- dispatch.c: from a fragment to the next; what exits are for ---- */

/* The thread has left the cache, by rt_exit, rt_miss or rt_called: go on. */
void dispatch_exit(struct tarea *);
void dispatch_miss(struct tarea *);
void dispatch_called(struct tarea *);
/* Behind a handler of ours, or a signal kept on the way in. */
void dispatch_resume(struct tarea *);
/*
 * Find where to go on for t->pc and leave it in t->entry.  exitno: the exit
 * that led here and wants to be linked; BY_LOOKUP: a lookup word is to lead
 * there; or ~0.  May not return: signals.
 */
#define BY_LOOKUP (~0ull - 1)
void dispatch_go(struct tarea *, uint64_t exitno);
/* Before there is a second thread: what --for leaves will be shared. */
void dispatch_share(struct tarea *);

/* ---- letgo.c: threads go on natively ---- */

/* The thread is about to go on natively: publish its last records, and such. */
void before_letting_go(struct tarea *);
/* The thread goes on natively, for good. */
void let_go(struct tarea *) __attribute__((noreturn));

/* ---- cpuid.c ---- */

/* Do the guest's cpuid, by the registers in the area; -1: it faults. */
int cpuid_do(struct tarea *);
/* The guest has had cpuid fault: its answers are kept no longer. */
void cpuid_faults(void);

/* ---- wait.c: a request waits for its answer ---- */

struct waiting {
	enum request what;
	uint32_t cpu;		/* where it was asked */
	uint32_t turns;		/* yields to trace on this processor */
	uint32_t polls;
	bool sleeps;		/* at once */
	bool is_late;		/* whatever it is: trace was not done yet */
	long start;		/* when it yielded first, ns; 0: not timed */
};
/* Set all of w but `what' and `cpu' before the request is made. */
void wait_begin(struct waiting *);
/* Between two looks at the answer; false: sleep now. */
bool wait_awake(struct waiting *);
/* The answer is there: what does that say of the next requests? */
void wait_end(struct waiting *);

/* ---- serve.c: requests to trace, and the queue ---- */

/*
 * From here to queue_end a thread takes a place in the queue, or a buffer, or
 * hands one over.  If it is killed there, trace has to look who has what.
 */
static inline void
queue_begin(struct tarea *t)
{
	__atomic_store_n(&t->slot->putting, PUT_BEGUN, __ATOMIC_RELEASE);
}

/* That is done. */
static inline void
queue_end(struct tarea *t)
{
	__atomic_store_n(&t->slot->putting, 0, __ATOMIC_RELEASE);
}

/* Make a request: 0, and the answer is in slot->ret; -1: trace is gone. */
int ask(struct tarea *, enum request, const uint64_t *arg);
/* Hand over the thread's records since the last time, and what ended them. */
void queue_put(struct tarea *, enum qtype, uint64_t arg, unsigned sig);
/* Hand the buffer over for good. */
void queue_buffer(struct tarea *);
/* An interval of counts has ended: wait until trace has read the counters. */
void queue_interval(struct tarea *);
/* Hand over a full buffer's bytes from..to, and the new one's, in one step. */
void queue_turn(struct tarea *, uint64_t from, uint64_t to);
/* How long the thread's last system call took, by both clocks, in ns. */
void queue_times(struct tarea *, uint64_t wall, uint64_t cpu);
/* Kind counts: hand over what --allocs tells of one event. */
void queue_values(struct tarea *, const uint64_t v[ALLOC_VALUES]);
/* Sleep while the word is val, 100 ms at most; wake up to n that do. */
void futex_wait(uint32_t *, uint32_t val);
void futex_wake(uint32_t *, int n);
void pause_ms(void);		/* sleep for one */
/* Has trace ended, so that nobody answers? */
bool trace_died(void);
/* The process is about to end: set ctl->ended. */
void serve_ended(void);

/*
 * ---- lock.c: locks among the program's threads ----
 *
 * Take one; true: it was a dead thread's, which may have done things by half.
 */
bool lock_take(struct tarea *, uint32_t *lock);
void lock_give(uint32_t *lock);

/* ---- buffer.c: the thread's record buffer ---- */

/* The thread begins: give it a buffer, unless it records later or never. */
void buffer_first(struct tarea *);
/* How many instructions from now on an interval's end is; 0: there is none. */
uint64_t buffer_span(void);
/* The thread leaves its window: put its buffer aside. */
void buffer_aside(struct tarea *);
/* It enters one: take that buffer back. */
void buffer_back(struct tarea *);
/* Is the address in the guard page of the thread's buffer? */
bool buffer_guard(struct tarea *, uint64_t addr);
/* Guard all buffers now: mprotect may be forbidden later. */
void buffer_guard_all(void);
/* Make room for n bytes that the runtime itself will write at t->p. */
void buffer_room(struct tarea *, uint64_t n);
/* A store of the fragment hit the guard page: take another buffer. */
void buffer_full(struct tarea *, struct kucontext *);
/* Before a call that may block: with very many threads give it back. */
void buffer_asleep(struct tarea *);
/* After it: take a buffer, if the thread records and has none. */
void buffer_awake(struct tarea *);
/* queue_put, if the thread records; not of Q_RECORDS where there are none. */
void buffer_publish(struct tarea *, enum qtype, uint64_t arg, unsigned sig);

/* ---- table.c: kind cache, the table of recently used lines ---- */

/* A new thread's table is empty. */
void table_clear(struct tarea *);
/* Set what fragments call for look-ups. */
void table_look_by(struct tarea *);
/* Empty the table, with a record of each line that leaves. */
void table_empty(struct tarea *);
/* Do the look-up that rt_look was called for. */
void table_look(struct tarea *);

/* The guest's registers, by their numbers, as rt_look has saved them. */
static inline const uint64_t *
look_saved(const struct tarea *t)
{
	return (const uint64_t *)((uint64_t)t + T_BIAS + TO_LOOK_SAVE);
}

/* ---- signal.c: the guest's signals, and what it asks about them ---- */

/* The process begins: take over the kernel's dispositions. */
void signal_boot(void);
/* Our handler, and what it calls without the guest's alignment checks. */
void rt_handler(int, struct ksiginfo *, void *);
void signal_handler(int, struct ksiginfo *, void *);
/* A thread begins: set its stack for handlers, then the guest's mask. */
void signal_thread(struct tarea *, uint64_t mask);
/* Install our handler for sig, with the guest's flags that the kernel needs. */
void signal_install(int sig, uint64_t flags);
/* The guest's rt_sigaction, rt_sigprocmask, sigaltstack: its result. */
long signal_action(struct tarea *);
long signal_mask(struct tarea *);
long signal_stack(struct tarea *);
/* The guest's handlers instead of ours; all: that of SIG_OURS, too. */
void signal_restore_actions(struct tarea *, int all);
/* What the guest wants done with sig, which comes now: once if it says so. */
struct ksigaction signal_take_action(struct tarea *, int sig);
/* A child shares what its parent does with signals, ... */
void signal_share_actions(struct tarea *child, const struct tarea *);
/* ... or has a copy of it; ... */
void signal_copy_actions(struct tarea *child, struct tarea *);
/* ... and the kernel has cleared its handlers, ours as well. */
void signal_clear_actions(struct tarea *);
/* Our handlers again, after that. */
void signal_install_all(struct tarea *);
/* The guest's alternate stack becomes the kernel's. */
void signal_guest_stack(const struct tarea *);
/* After signal_restore_actions(t, 1): letting go is possible again. */
void signal_ready_to_go(struct tarea *);
/*
 * Before an exec: the kernel is to ignore and block of SYNC_SIGS what the guest
 * does.  `saved' is for signal_exec_failed, which undoes that.
 */
void signal_before_exec(struct tarea *, uint64_t saved[2]);
void signal_exec_failed(const uint64_t saved[2]);
/* One of SYNC_SIGS was sent and is blocked: keep it. */
void signal_sync_keep(struct tarea *, int sig, const struct ksiginfo *);
/* If one that is kept is blocked no longer, raise it. */
void signal_sync_pending(struct tarea *);
/* Send all that are kept to the kernel again, which blocks them now. */
void signal_send_pending(struct tarea *);
/* Behind the call: take those from the kernel that are ignored by now. */
void signal_take_ignored(const struct tarea *, uint64_t blocked);

/* True: an instruction raised it; it was not sent. */
static inline bool
signal_is_fault(int sig, const struct ksiginfo *info)
{
	return (SYNC_SIGS & SIGBIT(sig)) != 0 && info->code > 0;
}

/* ---- hold.c: delay a signal until the guest has made progress ---- */

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
/* A handler has returned: from here on signals can come too soon. */
void signal_owe(struct tarea *);
/* Send the kept signal again: the kernel blocks it now. */
void signal_put_back(struct tarea *);
/* Make a call that may wait, which an alarm of ours ends: its result. */
long signal_held_call(struct tarea *);
/* Was the signal sent by such an alarm? */
bool signal_is_alarm(const struct ksiginfo *);
/* rt_sigprocmask while a signal is held: the kernel's mask differs. */
long signal_held_mask(struct tarea *, uint64_t how, const uint64_t *set,
    uint64_t *was);

/* The guest's signal mask where uc interrupted it. */
static inline uint64_t
signal_guest_mask(const struct tarea *t, const struct kucontext *uc)
{
	return t->held ? t->keptmask : uc->sigmask | t->syncblocked;
}

/* ---- deliver.c: the guest's signal frames, made and returned from ---- */

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

/* ---- state.c and others: the state at an address of the code cache ---- */

/* Is it an address of the code cache? */
bool state_in_cache(uint64_t pc);
/* The thread was interrupted in the cache: its state into its area. */
void state_take(struct tarea *, struct kucontext *);
/* Is the interrupted instruction ours, and not a copy of the guest's? */
bool state_is_ours(const struct kucontext *);
/*
 * Under the trap flag, at a trap: was an instruction of the guest's done, or a
 * round of one that is repeated, since the last trap?
 */
bool state_advanced(struct tarea *, const struct kucontext *);
/* The exit was told, but not its last instruction: tell what is before that. */
void state_untell(struct tarea *, const struct exitmeta *);
/* Does the runtime, and not the cache, do what exit x is there for? */
bool state_is_outside(const struct exitmeta *x);
/* The exit's last instruction was executed in the cache: note what it did. */
void state_noted(struct tarea *, const struct exitmeta *);
/* The guest's pc for an address that the x87 unit remembers. */
uint64_t state_fp_pc(const struct tarea *, uint64_t ip);
/* Before the maps may go: the x87 unit remembers the guest's pc instead. */
void state_fp_settle(struct tarea *);
/* The thread was interrupted where the guest itself put the pc. */
void state_native(struct tarea *, struct kucontext *);
/* The guest's state into a frame. */
void state_put(struct tarea *, struct kucontext *);

/* ---- rseq.c: restartable sequences, of a process attached to ---- */

/* Note those that trace has found, once faults can be taken. */
void rseq_boot(void);
/* Of a thread with t->rseq: which sequence it is in, or was. */
void rseq_learn(const struct tarea *);
/* The guest's pc lies in a sequence: it becomes where that is aborted. */
void rseq_abort(struct tarea *);
/* The guest's rseq: its result. */
long rseq_call(struct tarea *);

/* ---- contexts.c, ctx*.c: with --contexts, where fragments cannot ---- */

/* Make the frames of a new thread; -1: no memory. */
int contexts_begin(struct tarea *);
/* All memory that it may need can be accessed from here on. */
void contexts_all(struct tarea *);
/* An address that could not be accessed: now it can, or frames are full. */
enum contexts_fault { CONTEXTS_NOT, CONTEXTS_ROOM, CONTEXTS_FULL };
enum contexts_fault contexts_fault(struct tarea *, uint64_t addr);
/* The innermost frame, and the arc that it was entered by. */
struct ctx_frame *contexts_top(const struct tarea *);
const struct ctx_arc *contexts_arc(const struct tarea *);
/* The owner of the fragments that the thread runs; 0: none. */
uint32_t contexts_owner(const struct tarea *);
/* A call was interrupted: take back that it has been counted. */
void contexts_uncall(struct tarea *, uint64_t arc);
/* The same of a landing at this map entry. */
void contexts_unland(struct tarea *, const struct mapent *);
/*
 * Kind cache: n instructions more, and their reads and writes; or less, by the
 * sign.  Of the three, the first `from' have been counted.
 */
void contexts_cost(struct tarea *, uint64_t n, const uint8_t refs[2],
    unsigned from, int64_t sign);
/* A window of the thread ends at t->pc, or begins there. */
void contexts_end_window(struct tarea *);
void contexts_begin_window(struct tarea *);
/* A repeated instruction was interrupted: take off what is left of it. */
void contexts_rounds(struct tarea *, const struct mapent *, uint64_t left);
/* Before a reference is told: have the thread's frames been told? */
bool contexts_are_told(const struct tarea *);
/* Tell those that have changed, and leave `room' bytes behind these records. */
void contexts_tell(struct tarea *, uint64_t room);
/* The thread left by exit x, and goes on at t->pc. */
void contexts_left(struct tarea *, const struct exitmeta *,
    const struct exitcall *);
/*
 * The thread waits, or makes a call of the guest's: from here on trace may
 * change what it has of calls.
 */
void contexts_rest(struct tarea *);
/* The thread goes on, once trace is done with that. */
void contexts_resume(struct tarea *);
/* How an exit of the table leaves its context. */
const struct exitcall *contexts_exit(uint32_t number);
/* Do what it left for, before it goes on at t->pc. */
void contexts_arrive(struct tarea *);
/* CALLED and its arc, if one led to t->pc and has no code; else ~0. */
uint64_t contexts_called(const struct tarea *);
/* Make a step of another kind, behind the instruction at pc. */
void contexts_step(struct tarea *, enum move, uint64_t pc);

/* ---- arcs.c: with --contexts, arcs like others ---- */

/* A move from a state, like a call that trace has made: its arc, or 0. */
uint32_t arcs_make(struct ctx_words *, uint32_t from, const struct moving *,
    uint64_t target);

/* ---- branches.c: kind branches, what a fragment has not learnt ---- */

/*
 * Interrupted at the map entry: do what is left of the branch at pc; x is the
 * entry's exit, if it is of one.  The entry is then that behind the branch.
 * True: it was mispredicted, and that has not been counted.
 */
bool branches_settle(struct tarea *, struct kucontext *, struct mapent *,
    const struct exitmeta *x, uint64_t pc);
/* Before an exec: leave the predictor to the new image. */
void branches_leave(struct tarea *);
/* The first thread of an image: take the predictor that was left. */
void branches_begin(struct tarea *);
/* Count so many, for instruction n of a block; 0: take one back. */
void branches_missed(struct tarea *, uint32_t block, unsigned n,
    unsigned missed);
/*
 * The repeated instruction at pc has done n rounds: learn them.  It compares
 * and goes on.  How often was it mispredicted?
 */
unsigned branches_rounds(struct tarea *, uint64_t pc, uint64_t n,
    bool goes_on);
/* LOOK_ROUNDS: behind the instruction at t->pc; rcx is the guest's. */
void branches_look(struct tarea *, const uint32_t asked[2], uint64_t rcx);
/* The indirect branch of exit x did not happen: it has faulted. */
void branches_undo(struct tarea *, const struct exitmeta *x);

/* ---- allocs.c: with --allocs ---- */

/* At the first instruction of a function that allocates or frees. */
void allocs_open(struct tarea *, uint32_t args);
/* Behind the return to pc of what is open. */
void allocs_close(struct tarea *, uint64_t pc);
/* A signal found the thread, whose state is known: perhaps it returned. */
void allocs_settle(struct tarea *);
/* Before the thread goes on: tell where it has its own data, if that is new. */
void allocs_thread(struct tarea *);

/* ---- window.c: windows, entered and left ---- */

/* At the first instruction of a function of --from or --to. */
void window_exit(struct tarea *);
/* Behind a return or an indirect jump: does that end the window? */
void window_returned(struct tarea *);
/* What the program has switched by a request: does the thread do that? */
bool window_is_right(const struct tarea *);
/* If it does not: enter or leave a window. */
void window_switch(struct tarea *);

/* The enum mode of the code that the thread is to run at t->pc. */
static inline unsigned
window_mode(const struct tarea *t)
{
	return (t->skips == SKIP_OUT ? MODE_OUT : MODE_IN) |
	    (t->past != 0 && t->past == t->pc ? MODE_PAST : 0);
}

/* ---- client.c ---- */

/* Do a client request: its words are at the guest's rax. */
void client_request(struct tarea *);

/* ---- syscall.c: the guest's system calls ---- */

/* Is it a call that no signal interrupts? */
bool syscall_never_waits(uint64_t nr);
/* Raise the guest's limit of the address space by our own bytes. */
void limit_for(uint64_t ours);
/* The system call at the end of the block; the thread goes on at its target. */
void syscall_do(struct tarea *, const struct exitmeta *);

/* ---- procmem.c: writes into the guest's own memory by /proc ---- */

/* A call of the guest's opened fd with these flags. */
void procmem_opened(int64_t fd, uint64_t flags);
/* Will the guest's call nr write to its own memory, or may it? */
bool procmem_writes(const struct tarea *, uint64_t nr);
/* Did the guest's call nr write n or more bytes to its own memory? Where? */
bool procmem_written(const struct tarea *, uint64_t nr, uint64_t n,
    uint64_t range[2]);

/* ---- area.c: areas of threads, and slots ---- */

/* Bytes of address space that the engine takes in the program, ... */
uint64_t area_bytes_all(void);
/* ... and those that one more area would take. */
uint64_t area_bytes(void);
/* An area for a thread, with a slot; NULL: no memory or no slot is left. */
struct tarea *area_new(uint32_t tid);
/* A child that could not be made: its parent frees its area and its slot. */
void area_free(struct tarea *parent, struct tarea *child);
/* The slot's area is about to go: t does not look at it any more. */
void area_forget(struct tarea *t, uint32_t slot);
/*
 * Bytes of the thread's memory that may be unmapped; 0: others still use its
 * actions.
 */
uint64_t area_to_free(struct tarea *);
/* Another thread may have the slot. */
void slot_free(struct slot *);
/* Free all that processes had that trace has buried since the last time. */
void area_free_dead(struct tarea *);
/* Make the first n counters of the area accessible; no memory: panic. */
void counters_room(struct tarea *, uint64_t n);
/* Make all counters of all areas accessible, as far as there is memory. */
void counters_all(struct tarea *);
/* 1: it was the fault of a counter beyond these, which now can be. */
int counters_fault(struct tarea *, uint64_t addr);
/* Signals that wait in the runtime are ignored now: no thread has them. */
void area_drop_waiting(struct tarea *, uint64_t sigs);

/* ---- thread.c: threads and processes begin and end ---- */

/* A new thread's first step, on its own area's stack. */
void thread_start(struct tarea *) __attribute__((noreturn));
/* That of a process which shares its parent's memory: it goes on natively. */
void thread_child(struct tarea *) __attribute__((noreturn));
/* The guest's fork, vfork, clone or clone3: the result for the parent. */
long thread_clone(struct tarea *);
/* exit(2) of one thread; or exit_group(2), of a process that shares memory. */
void thread_exit(struct tarea *, long nr, long status)
    __attribute__((noreturn));
/*
 * A process that shares memory is about to die: all that it has becomes free
 * but its area, of which so many bytes may be unmapped.
 */
uint64_t thread_leave(struct tarea *);

/* ---- mini.c: what a C library would have ---- */

/* As in C; compilers call these, too. */
void *memcpy(void *, const void *, size_t);
void *memset(void *, int, size_t);
size_t strlen(const char *);
/* The engine cannot go on: say why on the guest's standard error, and exit. */
void panic(const char *) __attribute__((noreturn));
/* The same of a fault at ip, in our own code; addr: what it accessed. */
void panic_fault(uint64_t ip, uint64_t addr, uint64_t sp)
    __attribute__((noreturn));

/* An exit by its number. */
static inline struct exitmeta
exit_at(uint64_t number)
{
	struct exitmeta x = exit_unpack(&rt.exits[number]);

	if (rt.calls != NULL)
		memcpy(x.refs, rt.calls[number].refs, sizeof x.refs);
	return x;
}

/* The processor that we are on: the kernel puts it into a segment's limit. */
static inline uint32_t
this_cpu(void)
{
	uint32_t limit = ~0u;

	__asm__ volatile("lsl %1, %0" : "+r"(limit) : "r"(0x7bu) : "cc");
	return limit == ~0u ? limit : limit & 0xfff;
}

/* The area of the thread whose stack this address is on. */
static inline struct tarea *
self(const void *on_stack)
{
	uint64_t base = (uint64_t)on_stack & ~(uint64_t)(T_SIZE - 1);

	return (struct tarea *)(base + T_OFF);
}

#pragma GCC visibility pop
#endif
