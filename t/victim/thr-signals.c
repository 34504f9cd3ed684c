/*
 * thr-signals - signals to single threads: each arrives in the thread that it
 * was sent to, with its mask, alternate stack and value
 */
#include <pthread.h>
#include <semaphore.h>

#include "victim.h"

enum { NTHREAD = 16, NSIGNAL = 30 };

static __thread volatile int got;
static __thread char *alt;
static int right;
static pid_t tids[NTHREAD];
static pthread_barrier_t up;
static volatile int finish;

static void
on_usr1(int sig, siginfo_t *si, void *uc)
{
	char here;

	(void)sig, (void)uc;
	CHECK(&here >= alt && &here < alt + 32768);
	CHECK(tids[si->si_value.sival_int] == gettid());
	got++;
	__atomic_fetch_add(&right, 1, __ATOMIC_SEQ_CST);
}

static void *
worker(void *arg)
{
	stack_t ss = { .ss_size = 32768 };
	volatile unsigned spin = 0;

	alt = ss.ss_sp = map_pages(8, PROT_READ | PROT_WRITE);
	CHECK(sigaltstack(&ss, NULL) == 0);
	tids[(size_t)arg] = gettid();
	pthread_barrier_wait(&up);
	if ((size_t)arg % 8 != 1)
		while (!finish)
			usleep(1000);
	else
		while (!finish)
			for (int i = 0; i < 1000; i++)
				spin = spin + 1;
	return (void *)(intptr_t)got;
}

int
main(void)
{
	pthread_t th[NTHREAD];
	void *ret;

	handle(SIGUSR1, on_usr1, SA_ONSTACK | SA_RESTART);
	pthread_barrier_init(&up, NULL, NTHREAD + 1);
	for (size_t i = 0; i < NTHREAD; i++)
		CHECK(pthread_create(&th[i], NULL, worker, (void *)i) == 0);
	pthread_barrier_wait(&up);
	for (int k = 0; k < NSIGNAL; k++)
		for (int i = 0; i < NTHREAD; i++) {
			union sigval v = { .sival_int = i };

			/* One at a time for each thread: they do not queue. */
			while (__atomic_load_n(&right, __ATOMIC_SEQ_CST) <
			    k * NTHREAD)
				sched_yield();
			CHECK(pthread_sigqueue(th[i], SIGUSR1, v) == 0);
		}
	while (__atomic_load_n(&right, __ATOMIC_SEQ_CST) < NSIGNAL * NTHREAD)
		sched_yield();
	finish = 1;
	for (int i = 0; i < NTHREAD; i++) {
		CHECK(pthread_join(th[i], &ret) == 0);
		SAME((intptr_t)ret, NSIGNAL);
	}
	return victim_ok();
}
