/*
 * follow - start a trace for each child of the program
 *
 * Each child has a trace of its own, a process that writes the child's
 * stream: we start it with our own options and --adopt, which says who the
 * child is, and wait until it has it.  A child that was forked is held by the
 * runtime meanwhile.  One that shares its parent's memory (vfork,
 * posix_spawn) is seized, runs natively, and is taken over when it execs; if it
 * asks to be traced by its parent it is left to that.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expand.h"
#include "guest/guest.h"
#include "guest/parts.h"
#include "mem.h"
#include "prog.h"

static char **options;
static int noptions;
static pid_t *traces;
static size_t ntraces, cap;
static size_t enough = 16;	/* so many are looked through for ended ones */

/*
 * The kernel uses numbers of processes again. A memory file that all traces of
 * a run share has for each number how many processes have had it.
 */
#define MOST_PID (1u << 22)
static int numbers = -1;	/* its descriptor */
static unsigned nth;		/* our process is the nth; 0: not known yet */

/* Keep our options, argv[1] to argv[argc - 1], for the traces of children. */
void
follow_options(int argc, char *const argv[])
{
	int i;

	options = xcalloc((size_t)argc + 5, sizeof *options);
	options[noptions++] = xstrdup("trace");
	for (i = 1; i < argc; i++)
		if (strncmp(argv[i], "--adopt", 7) != 0 &&
		    strncmp(argv[i], "--image", 7) != 0 &&
		    strcmp(argv[i], "--") != 0)
			options[noptions++] = argv[i];
}

void
follow_option(char *option)
{
	options[noptions++] = option;
}

/* What another trace, or we before an exec, had: see there. */
static void
take_numbers(int fd, unsigned n)
{
	numbers = fd;
	nth = n;
	if (fd >= 0)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
}

void
follow_adopted(const char *spec)
{
	const char *last = strrchr(spec, ',');

	if (last != NULL)
		take_numbers(atoi(last + 1), 0);
}

static unsigned
count_number(void)
{
	size_t size = MOST_PID * sizeof(uint16_t);
	uint16_t *times;
	unsigned n;

	if (!opt->follow || guest.pid < 0 || guest.pid >= (int)MOST_PID)
		return 1;
	if (numbers < 0) {
		numbers = memfd_create("numbers", MFD_CLOEXEC);
		if (numbers >= 0 && memfile_size(numbers, size) < 0) {
			close(numbers);
			numbers = -1;
		}
		if (numbers < 0)
			return 1;
	}
	times = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, numbers,
	    0);
	if (times == MAP_FAILED)
		return 1;
	n = __atomic_add_fetch(&times[guest.pid], 1, __ATOMIC_SEQ_CST);
	munmap(times, size);
	return n;
}

/* The process's number for file names. */
static const char *
number_text(void)
{
	static char text[32];

	if (nth == 0)
		nth = count_number();
	snprintf(text, sizeof text, nth == 1 ? "%d" : "%d-%u", (int)guest.pid,
	    nth);
	return text;
}

const char *
follow_name(const char *name)
{
	if (name == NULL)
		return NULL;
	return expand(name, strstr(name, "%p") == NULL ? NULL :
	    number_text(), false);
}

/*
 * Add a trace.  Once there are twice as many as were left the last time, reap
 * those that have ended, because zombies use up process numbers.
 */
static void
keep(pid_t t)
{
	size_t i;
	int st;

	traces = xgrow(traces, &cap, ntraces + 1, sizeof *traces);
	traces[ntraces++] = t;
	if (ntraces < enough)
		return;
	for (i = 0; i < ntraces; ) {
		st = 0;
		if (waitpid(traces[i], &st, WNOHANG) == 0) {
			i++;
			continue;
		}
		command_child(st);
		traces[i] = traces[--ntraces];
	}
	enough = 2 * ntraces + 16;
}

/* Say that no trace of the process could be started, with errno. */
static bool
lose(pid_t pid)
{
	warn("process %d: runs natively, without a stream:", (int)pid);
	command_child_lost();
	return false;
}

