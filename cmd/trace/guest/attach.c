/*
 * attach - a process that runs already: -p
 *
 * Every thread is seized and stopped, until no new ones are found, but for the
 * kernel's own, which never run the program's code.  A system call that the
 * stop interrupted will be made again, as the kernel would have it.  The
 * runtime comes in by the first thread; the others begin in it each at a small
 * stack of its own, with its registers beside it.
 */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest/guest.h"
#include "guest/parts.h"
#include "mem.h"
#include "prog.h"

#ifndef PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG	/* older C libraries */
#define PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG \
	((__typeof__(PTRACE_CONT))0x4211)
#endif

struct attached *attach_threads;
size_t attach_nthreads;
uint64_t attach_stacks;
static size_t cap;
static size_t ntaken;		/* threads that are ours to give back */

/* A set of signals in a thread's status. */
static uint64_t
signals(pid_t tid, const char *which)
{
	char text[32];

	return task_field(tid, which, text, sizeof text) ?
	    strtoull(text, NULL, 16) : 0;
}

/*
 * A fault's signal, which the stop came before: the kernel would deliver it in
 * the midst of the first call that we make.  Not where the process is stopped:
 * to deliver it there it would have to go on.
 */
static bool
has_fault(pid_t tid, int st)
{
	return !is_group_stop(st) && (signals(tid, "SigPnd") &
	    ~signals(tid, "SigBlk") & ~ALL_ASYNC) != 0;
}

uint64_t
attach_mask(pid_t tid)
{
	return ALL_ASYNC | ((signals(tid, "SigPnd") | signals(tid, "ShdPnd")) &
	    signals(tid, "SigBlk") & ~(1ull << (SIGTRAP - 1)));
}

#define MOST_FAULTS 1000u	/* let in; a flood of them does not end */
#define MOST_PAUSES 1000u	/* in which a signal may come: 100 ms */
#define PAUSE_US 100

/*
 * Wait for a thread's next stop.  comes: a signal is on its way, whose stop
 * that is, unless another thread has it ignored meanwhile.
 */
static bool
next_stop(pid_t tid, bool comes, int *st)
{
	unsigned n;
	pid_t p = 0;

	for (n = 0; comes && p == 0 && n < MOST_PAUSES; n++) {
		p = waitpid(tid, st, __WALL | WNOHANG);
		if (p == 0)
			usleep(PAUSE_US);
	}
	if (p == 0) {
		if (comes)
			ptrace(PTRACE_INTERRUPT, tid, 0L, 0L);
		p = waitpid(tid, st, __WALL);
	}
	return p >= 0 && WIFSTOPPED(*st);
}

/* Seize and stop a thread; false: it has ended. */
static bool
stop(pid_t tid)
{
	unsigned faults = 0;
	bool comes = false;	/* a signal that we let the thread have */
	int st, err;

	if (ptrace(PTRACE_SEIZE, tid, 0L, 0L) < 0) {
		if (errno == ESRCH || (area.ctl != NULL && area_is_left()))
			return false;
		err = errno;
		if (task_is_dead(tid))
			return false;
		errno = err;
		die("process %d: cannot attach (another user's, traced "
		    "already, or kernel.yama.ptrace_scope):", (int)guest.pid);
	}
	ptrace(PTRACE_INTERRUPT, tid, 0L, 0L);
	while (next_stop(tid, comes, &st)) {
		if (st >> 16 == PTRACE_EVENT_STOP) {
			if (++faults == MOST_FAULTS || !has_fault(tid, st))
				return true;
			ptrace(PTRACE_CONT, tid, 0L, 0L);
			comes = true;
			continue;
		}
		if (comes)	/* the handler's first instruction stops */
			ptrace(PTRACE_INTERRUPT, tid, 0L, 0L);
		comes = false;
		ptrace(PTRACE_CONT, tid, 0L, (long)WSTOPSIG(st));
	}
	return false;
}

static bool
is_known(pid_t tid)
{
	size_t i;

	for (i = 0; i < attach_nthreads; i++)
		if (attach_threads[i].tid == tid)
			return true;
	return false;
}

unsigned
attach_stop(void)
{
	struct dirent *e;
	char name[64];
	unsigned n = 0;
	pid_t tid;
	DIR *d;

	snprintf(name, sizeof name, "/proc/%d/task", (int)guest.pid);
	d = opendir(name);
	if (d == NULL)
		return 0;		/* it ended */
	while ((e = readdir(d)) != NULL) {
		tid = (pid_t)strtol(e->d_name, NULL, 10);
		if (tid <= 0 || is_known(tid) || task_is_kernels(tid) ||
		    !stop(tid))
			continue;
		attach_threads = xgrow(attach_threads, &cap,
		    attach_nthreads + 1, sizeof *attach_threads);
		memset(&attach_threads[attach_nthreads], 0,
		    sizeof *attach_threads);
		attach_threads[attach_nthreads++].tid = tid;
		n++;
	}
	closedir(d);
	return n;
}

