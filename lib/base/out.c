/*
 * out - buffered, checked output; a named file appears only when whole
 *
 * A file is written aside, under a temporary name, and renamed when whole. All
 * files aside are in a list; if the program exits or a signal ends it before
 * the rename, they are removed. A forked child leaves its parent's files
 * alone. A signal handler may walk the list at any time, so an entry is never
 * freed, only used again.
 */
#include "out.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fd.h"
#include "mem.h"
#include "num.h"
#include "prog.h"
#include "signals.h"

#define BUFSIZE	(256 << 10)
#define DIRECT	(32 << 10)	/* so many bytes are written, not copied */
#define NTRIES	1000

struct aside {
	char *volatile path;	/* NULL: the entry is free */
	char *dest;
	struct aside *next, *free;
};

static struct aside *volatile asides;	/* files that are not whole yet */
static struct aside *free_asides;
static pid_t owner;			/* the process that made them */

/* out_hold: files that are whole and wait for the others */
static bool holding;
static struct aside **held;
static size_t nheld, capheld;

static void
remove_asides(void)
{
	const struct aside *a;

	if (getpid() != owner)
		return;
	for (a = asides; a != NULL; a = a->next)
		if (a->path != NULL)
			unlink(a->path);
}

/* Arrange, once a process, that files aside are removed at its end. */
static void
arrange_removal(void)
{
	if (owner == getpid())
		return;
	if (owner == 0)
		atexit(remove_asides);
	owner = getpid();
	signals_before_end(remove_asides);
	asides = free_asides = NULL;
}

/* Enter a file that is aside now. */
static struct aside *
aside_add(char *path, const char *dest)
{
	struct aside *a = free_asides;

	if (a != NULL) {
		free_asides = a->free;
	} else {
		a = xcalloc(1, sizeof *a);
		a->next = asides;
		asides = a;
	}
	a->dest = xstrdup(dest);
	a->path = path;
	return a;
}

/* Forget a file that was renamed or removed. */
static void
aside_drop(struct aside *a)
{
	char *path = a->path;

	a->path = NULL;
	free(path);
	free(a->dest);
	a->free = free_asides;
	free_asides = a;
}

static void
aside_publish(struct aside *a)
{
	if (rename(a->path, a->dest) < 0)
		die("%s: rename:", a->dest);
	aside_drop(a);
}

static struct out *
new(int fd, const char *name)
{
	struct out *o = xcalloc(1, sizeof *o);

	o->fd = fd;
	o->name = xstrdup(name);
	o->cap = BUFSIZE;
	o->buf = xmalloc(o->cap);
	return o;
}

/*
 * Open a new file beside dest, to be renamed to dest when whole. A killed
 * process leaves such a file behind, so a later process of the same number
 * tries other names.
 */
static void
open_aside(struct out *o, const char *dest, const struct stat *old)
{
	/* keep the permissions of a file of ours, but no other mode bits */
	bool ours = old != NULL && old->st_uid == geteuid();
	mode_t mode = ours ? old->st_mode & 0777 : 0666;
	size_t size = strlen(dest) + 48;
	char *path = xmalloc(size);
	int n;

	arrange_removal();
	snprintf(path, size, "%s.tmp.%ld", dest, (long)getpid());
	for (n = 1; n <= NTRIES; n++) {
		o->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		    mode);
		if (o->fd >= 0 || errno != EEXIST)
			break;
		snprintf(path, size, "%s.tmp.%ld.%d", dest, (long)getpid(), n);
	}
	if (o->fd < 0)
		die("%s: a new file beside it:", o->name);
	o->aside = aside_add(path, dest);
	if (ours && fchmod(o->fd, mode) < 0)
		die("%s: mode:", o->name);
}

struct out *
out_open(const char *name)
{
	struct out *o;
	struct stat st;
	char *real;

	if (name == NULL || strcmp(name, "-") == 0)
		return new(STDOUT_FILENO, "standard output");
	if (name[0] == '\0')
		die("the name of the output is empty");
	o = new(-1, name);
	if (stat(name, &st) < 0) {
		open_aside(o, name, NULL);
	} else if (S_ISREG(st.st_mode)) {
		/* replace the file, not a symbolic link to it */
		real = realpath(name, NULL);
		if (real == NULL)
			die("%s: open:", name);
		open_aside(o, real, &st);
		free(real);
	} else {
		o->fd = open(name, O_WRONLY | O_CLOEXEC);
		if (o->fd < 0)
			die("%s: open:", name);
	}
	return o;
}

