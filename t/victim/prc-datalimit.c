/*
 * prc-datalimit - a limit of 64 MB of data: threads and children come and go,
 * it is told as it was set, and there is ENOMEM beyond it
 */
#include <pthread.h>
#include <sys/resource.h>

#include "victim.h"

enum { MB = 1 << 20, STACK = 65536 };

/* It is told as it was set, and can be set to that again. */
static void
tell(const struct rlimit *limit)
{
	struct rlimit now;

	CHECK(getrlimit(RLIMIT_DATA, &now) == 0);
	SAME(now.rlim_cur, limit->rlim_cur);
	SAME(now.rlim_max, limit->rlim_max);
	CHECK(setrlimit(RLIMIT_DATA, &now) == 0);
}

static void *
run(void *arg)
{
	return arg;
}

int
main(void)
{
	struct rlimit limit = { 64 * (rlim_t)MB, 64 * (rlim_t)MB };
	pthread_attr_t attr;
	pthread_t t[40];
	pid_t pid;
	void *p;

	CHECK(setrlimit(RLIMIT_DATA, &limit) == 0);
	tell(&limit);
	CHECK(mmap(NULL, 80 * (size_t)MB, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
	SAME(errno, ENOMEM);
	p = mmap(NULL, 55 * (size_t)MB, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS, -1, 0);
	CHECK(p != MAP_FAILED);
	CHECK(pthread_attr_init(&attr) == 0);
	CHECK(pthread_attr_setstacksize(&attr, STACK) == 0);
	for (unsigned i = 0; i < NELEM(t); i++)
		SAME(pthread_create(&t[i], &attr, run, p), 0);
	for (unsigned i = 0; i < NELEM(t); i++)
		SAME(pthread_join(t[i], NULL), 0);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		tell(&limit);
		_exit(4);
	}
	reap(pid, 4);
	tell(&limit);
	for (int i = 0; i < 5; i++) {
		pid = vfork();
		CHECK(pid >= 0);
		if (pid == 0)
			_exit(3);
		reap(pid, 3);
	}
	return victim_ok();
}
