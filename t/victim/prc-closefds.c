/*
 * prc-closefds - the program closes every descriptor there could be, in three
 * ways; the lowest ones are then free; fork, exec and signals still work
 */
#include <dirent.h>
#include <fcntl.h>

#include "victim.h"

static volatile int got;

static void
on_usr1(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si, (void)uc;
	got++;
}

static int
open_count(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	CHECK(d != NULL);
	while (readdir(d) != NULL)
		n++;
	closedir(d);
	/* ".", ".." and the folder's own */
	return n - 3;
}

int
main(void)
{
	int fd;
	pid_t pid;

	SAME(open_count(), 3);
	handle(SIGUSR1, on_usr1, 0);
	for (int i = 0; i < 3; i++) {
		for (fd = 3; fd < 4096; fd++)
			CHECK(close(fd) == -1 && errno == EBADF);
		CHECK(close_range(3, ~0u, 0) == 0);
		closefrom(3);
		fd = open("/dev/null", O_RDONLY);
		SAME(fd, 3);
		SAME(dup(fd), 4);
		SAME(fcntl(fd, F_DUPFD, 1000), 1000);
		/* All the numbers that anyone could be hiding. */
		for (int k = 5; k < 1000; k += 13)
			SAME(dup2(fd, k), k);
		CHECK(close_range(3, ~0u, 0) == 0);
		SAME(open_count(), 3);
		pid = fork();
		if (pid == 0) {
			close_range(0, ~0u, 0);
			execl("/bin/sh", "sh", "-c", "exit 3", (char *)NULL);
			_exit(1);
		}
		reap(pid, 3);
		raise(SIGUSR1);
		SAME(got, i + 1);
		free(malloc(1 << 22));
	}
	return victim_ok();
}
