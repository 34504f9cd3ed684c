/*
 * prc-execself - a program execs itself thirty times with other arguments and
 * environment: each arrives whole, handlers are reset, ignored ones and the
 * mask stay, close-on-exec files are closed, timers go on
 */
#include <fcntl.h>
#include <sys/time.h>

#include "victim.h"

extern char **environ;

static void
on_usr1(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si, (void)uc;
}

static void
check_state(int round)
{
	struct sigaction sa;
	sigset_t now;
	char want[32];

	sigaction(SIGUSR1, NULL, &sa);
	CHECK(sa.sa_handler == SIG_DFL);
	sigaction(SIGUSR2, NULL, &sa);
	CHECK(sa.sa_handler == SIG_IGN);
	sigprocmask(SIG_BLOCK, NULL, &now);
	CHECK(sigismember(&now, SIGHUP));
	CHECK(!sigismember(&now, SIGTERM));
	CHECK(!sigismember(&now, SIGSEGV));
	snprintf(want, sizeof want, "ROUND=%d", round);
	CHECK(strcmp(environ[0], want) == 0 && environ[1] == NULL);
	CHECK(fcntl(50, F_GETFD) == 0);
	CHECK(fcntl(51, F_GETFD) == -1 && errno == EBADF);
}

int
main(int argc, char **argv)
{
	char number[16], env[32];
	char *envp[] = { env, NULL };
	int round = argc > 1 ? atoi(argv[1]) : 0;
	sigset_t set;

	if (round > 0) {
		SAME(argc, 4);
		CHECK(strcmp(argv[2], "") == 0);
		CHECK(strcmp(argv[3], "two words") == 0);
		check_state(round);
	}
	if (round == 30)
		return victim_ok();
	handle(SIGUSR1, on_usr1, 0);
	signal(SIGUSR2, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_SETMASK, &set, NULL);
	CHECK(dup2(1, 50) == 50);
	CHECK(dup3(1, 51, O_CLOEXEC) == 51);
	snprintf(number, sizeof number, "%d", round + 1);
	snprintf(env, sizeof env, "ROUND=%d", round + 1);
	execle(argv[0], argv[0], number, "", "two words", (char *)NULL, envp);
	CHECK(!"exec");
}
