/*
 * victim.h - what the victims share
 *
 * A victim is a small program that checks one kind of trouble itself.  Its
 * standard output is one line: "ok NAME" (a checksum may follow, which has to
 * be the same under trace), or "skip NAME: reason" where the machine lacks
 * what it needs.  Anything else is a failure, told by "not ok NAME: file:line:
 * what".  VICTIM, its name, comes from the build.
 *
 * The comment at the head of the source says how it is built and judged:
 *	build: FLAGS	beside or instead of the common ones
 *	expect: exit N | signal N	how it ends, if not by exit 0
 *
 * Lines are written with one write(2): no stdio buffer is duplicated by a
 * fork or lost in a crash.
 */
#ifndef VICTIM_H
#define VICTIM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#define PAGE 4096
#define NELEM(a) (sizeof (a) / sizeof (a)[0])
#define UNUSED __attribute__((unused))

/* The check that failed goes to standard output: it must differ from "ok". */
#define CHECK(cond)							\
	do {								\
		if (!(cond))						\
			victim_fail(__FILE__, __LINE__, #cond);		\
	} while (0)

/* Two numbers that should be equal; both are shown. */
#define SAME(a, b)							\
	do {								\
		uint64_t a_ = (uint64_t)(a), b_ = (uint64_t)(b);	\
		if (a_ != b_)						\
			victim_differ(__FILE__, __LINE__, #a " == " #b,	\
			    a_, b_);					\
	} while (0)

UNUSED __attribute__((format(printf, 1, 2)))
static void
victim_say(const char *fmt, ...)
{
	char line[512];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	if (write(1, line, (size_t)n) != n)
		_exit(2);
}

UNUSED __attribute__((noreturn)) static void
victim_fail(const char *file, int line, const char *what)
{
	victim_say("not ok " VICTIM ": %s:%d: %s (errno %d)\n", file, line,
	    what, errno);
	_exit(1);
}

UNUSED __attribute__((noreturn)) static void
victim_differ(const char *file, int line, const char *what, uint64_t a,
    uint64_t b)
{
	victim_say("not ok " VICTIM ": %s:%d: %s: %#llx, %#llx\n", file, line,
	    what, (unsigned long long)a, (unsigned long long)b);
	_exit(1);
}

UNUSED static int
victim_ok(void)
{
	victim_say("ok " VICTIM "\n");
	return 0;
}

UNUSED __attribute__((noreturn)) static void
victim_skip(const char *why)
{
	victim_say("skip " VICTIM ": %s\n", why);
	_exit(0);
}

UNUSED static void
handle(int sig, void (*f)(int, siginfo_t *, void *), int flags)
{
	struct sigaction sa;

	memset(&sa, 0, sizeof sa);
	sa.sa_sigaction = f;
	sa.sa_flags = SA_SIGINFO | flags;
	CHECK(sigaction(sig, &sa, NULL) == 0);
}

UNUSED static void *
map_pages(size_t n, int prot)
{
	void *p = mmap(NULL, n * PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1,
	    0);

	CHECK(p != MAP_FAILED);
	return p;
}

/* Waits for a child and checks that it ended by exit(want). */
UNUSED static void
reap(pid_t pid, int want)
{
	int status;

	CHECK(pid > 0);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status));
	SAME(WEXITSTATUS(status), want);
}

/* A register of a signal frame: REG(uc, RIP). */
#define REG(uc, r) (((ucontext_t *)(uc))->uc_mcontext.gregs[REG_##r])

#endif
