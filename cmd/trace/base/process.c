/*
 * process - the program's process, and how it ended
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/base.h"
#include "prog.h"

struct process guest = { .mem = -1, .pidfd = -1, .uffd = -1 };
_Atomic bool guest_ended;
void (*guest_gone)(void);

#define ENDING_MS 1000	/* of a process that was killed */

void
guest_lost(const char *doing)
{
	struct pollfd p = { guest.pidfd, POLLIN, 0 };
	int err = errno;

	if (guest_gone != NULL && poll(&p, 1, ENDING_MS) > 0)
		guest_gone();
	errno = err;
	die("%s:", doing);
}

void
guest_status(pid_t pid, int st)
{
	if (pid != guest.pid)
		return;
	guest.status = st;
	guest.seen = true;
}

size_t
file_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = 0;

	if (fd >= 0) {
		n = read(fd, text, size - 1);
		close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

size_t
guest_file(const char *name, char *text, size_t size)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/%s", (int)guest.pid, name);
	return file_text(path, text, size);
}

bool
guest_reopen(int *fd, const char *name, int flags)
{
	char path[64];

	if (*fd >= 0)
		close(*fd);
	snprintf(path, sizeof path, "/proc/%d/%s", (int)guest.pid, name);
	*fd = open(path, flags | O_CLOEXEC);
	return *fd >= 0;
}

bool
task_field(pid_t tid, const char *name, char *value, size_t size)
{
	char path[64], *line = NULL;
	size_t cap = 0, n = strlen(name);
	bool found = false;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
	f = fopen(path, "re");
	while (f != NULL && !found && getline(&line, &cap, f) > 0)
		found = strncmp(line, name, n) == 0 && line[n] == ':';
	if (found)
		snprintf(value, size, "%s", line + n + 1);
	free(line);
	if (f != NULL)
		fclose(f);
	return found;
}

const char *
guest_state(const char *stat)
{
	const char *p = strrchr(stat, ')');

	return p == NULL || p[1] == '\0' ? "" : p + 2;
}

/* A thread's stat from its state on: from `text', of some room. */
static const char *
read_stat(pid_t tid, char *text, size_t size)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/stat", (int)tid);
	file_text(path, text, size);
	return guest_state(text);
}

char
task_state(pid_t tid)
{
	char text[512];

	return *read_stat(tid, text, sizeof text);
}

/* PF_USER_WORKER came with Linux 6.4; before 5.17 its bit was another one. */
static bool
has_user_workers(void)
{
	struct utsname u;
	unsigned major, minor;

	return uname(&u) == 0 && sscanf(u.release, "%u.%u", &major,
	    &minor) == 2 && (major > 6 || (major == 6 && minor >= 4));
}

bool
task_is_kernels(pid_t tid)
{
	enum { IO_WORKER = 0x10, USER_WORKER = 0x4000 };	/* PF_* */
	unsigned flags;
	char text[512];

	if (sscanf(read_stat(tid, text, sizeof text),
	    "%*c %*d %*d %*d %*d %*d %u", &flags) != 1)
		return false;
	return (flags & IO_WORKER) != 0 ||
	    ((flags & USER_WORKER) != 0 && has_user_workers());
}

bool
task_is_dead(pid_t tid)
{
	char state = task_state(tid);

	return state == '\0' || state == 'Z' || state == 'X';
}
