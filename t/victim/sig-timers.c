/*
 * sig-timers - setitimer of all three clocks, alarm, timer_create with a
 * value, to one thread, and as a thread's start; overruns
 */
#include <semaphore.h>
#include <sys/time.h>
#include <time.h>

#include "victim.h"

static volatile int virt, prof, alrm, valued, to_tid;
static sem_t notified;

static void
on_any(int sig, siginfo_t *si, void *uc)
{
	(void)uc;
	virt += sig == SIGVTALRM;
	prof += sig == SIGPROF;
	alrm += sig == SIGALRM;
	if (sig == SIGRTMIN) {
		SAME(si->si_code, SI_TIMER);
		SAME(si->si_value.sival_int, 4711);
		valued++;
	}
	if (sig == SIGRTMIN + 1) {
		SAME(gettid(), getpid());
		to_tid++;
	}
}

static void
notify(union sigval v)
{
	SAME(v.sival_int, 99);
	sem_post(&notified);
}

static void
arm(struct sigevent *ev, timer_t *timer)
{
	struct itimerspec every = { { 0, 500000 }, { 0, 500000 } };

	CHECK(timer_create(CLOCK_MONOTONIC, ev, timer) == 0);
	CHECK(timer_settime(*timer, 0, &every, NULL) == 0);
}

int
main(void)
{
	struct itimerval every = { { 0, 1000 }, { 0, 1000 } };
	struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL,
	    .sigev_signo = SIGRTMIN, .sigev_value = { .sival_int = 4711 } };
	volatile unsigned spin = 0;
	timer_t t;

	handle(SIGVTALRM, on_any, SA_RESTART);
	handle(SIGPROF, on_any, SA_RESTART);
	handle(SIGALRM, on_any, SA_RESTART);
	handle(SIGRTMIN, on_any, SA_RESTART);
	handle(SIGRTMIN + 1, on_any, SA_RESTART);
	setitimer(ITIMER_VIRTUAL, &every, NULL);
	setitimer(ITIMER_PROF, &every, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	while (virt < 5 || prof < 5 || alrm < 5)
		spin = spin + 1;
	memset(&every, 0, sizeof every);
	setitimer(ITIMER_VIRTUAL, &every, NULL);
	setitimer(ITIMER_PROF, &every, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	arm(&ev, &t);
	while (valued < 5)
		spin = spin + 1;
	CHECK(timer_getoverrun(t) >= 0);
	CHECK(timer_delete(t) == 0);
	ev.sigev_notify = SIGEV_THREAD_ID;
	ev.sigev_signo = SIGRTMIN + 1;
	ev._sigev_un._tid = gettid();
	arm(&ev, &t);
	while (to_tid < 5)
		spin = spin + 1;
	CHECK(timer_delete(t) == 0);
	sem_init(&notified, 0, 0);
	ev.sigev_notify = SIGEV_THREAD;
	ev.sigev_notify_function = notify;
	ev.sigev_notify_attributes = NULL;
	ev.sigev_value.sival_int = 99;
	arm(&ev, &t);
	for (int i = 0; i < 5; i++)
		while (sem_wait(&notified) != 0)
			CHECK(errno == EINTR);
	CHECK(timer_delete(t) == 0);
	return victim_ok();
}
