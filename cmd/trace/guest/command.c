/*
 * command - a program that reads the stream: -o '|COMMAND'
 *
 * The shell runs COMMAND with a pipe to us as its input. It has its signals'
 * usual actions again; the shell itself survives an interrupt, so that we learn
 * how COMMAND ends. TRACE_COMMAND in its environment has the process's
 * arguments, for a short process may have ended before COMMAND looks. The
 * traces of children tell their parent's trace by their status that one of
 * theirs has failed.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest/guest.h"
#include "mem.h"
#include "prog.h"

static pid_t shell;		/* or 0 */
static const char *text;	/* of the command, for messages */
static bool failed;		/* it, or one of a child's trace */

/* A line for each argument; what is longer than the variable may be is cut. */
static void
set_arguments(char *const argv[])
{
	static char value[1 << 15];
	size_t n = 0;

	for (; *argv != NULL && n < sizeof value - 1; argv++) {
		for (const char *c = *argv; *c != '\0' &&
		    n < sizeof value - 2; c++)
			value[n++] = *c == '\n' ? ' ' : *c;
		value[n++] = '\n';
	}
	value[n > 0 ? n - 1 : 0] = '\0';
	setenv("TRACE_COMMAND", value, 1);
}

static _Noreturn void
child(int in, const char *command, char *const argv[])
{
	static const int usual[] = { SIGINT, SIGQUIT, SIGPIPE, SIGXFSZ };
	static const char first[] = "trap : INT QUIT TERM\n";
	size_t n = sizeof first + strlen(command);
	char *script = xmalloc(n);
	sigset_t none;

	set_arguments(argv);
	snprintf(script, n, "%s%s", first, command);
	for (unsigned i = 0; i < sizeof usual / sizeof usual[0]; i++)
		signal(usual[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(in, 0) < 0)
		_exit(STATUS_TROUBLE);
	execl("/bin/sh", "sh", "-c", script, (char *)NULL);
	warn("/bin/sh:");
	_exit(STATUS_TROUBLE);
}

int
command_start(const char *command, char *const argv[])
{
	int p[2];

	if (pipe2(p, O_CLOEXEC) < 0)
		die("|%s:", command);
	text = command;
	shell = fork();
	if (shell < 0)
		die("|%s:", command);
	if (shell == 0)
		child(p[0], command, argv);
	close(p[0]);
	return p[1];
}

#define SHOWN 60	/* of a command, which can be a script */

bool
command_ended(pid_t pid, int st)
{
	const char *more;

	if (pid != shell || shell == 0)
		return false;
	shell = 0;
	if (st == 0)
		return true;
	failed = true;
	more = strlen(text) > SHOWN ? "..." : "";
	if (WIFSIGNALED(st))
		warn("process %d: `%.*s%s' died of signal %d", (int)guest.pid,
		    SHOWN, text, more, WTERMSIG(st));
	else
		warn("process %d: `%.*s%s' ended with status %d",
		    (int)guest.pid, SHOWN, text, more, WEXITSTATUS(st));
	return true;
}

void
command_wait(void)
{
	int st;

	while (shell != 0)
		if (waitpid(shell, &st, 0) == shell)
			command_ended(shell, st);
		else if (errno != EINTR)
			shell = 0;
}

void
command_child(int st)
{
	if (WIFSIGNALED(st) || WEXITSTATUS(st) == STATUS_COMMAND)
		failed = true;
}

void
command_child_lost(void)
{
	failed = true;
}

bool
command_failed(void)
{
	return failed;
}
