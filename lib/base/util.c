/*
 * util - diagnostics and exit, memory that succeeds, strict numbers
 */
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shown.h"

const char *progname = "quern";
int die_status = 2;
void (*before_message)(void);

void
prog_init(const char *argv0)
{
	static char name[256];
	const char *slash;
	int fd, mode;

	if (argv0 != NULL && *argv0 != '\0') {
		slash = strrchr(argv0, '/');
		argv0 = slash != NULL && slash[1] ? slash + 1 : argv0;
		shown_copy(name, sizeof name, argv0, strlen(argv0));
		progname = name;
	}
	signal(SIGPIPE, SIG_DFL);
	for (fd = 0; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
			continue;
		/* opened the wrong way round, any use still gives EBADF */
		mode = fd == 0 ? O_WRONLY : O_RDONLY;
		if (open("/dev/null", mode | O_CLOEXEC) != fd)
			die("/dev/null: open:");
	}
}

void
prog_help(const char *text)
{
	if (fputs(text, stdout) == EOF || fflush(stdout) == EOF) {
		if (errno == EPIPE)
			die_sigpipe();
		die("standard output: write:");
	}
	exit(0);
}

void
prog_version(void)
{
	char text[128];

	snprintf(text, sizeof text, "%s (quern) %s\n", progname,
	    QUERN_VERSION);
	prog_help(text);
}

void
prog_usage(const char *synopsis)
{
	fprintf(stderr, "usage: %s %s\n", progname, synopsis);
	exit(die_status);
}

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

/* Append formatted text to buf[size] at *len, cut where it does not fit. */
static void
vadd(char *buf, size_t size, size_t *len, const char *fmt, va_list ap)
{
	int n = vsnprintf(buf + *len, size - *len, fmt, ap);

	if (n > 0)
		*len += (size_t)n < size - *len ? (size_t)n : size - *len - 1;
}

static void
add(char *buf, size_t size, size_t *len, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vadd(buf, size, len, fmt, ap);
	va_end(ap);
}

static void
say(const char *fmt, va_list ap)
{
	char text[4096], line[4096];
	size_t len = 0, n = strlen(fmt);
	int err = errno;
	ssize_t r;

	if (before_message != NULL)
		before_message();
	add(text, sizeof text, &len, "%s: ", progname);
	vadd(text, sizeof text, &len, fmt, ap);
	if (n > 0 && fmt[n - 1] == ':')
		add(text, sizeof text, &len, " %s", strerror(err));
	len = shown_copy(line, sizeof line - 1, text, len);
	line[len++] = '\n';
	do
		r = write(STDERR_FILENO, line, len);
	while (r < 0 && errno == EINTR);
	errno = err;
}

void
die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	exit(die_status);
}

void
warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
}

void
die_sigpipe(void)
{
	sigset_t set;

	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(SIGPIPE);
	_exit(128 + SIGPIPE);
}

bool
fd_again(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	if (errno == EAGAIN)
		return poll(&p, 1, -1) >= 0 || errno == EINTR;
	return errno == EINTR;
}

void *
xmalloc(size_t n)
{
	void *p = malloc(n ? n : 1);

	if (p == NULL)
		die("%zu bytes of memory:", n);
	return p;
}

void *
xcalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (p == NULL)
		die("%zu * %zu bytes of memory:", n, size);
	return p;
}

void *
xrealloc(void *p, size_t n)
{
	p = realloc(p, n ? n : 1);
	if (p == NULL)
		die("%zu bytes of memory:", n);
	return p;
}

char *
xstrdup(const char *s)
{
	size_t n = strlen(s) + 1;

	return memcpy(xmalloc(n), s, n);
}

#define TOUCH_LEAST ((size_t)16 << 10)
#define TOUCH_MOST ((size_t)64 << 10)
#define KEEP_MOST ((size_t)256 << 10)

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

void
xtouch_all(void *p, size_t n)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = (uintptr_t)p & ~(page - 1);

	/* old kernels cannot: there each page comes by its fault */
	madvise((void *)from, (uintptr_t)p + n - from, MADV_POPULATE_WRITE);
}

void *
xkeep(size_t n)
{
	static _Thread_local char *room;
	static _Thread_local size_t left, size = TOUCH_LEAST;
	void *p;

	n = (n + 7) & ~(size_t)7;
	if (n > left) {
		size = size < KEEP_MOST ? 2 * size : size;
		left = n > size ? n : size;
		room = xcalloc(1, left);
		xtouch_all(room, left);
	}
	p = room;
	room += n;
	left -= n;
	return p;
}

