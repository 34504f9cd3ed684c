/*
 * remote - the program's memory, and system calls made in its stopped process
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest/guest.h"
#include "guest/parts.h"
#include "prog.h"

static uint64_t trap_at;	/* where `syscall; int3` was put, or 0 */
static uint8_t trap_saved[3];

void
guest_lost_at(uint64_t at)
{
	char doing[64];

	snprintf(doing, sizeof doing, "the program's memory at %#llx",
	    (unsigned long long)at);
	guest_lost(doing);
}

void
guest_read(uint64_t at, void *buf, size_t n)
{
	if (pread(guest.mem, buf, n, (off_t)at) != (ssize_t)n)
		guest_lost_at(at);
}

void
guest_write(uint64_t at, const void *buf, size_t n)
{
	if (pwrite(guest.mem, buf, n, (off_t)at) != (ssize_t)n)
		guest_lost_at(at);
}

/*
 * Write over code, in the stopped process.  A kernel may keep /proc/PID/mem
 * from what the program itself may not write (proc_mem.force_override=never);
 * ptrace still can.
 */
static int
put_code(const uint8_t code[3])
{
	unsigned i;

	if (pwrite(guest.mem, code, 3, (off_t)trap_at) == 3)
		return 0;
	if (errno != EIO)
		return -1;
	for (i = 0; i < 3; i++) {	/* the word may not end here */
		uint64_t at = trap_at + i, word;

		errno = 0;
		word = (uint64_t)ptrace(PTRACE_PEEKTEXT, guest.tid, at & ~7ull,
		    0L);
		if (errno != 0)
			return -1;
		memcpy((uint8_t *)&word + (at & 7), &code[i], 1);
		if (ptrace(PTRACE_POKETEXT, guest.tid, at & ~7ull, word) < 0)
			return -1;
	}
	return 0;
}

void
remote_begin(uint64_t at)
{
	static const uint8_t code[3] = { 0x0f, 0x05, 0xcc };

	trap_at = at;
	guest_read(at, trap_saved, 3);
	if (put_code(code) < 0)
		guest_lost_at(at);
}

void
remote_end(void)
{
	if (put_code(trap_saved) < 0)
		guest_lost_at(trap_at);
	trap_at = 0;
}

void
remote_abandon(void)
{
	if (trap_at != 0)
		put_code(trap_saved);
}

/* Has somebody sent the signal by which it has stopped? */
static bool
was_sent(void)
{
	siginfo_t info;

	return ptrace(PTRACE_GETSIGINFO, guest.tid, 0L, &info) == 0 &&
	    info.si_code <= 0;
}

void
guest_wait_stop(int sig)
{
	int st;

	for (;;) {
		if (waitpid(guest.tid, &st, __WALL) < 0)
			guest_lost("waiting for the program");
		if (!WIFSTOPPED(st)) {
			guest_status(guest.tid, st);
			errno = ESRCH;
			guest_lost("waiting for the program");
		}
		/* SIGCONT, or a stop: it goes on to that once it is let go */
		if (st >> 16 == PTRACE_EVENT_STOP) {
			ptrace(PTRACE_CONT, guest.tid, 0L, 0L);
			continue;
		}
		if (WSTOPSIG(st) == sig && !was_sent())
			return;
		ptrace(PTRACE_CONT, guest.tid, 0L, (long)WSTOPSIG(st));
	}
}

long
remote(long nr, const uint64_t a[6])
{
	struct user_regs_struct r, old;

	if (ptrace(PTRACE_GETREGS, guest.tid, 0L, &old) < 0)
		guest_lost("ptrace");
	r = old;
	r.rip = trap_at;
	r.rax = (unsigned long long)nr;
	r.orig_rax = ~0ull;
	r.rdi = a[0];
	r.rsi = a[1];
	r.rdx = a[2];
	r.r10 = a[3];
	r.r8 = a[4];
	r.r9 = a[5];
	if (ptrace(PTRACE_SETREGS, guest.tid, 0L, &r) < 0 ||
	    ptrace(PTRACE_CONT, guest.tid, 0L, 0L) < 0)
		guest_lost("ptrace");
	guest_wait_stop(SIGTRAP);
	ptrace(PTRACE_GETREGS, guest.tid, 0L, &r);
	old.orig_rax = ~0ull;
	ptrace(PTRACE_SETREGS, guest.tid, 0L, &old);
	return (long)r.rax;
}

