/*
 * sig-restart - a blocked read is restarted with SA_RESTART and ends with
 * EINTR without it; calls that never restart; wait and futex
 */
#include <linux/futex.h>
#include <poll.h>
#include <sys/select.h>
#include <time.h>

#include "victim.h"

static volatile sig_atomic_t got;
static int fds[2];

static void
on_alrm(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si, (void)uc;
	/* The second one ends the restarted read. */
	if (++got == 2)
		CHECK(write(fds[1], "x", 1) == 1);
}

static void
tick(int flags, int times)
{
	static timer_t timer;
	static int made;
	struct itimerspec t = { .it_value = { 0, 2000000 } };
	struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL,
	    .sigev_signo = SIGALRM };

	if (!made++)
		CHECK(timer_create(CLOCK_MONOTONIC, &ev, &timer) == 0);
	if (times > 1)
		t.it_interval.tv_nsec = 2000000;
	handle(SIGALRM, on_alrm, flags);
	got = 0;
	CHECK(timer_settime(timer, 0, &t, NULL) == 0);
	if (times == 0) {
		t.it_value.tv_nsec = 0;
		t.it_interval.tv_nsec = 0;
		CHECK(timer_settime(timer, 0, &t, NULL) == 0);
	}
}

static void
never_restarted(void)
{
	struct timespec sec = { 5, 0 }, left = { 0, 0 };
	struct pollfd p = { .fd = fds[0], .events = POLLIN };
	struct timeval tv = { 5, 0 };
	fd_set r;
	sigset_t none;

	FD_ZERO(&r);
	FD_SET(fds[0], &r);
	sigemptyset(&none);
	tick(SA_RESTART, 1);
	CHECK(nanosleep(&sec, &left) == -1 && errno == EINTR);
	CHECK(left.tv_sec == 4 && left.tv_nsec > 0);
	tick(SA_RESTART, 1);
	CHECK(poll(&p, 1, 5000) == -1 && errno == EINTR);
	tick(SA_RESTART, 1);
	CHECK(select(fds[0] + 1, &r, NULL, NULL, &tv) == -1 &&
	    errno == EINTR);
	tick(SA_RESTART, 1);
	CHECK(ppoll(&p, 1, &sec, &none) == -1 && errno == EINTR);
	tick(SA_RESTART, 1);
	CHECK(pause() == -1 && errno == EINTR);
	SAME(got, 1);
	tick(SA_RESTART, 1);
	CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &sec, &left) == EINTR);
	CHECK(left.tv_sec == 4);
}

int
main(void)
{
	char c = 0;
	int word = 1, status;
	pid_t pid;
	struct timespec sec = { 5, 0 };

	CHECK(pipe(fds) == 0);
	tick(SA_RESTART, 2);
	CHECK(read(fds[0], &c, 1) == 1);
	CHECK(c == 'x' && got >= 2);
	tick(0, 0);
	tick(0, 1);
	CHECK(read(fds[0], &c, 1) == -1 && errno == EINTR);
	SAME(got, 1);
	never_restarted();
	tick(0, 1);
	CHECK(syscall(SYS_futex, &word, FUTEX_WAIT, 1, &sec, NULL, 0) == -1 &&
	    errno == EINTR);
	pid = fork();
	if (pid == 0) {
		usleep(10000);
		_exit(4);
	}
	tick(0, 1);
	CHECK(waitpid(pid, &status, 0) == -1 && errno == EINTR);
	tick(SA_RESTART, 1);
	reap(pid, 4);
	SAME(got, 1);
	return victim_ok();
}
