/*
 * process - the program's process, and how it ended
 */
#include "base/base.h"

struct process guest = { .mem = -1, .pidfd = -1, .uffd = -1 };
volatile int guest_ended;

void
guest_status(pid_t pid, int st)
{
	if (pid != guest.pid)
		return;
	guest.status = st;
	guest.seen = true;
}
