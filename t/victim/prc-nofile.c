/*
 * prc-nofile - a limit of three descriptors, all in use: new code runs, files
 * cannot be opened, threads and forks can be made
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>

#include "victim.h"

static void *
thread(void *arg)
{
	char text[64];

	snprintf(text, sizeof text, "%g", 1.5);
	return strcmp(text, "1.5") == 0 ? arg : NULL;
}

int
main(void)
{
	struct rlimit three = { 3, 3 }, now;
	pthread_t t;
	void *ret;
	pid_t pid;

	CHECK(setrlimit(RLIMIT_NOFILE, &three) == 0);
	CHECK(getrlimit(RLIMIT_NOFILE, &now) == 0);
	SAME(now.rlim_cur, 3);
	SAME(now.rlim_max, 3);
	for (int i = 0; i < 5; i++) {
		CHECK(open("/dev/null", O_RDONLY) == -1 && errno == EMFILE);
		CHECK(pthread_create(&t, NULL, thread, (void *)1) == 0);
		CHECK(pthread_join(t, &ret) == 0 && ret == (void *)1);
		pid = fork();
		if (pid == 0)
			_exit(2);
		reap(pid, 2);
		CHECK(write(-1, "x", 1) == -1 && errno == EBADF);
	}
	return victim_ok();
}
