/*
 * folder - the folder of --store: whose it is, its entries, its size
 *
 * What is in an entry will be executed, so the folder and the entries must be
 * ours, and nobody else may be able to write them.  The folder stays open; all
 * names are looked up in it.
 *
 * Reading all of an entry, for its sum, takes longer than using it.  So a trace
 * that has found an entry right notes that in the file's times: the file was
 * changed just now, and was read a day later, to the nanosecond.  Any write
 * sets the first of these anew.  Whoever sets both times back cannot set the
 * time at which that is done (ctime), which must equal the first, but for a
 * step of the clock.  And they must be later than the boot, since a crash may
 * have lost what was written before.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "keep/keep.h"
#include "mem.h"
#include "prog.h"

#define OTHERS (S_IWGRP | S_IWOTH)
#define STALE 3600		/* seconds: who wrote it was killed */
#define LATER 86400		/* seconds: found right */
#define STEP 20000000		/* ns: of the clock of ctime, at most */

static const char *folder;
static int dir = -1;
static uint64_t most;
static char temporary[64];

static bool
refuse(const char *why)
{
	warn("--store=%s: %s: it is not used", folder, why);
	if (dir >= 0)
		close(dir);
	dir = -1;
	return false;
}

/* Make the folder, and those that it is in. */
static int
make(const char *name)
{
	char *path, *s;

	if (mkdir(name, 0700) == 0 || errno == EEXIST)
		return 0;
	if (errno != ENOENT || *name == '\0')
		return -1;
	path = xstrdup(name);
	for (s = path; (s = strchr(s + 1, '/')) != NULL; *s = '/') {
		*s = '\0';
		mkdir(path, 0700);
	}
	free(path);
	return mkdir(name, 0700) < 0 && errno != EEXIST ? -1 : 0;
}

bool
keep_open(const char *name, uint64_t max)
{
	struct stat s;

	folder = name;
	most = max;
	if (make(name) < 0)
		return refuse(strerror(errno));
	dir = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || fstat(dir, &s) < 0)
		return refuse(strerror(errno));
	if (s.st_uid != geteuid())
		return refuse("the folder belongs to another user");
	if (s.st_mode & OTHERS)
		return refuse("others can write to the folder");
	return true;
}

/* From a to b, in ns, where that is less than some seconds. */
static int64_t
ns_between(struct timespec a, struct timespec b)
{
	return (int64_t)(b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec -
	    a.tv_nsec;
}

/* Do the file's times say that it was found right? */
static bool
is_sure(const struct stat *s)
{
	struct timespec now, up;
	int64_t since = ns_between(s->st_mtim, s->st_ctim);

	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_BOOTTIME, &up);
	return s->st_atim.tv_sec == s->st_mtim.tv_sec + LATER &&
	    s->st_atim.tv_nsec == s->st_mtim.tv_nsec &&
	    since > -STEP && since < STEP &&
	    s->st_mtim.tv_sec > now.tv_sec - up.tv_sec;
}

static struct stat opened;	/* the entry, as it was then */

int
keep_entry(const char *name, bool *sure)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
	    O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (fstat(fd, &opened) < 0 || !S_ISREG(opened.st_mode) ||
	    opened.st_uid != geteuid() || (opened.st_mode & OTHERS)) {
		close(fd);
		return -1;
	}
	*sure = is_sure(&opened);
	return fd;
}

/* The times say when it was used, too: the oldest go first. */
void
keep_used(int fd, bool right)
{
	struct stat s;
	struct timespec now, later;
	int64_t since;

	clock_gettime(CLOCK_REALTIME, &now);
	later = now;
	since = ns_between(opened.st_mtim, now);
	/*
	 * What is written right now may not be seen in the times; and who runs
	 * a program many times leaves them as they are, right or not yet.
	 */
	if (right && since >= 0 && since <= STEP)
		return;
	if (right && since > STEP)
		later.tv_sec += LATER;
	if (fstat(fd, &s) == 0 && ns_between(opened.st_mtim, s.st_mtim) == 0 &&
	    ns_between(opened.st_ctim, s.st_ctim) == 0)
		futimens(fd, (struct timespec[2]){ later, now });
}

/* ------------------------------------------------------------------ writing */

static bool
is_temporary(const char *name)
{
	return strncmp(name, "new.", 4) == 0;
}

