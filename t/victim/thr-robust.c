/*
 * thr-robust - robust mutexes: the kernel walks the list of a thread that
 * ends with locks held; also of a process that is killed
 */
#include <pthread.h>

#include "victim.h"

static pthread_mutex_t *lock;

static void *
leaver(void *arg)
{
	CHECK(pthread_mutex_lock(lock) == 0);
	return arg;
}

int
main(void)
{
	pthread_mutexattr_t attr;
	pthread_t t;
	pid_t pid;
	int status;

	lock = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(lock != MAP_FAILED);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	CHECK(pthread_mutex_init(lock, &attr) == 0);
	for (int i = 0; i < 50; i++) {
		CHECK(pthread_create(&t, NULL, leaver, NULL) == 0);
		pthread_join(t, NULL);
		SAME(pthread_mutex_lock(lock), EOWNERDEAD);
		CHECK(pthread_mutex_consistent(lock) == 0);
		CHECK(pthread_mutex_unlock(lock) == 0);
	}
	pid = fork();
	if (pid == 0) {
		pthread_mutex_lock(lock);
		raise(SIGKILL);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	SAME(pthread_mutex_lock(lock), EOWNERDEAD);
	return victim_ok();
}
