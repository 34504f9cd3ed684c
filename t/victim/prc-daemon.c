/*
 * prc-daemon - a daemon: fork, setsid, fork again, close everything; the first
 * process waits for its message on a pipe and ends before it
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "victim.h"

static _Noreturn void
daemon_body(int fd)
{
	char msg[64];
	int null, n;

	CHECK(chdir("/") == 0);
	umask(0);
	null = open("/dev/null", O_RDWR);
	dup2(null, 0);
	dup2(null, 1);
	dup2(null, 2);
	if (null > 2)
		close(null);
	for (int i = 3; i < 100; i++)
		if (i != fd)
			close(i);
	n = snprintf(msg, sizeof msg, "pid %d sid %d", getpid(), getsid(0));
	if (write(fd, msg, (size_t)n) != n)
		_exit(1);
	usleep(20000);
	_exit(0);
}

int
main(void)
{
	char msg[64] = "";
	int fd[2], pid_there, sid;
	pid_t pid;

	CHECK(pipe(fd) == 0);
	pid = fork();
	if (pid == 0) {
		CHECK(setsid() == getpid());
		if (fork() > 0)
			_exit(0);
		daemon_body(fd[1]);
	}
	close(fd[1]);
	reap(pid, 0);
	CHECK(read(fd[0], msg, sizeof msg - 1) > 0);
	CHECK(sscanf(msg, "pid %d sid %d", &pid_there, &sid) == 2);
	SAME(sid, pid);
	CHECK(pid_there != pid);
	return victim_ok();
}
