/*
 * prc-trapignored - SIGTRAP is ignored, also by the program after exec
 */
#include "victim.h"

int
main(int argc, char **argv)
{
	struct sigaction sa;

	if (argc == 1) {
		CHECK(signal(SIGTRAP, SIG_IGN) == SIG_DFL);
		execl(argv[0], argv[0], "again", (char *)NULL);
		CHECK(!"exec");
	}
	CHECK(sigaction(SIGTRAP, NULL, &sa) == 0);
	CHECK(sa.sa_handler == SIG_IGN);
	CHECK(raise(SIGTRAP) == 0);
	return victim_ok();
}
