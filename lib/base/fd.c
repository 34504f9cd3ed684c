/*
 * fd - busy pipes, reads and writes made again, temporary files
 */
#include "fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mem.h"
#include "prog.h"

void
pipe_widen(int fd, size_t n, bool *done)
{
	int size;

	if (*done || n < PIPE_USUAL)
		return;
	*done = true;
	size = fcntl(fd, F_GETPIPE_SZ);
	/* a limit may refuse this; the pipe works as it is */
	if (size >= 0 && size < 1 << 20)
		(void)fcntl(fd, F_SETPIPE_SZ, 1 << 20);
}

bool
fd_again(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	if (errno == EAGAIN)
		return poll(&p, 1, -1) >= 0 || errno == EINTR;
	return errno == EINTR;
}

const char *
temp_dir(void)
{
	const char *dir = getenv("TMPDIR");

	return dir != NULL && *dir != '\0' ? dir : "/tmp";
}

int
temp_file(void)
{
	size_t size = strlen(temp_dir()) + sizeof "/quern.XXXXXX";
	char *path = xmalloc(size);
	int fd;

	snprintf(path, size, "%s/quern.XXXXXX", temp_dir());
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		die("%s: a temporary file in it:", temp_dir());
	unlink(path);
	free(path);
	return fd;
}
