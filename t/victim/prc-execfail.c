/*
 * prc-execfail - execs that fail, each with its errno; after every one the
 * program goes on with its handlers, threads and mask as they were
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "victim.h"

static volatile int got;

static void
on_usr1(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si, (void)uc;
	got++;
}

static int
exec_errno(const char *path)
{
	char *args[] = { "x", NULL };

	execve(path, args, args);
	return errno;
}

static int
with_content(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0700), ret;

	CHECK(fd >= 0);
	CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	CHECK(fchmod(fd, mode) == 0);
	close(fd);
	ret = exec_errno(path);
	unlink(path);
	return ret;
}

static void
too_big(void)
{
	size_t n = 3 << 20;
	char *big = malloc(n + 1);
	char *args[] = { "x", big, NULL };

	memset(big, 'a', n);
	big[n] = '\0';
	CHECK(execve("/bin/true", args, NULL) == -1 && errno == E2BIG);
	free(big);
}

int
main(void)
{
	char dir[] = "/tmp/victim.XXXXXX", path[64], busy[64];
	sigset_t set, now;
	int fd;

	CHECK(mkdtemp(dir) != NULL);
	snprintf(path, sizeof path, "%s/file", dir);
	handle(SIGUSR1, on_usr1, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_SETMASK, &set, NULL);
	for (int i = 0; i < 5; i++) {
		SAME(exec_errno("/nowhere"), ENOENT);
		SAME(exec_errno(""), ENOENT);
		SAME(exec_errno("/tmp"), EACCES);
		SAME(exec_errno("/etc/passwd/x"), ENOTDIR);
		SAME(with_content(path, "no program", 0700), ENOEXEC);
		SAME(with_content(path, "", 0700), ENOEXEC);
		SAME(with_content(path, "#!/nowhere/at/all\n", 0700), ENOENT);
		SAME(with_content(path, "\177ELF rubbish", 0700), ENOEXEC);
		SAME(with_content(path, "#!/bin/sh\n", 0600), EACCES);
		too_big();
		snprintf(busy, sizeof busy, "%s/link", dir);
		CHECK(symlink("link", busy) == 0);
		SAME(exec_errno(busy), ELOOP);
		unlink(busy);
		raise(SIGUSR1);
		SAME(got, i + 1);
		sigprocmask(SIG_BLOCK, NULL, &now);
		CHECK(sigismember(&now, SIGUSR2) &&
		    !sigismember(&now, SIGUSR1));
	}
	fd = open("/dev/null", O_RDONLY);
	CHECK(fd == 3);
	rmdir(dir);
	return victim_ok();
}
