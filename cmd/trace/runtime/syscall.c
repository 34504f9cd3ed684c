/*
 * syscall - the guest's system calls
 *
 * Nearly all go to the kernel unchanged.  Here is who treats those that do not:
 * which make or end threads and processes, change what memory holds, or concern
 * signals, and the few whose answer must differ.
 */
#include <linux/ptrace.h>
#include <linux/seccomp.h>
#include <linux/time.h>

#include "contexts.h"
#include "kinds.h"
#include "limits.h"
#include "queue.h"
#include "runtime.h"
#include "signals.h"
#include "state.h"
#include "threads.h"

long
guest_syscall(struct tarea *t, const uint64_t gpr[16])
{
	long r;

	contexts_rest(t);
	r = rt_guest_syscall(t, gpr);
	contexts_resume(t);
	return r;
}

/*
 * A call that may wait for signals, take them or tell of them.  Those of
 * SYNC_SIGS that the guest blocks are never blocked in the kernel, but while
 * it makes such a call, and one that was sent before waits there, too.
 */
long
guest_call(struct tarea *t)
{
	uint64_t block = t->syncblocked;
	long r;

	if (t->held && !syscall_never_waits(t->gpr[0]))
		return signal_held_call(t);
	if (block == 0 || rt.ctl->polling)
		return guest_syscall(t, t->gpr);
	__atomic_store_n(&t->syncignored, 0, __ATOMIC_SEQ_CST);
	sys4(__NR_rt_sigprocmask, SIG_BLOCK, &block, NULL, 8);
	signal_send_pending(t);
	r = guest_syscall(t, t->gpr);
	signal_take_ignored(t, block);
	sys4(__NR_rt_sigprocmask, SIG_UNBLOCK, &block, NULL, 8);
	return r;
}

static long
exec(struct tarea *t)
{
	uint64_t arg[4] = { t->gpr[7], t->tid, 0, 0 };
	uint64_t saved[2];
	struct limits was = LIMITS_NONE;
	long r;

	if (t->gpr[0] == __NR_execveat) {
		arg[0] = t->gpr[6];
		arg[2] = t->gpr[7] + 1;
	}
	table_empty(t);		/* that of the new image begins empty */
	buffer_publish(t, Q_SYSCALL, t->gpr[0], 0);
	branches_leave(t);
	if (!rt.ctl->polling) {
		limits_for_exec(&was);
		ask(t, REQ_EXEC, arg);
	} else {
		arg[0] = SAY_SECCOMP;
		ask(t, REQ_SAY, arg);
	}
	signal_before_exec(t, saved);
	r = guest_syscall(t, t->gpr);
	signal_exec_failed(t, saved);
	limits_exec_failed(&was);
	arg[0] = t->tid;
	ask(t, REQ_EXEC_FAILED, arg);
	return r;
}

#define ARCH_SHSTK_ENABLE 0x5001u

/*
 * No shadow stack: the program's calls and returns are none of the processor's,
 * so it would lack what they push.
 */
static long
prctl_base(struct tarea *t)
{
	uint32_t option = (uint32_t)t->gpr[7];
	long r;

	if (option == ARCH_SHSTK_ENABLE)
		return -EOPNOTSUPP;
	if (option == ARCH_SET_CPUID)
		cpuid_faults();
	r = guest_syscall(t, t->gpr);
	if (r == 0 && option == ARCH_SET_FS)
		t->fsbase = t->gpr[6];
	if (r == 0 && option == ARCH_SET_GS)
		t->gsbase = t->gpr[6];
	return r;
}

static void
end_process(struct tarea *t)
{
	buffer_publish(t, Q_SYSCALL, __NR_exit_group, 0);
	if (t->pid != rt.pid)	/* it shares the program's memory */
		thread_exit(t, __NR_exit_group, (long)t->gpr[7]);
	if (rt.boot.flags & BOOT_COUNTS)
		t->slot->icount = t->p;
	rt.ctl->status = (uint32_t)(t->gpr[7] & 0xff) << 8;
	serve_ended();
	sys1(__NR_exit_group, t->gpr[7]);
}

#define URING_EXT_ARG (1u << 3)	/* io_uring_enter: the mask is one of several */

