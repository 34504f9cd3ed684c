/*
 * adopt - follow a process that the program of another trace has made
 *
 * --adopt=PID,SHARES,BLOB,INODE,FD,NUMBERS: the child PID has its parent's
 * runtime at BLOB, mapped from the memory file INODE, by which we know that it
 * is the one.  Forked (SHARES 0), it waits there, with its registers in struct
 * boot; once a new runtime is there, all that it has of its parent's engine is
 * unmapped.  Else it is in its parent's memory, or its parent waits for it, and
 * it is followed once it has executed another program.  A byte on FD tells that
 * it may go on.  NUMBERS is for follow.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl.h"
#include "guest/guest.h"
#include "guest/parts.h"
#include "mem.h"
#include "prog.h"

static struct {
	int pid, shares, fd;
	unsigned long long blob, inode;
} spec;

static struct boot old;		/* its parent's, with its own registers */
static struct extents gone;	/* what is to be unmapped */

/* Is the runtime where it should be? */
static bool
find_old(void)
{
	struct mapped m;
	bool found = false;

	mapped_open(&m, spec.pid);
	while (mapped_next(&m))
		if (m.inode == spec.inode && m.start - spec.blob < AREA_BLOB)
			found = true;
	return found;
}

/* What else is mapped of the memory file, and thread areas. */
static void
find_gone(void)
{
	struct mapped m;

	mapped_open(&m, spec.pid);
	while (mapped_next(&m))
		if (m.inode == spec.inode && m.start - spec.blob >= AREA_BLOB)
			extents_add_ours(&gone, &m, &old.seg[SEG_IBL]);
}

static bool answered, given;	/* the parent's trace; the process, a runtime */

/* Tell the parent's trace that the process may go on. */
static void
ready(void)
{
	answered = true;
	if (write(spec.fd, "", 1) < 0)
		warn("a word to the parent's trace:");
	close(spec.fd);
}

/* The process has been killed, so there is no stream; or die. */
static _Noreturn void
lost(const char *why)
{
	int err = errno;

	if (task_is_dead(spec.pid))
		exit(0);
	errno = err;
	die("process %d%s", spec.pid, why);
}

/* We end before it has a runtime: it goes on natively, from where it stands. */
static void
let_go(void)
{
	if (!answered && task_is_dead(spec.pid))
		ready();
	if (given || guest.tid == 0)
		return;
	remote_abandon();
	ptrace(PTRACE_DETACH, guest.tid, 0L, 0L);
}

static void
seize(long opts)
{
	int st;

	if (ptrace(PTRACE_SEIZE, guest.pid, 0L, opts) < 0)
		lost(":");
	if (spec.shares)
		return;
	ptrace(PTRACE_INTERRUPT, guest.pid, 0L, 0L);
	for (;;) {
		if (waitpid(guest.pid, &st, __WALL) < 0 || !WIFSTOPPED(st))
			lost(" ended");
		if (st >> 16 == PTRACE_EVENT_STOP)
			return;
		ptrace(PTRACE_CONT, guest.pid, 0L, (long)WSTOPSIG(st));
	}
}

/* What the call gives rights by that we would keep away, or NULL. */
static const char *
rights_of_call(const struct user_regs_struct *r)
{
	if (geteuid() == 0)
		return NULL;
	if (r->orig_rax == SYS_execveat)
		return rights_of(r->rsi, r->rdi + 1);
	return r->orig_rax == SYS_execve ? rights_of(r->rdi, 0) : NULL;
}

/*
 * Whether the system call at which the process has stopped would fail, or act
 * differently, while we trace it.
 */
static bool
is_hindered(void)
{
	struct user_regs_struct r;
	const char *by;

	if (ptrace(PTRACE_GETREGS, guest.pid, 0L, &r) < 0)
		return false;
	if (r.orig_rax == SYS_ptrace && r.rdi == PTRACE_TRACEME) {
		warn("process %d asks to be traced by its parent: it runs "
		    "natively, without a stream", spec.pid);
		return true;
	}
	by = rights_of_call(&r);
	if (by != NULL)
		warn("process %d: exec of %s: it runs natively", spec.pid, by);
	return by != NULL;
}

/* Let a process in its parent's memory run up to its exec; false: none came. */
static bool
until_exec(void)
{
	long sig;
	int st;

	for (;;) {
		if (waitpid(guest.pid, &st, __WALL) < 0)
			die("waiting for process %d:", spec.pid);
		if (!WIFSTOPPED(st))
			return false;
		if (is_group_stop(st)) {
			ptrace(PTRACE_LISTEN, guest.pid, 0L, 0L);
			continue;
		}
		if (st >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8))
			break;
		sig = st >> 16 != 0 ? 0 : WSTOPSIG(st);
		if (sig == (SIGTRAP | 0x80)) {
			sig = 0;
			if (is_hindered()) {
				ptrace(PTRACE_DETACH, guest.pid, 0L, 0L);
				return false;
			}
		}
		ptrace(PTRACE_SYSCALL, guest.pid, 0L, sig);
	}
	ptrace(PTRACE_SYSCALL, guest.pid, 0L, 0L);
	do {
		if (waitpid(guest.pid, &st, __WALL) < 0 || !WIFSTOPPED(st))
			return false;
		sig = WSTOPSIG(st) & 0x7f;
		if (sig != SIGTRAP)
			ptrace(PTRACE_SYSCALL, guest.pid, 0L, sig);
	} while (sig != SIGTRAP);
	ptrace(PTRACE_SETOPTIONS, guest.pid, 0L, 0L);
	return true;
}

