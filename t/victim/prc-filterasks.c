/*
 * prc-filterasks - seccomp(2) that only asks which actions there are: nothing
 * is forbidden by that, so what the program executes next goes on as usual
 */
#include <linux/seccomp.h>

#include "victim.h"

int
main(int argc, char **argv)
{
	struct seccomp_notif_sizes sizes;
	unsigned action = SECCOMP_RET_ERRNO;

	if (argc > 1)
		return victim_ok();
	CHECK(syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0);
	CHECK(syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) == 0);
	CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL) == -1);
	execl(argv[0], argv[0], "again", (char *)NULL);
	CHECK(!"exec");
}