static long
memfd(uint64_t at)
{
	uint64_t a[6] = { at, MFD_CLOEXEC | MFD_ALLOW_SEALING, 0, 0, 0, 0 };
	struct rlimit was, more;
	long r = remote(SYS_memfd_create, a);

	if (r != -EMFILE || prlimit(guest.pid, RLIMIT_NOFILE, NULL, &was) < 0)
		return r;
	more = was;
	if (more.rlim_max < 65536)	/* more may be open than are allowed */
		more.rlim_max = 65536;
	more.rlim_cur = more.rlim_max;
	if (prlimit(guest.pid, RLIMIT_NOFILE, &more, NULL) < 0) {
		more.rlim_cur = more.rlim_max = was.rlim_max;
		prlimit(guest.pid, RLIMIT_NOFILE, &more, NULL);
	}
	r = remote(SYS_memfd_create, a);
	prlimit(guest.pid, RLIMIT_NOFILE, &was, NULL);
	return r;
}

/*
 * The memory file, open in both: our descriptor; the guest's in *theirs.
 * 16 bytes at `at` are used and put back.
 */
int
remote_memfd(uint64_t at, int *theirs)
{
	char old[16], path[64];
	long r;
	int fd;

	guest_read(at, old, sizeof old);
	guest_write(at, "quern", 6);
	r = memfd(at);
	guest_write(at, old, sizeof old);
	if (r < 0) {
		errno = (int)-r;
		die("a memory file in the program:");
	}
	*theirs = (int)r;
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)guest.pid, (int)r);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		guest_lost(path);
	return fd;
}

/* Is it one file, here and there? */
static bool
is_same_file(int fd, int theirs)
{
	struct stat ours, s;
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)guest.pid, theirs);
	return fstat(fd, &ours) == 0 && stat(path, &s) == 0 &&
	    s.st_dev == ours.st_dev && s.st_ino == ours.st_ino;
}

int
remote_open(uint64_t at, int fd)
{
	uint64_t a[6] = { (uint64_t)AT_FDCWD, at, O_RDONLY | O_CLOEXEC };
	char old[64], path[64] = "";
	long r;

	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), fd);
	guest_read(at, old, sizeof old);
	guest_write(at, path, sizeof path);
	r = remote(SYS_openat, a);
	guest_write(at, old, sizeof old);
	if (r < 0)
		return -1;
	if (is_same_file(fd, (int)r))
		return (int)r;
	a[0] = (uint64_t)r;
	remote(SYS_close, a);
	return -1;
}

/* A filter may kill who makes calls that it does not know. */
static bool
is_filtered(void)
{
	char mode[16];

	return !task_field(guest.pid, "Seccomp", mode, sizeof mode) ||
	    strtol(mode, NULL, 10) != 0;
}

int
remote_userfaultfd(int *theirs)
{
	uint64_t a[6] = { O_CLOEXEC | O_NONBLOCK, 0, 0, 0, 0, 0 };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	long r;

	*theirs = -1;
	if (fd < 0)		/* then the program may not either */
		return -1;
	close(fd);
	if (is_filtered())
		return -1;
	r = remote(SYS_userfaultfd, a);
	if (r < 0)
		return -1;
	*theirs = (int)r;
	return (int)syscall(SYS_pidfd_getfd, guest.pidfd, (int)r, 0);
}

long
remote_mmap(uint64_t at, uint64_t len, int prot, int fd, uint64_t off)
{
	uint64_t a[6] = { at, len, (uint64_t)prot,
	    MAP_PRIVATE | MAP_FIXED_NOREPLACE, (uint64_t)fd, off };

	return remote(SYS_mmap, a);
}

void
guest_open(void)
{
	if (guest_reopen(&guest.mem, "mem", O_RDWR))
		return;
	if (errno == EACCES)
		die("/proc/%d/mem: of a program that may not be read?:",
		    (int)guest.pid);
	guest_lost("the program's memory");
}