/* Calls that wait under another mask: what it blocks, + 1, or 0. */
static uint64_t
wait_mask(const struct tarea *t, uint64_t nr)
{
	uint64_t at, mask;

	switch (nr) {
	case __NR_rt_sigsuspend:
		at = t->gpr[7];
		break;
	case __NR_ppoll:
		at = t->gpr[10];
		break;
	case __NR_epoll_pwait:
	case __NR_epoll_pwait2:
		at = t->gpr[8];
		break;
	case __NR_pselect6:
	case __NR_io_pgetevents:
		if (t->gpr[9] == 0 || rt_copy(&at, (void *)t->gpr[9], 8) < 0)
			return 0;
		break;
	case __NR_io_uring_enter:
		at = t->gpr[8];
		if ((t->gpr[10] & URING_EXT_ARG) && at != 0 &&
		    rt_copy(&at, (void *)at, 8) < 0)
			return 0;
		break;
	default:
		return 0;
	}
	if (at == 0 || rt_copy(&mask, (void *)at, 8) < 0)
		return 0;
	return mask + 1;
}

static long
waiting(struct tarea *t, uint64_t nr)
{
	long r;

	t->waitmask = wait_mask(t, nr);
	r = nr == __NR_io_uring_enter ? memory_write(t, nr) : guest_call(t);
	t->waitmask = 0;
	return r;
}

/*
 * A filter may forbid what we would call: no mprotect from here on, and futex
 * and sched_yield only if it permits them.
 */
static long
secure_alone(struct tarea *t)
{
	uint32_t was = rt.ctl->polling, no_futex = rt.ctl->no_futex;
	uint32_t no_yield = rt.ctl->no_yield;
	bool first = !t->act->unmasked;
	long r;

	if (first)
		signal_filter(t, true);
	rt.ctl->polling = 1;
	if (!filter_permits_futex(t, t->gpr[0]))
		rt.ctl->no_futex = 1;
	if (!filter_permits_yield(t, t->gpr[0]))
		rt.ctl->no_yield = 1;
	buffer_guard_all();
	counters_all(t);
	r = guest_syscall(t, t->gpr);
	if (is_error(r) || r == SYS_ABORTED) {
		rt.ctl->polling = was;
		rt.ctl->no_futex = no_futex;
		rt.ctl->no_yield = no_yield;
		if (first)
			signal_filter(t, false);
	}
	return r;
}

/* What fails is undone, but not what another thread has done meanwhile. */
static long
secure(struct tarea *t)
{
	static uint32_t lock;
	long r;

	lock_take(t, &lock);
	r = secure_alone(t);
	lock_give(&lock);
	return r;
}

/*
 * Which calls of the program's are to be turned into signals is told by the
 * addresses that make them, and here the runtime does: no kernel of ours has
 * that.
 */
static long
control(struct tarea *t)
{
	uint32_t option = (uint32_t)t->gpr[7];

	if (option == PR_SET_SECCOMP)
		return secure(t);
	if (option == PR_SET_SYSCALL_USER_DISPATCH)
		return -EINVAL;
	return guest_syscall(t, t->gpr);
}

/*
 * Tracing trace would stop it, and so the caller, which waits for it: that is
 * not permitted.
 */
static long
trace_process(struct tarea *t)
{
	uint64_t arg[4] = { t->gpr[6], 0, 0, 0 };

	if ((t->gpr[7] == PTRACE_ATTACH || t->gpr[7] == PTRACE_SEIZE) &&
	    ask(t, REQ_PTRACE, arg) == 0 && t->slot->ret[0] != 0)
		return -EPERM;
	return guest_call(t);
}

static long
one(struct tarea *t, uint64_t nr)	/* table */
{
	switch (nr) {
	case __NR_rt_sigaction:
		return signal_action(t);
	case __NR_rt_sigprocmask:
		return signal_mask(t);
	case __NR_sigaltstack:
		return signal_stack(t);
	case __NR_rt_sigreturn:
		return signal_return(t);
	case __NR_mmap:
	case __NR_munmap:
	case __NR_mremap:
	case __NR_mprotect:
	case __NR_pkey_mprotect:
		return memory_map(t, nr);
	case __NR_brk:
		return memory_break(t);
	case __NR_clone:
	case __NR_clone3:
	case __NR_fork:
	case __NR_vfork:
		return thread_clone(t);
	case __NR_execve:
	case __NR_execveat:
		return exec(t);
	case __NR_arch_prctl:
		return prctl_base(t);
	case __NR_rt_sigsuspend:
	case __NR_ppoll:
	case __NR_pselect6:
	case __NR_epoll_pwait:
	case __NR_epoll_pwait2:
	case __NR_io_pgetevents:
	case __NR_io_uring_enter:
		return waiting(t, nr);
	case __NR_madvise:
	case __NR_process_madvise:
		return memory_advise(t, nr);
	case __NR_shmat:
		return memory_attach(t);
	case __NR_userfaultfd:
	case __NR_ioctl:
	case __NR_io_uring_register:
		return memory_expose(t, nr);
	case __NR_open:
	case __NR_creat:
	case __NR_openat:
	case __NR_openat2:
		return memory_open(t, nr);
	case __NR_write:
	case __NR_writev:
	case __NR_pwrite64:
	case __NR_pwritev:
	case __NR_pwritev2:
	case __NR_sendfile:
	case __NR_splice:
	case __NR_copy_file_range:
	case __NR_io_submit:
	case __NR_io_getevents:
		return memory_write(t, nr);
	case __NR_seccomp:	/* others only ask what there is */
		if ((uint32_t)t->gpr[7] > SECCOMP_SET_MODE_FILTER)
			return guest_call(t);
		return secure(t);
	case __NR_prctl:
		return control(t);
	case __NR_prlimit64:
	case __NR_getrlimit:
	case __NR_setrlimit:
		return limit_call(t, nr);
	case __NR_rseq:
		return rseq_call(t);
	case __NR_ptrace:
		return trace_process(t);
	case __NR_exit:
		thread_exit(t, __NR_exit, (long)t->gpr[7]);
	default:
		return guest_call(t);
	}
}

