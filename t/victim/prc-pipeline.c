/*
 * prc-pipeline - a pipeline of processes of its own: a megabyte goes through
 * three filters and comes back, and one of them ends early
 */
#include "victim.h"

enum { TOTAL = 1 << 20 };

static _Noreturn void
filter(int in, int out, int key)
{
	unsigned char buf[5000];
	ssize_t n;

	while ((n = read(in, buf, sizeof buf)) > 0) {
		for (ssize_t i = 0; i < n; i++)
			buf[i] ^= (unsigned char)key;
		for (ssize_t i = 0, w; i < n; i += w) {
			w = write(out, buf + i, (size_t)(n - i));
			if (w < 0)
				_exit(1);
		}
	}
	_exit(0);
}

int
main(void)
{
	int fd[5][2], key[3] = { 0x11, 0x22, 0x47 };
	unsigned char buf[4096];
	size_t got = 0;
	pid_t pid[5];
	ssize_t n;
	int status;

	for (int i = 0; i < 4; i++)
		CHECK(pipe(fd[i]) == 0);
	for (int i = 0; i < 4; i++) {
		pid[i] = fork();
		if (pid[i] > 0)
			continue;
		for (int k = 0; k < 4; k++) {
			if (k != i - 1)
				close(fd[k][0]);
			if (k != i)
				close(fd[k][1]);
		}
		if (i > 0)
			filter(fd[i - 1][0], fd[i][1], key[i - 1]);
		memset(buf, 0x74, sizeof buf);
		for (size_t sent = 0; sent < TOTAL; sent += sizeof buf)
			CHECK(write(fd[0][1], buf, sizeof buf) ==
			    sizeof buf);
		_exit(0);
	}
	for (int k = 0; k < 4; k++) {
		close(fd[k][1]);
		if (k != 3)
			close(fd[k][0]);
	}
	while ((n = read(fd[3][0], buf, sizeof buf)) > 0) {
		for (ssize_t i = 0; i < n; i++)
			CHECK(buf[i] == (0x74 ^ 0x11 ^ 0x22 ^ 0x47));
		got += (size_t)n;
	}
	SAME(got, TOTAL);
	for (int i = 0; i < 4; i++)
		reap(pid[i], 0);
	/* A reader that leaves: the writer dies of SIGPIPE. */
	CHECK(pipe(fd[0]) == 0);
	pid[0] = fork();
	if (pid[0] == 0) {
		close(fd[0][0]);
		for (;;)
			if (write(fd[0][1], buf, 4096) < 0)
				_exit(1);
	}
	close(fd[0][1]);
	CHECK(read(fd[0][0], buf, 100) == 100);
	close(fd[0][0]);
	CHECK(waitpid(pid[0], &status, 0) == pid[0]);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
	return victim_ok();
}
