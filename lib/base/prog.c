/*
 * prog - the program: its name, its help, its messages, its end
 */
#include "prog.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