int
keep_begin(uint64_t bytes)
{
	struct timespec now;
	int fd;

	if (bytes > most) {
		warn("--store=%s: %llu bytes are more than --store-max: "
		    "nothing is kept of this run", folder,
		    (unsigned long long)bytes);
		return -1;
	}
	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(temporary, sizeof temporary, "new.%d.%lx%09lx", (int)getpid(),
	    (unsigned long)now.tv_sec, (unsigned long)now.tv_nsec);
	fd = openat(dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
	    0600);
	if (fd < 0)
		warn("--store=%s: nothing is kept of this run:", folder);
	return fd;
}

bool
keep_write(int fd, const void *data, size_t n)
{
	const uint8_t *p = data;
	ssize_t k;

	for (; n > 0; p += k, n -= (size_t)k) {
		k = write(fd, p, n);
		if (k < 0 && errno == EINTR)
			k = 0;
		else if (k <= 0)
			return false;
	}
	return true;
}

struct entry {
	struct timespec used;
	uint64_t bytes;
	char *name;
};

static int
by_use(const void *a, const void *b)
{
	const struct timespec *x = &((const struct entry *)a)->used;
	const struct timespec *y = &((const struct entry *)b)->used;

	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? -1 : 1;
	return x->tv_nsec < y->tv_nsec ? -1 : x->tv_nsec > y->tv_nsec;
}

/* Is it one of ours?  `new.PID.TIME', or 16 hexadecimal digits. */
static bool
is_entry(const char *name)
{
	return is_temporary(name) || (strlen(name) == 16 &&
	    strspn(name, "0123456789abcdef") == 16);
}

static struct entry *
list(size_t *n)
{
	struct entry *v = NULL;
	size_t cap = 0;
	struct dirent *d;
	struct stat s;
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *f = fd < 0 ? NULL : fdopendir(fd);

	*n = 0;
	if (f == NULL && fd >= 0)
		close(fd);
	while (f != NULL && (d = readdir(f)) != NULL) {
		if (!is_entry(d->d_name) || fstatat(dir, d->d_name, &s,
		    AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(s.st_mode))
			continue;
		v = xgrow(v, &cap, *n + 1, sizeof *v);
		v[(*n)++] = (struct entry){ s.st_mtim, (uint64_t)s.st_size,
		    xstrdup(d->d_name) };
	}
	if (f != NULL)
		closedir(f);
	return v;
}

/* Remove what a killed run left, then the oldest until all fit. */
static void
make_fit(const char *newest)
{
	struct timespec now;
	uint64_t sum = 0;
	size_t n, i;
	struct entry *v = list(&n);
	bool stale;

	clock_gettime(CLOCK_REALTIME, &now);
	for (i = 0; i < n; i++)
		sum += v[i].bytes;
	if (n > 0)
		qsort(v, n, sizeof *v, by_use);
	for (i = 0; i < n; i++) {
		stale = is_temporary(v[i].name) &&
		    v[i].used.tv_sec + STALE < now.tv_sec;
		if (stale || (sum > most && !is_temporary(v[i].name) &&
		    strcmp(v[i].name, newest) != 0)) {
			unlinkat(dir, v[i].name, 0);
			sum -= v[i].bytes;
		}
		free(v[i].name);
	}
	free(v);
}

void
keep_end(int fd, const char *name, bool whole)
{
	int e = errno;

	/* the bytes may first be refused here: a full disk behind a network */
	if (close(fd) < 0 && whole) {
		e = errno;
		whole = false;
	}
	if (whole && renameat(dir, temporary, dir, name) == 0) {
		make_fit(name);
		return;
	}
	errno = whole ? errno : e;
	warn("--store=%s: nothing is kept of this run:", folder);
	unlinkat(dir, temporary, 0);
}

void
keep_remove(const char *name)
{
	unlinkat(dir, name, 0);
}

/* The file's other times say when it was used, and whether it is right. */
int64_t
keep_age(const char *name)
{
	struct timespec now;
	struct statx s;

	if (syscall(SYS_statx, dir, name, AT_SYMLINK_NOFOLLOW, STATX_BTIME,
	    &s) < 0 || !(s.stx_mask & STATX_BTIME))
		return -1;
	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec - s.stx_btime.tv_sec;
}
