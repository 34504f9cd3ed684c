/*
 * prc-aslimit - a limit of 800 MB of address space, also for the program after
 * exec: it runs, can allocate 400 MB, and gets ENOMEM beyond its limit; before
 * that, a limit without its place is EFAULT
 */
#include <sys/resource.h>

#include "victim.h"

enum { MB = 1 << 20 };

static void
use(void)
{
	char *p = mmap(NULL, 400 * (size_t)MB, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	for (size_t i = 0; i < 400; i += 50)
		p[i * MB] = 1;
	CHECK(mmap(NULL, 900 * (size_t)MB, PROT_READ, MAP_PRIVATE |
	    MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == ENOMEM);
	CHECK(munmap(p, 400 * (size_t)MB) == 0);
}

int
main(int argc, char **argv)
{
	struct rlimit limit = { 800 * (rlim_t)MB, 800 * (rlim_t)MB };
	pid_t pid;

	if (argc == 1) {
		SAME(syscall(SYS_getrlimit, RLIMIT_AS, NULL), -1);
		SAME(errno, EFAULT);
		errno = 0;
		SAME(syscall(SYS_setrlimit, RLIMIT_AS, NULL), -1);
		SAME(errno, EFAULT);
		pid = fork();
		if (pid == 0) {
			CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
			use();
			_exit(4);
		}
		reap(pid, 4);
		CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
		execl(argv[0], argv[0], "again", (char *)NULL);
		CHECK(!"exec");
	}
	use();
	return victim_ok();
}
