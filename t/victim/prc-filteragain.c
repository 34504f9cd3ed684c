/*
 * prc-filteragain - signals that come just before seccomp(2) would install a
 * filter, which then fails: no filter is there, so an exec behind it is followed
 */
#include <linux/seccomp.h>
#include <sys/time.h>

#include "victim.h"

static volatile int ticks;

static void
tick(int sig)
{
	(void)sig;
	ticks++;
}

static void
timer(long us)
{
	struct itimerval it = { { 0, us }, { 0, us } };

	CHECK(setitimer(ITIMER_REAL, &it, NULL) == 0);
}

int
main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = tick, .sa_flags = SA_RESTART };

	if (argc > 1)
		return victim_ok();
	CHECK(sigaction(SIGALRM, &sa, NULL) == 0);
	timer(1000);
	while (ticks < 30) {
		SAME(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, 8), -1);
		SAME(errno, EFAULT);
	}
	timer(0);
	execl(argv[0], argv[0], "again", (char *)NULL);
	CHECK(!"exec");
	return 1;
}
