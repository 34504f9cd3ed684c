/*
 * smc-hotcalls - code that has run often is changed by the kernel: by system
 * calls that write into its page, by another process, by the frame of a signal
 */
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "victim.h"

enum { OFTEN = 3000 };

static unsigned char *p;
static int ends[2];		/* of a socket */

static int
run(void)
{
	return ((int (*)(void))p)();
}

/* Runs often and returns n. */
static void
fresh(int n)
{
	p = map_pages(4, PROT_READ | PROT_WRITE | PROT_EXEC);
	memset(p, 0xc3, 4 * PAGE);
	p[0] = 0xb8;
	memcpy(p + 1, &n, 4);
	for (int i = 0; i < OFTEN; i++)
		SAME(run(), n);
}

/* The kernel wrote n there, and said so. */
static void
written(long r, long want, int n)
{
	SAME(r, want);
	for (int i = 0; i < OFTEN; i++)
		SAME(run(), n);
}

static void
send_number(int n)
{
	SAME(write(ends[1], &n, 4), 4);
}

static void
by_reading(void)
{
	struct iovec v[2] = { { NULL, 1 }, { NULL, 3 } };
	struct msghdr m = { .msg_iov = v, .msg_iovlen = 2 };
	static unsigned char two[PAGE + 100];
	int fd[2];

	fresh(1);
	send_number(77777);
	written(read(ends[0], p + 1, 4), 4, 77777);
	fresh(2);
	v[0].iov_base = p + 1;
	v[1].iov_base = p + 2;
	send_number(-5);
	written(readv(ends[0], v, 2), 4, -5);
	fresh(3);
	v[0].iov_base = p + 1;
	v[1].iov_base = p + 2;
	send_number(123456);
	written(recvmsg(ends[0], &m, 0), 4, 123456);
	/* over two pages, the second of which has run often as well */
	fresh(4);
	for (int i = 0; i < OFTEN; i++)
		((void (*)(void))(p + PAGE))();
	memset(two, 0xc3, sizeof two);
	two[0] = 0xb8;
	two[1] = 9;
	two[2] = two[3] = two[4] = 0;
	CHECK(pipe(fd) == 0);
	SAME(write(fd[1], two, sizeof two), sizeof two);
	written(read(fd[0], p, sizeof two), sizeof two, 9);
	((void (*)(void))(p + PAGE))();
}

static void
by_answers(void)
{
	int n = 0;

	fresh(5);
	SAME(prctl(PR_GET_PDEATHSIG, p + 1), 0);
	SAME(run(), 0);
	fresh(6);
	SAME(syscall(SYS_getrandom, p + 1, 2, 0), 2);
	memcpy(&n, p + 1, 4);
	written(0, 0, n);
	/* a child's number */
	fresh(7);
	n = (int)syscall(SYS_clone, SIGCHLD | CLONE_PARENT_SETTID, 0, p + 1,
	    0, 0);
	if (n == 0)
		_exit(0);
	SAME(run(), n);
	reap(n, 0);
}

/* A child changes it; natively both may be forbidden. */
static void
by_child(void)
{
	int n = 4711, status;
	struct iovec from = { &n, 4 }, to = { NULL, 4 };
	pid_t parent = getpid(), child;

	fresh(8);
	to.iov_base = p + 1;
	child = fork();
	if (child == 0)
		_exit(process_vm_writev(parent, &from, 1, &to, 1, 0) == 4 ?
		    0 : 3);
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
	SAME(run(), WEXITSTATUS(status) == 0 ? 4711 : 8);
	for (int i = 0; i < OFTEN; i++)
		run();
	/* a child's own copy is another's */
	child = fork();
	if (child == 0) {
		for (int i = 0; i < 10; i++) {
			memcpy(p + 1, &i, 4);
			SAME(run(), i);
		}
		_exit(0);
	}
	reap(child, 0);
	SAME(run(), WEXITSTATUS(status) == 0 ? 4711 : 8);
	child = vfork();
	if (child == 0) {
		p[1] = 1;
		_exit(0);
	}
	reap(child, 0);
	SAME(run() & 255, 1);
}

static volatile int taken;

static void
on_signal(int sig)
{
	(void)sig;
	taken++;
}

/* The frame lies on the page whose first bytes have run often. */
static void
by_signal(void)
{
	stack_t s = { .ss_flags = 0 }, was;
	struct sigaction a = { .sa_handler = on_signal,
	    .sa_flags = SA_ONSTACK };

	fresh(10);
	for (int k = 0; k < 64; k++)	/* code all over the stack */
		for (int i = 0; i < 100; i++)
			((void (*)(void))(p + 64 + k * 200))();
	s.ss_sp = p + 64;
	s.ss_size = 4 * PAGE - 64;
	CHECK(sigaltstack(&s, &was) == 0);
	CHECK(sigaction(SIGUSR1, &a, NULL) == 0);
	for (int i = 0; i < 5; i++)
		CHECK(raise(SIGUSR1) == 0);
	SAME(taken, 5);
	written(0, 0, 10);
	s.ss_flags = SS_DISABLE;
	CHECK(sigaltstack(&s, NULL) == 0);
}

static void
by_file(void)
{
	int fd = open("/proc/self/mem", O_RDWR), n = 31337;

	fresh(11);
	if (fd < 0 || pwrite(fd, &n, 4, (off_t)(uintptr_t)(p + 1)) != 4)
		return;
	written(0, 0, n);
	n++;
	written(pwrite(fd, &n, 4, (off_t)(uintptr_t)(p + 1)), 4, n);
	close(fd);
}

int
main(void)
{
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	by_reading();
	by_answers();
	by_child();
	by_signal();
	by_file();
	return victim_ok();
}
