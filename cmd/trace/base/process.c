/*
 * process - the program's process, and how it ended
 */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

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

bool
guest_has_thread(pid_t tid)
{
	return tid > 0 && (syscall(SYS_tgkill, guest.pid, tid, 0) == 0 ||
	    errno == EPERM);
}
