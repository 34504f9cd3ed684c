/*
 * sig-restart - a blocked read is restarted with SA_RESTART and ends with
 * EINTR without it; calls that never restart; wait and futex
 */
#include <linux/futex.h>
#include <poll.h>
#include <sys/select.h>
#include <time.h>

#include "victim.h"

static volatile sig_atomic_t got, restarts;
static int fds[2];

static void
on_alrm(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si, (void)uc;
	/* The second one ends a restarted call. */
	if (++got == 2 && restarts)
		CHECK(write(fds[1], "x", 1) == 1);
}

static timer_t timer;

static void
quiet(void)
{
	struct itimerspec never = { { 0, 0 }, { 0, 0 } };

	CHECK(timer_settime(timer, 0, &never, NULL) == 0);
}

/* From now on every two milliseconds: one that came too early is no harm. */
static void
ticks(int flags, int ends_restarted)
{
	struct itimerspec every = { { 0, 2000000 }, { 0, 2000000 } };

	quiet();
	handle(SIGALRM, on_alrm, flags);
	got = 0;
	restarts = ends_restarted;
	CHECK(timer_settime(timer, 0, &every, NULL) == 0);
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
	ticks(SA_RESTART, 0);
	CHECK(nanosleep(&sec, &left) == -1 && errno == EINTR);
	CHECK(left.tv_sec >= 4);
	CHECK(poll(&p, 1, 5000) == -1 && errno == EINTR);
	CHECK(select(fds[0] + 1, &r, NULL, NULL, &tv) == -1 &&
	    errno == EINTR);
	CHECK(ppoll(&p, 1, &sec, &none) == -1 && errno == EINTR);
	CHECK(pause() == -1 && errno == EINTR);
	CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &sec, &left) == EINTR);
	CHECK(left.tv_sec >= 4);
}

int
main(void)
{
	struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL,
	    .sigev_signo = SIGALRM };
	struct timespec sec = { 5, 0 };
	int word = 1, status;
	char c = 0;
	pid_t pid;

	CHECK(pipe(fds) == 0);
	CHECK(timer_create(CLOCK_MONOTONIC, &ev, &timer) == 0);
	ticks(SA_RESTART, 1);
	CHECK(read(fds[0], &c, 1) == 1 && c == 'x' && got >= 2);
	quiet();
	ticks(0, 0);
	CHECK(read(fds[0], &c, 1) == -1 && errno == EINTR && got >= 1);
	CHECK(syscall(SYS_futex, &word, FUTEX_WAIT, 1, &sec, NULL, 0) == -1 &&
	    errno == EINTR);
	quiet();
	never_restarted();
	quiet();
	/* A child that ends when the second tick has come. */
	pid = fork();
	if (pid == 0)
		_exit(read(fds[0], &c, 1) == 1 ? 4 : 5);
	ticks(0, 0);
	CHECK(waitpid(pid, &status, 0) == -1 && errno == EINTR);
	ticks(SA_RESTART, 1);
	reap(pid, 4);
	CHECK(got >= 2);
	return victim_ok();
}
