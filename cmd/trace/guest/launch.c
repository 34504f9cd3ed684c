/*
 * launch - start a program, and follow it to others that it becomes
 *
 * The child execs the program itself, so that the kernel does all the
 * loading.  At the stop after exec it has no thread but one, and no state but
 * what the kernel gave it: inject.c puts the runtime into it before its first
 * instruction.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest/inject.h"
#include "trace.h"
#include "util.h"

struct process guest;
volatile int exec_pending;

static pid_t exec_tid;

/* -------------------------------------------------------------------- start */

/*
 * argc, argv, envp lie at sp; behind them the auxiliary vector.  Returns
 * AT_MINSIGSTKSZ.
 */
static uint64_t
edit_auxv(uint64_t sp)
{
	uint64_t v[64][2], word, at = sp + 8, minframe = 0;
	unsigned i, n;

	guest_read(sp, &word, 8);
	at += 8 * (word + 1);
	do {
		guest_read(at, &word, 8);
		at += 8;
	} while (word != 0);
	for (n = 0; n < 64; n++) {
		guest_read(at + 16ul * n, v[n], 16);
		if (v[n][0] == AT_NULL)
			break;
	}
	for (i = 0; i < n; i++)
		if (v[i][0] == 51)
			minframe = v[i][1];
	cpu_auxv(v, n);
	guest_write(at, v, 16ul * n);
	return minframe;
}

bool
launch_is_foreign(void)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, guest.pid, 0L, &r) < 0)
		die("ptrace:");
	if (inject_is_64bit(&r))
		return false;
	ptrace(PTRACE_DETACH, guest.pid, 0L, 0L);
	return true;
}

/* At the stop behind exec: under the runtime from the first instruction on. */
void
launch_inject(void)
{
	struct user_regs_struct r;
	struct start s;

	memset(&s, 0, sizeof s);
	guest.tid = guest.pid;
	guest_open();
	if (ptrace(PTRACE_GETREGS, guest.pid, 0L, &r) < 0)
		die("ptrace:");
	inject_state(&s.at, &r);
	if (ptrace(PTRACE_GETSIGMASK, guest.pid, 8L, &s.at.sigmask) < 0)
		s.at.sigmask = 0;
	s.minframe = edit_auxv(r.rsp);
	s.trap = r.rip;
	s.scratch = (r.rsp - 512) & ~15ull;
	inject_file(&s);
	inject(&s);
}

/*
 * The folder with our programs under their bare names, of which `diff` and
 * `merge` are others' too, is not for the program's PATH.
 */
static void
clean_path(void)
{
	char self[4096], *path = getenv("PATH"), *dir, *new, *save = NULL;
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	char *copy, *slash;

	if (path == NULL || n <= 0)
		return;
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (slash == NULL || strcmp(slash, "/trace") != 0)
		return;
	*slash = '\0';
	new = xcalloc(1, strlen(path) + 1);
	copy = xstrdup(path);
	for (dir = strtok_r(copy, ":", &save); dir != NULL;
	    dir = strtok_r(NULL, ":", &save)) {
		if (strcmp(dir, self) == 0)
			continue;
		if (new[0] != '\0')
			strcat(new, ":");
		strcat(new, dir);
	}
	if (strlen(new) != strlen(path))
		setenv("PATH", new, 1);
}

static void
redirect(void)
{
	int fd;

	if (opt.guest_out != NULL) {
		fd = open(opt.guest_out, O_WRONLY | O_CREAT | O_TRUNC, 0666);
		if (fd < 0)
			die("%s:", opt.guest_out);
		dup2(fd, 1);
		close(fd);
	} else if (opt.out_fd >= 0) {
		dup2(2, 1);
	}
}

static _Noreturn void
child(char *const argv[], int report)
{
	int err;

	redirect();
	clean_path();
	if (opt.out_fd > 2)
		close(opt.out_fd);
	if (!opt.aslr)
		personality((unsigned long)personality(0xffffffff) |
		    ADDR_NO_RANDOMIZE);
	if (ptrace(PTRACE_TRACEME, 0, 0L, 0L) < 0)
		die("ptrace:");
	execvp(argv[0], argv);
	err = errno;
	if (write(report, &err, sizeof err) < 0)
		_exit(127);
	_exit(err == ENOENT ? 127 : 126);
}

