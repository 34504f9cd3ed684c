/*
 * sig-rtburst - signals that wait together are all handled before the call
 * that unblocks them returns, however often that is made
 */
#include "victim.h"

#define BURSTS 600
#define MOST 20

static volatile int handled;

static void
handler(int sig)
{
	(void)sig;
	handled++;
}

int
main(void)
{
	int sig = SIGRTMIN + 3;
	struct sigaction a = { .sa_handler = handler };
	union sigval value = { 0 };
	sigset_t set;

	sigaction(sig, &a, NULL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	for (int i = 0; i < BURSTS; i++) {
		int n = i % MOST + 1;

		sigprocmask(SIG_BLOCK, &set, NULL);
		handled = 0;
		for (int k = 0; k < n; k++)
			CHECK(sigqueue(getpid(), sig, value) == 0);
		SAME(handled, 0);
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		SAME(handled, n);
	}
	return victim_ok();
}
