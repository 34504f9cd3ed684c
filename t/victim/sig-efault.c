/*
 * sig-efault - bad pointers given to system calls are EFAULT, not signals; and
 * a call that fills a page partly says how far it came
 */
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>

#include "victim.h"

static void
on_segv(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si, (void)uc;
	victim_fail(__FILE__, __LINE__, "signal");
}

int
main(void)
{
	char *two = map_pages(2, PROT_READ | PROT_WRITE);
	struct stat st;
	int fd[2], file;
	void *volatile bad = (void *)8;

	handle(SIGSEGV, on_segv, 0);
	CHECK(munmap(two + PAGE, PAGE) == 0);
	CHECK(pipe(fd) == 0);
	file = memfd_create("file", 0);
	CHECK(pwrite(file, two, PAGE, 0) == PAGE);
	for (int i = 0; i < 50; i++) {
		CHECK(write(fd[1], bad, 10) == -1 && errno == EFAULT);
		CHECK(write(fd[1], two, 2 * PAGE) == PAGE);
		CHECK(read(fd[0], two, PAGE) == PAGE);
		CHECK(pread(file, two + PAGE - 100, 200, 0) == 100);
		CHECK(syscall(SYS_stat, bad, &st) == -1 && errno == EFAULT);
		CHECK(syscall(SYS_stat, "/", bad) == -1 && errno == EFAULT);
		CHECK(syscall(SYS_rt_sigaction, SIGUSR1, bad, NULL, 8) == -1 &&
		    errno == EFAULT);
		CHECK(syscall(SYS_rt_sigprocmask, SIG_BLOCK, bad, NULL, 8) ==
		    -1 && errno == EFAULT);
		CHECK(syscall(SYS_sigaltstack, bad, NULL) == -1 &&
		    errno == EFAULT);
		CHECK(syscall(SYS_nanosleep, bad, NULL) == -1 &&
		    errno == EFAULT);
		CHECK(syscall(SYS_execve, bad, NULL, NULL) == -1 &&
		    errno == EFAULT);
		CHECK(syscall(SYS_execve, "/bin/true", bad, NULL) == -1 &&
		    errno == EFAULT);
		CHECK(syscall(SYS_execve, "/bin/true", NULL, bad) == -1 &&
		    errno == EFAULT);
		CHECK(syscall(SYS_pipe, bad) == -1 && errno == EFAULT);
		CHECK(syscall(SYS_futex, bad, 0, 0, NULL, NULL, 0) == -1 &&
		    (errno == EFAULT || errno == EAGAIN));
	}
	CHECK(syscall(100000) == -1 && errno == ENOSYS);
	CHECK(syscall(-5) == -1 && errno == ENOSYS);
	return victim_ok();
}
