/*
 * memfile - what RLIMIT_FSIZE would keep us from in a memory file
 *
 * The kernel holds memory files to that limit, too, and ends who goes beyond
 * it.  It is meant for what the user's programs write, so trace lifts its own
 * for the one call: to the hard limit, or, where it may raise that, to none.
 * The program has, or will inherit, the limits as they were.
 */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/base.h"

/* What lift() changed. */
struct lifted {
	bool is;
	struct rlimit was;
	struct sigaction action;
};

/* Allow files of SIZE bytes. */
static void
lift(struct lifted *l, uint64_t size)
{
	const struct rlimit none = { RLIM_INFINITY, RLIM_INFINITY };
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct rlimit hard;

	l->is = getrlimit(RLIMIT_FSIZE, &l->was) == 0 && l->was.rlim_cur < size;
	if (!l->is)
		return;
	hard.rlim_cur = hard.rlim_max = l->was.rlim_max;
	if (setrlimit(RLIMIT_FSIZE, &none) < 0)
		setrlimit(RLIMIT_FSIZE, &hard);
	sigaction(SIGXFSZ, &ignore, &l->action);
}

/* Undo lift(), and leave errno alone. */
static void
lower(const struct lifted *l)
{
	int e = errno;

	if (l->is) {
		sigaction(SIGXFSZ, &l->action, NULL);
		setrlimit(RLIMIT_FSIZE, &l->was);
	}
	errno = e;
}

int
memfile_size(int fd, uint64_t size)
{
	struct lifted l;
	int r;

	lift(&l, size);
	r = ftruncate(fd, (off_t)size);
	lower(&l);
	return r;
}

ssize_t
memfile_writev(int fd, const struct iovec *v, unsigned n, uint64_t at)
{
	struct lifted l;
	uint64_t end = at;
	unsigned i;
	ssize_t r;

	for (i = 0; i < n; i++)
		end += v[i].iov_len;
	lift(&l, end);
	r = pwritev(fd, v, (int)n, (off_t)at);
	lower(&l);
	return r;
}

ssize_t
memfile_write(int fd, const void *buf, size_t n, uint64_t at)
{
	struct iovec v = { (void *)(uintptr_t)buf, n };

	return memfile_writev(fd, &v, 1, at);
}