#ifndef SYS_epoll_pwait2	/* since Linux 5.11 */
#define SYS_epoll_pwait2 441
#endif

/* Calls that any stop ends with EINTR, but that can be made again. */
static bool
is_repeatable(uint64_t nr)
{
	static const short calls[] = {
		SYS_epoll_wait, SYS_epoll_pwait, SYS_epoll_pwait2,
		SYS_rt_sigtimedwait, SYS_semop, SYS_semtimedop,
		SYS_io_getevents, SYS_read, SYS_recvfrom, SYS_recvmsg,
		SYS_accept, SYS_accept4, SYS_write, SYS_sendto, SYS_sendmsg
	};
	unsigned i;

	for (i = 0; i < sizeof calls / sizeof calls[0]; i++)
		if ((uint64_t)calls[i] == nr)
			return true;
	return false;
}

bool
attach_restart(struct user_regs_struct *r)
{
	if ((long)r->orig_rax < 0)
		return false;
	switch (-(long)r->rax) {
	case EINTR:
		if (!is_repeatable(r->orig_rax))
			break;
		r->rax = r->orig_rax;
		r->rip -= 2;
		break;
	case 512:	/* ERESTARTSYS, ERESTARTNOINTR, ERESTARTNOHAND */
	case 513:
	case 514:
		r->rax = r->orig_rax;
		r->rip -= 2;
		break;
	case 516:		/* ERESTART_RESTARTBLOCK */
		r->rax = SYS_restart_syscall;
		return true;
	default:
		break;
	}
	return false;
}

void
attach_again(struct user_regs_struct *r, bool restart)
{
	if (restart)
		r->rip -= 2;
	r->orig_rax = ~0ull;
}

static bool
has_shadow_stack(pid_t tid)
{
	char text[256];

	return task_field(tid, "x86_Thread_features", text, sizeof text) &&
	    strstr(text, "shstk") != NULL;
}

/* What ends here leaves every thread as it was. */
static void
check_thread(struct attached *t)
{
	struct { uint64_t mode, selector, offset, len; } dispatch = { 0 };

	if (ptrace(PTRACE_GETREGS, t->tid, 0L, &t->r) < 0)
		die("ptrace:");
	if (!inject_is_64bit(&t->r))
		die("process %d: not a 64-bit program", (int)guest.pid);
	if (ptrace(PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG, t->tid,
	    sizeof dispatch, &dispatch) == 0 && dispatch.mode != 0)
		die("process %d: cannot attach: its system calls become "
		    "signals (PR_SET_SYSCALL_USER_DISPATCH)", (int)guest.pid);
	if (has_shadow_stack(t->tid))
		die("process %d: cannot attach: it has a shadow stack",
		    (int)guest.pid);
}

/*
 * The kernel would do it when the thread goes on, if it found it there, and
 * would do it to a call that we make at that place.
 */
void
attach_abort(struct attached *t)
{
	struct { uint32_t version, flags; uint64_t start, len, to; } cs;
	uint64_t at = 0, none = 0;

	inject_rseq(&t->s, t->tid);
	if (t->s.rseq == 0 || pread(guest.mem, &at, 8,
	    (off_t)(t->s.rseq + 8)) != 8 || at == 0 ||
	    pread(guest.mem, &cs, sizeof cs, (off_t)at) != sizeof cs ||
	    t->r.rip - cs.start >= cs.len)
		return;
	t->r.rip = cs.to;
	guest_write(t->s.rseq + 8, &none, 8);
	ptrace(PTRACE_SETREGS, t->tid, 0L, &t->r);
}

/*
 * We end before the runtime has the threads: leave each as it was, with the
 * call that the stop cut short still to be made.
 */
static void
give_back(void)
{
	struct user_regs_struct r;
	size_t i;

	if (ntaken > 0)
		remote_abandon();
	for (i = 0; i < ntaken; i++) {
		r = attach_threads[i].r;
		attach_again(&r, attach_threads[i].s.restart);
		ptrace(PTRACE_SETREGS, attach_threads[i].tid, 0L, &r);
		ptrace(PTRACE_SETSIGMASK, attach_threads[i].tid, 8L,
		    &attach_threads[i].s.sigmask);
	}
}

