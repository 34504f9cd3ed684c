/*
 * thr-sigwait - one thread waits for the signals of all: sigwait, while the
 * others have them blocked and die of nothing
 */
#include <pthread.h>

#include "victim.h"

static sigset_t set;

static void *
sender(void *arg)
{
	union sigval v;

	for (int i = 0; i < 100; i++) {
		v.sival_int = (int)(intptr_t)arg * 1000 + i;
		while (sigqueue(getpid(), SIGRTMIN + 1, v) != 0)
			CHECK(errno == EAGAIN);
	}
	return NULL;
}

int
main(void)
{
	pthread_t th[4];
	int next[4] = { 0 };
	siginfo_t si;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 1);
	sigaddset(&set, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (intptr_t i = 0; i < 4; i++)
		pthread_create(&th[i], NULL, sender, (void *)i);
	for (int i = 0; i < 400; i++) {
		int who;

		CHECK(sigwaitinfo(&set, &si) == SIGRTMIN + 1);
		who = si.si_value.sival_int / 1000;
		CHECK(who >= 0 && who < 4);
		/* Each sender's come in order. */
		SAME(si.si_value.sival_int % 1000, next[who]++);
		SAME(si.si_pid, getpid());
	}
	for (int i = 0; i < 4; i++)
		pthread_join(th[i], NULL);
	kill(getpid(), SIGTERM);
	CHECK(sigwaitinfo(&set, &si) == SIGTERM);
	return victim_ok();
}
