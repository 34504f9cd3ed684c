/*
 * prc-strictkill - a forbidden call in seccomp's strict mode is SIGKILL
 * expect: signal 9
 */
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include "victim.h"

int
main(void)
{
	victim_ok();
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	getpid();
	return 1;
}
