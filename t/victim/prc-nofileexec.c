/*
 * prc-nofileexec - exec under a limit of four descriptors: the loader needs
 * one, nobody else may
 */
#include <fcntl.h>
#include <sys/resource.h>

#include "victim.h"

int
main(int argc, char **argv)
{
	struct rlimit four = { 4, 4 };
	char next[2] = "1";

	if (argc == 1) {
		CHECK(setrlimit(RLIMIT_NOFILE, &four) == 0);
	} else {
		SAME(open("/dev/null", O_RDONLY), 3);
		CHECK(open("/dev/null", O_RDONLY) == -1 && errno == EMFILE);
		close(3);
		next[0] = (char)(argv[1][0] + 1);
	}
	if (next[0] == '5')
		return victim_ok();
	execl(argv[0], argv[0], next, (char *)NULL);
	CHECK(!"exec");
}
