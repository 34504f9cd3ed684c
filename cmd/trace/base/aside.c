/*
 * aside - write to the memory file while the caller goes on
 *
 * An image begins with megabytes of it: the words of the lookup, and all code
 * that the store has.  The kernel takes about 3 us for each new page.  A thread
 * of its own writes them, while the serving thread reads what else it needs and
 * fills tables that nobody looks at yet:
 *
 *	aside_begin(&a, fd, part, 2);
 *	...			another write() to the file would wait for it
 *	if (!aside_end(&a))	now all is there
 *		die("memory:");
 */
#include <errno.h>
#include <sys/uio.h>

#include "base/base.h"

static size_t
part_size(const struct aside_part *p)
{
	size_t size = 0;
	unsigned i;

	for (i = 0; i < p->n; i++)
		size += p->v[i].iov_len;
	return size;
}

static bool
write_part(int fd, const struct aside_part *p)
{
	size_t size = part_size(p);

	errno = ENOSPC;		/* if it is cut short */
	return size == 0 ||
	    pwritev(fd, p->v, (int)p->n, (off_t)p->at) == (ssize_t)size;
}

static void *
write_parts(void *arg)
{
	struct aside *a = arg;
	unsigned i;

	a->error = 0;
	for (i = 0; i < a->nparts && a->error == 0; i++)
		if (!write_part(a->fd, &a->part[i]))
			a->error = errno;
	return NULL;
}

void
aside_begin(struct aside *a, int fd, const struct aside_part *part, unsigned n)
{
	uint64_t end = 0, to;
	unsigned i;

	a->fd = fd;
	a->part = part;
	a->nparts = n;
	for (i = 0; i < n; i++) {
		to = part[i].at + part_size(&part[i]);
		end = end < to ? to : end;
	}
	memfile_lift(end);
	a->begun = true;
	a->has_thread = pthread_create(&a->thread, NULL, write_parts, a) == 0;
	if (!a->has_thread)
		write_parts(a);
}

bool
aside_end(struct aside *a)
{
	if (!a->begun)
		return true;
	if (a->has_thread)
		pthread_join(a->thread, NULL);
	memfile_lower();
	a->begun = false;
	errno = a->error;
	return a->error == 0;
}
