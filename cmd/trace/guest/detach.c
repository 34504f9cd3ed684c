/*
 * detach - leave nothing of ours in a process that was attached to
 *
 * The running threads have been let go (runtime/letgo.c).  A thread that
 * waits in the kernel does so in a call that the runtime made for it.  We stop
 * it and give it the program's registers, signal stack and mask; then it makes
 * the call again natively.  At last we unmap what we mapped.  If a thread is in
 * the runtime for another reason, we wait; if it does not come out, we leave
 * all as it is: the only harm is that the memory stays mapped.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest/parts.h"
#include "guest/guest.h"
#include "prog.h"
#include "tarea.h"

static struct boot boot;	/* as the runtime has it */
static struct extents ours;

static bool
is_in_ours(uint64_t at)
{
	size_t i;

	for (i = 0; i < ours.n; i++)
		if (at - ours.v[i].start < ours.v[i].end - ours.v[i].start)
			return true;
	return false;
}

/* What is mapped of the memory file, and thread areas. */
static void
find_ours(void)
{
	struct mapped m;
	struct stat st;

	ours.n = 0;
	if (fstat(area.fd, &st) < 0 || !mapped_open(&m, guest.pid))
		return;
	while (mapped_next(&m))
		if (m.inode == st.st_ino)
			extents_add_ours(&ours, &m, &area.boot.seg[SEG_IBL]);
	if (attach_stacks != 0)
		extents_add(&ours, attach_stacks, attach_stacks +
		    attach_nthreads * JOIN_SIZE);
}

/* The guest's registers of a thread in a call that the runtime makes. */
static void
recover(struct user_regs_struct *r, uint64_t *mask)
{
	uint64_t t = r->rbx, gpr[16], pc, flags, df, blocked;

	guest_read(t, gpr, sizeof gpr);
	guest_read(t + boot.pc, &pc, 8);
	guest_read(t + boot.rflags, &flags, 8);
	guest_read(t + boot.df, &df, 8);
	guest_read(t + boot.syncblocked, &blocked, 8);
	r->rip = pc;
	r->rcx = gpr[1];
	r->rdx = gpr[2];
	r->rbx = gpr[3];
	r->rsp = gpr[4];
	r->rbp = gpr[5];
	r->rsi = gpr[6];
	r->rdi = gpr[7];
	r->r8 = gpr[8];
	r->r9 = gpr[9];
	r->r10 = gpr[10];
	r->r11 = gpr[11];
	r->r12 = gpr[12];
	r->r13 = gpr[13];
	r->r14 = gpr[14];
	r->r15 = gpr[15];
	r->eflags = (flags & 0x2448d5) | 0x202 | (df ? 0x400 : 0);
	*mask |= blocked;
}

/* In guest.tid: the kernel's alternate stack is the program's. */
static void
restore_stack(uint64_t t)
{
	struct { uint64_t sp; int32_t flags, pad; uint64_t size; } st;
	uint64_t a[6] = { t + boot.altstack, 0, 0, 0, 0, 0 };

	guest_read(a[0], &st, sizeof st);
	if (st.size == 0)
		st.flags = 2;		/* SS_DISABLE */
	guest_write(a[0], &st, sizeof st);
	remote(SYS_sigaltstack, a);
}

/* Replace our handlers that were left in place for threads that waited. */
static void
restore_actions(uint64_t scratch)
{
	uint64_t a[6] = { 0, 0, 0, 8, 0, 0 }, now[4];

	for (a[0] = 1; a[0] <= 64; a[0]++) {
		a[1] = 0;
		a[2] = scratch;
		if (remote(SYS_rt_sigaction, a) != 0)
			continue;
		guest_read(scratch, now, sizeof now);
		if (!is_in_ours(now[0]))
			continue;
		a[1] = boot.act + a[0] * sizeof now;
		a[2] = 0;
		remote(SYS_rt_sigaction, a);
	}
}

/* Whether the thread is out of the runtime, or can be taken out. */
static bool
is_ready(struct attached *t)
{
	if (ptrace(PTRACE_GETREGS, t->tid, 0L, &t->r) < 0)
		return true;		/* it ended */
	if (!is_in_ours(t->r.rip) && !is_in_ours(t->r.rsp)) {
		attach_abort(t);
		return true;
	}
	return t->r.rip == boot.sysinsn && (long)t->r.orig_rax >= 0;
}

