/*
 * prc-sharedkill - a process in its parent's memory is killed while it runs;
 * the parent goes on, and calls much code that has not run before
 */
#include <sched.h>

#include "victim.h"

enum { NFUNC = 12000 };

static volatile int begun;

static int
spin(void *arg)
{
	(void)arg;
	while (begun >= 0)
		begun = begun % 1000000 + 1;
	return 1;
}

int
main(void)
{
	char *stack = map_pages(16, PROT_READ | PROT_WRITE);
	unsigned char *code = map_pages(NFUNC * 16 / PAGE + 1,
	    PROT_READ | PROT_WRITE | PROT_EXEC);
	unsigned sum = 0;
	int status;
	pid_t pid;

	for (unsigned i = 0; i < NFUNC; i++)	/* mov $i,%eax; ret */
		memcpy(code + i * 16, (unsigned char[]){ 0xb8, i & 0xff,
		    i >> 8 & 0xff, 0, 0, 0xc3 }, 6);
	pid = clone(spin, stack + 16 * PAGE, CLONE_VM | SIGCHLD, NULL);
	CHECK(pid > 0);
	while (begun < 1000)
		sched_yield();
	CHECK(kill(pid, SIGKILL) == 0);
	CHECK(waitpid(pid, &status, 0) == pid);
	SAME(status, SIGKILL);
	for (unsigned i = 0; i < NFUNC; i++)
		sum += ((unsigned (*)(void))(code + i * 16))();
	SAME(sum, NFUNC / 2 * (NFUNC - 1));
	return victim_ok();
}