static void
read_thread(struct attached *t)
{
	uint64_t mask = attach_mask(t->tid);

	attach_abort(t);
	t->s.restart = attach_restart(&t->r);
	inject_state(&t->s, &t->r);
	if (ptrace(PTRACE_GETSIGMASK, t->tid, 8L, &t->s.sigmask) < 0 ||
	    ptrace(PTRACE_SETSIGMASK, t->tid, 8L, &mask) < 0)
		die("ptrace:");
}

/*
 * A trace that was killed, or gave up, may have left threads in its runtime,
 * which wait in the kernel.  Until they come back the process cannot be
 * attached to.
 */
static void
check_free(void)
{
	struct user_regs_struct regs;
	struct mapped m;
	size_t i;

	mapped_open(&m, guest.pid);
	while (mapped_next(&m)) {
		if (strncmp(m.name, "/memfd:quern ", 13) != 0)
			continue;
		for (i = 0; i < attach_nthreads; i++)
			if (ptrace(PTRACE_GETREGS, attach_threads[i].tid, 0L,
			    &regs) == 0 && regs.rip - m.start <
			    m.end - m.start)
				die("process %d: thread %d is still where "
				    "another trace, or one that was killed, "
				    "has put it", (int)guest.pid,
				    (int)attach_threads[i].tid);
	}
}

void
attach(pid_t pid)
{
	size_t i;

	guest_find(pid);
	while (attach_stop() > 0)
		;
	if (attach_nthreads == 0)
		die("process %d: no thread of it can be stopped", (int)pid);
	guest.tid = attach_threads[0].tid;
	check_free();
	guest_open();
	for (i = 0; i < attach_nthreads; i++)
		check_thread(&attach_threads[i]);
	places_choose(NULL);
	atexit(give_back);
	for (; ntaken < attach_nthreads; ntaken++)
		read_thread(&attach_threads[ntaken]);
}

static uint64_t
minframe(void)
{
	char name[64];
	uint64_t v[2], n = 2048;
	int fd;

	snprintf(name, sizeof name, "/proc/%d/auxv", (int)guest.pid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && read(fd, v, sizeof v) == (ssize_t)sizeof v)
		if (v[0] == AT_MINSIGSTKSZ)
			n = v[1];
	if (fd >= 0)
		close(fd);
	return n;
}

/* A thread has been killed: until we have waited for it, its process stays. */
static void
bury(pid_t tid)
{
	unsigned tries;

	warn("thread %d:", (int)tid);
	for (tries = 0; tries < 100; tries++) {
		if (waitpid(tid, NULL, __WALL | WNOHANG) != 0)
			break;
		usleep(1000);
	}
}

/* Start the other threads on their stacks; they wait for the first one. */
void
attach_others(void)
{
	uint64_t at = attach_stacks;
	struct user_regs_struct r;
	struct head h;
	size_t i;

	memcpy(&h, runtime_blob, sizeof h);
	for (i = 1; i < attach_nthreads; i++, at += JOIN_SIZE) {
		guest_write(at, &attach_threads[i].s,
		    sizeof attach_threads[i].s);
		r = attach_threads[i].r;
		r.rdi = at;
		r.rsp = at + JOIN_SIZE;
		r.rip = area.blob + h.join;
		r.eflags = 0x202;
		r.orig_rax = ~0ull;
		if (ptrace(PTRACE_SETREGS, attach_threads[i].tid, 0L, &r) < 0 ||
		    ptrace(PTRACE_DETACH, attach_threads[i].tid, 0L, 0L) < 0)
			bury(attach_threads[i].tid);
	}
	ntaken = 0;
}

void
attach_at(struct start *s)
{
	uint64_t a[6] = { 0, attach_nthreads * JOIN_SIZE,
	    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, ~0ull, 0 };
	size_t i;
	long at;

	memset(s, 0, sizeof *s);
	s->at = attach_threads[0].s;
	s->flags = BOOT_RSEQ | inject_flags();
	for (i = 0; i < attach_nthreads && s->rseqsig == 0; i++)
		s->rseqsig = attach_threads[i].s.rseqsig;
	s->minframe = minframe();
	s->trap = attach_threads[0].r.rip;
	s->scratch = (attach_threads[0].r.rsp - 512) & ~15ull;
	inject_file(s);
	remote_begin(s->trap);
	at = remote(SYS_mmap, a);
	remote_end();
	if (at < 0 && at > -4096)
		die("no memory for the program's threads");
	attach_stacks = (uint64_t)at;
	s->others = (uint32_t)(attach_nthreads - 1);
}
