/*
 * crowd - threads that do what is hard to follow, and check what they get
 *
 *	crowd TASKS MS [USEC]
 *
 * TASKS: a letter for each thread, see `tasks'.  They end after MS milliseconds
 * or by SIGTERM; USEC: a timer's signal that often.  Prints "ready" and at the
 * end how much was wrong, with the letters of the tasks.  Ends with status 3.
 * build: -pthread
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096

static volatile int done;
static int wrong, wrongs[128];
static unsigned long sum;	/* of mix(1000) */

static void
is(char task, int right)
{
	if (right)
		return;
	__atomic_fetch_add(&wrong, 1, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&wrongs[(int)task], 1, __ATOMIC_SEQ_CST);
}

__attribute__((noipa)) static unsigned long
mix(int n)
{
	unsigned long x = 1;

	while (n-- > 0)
		x = x * 6364136223846793005ul + 1442695040888963407ul;
	return x;
}

static void
handler(int sig)
{
	int saved = errno;
	volatile double d = 1.5;

	if (sig == SIGTERM)
		done = 1;
	for (int i = 0; i < 10; i++)
		d = d * 1.1;
	is('!', d > 3.8 && d < 4.0);
	errno = saved;
}

static void *
compute(void *arg)
{
	while (!done) {
		double d = 1;

		for (int i = 0; i < 1000; i++)
			d = d * 1.0001 + .5;
		is('c', mix(1000) == sum && d > 500 && d < 600);
	}
	return arg;
}

static void *
nap(void *arg)
{
	struct timespec t = { 0, 2000000 };

	while (!done)
		is('n', nanosleep(&t, NULL) == 0 || errno == EINTR);
	return arg;
}

static void *
triple(void *n)
{
	return (void *)((long)n * 3);
}

static void *
threads(void *arg)
{
	pthread_t t[3];
	void *r;
	int n;

	while (!done) {
		for (n = 0; n < 3; n++)
			if (pthread_create(&t[n], NULL, triple,
			    (void *)(n + 1l)) != 0)
				break;
		while (n-- > 0) {
			pthread_join(t[n], &r);
			is('t', (long)r == 3 * (n + 1l));
		}
	}
	return arg;
}

/* A function that is written, called, and written again. */
static void *
write_code(void *arg)
{
	unsigned char *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned value = 1;

	if (p == MAP_FAILED)
		return arg;
	while (!done) {
		value *= 2654435761u;
		p[0] = 0xb8;		/* mov $value,%eax; ret */
		memcpy(p + 1, &value, sizeof value);
		p[5] = 0xc3;
		for (int i = 0; i < 5; i++)
			is('w', ((unsigned (*)(void))p)() == value);
		if (value % 64 == 1)
			is('w', mprotect(p, PAGE, PROT_READ) == 0 &&
			    mprotect(p, PAGE, PROT_READ | PROT_WRITE |
			    PROT_EXEC) == 0);
	}
	munmap(p, PAGE);
	return arg;
}

static void *
jump(void *arg)
{
	jmp_buf env;

	while (!done) {
		volatile int n = 0;
		int r = setjmp(env);

		is('j', r == n);
		n++;
		if (r < 20)
			longjmp(env, r + 1);
	}
	return arg;
}

static void *
forks(void *arg)
{
	int status;
	pid_t pid, r;

	while (!done) {
		pid = fork();
		if (pid == 0)
			_exit(mix(1000) == sum ? 7 : 8);
		if (pid < 0)
			continue;
		while ((r = waitpid(pid, &status, 0)) < 0 && errno == EINTR)
			continue;
		is('f', r == pid && WIFEXITED(status) &&
		    WEXITSTATUS(status) == 7);
	}
	return arg;
}

static void *
pipes(void *arg)
{
	unsigned char n, m;
	int p[2];

	if (pipe(p) != 0)
		return arg;
	for (n = 0; !done; n++)
		is('p', write(p[1], &n, 1) == 1 && read(p[0], &m, 1) == 1 &&
		    m == n);
	close(p[0]);
	close(p[1]);
	return arg;
}

static void *
allocate(void *arg)
{
	unsigned s = 1, i;
	char *p[32] = { NULL };
	size_t n;

	while (!done) {
		s = s * 1103515245 + 12345;
		i = s >> 16 & 31;
		n = (s >> 8 & 0xfff) + 1;
		is('a', p[i] == NULL || *p[i] == (char)i);
		free(p[i]);
		p[i] = malloc(n);
		if (p[i] != NULL)
			memset(p[i], (int)i, n);
	}
	return arg;
}

static const struct {
	char letter;
	void *(*task)(void *);
} tasks[] = {
	{ 'c', compute }, { 'n', nap }, { 't', threads }, { 'w', write_code },
	{ 'j', jump }, { 'f', forks }, { 'p', pipes }, { 'a', allocate },
};

static void
begin(pthread_t *t, char letter)
{
	for (size_t i = 0; i < sizeof tasks / sizeof tasks[0]; i++)
		if (tasks[i].letter == letter &&
		    pthread_create(t, NULL, tasks[i].task, NULL) == 0)
			return;
	exit(2);
}

static void
tick(long usec)
{
	struct itimerval every = { { 0, usec }, { 0, usec } };

	setitimer(ITIMER_REAL, &every, NULL);
}

static long
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int
main(int argc, char *argv[])
{
	struct sigaction act = { .sa_handler = handler, .sa_flags = SA_RESTART };
	pthread_t t[16];
	size_t i, n;
	long end;

	if (argc < 3 || (n = strlen(argv[1])) > 16)
		return 2;
	sum = mix(1000);
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGALRM, &act, NULL);
	for (i = 0; i < n; i++)
		begin(&t[i], argv[1][i]);
	if (argc > 3)
		tick(atol(argv[3]));
	puts("ready");
	fflush(stdout);
	for (end = now_ms() + atol(argv[2]); !done && now_ms() < end; )
		is('m', mix(1000) == sum);
	done = 1;
	tick(0);
	for (i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	printf("%d wrong", wrong);
	for (i = 0; i < 128; i++)
		if (wrongs[i] != 0)
			printf(" %c", (int)i);
	putchar('\n');
	return 3;
}