void
launch(char *const argv[])
{
	int report[2], st, err = 0;

	if (pipe2(report, O_CLOEXEC) < 0)
		die("pipe:");
	guest.mem = -1;
	guest.pid = fork();
	if (guest.pid < 0)
		die("fork:");
	if (guest.pid == 0)
		child(argv, report[1]);
	close(report[1]);
	guest.pidfd = (int)syscall(SYS_pidfd_open, guest.pid, 0);
	if (guest.pidfd < 0)
		die("pidfd_open:");
	if (waitpid(guest.pid, &st, 0) < 0)
		die("waiting for the program:");
	if (read(report[0], &err, sizeof err) == (ssize_t)sizeof err) {
		errno = err;
		warn("%s:", argv[0]);
		exit(err == ENOENT ? 127 : 126);
	}
	close(report[0]);
	if (!WIFSTOPPED(st))
		exit(STATUS_TROUBLE);
	/* until the runtime is in: should we fail, it shall not run without */
	ptrace(PTRACE_SETOPTIONS, guest.pid, 0L, PTRACE_O_EXITKILL);
}

/* --------------------------------------------------------------------- exec */

static int
read_string(uint64_t at, char *buf, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (pread(guest.mem, buf + i, 1, (off_t)(at + i)) != 1)
			return -1;
		if (buf[i] == '\0')
			return 0;
	}
	return -1;
}

int
launch_is_setid(uint64_t path, uint64_t dirfd)
{
	char name[4096], full[4200];
	struct stat st;

	if (read_string(path, name, sizeof name) < 0)
		return 0;
	if (name[0] == '/')
		snprintf(full, sizeof full, "/proc/%d/root%s", (int)guest.pid,
		    name);
	else if (dirfd != 0 && (int)(dirfd - 1) >= 0)
		snprintf(full, sizeof full, "/proc/%d/fd/%d/%s",
		    (int)guest.pid, (int)(dirfd - 1), name);
	else
		snprintf(full, sizeof full, "/proc/%d/cwd/%s", (int)guest.pid,
		    name);
	if (stat(full, &st) < 0)
		return 0;
	return ((st.st_mode & S_ISUID) && st.st_uid != geteuid()) ||
	    ((st.st_mode & S_ISGID) && st.st_gid != getegid());
}

int
launch_exec(uint64_t path, pid_t tid, uint64_t dirfd, uint64_t flags)
{
	(void)flags;
	if (launch_is_setid(path, dirfd)) {
		warn("exec of a set-id program: it runs natively, "
		    "the stream ends here");
		stats.refused = 1;
		return 1;
	}
	if (ptrace(PTRACE_SEIZE, tid, 0L, PTRACE_O_TRACEEXEC) < 0) {
		warn("exec: the new program runs natively, the stream ends "
		    "here:");
		stats.refused = 1;
		return 1;
	}
	exec_tid = tid;
	exec_pending = 1;
	return 0;
}

void
launch_exec_failed(pid_t tid)
{
	int st, n;

	if (!exec_pending)
		return;
	exec_pending = 0;
	ptrace(PTRACE_INTERRUPT, tid, 0L, 0L);
	for (n = 0; n < 1000; n++) {
		if (waitpid(tid, &st, __WALL) < 0 || !WIFSTOPPED(st))
			return;
		if (st >> 16 == PTRACE_EVENT_STOP)
			break;
		ptrace(PTRACE_CONT, tid, 0L, (long)WSTOPSIG(st));
	}
	ptrace(PTRACE_DETACH, tid, 0L, 0L);
}

/* At the event the process is still inside execve: go to its end. */
static void
taken_over(void)
{
	char *text;

	exec_pending = 0;
	guest.tid = guest.pid;
	ptrace(PTRACE_SYSCALL, guest.pid, 0L, 0L);
	guest_wait_stop(SIGTRAP);
	if (launch_is_foreign()) {
		warn("exec of a 32-bit program: it runs natively, "
		    "the stream ends here");
		stats.refused = 1;
		return;
	}
	text = xstrdup("U 0 ffffffffffffffff\n");
	format_drain();
	maps_forget();
	area_close();
	format_replace(text);
	launch_inject();
	format_begin();
}

void
launch_exec_poll(void)
{
	int st;
	pid_t pid = waitpid(-1, &st, __WALL | WNOHANG);

	if (pid <= 0 || follow_ended(pid))
		return;
	if (!WIFSTOPPED(st)) {
		guest_status(pid, st);
		return;
	}
	if (st >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8))
		taken_over();
	else
		ptrace(PTRACE_CONT, pid, 0L, st >> 16 != 0 ? 0L :
		    (long)WSTOPSIG(st));
}
