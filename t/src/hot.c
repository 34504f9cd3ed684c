/*
 * hot - threads that run code often, and change it now and then
 *
 *	hot threads rounds
 *
 * Each has a page of its own with a function, which it calls 3000 times a round
 * and changes between rounds; every fourth change is the kernel's.  SIGTERM ends
 * it early.  It prints how many calls returned what they should not.
 */
#include <sys/mman.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t done;
static long rounds;
static int wrong;

static void
end(int sig)
{
	done = sig;
}

static void
change(unsigned char *p, int n, int fd[2])
{
	if (n % 4 != 0)
		memcpy(p + 1, &n, 4);
	else if (write(fd[1], &n, 4) != 4 || read(fd[0], p + 1, 4) != 4)
		__atomic_fetch_add(&wrong, 1, __ATOMIC_SEQ_CST);
}

static void *
work(void *arg)
{
	unsigned char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd[2];

	if (p == MAP_FAILED || pipe(fd) < 0)
		exit(2);
	memcpy(p, "\xb8\0\0\0\0\xc3", 6);
	for (int n = 0; n < rounds && !done; n++) {
		change(p, n, fd);
		for (int i = 0; i < 3000; i++)
			if (((int (*)(void))p)() != n)
				__atomic_fetch_add(&wrong, 1, __ATOMIC_SEQ_CST);
		if (n == 20 && arg == NULL) {
			puts("ready");
			fflush(stdout);
		}
	}
	return arg;
}

int
main(int argc, char **argv)
{
	static pthread_t t[16];
	long n = argc == 3 ? atol(argv[1]) : 0;

	if (n < 1 || n > 16)
		return 2;
	rounds = atol(argv[2]);
	signal(SIGTERM, end);
	alarm(100);
	dprintf(9, "%d\n", (int)getpid());
	for (long i = 1; i < n; i++)
		pthread_create(&t[i], NULL, work, t);
	work(NULL);
	for (long i = 1; i < n; i++)
		pthread_join(t[i], NULL);
	printf("%d wrong\n", wrong);
	return wrong != 0;
}