void *
xreserve(size_t n, size_t elemsize, const char *what)
{
	void *p = MAP_FAILED;

	errno = ENOMEM;
	if (n <= SIZE_MAX / elemsize)
		p = mmap(NULL, n * elemsize, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		die("%s: mmap:", what);
	return p;
}

void
xtouch_more(void *p, struct touched *t, size_t need)
{
	size_t n = t->have / 4 & ~(TOUCH_LEAST - 1);

	if (need > t->size)
		return;
	n = n < TOUCH_LEAST ? TOUCH_LEAST : n > TOUCH_MOST ? TOUCH_MOST : n;
	if (need - t->have > n)
		t->have = (need - 1) & ~(TOUCH_LEAST - 1);
	if (n > t->size - t->have)
		n = t->size - t->have;
	xtouch_all((char *)p + t->have, n);
	t->have += n;
}

void *
xgrow(void *p, size_t *cap, size_t need, size_t elemsize)
{
	size_t n = *cap, bytes;

	if (need <= n && p != NULL)
		return p;
	n = n < SIZE_MAX / 2 ? 2 * n : need;
	if (n < need)
		n = need;
	if (n < 16)
		n = 16;
	if (__builtin_mul_overflow(n, elemsize, &bytes))
		die("%zu * %zu bytes of memory: too much", n, elemsize);
	*cap = n;
	return xrealloc(p, bytes);
}

void *
xgrow0(void *p, size_t *cap, size_t need, size_t elemsize)
{
	size_t old = *cap;

	p = xgrow(p, cap, need, elemsize);
	if (*cap > old)
		memset((char *)p + old * elemsize, 0, (*cap - old) * elemsize);
	return p;
}

int
num_next(const char **from, unsigned k, uint64_t *out)
{
	static const char suffix[] = "kMG";
	const char *s = *from, *unit;
	uint64_t v = 0;

	if (*s < '0' || *s > '9')
		return -1;
	for (; *s >= '0' && *s <= '9'; s++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*s - '0'), &v))
			return -1;
	if (*s != '\0' && (unit = strchr(suffix, *s)) != NULL) {
		for (; unit >= suffix; unit--)
			if (__builtin_mul_overflow(v, k, &v))
				return -1;
		s++;
	}
	*from = s;
	*out = v;
	return 0;
}

int
num_parse(const char *s, unsigned k, uint64_t *out)
{
	return num_next(&s, k, out) == 0 && *s == '\0' ? 0 : -1;
}

static uint64_t
bounded(const char *what, const char *s, unsigned k, uint64_t min,
    uint64_t max)
{
	uint64_t v;

	if (num_parse(s, k, &v) < 0)
		die("%s: `%s' is not a %s (digits, then k, M, G or "
		    "nothing)", what, s, k == BYTES ? "size" : "number");
	if (v < min || v > max)
		die("%s: %s is not within %" PRIu64 " to %" PRIu64, what, s,
		    min, max);
	return v;
}

uint64_t
num_arg(const char *what, const char *s, uint64_t min, uint64_t max)
{
	return bounded(what, s, COUNTS, min, max);
}

uint64_t
size_arg(const char *what, const char *s, uint64_t min, uint64_t max)
{
	return bounded(what, s, BYTES, min, max);
}

double
percent_arg(const char *what, const char *s)
{
	char *end;
	double v = strtod(s, &end);

	if (end == s || (*end && strcmp(end, "%")) || !(v >= 0 && v <= 100))
		die("%s: '%s' is not a percentage", what, s);
	return v;
}

const char *
num_commas(char buf[32], int64_t v)
{
	char *p = buf + 31;
	uint64_t u = v < 0 ? -(uint64_t)v : (uint64_t)v;
	int digits = 0;

	*p = '\0';
	do {
		if (digits > 0 && digits % 3 == 0)
			*--p = ',';
		*--p = (char)('0' + u % 10);
		digits++;
	} while ((u /= 10) != 0);
	if (v < 0)
		*--p = '-';
	return p;
}

bool
yes_arg(const char *option, const char *arg)
{
	if (arg == NULL)
		return true;
	if (strcmp(arg, "yes") != 0 && strcmp(arg, "no") != 0)
		die("--%s: `%s' is neither yes nor no", option, arg);
	return arg[0] == 'y';
}

bool
choice_arg(const char *what, const char *s, const char *first,
    const char *second)
{
	if (strcmp(s, first) != 0 && strcmp(s, second) != 0)
		die("%s=%s: neither %s nor %s", what, s, first, second);
	return strcmp(s, second) == 0;
}

unsigned
word_arg(const char *what, const char *s, const char *const *words, unsigned n)
{
	char list[200] = "";
	size_t len = 0;

	for (unsigned i = 0; i < n; i++)
		if (strcmp(s, words[i]) == 0)
			return i;
	for (unsigned i = 0; i < n; i++)
		add(list, sizeof list, &len, "%s%s", i == 0 ? "" :
		    i + 1 < n ? ", " : " or ", words[i]);
	die("%s=%s: %s", what, s, list);
}

#ifdef __SANITIZE_ADDRESS__
/*
 * Default options of the sanitizers' runtimes (make SAN=1).  Filters never
 * free, so leaks are not reported; no program has a status 99 of its own.
 * Tests clear the environment, so the options cannot come from there; or they
 * preload libraries, which the check of the link order would refuse.  Fuzzers
 * define their own.
 */
const char *__asan_default_options(void) __attribute__((weak));
const char *__ubsan_default_options(void) __attribute__((weak));

const char *
__asan_default_options(void)
{
	return "detect_leaks=0:exitcode=99:verify_asan_link_order=0";
}

const char *
__ubsan_default_options(void)
{
	return "print_stacktrace=1:exitcode=99";
}
#endif