/* Be the trace that adopts a process; it writes to fd once it traces it. */
static _Noreturn void
exec_trace(char *spec, int fd)
{
	options[noptions] = spec;
	options[noptions + 1] = NULL;
	fcntl(fd, F_SETFD, 0);
	if (numbers >= 0)
		fcntl(numbers, F_SETFD, 0);
	launch_ignore();
	execv("/proc/self/exe", options);
	_exit(STATUS_TROUBLE);
}

/* Start a trace that adopts the process; false: it could not. */
static bool
start_trace(pid_t pid, bool shares)
{
	char spec[128], ready;
	struct stat st;
	pid_t t;
	int p[2];
	bool ok;

	if (fstat(area.fd, &st) < 0 || pipe2(p, O_CLOEXEC) < 0)
		return lose(pid);
	snprintf(spec, sizeof spec, "--adopt=%d,%d,%llx,%llx,%d,%d", (int)pid,
	    shares, (unsigned long long)area.blob,
	    (unsigned long long)st.st_ino, p[1], numbers);
	t = fork();
	if (t == 0)
		exec_trace(spec, p[1]);
	ok = t > 0 || lose(pid);
	close(p[1]);
	if (t > 0) {
		ok = read(p[0], &ready, 1) == 1;
		keep(t);
		if (!ok)
			warn("process %d: runs natively, without a stream",
			    (int)pid);
	}
	close(p[0]);
	return ok;
}

bool
follow_child(pid_t number, bool shares)
{
	pid_t pid = shares ? guest_child_itself(number) : guest_child(number);

	/* an honest runtime does not ask for these */
	if (!opt->follow || (!shares && guest_thread(number) >= 0))
		return false;
	if (pid < 0) {
		warn("process %d, in the program's PID namespace: runs "
		    "natively, without a stream", (int)number);
		return false;
	}
	return !(shares && opt->exec == EXEC_NO) && start_trace(pid, shares);
}

bool
follow_ended(pid_t pid, int st)
{
	size_t i;

	for (i = 0; i < ntraces; i++)
		if (traces[i] == pid) {
			command_child(st);
			traces[i] = traces[--ntraces];
			return true;
		}
	return false;
}

void
follow_signal(int sig)
{
	size_t i;

	for (i = 0; i < ntraces; i++)
		kill(traces[i], sig);
}

void
follow_wait(const volatile sig_atomic_t *stopped)
{
	int st;

	while (ntraces > 0) {
		st = 0;
		if (waitpid(traces[ntraces - 1], &st, 0) < 0 &&
		    errno == EINTR) {
			if (*stopped)
				follow_signal(*stopped);
			continue;
		}
		command_child(st);
		ntraces--;
	}
}

/*
 * --image=PID,ADOPTED,FAILED,NUMBERS,NTH[,TRACE]...: we are the same process as
 * before, so the program's process and the traces of its children are still our
 * children or our tracees.
 */
void
follow_image(void)
{
	size_t n = 64 + 12 * ntraces, len, i;
	char *spec = xmalloc(n);

	len = (size_t)snprintf(spec, n, "--image=%d,%d,%d,%d,%u",
	    (int)guest.pid, opt->adopted, command_failed(), numbers, nth);
	if (numbers >= 0)
		fcntl(numbers, F_SETFD, 0);
	for (i = 0; i < ntraces; i++)
		len += (size_t)snprintf(spec + len, n - len, ",%d",
		    (int)traces[i]);
	options[noptions] = spec;
	options[noptions + 1] = NULL;
	launch_ignore();
	execv("/proc/self/exe", options);
	die("/proc/self/exe:");
}

char **
follow_next_image(const char *spec)
{
	int pid, failed, adopted, trace, fd, n;
	unsigned number;

	if (sscanf(spec, "%d,%d,%d,%d,%u%n", &pid, &adopted, &failed, &fd,
	    &number, &n) != 5)
		die("--image=%s: process,0|1,0|1,numbers[,trace]...", spec);
	take_numbers(fd, number);
	for (spec += n; sscanf(spec, ",%d%n", &trace, &n) == 1; spec += n)
		keep(trace);
	if (failed)
		command_child(STATUS_COMMAND << 8);
	guest_find(pid);
	return process_command();
}
