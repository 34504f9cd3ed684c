/*
 * sig-nested - handlers interrupted by other handlers, to a depth of eight;
 * each returns into the right one, with its own mask
 */
#include "victim.h"

static const int order[] = { SIGUSR1, SIGUSR2, SIGTERM, SIGHUP, SIGWINCH,
    SIGURG, SIGCHLD, SIGQUIT };
static volatile int depth, deepest, ntrace;
static volatile char trace[64];

static int
blocked(int sig)
{
	sigset_t now;

	sigprocmask(SIG_BLOCK, NULL, &now);
	return sigismember(&now, sig);
}

static void
on_any(int sig, siginfo_t *si, void *uc)
{
	int mine = depth;

	(void)si, (void)uc;
	SAME(sig, order[mine]);
	trace[ntrace++] = (char)('a' + mine);
	depth++;
	if (depth > deepest)
		deepest = depth;
	for (int i = 0; i <= mine; i++)
		CHECK(blocked(order[i]));
	if (depth < (int)NELEM(order))
		raise(order[depth]);
	depth--;
	SAME(depth, mine);
	CHECK(mine == 0 || blocked(order[mine - 1]));
	CHECK(depth + 1 == (int)NELEM(order) || !blocked(order[mine + 1]));
	trace[ntrace++] = (char)('A' + mine);
}

int
main(void)
{
	for (size_t i = 0; i < NELEM(order); i++)
		handle(order[i], on_any, 0);
	for (int i = 0; i < 100; i++) {
		ntrace = 0;
		raise(order[0]);
		CHECK(memcmp((char *)trace, "abcdefghHGFEDCBA", 16) == 0);
	}
	SAME(deepest, NELEM(order));
	for (size_t i = 0; i < NELEM(order); i++)
		CHECK(!blocked(order[i]));
	return victim_ok();
}
