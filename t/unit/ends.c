/*
 * ends - runs a command that runs a program, ends one of them by a signal at
 * a chosen moment, and says how it went
 *
 *	ends [-d usec] signal whom command [argument ...]
 *
 * The program writes its process number and a newline to descriptor 9 when it
 * is ready; `usec` later whom (guest, trace, or group: both, as a terminal
 * does) is sent the signal.  The line printed says how the command ended and
 * whether the program has, each within 100 seconds:
 *
 *	signal 9, gone
 */
#include <sys/syscall.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "prog.h"

enum { READY_FD = 9, LIMIT = 100000 };

static pid_t command;

static void
start(char **argv, int ready[2])
{
	if (pipe(ready) < 0)
		die("pipe:");
	command = fork();
	if (command < 0)
		die("fork:");
	if (command == 0) {
		setpgid(0, 0);
		signal(SIGHUP, SIG_DFL);	/* for nohup(1) */
		signal(SIGINT, SIG_DFL);
		signal(SIGQUIT, SIG_DFL);
		if (dup2(ready[1], READY_FD) < 0)
			die("dup2:");
		close(ready[0]);
		if (ready[1] != READY_FD)
			close(ready[1]);
		execvp(argv[0], argv);
		die("%s:", argv[0]);
	}
	setpgid(command, command);
	close(ready[1]);
}

/* The number that the program writes. */
static pid_t
program(int fd)
{
	struct pollfd p = { fd, POLLIN, 0 };
	char line[32];
	size_t n = 0;

	while (n < sizeof line - 1) {
		if (poll(&p, 1, LIMIT) != 1 || read(fd, line + n, 1) != 1)
			break;
		if (line[n++] == '\n')
			return (pid_t)strtol(line, NULL, 10);
	}
	kill(-command, SIGKILL);
	die("the program was never ready");
}

static bool
is_gone(int pidfd)
{
	struct pollfd p = { pidfd, POLLIN, 0 };

	return poll(&p, 1, LIMIT) == 1;
}

static void
report(int pidfd, int st, pid_t pid)
{
	int gone = is_gone(pidfd);

	if (!gone)
		kill(pid, SIGKILL);
	if (WIFSIGNALED(st))
		printf("signal %d, %s\n", WTERMSIG(st), gone ? "gone" : "hangs");
	else
		printf("exit %d, %s\n", WEXITSTATUS(st), gone ? "gone" :
		    "hangs");
}

int
main(int argc, char *argv[])
{
	int ready[2], st, sig, pidfd, own, c;
	useconds_t delay = 0;
	pid_t pid, whom;

	prog_init(argv[0]);
	while ((c = getopt(argc, argv, "+d:")) != -1)
		if (c == 'd')
			delay = (useconds_t)strtoul(optarg, NULL, 10);
	argv += optind;
	if (argc - optind < 3)
		die("usage: ends [-d usec] signal whom command ...");
	sig = atoi(argv[0]);
	start(argv + 2, ready);
	pid = program(ready[0]);
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	own = (int)syscall(SYS_pidfd_open, command, 0);
	if (pidfd < 0 || own < 0)
		die("pidfd_open:");
	usleep(delay);
	whom = strcmp(argv[1], "guest") == 0 ? pid :
	    strcmp(argv[1], "trace") == 0 ? command : -command;
	if (kill(whom, sig) < 0)
		die("kill:");
	if (!is_gone(own)) {
		printf("the command hangs\n");
		kill(-command, SIGKILL);
		return 1;
	}
	if (waitpid(command, &st, 0) < 0)
		die("wait:");
	report(pidfd, st, pid);
	return 0;
}
