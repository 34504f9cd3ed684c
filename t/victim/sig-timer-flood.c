/*
 * sig-timer-flood - timers that expire faster than their signals are delivered:
 * the program gets on all the same, in code, in calls that wait and in calls
 * that do not, in nested handlers; and what it sends itself comes at once
 */
#include <sys/time.h>

#include <time.h>

#include "victim.h"

enum { FAST = 10 };	/* microseconds */

static volatile sig_atomic_t ticks, nested, sent;

static void
tick(int sig)
{
	(void)sig;
	ticks++;
}

/* Is interrupted by the other timer, and gets to its end. */
static void
tick_slowly(int sig)
{
	volatile int i;

	(void)sig;
	for (i = 0; i < 20; i++)
		;
	nested++;
}

static void
on_usr1(int sig)
{
	(void)sig;
	sent++;
}

static void
timers(long us)
{
	struct itimerval it = { { 0, us }, { 0, us } };

	CHECK(setitimer(ITIMER_REAL, &it, NULL) == 0);
}

/* On and off, which is the program's only way out. */
static void
on_and_off(void)
{
	volatile int done;
	int before;

	for (int i = 0; i < 100; i++) {
		signal(SIGALRM, tick);
		timers(FAST);
		timers(0);
		before = ticks;
		for (done = 0; done < 50; done++)
			;
		SAME(ticks, before);	/* none comes once it is off */
		signal(SIGALRM, SIG_IGN);
	}
	signal(SIGALRM, tick);
}

static void
calls(void)
{
	struct timespec soon = { 0, 1000 };
	int fd[2], r;
	sigset_t set, was;
	char c = 'x';

	CHECK(pipe(fd) == 0);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	timers(FAST);
	for (int i = 0; i < 50; i++) {
		CHECK(getppid() > 0);
		do
			r = (int)write(fd[1], &c, 1);
		while (r < 0 && errno == EINTR);
		SAME(r, 1);
		do
			r = (int)read(fd[0], &c, 1);
		while (r < 0 && errno == EINTR);
		SAME(r, 1);
		r = nanosleep(&soon, NULL);
		CHECK(r == 0 || errno == EINTR);
		CHECK(sigprocmask(SIG_BLOCK, &set, &was) == 0);
		CHECK(!sigismember(&was, SIGALRM));
		r = ticks;
		SAME(ticks, r);
		CHECK(sigprocmask(SIG_SETMASK, &was, &set) == 0);
		CHECK(sigismember(&set, SIGALRM));
		CHECK(raise(SIGUSR1) == 0);
		SAME(sent, i + 1);
	}
	timers(0);
	close(fd[0]);
	close(fd[1]);
}

/* A read that nothing ends but the signal. */
static void
interrupted(void)
{
	struct sigaction sa = { .sa_handler = tick };
	int fd[2], before;
	char c;

	CHECK(pipe(fd) == 0);
	CHECK(sigaction(SIGALRM, &sa, NULL) == 0);
	timers(FAST);
	for (int i = 0; i < 20; i++) {
		before = ticks;
		SAME(read(fd[0], &c, 1), -1);
		SAME(errno, EINTR);
		CHECK(ticks > before);
	}
	timers(0);
	close(fd[0]);
	close(fd[1]);
}

static void
two_timers(void)
{
	struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL,
		.sigev_signo = SIGRTMIN };
	struct itimerspec it = { { 0, FAST * 1000 }, { 0, FAST * 1000 } };
	timer_t id;

	signal(SIGALRM, tick_slowly);
	signal(SIGRTMIN, tick);
	CHECK(timer_create(CLOCK_MONOTONIC, &ev, &id) == 0);
	CHECK(timer_settime(id, 0, &it, NULL) == 0);
	timers(FAST);
	while (nested < 100)
		;
	timers(0);
	CHECK(timer_delete(id) == 0);
}

int
main(void)
{
	volatile uint64_t sum = 0;

	signal(SIGUSR1, on_usr1);
	on_and_off();
	timers(FAST);
	for (uint64_t i = 0; i < 3000; i++)
		sum += i;
	timers(0);
	SAME(sum, 3000 * 2999 / 2);
	calls();
	interrupted();
	two_timers();
	return victim_ok();
}
