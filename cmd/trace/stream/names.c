/*
 * names - find the files with names of code made at run time, and read them
 *
 * Runtimes write /tmp/perf-PID.map, or a jitdump, of which they map a page with
 * the right to execute it, as a sign for profilers. Both are read as they grow:
 * an entry that is there when a block is first seen is older than the block.
 *
 * The program, or anyone, can put anything at these names. So only a regular
 * file of the process's user is opened, in its mount namespace and by its pid
 * there, never through a link at the end, and nothing else is done with it but
 * to read it. The folders are kept open, for the last look is at a process that
 * is gone.
 *
 * With --last a dump tells names while the run goes on and more are read.
 */
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "jit.h"
#include "stream/stream.h"
#include "mem.h"

/* A public function may call another while it has the lock. */
static struct recursive lock;
static struct jit *jit;
static int root = -1, tmp = -1;	/* the process's / and /tmp */
static pid_t pid;		/* in its own namespace; 0: unknown */
static uid_t user;
static bool has_map;
static struct stat old_map;	/* that was there when the image began */
static struct stat dump[8];	/* those that are open */
static unsigned ndump;
static const char *advice;	/* how this runtime is made to tell names */

static const struct {
	const char *object, *advice;
	const char *attached;	/* instead, with -p; or NULL */
} runtimes[] = {
	{ "node", "node --perf-basic-prof (or --perf-prof, with lines)", NULL },
	{ "libjvm.so", "java -XX:+UnlockDiagnosticVMOptions "
	    "-XX:+DumpPerfMapAtExit", "jcmd PID Compiler.perfmap, while it is "
	    "traced" },
	{ "libcoreclr.so", "DOTNET_PerfMapEnabled=1", NULL },
	{ "beam.smp", "erl +JPperf true", NULL },
	{ "deno", "deno --v8-flags=--perf-basic-prof", NULL },
	{ "mono-sgen", "mono --jitmap", NULL },
};

/* openat2 keeps symbolic links inside of the folder. */
static int
open_in(int dir, const char *path, uint64_t flags)
{
	struct open_how how = { .flags = flags | O_CLOEXEC,
	    .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };

	return (int)syscall(SYS_openat2, dir, path, &how, sizeof how);
}

/* The process's real user. */
static uid_t
read_user(void)
{
	char text[64];

	return task_field(guest.pid, "Uid", text, sizeof text) ?
	    (uid_t)strtoul(text, NULL, 10) : 0;
}

void
names_lock(void)
{
	recursive_lock(&lock);
}

void
names_unlock(void)
{
	recursive_unlock(&lock);
}

/* Open a file with names to read it; -1: there is none that we trust. */
static int
open_names(int dir, const char *path, struct stat *st)
{
	int fd = dir < 0 || pid == 0 ? -1 : open_in(dir, path, O_RDONLY |
	    O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);

	if (fd >= 0 && (fstat(fd, st) < 0 || !S_ISREG(st->st_mode) ||
	    st->st_uid != user)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int
open_perf_map(struct stat *st)
{
	char name[32];

	snprintf(name, sizeof name, "perf-%d.map", (int)pid);
	return open_names(tmp, name, st);
}

/* Note the map that another process, or image, with this number has left. */
static void
note_old_map(void)
{
	int fd = open_perf_map(&old_map);

	if (fd < 0)
		memset(&old_map, 0, sizeof old_map);
	else
		close(fd);
}

void
names_image(void)
{
	char name[64];

	names_lock();
	if (jit != NULL)
		jit_free(jit);
	jit = jit_new();
	has_map = false;
	ndump = 0;
	advice = NULL;
	close(root);
	close(tmp);
	pid = guest_own_number();
	user = read_user();
	snprintf(name, sizeof name, "/proc/%d/root", (int)guest.pid);
	root = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	tmp = root < 0 ? -1 : open_in(root, "tmp", O_PATH | O_DIRECTORY);
	if (opt->pid == 0)
		note_old_map();
	names_unlock();
}

/* Has nobody written to the map since the image began? */
static bool
is_old(const struct stat *st)
{
	return st->st_ino == old_map.st_ino && st->st_dev == old_map.st_dev &&
	    st->st_size == old_map.st_size &&
	    st->st_mtim.tv_sec == old_map.st_mtim.tv_sec &&
	    st->st_mtim.tv_nsec == old_map.st_mtim.tv_nsec;
}

static void
open_map(void)
{
	struct stat st;
	int fd = open_perf_map(&st);

	if (fd >= 0 && is_old(&st))
		close(fd);
	else if (fd >= 0)
		has_map = jit_open_map(jit, fd) == 0;
}

static void
open_dump(const char *path)
{
	struct stat st;
	unsigned i;
	int fd = open_names(root, path, &st);

	if (fd < 0)
		return;
	for (i = 0; i < ndump && (dump[i].st_ino != st.st_ino ||
	    dump[i].st_dev != st.st_dev); i++)
		;
	if (i < ndump || ndump == sizeof dump / sizeof *dump ||
	    jit_open_dump(jit, fd) < 0)
		close(fd);
	else
		dump[ndump++] = st;
}

/* Copy the path of an M line, with its \ooo resolved; NULL: it is none. */
static char *
mapped_path(const char *line, const char *end)
{
	char *copy, *p;
	unsigned i;

	for (i = 0; i < 5 && line != NULL && line < end; i++) {
		line = memchr(line, ' ', (size_t)(end - line));
		line = line == NULL ? NULL : line + 1;
	}
	if (line == NULL || line >= end)
		return NULL;
	copy = p = xmalloc((size_t)(end - line) + 1);
	while (line < end)
		if (*line != '\\' || end - line < 4) {
			*p++ = *line++;
		} else {
			*p++ = (char)((line[1] - '0') << 6 |
			    (line[2] - '0') << 3 | (line[3] - '0'));
			line += 4;
		}
	*p = '\0';
	return copy;
}

void
names_mapped(const char *lines)
{
	char want[32], *path;
	const char *nl, *base;
	unsigned i;

	names_lock();
	snprintf(want, sizeof want, "jit-%d.dump", (int)pid);
	for (; (nl = strchr(lines, '\n')) != NULL; lines = nl + 1) {
		path = *lines == 'M' ? mapped_path(lines, nl) : NULL;
		base = path == NULL ? NULL : strrchr(path, '/');
		if (base != NULL && strcmp(base + 1, want) == 0)
			open_dump(path);
		for (i = 0; base != NULL &&
		    i < sizeof runtimes / sizeof *runtimes; i++)
			if (strcmp(base + 1, runtimes[i].object) == 0)
				advice = opt->pid != 0 &&
				    runtimes[i].attached != NULL ?
				    runtimes[i].attached : runtimes[i].advice;
		free(path);
	}
	names_unlock();
}

size_t
names_known(void)
{
	size_t n = 0;

	names_lock();
	if (jit != NULL) {	/* an image has begun */
		if (!has_map)
			open_map();
		n = jit_poll(jit);
	}
	names_unlock();
	return n;
}

struct jit *
names_jit(void)
{
	return jit;
}

const char *
names_advice(void)
{
	return advice;
}