char **
process_command(void)
{
	char name[64], **argv = NULL, *text = NULL;
	size_t cap = 0, n = 0, len = 0, argcap = 0, i;
	ssize_t r;
	int fd;

	snprintf(name, sizeof name, "/proc/%d/cmdline", (int)guest.pid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	do {
		text = xgrow(text, &cap, len + 4096, 1);
		r = fd < 0 ? 0 : read(fd, text + len, 4095);
		len += r > 0 ? (size_t)r : 0;
	} while (r > 0);
	if (fd >= 0)
		close(fd);
	text[len] = '\0';
	for (i = 0; i < len; i += strlen(text + i) + 1) {
		argv = xgrow(argv, &argcap, n + 2, sizeof *argv);
		argv[n++] = text + i;
	}
	argv = xgrow(argv, &argcap, n + 2, sizeof *argv);
	if (n == 0)
		argv[n++] = xstrdup("?");
	argv[n] = NULL;
	return argv;
}

#define HELD_TRIES 200000u	/* of 100 us */

char **
adopt(const char *s)
{
	struct head h;
	unsigned tries = 0;

	if (sscanf(s, "%d,%d,%llx,%llx,%d,", &spec.pid, &spec.shares,
	    &spec.blob, &spec.inode, &spec.fd) != 5)
		die("--adopt=%s: process,shares,address,inode,descriptors", s);
	fcntl(spec.fd, F_SETFD, FD_CLOEXEC);
	atexit(let_go);
	if (task_is_dead(spec.pid))
		exit(0);
	guest_find(spec.pid);
	if (!find_old())
		lost(": not a child of the program");
	guest_open();
	if (spec.shares) {
		seize(PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD);
		ptrace(PTRACE_INTERRUPT, guest.pid, 0L, 0L);
		ready();
		if (!until_exec())
			return NULL;
		if (launch_is_foreign()) {
			warn("process %d: exec of a 32-bit program: it runs "
			    "natively, without a stream", spec.pid);
			return NULL;
		}
		guest.tid = guest.pid;
		return process_command();
	}
	memcpy(&h, runtime_blob, sizeof h);
	guest_read(spec.blob + h.rt, &old, sizeof old);
	while (!(old.flags & BOOT_HELD)) {
		if (++tries == HELD_TRIES || task_is_dead(guest.pid))
			lost(": does not wait for us");
		usleep(100);
		guest_read(spec.blob + h.rt, &old, sizeof old);
	}
	guest.tid = guest.pid;
	seize(0);
	return process_command();
}

void
adopt_at(struct start *s)
{
	struct head h;

	if (spec.shares) {
		launch_at(s);
		return;
	}
	memcpy(&h, runtime_blob, sizeof h);
	memset(s, 0, sizeof *s);
	s->at = old.at;
	s->at.restart = 0;	/* only who was attached to had such a call */
	s->minframe = old.minframe;
	s->filled = old.filled;
	memcpy(s->limit, old.limit, sizeof s->limit);
	s->flags = (old.flags & BOOT_RSEQ) | inject_flags();
	inject_rseq(&s->at, guest.pid);
	s->rseqsig = s->at.rseqsig;
	s->trap = spec.blob + h.start;
	s->scratch = spec.blob + h.rt;
	s->old = spec.blob;
	find_gone();
	s->gone = gone;
	inject_file(s);
}

void
adopt_done(void)
{
	given = true;
	if (!spec.shares)
		ready();
}

/* From linux/pidfd.h of 6.15: how a process ended, once it has been reaped. */
struct pidfd_info {
	uint64_t mask, cgroup;
	uint32_t ids[11];
	int32_t exit_code;
};
#define PIDFD_INFO_EXIT 8u
#define PIDFD_GET_INFO _IOWR(0xff, 11, struct pidfd_info)

/* The status in /proc while it is a zombie; -1: it is none. */
static int
zombie_status(void)
{
	char text[2048];
	const char *p;
	int i, st = -1;

	guest_file("stat", text, sizeof text);
	p = guest_state(text);
	if (*p != 'Z')
		return -1;
	/* from the third to the last of 52 fields */
	for (i = 3; i < 52 && p != NULL; i++)
		p = strchr(p + 1, ' ');
	if (p != NULL && sscanf(p, "%d", &st) != 1)
		st = -1;
	return st;
}

/*
 * It is not our child, so the kernel tells its parent how it ended, not us.
 * The runtime leaves us the status if it can; else the process died by a signal
 * that had no handler.
 */
int
adopt_status(void)
{
	struct pidfd_info info;
	int st, tries;

	if (area.ctl != NULL &&
	    __atomic_load_n(&area.ctl->ended, __ATOMIC_ACQUIRE))
		return (int)(ONCE(area.ctl->status) & 0xff00);
	for (tries = 0; tries < 3; tries++) {
		st = zombie_status();
		if (st >= 0)
			return st;
		memset(&info, 0, sizeof info);
		info.mask = PIDFD_INFO_EXIT;
		if (ioctl(guest.pidfd, PIDFD_GET_INFO, &info) == 0 &&
		    (info.mask & PIDFD_INFO_EXIT))
			return info.exit_code;
	}
	warn("process %d: how it ended is not known; taken for signal 9",
	    (int)guest.pid);
	return SIGKILL;
}