struct out *
out_fd(int fd, const char *name)
{
	return new(fd, name);
}

static void
put(struct out *o, const char *p, size_t n)
{
	ssize_t r;

	pipe_widen(o->fd, n, &o->wide);
	while (n > 0 && !o->gone) {
		r = write(o->fd, p, n);
		if (r < 0 && fd_again(o->fd, POLLOUT))
			continue;
		if (r < 0 && o->failed != NULL) {
			o->gone = true;
			o->failed(o, errno);
			return;
		}
		if (r < 0 && errno == EPIPE)
			die_sigpipe();
		if (r < 0)
			die("%s: write:", o->name);
		p += r;
		n -= (size_t)r;
	}
}

void
out_flush(struct out *o)
{
	put(o, o->buf, o->len);
	o->len = 0;
}

static void
close_checked(struct out *o)
{
	if (close(o->fd) < 0 && errno != EINTR)
		die("%s: close:", o->name);
	o->fd = -1;
}

void
out_park(struct out *o)
{
	if (o->aside == NULL || o->fd < 0)
		return;
	out_flush(o);
	close_checked(o);
	free(o->buf);
	o->buf = NULL;
	o->cap = 0;
}

static void
unpark(struct out *o)
{
	o->fd = open(o->aside->path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (o->fd < 0)
		die("%s: open again:", o->name);
	o->cap = BUFSIZE;
	o->buf = xmalloc(o->cap);
}

char *
out_more(struct out *o, size_t n)
{
	if (o->fd < 0)
		unpark(o);
	if (o->cap - o->len < n)
		out_flush(o);
	if (n > o->cap)
		die("%s: %zu bytes at once", o->name, n);
	return o->buf + o->len;
}

void
out_write(struct out *o, const void *data, size_t n)
{
	if (n > o->cap - o->len || n >= DIRECT) {
		if (o->fd < 0)
			unpark(o);
		out_flush(o);
		if (n >= DIRECT) {
			put(o, data, n);
			return;
		}
	}
	memcpy(o->buf + o->len, data, n);
	o->len += n;
}

void
out_str(struct out *o, const char *s)
{
	out_write(o, s, strlen(s));
}

void
out_printf(struct out *o, const char *fmt, ...)
{
	char *p = out_room(o, 1024), *big;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(p, 1024, fmt, ap);
	va_end(ap);
	if (n < 0)
		die("%s: format:", o->name);
	if (n < 1024) {
		out_advance(o, (size_t)n);
		return;
	}
	big = xmalloc((size_t)n + 1);
	va_start(ap, fmt);
	vsnprintf(big, (size_t)n + 1, fmt, ap);
	va_end(ap);
	out_write(o, big, (size_t)n);
	free(big);
}

void
out_xml(struct out *o, char c)
{
	switch (c) {
	case '&':
		out_str(o, "&amp;");
		break;
	case '<':
		out_str(o, "&lt;");
		break;
	case '>':
		out_str(o, "&gt;");
		break;
	case '"':
		out_str(o, "&quot;");
		break;
	default:
		out_ch(o, c);
	}
}

void
out_u64(struct out *o, uint64_t v)
{
	char digits[20], *p = digits + sizeof digits;

	do
		*--p = (char)('0' + v % 10);
	while ((v /= 10) != 0);
	out_write(o, p, (size_t)(digits + sizeof digits - p));
}

void
out_hex(struct out *o, uint64_t v)
{
	char digits[16];

	out_write(o, digits, (size_t)(num_hex(digits, v) - digits));
}

static void
release(struct out *o)
{
	free(o->buf);
	free(o->name);
	free(o);
}

void
out_close(struct out *o)
{
	if (o->fd >= 0)
		out_flush(o);
	if (o->gone) {
		out_abort(o);
		return;
	}
	if (o->fd >= 0)
		close_checked(o);
	if (o->aside != NULL && holding) {
		held = xgrow(held, &capheld, nheld + 1, sizeof *held);
		held[nheld++] = o->aside;
	} else if (o->aside != NULL) {
		aside_publish(o->aside);
	}
	release(o);
}

void
out_hold(void)
{
	holding = true;
}

void
out_publish(void)
{
	size_t i;

	for (i = 0; i < nheld; i++)
		aside_publish(held[i]);
	nheld = 0;
	holding = false;
}

void
out_abort(struct out *o)
{
	if (o->fd >= 0 && o->fd != STDOUT_FILENO)
		close(o->fd);
	if (o->aside != NULL) {
		unlink(o->aside->path);
		aside_drop(o->aside);
	}
	release(o);
}
