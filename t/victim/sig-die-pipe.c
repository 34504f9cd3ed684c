/*
 * sig-die-pipe - a write to a pipe without reader
 * expect: signal 13
 */
#include "victim.h"

int
main(void)
{
	victim_ok();
	int fd[2];

	CHECK(pipe(fd) == 0);
	close(fd[0]);
	CHECK(write(fd[1], "x", 1) == 1);
	return 0;
}