static void
unmap(void)
{
	uint64_t a[6] = { 0, 0, 0, 0, 0, 0 };
	size_t i;

	for (i = 0; i < ours.n; i++) {
		a[0] = ours.v[i].start;
		a[1] = ours.v[i].end - a[0];
		remote(SYS_munmap, a);
	}
}

/* Make a thread the program's; its memory is unmapped later. */
static void
finish(struct attached *t)
{
	uint64_t mask = 0, all = attach_mask(t->tid);
	struct user_regs_struct r = t->r;

	guest.tid = t->tid;
	if (ptrace(PTRACE_GETSIGMASK, t->tid, 8L, &mask) < 0)
		return;
	if (r.rip == boot.sysinsn) {
		ptrace(PTRACE_SETSIGMASK, t->tid, 8L, &all);
		restore_stack(t->r.rbx);
		recover(&r, &mask);
		ptrace(PTRACE_SETSIGMASK, t->tid, 8L, &mask);
	}
	if ((long)r.orig_rax >= 0)
		attach_again(&r, attach_restart(&r));
	ptrace(PTRACE_SETREGS, t->tid, 0L, &r);
}

/* The first thread makes the last calls, by code at its program's pc. */
static void
clean(struct attached *t, uint64_t scratch)
{
	struct user_regs_struct r;
	uint64_t mask, all = attach_mask(t->tid);

	guest.tid = t->tid;
	if (ptrace(PTRACE_GETREGS, t->tid, 0L, &r) < 0 ||
	    ptrace(PTRACE_GETSIGMASK, t->tid, 8L, &mask) < 0)
		return;
	ptrace(PTRACE_SETSIGMASK, t->tid, 8L, &all);
	remote_begin(r.rip);
	restore_actions(scratch);
	unmap();
	remote_end();
	ptrace(PTRACE_SETSIGMASK, t->tid, 8L, &mask);
}

/* We detach later; make a call again that the kernel would not. */
static void
go_on(struct attached *t)
{
	struct user_regs_struct r = t->r;

	if ((long)r.orig_rax < 0 || (long)r.rax != -EINTR)
		return;
	attach_again(&r, attach_restart(&r));
	ptrace(PTRACE_SETREGS, t->tid, 0L, &r);
}

/* Let all threads go, if each is ready; false: *inside is not, try again. */
static bool
try(pid_t *inside)
{
	struct head h;
	size_t i;
	bool ready;

	attach_nthreads = 0;
	while (attach_stop() > 0)
		;
	*inside = 0;
	for (i = 0; i < attach_nthreads; i++)
		if (!is_ready(&attach_threads[i]))
			*inside = attach_threads[i].tid;
	ready = *inside == 0;
	if (ready && attach_nthreads > 0) {
		memcpy(&h, runtime_blob, sizeof h);
		remote_begin(area.blob + h.start);
		for (i = 0; i < attach_nthreads; i++)
			finish(&attach_threads[i]);
		clean(&attach_threads[0], area.blob + h.rt +
		    offsetof(struct boot, at));
	} else {
		for (i = 0; i < attach_nthreads; i++)
			go_on(&attach_threads[i]);
	}
	for (i = 0; i < attach_nthreads; i++)
		ptrace(PTRACE_DETACH, attach_threads[i].tid, 0L, 0L);
	return ready;
}

bool
detach(void)
{
	struct head h;
	unsigned tries;
	pid_t inside;

	memcpy(&h, runtime_blob, sizeof h);
	if (pread(guest.mem, &boot, sizeof boot, (off_t)(area.blob + h.rt)) !=
	    (ssize_t)sizeof boot)
		return true;		/* it ended */
	find_ours();
	for (tries = 0; tries < 100; tries++) {
		if (try(&inside))
			return true;
		usleep(2000);
	}
	warn("process %d: thread %d does not leave our code: our memory stays "
	    "mapped", (int)guest.pid, (int)inside);
	return false;
}
