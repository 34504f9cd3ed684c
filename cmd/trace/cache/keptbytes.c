/*
 * keptbytes - has the program the bytes that fragments were made of?
 *
 * An entry has a sum of each page that any translation was made from.  Where
 * the program's page is still that of the file, which the kernel tells
 * (pagemap), the file is read: that takes half of the time of reading the
 * program's memory, page by page, by way of its tables.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cache/kept.h"
#include "keep/keep.h"
#include "mem.h"

#define AT_ONCE 16u		/* pages that are read by one call */

static int pagemap = -1;	/* of the image; or -1 */

void
bytes_begin(void)
{
	guest_reopen(&pagemap, "pagemap", O_RDONLY);
}

/* How many of the object's pages from k on lie one behind another. */
static uint32_t
run_of_pages(const struct kept_object *o, uint32_t k)
{
	const uint64_t *at = kept.number + o->number + k;
	uint32_t n = 1;

	while (n < AT_ONCE && k + n < o->npage && at[n] == at[0] + n * PAGE)
		n++;
	return n;
}

/*
 * Read the program's memory.  /proc/PID/mem copies page by page, by way of a
 * page of the kernel's, but it needs no permission any more.
 */
static bool
read_theirs(void *to, size_t n, uint64_t from)
{
	struct iovec ours = { to, n }, theirs = { (void *)from, n };

	return process_vm_readv(guest.pid, &ours, 1, &theirs, 1, 0) ==
	    (ssize_t)n || pread(guest.mem, to, n, (off_t)from) == (ssize_t)n;
}

/* Is what pagemap says of a page that it is the file's, or not there yet? */
static bool
is_of_file(uint64_t says)
{
	const uint64_t is_there = 1ull << 63, swapped = 1ull << 62,
	    file = 1ull << 61, special = 3ull << 57;

	return (says & (swapped | special)) == 0 &&
	    ((says & is_there) == 0 || (says & file) != 0);
}

/* Are all of the object's pages those of its file, in the program? */
static bool
are_of_file(const struct kept_object *o)
{
	const uint64_t *at = kept.number + o->number;
	uint64_t first = at[0] / PAGE, n = at[o->npage - 1] / PAGE + 1 - first;
	uint64_t *says;
	uint32_t k;
	bool are;

	if (pagemap < 0 || n > (o->end - o->start) / PAGE)
		return false;
	says = xcalloc(n, sizeof *says);
	are = pread(pagemap, says, n * sizeof *says, (off_t)(first *
	    sizeof *says)) == (ssize_t)(n * sizeof *says);
	for (k = 0; are && k < o->npage; k++)
		are = at[k] / PAGE - first < n &&
		    is_of_file(says[at[k] / PAGE - first]);
	free(says);
	return are;
}

/*
 * Open the object's file, if it is what the program has mapped, and all pages
 * are the file's; -1: the program's memory must be read.
 */
static int
open_file(const struct kept_object *o, const struct maps_entry *e)
{
	char name[64 + sizeof o->path];
	struct stat s;
	int fd;

	if (o->path[0] != '/' || e->dev != o->dev || e->ino != o->ino ||
	    !are_of_file(o))
		return -1;
	snprintf(name, sizeof name, "/proc/%d/root%s", (int)guest.pid, o->path);
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -1;
	if (fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_dev == o->dev &&
	    s.st_ino == o->ino)
		return fd;
	close(fd);
	return -1;
}

/* Read n bytes from an address on, from the file if it is not -1. */
static bool
read_bytes(const struct kept_object *o, int fd, void *to, size_t n,
    uint64_t from)
{
	return fd < 0 ? read_theirs(to, n, from) : pread(fd, to, n,
	    (off_t)(from - o->start + o->off)) == (ssize_t)n;
}

/* Have the pages the sums that they had? */
static bool
have_sums(const struct kept_object *o, int fd)
{
	static uint8_t bytes[AT_ONCE * PAGE];
	uint32_t k, n, i;

	for (k = 0; k < o->npage; k += n) {
		n = run_of_pages(o, k);
		if (!read_bytes(o, fd, bytes, n * PAGE,
		    kept.number[o->number + k]))
			return false;
		for (i = 0; i < n; i++)
			if (kept.sum[o->number + k + i] !=
			    keep_sum(0, bytes + i * PAGE, PAGE))
				return false;
	}
	return true;
}

bool
bytes_are_same(const struct kept_object *o, const struct maps_entry *e)
{
	int fd;
	bool same;

	if (o->npage == 0)
		return true;
	fd = open_file(o, e);
	same = have_sums(o, fd);
	/* a file's last page has no more bytes than the file */
	if (fd >= 0) {
		close(fd);
		same = same || have_sums(o, -1);
	}
	return same;
}

static int
by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The sum that an object of the entry has for the page; false: none. */
static bool
stored_sum(uint64_t at, uint32_t stored, uint64_t *sum)
{
	const struct kept_object *o = &kept.object[stored - 1];
	const uint64_t *p = bsearch(&at, kept.number + o->number, o->npage,
	    sizeof *p, by_number);

	if (p != NULL)
		*sum = kept.sum[p - kept.number];
	return p != NULL;
}

/* That of the one that was installed there: no two of an entry overlap. */
static bool
installed_sum(uint64_t at, uint64_t *sum)
{
	const struct kept_object *o = kept.object;
	uint32_t i;

	for (i = 1; i <= kept.nobject; i++, o++)
		if (kept.installed[i] && at < o->end && at + PAGE > o->start &&
		    stored_sum(at, i, sum))
			return true;
	return false;
}

/* That of a page that was looked at in this run. */
static bool
read_sum(uint64_t at, uint64_t *sum)
{
	const uint8_t *p = pages_find(at);

	if (p != NULL)
		*sum = keep_sum(0, p, PAGE);
	return p != NULL;
}

void
bytes_add(struct kept_pages *p, uint64_t number, uint64_t sum)
{
	p->number = xgrow(p->number, &p->capnumber, p->n + 1,
	    sizeof *p->number);
	p->sum = xgrow(p->sum, &p->capsum, p->n + 1, sizeof *p->sum);
	p->number[p->n] = number;
	p->sum[p->n++] = sum;
}

void
bytes_list(struct kept_pages *p, struct kept_object *o, uint32_t stored)
{
	uint64_t at, sum;

	o->number = (uint32_t)p->n;
	for (at = o->start & ~(uint64_t)(PAGE - 1); at < o->end; at += PAGE)
		if (read_sum(at, &sum) || (stored != 0 ?
		    stored_sum(at, stored, &sum) : installed_sum(at, &sum)))
			bytes_add(p, at, sum);
	o->npage = (uint32_t)p->n - o->number;
}