/*
 * Behind the call somebody would see the engine, not the program: the tracer
 * of a child that we follow, or a filter.  So it is made natively.
 */
static void
leave_before(struct tarea *t, const struct exitmeta *x, enum say why)
{
	uint64_t arg[4] = { why, x->target - 2, 0, 0 };

	t->pc = x->target - 2;
	state_untell(t, x);
	ask(t, REQ_SAY, arg);
	let_go(t);
}

/*
 * A call that no signal interrupts.  It has been told by the time that one
 * turns it back, so it is made all the same: else it would be told twice.
 */
bool
syscall_never_waits(uint64_t nr)
{
	return nr == __NR_setitimer || nr == __NR_getitimer ||
	    nr == __NR_alarm || nr == __NR_timer_settime ||
	    nr == __NR_timer_gettime || nr == __NR_timer_getoverrun ||
	    nr == __NR_getpid || nr == __NR_gettid || nr == __NR_getppid ||
	    nr == __NR_getuid || nr == __NR_kill || nr == __NR_tgkill ||
	    nr == __NR_clock_gettime || nr == __NR_gettimeofday;
}

/* --syscall-times: both clocks in ns. Where calls are filtered, 0. */
static void
read_clocks(uint64_t now[2])
{
	static const int clock[] = { CLOCK_MONOTONIC, CLOCK_THREAD_CPUTIME_ID };
	int64_t t[2];

	now[0] = now[1] = 0;
	for (unsigned i = 0; i < 2 && !rt.ctl->polling; i++)
		if (sys2(__NR_clock_gettime, clock[i], t) == 0)
			now[i] = (uint64_t)t[0] * 1000000000 + (uint64_t)t[1];
}

static void
tell_times(struct tarea *t, const uint64_t start[2])
{
	uint64_t now[2];

	if (t->skips)
		return;
	read_clocks(now);
	queue_times(t, now[0] > start[0] ? now[0] - start[0] : 0,
	    now[1] > start[1] ? now[1] - start[1] : 0);
}

/* Its number, in the lower half of rax; the kernel extends its sign. */
static uint64_t
number_of(const struct tarea *t)
{
	return (uint64_t)(int64_t)(int32_t)t->gpr[0];
}

/* The system call at the end of the block; on at x->target. */
void
syscall_do(struct tarea *t, const struct exitmeta *x)
{
	uint64_t rax = t->gpr[0], rcx = t->gpr[1], r11 = t->gpr[11], start[2];
	uint64_t nr = number_of(t);
	bool timed = (rt.boot.flags & BOOT_TIMES) != 0;
	long r;

	if (nr == __NR_exit_group)
		end_process(t);
	if (nr == __NR_ptrace && t->gpr[7] == 0 &&
	    (rt.boot.flags & BOOT_FOLLOW))
		leave_before(t, x, SAY_TRACED);
	if (t->rseq != 0)
		rseq_learn(t);
	if (filter_reads_pc(t, nr))
		leave_before(t, x, SAY_FILTER);
	t->gpr[0] = nr;
	t->gpr[1] = x->target;
	t->gpr[11] = t->rflags;
	if (nr != __NR_execve && nr != __NR_execveat)
		buffer_publish(t, Q_SYSCALL, nr, 0);
	buffer_asleep(t);
	if (timed)
		read_clocks(start);
	r = one(t, nr);
	if (r == SYS_ABORTED && syscall_never_waits(nr))
		r = sys_guest(nr, t->gpr);
	if (timed && r != SYS_ABORTED)
		tell_times(t, start);
	buffer_awake(t);
	if (r == SYS_ABORTED) {
		t->pc = x->target - 2;
		t->gpr[0] = rax;
		t->gpr[1] = rcx;
		t->gpr[11] = r11;
	} else {
		t->gpr[0] = (uint64_t)r;
	}
}
