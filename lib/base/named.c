/*
 * named - files that an input names: which are opened, which are too new
 */
#include "named.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "in.h"
#include "mem.h"
#include "prog.h"

/* Of in_dated's regular files, the one that was written first. */
static struct { char *name; struct timespec when; } oldest;

static bool
is_later(struct timespec a, struct timespec b)
{
	return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec :
	    a.tv_nsec > b.tv_nsec;
}

void
in_older(const char *object)
{
	struct stat st;

	if (oldest.name != NULL && stat(object, &st) == 0 &&
	    S_ISREG(st.st_mode) && is_later(st.st_mtim, oldest.when))
		warn("%s: changed after %s was written: names, lines "
		    "and instructions may be wrong",
		    object, oldest.name);
}

void
named_since(int fd, const char *input)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    (oldest.name != NULL && !is_later(oldest.when, st.st_mtim)))
		return;
	free(oldest.name);
	oldest.name = xstrdup(input);
	oldest.when = st.st_mtim;
}

/* Of stat's result r and *st: 0 for a regular file, else -1 and errno. */
static int
check_regular(int r, const struct stat *st)
{
	if (r < 0 || S_ISREG(st->st_mode))
		return r;
	errno = S_ISDIR(st->st_mode) ? EISDIR : ENXIO;
	return -1;
}

int
in_regular(const char *path)
{
	struct stat st;
	int fd, err;

	/* look first: even to open a FIFO or a device has effects */
	if (check_regular(stat(path, &st), &st) < 0)
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	/* the path may name another file by now: check again */
	if (fd < 0 || check_regular(fstat(fd, &st), &st) == 0)
		return fd;
	err = errno;
	close(fd);
	errno = err;
	return -1;
}

static bool lacked;

void
in_lack(const char *path)
{
	int err = errno;

	if (err != EMFILE && err != ENFILE && err != ENOMEM)
		return;
	if (!lacked)
		warn("%s: what it tells is left out, and perhaps others':",
		    path);
	lacked = true;
	errno = err;
}

bool
in_lacked(void)
{
	return lacked;
}

int
in_optional(const char *path)
{
	int fd = in_regular(path);

	if (fd < 0)
		in_lack(path);
	return fd;
}
