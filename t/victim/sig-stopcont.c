/*
 * sig-stopcont - the process is stopped and continued by its child: by
 * SIGSTOP in a loop and in a call, and with a handler for SIGCONT
 */
#include "victim.h"

/* Shared with the child: a SIGSTOP would drop a SIGCONT not yet handled. */
static volatile int *continued;

static void
on_cont(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si, (void)uc;
	++*continued;
}

/* The third letter of /proc/PID/stat after the name. */
static char
state(pid_t pid)
{
	char path[64], buf[512], *p;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	f = fopen(path, "r");
	CHECK(f != NULL);
	CHECK(fgets(buf, sizeof buf, f) != NULL);
	fclose(f);
	p = strrchr(buf, ')');
	return p[2];
}

static void
stop_and_go(pid_t pid)
{
	for (int i = 0; i < 10; i++) {
		CHECK(kill(pid, SIGSTOP) == 0);
		while (state(pid) != 'T')
			usleep(200);
		CHECK(kill(pid, SIGCONT) == 0);
		while (*continued == i)
			usleep(200);
	}
	_exit(9);
}

int
main(void)
{
	volatile unsigned spin = 0;
	int status, fd[2];
	pid_t me = getpid(), pid;
	char c;

	continued = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(continued != MAP_FAILED);
	handle(SIGCONT, on_cont, SA_RESTART);
	pid = fork();
	if (pid == 0)
		stop_and_go(me);
	while (*continued < 10)
		spin = spin + 1;
	reap(pid, 9);
	/* In a call: the read goes on. */
	*continued = 0;
	CHECK(pipe(fd) == 0);
	pid = fork();
	if (pid == 0) {
		close(fd[0]);
		stop_and_go(me);
	}
	close(fd[1]);
	CHECK(read(fd[0], &c, 1) == 0);
	reap(pid, 9);
	/* A child stops itself; its parent sees that. */
	CHECK(pipe(fd) == 0);
	pid = fork();
	if (pid == 0) {
		close(fd[1]);
		raise(SIGSTOP);
		_exit(6 + (int)read(fd[0], &c, 1));
	}
	CHECK(waitpid(pid, &status, WUNTRACED) == pid);
	CHECK(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
	kill(pid, SIGCONT);
	CHECK(waitpid(pid, &status, WCONTINUED) == pid);
	CHECK(WIFCONTINUED(status));
	close(fd[1]);
	reap(pid, 6);
	return victim_ok();
}
