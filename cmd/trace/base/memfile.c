/*
 * memfile - what RLIMIT_FSIZE would keep us from in a memory file
 *
 * The kernel holds memory files to that limit, too, and ends who goes beyond
 * it.  It is meant for what the user's programs write, so trace lifts its own
 * while it writes: to the hard limit, or, where it may raise that, to none.
 * The program has, or will inherit, the limits as they were.
 */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/base.h"

/* What memfile_lift() changed, and how many memfile_lower() are due. */
static struct {
	bool is;
	unsigned depth;
	struct rlimit was;
	struct sigaction action;
} lifted;

void
memfile_lift(uint64_t size)
{
	const struct rlimit none = { RLIM_INFINITY, RLIM_INFINITY };
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct rlimit hard;

	lifted.depth++;
	if (lifted.is || getrlimit(RLIMIT_FSIZE, &lifted.was) < 0 ||
	    lifted.was.rlim_cur >= size)
		return;
	lifted.is = true;
	hard.rlim_cur = hard.rlim_max = lifted.was.rlim_max;
	if (setrlimit(RLIMIT_FSIZE, &none) < 0)
		setrlimit(RLIMIT_FSIZE, &hard);
	sigaction(SIGXFSZ, &ignore, &lifted.action);
}

void
memfile_lower(void)
{
	int e = errno;

	if (--lifted.depth == 0 && lifted.is) {
		sigaction(SIGXFSZ, &lifted.action, NULL);
		setrlimit(RLIMIT_FSIZE, &lifted.was);
		lifted.is = false;
	}
	errno = e;
}

int
memfile_size(int fd, uint64_t size)
{
	int r;

	memfile_lift(size);
	r = ftruncate(fd, (off_t)size);
	memfile_lower();
	return r;
}

ssize_t
memfile_write(int fd, const void *buf, size_t n, uint64_t at)
{
	ssize_t r;

	memfile_lift(at + n);
	r = pwrite(fd, buf, n, (off_t)at);
	memfile_lower();
	return r;
}
